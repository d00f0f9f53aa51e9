/* Plain Python: the classes and functions of a torch.package, evaluated.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     ig_python_begin(&eval, program.sources);
 *
 * From then on names of classes that are not TorchScript's are looked for in these
 * sources (eval/control.h).  Nothing is executed: statements over known values are
 * evaluated, work on tensors becomes IR, and what is neither is refused with the line
 * of the source.
 */
#ifndef IG_FRONTEND_TORCH_PYTHON_PYTHON_H
#define IG_FRONTEND_TORCH_PYTHON_PYTHON_H

#include "frontend/torch/eval/eval.h"
#include "frontend/torch/eval/program.h"

/* `sources` outlives the evaluation; NULL: all is of the dialect. */
void ig_python_begin(ig_ts_eval *eval, const ig_ts_sources *sources);

/* The value of a pickle; `path` names it: "features.0.weight". */
ig_status ig_python_load(ig_ts_eval *eval, ig_py *value, const char *path,
                         ig_ts_value *out);

/* Notes which classes of plain Python were compiled, or how far that came (status). */
void ig_python_report(ig_ts_eval *eval, const char *resource, ig_status status);

#endif
