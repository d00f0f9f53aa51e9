/* Tensors of other libraries: buffer protocol, DLPack.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The structs are DLPack's (dmlc/dlpack 1.3), declared here from its documentation.  An
 * object's type may offer a table of C functions (__dlpack_c_exchange_api__), which
 * costs no allocation a call; torch's does.  Else objects with the buffer protocol are
 * read by that (numpy, memoryview, array), others by __dlpack__().  Strings: text.c.
 */
#include "python/runtime/src/binding.h"

#include <ingot/dlpack.h>

#include <stdlib.h>
#include <string.h>

/* ---- DLPack ---- */

typedef struct dl_tensor {
    void *data;
    int32_t device_type, device_id;
    int32_t ndim;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } dtype;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} dl_tensor;

typedef struct dl_managed {
    dl_tensor tensor;
    void *manager_ctx;
    void (*deleter)(struct dl_managed *self);
} dl_managed;

typedef struct dl_version {
    uint32_t major, minor;
} dl_version;

typedef struct dl_exchange {
    dl_version version;
    void *previous;
    void *allocator;
    void *managed_from_object;
    make_tensor object_from_managed;
    int (*tensor_from_object)(void *object, dl_tensor *out);
    void *current_stream;
} dl_exchange;

enum {
    DL_MAJOR = 1,
    DL_CPU = 1,
    DL_CUDA = 2,
    DL_FLOAT = 2,
    DL_COMPLEX = 5,
    MAX_KNOWN_TYPES = 64
};

_Static_assert(sizeof(dl_tensor) == 48, "DLPack's ABI");

static bool has_masks(PyObject *type) { /* numpy.ma's arrays, whose buffers hide that */
    return PyObject_HasAttrString(type, "mask") &&
           PyObject_HasAttrString(type, "filled");
}

/* The capsule of a type's table, or None, or False where elements may be masked:
 * a borrowed reference.  Types are asked once, unless a program makes new types all the
 * time: the dictionary keeps few of them alive. */
static PyObject *capsule_of(PyObject *type) {
    static PyObject *known; /* type -> capsule, None or False */
    known = known ? known : PyDict_New();
    PyObject *capsule = known ? PyDict_GetItemWithError(known, type) : NULL;
    if (capsule || !known) {
        return capsule;
    }
    if (PyDict_Size(known) >= MAX_KNOWN_TYPES) {
        PyDict_Clear(known);
    }
    capsule = PyObject_GetAttrString(type, "__dlpack_c_exchange_api__");
    PyErr_Clear();
    bool is_table = capsule && PyCapsule_IsValid(capsule, "dlpack_exchange_api");
    PyObject *none = has_masks(type) ? Py_False : Py_None;
    PyDict_SetItem(known, type, is_table ? capsule : none);
    Py_XDECREF(capsule);
    return PyDict_GetItemWithError(known, type);
}

/* NULL without an exception: the type's library has no such table, or one of another
 * version. */
static const dl_exchange *exchange_of_type(PyObject *type) {
    PyObject *capsule = capsule_of(type);
    if (!capsule || !PyCapsule_CheckExact(capsule)) {
        PyErr_Clear();
        return NULL;
    }
    const dl_exchange *table = PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
    bool is_known = table && table->version.major == DL_MAJOR &&
                    table->tensor_from_object && table->object_from_managed;
    return is_known ? table : NULL;
}

static const dl_exchange *exchange_of(PyObject *object) {
    return exchange_of_type((PyObject *)Py_TYPE(object));
}

make_tensor maker_of_type(PyObject *type) {
    const dl_exchange *table = exchange_of_type(type);
    return table ? table->object_from_managed : NULL;
}

/* ---- elements that lie with strides ---- */

/* Between rows without gaps and strides in bytes; to the rows, or from them. */
typedef struct walk {
    const int64_t *dims, *strides;
    size_t unit;
    char *row;
    bool is_back;
} walk;

static void copy_axis(walk *w, char *strided, uint32_t axis, uint32_t rank) {
    if (axis == rank) {
        memcpy(w->is_back ? strided : w->row, w->is_back ? w->row : strided, w->unit);
        w->row += w->unit;
        return;
    }
    for (int64_t i = 0; i < w->dims[axis]; i++) {
        copy_axis(w, strided + i * w->strides[axis], axis + 1, rank);
    }
}

