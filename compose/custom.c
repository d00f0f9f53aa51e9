/* Operators that the user gives as graphs: which one serves a call, and its ops there.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A symbol of the function is replaced by the extent of the call where an argument has
 * it alone; one that a body makes (the number of elements that are not zero) is a new
 * symbol.  An argument whose extents agree only when the run has checked it is reshaped
 * to the extents that the function knows, so that the body's types hold as they are.
 */
#include "compose/custom.h"

#include <assert.h>
#include <string.h>

uint32_t ig_custom_result_count(const ig_graph *function) {
    assert(function->body.last && "a graph ends");
    return function->body.last->operand_count;
}

/* ---- the file ---- */

static const char *refuse_function(const ig_graph *graph) {
    const ig_op *end = graph->body.last;
    if (!strstr(graph->name, "::")) {
        return "its name is not that of an operator: write @\"domain::Op\"";
    }
    for (uint32_t i = 0; i < graph->body.arg_count; i++) {
        if (graph->body.args[i]->type->kind != IG_TENSOR) {
            return "an argument is not a tensor";
        }
    }
    if (graph->stage != IG_STAGE_TENSOR || graph->state_count || !end) {
        return "it is not a graph of tensor ops without state";
    }
    return graph->module->weights.count
               ? "the file has weights: write constants in the "
                 "graph"
               : NULL;
}

ig_status ig_custom_check_all(const ig_module *functions, const char *file) {
    ig_diag *diag = &functions->context->diag;
    for (size_t i = 0; i < functions->graphs.count; i++) {
        const ig_graph *graph = functions->graphs.items[i];
        const char *why = refuse_function(graph);
        ig_location where = { .file = file, .graph = graph->name };
        if (why) {
            return ig_error_hint(diag, IG_INVALID, &where,
                                 "see docs/custom-operators.md",
                                 "cannot serve as an operator: %s", why);
        }
    }
    for (uint32_t i = 0; i < ig_symbol_count(functions); i++) {
        const ig_symbol *symbol = ig_symbol_at(functions, i);
        ig_location where = { .file = file };
        if (symbol->multiple != 1 || ig_symbol_is_defined(symbol)) {
            return ig_error(
                diag, IG_INVALID, &where,
                "symbol %s: an extent of an operator has only a min and a max",
                symbol->name);
        }
    }
    return IG_OK;
}

static bool is_form_of(const ig_graph *graph, const char *name) {
    size_t size = strlen(name);
    return strncmp(graph->name, name, size) == 0 &&
           (!graph->name[size] || graph->name[size] == '.');
}

const ig_graph *ig_custom_next(const ig_custom_functions *functions, const char *name,
                               const ig_graph *after) {
    bool is_after = !after;
    for (size_t m = 0; functions && m < functions->count; m++) {
        const ig_module *module = functions->modules[m];
        for (size_t i = 0; i < module->graphs.count; i++) {
            const ig_graph *graph = module->graphs.items[i];
            if (is_after && is_form_of(graph, name)) {
                return graph;
            }
            is_after |= graph == after;
        }
    }
    return NULL;
}

bool ig_custom_fits(const ig_graph *function, ig_value *const *args, uint32_t count) {
    if (count != function->body.arg_count) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        const ig_type *wanted = function->body.args[i]->type;
        const ig_type *given = args[i] ? args[i]->type : NULL;
        if (!given || given->kind != IG_TENSOR || given->dtype != wanted->dtype ||
            given->rank != wanted->rank) {
            return false;
        }
        for (uint32_t k = 0; k < wanted->rank; k++) {
            int64_t a, b;
            if (ig_dim_known(wanted->dims[k], &a) && ig_dim_known(given->dims[k], &b) &&
                a != b) {
                return false;
            }
        }
    }
    return true;
}

/* ---- a call ---- */

typedef struct binding {
    ig_expr *e;
    const ig_graph *function;
    ig_dim *by_symbol; /* of the caller's module; IG_DIM_KEEP: not known yet */
} binding;

