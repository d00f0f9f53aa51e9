/* Class Tensor: an output's memory.
 * SPDX-License-Identifier: Apache-2.0
 *
 * It offers the buffer protocol and DLPack, so that numpy.asarray(t) and
 * torch.from_dlpack(t) see the same memory.
 */
#include "python/runtime/src/binding.h"

#include <stdlib.h>
#include <string.h>

typedef struct tensor {
    PyObject_HEAD ig_view view;
    void *memory;
    spare_blocks *home; /* of whose output `index` the memory is, or NULL */
    size_t index;
    Py_ssize_t shape[IG_MAX_RANK], strides[IG_MAX_RANK];
} tensor;

PyObject *tensor_type;

/* Of the element types that a run gives: text, format of struct (NULL: none), bytes,
 * and without a format the name in ml_dtypes, numpy's package of such types. */
static const struct {
    int32_t dtype;
    const char *text, *format;
    uint8_t size;
    const char *extended;
} dtype_rows[] = {
    { IG_STR8, "str", NULL, sizeof(char *), NULL },
    { IG_F32, "f32", "f", 4, NULL },
    { IG_F64, "f64", "d", 8, NULL },
    { IG_F16, "f16", "e", 2, NULL },
    { IG_BF16, "bf16", NULL, 2, "bfloat16" },
    { IG_BOOL8, "bool", "?", 1, NULL },
    { IG_I8, "i8", "b", 1, NULL },
    { IG_U8, "u8", "B", 1, NULL },
    { IG_I16, "i16", "h", 2, NULL },
    { IG_U16, "u16", "H", 2, NULL },
    { IG_I32, "i32", "i", 4, NULL },
    { IG_U32, "u32", "I", 4, NULL },
    { IG_I64, "i64", "q", 8, NULL },
    { IG_U64, "u64", "Q", 8, NULL },
    { IG_F8E4M3FN, "f8e4m3fn", NULL, 1, "float8_e4m3fn" },
    { IG_F8E4M3FNUZ, "f8e4m3fnuz", NULL, 1, "float8_e4m3fnuz" },
    { IG_F8E5M2, "f8e5m2", NULL, 1, "float8_e5m2" },
    { IG_F8E5M2FNUZ, "f8e5m2fnuz", NULL, 1, "float8_e5m2fnuz" },
    { IG_F8E8M0, "f8e8m0", NULL, 1, "float8_e8m0fnu" },
    { IG_F4E2M1, "f4e2m1", NULL, 0, "float4_e2m1fn" },
    { IG_U4, "u4", NULL, 0, "uint4" },
    { IG_I4, "i4", NULL, 0, "int4" },
    { IG_U2, "u2", NULL, 0, "uint2" },
    { IG_I2, "i2", NULL, 0, "int2" },
};

enum { DTYPES = sizeof dtype_rows / sizeof *dtype_rows };

static size_t dtype_row(int32_t dtype) {
    size_t i = 0;
    while (i < DTYPES && dtype_rows[i].dtype != dtype) {
        i++;
    }
    return i;
}

const char *dtype_text(int32_t dtype) {
    size_t row = dtype_row(dtype);
    return row < DTYPES ? dtype_rows[row].text : NULL;
}

int32_t extended_dtype(const char *name) {
    for (size_t i = 0; i < DTYPES; i++) {
        if (dtype_rows[i].extended && strcmp(dtype_rows[i].extended, name) == 0) {
            return dtype_rows[i].dtype;
        }
    }
    return 0;
}

const char *extended_name(int32_t dtype) {
    size_t row = dtype_row(dtype);
    return row < DTYPES ? dtype_rows[row].extended : NULL;
}

PyObject *tensor_take_bits(PyObject *object) {
    tensor *t = (tensor *)object;
    uint8_t size = dtype_rows[dtype_row(t->view.dtype)].size;
    if (size > 0) {
        t->view.dtype = size == 2 ? IG_U16 : IG_U8;
        return object;
    }
    PyObject *bytes = unpack_elements(&t->view);
    Py_DECREF(object);
    return bytes;
}

bool tensor_has_format(PyObject *object) {
    return dtype_rows[dtype_row(((tensor *)object)->view.dtype)].format != NULL;
}

