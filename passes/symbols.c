/* Symbols that ops define: extents that only the run learns.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/symbols.h"

/* ---- who defines what ---- */

/* Recursion is as deep as bodies nest, which readers bound by limits.graph_depth. */
static void note_bound(ig_symbols *s, const ig_block *block) {
    for (uint32_t i = 0; i < block->arg_count; i++) {
        const ig_type *type = block->args[i]->type;
        for (uint32_t d = 0; d < type->rank; d++) {
            if (ig_dim_as_symbol(s->module, type->dims[d])) {
                s->is_bound[ig_symbol_index(s->module, type->dims[d])] = true;
            }
        }
    }
    for (const ig_op *op = block->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->body_count; i++) {
            note_bound(s, op->bodies[i]);
        }
    }
}

void ig_symbols_init(ig_symbols *symbols, const ig_graph *graph, ig_arena *scratch) {
    *symbols = (ig_symbols){ .module = graph->module,
                             .scratch = scratch,
                             .count = ig_symbol_count(graph->module) };
    symbols->is_bound = IG_NEW_ARRAY(scratch, bool, symbols->count);
    note_bound(symbols, &graph->body);
    for (uint32_t i = 0; i < symbols->count; i++) {
        symbols->has_free = symbols->has_free || !symbols->is_bound[i];
    }
}

typedef struct mention {
    uint32_t symbol;
    bool     is_found;
} mention;

static void note_mention(void *user, uint32_t symbol) {
    mention *m = (mention *)user;
    m->is_found = m->is_found || symbol == m->symbol;
}

static void look_in_type(const ig_module *module, const ig_type *type, mention *m) {
    for (; type; type = type->element) {
        for (uint32_t d = 0; d < type->rank; d++) {
            if (!ig_dim_is_static(type->dims[d])) {
                ig_dim_visit_symbols(module, type->dims[d], note_mention, m);
            }
        }
    }
}

static void look_in_attr(const ig_module *module, const ig_attr *attr, mention *m) {
    if (attr->kind == IG_ATTR_DIM) {
        ig_dim_visit_symbols(module, attr->as.i, note_mention, m);
    }
    for (uint32_t i = 0; attr->kind == IG_ATTR_DIMS && i < attr->count; i++) {
        ig_dim_visit_symbols(module, attr->as.dims[i], note_mention, m);
    }
}

/* In the operand's type, and in its value where that is a list of dims. */
static void look_in_operand(const ig_module *module, const ig_value *value,
                            mention *m) {
    const ig_op *dims = ig_def(value, IG_OP_dims);
    look_in_type(module, value->type, m);
    if (dims) {
        look_in_attr(module, &dims->attrs[IG_dims_values], m);
    }
}

bool ig_symbols_defines(const ig_symbols *symbols, const ig_op *op, ig_dim dim) {
    const ig_symbol *symbol = ig_dim_as_symbol(symbols->module, dim);
    if (!symbol || symbol->defined) {
        return false;
    }
    mention m = { .symbol = ig_symbol_index(symbols->module, dim) };
    if (m.symbol < symbols->count && symbols->is_bound[m.symbol]) {
        return false;
    }
    for (uint32_t i = 0; i < op->operand_count && !m.is_found; i++) {
        look_in_operand(symbols->module, op->operands[i].value, &m);
    }
    for (uint32_t i = 0; i < ig_ops[op->code].attr_count && !m.is_found; i++) {
        look_in_attr(symbols->module, &op->attrs[i], &m);
    }
    return !m.is_found;
}

bool ig_symbols_is_definer(const ig_symbols *symbols, const ig_op *op) {
    for (uint32_t i = 0; i < op->result_count && symbols->has_free; i++) {
        const ig_type *type = op->results[i].type;
        for (uint32_t d = 0; d < type->rank; d++) {
            if (ig_symbols_defines(symbols, op, type->dims[d])) {
                return true;
            }
        }
    }
    return false;
}

/* ---- what is learnt ---- */

typedef struct substitution {
    ig_symbols *symbols;
    ig_dim     *by_symbol;
    uint32_t    count; /* rows of by_symbol */
    ig_map      types; /* type -> its replacement */
} substitution;

static void start_table(substitution *s) {
    s->count = ig_symbol_count(s->symbols->module);
    s->by_symbol = IG_NEW_ARRAY(s->symbols->scratch, ig_dim, s->count);
    for (uint32_t i = 0; i < s->count; i++) {
        s->by_symbol[i] = IG_DIM_KEEP;
    }
}

static bool mentions(const ig_module *module, ig_dim dim, uint32_t symbol) {
    mention m = { .symbol = symbol };
    ig_dim_visit_symbols(module, dim, note_mention, &m);
    return m.is_found;
}

