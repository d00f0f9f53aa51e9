/* Tensors of which the run decides whose memory they share.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The tensor that an `if` of the run chooses from two has its own storage, which
 * remembers both:
 *
 *     c = a if s > 0 else b      reading c: its own content, or where a or b was
 *                                written to since, where(s > 0, a, b)
 *     c.add_(1)                  writes to its own content, then where(s > 0, c, a)
 *                                to a and where(s > 0, b, c) to b
 *
 * Where that is not possible - a loop carries the tensor, a branch in a branch made it
 * - an alias names the storages it may share memory with: it is right until that is
 * written to.
 */
#ifndef IG_FRONTEND_TORCH_EVAL_CHOICE_H
#define IG_FRONTEND_TORCH_EVAL_CHOICE_H

#include "frontend/torch/eval/eval.h"

/* A condition of the run, and the chosen tensors; a side that is NULL was made
 * there. */
struct ig_ts_choice {
    ig_value *condition;
    const ig_ts_tensor *sides[2];
    uint32_t depth; /* of choices in choices */
};

/* An `if`, as seen after it. */
typedef struct ig_ts_fork {
    ig_op *op;
    uint64_t start;        /* a later birth is one in the branches */
    uint32_t first_symbol; /* symbols from here on are theirs */
} ig_ts_fork;

/* Makes the storage of `merged` a choice of `sides`; false where it cannot be one. */
bool ig_ts_choice_make(ig_ts_eval *eval, const ig_ts_fork *fork,
                       const ig_ts_tensor *merged, const ig_ts_tensor *const sides[2]);

/* Can a view that a branch made of an older tensor be read after the branch?  Its
 * steps may index by values of the branch; constants among these are made anew. */
bool ig_ts_can_hoist(ig_ts_eval *eval, const ig_ts_fork *fork,
                     const ig_ts_tensor *view);
const ig_ts_tensor *ig_ts_hoist(ig_ts_eval *eval, const ig_ts_fork *fork,
                                const ig_ts_tensor *view);
/* It holds the contents of both sides from here on. */
void ig_ts_choice_seal(ig_ts_storage *storage);
/* Brings the content up to date; nothing for other storages. */
ig_status ig_ts_choice_refresh(ig_ts_eval *eval, ig_ts_storage *storage);
/* Writes the content to the side that was chosen. */
ig_status ig_ts_choice_spread(ig_ts_eval *eval, ig_ts_storage *storage);
/* `chosen` where the run chose side k, at the builder. */
ig_value *ig_ts_choice_pick(ig_ts_eval *eval, const ig_ts_choice *choice, uint32_t k,
                            ig_value *chosen, ig_value *other);
/* Was a side written to since? */
bool ig_ts_choice_is_stale(const ig_ts_storage *storage);

/* The choices that the tensors (or NULL) may share memory with of all that was born
 * before `start`; NULL: nothing. */
ig_ts_alias *ig_ts_alias_of(ig_ts_eval *eval, const ig_ts_tensor *const *tensors,
                            uint32_t count, uint64_t start);
/* What `alias` tells holds from here on. */
void ig_ts_alias_seal(ig_ts_alias *alias);
/* Does it tell all that the other does? */
bool ig_ts_alias_covers(const ig_ts_alias *alias, const ig_ts_alias *other);

#endif
