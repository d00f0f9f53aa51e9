/* How functions of plain Python take part in an evaluation.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A torch.package holds classes as their authors wrote them, not in TorchScript's
 * dialect.  Their methods are evaluated over the same values, heap, branches and loops;
 * what differs is what names, expressions and statements mean, and that is behind these
 * hooks (frontend/torch/python).  A frame with `plain` is of such a function.
 */
#ifndef IG_FRONTEND_TORCH_EVAL_PLAIN_H
#define IG_FRONTEND_TORCH_EVAL_PLAIN_H

#include "frontend/torch/eval/value.h"
#include "frontend/torch/pickle/pickle.h"

typedef struct ig_ts_arguments ig_ts_arguments;

typedef struct ig_ts_plain {
    /* A pickled value that the dialect has not: an object of a class that is not
     * TorchScript's, a function, a set.  What is not known is poison: only its use is
     * an error. */
    ig_status (*load)(ig_ts_eval *eval, ig_py *value, const char *path,
                      ig_ts_value *out_value);
    ig_status (*run_block)(ig_ts_eval *eval, ig_ast_list body);
    ig_status (*evaluate)(ig_ts_eval *eval, const ig_ast *node, ig_ts_value *out_value);
    /* The truth of an expression: known, or of the run. */
    ig_status (*condition)(ig_ts_eval *eval, const ig_ast *node,
                           ig_ts_value *out_value);
    /* Of a parameter of the function, as its author sees names. */
    ig_status (*default_value)(ig_ts_eval *eval, const ig_function *function,
                               const ig_ast *node, ig_ts_value *out_value);
    ig_status (*call)(ig_ts_eval *eval, const ig_ts_function *function,
                      const ig_ts_arguments *arguments, ig_ts_value *out_value);
} ig_ts_plain;

#endif
