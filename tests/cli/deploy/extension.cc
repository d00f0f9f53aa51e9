// An extension module with what is hard to have more than once in a process: a static
// constructor, storage for each thread, exceptions.
// SPDX-License-Identifier: Apache-2.0
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <atomic>
#include <map>
#include <stdexcept>
#include <string>

namespace {

struct Made {
    std::map<std::string, std::string> words;
    Made() {
        words["made"] = "made before anybody asked";
    }
};

Made made;
std::atomic<long> calls;
thread_local std::map<std::string, long> counts; // has a constructor and a destructor

PyObject *made_by_constructor(PyObject *, PyObject *) {
    return PyUnicode_FromString(made.words["made"].c_str());
}

PyObject *count_calls(PyObject *, PyObject *) {
    return PyLong_FromLong(++calls);
}

PyObject *count_in_thread(PyObject *, PyObject *) {
    return PyLong_FromLong(++counts["calls"]);
}

[[noreturn]] void throw_deeply(int depth) {
    std::string held(100, 'x'); // destroyed as the stack is unwound
    if (depth == 0) {
        throw std::runtime_error("thrown in C++");
    }
    throw_deeply(depth - 1);
}

PyObject *catch_inside(PyObject *, PyObject *) {
    try {
        throw_deeply(20);
    } catch (const std::exception &) {
        return PyLong_FromLong(42);
    }
}

PyObject *raise_error(PyObject *, PyObject *) {
    try {
        throw_deeply(20);
    } catch (const std::exception &error) {
        PyErr_SetString(PyExc_RuntimeError, error.what());
        return nullptr;
    }
}

PyMethodDef methods[] = {
    { "made_by_constructor", made_by_constructor, METH_NOARGS, nullptr },
    { "count_calls", count_calls, METH_NOARGS, nullptr },
    { "count_in_thread", count_in_thread, METH_NOARGS, nullptr },
    { "catch_inside", catch_inside, METH_NOARGS, nullptr },
    { "raise_error", raise_error, METH_NOARGS, nullptr },
    { nullptr, nullptr, 0, nullptr },
};

PyModuleDef module = { PyModuleDef_HEAD_INIT,
                       "apart",
                       nullptr,
                       -1,
                       methods,
                       nullptr,
                       nullptr,
                       nullptr,
                       nullptr };

} // namespace

PyMODINIT_FUNC PyInit_apart() {
    return PyModule_Create(&module);
}
