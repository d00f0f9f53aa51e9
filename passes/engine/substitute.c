/* Other dims in place of symbols.  SPDX-License-Identifier: Apache-2.0 */
#include "passes/engine/substitute.h"

#include <assert.h>

void ig_substitution_init(ig_substitution *s, ig_module *module, ig_arena *scratch) {
    *s = (ig_substitution){ .module = module,
                            .scratch = scratch,
                            .count = ig_symbol_count(module) };
    s->by_symbol = IG_NEW_ARRAY(scratch, ig_dim, s->count);
    for (uint32_t i = 0; i < s->count; i++) {
        s->by_symbol[i] = IG_DIM_KEEP;
    }
    ig_map_init(&s->types, scratch);
}

static ig_dim *substitute_dims(ig_substitution *s, const ig_dim *dims, uint32_t count) {
    ig_dim *fresh = IG_NEW_ARRAY(s->scratch, ig_dim, count);
    for (uint32_t i = 0; i < count; i++) {
        fresh[i] = ig_dim_substitute(s->module, dims[i], s->by_symbol);
    }
    return fresh;
}

const ig_type *ig_substitute_type(ig_substitution *s, const ig_type *type) {
    if (!type || (ig_type_is_static(type) && !type->element)) {
        return type;
    }
    const ig_type *known = (const ig_type *)ig_map_get_id(&s->types, IG_MAP_PTR(type));
    if (known) {
        return known;
    }
    const ig_type *made;
    if (type->element) {
        made = ig_type_host(s->module, (ig_kind)type->kind,
                            ig_substitute_type(s, type->element));
    } else {
        made = ig_type_with_dims(s->module, type, type->rank,
                                 substitute_dims(s, type->dims, type->rank));
    }
    ig_map_set_id(&s->types, IG_MAP_PTR(type), (void *)(uintptr_t)made);
    return made;
}

static void substitute_attr(ig_substitution *s, ig_op *op, uint32_t slot) {
    const ig_attr *attr = &op->attrs[slot];
    if (attr->kind == IG_ATTR_DIM) {
        ig_dim dim = ig_dim_substitute(s->module, attr->as.dim, s->by_symbol);
        ig_attr_set(op, slot, ig_attr_of_dim(dim));
    }
    if (attr->kind == IG_ATTR_DIMS) {
        ig_dim *dims = substitute_dims(s, attr->as.dims, attr->count);
        ig_attr_set(op, slot, ig_attr_of_dims(s->module, dims, attr->count));
    }
}

/* Recursion is as deep as bodies nest, which readers bound by limits.graph_depth. */
void ig_substitute_op(ig_substitution *s, ig_op *op) {
    assert(op->code != IG_OP_ERASED && "an op of the graph");
    for (uint32_t i = 0; i < op->result_count; i++) {
        ig_value_retype(&op->results[i], ig_substitute_type(s, op->results[i].type));
    }
    for (uint32_t slot = 0; slot < ig_ops[op->code].attr_count; slot++) {
        substitute_attr(s, op, slot);
    }
    for (uint32_t i = 0; i < op->body_count; i++) {
        ig_substitute_block(s, op->bodies[i]);
    }
}

void ig_substitute_block(ig_substitution *s, ig_block *block) {
    for (uint32_t i = 0; i < block->arg_count; i++) {
        const ig_type *type = block->args[i]->type;
        ig_value_retype(block->args[i], ig_substitute_type(s, type));
    }
    for (ig_op *op = block->first; op; op = op->next) {
        ig_substitute_op(s, op);
    }
}

/* Symbols that the substitution itself made are right already.  A definition is too
 * large for an expression: made anew it may be the very symbol. */
void ig_substitute_definitions(const ig_substitution *s) {
    for (uint32_t i = 0; i < s->count; i++) {
        ig_symbol *symbol = ig_symbol_at(s->module, i);
        ig_dim defined = ig_dim_substitute(s->module, symbol->defined, s->by_symbol);
        if (!ig_dim_mentions(s->module, defined, i)) {
            symbol->defined = defined;
        }
    }
}
