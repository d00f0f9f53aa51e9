/* Values from C to Python and back.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Tensors cross as buffers (PEP 3118): an argument is a memoryview of the caller's
 * memory, or a numpy array or torch tensor over it; of a result, whatever offers a
 * contiguous buffer of a known element type, or DLPack, is a tensor.
 */
#include "runtime/interp/cpython/convert.h"

#include "base/checked.h"
#include "ingot/dlpack.h"

#include <string.h>

/* Element types and the letters of the struct module. */
static const struct {
    ig_dtype_code dtype;
    const char *letter; /* of a tensor that is an argument */
    const char *others; /* further letters that mean it, by size */
    Py_ssize_t bytes;
} formats[] = {
    { IG_F32, "f", "", 4 },   { IG_F64, "d", "", 8 },   { IG_F16, "e", "", 2 },
    { IG_I8, "b", "", 1 },    { IG_U8, "B", "c", 1 },   { IG_I16, "h", "", 2 },
    { IG_U16, "H", "", 2 },   { IG_I32, "i", "l", 4 },  { IG_U32, "I", "L", 4 },
    { IG_I64, "q", "ln", 8 }, { IG_U64, "Q", "LN", 8 }, { IG_BOOL8, "?", "", 1 },
};

/* ---- to Python ---- */

/* A tensor of the caller's, which counts who looks at it; or memory that is shared, and
 * held for as long as anybody looks. */
typedef struct loan {
    PyObject ob_base;
    ig_shared *shared; /* or NULL */
    Py_buffer view;
    Py_ssize_t shape[IG_MAX_RANK], strides[IG_MAX_RANK];
    int lookers;
} loan;

static int look_at(PyObject *of, Py_buffer *view, int flags) {
    loan *lent = (loan *)of;
    if (lent->view.readonly && (flags & PyBUF_WRITABLE)) {
        PyErr_SetString(PyExc_BufferError, "memory that interpreters share");
        return -1;
    }
    *view = lent->view;
    view->obj = Py_NewRef(of);
    lent->lookers++;
    return 0;
}

static void look_away(PyObject *of, Py_buffer *view) {
    (void)view;
    ((loan *)of)->lookers--;
}

static void end_loan(PyObject *of) {
    ig_shared_drop(((loan *)of)->shared);
    PyObject_Free(of);
}

static PyBufferProcs loan_buffer = { look_at, look_away };
static PyTypeObject loan_type = {
    .ob_base = { PyObject_HEAD_INIT(NULL) 0 },
    .tp_name = "ingot.Loan",
    .tp_basicsize = sizeof(loan),
    .tp_dealloc = end_loan,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_as_buffer = &loan_buffer,
};

int prepare_loans(void) {
    return PyType_Ready(&loan_type);
}

bool is_paid_back(PyObject *lent) {
    return ((loan *)lent)->lookers == 0;
}

/* Bytes of the elements; -1: an extent is negative, or they are more than fit. */
static int64_t count_bytes(const ig_view *tensor, int64_t bytes) {
    for (uint32_t d = 0; d < tensor->rank; d++) {
        if (tensor->dims[d] < 0 || !ig_mul_i64(bytes, tensor->dims[d], &bytes)) {
            return -1;
        }
    }
    return bytes;
}

static loan *make_loan(const ig_view *tensor, const char *letter, Py_ssize_t bytes) {
    static char nothing[8];
    loan *lent = PyObject_New(loan, &loan_type);
    if (!lent) {
        return NULL;
    }
    Py_ssize_t size = bytes;
    for (uint32_t d = tensor->rank; d-- > 0;) {
        lent->shape[d] = (Py_ssize_t)tensor->dims[d];
        lent->strides[d] = size;
        size *= lent->shape[d];
    }
    lent->lookers = 0;
    lent->shared = NULL;
    lent->view = (Py_buffer){ .buf = tensor->data ? tensor->data : nothing,
                              .len = size,
                              .itemsize = bytes,
                              .ndim = (int)tensor->rank,
                              .format = (char *)(uintptr_t)letter,
                              .shape = lent->shape,
                              .strides = lent->strides };
    return lent;
}

