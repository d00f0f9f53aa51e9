/* The evaluator of Python, as who imports a program sees it.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     ig_python_begin(&eval, program.sources);
 *
 * Sources are of TorchScript's dialect, which archives hold, or plain Python, which
 * packages hold: one evaluator runs both (dialect.c says what differs).  Nothing is
 * executed: statements over known values are evaluated, work on tensors becomes IR, and
 * anything else is refused with the line of the source.
 */
#ifndef IG_FRONTEND_TORCH_PYTHON_PYTHON_H
#define IG_FRONTEND_TORCH_PYTHON_PYTHON_H

#include "frontend/torch/eval/eval.h"
#include "frontend/torch/eval/program.h"

/* `sources`, of plain Python, outlives the evaluation; NULL: all is of the dialect. */
void ig_python_begin(ig_ts_eval *eval, const ig_ts_sources *sources);

/* The value of a pickle; `path` names it: "features.0.weight". */
ig_status ig_python_load(ig_ts_eval *eval, ig_py *value, const char *path,
                         ig_ts_value *out);

/* A method of an object, found in its class. */
ig_status ig_python_call_method(ig_ts_eval *eval, ig_ts_object *self, const char *name,
                                const ig_ts_arguments *arguments, ig_ts_value *out);
bool ig_python_has_method(const ig_ts_object *self, const char *name);
/* The value of a parameter that the caller does not give. */
ig_status ig_python_default(ig_ts_eval *eval, const ig_function *function,
                            const ig_param *param, ig_ts_value *out);
ig_status ig_python_attribute(ig_ts_eval *eval, const ig_ts_value *object,
                              const char *name, ig_ts_value *out);
/* A member of an enum of the dialect. */
ig_status ig_dialect_enum_member(ig_ts_eval *eval, const ig_class *class,
                                 const char *name, ig_ts_value *out);

/* Notes which classes of plain Python were compiled, or how far that came (status). */
void ig_python_report(ig_ts_eval *eval, const char *resource, ig_status status);

#endif
