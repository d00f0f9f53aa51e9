/* Values from C to Python and back.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_RUNTIME_INTERP_CPYTHON_CONVERT_H
#define IG_RUNTIME_INTERP_CPYTHON_CONVERT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/interp/engine.h"

/* The memory of tensors that were lent to a call. */
typedef struct lent_views {
    PyObject *list; /* of loans */
    PyObject *wrap; /* what tensors are given to, or NULL */
} lent_views;

int prepare_loans(void); /* once; -1 with an exception */
/* Does nobody look at the memory of this loan any more? */
bool is_paid_back(PyObject *lent);

/* A new reference, or NULL with an exception. */
PyObject *value_to_python(const ig_interp_value *value, lent_views *lent);

/* The objects that a result keeps alive. */
typedef struct kept_part {
    struct kept_part *next;
    Py_buffer *view;          /* or NULL */
    PyObject *capsule;        /* of DLPack, or NULL */
    ig_interp_object *object; /* or NULL */
    void *memory;             /* or NULL */
} kept_part;

typedef struct python_result {
    ig_interp_result head; /* first */
    kept_part *parts;
} python_result;

/* 0, or -1 with an exception. */
int value_from_python(PyObject *from, python_result *result,
                      ig_interp_value *out_value);
/* Copies the tensors of the result, so that it holds no memory of others. */
int own_tensors(python_result *result, ig_interp_value *value);
void drop_view(kept_part *part);
void free_parts(python_result *result);

#endif