/* ---- making ---- */

static void *copy_elements(const ig_view *view, size_t size) {
    if (view->dtype == IG_STR8) {
        return copy_texts(view);
    }
    void *memory = aligned_alloc(64, (size + 64) / 64 * 64);
    if (memory && size > 0) {
        memcpy(memory, view->data, size);
    }
    return memory;
}

/* Of the view's type, without memory. */
static tensor *make_tensor_object(const ig_view *view) {
    int64_t size = ig_view_bytes(view);
    size_t row = dtype_row(view->dtype);
    if (size < 0 || row == DTYPES) {
        raise_status(IG_INTERNAL, "an output has no size");
        return NULL;
    }
    allocfunc make = (allocfunc)PyType_GetSlot((PyTypeObject *)tensor_type,
                                               Py_tp_alloc);
    tensor *out = (tensor *)make((PyTypeObject *)tensor_type, 0);
    if (!out) {
        return NULL;
    }
    out->view = *view;
    out->view.data = NULL;
    out->view.capacity = (size_t)size;
    Py_ssize_t run = dtype_rows[row].size;
    for (uint32_t i = view->rank; i-- > 0;) {
        out->shape[i] = (Py_ssize_t)view->dims[i];
        out->strides[i] = run;
        run *= out->shape[i];
    }
    return out;
}

PyObject *tensor_of_view(const ig_view *view) {
    tensor *out = make_tensor_object(view);
    if (!out) {
        return NULL;
    }
    out->memory = copy_elements(view, out->view.capacity);
    out->view.data = out->memory;
    if (!out->memory) {
        Py_DECREF(out);
        return PyErr_NoMemory();
    }
    return (PyObject *)out;
}

PyObject *tensor_in_block(const ig_view *view, spare_blocks *home, size_t index) {
    tensor *out = make_tensor_object(view);
    if (out) {
        out->memory = out->view.data = view->data;
        out->home = home;
        out->index = index;
        home->owners++;
    }
    return (PyObject *)out;
}

const ig_view *tensor_view(PyObject *object) {
    return &((tensor *)object)->view;
}

static void tensor_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    tensor *t = (tensor *)self;
    if (t->home) {
        spares_give(t->home, t->index, t->memory);
        spares_release(t->home);
    } else {
        free(t->memory);
    }
    release(self);
    Py_DECREF(type);
}

/* ---- the buffer protocol ---- */

static int tensor_getbuffer(PyObject *self, Py_buffer *out, int flags) {
    tensor *t = (tensor *)self;
    size_t row = dtype_row(t->view.dtype);
    if (!dtype_rows[row].format) {
        out->obj = NULL;
        PyErr_Format(PyExc_BufferError, "%s has no buffer format: use %s",
                     dtype_rows[row].text,
                     t->view.dtype == IG_STR8 ? "strings()" : "DLPack");
        return -1;
    }
    *out = (Py_buffer){ .buf = t->memory,
                        .obj = self,
                        .len = (Py_ssize_t)t->view.capacity,
                        .itemsize = dtype_rows[row].size,
                        .ndim = (int)t->view.rank };
    Py_INCREF(self);
    if (flags & PyBUF_FORMAT) {
        out->format = (char *)(uintptr_t)dtype_rows[row].format;
    }
    if (flags & PyBUF_ND) {
        out->shape = t->shape;
    }
    if ((flags & PyBUF_STRIDES) == PyBUF_STRIDES) {
        out->strides = t->strides;
    }
    return 0;
}

/* ---- DLPack ---- */

static void delete_capsule(PyObject *capsule) {
    /* A consumer that took the tensor renamed the capsule. */
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        struct {
            uint32_t version[2];
            void *manager_ctx;
            void (*deleter)(void *self);
        } *managed = PyCapsule_GetPointer(capsule, "dltensor_versioned");
        managed->deleter(managed);
    } else if (PyCapsule_IsValid(capsule, "dltensor")) {
        struct {
            char tensor[48];
            void *manager_ctx;
            void (*deleter)(void *self);
        } *managed = PyCapsule_GetPointer(capsule, "dltensor");
        managed->deleter(managed);
    }
}

