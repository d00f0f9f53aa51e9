/* Which ops nobody needs.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_DEAD_H
#define IG_PASSES_DEAD_H

#include "ir/ops.h"

/* May the op go once its results have no use?  Not when it, or an op in its bodies, is
 * a guard, touches state, or ends a block (but a body's own end). */
bool ig_op_is_removable(const ig_op *op);
/* Removable, and no result has a use. */
bool ig_op_is_dead(const ig_op *op);
/* Erases all dead ops of a block and its bodies; true when there were any. */
bool ig_block_sweep(ig_block *block);

#endif