static bool is_empty(const ig_view *view) {
    for (uint32_t i = 0; i < view->rank; i++) {
        if (view->dims[i] == 0) {
            return true;
        }
    }
    return false;
}

static bool is_row_major(const borrowed *b) {
    int64_t run = (int64_t)b->unit;
    bool is_row = true;
    for (uint32_t i = b->view.rank; i-- > 0;) {
        is_row = is_row && (b->strides[i] == run || b->view.dims[i] <= 1);
        run *= b->view.dims[i];
    }
    return is_row || is_empty(&b->view);
}

/* Sessions take no elements at odd addresses; their size is a power of two. */
static bool is_aligned(const borrowed *b) {
    return b->unit == 0 || ((uintptr_t)b->view.data & (b->unit - 1)) == 0;
}

/* The view becomes one of a copy where the elements lie otherwise. */
static int make_rows(borrowed *b) {
    if (is_row_major(b) && is_aligned(b)) {
        return 0;
    }
    int64_t size = ig_view_bytes(&b->view);
    b->copy = size < 0 ? NULL : malloc((size_t)size + 1);
    if (!b->copy) {
        PyErr_NoMemory();
        return -1;
    }
    b->origin = b->view.data;
    b->view.data = b->copy;
    walk w = { b->view.dims, b->strides, b->unit, b->copy, false };
    copy_axis(&w, b->origin, 0, b->view.rank);
    return 0;
}

int write_borrowed(const borrowed *to, const ig_view *from) {
    int64_t size = ig_view_bytes(from);
    if (to->is_readonly) {
        PyErr_SetString(PyExc_TypeError,
                        "the call changes an argument, which cannot be written to");
        return -1;
    }
    if (size < 0 || size != ig_view_bytes(&to->view)) {
        PyErr_SetString(PyExc_ValueError, "the call changes the size of an argument");
        return -1;
    }
    if (!to->copy) {
        memcpy(to->view.data, from->data, (size_t)size);
        return 0;
    }
    walk w = { to->view.dims, to->strides, to->unit, from->data, true };
    copy_axis(&w, to->origin, 0, to->view.rank);
    return 0;
}

/* ---- the buffer protocol ---- */

/* Formats of struct, native sizes; '<' and '=' may stand before. */
static const struct {
    char format;
    uint8_t size;
    int32_t dtype;
} format_rows[] = {
    { 'f', 4, IG_F32 }, { 'd', 8, IG_F64 }, { 'e', 2, IG_F16 }, { '?', 1, IG_BOOL8 },
    { 'b', 1, IG_I8 },  { 'B', 1, IG_U8 },  { 'h', 2, IG_I16 }, { 'H', 2, IG_U16 },
    { 'i', 4, IG_I32 }, { 'I', 4, IG_U32 }, { 'l', 8, IG_I64 }, { 'L', 8, IG_U64 },
    { 'q', 8, IG_I64 }, { 'Q', 8, IG_U64 }, { 'n', 8, IG_I64 }, { 'N', 8, IG_U64 },
    { 'l', 4, IG_I32 }, { 'L', 4, IG_U32 },
};

static int dtype_of_format(const char *format, Py_ssize_t size, int32_t *out) {
    const char *at = format && *format ? format : "B";
    at += *at == '<' || *at == '=' || *at == '@';
    for (size_t i = 0; at[0] && !at[1] && i < sizeof format_rows / sizeof *format_rows;
         i++) {
        if (format_rows[i].format == *at && format_rows[i].size == size) {
            *out = format_rows[i].dtype;
            return 0;
        }
    }
    PyErr_Format(PyExc_TypeError,
                 "elements of format '%s' are of no type that a model takes",
                 format ? format : "");
    return -1;
}

static int borrow_buffer(PyObject *object, borrowed *out);

/* An array with the same elements, of a type whose buffers have a format; NULL, mostly
 * without an exception: there is none. */
static PyObject *with_format(PyObject *array, const char *type_name,
                             int32_t *out_dtype) {
    if (strncmp(type_name, "StringDType(", 12) == 0) {
        *out_dtype = IG_STR8;
        return PyObject_CallMethod(array, "astype", "s", "O");
    }
    *out_dtype = extended_dtype(type_name);
    return *out_dtype ? PyObject_CallMethod(array, "view", "s",
                                            *out_dtype == IG_BF16 ? "u2" : "u1")
                      : NULL;
}