static PyObject *tensor_to_python(const ig_view *tensor, lent_views *lent) {
    const char *letter = NULL;
    Py_ssize_t bytes = 0;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if ((int)formats[i].dtype == tensor->dtype) {
            letter = formats[i].letter;
            bytes = formats[i].bytes;
        }
    }
    if (!letter || tensor->rank > IG_MAX_RANK) {
        return PyErr_Format(PyExc_TypeError,
                            "tensors of element type %d cannot be passed",
                            (int)tensor->dtype);
    }
    int64_t size = count_bytes(tensor, bytes);
    if (size < 0 || (size > 0 && !tensor->data)) {
        return PyErr_Format(PyExc_ValueError,
                            "a tensor has a negative extent, too many elements, or no "
                            "data");
    }
    loan *made = make_loan(tensor, letter, bytes);
    PyObject *shown = NULL;
    if (made && PyList_Append(lent->list, (PyObject *)made) == 0) {
        shown = PyMemoryView_FromObject((PyObject *)made);
    }
    Py_XDECREF((PyObject *)made);
    if (!shown || !lent->wrap) {
        return shown;
    }
    PyObject *array = PyObject_CallOneArg(lent->wrap, shown);
    Py_DECREF(shown);
    return array;
}

/* Its derived values keep the memory. */
static PyObject *shared_to_python(const ig_interp_value *value) {
    ig_shared *shared = (ig_shared *)(uintptr_t)value->as.text.data;
    ig_view bytes = { .data = shared->data,
                      .rank = 1,
                      .dims = { (int64_t)shared->size } };
    loan *made = make_loan(&bytes, "B", 1);
    if (!made) {
        return NULL;
    }
    made->shared = shared;
    made->view.readonly = 1;
    ig_shared_hold(shared);
    PyObject *shown = PyMemoryView_FromObject((PyObject *)made);
    Py_DECREF((PyObject *)made);
    return shown;
}

static PyObject *list_to_python(const ig_interp_value *value, lent_views *lent) {
    size_t count = value->as.list.count;
    bool is_list = value->kind == IG_INTERP_LIST;
    PyObject *to = is_list ? PyList_New((Py_ssize_t)count)
                           : PyTuple_New((Py_ssize_t)count);
    for (size_t i = 0; to && i < count; i++) {
        PyObject *item = value_to_python(&value->as.list.items[i], lent);
        if (!item) {
            Py_CLEAR(to);
        } else if (is_list) {
            PyList_SET_ITEM(to, (Py_ssize_t)i, item);
        } else {
            PyTuple_SET_ITEM(to, (Py_ssize_t)i, item);
        }
    }
    return to;
}

static PyObject *dict_to_python(const ig_interp_value *value, lent_views *lent) {
    PyObject *to = PyDict_New();
    for (size_t i = 0; to && i + 1 < value->as.list.count; i += 2) {
        PyObject *key = value_to_python(&value->as.list.items[i], lent);
        PyObject *item = key ? value_to_python(&value->as.list.items[i + 1], lent)
                             : NULL;
        if (!item || PyDict_SetItem(to, key, item) != 0) {
            Py_CLEAR(to);
        }
        Py_XDECREF(key);
        Py_XDECREF(item);
    }
    return to;
}

