/* Python's values -> ig_call and flat inputs.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The call keeps the first error (ingot/tree.h), so that puts need no check one by one;
 * what can fail here is Python.
 */
#include "python/runtime/src/binding.h"

#include <stdio.h>
#include <string.h>

static int put_values(session_slot *slot, PyObject *sequence, PyObject *names) {
    Py_ssize_t count = PySequence_Size(sequence);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = PySequence_GetItem(sequence, i);
        PyObject *name = item && names ? PySequence_GetItem(names, i) : NULL;
        int failed = !item || (names && !name);
        if (name) {
            const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
            failed = !text;
            if (text) {
                ig_call_name(slot->call, text);
            }
        }
        failed = failed || put_value(slot, item) < 0;
        Py_XDECREF(name);
        Py_XDECREF(item);
        if (failed) {
            return -1;
        }
    }
    return count < 0 ? -1 : 0;
}

/* A named tuple says its fields. */
static int put_tuple(session_slot *slot, PyObject *tuple) {
    PyObject *names = PyTuple_CheckExact(tuple)
                          ? NULL
                          : PyObject_GetAttrString(tuple, "_fields");
    PyErr_Clear();
    ig_call_open(slot->call, names ? IG_TREE_RECORD : IG_TREE_TUPLE);
    int status = put_values(slot, tuple, names);
    Py_XDECREF(names);
    ig_call_close(slot->call);
    return status;
}

static int put_list(session_slot *slot, PyObject *list) {
    ig_call_open(slot->call, IG_TREE_LIST);
    int status = put_values(slot, list, NULL);
    ig_call_close(slot->call);
    return status;
}

static int put_dict(session_slot *slot, PyObject *dict) {
    PyObject *key, *value;
    Py_ssize_t at = 0;
    ig_call_open(slot->call, IG_TREE_DICT);
    while (PyDict_Next(dict, &at, &key, &value)) {
        if (put_value(slot, key) < 0 || put_value(slot, value) < 0) {
            return -1;
        }
    }
    ig_call_close(slot->call);
    return 0;
}

/* A dataclass is a dict of the fields that are set, as torch.export takes it apart. */
static int put_fields(session_slot *slot, PyObject *value, PyObject *fields) {
    PyObject *name, *unused;
    Py_ssize_t at = 0;
    ig_call_open(slot->call, IG_TREE_DICT);
    while (PyDict_Next(fields, &at, &name, &unused)) {
        PyObject *field = PyObject_GetAttr(value, name);
        bool is_set = field && field != Py_None;
        int failed = !field || (is_set && (put_value(slot, name) < 0 ||
                                           put_value(slot, field) < 0));
        Py_XDECREF(field);
        if (failed) {
            return -1;
        }
    }
    ig_call_close(slot->call);
    return 0;
}

static int put_dataclass(session_slot *slot, PyObject *value, bool *out_is_one) {
    PyObject *fields = PyObject_GetAttrString(value, "__dataclass_fields__");
    PyErr_Clear();
    *out_is_one = fields && PyDict_Check(fields);
    int status = *out_is_one ? put_fields(slot, value, fields) : 0;
    Py_XDECREF(fields);
    return status;
}

/* ---- TorchRec's tensors of lists ---- */

static const struct jagged_row {
    const char *class_name;
    ig_tree_kind kind;
    struct {
        const char *field, *method;
    } fields[4];
} jagged_rows[] = {
    { "KeyedJaggedTensor",
      IG_TREE_KJT,
      { { "keys", "keys" },
        { "values", "values" },
        { "lengths", "lengths" },
        { "weights", "weights_or_none" } } },
    { "KeyedTensor",
      IG_TREE_KT,
      { { "keys", "keys" },
        { "length_per_key", "length_per_key" },
        { "values", "values" } } },
    { "JaggedTensor",
      IG_TREE_JT,
      { { "values", "values" },
        { "lengths", "lengths" },
        { "weights", "weights_or_none" } } },
};

static const struct jagged_row *jagged_row_of(PyObject *value) {
    PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(value), "__name__");
    const char *text = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    const struct jagged_row *found = NULL;
    for (size_t i = 0; text && i < sizeof jagged_rows / sizeof *jagged_rows; i++) {
        found = strcmp(text, jagged_rows[i].class_name) == 0 ? &jagged_rows[i] : found;
    }
    Py_XDECREF(name);
    PyErr_Clear();
    return found;
}

static int put_jagged(session_slot *slot, PyObject *value,
                      const struct jagged_row *row) {
    ig_call_open(slot->call, row->kind);
    for (size_t i = 0; i < 4 && row->fields[i].field; i++) {
        PyObject *field = PyObject_CallMethod(value, row->fields[i].method, NULL);
        int failed = !field;
        if (field) {
            ig_call_name(slot->call, row->fields[i].field);
            failed = put_value(slot, field) < 0;
            Py_DECREF(field);
        }
        if (failed) {
            return -1;
        }
    }
    ig_call_close(slot->call);
    return 0;
}