/* A consumer that knows version 1 says so by max_version. */
static PyObject *tensor_dlpack(PyObject *self, PyObject *args, PyObject *kwargs) {
    PyObject *wanted = kwargs ? PyDict_GetItemString(kwargs, "max_version") : NULL;
    bool is_versioned = wanted && wanted != Py_None;
    void *managed = export_dlpack(tensor_view(self), self, is_versioned);
    (void)args;
    if (!managed) {
        return PyErr_Format(PyExc_BufferError, "DLPack has no type for %s",
                            dtype_text(tensor_view(self)->dtype));
    }
    return PyCapsule_New(managed, is_versioned ? "dltensor_versioned" : "dltensor",
                         delete_capsule);
}

static PyObject *tensor_dlpack_device(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    return Py_BuildValue("(ii)", 1, 0);
}

static PyObject *tensor_strings(PyObject *self, PyObject *unused) {
    const ig_view *view = tensor_view(self);
    (void)unused;
    return view->dtype == IG_STR8
               ? list_of_strs(view)
               : PyErr_Format(PyExc_TypeError, "elements of %s are not strings",
                              dtype_text(view->dtype));
}

static PyObject *tensor_tobytes(PyObject *self, PyObject *unused) {
    const ig_view *view = tensor_view(self);
    (void)unused;
    if (view->dtype == IG_STR8) {
        return PyErr_Format(PyExc_TypeError, "elements are strings: use strings()");
    }
    return PyBytes_FromStringAndSize(view->data, (Py_ssize_t)view->capacity);
}

/* ---- attributes ---- */

static PyObject *tensor_shape(PyObject *self, void *unused) {
    const ig_view *view = tensor_view(self);
    PyObject *out = PyTuple_New(view->rank);
    (void)unused;
    for (uint32_t i = 0; out && i < view->rank; i++) {
        PyObject *extent = PyLong_FromLongLong(view->dims[i]);
        if (!extent || PyTuple_SetItem(out, i, extent) < 0) {
            Py_CLEAR(out);
        }
    }
    return out;
}

static PyObject *tensor_dtype(PyObject *self, void *unused) {
    (void)unused;
    return PyUnicode_FromString(dtype_text(tensor_view(self)->dtype));
}

static PyObject *tensor_repr(PyObject *self) {
    PyObject *shape = tensor_shape(self, NULL);
    PyObject *out = shape ? PyUnicode_FromFormat("ingot_runtime.Tensor(%s, %R)",
                                                 dtype_text(tensor_view(self)->dtype),
                                                 shape)
                          : NULL;
    Py_XDECREF(shape);
    return out;
}

static PyMethodDef methods[] = {
    { "__dlpack__", (PyCFunction)(void (*)(void))tensor_dlpack,
      METH_VARARGS | METH_KEYWORDS, "The same memory as a DLPack capsule." },
    { "tobytes", tensor_tobytes, METH_NOARGS,
      "tobytes() -> bytes\n\nThe elements, row-major; those of 4 and 2 bits packed, low "
      "bits first." },
    { "strings", tensor_strings, METH_NOARGS,
      "strings() -> list of str\n\nThe elements of a tensor of strings, row-major." },
    { "__dlpack_device__", tensor_dlpack_device, METH_NOARGS, "(1, 0): the host." },
    { 0 },
};

static PyGetSetDef attributes[] = {
    { "shape", tensor_shape, NULL, "The extents, a tuple.", NULL },
    { "dtype", tensor_dtype, NULL, "The element type: \"f32\", \"bf16\" …", NULL },
    { 0 },
};

static PyType_Slot slots[] = {
    { Py_tp_dealloc, tensor_dealloc },
    { Py_tp_repr, tensor_repr },
    { Py_tp_methods, methods },
    { Py_tp_getset, attributes },
    { Py_bf_getbuffer, tensor_getbuffer },
    { Py_tp_doc, "An output of a program, row-major, in memory of its own.\n\n"
                 "numpy.asarray(t) and torch.from_dlpack(t) share the memory." },
    { 0 },
};

PyType_Spec tensor_spec = {
    .name = "ingot_runtime.Tensor",
    .basicsize = sizeof(tensor),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};
