/* What the recognising passes share: walking, replacing, facts about symbols.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/recognise.h"

#include <assert.h>

/* ---- facts about symbols ---- */

typedef struct mention {
    uint32_t symbol;
    bool     is_found;
} mention;

static void look_for(void *user, uint32_t symbol) {
    mention *m = user;
    m->is_found = m->is_found || symbol == m->symbol;
}

static bool mentions(const ig_module *module, ig_dim dim, uint32_t symbol) {
    mention m = { .symbol = symbol };
    ig_dim_visit_symbols(module, dim, look_for, &m);
    return m.is_found;
}

/* Does the shape of an input give this symbol its value? */
static bool is_bound(const ig_recogniser *r, ig_dim dim) {
    const ig_block *body = &r->graph->body;
    for (uint32_t i = 0; i < body->arg_count; i++) {
        const ig_type *type = body->args[i]->type;
        for (uint32_t d = 0; d < type->rank; d++) {
            if (type->dims[d] == dim) {
                return true;
            }
        }
    }
    return false;
}

static const ig_dim *dims_by_symbol(ig_recogniser *r) {
    uint32_t count = ig_symbol_count(r->module);
    while (r->by_symbol.count < count) {
        IG_PUSH(r->arena, &r->by_symbol, IG_DIM_KEEP);
    }
    return r->by_symbol.items;
}

/* `old` and `dim` are the same extent.  Symbols that inputs bind stay, for the types of
 * inputs are what callers are checked against. */
static void note_fact(ig_recogniser *r, ig_dim old, ig_dim dim) {
    const ig_symbol *symbol = ig_dim_as_symbol(r->module, old);
    if (!symbol || is_bound(r, old)) {
        return;
    }
    uint32_t index = ig_symbol_index(r->module, old);
    dim = ig_dim_substitute(r->module, dim, dims_by_symbol(r));
    dims_by_symbol(r); /* substitution may have made symbols */
    if (r->by_symbol.items[index] == IG_DIM_KEEP && !mentions(r->module, dim, index)) {
        r->by_symbol.items[index] = dim;
        IG_PUSH(r->arena, &r->found, index);
    }
}

/* A fact mentions no symbol of one found before it, but may those found after it. */
static void settle_facts(ig_recogniser *r) {
    for (size_t i = r->found.count; i-- > 0;) {
        ig_dim *dim = &r->by_symbol.items[r->found.items[i]];
        *dim = ig_dim_substitute(r->module, *dim, dims_by_symbol(r));
    }
}

/* ---- writing facts down ---- */

static const ig_type *settled_type(ig_recogniser *r, const ig_type *type) {
    if (type->element) {
        const ig_type *element = settled_type(r, type->element);
        return ig_type_host(r->module, (ig_kind)type->kind, element);
    }
    ig_dim dims[IG_TENSOR_RANK];
    for (uint32_t d = 0; d < type->rank; d++) {
        dims[d] = ig_dim_substitute(r->module, type->dims[d], dims_by_symbol(r));
    }
    return type->rank ? ig_type_with_dims(r->module, type, type->rank, dims) : type;
}

static void settle_value(ig_recogniser *r, ig_value *value) {
    const ig_type *type = settled_type(r, value->type);
    if (type != value->type) {
        ig_value_retype(value, type);
    }
}

static void settle_attr(ig_recogniser *r, ig_op *op, uint32_t slot) {
    const ig_attr *attr = &op->attrs[slot];
    if (attr->kind == IG_ATTR_DIM) {
        ig_dim dim = ig_dim_substitute(r->module, attr->as.i, dims_by_symbol(r));
        ig_attr_set(op, slot, ig_attr_of_dim(dim));
    }
    if (attr->kind == IG_ATTR_DIMS) {
        ig_dim *dims = IG_NEW_ARRAY(r->arena, ig_dim, attr->count);
        for (uint32_t i = 0; i < attr->count; i++) {
            dims[i] = ig_dim_substitute(r->module, attr->as.dims[i], dims_by_symbol(r));
        }
        ig_attr_set(op, slot, ig_attr_of_dims(r->module, dims, attr->count));
    }
}

/* Recursion is as deep as bodies nest, which readers bound by limits.graph_depth. */
static void settle_block(ig_recogniser *r, ig_block *block) {
    for (uint32_t i = 0; i < block->arg_count; i++) {
        settle_value(r, block->args[i]);
    }
    for (ig_op *op = block->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->result_count; i++) {
            settle_value(r, &op->results[i]);
        }
        for (uint32_t slot = 0; slot < ig_ops[op->code].attr_count; slot++) {
            settle_attr(r, op, slot);
        }
        for (uint32_t i = 0; i < op->body_count; i++) {
            settle_block(r, op->bodies[i]);
        }
    }
}