static PyObject *leaf_to_python(const ig_interp_value *value) {
    switch (value->kind) {
    case IG_INTERP_TRUTH:
        return PyBool_FromLong(value->as.truth);
    case IG_INTERP_INTEGER:
        return PyLong_FromLongLong(value->as.integer);
    case IG_INTERP_REAL:
        return PyFloat_FromDouble(value->as.real);
    case IG_INTERP_TEXT:
        return PyUnicode_DecodeUTF8(value->as.text.data,
                                    (Py_ssize_t)value->as.text.size, NULL);
    case IG_INTERP_BYTES:
        return PyBytes_FromStringAndSize(value->as.text.data,
                                         (Py_ssize_t)value->as.text.size);
    case IG_INTERP_OBJECT:
        return Py_NewRef((PyObject *)value->as.object->reference);
    case IG_INTERP_NONE:
    case IG_INTERP_LIST:
    case IG_INTERP_TUPLE:
    case IG_INTERP_DICT:
    case IG_INTERP_TENSOR:
        break;
    }
    return Py_NewRef(Py_None);
}

PyObject *value_to_python(const ig_interp_value *value, lent_views *lent) {
    if (value->kind == IG_INTERP_TENSOR) {
        return tensor_to_python(&value->as.tensor, lent);
    }
    if ((int)value->kind == IG_ENGINE_SHARED) {
        return shared_to_python(value);
    }
    if (value->kind != IG_INTERP_LIST && value->kind != IG_INTERP_TUPLE &&
        value->kind != IG_INTERP_DICT) {
        return leaf_to_python(value);
    }
    if (Py_EnterRecursiveCall(" of nested arguments") != 0) {
        return NULL;
    }
    PyObject *to = value->kind == IG_INTERP_DICT ? dict_to_python(value, lent)
                                                 : list_to_python(value, lent);
    Py_LeaveRecursiveCall();
    return to;
}

/* ---- from Python ---- */

static kept_part *keep_part(python_result *result) {
    kept_part *part = calloc(1, sizeof *part);
    if (!part) {
        PyErr_NoMemory();
        return NULL;
    }
    part->next = result->parts;
    result->parts = part;
    return part;
}

static void *keep_memory(python_result *result, size_t size) {
    kept_part *part = keep_part(result);
    if (part) {
        part->memory = malloc(size > 0 ? size : 1);
        if (!part->memory) {
            PyErr_NoMemory();
        }
    }
    return part ? part->memory : NULL;
}

static int keep_text(python_result *result, const char *data, Py_ssize_t size,
                     ig_interp_value *out) {
    char *copy = data ? keep_memory(result, (size_t)size + 1) : NULL;
    if (!copy) {
        return -1;
    }
    memcpy(copy, data, (size_t)size);
    copy[size] = 0;
    out->as.text.data = copy;
    out->as.text.size = (size_t)size;
    return 0;
}

static int keep_object(PyObject *from, python_result *result, ig_interp_value *out) {
    kept_part *part = keep_part(result);
    if (!part) {
        return -1;
    }
    part->object = calloc(1, sizeof *part->object);
    if (!part->object) {
        PyErr_NoMemory();
        return -1;
    }
    *part->object = (ig_interp_object){ result->head.interp, Py_NewRef(from) };
    out->kind = IG_INTERP_OBJECT;
    out->as.object = part->object;
    return 0;
}

/* The element type of a buffer; 0: none that a tensor has. */
static int dtype_of(const Py_buffer *view) {
    const char *letter = view->format ? view->format : "B";
    letter += *letter == '@' || *letter == '=' || *letter == '<';
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (letter[0] && !letter[1] && view->itemsize == formats[i].bytes &&
            (letter[0] == formats[i].letter[0] ||
             strchr(formats[i].others, letter[0]))) {
            return (int)formats[i].dtype;
        }
    }
    return 0;
}

