/* Operators that a program needs and that have no row.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Evaluation stops at the first one.  Then the sources are looked through from the
 * entry on, submodules and both sides of branches included, and whatever else is
 * missing is listed with it: one error an operator, with the number of calls and the
 * place of the first.
 */
#ifndef IG_FRONTEND_TORCH_PYTHON_MISSING_H
#define IG_FRONTEND_TORCH_PYTHON_MISSING_H

#include "frontend/torch/eval/control.h"
#include "frontend/torch/language/overload.h"

/* An operator without any row; `where` is the call. */
ig_status ig_python_report_missing(ig_ts_eval *eval, const char *name,
                                   const ig_location *where);
/* None of an operator's overloads takes the call, which was reported. */
ig_status ig_python_report_unfit(ig_ts_eval *eval, const char *name,
                                 const ig_location *where);

/* The findings of a look through the sources. */
typedef struct ig_python_lack {
    const char *label; /* "aten::mode"; "aten::sum(Tensor, str)": no such overload */
    ig_location first;
    const char *module; /* whose method calls it first; NULL or "": none, or the root */
    size_t count;
    bool is_overload;
} ig_python_lack;

typedef struct ig_python_lacks {
    ig_map by_label; /* -> ig_python_lack, in order of appearance */
} ig_python_lacks;

/* An operator that a function without source calls at `where`, with arguments of these
 * types. */
void ig_python_survey_call(ig_python_look *look, const char *name,
                           const ig_call_shape *shape, const ig_location *where);

/* Looks through the functions that the entry may reach (survey.c). */
ig_status ig_python_survey_lacks(ig_ts_eval *eval, ig_python_lacks *out);

#endif
