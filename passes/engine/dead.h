/* Which ops nobody needs.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_ENGINE_DEAD_H
#define IG_PASSES_ENGINE_DEAD_H

#include "passes/engine/symbols.h"

/* May the op go once its results have no use?  Not when it, or an op in its bodies, is
 * a guard, touches state, or ends a block (but a body's own end). */
bool ig_op_is_removable(const ig_op *op);
/* Removable, no result has a use, and it defines no symbol that something may
 * mention. */
bool ig_op_is_dead(const ig_symbols *symbols, const ig_op *op);
/* Erases all dead ops of a block and its bodies; true when there were any. */
bool ig_block_sweep(const ig_symbols *symbols, ig_block *block);

#endif
