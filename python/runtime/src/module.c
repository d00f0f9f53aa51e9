/* The module and its exceptions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "python/runtime/src/binding.h"

#include <string.h>

/* An exception for each status; the names follow the status's. */
static const struct exception_row {
    ig_status status;
    const char *name;
    PyObject **base; /* beside Error */
    const char *doc;
} exception_rows[] = {
    { IG_INVALID, "ingot_runtime.InvalidError", &PyExc_ValueError,
      "A file or an input breaks its format or contradicts itself." },
    { IG_UNSUPPORTED, "ingot_runtime.UnsupportedError", &PyExc_NotImplementedError,
      "The input is valid, but it is not supported yet." },
    { IG_LIMIT, "ingot_runtime.LimitError", &PyExc_MemoryError,
      "A limit was reached or memory ran out." },
    { IG_IO, "ingot_runtime.FileError", &PyExc_OSError,
      "A file could not be read or written." },
    { IG_CANCELLED, "ingot_runtime.CancelledError", &PyExc_RuntimeError,
      "The work was cancelled, or its deadline passed." },
    { IG_INTERNAL, "ingot_runtime.InternalError", &PyExc_RuntimeError,
      "A defect of Ingot." },
};

enum { EXCEPTIONS = sizeof exception_rows / sizeof *exception_rows };

static PyObject *error, *exceptions[EXCEPTIONS];

void raise_status(ig_status status, const char *message) {
    PyObject *class = error;
    for (size_t i = 0; i < EXCEPTIONS; i++) {
        class = exception_rows[i].status == status ? exceptions[i] : class;
    }
    const char *said = message && *message ? message : ig_status_text(status);
    /* Names of files may be any bytes. */
    PyObject *text = PyUnicode_DecodeUTF8(said, (Py_ssize_t)strlen(said),
                                          "surrogateescape");
    if (text) {
        PyErr_SetObject(class, text);
        Py_DECREF(text);
    }
}

void raise_argument(const char *message) {
    /* A wrong type or structure says what was expected; all else is a value. */
    PyErr_SetString(strstr(message, "expected ") ? PyExc_TypeError : PyExc_ValueError,
                    message);
}

static int add_exception(PyObject *module, const struct exception_row *row,
                         PyObject **out) {
    PyObject *bases = PyTuple_Pack(2, error, *row->base);
    *out = bases ? PyErr_NewExceptionWithDoc(row->name, row->doc, bases, NULL) : NULL;
    Py_XDECREF(bases);
    return *out ? PyModule_AddObjectRef(module, strchr(row->name, '.') + 1, *out) : -1;
}

int add_exceptions(PyObject *module) {
    error = PyErr_NewExceptionWithDoc("ingot_runtime.Error",
                                      "An error of Ingot; its text says what to do.",
                                      NULL, NULL);
    if (!error || PyModule_AddObjectRef(module, "Error", error) < 0) {
        return -1;
    }
    for (size_t i = 0; i < EXCEPTIONS; i++) {
        if (add_exception(module, &exception_rows[i], &exceptions[i]) < 0) {
            return -1;
        }
    }
    return 0;
}

static int add_type(PyObject *module, PyType_Spec *spec, const char *name,
                    PyObject **out) {
    *out = PyType_FromSpec(spec);
    return *out ? PyModule_AddObjectRef(module, name, *out) : -1;
}

static PyMethodDef methods[] = {
    { "strings", strings_of_array, METH_O,
      "strings(array) -> list of str, row-major." },
    { 0 },
};

static PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "_runtime",
    .m_doc = "Programs compiled by Ingot, run from Python.",
    .m_size = -1,
    .m_methods = methods,
};

PyMODINIT_FUNC PyInit__runtime(void);

PyMODINIT_FUNC PyInit__runtime(void) {
    PyObject *module = PyModule_Create(&definition);
    if (module &&
        (add_exceptions(module) < 0 ||
         add_type(module, &tensor_spec, "Tensor", &tensor_type) < 0 ||
         add_type(module, &program_spec, "Program", &program_type) < 0 ||
         PyModule_AddStringConstant(module, "__version__", ig_runtime_version()) < 0 ||
         PyModule_AddStringConstant(module, "level", ig_runtime_level()) < 0)) {
        Py_CLEAR(module);
    }
    return module;
}