static void guard_range(const binding *b, const ig_symbol *symbol, ig_dim extent) {
    ig_module *module = b->e->module;
    const char *what = ig_arena_printf(
        &module->arena, "%s: %s is outside of %lld … %lld", b->function->name,
        symbol->name, (long long)symbol->min, (long long)symbol->max);
    if (symbol->min > 0) {
        ig_expr_guard_less_equal(b->e, ig_dim_const(module, symbol->min), extent, what);
    }
    if (symbol->max < INT64_MAX) {
        ig_expr_guard_less_equal(b->e, extent, ig_dim_const(module, symbol->max), what);
    }
}

static void bind_symbols(const binding *b, ig_value *const *args) {
    const ig_module *from = b->function->module;
    for (uint32_t i = 0; i < b->function->body.arg_count; i++) {
        const ig_type *wanted = b->function->body.args[i]->type;
        for (uint32_t k = 0; k < wanted->rank; k++) {
            ig_symbol *symbol = ig_dim_as_symbol(from, wanted->dims[k]);
            uint32_t index = symbol ? ig_symbol_index(from, wanted->dims[k]) : 0;
            if (symbol && ig_dim_same(b->by_symbol[index], IG_DIM_KEEP)) {
                b->by_symbol[index] = args[i]->type->dims[k];
                guard_range(b, symbol, args[i]->type->dims[k]);
            }
        }
    }
}

/* Those that no argument has are made in the body. */
static void add_symbols(const binding *b) {
    const ig_module *from = b->function->module;
    for (uint32_t i = 0; i < ig_symbol_count(from); i++) {
        const ig_symbol *symbol = ig_symbol_at(from, i);
        if (ig_dim_same(b->by_symbol[i], IG_DIM_KEEP)) {
            b->by_symbol[i] = ig_expr_symbol(b->e, symbol->name, symbol->origin);
            ig_symbol *made = ig_dim_as_symbol(b->e->module, b->by_symbol[i]);
            made->min = symbol->min;
            made->max = symbol->max;
        }
    }
}

/* The argument as the body takes it. */
static ig_value *fit_argument(const binding *b, uint32_t index, ig_value *value) {
    ig_module *module = b->e->module;
    const ig_type *type = ig_type_translate(
        b->function->module, b->function->body.args[index]->type, b->by_symbol, module);
    for (uint32_t i = 0; i < type->rank; i++) {
        const char *what = ig_arena_printf(
            &module->arena, "%s: extent %u of argument %u does not agree",
            b->function->name, i, index);
        ig_expr_guard_equal(b->e, value->type->dims[i], type->dims[i], what);
    }
    return type == value->type ? value
                               : ig_expr_reshape(b->e, value, type->rank, type->dims);
}

void ig_custom_inline(ig_expr *e, const ig_graph *function, ig_value *const *args,
                      ig_value **out_results) {
    const ig_module *from = function->module;
    ig_arena *arena = &e->module->arena;
    uint32_t count = function->body.arg_count, symbols = ig_symbol_count(from);
    ig_value **fitted = IG_NEW_ARRAY(arena, ig_value *, count + 1);
    binding b = { e, function, IG_NEW_ARRAY(arena, ig_dim, symbols + 1) };
    assert(e->module != from && "a function is of a module of its own");
    for (uint32_t i = 0; i < symbols; i++) {
        b.by_symbol[i] = IG_DIM_KEEP;
    }
    bind_symbols(&b, args);
    add_symbols(&b);
    for (uint32_t i = 0; i < count && e->status == IG_OK; i++) {
        fitted[i] = fit_argument(&b, i, args[i]);
    }
    if (e->status == IG_OK) {
        ig_block_position position = { e->builder->block, e->builder->before,
                                       e->builder->loc, e->builder->origins };
        ig_block_inline_at(&function->body, &position, b.by_symbol, fitted,
                           out_results);
    }
}
