/* Which ops nobody needs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/engine/dead.h"

#include <assert.h>

enum { EFFECTS = IG_GUARD | IG_STATE };

/* Recursion is as deep as bodies nest, which readers bound by limits.graph_depth. */
static bool has_effects(const ig_op *op) {
    if (ig_ops[op->code].traits & EFFECTS) {
        return true;
    }
    for (uint32_t i = 0; i < op->body_count; i++) {
        for (const ig_op *inner = op->bodies[i]->first; inner; inner = inner->next) {
            if (has_effects(inner)) {
                return true;
            }
        }
    }
    return false;
}

bool ig_op_is_removable(const ig_op *op) {
    assert(op->code < IG_OP_COUNT && "an op that was not erased");
    return !(ig_ops[op->code].traits & IG_TERMINATOR) && !has_effects(op);
}

/* Its branches were emptied when its condition became known; extents in the types of
 * its results are those of the values that replace them. */
static bool is_spent(const ig_op *op) {
    for (uint32_t i = 0; i < op->body_count; i++) {
        if (!op->bodies[i]->last) {
            return true;
        }
    }
    return false;
}

bool ig_op_is_dead(const ig_symbols *symbols, const ig_op *op) {
    for (uint32_t i = 0; i < op->result_count; i++) {
        if (op->results[i].uses) {
            return false;
        }
    }
    return ig_op_is_removable(op) &&
           (is_spent(op) || !ig_symbols_is_definer(symbols, op));
}

/* One walk against the order is enough: a use is gone before its definition is reached.
 * Recursion is as deep as bodies nest, which readers bound by limits.graph_depth. */
bool ig_block_sweep(const ig_symbols *symbols, ig_block *block) {
    bool is_changed = false;
    for (ig_op *op = block->last, *before; op; op = before) {
        before = op->prev;
        if (ig_op_is_dead(symbols, op)) {
            ig_op_erase(op);
            is_changed = true;
            continue;
        }
        for (uint32_t i = 0; i < op->body_count; i++) {
            is_changed = ig_block_sweep(symbols, op->bodies[i]) || is_changed;
        }
    }
    return is_changed;
}