/* numpy's buffers have no format for the types of ml_dtypes, whose bits are read, and
 * for strings of any size.  The exception stays where it is of another type. */
static int borrow_bits(PyObject *object, borrowed *out) {
    PyObject *kind, *value, *trace;
    PyErr_Fetch(&kind, &value, &trace);
    PyObject *type = PyObject_GetAttrString(object, "dtype");
    PyObject *name = type ? PyObject_Str(type) : NULL;
    const char *text = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    int32_t dtype = 0;
    PyErr_Clear();
    PyObject *bits = text ? with_format(object, text, &dtype) : NULL;
    int status = bits ? borrow_buffer(bits, out) : -1; /* which keeps `bits` */
    status = status == 0 && dtype != IG_STR8 ? pack_elements(out, dtype) : status;
    Py_XDECREF(bits);
    Py_XDECREF(name);
    Py_XDECREF(type);
    if (status < 0 && !PyErr_Occurred()) {
        PyErr_Restore(kind, value, trace);
        return status;
    }
    Py_XDECREF(kind);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return status;
}

/* Complex numbers become pairs of their parts along a last axis. */
static int split_pairs(borrowed *out) {
    uint32_t rank = out->view.rank;
    if (rank == IG_MAX_RANK) {
        PyErr_Format(PyExc_ValueError, "a complex array of rank %d, at most %d",
                     IG_MAX_RANK, IG_MAX_RANK - 1);
        return -1;
    }
    out->unit /= 2;
    out->view.dims[rank] = 2;
    out->strides[rank] = (int64_t)out->unit;
    out->view.rank = rank + 1;
    out->is_complex = true;
    return 0;
}

static int borrow_buffer(PyObject *object, borrowed *out) {
    if (PyObject_GetBuffer(object, &out->buffer, PyBUF_RECORDS_RO) < 0) {
        return borrow_bits(object, out);
    }
    out->has_buffer = true;
    const Py_buffer *buffer = &out->buffer;
    if (buffer->ndim > IG_MAX_RANK) {
        PyErr_Format(PyExc_ValueError, "an array of rank %d, at most %d", buffer->ndim,
                     IG_MAX_RANK);
        return -1;
    }
    out->view = (ig_view){ .data = buffer->buf, .rank = (uint32_t)buffer->ndim };
    out->unit = (size_t)buffer->itemsize;
    out->is_readonly = buffer->readonly;
    int64_t run = buffer->itemsize;
    for (int i = buffer->ndim; i-- > 0;) {
        out->view.dims[i] = buffer->shape[i];
        out->strides[i] = buffer->strides ? buffer->strides[i] : run;
        run *= out->view.dims[i];
    }
    const char *format = buffer->format;
    if (is_text_format(format)) {
        return make_texts(out, format);
    }
    if (format && *format == 'Z' && (split_pairs(out) < 0 || !format++)) {
        return -1;
    }
    return dtype_of_format(format, (Py_ssize_t)out->unit, &out->view.dtype) < 0
               ? -1
               : make_rows(out);
}

/* ---- tensors by DLPack ---- */

static int refuse_device(const char *words) {
    PyErr_SetString(PyExc_TypeError, words);
    return -1;
}

/* Of a GPU only where `has_gpu`, and without a copy. */
static int view_dlpack(const dl_tensor *tensor, borrowed *out, bool has_gpu) {
    dl_managed managed = { .tensor = *tensor };
    bool is_far = tensor->device_type == DL_CUDA && has_gpu;
    if (tensor->device_type != DL_CPU && !is_far) {
        return refuse_device(
            "a tensor that is not in the host's memory: move it with .cpu()");
    }
    bool is_complex = tensor->dtype.code == DL_COMPLEX && tensor->dtype.lanes == 1;
    if (is_complex) {
        managed.tensor.dtype.code = DL_FLOAT;
        managed.tensor.dtype.bits = tensor->dtype.bits / 2;
    }
    managed.tensor.strides = NULL; /* read below */
    if (ig_view_from_dlpack(&managed, &out->view) != IG_OK) {
        PyErr_SetString(PyExc_TypeError,
                        "a tensor of a type or rank that no model takes");
        return -1;
    }
    out->unit = tensor->dtype.bits / 8u;
    int64_t run = 1;
    for (int32_t i = tensor->ndim; i-- > 0;) {
        int64_t stride = tensor->strides ? tensor->strides[i] : run;
        out->strides[i] = stride * (int64_t)out->unit;
        run *= tensor->shape[i];
    }
    if (is_complex && split_pairs(out) < 0) {
        return -1;
    }
    out->is_readonly |= is_far;
    if (!is_far) {
        return make_rows(out);
    }
    return is_row_major(out)
               ? 0
               : refuse_device(
                     "a tensor of a GPU that is not contiguous: call .contiguous()");
}

