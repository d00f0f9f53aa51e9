/* Values of the interpreter's calls <-> Python's.
 * SPDX-License-Identifier: Apache-2.0 */
#include "python/compiler/src/values.h"
#include "python/lists.h"

#include <ingot/runtime.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 16 };

/* ---- in ---- */

static bool is_text(const ig_argument *value) {
    return value->dtype && strcmp(value->dtype, "str") == 0;
}

void values_free(ig_argument *values, size_t count) {
    for (size_t i = 0; values && i < count; i++) {
        values_free((ig_argument *)(uintptr_t)values[i].items, values[i].item_count);
        if (is_text(&values[i])) { /* an array of pointers to Python's bytes */
            free((void *)(uintptr_t)values[i].data);
        }
        free((void *)(uintptr_t)values[i].dims);
    }
    free(values);
}

/* Are the bytes as many as type and extents say? */
static int check_size(const ig_argument *tensor) {
    ig_view view = { .dtype = ig_dtype_number(tensor->dtype), .rank = tensor->rank };
    bool is_good = tensor->rank <= IG_MAX_RANK;
    for (uint32_t i = 0; is_good && i < tensor->rank; i++) {
        view.dims[i] = tensor->dims[i];
        is_good = tensor->dims[i] >= 0;
    }
    if (!is_good || ig_view_bytes(&view) != (int64_t)tensor->size) {
        PyErr_SetString(PyExc_ValueError, "a tensor of another size than its extents");
        return -1;
    }
    return 0;
}

/* The bytes, or the texts of a list, which keeps them. */
static int read_elements(PyObject *elements, ig_argument *out) {
    if (!is_text(out)) {
        out->data = PyBytes_AsString(elements); /* NULL with a TypeError */
        out->size = out->data ? (size_t)PyBytes_Size(elements) : 0;
        return out->data ? 0 : -1;
    }
    if (!PyList_Check(elements)) {
        PyErr_SetString(PyExc_TypeError, "the elements of a tensor of str are a list");
        return -1;
    }
    size_t count;
    out->data = list_of_texts(elements, &count);
    out->size = count * sizeof(char *);
    return out->data ? 0 : -1;
}

static int read_tensor(PyObject *value, ig_argument *out) {
    const char *dtype;
    PyObject *extents, *elements;
    if (!PyArg_ParseTuple(value, "sO!O", &dtype, &PyTuple_Type, &extents, &elements)) {
        return -1;
    }
    Py_ssize_t rank = PyTuple_Size(extents);
    int64_t *dims = calloc((size_t)rank + 1, sizeof *dims);
    *out = (ig_argument){ .kind = IG_ARGUMENT_TENSOR,
                          .dtype = ig_dtype_text(ig_dtype_number(dtype)),
                          .rank = (uint32_t)rank,
                          .dims = dims };
    if (!dims) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < rank; i++) {
        dims[i] = PyLong_AsLongLong(PyTuple_GetItem(extents, i));
    }
    if (!out->dtype) {
        PyErr_Format(PyExc_TypeError, "there is no element type '%s'", dtype);
    }
    return PyErr_Occurred() || read_elements(elements, out) < 0 ? -1 : check_size(out);
}

static ig_argument *read_list(PyObject *list, size_t *out_count, int depth);

static int read_value(PyObject *value, ig_argument *out, int depth) {
    if (value == Py_None) {
        *out = (ig_argument){ .kind = IG_ARGUMENT_OPTIONAL };
        return 0;
    }
    if (PyTuple_Check(value)) {
        return read_tensor(value, out);
    }
    *out = (ig_argument){ .kind = IG_ARGUMENT_LIST };
    out->items = read_list(value, &out->item_count, depth + 1);
    return out->items ? 0 : -1;
}

static ig_argument *read_list(PyObject *list, size_t *out_count, int depth) {
    if (!PyList_Check(list) || depth > MAX_DEPTH) {
        PyErr_SetString(PyExc_TypeError, "a value is a tensor, a list or None");
        return NULL;
    }
    size_t count = (size_t)PyList_Size(list);
    ig_argument *out = calloc(count + 1, sizeof *out);
    if (!out) {
        PyErr_NoMemory();
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        if (read_value(PyList_GetItem(list, (Py_ssize_t)i), &out[i], depth) < 0) {
            values_free(out, count);
            return NULL;
        }
    }
    *out_count = count;
    return out;
}

ig_argument *values_read(PyObject *list, size_t *out_count) {
    return read_list(list, out_count, 0);
}

int value_wrap(ig_argument *value) {
    ig_argument *item = calloc(2, sizeof *item);
    if (!item) {
        return -1;
    }
    *item = *value;
    *value =
        (ig_argument){ .kind = IG_ARGUMENT_OPTIONAL, .items = item, .item_count = 1 };
    return 0;
}

/* ---- out ---- */

static PyObject *write_tensor(const ig_argument *value) {
    PyObject *dims = PyTuple_New(value->rank);
    for (uint32_t i = 0; dims && i < value->rank; i++) {
        PyObject *extent = PyLong_FromLongLong(value->dims[i]);
        if (!extent || PyTuple_SetItem(dims, i, extent) < 0) {
            Py_CLEAR(dims);
        }
    }
    if (dims && is_text(value)) {
        return Py_BuildValue(
            "(sNN)", value->dtype, dims,
            list_from_texts(value->data, value->size / sizeof(char *)));
    }
    return dims ? Py_BuildValue("(sNy#)", value->dtype, dims,
                                value->size ? value->data : "", (Py_ssize_t)value->size)
                : NULL;
}

static PyObject *write_value(const ig_argument *value) {
    if (value->kind == IG_ARGUMENT_TENSOR) {
        return write_tensor(value);
    }
    if (value->kind == IG_ARGUMENT_LIST) {
        return values_write(value->items, value->item_count);
    }
    if (value->item_count) {
        return write_value(value->items);
    }
    Py_INCREF(Py_None);
    return Py_None;
}

PyObject *values_write(const ig_argument *values, size_t count) {
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list && i < count; i++) {
        PyObject *value = write_value(&values[i]);
        if (!value || PyList_SetItem(list, (Py_ssize_t)i, value) < 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}
