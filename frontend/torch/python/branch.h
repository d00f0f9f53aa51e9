/* Where the run chooses.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_TORCH_PYTHON_BRANCH_H
#define IG_FRONTEND_TORCH_PYTHON_BRANCH_H

#include "frontend/torch/python/inside.h"

typedef struct ig_python_open ig_python_open;

/* A statement, or the rest of a `while`, that is run: again, where a branch in it is
 * split, with the side chosen there. */
typedef struct ig_python_attempt {
    const ig_ast *node;
    ig_status (*run)(ig_ts_eval *eval, const ig_ast *node, const ig_python_rest *rest);
    const ig_python_rest *rest; /* after it */
    const bool *choices;        /* of the branches that are split, in order */
    uint32_t count, next;
    struct ig_python_attempt *outer;
    const char *module;
    uint32_t calls;        /* that were open when it began */
    const ig_block *block; /* that it began in */
    const ig_python_open *open;
    bool catches; /* its changes can be taken back */
} ig_python_attempt;

/* A condition on its way to the statement that is run again for it. */
typedef struct ig_python_asked {
    const ig_python_attempt *of; /* NULL: none is */
    ig_value *condition;
    const ig_ts_point *point;
} ig_python_asked;

/* Where an evaluation is. */
struct ig_python_branching {
    ig_python_attempt *attempt; /* the innermost */
    const ig_python_open *open; /* the innermost branch of the run */
    uint32_t ways;              /* that split branches went apart */
    ig_python_asked asked;
};

/* One of two bodies, or both; `node` has them. */
ig_status ig_python_branch(ig_ts_eval *eval, const ig_ast *node,
                           const ig_ts_value *condition, ig_ts_body yes, ig_ts_body no,
                           void *user);
/* Statements `next` and on of a body, after which `outer` is to do (statement.c). */
ig_status ig_python_run_from(ig_ts_eval *eval, ig_ast_list body, size_t next,
                             const ig_python_rest *outer);
/* All that is still to do in the function, or until it returns (statement.c). */
ig_status ig_python_run_rest(ig_ts_eval *eval, const ig_python_rest *rest);
ig_status ig_python_run_if(ig_ts_eval *eval, const ig_ast *node);
/* `node`, `run`, `rest`, `choices` and `count` are given. */
ig_status ig_python_attempt_run(ig_ts_eval *eval, ig_python_attempt *attempt);

#endif
