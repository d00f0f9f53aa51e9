/* The inside of the walk, for ops with bodies.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_GRAD_REVERSE_H
#define IG_PASSES_GRAD_REVERSE_H

#include "base/arena.h"
#include "passes/grad/grad.h"
#include "passes/grad/rule.h"

struct ig_reverse {
    ig_arena *arena;
    ig_block *block;      /* whose ops are walked */
    ig_op *last;          /* the last of the forward part; NULL: there is none */
    uint32_t count;       /* values there were when the walk began */
    bool *is_active;      /* by value id: depends on wanted values */
    bool *is_needed;      /* y is made of it */
    ig_value **gradients; /* by value id; NULL: none so far */
    ig_status status;     /* the first failure */
};

/* One walk over a block, up from `last`: `seeds` are gradients of its values `ys`,
 * added where a value occurs twice; NULL ones are left out.  out[i] is NULL where no y
 * depends on wanted[i]. */
typedef struct ig_reverse_call {
    ig_block *block;
    ig_op *last;
    ig_value **ys; /* changed where they are results of composites */
    ig_value *const *seeds;
    uint32_t y_count;
    ig_value *const *wanted;
    uint32_t wanted_count;
} ig_reverse_call;

ig_status ig_reverse_run(ig_expr *e, ig_arena *arena, ig_reverse_call *call,
                         ig_value **out);

#endif