/* 1: it was a tensor; 0: it is none; -1: an exception.  So the next two. */
static int keep_buffer(PyObject *from, python_result *result, ig_interp_value *out) {
    kept_part *part = keep_part(result);
    Py_buffer *view = part ? calloc(1, sizeof *view) : NULL;
    if (!view) {
        PyErr_NoMemory();
        return -1;
    }
    if (PyObject_GetBuffer(from, view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0) {
        PyErr_Clear(); /* strided, or of a kind that cannot be seen: an object */
        free(view);
        return 0;
    }
    part->view = view;
    int dtype = dtype_of(view);
    if (dtype == 0 || view->ndim > IG_MAX_RANK) {
        return 0;
    }
    out->kind = IG_INTERP_TENSOR;
    out->as.tensor = (ig_view){ .data = view->buf,
                                .capacity = (size_t)view->len,
                                .dtype = dtype,
                                .rank = (uint32_t)view->ndim };
    for (int d = 0; d < view->ndim; d++) {
        out->as.tensor.dims[d] = view->shape[d];
    }
    return 1;
}

/* Does it have gradients, which DLPack has not?  -1 with an exception. */
static int has_gradients(PyObject *from) {
    PyObject *wish = PyObject_GetAttrString(from, "requires_grad");
    int truth = wish ? PyObject_IsTrue(wish) : 0;
    if (!wish) {
        PyErr_Clear(); /* not a tensor of torch's */
    }
    Py_XDECREF(wish);
    return truth;
}

/* Row-major in the host's memory; else it stays an object. */
static int keep_dlpack(PyObject *from, python_result *result, ig_interp_value *out) {
    kept_part *part = keep_part(result);
    if (!part) {
        return -1;
    }
    part->capsule = PyObject_CallMethod(from, "__dlpack__", NULL);
    const void *managed = part->capsule
                              ? PyCapsule_GetPointer(part->capsule, "dltensor")
                              : NULL;
    if (!managed || ig_view_from_dlpack(managed, &out->as.tensor) != IG_OK) {
        PyErr_Clear();
        return 0;
    }
    out->kind = IG_INTERP_TENSOR;
    return 1;
}

static bool has_dlpack(PyObject *from) {
    return PyObject_HasAttrString((PyObject *)Py_TYPE(from), "__dlpack__");
}

static int keep_tensor(PyObject *from, python_result *result, ig_interp_value *out) {
    if (PyObject_CheckBuffer(from)) {
        return keep_buffer(from, result, out);
    }
    return has_dlpack(from) && has_gradients(from) == 0 ? keep_dlpack(from, result, out)
                                                        : 0;
}

/* A tensor of torch's that is not row-major, or has gradients, as one that is plain. */
static int keep_plain(PyObject *from, python_result *result, ig_interp_value *out) {
    if (!has_dlpack(from) || !PyObject_HasAttrString(from, "contiguous")) {
        PyErr_Clear();
        return 0;
    }
    PyObject *apart = PyObject_CallMethod(from, "detach", NULL);
    PyObject *plain = apart ? PyObject_CallMethod(apart, "contiguous", NULL) : NULL;
    int is_tensor = plain ? keep_tensor(plain, result, out) : 0;
    PyErr_Clear(); /* it stays an object */
    Py_XDECREF(apart);
    Py_XDECREF(plain);
    return is_tensor;
}

static int keep_items(PyObject *sequence, python_result *result, ig_interp_value *out) {
    Py_ssize_t count = PySequence_Fast_GET_SIZE(sequence);
    ig_interp_value *items = keep_memory(result, (size_t)count * sizeof *items);
    if (!items) {
        return -1;
    }
    out->as.list.items = items;
    out->as.list.count = (size_t)count;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (value_from_python(PySequence_Fast_GET_ITEM(sequence, i), result,
                              &items[i]) != 0) {
            return -1;
        }
    }
    return 0;
}

static int keep_dict(PyObject *from, python_result *result, ig_interp_value *out) {
    Py_ssize_t count = PyDict_GET_SIZE(from), at = 0;
    ig_interp_value *items = keep_memory(result, 2 * (size_t)count * sizeof *items);
    PyObject *key, *item;
    if (!items) {
        return -1;
    }
    out->as.list.items = items;
    out->as.list.count = 2 * (size_t)count;
    for (Py_ssize_t i = 0; i < count && PyDict_Next(from, &at, &key, &item); i++) {
        if (value_from_python(key, result, &items[2 * i]) != 0 ||
            value_from_python(item, result, &items[2 * i + 1]) != 0) {
            return -1;
        }
    }
    return 0;
}

