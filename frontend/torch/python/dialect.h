/* What names and calls mean in TorchScript's dialect (dialect.c, special.c).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_TORCH_PYTHON_DIALECT_H
#define IG_FRONTEND_TORCH_PYTHON_DIALECT_H

#include "frontend/torch/python/inside.h"

ig_status ig_dialect_name(ig_ts_eval *eval, const char *name, ig_ts_value *out);
/* *out_done false: it has its literal meaning, an attribute of an object. */
ig_status ig_dialect_attribute(ig_ts_eval *eval, const ig_ast *node, ig_ts_value *out,
                               bool *out_done);
/* *out_done false: a value is called.  The result is unpacked into `names`. */
ig_status ig_dialect_call(ig_ts_eval *eval, const ig_ast *node, uint32_t names,
                          ig_ts_value *out, bool *out_done);
ig_status ig_dialect_construct(ig_ts_eval *eval, const ig_class *class,
                               const ig_ts_arguments *arguments, ig_ts_value *out);
ig_status ig_dialect_with(ig_ts_eval *eval, const ig_ast *node);
/* "aten::add" of "torch.add", "ns::x" of "ops.ns.x", else NULL. */
const char *ig_dialect_operator(ig_ts_eval *eval, const char *dotted);
/* Names that are called and are no variables: annotate, isinstance, int, fork … */
typedef struct ig_special {
    const char *name;
    ig_status (*hook)(ig_ts_eval *eval, const ig_ast *call, ig_ts_value *out);
    const char *op;      /* or the operator that it is, */
    const char *builtin; /* or the function of plain Python */
    int gives;           /* 1 + the ig_script_kind that it always gives; 0: of none */
    bool takes_type; /* as its first argument, which then is the type of its result */
} ig_special;
/* NULL when `name` is none of them. */
const ig_special *ig_special_of(const char *name);
ig_status ig_special_call(ig_ts_eval *eval, const ig_special *special,
                          const ig_ast *call, ig_ts_value *out);

#endif
