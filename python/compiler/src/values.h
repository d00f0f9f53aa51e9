/* Values of the interpreter's calls <-> Python's.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A tensor is (dtype, extents, bytes), as ("f32", (2, 3), b"…"): row-major, elements of
 * 4 and 2 bits packed; one of strings is ("str", (2,), ["a", "b"]).  A sequence is a
 * list; an optional is None or its value.
 */
#ifndef INGOT_PYTHON_VALUES_H
#define INGOT_PYTHON_VALUES_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include <ingot/ingot.h>

/* One for each item of `list`, which keeps their bytes; NULL with an exception set. */
ig_argument *values_read(PyObject *list, size_t *out_count);
void values_free(ig_argument *values, size_t count);
/* A value whose input is declared as an optional, and that is not wrapped yet. */
int value_wrap(ig_argument *value);
/* A list; NULL with an exception set. */
PyObject *values_write(const ig_argument *values, size_t count);

#endif
