/* What two branches that the run chooses from do not agree about.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_TORCH_EVAL_POISON_H
#define IG_FRONTEND_TORCH_EVAL_POISON_H

#include "frontend/torch/eval/value.h"

/* A branch that the run chooses. */
struct ig_ts_point {
    const char *module;
    uint32_t line, column;
    uint32_t level;  /* that would keep its two sides apart for longer */
    uint32_t levels; /* of functions that run: one less can be asked for */
};

/* A branch whose sides are not merged after it: each goes on by itself to the end of
 * its function (level 0), or of that many callers.  Or, with `catches`, a statement
 * that is run again for that. */
typedef struct ig_ts_split {
    uint64_t module; /* its name's hash: names die with the evaluation */
    uint32_t line, column, level;
    bool catches;
    char what[240]; /* values on which the two sides disagree */
} ig_ts_split;

/* Found by one evaluation, observed by the next. */
typedef struct ig_ts_splits {
    ig_ts_split items[64];
    uint32_t count;
    uint32_t rounds; /* evaluations so far */
    bool has_grown;  /* this evaluation ended for it, and reports nothing */
} ig_ts_splits;

const ig_ts_split *ig_ts_split_find(const ig_ts_eval *eval, const char *module,
                                    const ig_ast *node, bool catches);
/* Asks that the branch's sides be kept apart up to `point->level`; false: they are
 * already, or that cannot be. */
bool ig_ts_split_add(ig_ts_eval *eval, const ig_ts_point *point, bool catches,
                     const char *what);
/* Refuses a poisoned value, or begins again with its branch split.  "uses a list
 * that" */
ig_status ig_ts_refuse_poison(ig_ts_eval *eval, const char *words,
                              const ig_ts_poison *poison);
/* The content of a list, tuple or dict is to be read or changed; of any other value,
 * nothing. */
ig_status ig_ts_open(ig_ts_eval *eval, const ig_ts_value *value);

#endif
