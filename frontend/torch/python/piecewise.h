/* Names of torch's own Python.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_TORCH_PYTHON_PIECEWISE_H
#define IG_FRONTEND_TORCH_PYTHON_PIECEWISE_H

#include "frontend/torch/python/inside.h"
#include "frontend/torch/stock/stock.h"

/* A module of torch's own Python; its classes and functions wait. */
ig_status ig_python_stock_open(ig_ts_eval *eval, const ig_stock_module *stock,
                               ig_python_module **out);
/* Parses what waits under that name (interned), if anything does. */
ig_status ig_python_stock_read(ig_ts_eval *eval, ig_python_module *module,
                               const char *name);
/* The value that a module of torch's own Python binds to `name`. */
ig_status ig_python_stock(ig_ts_eval *eval, const char *module, const char *name,
                          ig_ts_value *out, bool *out_found);
/* The result of the function of the operator's name in torch/_composites.py; it takes
 * the arguments of the schema by their names. */
ig_status ig_python_composite(const ig_ts_call *call, ig_ts_value *out);
/* "torch.nn.Linear": a constant, what torch's own Python binds, or an EXTERNAL. */
ig_status ig_python_elsewhere(ig_ts_eval *eval, const char *whole, ig_ts_value *out);
/* "torch.jit.unused" of such a function, or of an EXTERNAL; else NULL. */
const char *ig_python_known_name(const ig_ts_value *value);

#endif