static int keep_nested(PyObject *from, python_result *result, ig_interp_value *out) {
    if (Py_EnterRecursiveCall(" of nested results") != 0) {
        return -1;
    }
    out->kind = PyDict_CheckExact(from)    ? IG_INTERP_DICT
                : PyTuple_CheckExact(from) ? IG_INTERP_TUPLE
                                           : IG_INTERP_LIST;
    int failed = out->kind == IG_INTERP_DICT ? keep_dict(from, result, out)
                                             : keep_items(from, result, out);
    Py_LeaveRecursiveCall();
    return failed;
}

static int keep_integer(PyObject *from, ig_interp_value *out) {
    out->kind = IG_INTERP_INTEGER;
    out->as.integer = PyLong_AsLongLong(from);
    return out->as.integer == -1 && PyErr_Occurred() ? -1 : 0;
}

int value_from_python(PyObject *from, python_result *result, ig_interp_value *out) {
    Py_ssize_t size = 0;
    memset(out, 0, sizeof *out);
    if (from == Py_None) {
        return 0;
    }
    if (PyBool_Check(from)) {
        out->kind = IG_INTERP_TRUTH;
        out->as.truth = from == Py_True;
        return 0;
    }
    if (PyLong_CheckExact(from)) {
        return keep_integer(from, out);
    }
    if (PyFloat_CheckExact(from)) {
        out->kind = IG_INTERP_REAL;
        out->as.real = PyFloat_AS_DOUBLE(from);
        return 0;
    }
    if (PyUnicode_CheckExact(from)) {
        out->kind = IG_INTERP_TEXT;
        const char *text = PyUnicode_AsUTF8AndSize(from, &size);
        return keep_text(result, text, size, out);
    }
    if (PyBytes_CheckExact(from)) {
        out->kind = IG_INTERP_BYTES;
        return keep_text(result, PyBytes_AS_STRING(from), PyBytes_GET_SIZE(from), out);
    }
    if (PyList_CheckExact(from) || PyTuple_CheckExact(from) ||
        PyDict_CheckExact(from)) {
        return keep_nested(from, result, out);
    }
    int is_tensor = keep_tensor(from, result, out);
    if (is_tensor == 0) {
        is_tensor = keep_plain(from, result, out);
    }
    return is_tensor == 0 ? keep_object(from, result, out) : is_tensor > 0 ? 0 : -1;
}

/* ---- keeping ---- */

int own_tensors(python_result *result, ig_interp_value *value) {
    if (value->kind == IG_INTERP_TENSOR) {
        size_t size = value->as.tensor.capacity;
        void *copy = keep_memory(result, size);
        if (!copy) {
            return -1;
        }
        memcpy(copy, value->as.tensor.data, size);
        value->as.tensor.data = copy;
    }
    bool is_nested = value->kind == IG_INTERP_LIST || value->kind == IG_INTERP_TUPLE ||
                     value->kind == IG_INTERP_DICT;
    for (size_t i = 0; is_nested && i < value->as.list.count; i++) {
        if (own_tensors(result, &value->as.list.items[i]) != 0) {
            return -1;
        }
    }
    return 0;
}

void drop_view(kept_part *part) {
    if (part->view) {
        PyBuffer_Release(part->view);
        free(part->view);
        part->view = NULL;
    }
    Py_CLEAR(part->capsule);
}

void free_parts(python_result *result) {
    for (kept_part *part = result->parts, *next; part; part = next) {
        next = part->next;
        drop_view(part);
        if (part->object) {
            Py_XDECREF((PyObject *)part->object->reference);
            free(part->object);
        }
        free(part->memory);
        free(part);
    }
    result->parts = NULL;
}
