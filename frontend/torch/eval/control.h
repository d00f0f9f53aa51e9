/* Statements whose flow may depend on run-time values.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_TORCH_EVAL_CONTROL_H
#define IG_FRONTEND_TORCH_EVAL_CONTROL_H

#include "frontend/torch/eval/eval.h"

/* What evaluation asks of the language that a program is written in (python/). */
struct ig_ts_language {
    ig_status (*run_block)(ig_ts_eval *eval, ig_ast_list body);
    /* The truth of an expression: known, or of the run. */
    ig_status (*condition)(ig_ts_eval *eval, const ig_ast *node,
                           ig_ts_value *out_value);
    /* Reports an operator without any row; `where` is the call. */
    ig_status (*missing)(ig_ts_eval *eval, const char *name, const ig_location *where);
    /* None of an operator's overloads takes the call, which was reported. */
    ig_status (*unfit)(ig_ts_eval *eval, const char *name, const ig_location *where);
    /* The result of an operator that torch/_composites.py computes. */
    ig_status (*composite)(const ig_ts_call *call, ig_ts_value *out);
};

/* ---- loops that the run decides about (loop.c) ---- */

typedef struct ig_ts_loop {
    const ig_ast *node;
    const ig_ast *test;   /* while: evaluated again after each trip; else NULL */
    const ig_ast *target; /* for: the name that counts; else NULL */
    ig_ast_list body;
    ig_value *condition; /* while: of the first trip; else NULL */
    ig_value *trips;     /* for: i64[]; else NULL */
    /* Of a loop without source, in the place of `test` and `body`: makes a trip.
     * *out_test is true, and is the run's to set where the loop is a `while`. */
    ig_status (*run)(ig_ts_eval *eval, void *user, ig_ts_value *out_test);
    void *user;
} ig_ts_loop;

ig_status ig_ts_loop_build(ig_ts_eval *eval, const ig_ts_loop *loop);
/* Known loops of more trips than this become a `loop` when they can. */
enum { IG_TS_UNROLL_MAX = 4096 };
/* So many trips, an int, of a `for`: run one by one where they are known and few. */
ig_status ig_ts_run_trips(ig_ts_eval *eval, ig_ts_value trips, ig_ts_loop *loop);

/* ---- two states made one (merge.c) ---- */

/* One side of a merge: where its values are made and which places it changed. */
typedef struct ig_ts_side {
    ig_builder builder;
    const ig_ts_level *level;
} ig_ts_side;

/* The content of a holder on a side, after it ran. */
ig_ts_content ig_ts_side_content(const ig_ts_side *side, ig_ts_holder kind,
                                 const void *holder);
/* A tensor or number as an IR value at the end of the side's block. */
ig_status ig_ts_side_read(ig_ts_eval *eval, ig_ts_side *side, const ig_ts_value *value,
                          ig_value **out_value);
/* Makes the two sides one: an `if` takes the place of `trial`, whose bodies hold the
 * sides' ops.  Symbols from `first_symbol` on are the branches' own.  `point` is NULL
 * where the sides cannot go on apart. */
ig_status ig_ts_merge(ig_ts_eval *eval, ig_op *trial, ig_ts_side *sides,
                      uint32_t first_symbol, const ig_ts_point *point);
/* Zeros of `type`, for a path on which nothing looks at the value; extents with symbols
 * from `first_symbol` on are 1. */
ig_value *ig_ts_make_zeros(ig_builder *builder, const ig_type *type,
                           uint32_t first_symbol);
void ig_ts_move_ops(ig_block *from, ig_block *to, ig_op *before);

/* The run fails with `text` (NULL: that the model raises) unless `condition` is
 * `wanted` (raise.c).  Nothing for NULL: an error came before. */
void ig_ts_guard_truth(ig_ts_eval *eval, ig_value *condition, bool wanted,
                       const char *text);

/* ---- functions without source: the graph of a .pt2 file ---- */

typedef struct ig_python_look ig_python_look;
typedef struct ig_ts_native {
    /* The present frame holds the parameters, and takes the result. */
    ig_status (*run)(ig_ts_eval *eval, void *user);
    /* Tells ig_python_survey_call what operators it calls; `look` NULL: notes their
     * positions in the module. */
    void (*survey)(ig_ts_eval *eval, void *user, ig_python_look *look);
    void *user;
} ig_ts_native;

#endif
