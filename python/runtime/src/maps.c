/* Outputs that are lists of dicts, one for each row (ONNX's ZipMap).
 * SPDX-License-Identifier: Apache-2.0 */
#include "python/runtime/src/binding.h"

#include <string.h>

/* ---- what the program says ---- */

static PyObject *read_key(const ig_tree_node *node) {
    return node->kind == IG_TREE_STR
               ? PyUnicode_DecodeUTF8(node->text, (Py_ssize_t)strlen(node->text),
                                      "surrogateescape")
               : PyLong_FromLongLong(node->integer);
}

/* The children of that node, numbers and texts that are known. */
static PyObject *read_keys(const ig_program *opened, size_t list) {
    uint32_t count = ig_program_node(opened, list).child_count;
    PyObject *keys = PyTuple_New((Py_ssize_t)count);
    for (uint32_t i = 0; keys && i < count; i++) {
        ig_tree_node node = ig_program_node(opened, list + 1 + i);
        PyObject *key = read_key(&node);
        if (!key || PyTuple_SetItem(keys, i, key) < 0) {
            Py_CLEAR(keys);
        }
    }
    return keys;
}

/* Enters the keys of the record at that node, if it is such a list, for its output. */
static int note_record(const ig_program *opened, size_t at, PyObject *maps) {
    ig_tree_node node = ig_program_node(opened, at);
    if (node.kind != IG_TREE_RECORD || strcmp(node.text, IG_TREE_ZIP_MAP) != 0 ||
        node.child_count != 2) {
        return 0;
    }
    size_t list = at + 1, values = list + ig_program_node(opened, list).size;
    PyObject *keys = read_keys(opened, list);
    return keys ? PyList_SetItem(maps, ig_program_node(opened, values).leaf, keys) : -1;
}

static size_t find_result(const ig_program *opened) {
    size_t at = 1;
    for (int64_t i = 0; i < ig_program_node(opened, 0).integer; i++) {
        at += ig_program_node(opened, at).size;
    }
    return at;
}

PyObject *maps_of_outputs(const ig_program *opened) {
    size_t count = ig_program_output_count(opened), end;
    PyObject *maps = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; maps && i < count; i++) {
        Py_INCREF(Py_None);
        if (PyList_SetItem(maps, (Py_ssize_t)i, Py_None) < 0) {
            Py_CLEAR(maps);
        }
    }
    end = maps ? ig_program_node_count(opened) : 0;
    for (size_t at = end ? find_result(opened) : 0; at < end; at++) {
        if (note_record(opened, at, maps) < 0) {
            Py_DECREF(maps);
            return NULL;
        }
    }
    return maps;
}

/* ---- what a call gives ---- */

static PyObject *dict_of_row(const float *row, PyObject *keys, Py_ssize_t count) {
    PyObject *dict = PyDict_New();
    for (Py_ssize_t i = 0; dict && i < count; i++) {
        PyObject *value = PyFloat_FromDouble((double)row[i]);
        if (!value || PyDict_SetItem(dict, PyTuple_GetItem(keys, i), value) < 0) {
            Py_CLEAR(dict);
        }
        Py_XDECREF(value);
    }
    return dict;
}

PyObject *read_maps(const ig_view *view, PyObject *keys) {
    Py_ssize_t count = PyTuple_Size(keys), rows = 1;
    for (uint32_t d = 0; d + 1 < view->rank; d++) {
        rows *= (Py_ssize_t)view->dims[d];
    }
    if (view->dtype != IG_F32 || view->rank == 0 ||
        view->dims[view->rank - 1] != count) {
        raise_status(IG_INVALID, "an output has another type than its keys tell");
        return NULL;
    }
    PyObject *list = PyList_New(rows);
    for (Py_ssize_t i = 0; list && i < rows; i++) {
        const float *row = (const float *)view->data + i * count;
        PyObject *dict = dict_of_row(row, keys, count);
        if (!dict || PyList_SetItem(list, i, dict) < 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}
