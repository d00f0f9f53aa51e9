/* SPDX-License-Identifier: Apache-2.0 */
#include "passes/engine/users.h"

#include "base/map.h"
#include "ir/ops.h"

/* The op of `block` that is the user, or has it in its bodies. */
static ig_op *user_in(const ig_block *block, ig_op *user) {
    while (user->block != block) {
        user = user->block->parent;
    }
    return user;
}

ig_op *ig_first_user(ig_arena *arena, const ig_op *op, uint32_t step) {
    ig_op *first = NULL;
    ig_map users;
    ig_map_init(&users, arena);
    for (uint32_t i = 0; i < op->result_count; i += step) {
        for (const ig_use *use = op->results[i].uses; use; use = use->next) {
            ig_op *user = user_in(op->block, use->user);
            ig_map_set_id(&users, IG_MAP_PTR(user), user);
        }
    }
    for (ig_op *at = op->next; at && !first; at = at->next) {
        first = ig_map_get_id(&users, IG_MAP_PTR(at));
    }
    return first;
}

/* Does it compute, of extents that its operands have? */
static bool may_sink(const ig_op *op) {
    const uint32_t stays = ~(uint32_t)(IG_PURE | IG_MAP | IG_VIEW | IG_COMMUTE);
    bool may = !(ig_ops[op->code].traits & stays) && op->operand_count &&
               !op->body_count;
    for (uint32_t i = 0; may && i < op->result_count; i++) {
        const ig_type *type = op->results[i].type;
        for (uint32_t d = 0; d < type->rank; d++) {
            bool is_found = ig_dim_is_static(type->dims[d]);
            for (uint32_t k = 0; k < op->operand_count; k++) {
                const ig_type *in = op->operands[k].value->type;
                for (uint32_t n = 0; n < in->rank; n++) {
                    is_found = is_found || ig_dim_same(in->dims[n], type->dims[d]);
                }
            }
            may = may && is_found;
        }
    }
    return may;
}

static bool is_needed_ahead(const ig_map *ahead, const ig_op *op) {
    for (uint32_t i = 0; i < op->result_count; i++) {
        for (const ig_use *use = op->results[i].uses; use; use = use->next) {
            if (ig_map_get_id(ahead, IG_MAP_PTR(user_in(op->block, use->user)))) {
                return true;
            }
        }
    }
    return false;
}

void ig_sink_after(ig_arena *arena, ig_op *op) {
    ig_map ahead; /* ops that stay in front, and `op` */
    ig_op *after = op->next;
    ig_map_init(&ahead, arena);
    ig_map_set_id(&ahead, IG_MAP_PTR(op), op);
    for (ig_op *at = op->prev, *before; at; at = before) {
        before = at->prev;
        if (may_sink(at) && !is_needed_ahead(&ahead, at)) {
            ig_op_move(at, at->block, after);
            after = at;
        } else {
            ig_map_set_id(&ahead, IG_MAP_PTR(at), at);
        }
    }
}
