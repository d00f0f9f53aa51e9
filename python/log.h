/* Records of the log, handed to Python, for both extensions.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef INGOT_PYTHON_LOG_H
#define INGOT_PYTHON_LOG_H

/* CPython's header was included, by the headers that say which API. */
#include <ingot/log.h>

#include <string.h>

/* Names of files may be any bytes. */
static inline PyObject *log_text(const char *text) {
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "surrogateescape");
}

static inline PyObject *log_fields(const ig_log_record *record) {
    PyObject *fields = PyDict_New();
    for (size_t i = 0; fields && i < record->field_count; i++) {
        const ig_log_field *of = &record->fields[i];
        PyObject *value = of->text ? log_text(of->text)
                                   : PyLong_FromLongLong(of->number);
        if (!value || PyDict_SetItemString(fields, of->name, value) < 0) {
            Py_CLEAR(fields);
        }
        Py_XDECREF(value);
    }
    return fields;
}

/* ingot_runtime.log.tell(level, component, code, words, fields), on any thread, with
 * the GIL or without.  What it raises is shown and goes no further. */
static inline void log_in_python(void *user, const ig_log_record *record) {
    PyGILState_STATE held = PyGILState_Ensure();
    PyObject *module = PyImport_ImportModule("ingot_runtime.log");
    PyObject *fields = module ? log_fields(record) : NULL;
    PyObject *words = fields ? log_text(record->words) : NULL;
    PyObject *none = words ? PyObject_CallMethod(module, "tell", "issOO",
                                                 (int)record->level, record->component,
                                                 record->code, words, fields)
                           : NULL;
    (void)user;
    if (!none) {
        PyErr_WriteUnraisable(module);
    }
    Py_XDECREF(none);
    Py_XDECREF(words);
    Py_XDECREF(fields);
    Py_XDECREF(module);
    PyGILState_Release(held);
}

static const ig_log python_log = { log_in_python, NULL };

#endif