/* ---- what is known where ---- */

static void mark(void *user, uint32_t symbol) {
    ig_recogniser *r = user;
    if (symbol < r->visible_count) {
        r->visible[symbol] = true;
    }
}

static void mark_type(ig_recogniser *r, const ig_type *type) {
    for (uint32_t d = 0; d < type->rank; d++) {
        ig_dim_visit_symbols(r->module, type->dims[d], mark, r);
    }
}

static void mark_block(ig_recogniser *r, const ig_block *block) {
    for (uint32_t i = 0; i < block->arg_count; i++) {
        mark_type(r, block->args[i]->type);
    }
    for (const ig_op *op = block->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->result_count; i++) {
            mark_type(r, op->results[i].type);
        }
    }
}

static void enter_scope(ig_recogniser *r, const ig_block *block) {
    if (r->scope == block) {
        return;
    }
    r->scope = block;
    r->visible_count = ig_symbol_count(r->module);
    r->visible = IG_NEW_ARRAY(r->arena, bool, r->visible_count);
    while (block) {
        mark_block(r, block);
        block = block->parent ? block->parent->block : NULL;
    }
}

typedef struct visibility {
    const ig_recogniser *r;
    bool                 is_known;
} visibility;

static void check_symbol(void *user, uint32_t symbol) {
    visibility *v = user;
    bool        is_known = symbol < v->r->visible_count && v->r->visible[symbol];
    v->is_known = v->is_known && is_known;
}

bool ig_recogniser_sees(ig_recogniser *r, const ig_block *block, ig_dim dim) {
    if (ig_dim_is_static(dim)) {
        return true;
    }
    enter_scope(r, block);
    visibility v = { r, true };
    ig_dim_visit_symbols(r->module, dim, check_symbol, &v);
    return v.is_known;
}

/* ---- replacing ---- */

void ig_recogniser_replace(ig_recogniser *r, ig_value *old, ig_value *value) {
    assert(old->type->rank == value->type->rank && "the same value, better typed");
    for (uint32_t d = 0; d < old->type->rank; d++) {
        note_fact(r, old->type->dims[d], value->type->dims[d]);
    }
    ig_value_retype(old, value->type);
    value->name = old->name ? old->name : value->name;
    ig_value_replace(old, value);
    r->run->changed = true;
}

/* Guards of the loop's own body that speak of what is known before it. */
static void keep_guards(ig_recogniser *r, ig_op *loop) {
    for (ig_op *op = loop->bodies[0]->first, *next; op; op = next) {
        next = op->next;
        if (op->code == IG_OP_guard &&
            ig_recogniser_sees(r, loop->block, op->attrs[IG_guard_left].as.i) &&
            ig_recogniser_sees(r, loop->block, op->attrs[IG_guard_right].as.i)) {
            ig_op_move(op, loop->block, loop);
        }
    }
}

void ig_recogniser_drop(ig_recogniser *r, ig_op *loop) {
    for (uint32_t i = 0; i < loop->result_count; i++) {
        if (loop->results[i].uses) {
            return;
        }
    }
    keep_guards(r, loop);
    ig_op_erase(loop);
    r->run->changed = true;
}

/* ---- the walk ---- */

typedef struct walk {
    ig_opcode       code;
    IG_VEC(ig_op *) ops;
} walk;

/* Recursion is as deep as bodies nest, which readers bound by limits.graph_depth. */
static void collect(ig_recogniser *r, ig_block *block, walk *w) {
    for (ig_op *op = block->first; op; op = op->next) {
        if (op->code == w->code) {
            IG_PUSH(r->arena, &w->ops, op);
        }
        for (uint32_t i = 0; i < op->body_count; i++) {
            collect(r, op->bodies[i], w);
        }
    }
}

ig_status ig_recognise(ig_pass_run *run, ig_graph *graph, ig_opcode code,
                       ig_recognise_fn look) {
    ig_recogniser r = {
        .run = run, .graph = graph, .module = graph->module, .arena = run->scratch
    };
    walk w = { .code = code };
    collect(&r, &graph->body, &w);
    for (size_t i = 0; i < w.ops.count; i++) {
        if (w.ops.items[i]->code != (uint16_t)IG_OP_ERASED) {
            look(&r, w.ops.items[i]);
        }
        IG_TRY(ig_context_poll(graph->module->context));
    }
    if (r.found.count) {
        settle_facts(&r);
        settle_block(&r, &graph->body);
    }
    return IG_OK;
}