/* ---- one value ---- */

/* A value that no call takes.  A None in its place is refused with the words of what is
 * expected there, and where. */
static int refuse_value(session_slot *slot, PyObject *value) {
    static const char end[] = ": expected ";
    ig_call_put_none(slot->call);
    const char *words = ig_call_error(slot->call), *found = strstr(words, end);
    char path[256];
    snprintf(path, sizeof path, "%.*s", found ? (int)(found - words) : 0, words);
    refuse_array(found ? path : "an argument", value);
    return -1;
}

static int put_array(session_slot *slot, PyObject *value) {
    borrowed *input = slot_add_input(slot);
    if (!input) {
        return -1;
    }
    if (borrow_array(value, input, &slot->make, slot->stream) < 0) {
        return refuse_value(slot, value);
    }
    if (input->is_complex) {
        ig_call_open(slot->call, IG_TREE_COMPLEX);
    }
    ig_call_put_tensor(slot->call, &input->view);
    input->input = ig_call_last_input(slot->call);
    if (input->is_complex) {
        ig_call_close(slot->call);
    }
    return 0;
}

static int put_number(session_slot *slot, PyObject *value) {
    if (PyFloat_Check(value)) {
        ig_call_put_float(slot->call, PyFloat_AsDouble(value));
        return 0;
    }
    int overflow = 0;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow) {
        PyErr_Format(PyExc_ValueError, "%R does not fit 64 bits", value);
        return -1;
    }
    ig_call_put_int(slot->call, number);
    return 0;
}

static int put_complex(session_slot *slot, PyObject *value) {
    ig_call_open(slot->call, IG_TREE_COMPLEX);
    ig_call_put_float(slot->call, PyComplex_RealAsDouble(value));
    ig_call_put_float(slot->call, PyComplex_ImagAsDouble(value));
    ig_call_close(slot->call);
    return 0;
}

static int put_text(session_slot *slot, PyObject *value) {
    Py_ssize_t size;
    const char *text = PyUnicode_AsUTF8AndSize(value, &size);
    if (text && strlen(text) != (size_t)size) {
        PyErr_SetString(PyExc_ValueError, "a string with a NUL, where a text ends");
        return -1;
    }
    if (text) {
        ig_call_put_str(slot->call, text); /* which the arguments keep */
    }
    return text ? 0 : -1;
}

static int put_other(session_slot *slot, PyObject *value) {
    const struct jagged_row *row = jagged_row_of(value);
    if (row) {
        return put_jagged(slot, value, row);
    }
    if (is_array(value)) {
        return put_array(slot, value);
    }
    bool is_dataclass;
    int status = put_dataclass(slot, value, &is_dataclass);
    if (is_dataclass) {
        return status;
    }
    return refuse_value(slot, value);
}

static int put_container(session_slot *slot, PyObject *value) {
    if (Py_EnterRecursiveCall(" while arguments are read")) {
        return -1;
    }
    int status = PyTuple_Check(value)  ? put_tuple(slot, value)
                 : PyList_Check(value) ? put_list(slot, value)
                 : PyDict_Check(value) ? put_dict(slot, value)
                                       : put_other(slot, value);
    Py_LeaveRecursiveCall();
    return status;
}

int put_value(session_slot *slot, PyObject *value) {
    if (value == Py_None) {
        ig_call_put_none(slot->call);
        return 0;
    }
    if (PyBool_Check(value)) {
        ig_call_put_bool(slot->call, value == Py_True);
        return 0;
    }
    if (PyLong_CheckExact(value) || PyFloat_CheckExact(value)) {
        return put_number(slot, value);
    }
    if (PyUnicode_Check(value)) {
        return put_text(slot, value);
    }
    if (PyComplex_CheckExact(value)) {
        return put_complex(slot, value);
    }
    return put_container(slot, value);
}

int put_arguments(session_slot *slot, PyObject *args, PyObject *kwargs,
                  ig_view **out_inputs, size_t *out_count) {
    PyObject *key, *value;
    Py_ssize_t at = 0, count = PyTuple_Size(args);
    ig_call_begin(slot->call);
    for (Py_ssize_t i = 0; i < count; i++) {
        if (put_value(slot, PyTuple_GetItem(args, i)) < 0) {
            return -1;
        }
    }
    while (kwargs && PyDict_Next(kwargs, &at, &key, &value)) {
        const char *name = PyUnicode_AsUTF8AndSize(key, NULL);
        if (!name) {
            return -1;
        }
        ig_call_name(slot->call, name);
        if (put_value(slot, value) < 0) {
            return -1;
        }
    }
    if (ig_call_finish(slot->call, out_inputs, out_count) != IG_OK) {
        raise_argument(ig_call_error(slot->call));
        return -1;
    }
    return 0;
}