/* Does it say that its memory is a GPU's? */
static bool is_of_gpu(PyObject *object) {
    PyObject *device = PyObject_CallMethod(object, "__dlpack_device__", NULL);
    PyObject *type = device ? PySequence_GetItem(device, 0) : NULL;
    long number = type ? PyLong_AsLong(type) : 0;
    Py_XDECREF(type);
    Py_XDECREF(device);
    PyErr_Clear();
    return number == DL_CUDA;
}

/* The owner of a GPU's memory has our stream wait for what it has queued. */
static PyObject *ask_for_capsule(PyObject *object, void *stream) {
    PyObject *method = PyObject_GetAttrString(object, "__dlpack__");
    PyObject *none = PyTuple_New(0), *named = NULL, *capsule = NULL;
    if (stream && method && is_of_gpu(object)) {
        named = Py_BuildValue("{s:n}", "stream", (Py_ssize_t)(uintptr_t)stream);
    }
    if (method && none && !PyErr_Occurred()) {
        capsule = PyObject_Call(method, none, named);
    }
    Py_XDECREF(named);
    Py_XDECREF(none);
    Py_XDECREF(method);
    return capsule;
}

static int borrow_capsule(PyObject *object, borrowed *out, void *stream) {
    out->capsule = ask_for_capsule(object, stream);
    if (!out->capsule) {
        return -1;
    }
    if (!PyCapsule_IsValid(out->capsule, "dltensor")) {
        PyErr_SetString(PyExc_TypeError, "__dlpack__() gave no capsule of a tensor");
        return -1;
    }
    const dl_managed *managed = PyCapsule_GetPointer(out->capsule, "dltensor");
    return view_dlpack(&managed->tensor, out, stream != NULL);
}

/* ---- any of them ---- */

bool is_array(PyObject *object) {
    return PyObject_CheckBuffer(object) || exchange_of(object) ||
           PyObject_HasAttrString(object, "__dlpack__");
}

/* The exception that is set as one of type `type`: its first line behind `words`. */
static void put_words_before(const char *words, PyObject *type) {
    PyObject *kind, *value, *trace;
    PyErr_Fetch(&kind, &value, &trace);
    PyObject *text = value ? PyObject_Str(value) : NULL;
    const char *said = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    size_t length = said ? strcspn(said, "\n") : 0;
    PyObject *line = PyUnicode_FromStringAndSize(said, (Py_ssize_t)length);
    PyErr_Clear();
    PyErr_Format(type, "%s: %V", words, line, "");
    Py_XDECREF(line);
    Py_XDECREF(text);
    Py_XDECREF(kind);
    Py_XDECREF(value);
    Py_XDECREF(trace);
}

/* Of another library. */
static int refuse_tensor(void) {
    put_words_before("a tensor without dense elements in the host's memory",
                     PyExc_TypeError);
    return -1;
}

void refuse_array(const char *path, PyObject *object) {
    PyObject *kind, *value, *trace;
    PyErr_Fetch(&kind, &value, &trace); /* looking for attributes would clear it */
    bool is_one = is_array(object);
    PyErr_Restore(kind, value, trace);
    if (is_one) {
        PyObject *type = PyErr_ExceptionMatches(PyExc_TypeError)    ? PyExc_TypeError
                         : PyErr_ExceptionMatches(PyExc_ValueError) ? PyExc_ValueError
                                                                    : NULL;
        if (type) {
            put_words_before(path, type);
        }
        return;
    }
    PyErr_Clear();
    PyErr_Format(PyExc_TypeError, "%s: expected a tensor, got a value of %R", path,
                 (PyObject *)Py_TYPE(object));
}

