/* Tensors of strings: Python's strings -> pointers to bytes, and back.
 * SPDX-License-Identifier: Apache-2.0
 *
 * An element of IG_STR8 is a `const char *`.  Pointers and bytes lie in one block of
 * memory, which one free() releases:
 *
 *     | p0 | p1 | ... | "one" 0 | "two" 0 | ...
 *
 * Bytes are UTF-8.  Those that are none become Python's lone surrogates
 * ("surrogateescape"), as names of files do, and come back as they were.
 */
#include "python/runtime/src/binding.h"
#include "python/lists.h"

#include <stdlib.h>
#include <string.h>

typedef struct text_block {
    char *memory;
    size_t used, room;
} text_block;

static int block_grow(text_block *block, size_t size) {
    size_t needed = block->used + size;
    if (needed <= block->room) {
        return 0;
    }
    char *grown = realloc(block->memory, needed + needed / 2);
    if (!grown) {
        PyErr_NoMemory();
        return -1;
    }
    block->memory = grown;
    block->room = needed + needed / 2;
    return 0;
}

/* ---- one element ---- */

static PyObject *bytes_of_str(PyObject *text) {
    return PyUnicode_AsEncodedString(text, "utf-8", "surrogateescape");
}

/* Of numpy's `object`: the element is a reference to any object, or NULL. */
static PyObject *bytes_of_object(const char *at) {
    PyObject *item;
    memcpy(&item, at, sizeof item);
    if (item && PyUnicode_Check(item)) {
        return bytes_of_str(item);
    }
    if (item && PyBytes_Check(item)) {
        Py_INCREF(item);
        return item;
    }
    return PyErr_Format(PyExc_TypeError, "is a value of %R, expected a str",
                        item ? (PyObject *)Py_TYPE(item) : Py_None);
}

/* The size without the zeros behind it, which fill numpy's elements of fixed size. */
static size_t trimmed(const char *at, size_t size, size_t unit) {
    static const char zeros[4];
    while (size >= unit && memcmp(at + size - unit, zeros, unit) == 0) {
        size -= unit;
    }
    return size;
}

/* order: -1 little-endian, 1 big-endian. */
static PyObject *bytes_of_utf32(const char *at, size_t size, int order) {
    PyObject *text = PyUnicode_DecodeUTF32(at, (Py_ssize_t)trimmed(at, size, 4), NULL,
                                           &order);
    PyObject *bytes = text ? bytes_of_str(text) : NULL;
    Py_XDECREF(text);
    return bytes;
}

static PyObject *bytes_of_element(const char *at, size_t size, const char *format) {
    switch (format[strlen(format) - 1]) {
    case 'O':
        return bytes_of_object(at);
    case 'w':
        return bytes_of_utf32(at, size, *format == '>' ? 1 : -1);
    default:
        return PyBytes_FromStringAndSize(at, (Py_ssize_t)trimmed(at, size, 1));
    }
}

/* ---- all of them ---- */

bool is_text_format(const char *format) {
    const char *at = format ? format : "";
    at += *at == '<' || *at == '>' || *at == '=' || *at == '@' || *at == '|';
    bool is_object = strcmp(at, "O") == 0;
    at += strspn(at, "0123456789");
    return is_object || strcmp(at, "w") == 0 || strcmp(at, "s") == 0;
}

/* Where element `index`, row-major, lies; *out_index: "[1, 2]" of it. */
static const char *find_element(const borrowed *b, int64_t index, int64_t *out_index) {
    const char *at = b->view.data;
    for (uint32_t axis = b->view.rank; axis-- > 0;) {
        out_index[axis] = index % b->view.dims[axis];
        index /= b->view.dims[axis];
        at += out_index[axis] * b->strides[axis];
    }
    return at;
}

