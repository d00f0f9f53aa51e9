/* Loops that the run decides about.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_TORCH_EVAL_LOOP_H
#define IG_FRONTEND_TORCH_EVAL_LOOP_H

#include "frontend/torch/eval/control.h"

typedef struct ig_ts_loop {
    const ig_ast *node;
    const ig_ast *test;   /* while: evaluated again after each trip; else NULL */
    const ig_ast *target; /* for: the name that counts; else NULL */
    ig_ast_list body;
    ig_value *condition; /* while: of the first trip; else NULL */
    ig_value *trips;     /* for: i64[]; else NULL */
} ig_ts_loop;

ig_status ig_ts_loop_build(ig_ts_eval *eval, const ig_ts_loop *loop);

#endif