/* Torch's conjugates are views whose elements lie as they were, and imaginary parts of
 * those lie negated, which the table does not tell: a new reference to elements as they
 * are, or NULL. */
static PyObject *resolve_bit(PyObject *object, PyObject *test, const char *resolve) {
    PyObject *answer = test ? PyObject_CallMethodObjArgs(object, test, NULL) : NULL;
    bool is_set = answer == Py_True;
    Py_XDECREF(answer);
    PyErr_Clear(); /* of another library */
    return is_set ? PyObject_CallMethod(object, resolve, NULL) : NULL;
}

static PyObject *resolve_bits(PyObject *object, const dl_tensor *tensor) {
    static PyObject *is_neg, *is_conj; /* interned: each call of a program asks */
    is_neg = is_neg ? is_neg : PyUnicode_InternFromString("is_neg");
    is_conj = is_conj ? is_conj : PyUnicode_InternFromString("is_conj");
    if (tensor->dtype.code != DL_COMPLEX) {
        return resolve_bit(object, is_neg, "resolve_neg");
    }
    PyObject *plain = resolve_bit(object, is_conj, "resolve_conj");
    PyObject *positive = PyErr_Occurred() ? NULL
                                          : resolve_bit(plain ? plain : object, is_neg,
                                                        "resolve_neg");
    if (!positive && !PyErr_Occurred()) {
        return plain;
    }
    Py_XDECREF(plain);
    return positive;
}

static int borrow_by_table(PyObject *object, const dl_exchange *table, borrowed *out,
                           void *stream) {
    dl_tensor tensor;
    if (table->tensor_from_object(object, &tensor) != 0) {
        return refuse_tensor();
    }
    if (tensor.device_type == DL_CUDA && stream) { /* the table knows no streams */
        return borrow_capsule(object, out, stream);
    }
    out->capsule = resolve_bits(object, &tensor);
    if (PyErr_Occurred()) {
        return -1;
    }
    out->is_readonly = out->capsule != NULL; /* a copy */
    if (out->capsule && table->tensor_from_object(out->capsule, &tensor) != 0) {
        return refuse_tensor();
    }
    return view_dlpack(&tensor, out, false);
}

int borrow_array(PyObject *object, borrowed *out, make_tensor *out_make, void *stream) {
    *out = (borrowed){ .input = -1 };
    if ((PyObject *)Py_TYPE(object) == tensor_type) { /* of any type: row-major */
        out->view = *tensor_view(object);
        return 0;
    }
    const dl_exchange *table = exchange_of(object);
    if (table) {
        *out_make = *out_make ? *out_make : table->object_from_managed;
        return borrow_by_table(object, table, out, stream);
    }
    if (capsule_of((PyObject *)Py_TYPE(object)) == Py_False) {
        PyErr_SetString(PyExc_TypeError, "a masked array: give its .filled(value)");
        return -1;
    }
    return PyObject_CheckBuffer(object) ? borrow_buffer(object, out)
                                        : borrow_capsule(object, out, stream);
}

void release_borrowed(borrowed *which) {
    if (which->has_buffer) {
        PyBuffer_Release(&which->buffer);
    }
    Py_XDECREF(which->capsule);
    free(which->copy);
    *which = (borrowed){ 0 };
}

/* ---- out ---- */

/* May be called by any thread. */
static void release_owner(void *owner) {
    PyGILState_STATE state = PyGILState_Ensure();
    Py_DECREF((PyObject *)owner);
    PyGILState_Release(state);
}

void *export_dlpack(const ig_view *view, PyObject *owner, bool is_versioned) {
    ig_dlpack_options options = { .size = sizeof options,
                                  .release = release_owner,
                                  .owner = owner };
    void *out = NULL;
    Py_INCREF(owner);
    ig_status status = is_versioned
                           ? ig_view_to_dlpack_versioned(view, &options, &out)
                           : ig_view_to_dlpack(view, release_owner, owner, &out);
    if (status != IG_OK) {
        Py_DECREF(owner);
    }
    return status == IG_OK ? out : NULL;
}
