/* The values that a run-time loop carries, while they are found (loop.c).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_TORCH_EVAL_TRIP_H
#define IG_FRONTEND_TORCH_EVAL_TRIP_H

#include "frontend/torch/eval/control.h"

typedef struct ig_ts_trip_slot {
    ig_ts_holder kind;
    void *holder;
    size_t index;
    ig_ts_value start; /* before the loop; a storage's content: as.value */
    ig_value *initial;
    const ig_type *type; /* of the argument */
    ig_value *arg;
    ig_ts_value inside; /* content of the slot at the start of a trip */
    ig_ts_alias *alias; /* storages it may share memory with, before or after a trip */
    ig_value *yield;
} ig_ts_trip_slot;

/* A list that gets an item a trip. */
typedef struct ig_ts_grown {
    ig_ts_list *list;
    const ig_torch_dtype_info *dtype;
    ig_value *yield;
    ig_ts_alias *alias; /* storages the items may share memory with */
} ig_ts_grown;

/* A slot that is bound to another list. */
typedef struct ig_ts_rebound {
    ig_ts_trip_slot slot;
    ig_ts_list *own; /* the list it is bound to at the start of a trip */
} ig_ts_rebound;

typedef struct ig_ts_trial {
    ig_ts_eval *eval;
    const ig_ts_loop *loop;
    IG_VEC(ig_ts_trip_slot) slots;
    IG_VEC(ig_ts_rebound) rebound;
    IG_VEC(ig_ts_trip_slot) poisoned; /* unknown after a trip, so unknown before one */
    IG_VEC(ig_ts_grown) grown;
    uint32_t first_symbol;
    ig_op *trial;
    ig_ts_level level;
    ig_ts_side side;
    ig_value *going_on; /* the condition that the body yields */
    bool has_grown;
} ig_ts_trial;

/* Puts `value`, or of a storage `content`, into the slot. */
void ig_ts_trip_put(ig_ts_eval *eval, const ig_ts_trip_slot *slot, ig_ts_value value,
                    ig_value *content);
/* Adds the changes of a trip to `slots`, `poisoned`, `rebound` and `grown`;
 * `has_grown` when one was not there yet. */
ig_status ig_ts_trial_look(ig_ts_trial *b);
/* The slot holds the loop's own list, and nobody may look at the one before. */
void ig_ts_trial_bind(ig_ts_eval *eval, const ig_ts_rebound *r);
/* The holder of the slot at the body's end: of a loop's own list, the list that the
 * trip has bound in its place. */
ig_ts_content ig_ts_trial_content(const ig_ts_trial *b, const ig_ts_trip_slot *slot);
/* The count of trips, where it is an extent. */
bool ig_ts_trip_extent(ig_value *trips, ig_dim *out_dim);

#endif
