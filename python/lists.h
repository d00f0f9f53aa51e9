/* Sequences of Python as arrays of C, for both extensions.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef INGOT_PYTHON_LISTS_H
#define INGOT_PYTHON_LISTS_H

/* CPython's header was included, by the headers that say which API. */
#include <stdlib.h>
#include <string.h>

/* Room for the items of `list` (NULL and None have none) and one more; NULL with an
 * exception, or without one where there is no memory. */
static inline void **list_room(PyObject *list, size_t *out_count) {
    Py_ssize_t count = list && list != Py_None ? PySequence_Size(list) : 0;
    *out_count = (size_t)(count < 0 ? 0 : count);
    return count < 0 ? NULL : calloc((size_t)count + 1, sizeof(void *));
}

/* Texts, which the list keeps alive; the caller frees the array. */
static inline const char **list_of_texts(PyObject *list, size_t *out_count) {
    const char **texts = (const char **)(void *)list_room(list, out_count);
    for (size_t i = 0; texts && i < *out_count; i++) {
        PyObject *item = PySequence_GetItem(list, (Py_ssize_t)i);
        texts[i] = item ? PyUnicode_AsUTF8AndSize(item, NULL) : NULL;
        Py_XDECREF(item);
        if (!texts[i]) {
            free((void *)texts);
            return NULL;
        }
    }
    return texts;
}

/* A list of str.  Bytes that are not UTF-8 become lone surrogates, as in names of
 * files; NULL is the empty text. */
static inline PyObject *list_from_texts(const char *const *texts, size_t count) {
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list && i < count; i++) {
        const char *text = texts[i] ? texts[i] : "";
        PyObject *item = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text),
                                              "surrogateescape");
        if (!item || PyList_SetItem(list, (Py_ssize_t)i, item) < 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

/* Addresses given as integers. */
static inline void **list_of_addresses(PyObject *list, size_t *out_count) {
    void **addresses = list_room(list, out_count);
    for (size_t i = 0; addresses && i < *out_count; i++) {
        PyObject *item = PySequence_GetItem(list, (Py_ssize_t)i);
        addresses[i] = item ? PyLong_AsVoidPtr(item) : NULL;
        Py_XDECREF(item);
        if (!addresses[i]) {
            free(addresses);
            return NULL;
        }
    }
    return addresses;
}

#endif
