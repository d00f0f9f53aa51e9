/* Symbols that ops define: extents that are known at run time only.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/engine/symbols.h"

#include "passes/engine/guards.h"
#include "passes/engine/substitute.h"

#include <assert.h>

/* ---- who defines what ---- */

void ig_symbols_init(ig_symbols *symbols, const ig_graph *graph, ig_arena *scratch) {
    *symbols = (ig_symbols){ .module = graph->module,
                             .scratch = scratch,
                             .count = ig_symbol_count(graph->module) };
    symbols->is_bound = IG_NEW_ARRAY(scratch, bool, symbols->count);
    for (uint32_t i = 0; i < graph->body.arg_count; i++) {
        const ig_type *type = graph->body.args[i]->type;
        for (uint32_t d = 0; d < type->rank; d++) {
            if (ig_dim_as_symbol(symbols->module, type->dims[d])) {
                symbols->is_bound[ig_symbol_index(symbols->module, type->dims[d])] =
                    true;
            }
        }
    }
    for (uint32_t i = 0; i < symbols->count; i++) {
        symbols->has_free = symbols->has_free || !symbols->is_bound[i];
    }
}

static bool type_mentions(const ig_module *module, const ig_type *type,
                          uint32_t symbol) {
    for (; type; type = type->element) {
        for (uint32_t d = 0; d < type->rank; d++) {
            if (ig_dim_mentions(module, type->dims[d], symbol)) {
                return true;
            }
        }
    }
    return false;
}

static bool attr_mentions(const ig_module *module, const ig_attr *attr,
                          uint32_t symbol) {
    if (attr->kind == IG_ATTR_DIM) {
        return ig_dim_mentions(module, attr->as.dim, symbol);
    }
    for (uint32_t i = 0; attr->kind == IG_ATTR_DIMS && i < attr->count; i++) {
        if (ig_dim_mentions(module, attr->as.dims[i], symbol)) {
            return true;
        }
    }
    return false;
}

/* In the operand's type, and in its value where that is a list of dims. */
static bool operand_mentions(const ig_module *module, const ig_value *value,
                             uint32_t symbol) {
    const ig_op *dims = ig_def(value, IG_OP_dims);
    return type_mentions(module, value->type, symbol) ||
           (dims && attr_mentions(module, &dims->attrs[IG_dims_values], symbol));
}

static bool operands_mention(const ig_symbols *symbols, const ig_op *op,
                             uint32_t symbol) {
    for (uint32_t i = 0; i < op->operand_count; i++) {
        if (operand_mentions(symbols->module, op->operands[i].value, symbol)) {
            return true;
        }
    }
    return false;
}

/* An extent of a body's argument that the operands of the body's op lack is bound anew
 * whenever the body is entered. */
static bool body_binds(const ig_symbols *symbols, const ig_block *body,
                       uint32_t symbol) {
    for (uint32_t i = 0; i < body->arg_count; i++) {
        if (type_mentions(symbols->module, body->args[i]->type, symbol)) {
            return !operands_mention(symbols, body->parent, symbol);
        }
    }
    return false;
}

static bool is_bound_around(const ig_symbols *symbols, const ig_op *op,
                            uint32_t symbol) {
    for (const ig_block *block = op->block; block->parent;
         block = block->parent->block) {
        if (body_binds(symbols, block, symbol)) {
            return true;
        }
    }
    return false;
}

bool ig_symbols_defines(const ig_symbols *symbols, const ig_op *op, ig_dim dim) {
    const ig_symbol *symbol = ig_dim_as_symbol(symbols->module, dim);
    if (!symbol || ig_symbol_is_defined(symbol)) {
        return false;
    }
    uint32_t index = ig_symbol_index(symbols->module, dim);
    if (index < symbols->count && symbols->is_bound[index]) {
        return false;
    }
    if (operands_mention(symbols, op, index)) {
        return false;
    }
    for (uint32_t i = 0; i < ig_ops[op->code].attr_count; i++) {
        if (attr_mentions(symbols->module, &op->attrs[i], index)) {
            return false;
        }
    }
    return !is_bound_around(symbols, op, index);
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

/* ---- facts learnt ---- */

bool ig_symbols_changes(const ig_symbols *symbols, const ig_op *op,
                        const ig_type *type) {
    for (uint32_t d = 0; d < type->rank; d++) {
        if (!ig_dim_as_symbol(symbols->module, type->dims[d])) {
            continue;
        }
        uint32_t symbol = ig_symbol_index(symbols->module, type->dims[d]);
        for (uint32_t i = 0; i < op->body_count; i++) {
            if (body_binds(symbols, op->bodies[i], symbol)) {
                return true;
            }
        }
    }
    return false;
}

void ig_symbols_learn(ig_symbols *symbols, const ig_op *op, const ig_type *old,
                      const ig_type *fresh) {
    if (old == fresh || old->rank != fresh->rank || !symbols->has_free ||
        ig_symbols_changes(symbols, op, old)) {
        return;
    }
    for (uint32_t d = 0; d < old->rank; d++) {
        if (!ig_dim_same(old->dims[d], fresh->dims[d]) &&
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
        assert(lesson->symbol < ig_symbol_count(symbols->module) &&
               "a symbol of the module");
        ig_dim dim = ig_dim_substitute(symbols->module, lesson->dim, by_symbol);
        if (!ig_dim_mentions(symbols->module, dim, lesson->symbol)) {
            by_symbol[lesson->symbol] = dim;
            any = true;
        }
    }
    return any;
}

ig_status ig_symbols_apply(ig_symbols *symbols, ig_pass_run *run, ig_graph *graph) {
    if (!symbols->lessons.count) {
        return IG_OK;
    }
    ig_substitution s;
    ig_substitution_init(&s, symbols->module, symbols->scratch);
    bool is_new = fill_table(symbols, s.by_symbol);
    symbols->lessons.count = 0;
    if (!is_new) {
        return IG_OK;
    }
    ig_substitute_definitions(&s);
    ig_substitute_block(&s, &graph->body);
    return ig_learnt_check(run, graph);
}