/* The exception's words behind the position of its element. */
static void name_element(const int64_t *position, uint32_t rank) {
    PyObject *kind, *value, *trace;
    if (!PyErr_ExceptionMatches(PyExc_TypeError) &&
        !PyErr_ExceptionMatches(PyExc_ValueError)) {
        return; /* no memory */
    }
    bool is_type = PyErr_ExceptionMatches(PyExc_TypeError);
    bool is_unicode = PyErr_ExceptionMatches(PyExc_UnicodeError);
    PyErr_Fetch(&kind, &value, &trace);
    PyObject *words = is_unicode ? PyUnicode_FromString("is not UTF-8")
                                 : PyObject_Str(value);
    PyObject *where = PyList_New(0);
    for (uint32_t i = 0; where && i < rank; i++) {
        PyObject *number = PyLong_FromLongLong(position[i]);
        if (!number || PyList_Append(where, number) < 0) {
            Py_CLEAR(where);
        }
        Py_XDECREF(number);
    }
    if (words && where) {
        PyErr_Format(is_type ? PyExc_TypeError : PyExc_ValueError, "element %S %U",
                     where, words);
    }
    Py_XDECREF(where);
    Py_XDECREF(words);
    Py_XDECREF(kind);
    Py_XDECREF(value);
    Py_XDECREF(trace);
}

/* Takes the bytes over. */
static int append_bytes(text_block *block, PyObject *bytes) {
    if (!bytes) {
        return -1;
    }
    size_t size = (size_t)PyBytes_Size(bytes);
    const char *text = PyBytes_AsString(bytes);
    int status = -1;
    if (memchr(text, 0, size)) {
        PyErr_SetString(PyExc_ValueError, "holds a NUL, where a text ends");
    } else if (block_grow(block, size + 1) == 0) {
        memcpy(block->memory + block->used, text, size + 1);
        block->used += size + 1;
        status = 0;
    }
    Py_DECREF(bytes);
    return status;
}

static int append_elements(text_block *block, const borrowed *b, int64_t count,
                           const char *format) {
    int64_t position[IG_MAX_RANK];
    for (int64_t i = 0; i < count; i++) {
        const char *at = find_element(b, i, position);
        memcpy(block->memory + (size_t)i * sizeof block->used, &block->used,
               sizeof block->used); /* becomes the pointer when all lie still */
        if (append_bytes(block, bytes_of_element(at, b->unit, format)) < 0) {
            name_element(position, b->view.rank);
            return -1;
        }
    }
    return 0;
}

int make_texts(borrowed *b, const char *format) {
    b->view.dtype = IG_STR8;
    b->is_readonly = true;
    int64_t size = ig_view_bytes(&b->view);
    text_block block = { .used = size < 0 ? SIZE_MAX / 2 : (size_t)size };
    if (block_grow(&block, 1) < 0) {
        return -1;
    }
    int64_t count = size / (int64_t)sizeof(char *);
    int status = append_elements(&block, b, count, format);
    b->copy = b->view.data = block.memory;
    const char **texts = (const char **)(void *)block.memory;
    for (int64_t i = 0; status == 0 && i < count; i++) {
        size_t offset;
        memcpy(&offset, &texts[i], sizeof offset);
        texts[i] = block.memory + offset;
    }
    return status;
}

/* ---- out ---- */

void *copy_texts(const ig_view *view) {
    size_t pointers = (size_t)ig_view_bytes(view), count = pointers / sizeof(char *);
    const char *const *texts = view->data;
    size_t size = pointers + 1;
    for (size_t i = 0; i < count; i++) {
        size += texts[i] ? strlen(texts[i]) + 1 : 1;
    }
    char *memory = malloc(size), *at = memory + pointers;
    const char **copies = (const char **)(void *)memory;
    for (size_t i = 0; memory && i < count; i++) {
        const char *text = texts[i] ? texts[i] : "";
        copies[i] = at;
        at += strlen(text) + 1;
        memcpy((char *)(uintptr_t)copies[i], text, strlen(text) + 1);
    }
    return memory;
}

PyObject *list_of_strs(const ig_view *view) {
    return list_from_texts(view->data, (size_t)ig_view_bytes(view) / sizeof(char *));
}

PyObject *strings_of_array(PyObject *unused, PyObject *array) {
    borrowed b;
    make_tensor make = NULL;
    PyObject *list = NULL;
    (void)unused;
    if (borrow_array(array, &b, &make, NULL) == 0) {
        list = b.view.dtype == IG_STR8
                   ? list_of_strs(&b.view)
                   : PyErr_Format(PyExc_TypeError, "elements of %s are not strings",
                                  dtype_text(b.view.dtype));
    }
    release_borrowed(&b);
    return list;
}
