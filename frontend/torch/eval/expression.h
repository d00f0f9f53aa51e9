/* Helpers shared by expressions and calls in them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_TORCH_EVAL_EXPRESSION_H
#define IG_FRONTEND_TORCH_EVAL_EXPRESSION_H

#include "frontend/torch/eval/control.h"

ig_status ig_ts_attribute(ig_ts_eval *eval, const ig_ts_value *object, const char *name,
                          ig_ts_value *out);
ig_status ig_ts_enum_member(ig_ts_eval *eval, const ig_class *class, const char *name,
                            ig_ts_value *out);

/* "aten::add" of "torch.add", "ns::x" of "ops.ns.x", else NULL. */
const char *ig_ts_operator_name(ig_ts_eval *eval, const char *dotted);

/* Names that are called and are no variables: annotate, isinstance, int, fork … */
typedef ig_status (*ig_ts_special_hook)(ig_ts_eval *eval, const ig_ast *call,
                                        ig_ts_value *out);
typedef struct ig_ts_special {
    const char *name;
    ig_ts_special_hook hook;
} ig_ts_special;
/* NULL when `name` is none of them. */
ig_ts_special_hook ig_ts_special_of(const char *name);

#endif