void ig_symbols_learn(ig_symbols *symbols, const ig_op *op, const ig_type *old,
                      const ig_type *fresh) {
    if (old == fresh || old->rank != fresh->rank || !symbols->has_free) {
        return;
    }
    for (uint32_t d = 0; d < old->rank; d++) {
        if (old->dims[d] != fresh->dims[d] &&
            ig_symbols_defines(symbols, op, old->dims[d])) {
            ig_lesson lesson = { ig_symbol_index(symbols->module, old->dims[d]),
                                 fresh->dims[d] };
            IG_PUSH(symbols->scratch, &symbols->lessons, lesson);
        }
    }
}

/* The last lesson first: the dim of an earlier one may mention the symbol of a later
 * one.  A lesson that would go round in a circle is left out; then the symbol stays,
 * and so does whoever defines it. */
static bool fill_table(ig_symbols *symbols, ig_dim *by_symbol) {
    bool any = false;
    for (size_t i = symbols->lessons.count; i-- > 0;) {
        const ig_lesson *lesson = &symbols->lessons.items[i];
        ig_dim dim = ig_dim_substitute(symbols->module, lesson->dim, by_symbol);
        if (!mentions(symbols->module, dim, lesson->symbol)) {
            by_symbol[lesson->symbol] = dim;
            any = true;
        }
    }
    return any;
}

static const ig_type *new_type(substitution *s, const ig_type *type) {
    if (!type || (ig_type_is_static(type) && !type->element)) {
        return type;
    }
    const ig_type *known = (const ig_type *)ig_map_get_id(&s->types, IG_MAP_PTR(type));
    if (known) {
        return known;
    }
    ig_module     *module = s->symbols->module;
    const ig_type *made;
    if (type->element) {
        const ig_type *element = new_type(s, type->element);
        made = ig_type_host(module, (ig_kind)type->kind, element);
    } else {
        ig_dim *dims = IG_NEW_ARRAY(s->symbols->scratch, ig_dim, type->rank);
        for (uint32_t d = 0; d < type->rank; d++) {
            dims[d] = ig_dim_substitute(module, type->dims[d], s->by_symbol);
        }
        made = ig_type_with_dims(module, type, type->rank, dims);
    }
    ig_map_set_id(&s->types, IG_MAP_PTR(type), (void *)(uintptr_t)made);
    return made;
}

static void substitute_attr(substitution *s, ig_op *op, uint32_t slot) {
    const ig_attr *attr = &op->attrs[slot];
    ig_module     *module = s->symbols->module;
    if (attr->kind == IG_ATTR_DIM) {
        ig_dim dim = ig_dim_substitute(module, attr->as.i, s->by_symbol);
        ig_attr_set(op, slot, ig_attr_of_dim(dim));
    }
    if (attr->kind == IG_ATTR_DIMS) {
        ig_dim *dims = IG_NEW_ARRAY(s->symbols->scratch, ig_dim, attr->count);
        for (uint32_t i = 0; i < attr->count; i++) {
            dims[i] = ig_dim_substitute(module, attr->as.dims[i], s->by_symbol);
        }
        ig_attr_set(op, slot, ig_attr_of_dims(module, dims, attr->count));
    }
}

/* Recursion is as deep as bodies nest, which readers bound by limits.graph_depth. */
static void substitute_block(substitution *s, ig_block *block) {
    for (uint32_t i = 0; i < block->arg_count; i++) {
        ig_value_retype(block->args[i], new_type(s, block->args[i]->type));
    }
    for (ig_op *op = block->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->result_count; i++) {
            ig_value_retype(&op->results[i], new_type(s, op->results[i].type));
        }
        for (uint32_t slot = 0; slot < ig_ops[op->code].attr_count; slot++) {
            substitute_attr(s, op, slot);
        }
        for (uint32_t i = 0; i < op->body_count; i++) {
            substitute_block(s, op->bodies[i]);
        }
    }
}

/* Definitions of fresh symbols are expressions as well; those of symbols that are made
 * by the substitution itself are right already. */
static void substitute_definitions(substitution *s) {
    for (uint32_t i = 0; i < s->count; i++) {
        ig_symbol *symbol = ig_symbol_at(s->symbols->module, i);
        symbol->defined = ig_dim_substitute(s->symbols->module, symbol->defined,
                                            s->by_symbol);
    }
}

void ig_symbols_apply(ig_symbols *symbols, ig_graph *graph) {
    if (!symbols->lessons.count) {
        return;
    }
    substitution s = { .symbols = symbols };
    start_table(&s);
    if (fill_table(symbols, s.by_symbol)) {
        ig_map_init(&s.types, symbols->scratch);
        substitute_definitions(&s);
        substitute_block(&s, &graph->body);
    }
    symbols->lessons.count = 0;
}
