/* How much work a compute op is: arithmetic, and bytes that must move.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_LOWER_WORK_H
#define IG_PASSES_LOWER_WORK_H

#include "ir/graph.h"
#include "ir/target.h"

typedef struct ig_work {
    ig_dim flops; /* a multiply-add is two */
    ig_dim bytes; /* read and written in order, each operand once */
    ig_dim lines; /* cache lines fetched at random, from memory that no cache holds */
} ig_work;

ig_work ig_work_of(const ig_op *compute, const ig_target *target, ig_arena *arena);

#endif
