/* solve_extents: an input's extent that is a sum becomes a symbol.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     graph @main(%x: f32[2*B, 4]) … reshape %x {dims = [B, 2, 4]}
 *   becomes
 *     symbol x_0 {multiple = 2}
 *     graph @main(%x: f32[x_0, 4]) … reshape %x {dims = [exact(x_0 / 2), 2, 4]}
 *
 * A run binds the symbols that are extents of its inputs, so one that occurs in sums
 * alone had no value.  torch.export writes such inputs where the caller's Dim was
 * derived, 2*Dim("b").  Of each such sum one symbol that is not known is expressed by
 * the input's extent and the symbols that are; facts of the new symbol, or guards where
 * these do not suffice, say which extents there may be.
 *
 * Keeps extents that say too little, B*C or max(B, 2): programs of them are refused.
 */
#include "passes/engine/pass.h"
#include "passes/engine/substitute.h"
#include "passes/engine/symbols.h"

#include <assert.h>

typedef struct solver {
    ig_pass_run *run;
    ig_module *module;
    ig_graph *graph;
    ig_substitution by;
    ig_symbols symbols; /* which of them are an input's extent */
    uint32_t unknown;   /* of the dim that is looked at: the first that is not bound */
    bool has_more;      /* whether there are others */
} solver;

/* An extent of an input: factor * symbol + rest. */
typedef struct equation {
    uint32_t input, axis, symbol;
    int64_t factor;   /* above 0 */
    ig_dim rest;      /* of symbols that are bound */
    const char *text; /* of the extent, for messages */
} equation;

/* ---- which symbol an extent gives ---- */

static void note_unknown(void *user, uint32_t symbol) {
    solver *s = user;
    bool is_known = ig_symbol_is_defined(ig_symbol_at(s->module, symbol)) ||
                    s->symbols.is_bound[symbol];
    if (is_known) {
        return;
    }
    s->has_more |= s->unknown != UINT32_MAX && s->unknown != symbol;
    s->unknown = s->unknown == UINT32_MAX ? symbol : s->unknown;
}

static bool has_unknown(solver *s, ig_dim dim) {
    s->unknown = UINT32_MAX;
    s->has_more = false;
    ig_dim_visit_symbols(s->module, dim, note_unknown, s);
    return s->unknown != UINT32_MAX;
}

static ig_dim dim_at(solver *s, ig_dim dim, uint32_t symbol, int64_t value) {
    s->by.by_symbol[symbol] = ig_dim_of(value);
    ig_dim made = ig_dim_substitute(s->module, dim, s->by.by_symbol);
    s->by.by_symbol[symbol] = IG_DIM_KEEP;
    return made;
}

/* A line is known by two of its points; whether the dim is one, by comparing. */
static bool solve_dim(solver *s, ig_dim dim, equation *out) {
    const char *name = ig_symbol_at(s->module, s->unknown)->name;
    ig_dim symbol = ig_dim_named(s->module, ig_str_of(name));
    out->symbol = s->unknown;
    out->rest = dim_at(s, dim, s->unknown, 0);
    ig_dim factor = ig_dim_sub(s->module, dim_at(s, dim, s->unknown, 1), out->rest);
    ig_dim line = ig_dim_add(s->module, ig_dim_mul(s->module, factor, symbol),
                             out->rest);
    return !s->has_more && ig_dim_constant(s->module, factor, &out->factor) &&
           out->factor > 0 && ig_dim_same(line, dim);
}

static const char *print_dim(const solver *s, ig_dim dim) {
    ig_writer text;
    ig_writer_init(&text, s->run->scratch);
    ig_dim_print(s->module, dim, &text);
    return text.data;
}

/* The first extent that gives a symbol. */
static bool find_equation(solver *s, equation *out) {
    for (uint32_t i = 0; i < s->graph->body.arg_count; i++) {
        const ig_type *type = s->graph->body.args[i]->type;
        for (uint32_t d = 0; d < type->rank; d++) {
            *out = (equation){ .input = i, .axis = d };
            if (has_unknown(s, type->dims[d]) && solve_dim(s, type->dims[d], out)) {
                out->text = print_dim(s, type->dims[d]);
                return true;
            }
        }
    }
    return false;
}

/* ---- the symbol that takes the sum's place ---- */

static const char *name_input(const solver *s, uint32_t input) {
    const char *const *names = s->graph->arg_names;
    const char *name = names ? names[input] : s->graph->body.args[input]->name;
    return name ? name : "x";
}

/* The symbol that is the extent, with the facts that the sum has. */
static ig_dim make_symbol(const solver *s, const equation *e, ig_dim sum) {
    const char *input = name_input(s, e->input);
    ig_dim made = ig_dim_symbol(
        s->module, ig_arena_printf(s->run->scratch, "%s_%u", input, e->axis));
    ig_symbol *symbol = ig_dim_as_symbol(s->module, made);
    ig_dim_range(s->module, sum, &symbol->min, &symbol->max);
    symbol->min = symbol->min > 0 ? symbol->min : 0;
    symbol->multiple = ig_dim_divisor(s->module, sum);
    const char *origin = ig_arena_printf(s->run->scratch, "dim %u of input '%s'",
                                         e->axis, input);
    symbol->origin = ig_module_string(s->module, ig_str_of(origin));
    return made;
}

static void add_guard(const solver *s, const equation *e, ig_guard_test test,
                      ig_dim left, ig_dim right) {
    ig_builder builder = ig_builder_before(s->graph->body.first);
    const char *words = ig_arena_printf(s->run->scratch,
                                        "dim %u of input '%s' must be %s", e->axis,
                                        name_input(s, e->input), e->text);
    ig_attr attrs[IG_guard_attr_count] = {
        [IG_guard_left] = ig_attr_of_dim(left),
        [IG_guard_right] = ig_attr_of_dim(right),
        [IG_guard_test] = ig_attr_of_enum(test),
        [IG_guard_message] = ig_attr_of_str(s->module, ig_str_of(words)),
    };
    (void)ig_make(&builder, IG_OP_guard, 0, NULL, attrs);
}

static ig_dim line_at(const solver *s, const equation *e, ig_dim symbol) {
    ig_dim product = ig_dim_mul(s->module, ig_dim_of(e->factor), symbol);
    return ig_dim_add(s->module, product, e->rest);
}

/* What the facts of `extent` leave open: whether the factor divides it less the rest,
 * and, where that is no number, whether the quotient is in the old symbol's range. */
static void guard_extent(const solver *s, const equation *e, ig_dim extent) {
    const ig_symbol *old = ig_symbol_at(s->module, e->symbol);
    if (ig_dim_as_symbol(s->module, extent)->multiple % e->factor != 0) {
        ig_dim quotient = ig_dim_floor_div(
            s->module, ig_dim_sub(s->module, extent, e->rest), ig_dim_of(e->factor));
        add_guard(s, e, IG_GUARD_eq, line_at(s, e, quotient), extent);
    }
    if (ig_dim_is_static(e->rest)) {
        return;
    }
    add_guard(s, e, IG_GUARD_le, line_at(s, e, ig_dim_const(s->module, old->min)),
              extent);
    if (old->max != INT64_MAX) {
        add_guard(s, e, IG_GUARD_le, extent,
                  line_at(s, e, ig_dim_const(s->module, old->max)));
    }
}

/* Guards come last: substitutions know no symbols that are made after them. */
static void use_equation(solver *s, const equation *e) {
    ig_dim sum = s->graph->body.args[e->input]->type->dims[e->axis];
    ig_dim extent = make_symbol(s, e, sum);
    s->by.by_symbol[e->symbol] = ig_dim_exact_div(
        s->module, ig_dim_sub(s->module, extent, e->rest), ig_dim_of(e->factor));
    ig_substitute_definitions(&s->by);
    ig_substitute_block(&s->by, &s->graph->body);
    guard_extent(s, e, extent);
    s->run->changed = true;
}

static bool solve_one(ig_pass_run *run, ig_graph *graph) {
    solver s = { .run = run, .module = graph->module, .graph = graph };
    equation found;
    ig_substitution_init(&s.by, s.module, run->scratch);
    ig_symbols_init(&s.symbols, graph, run->scratch);
    bool is_found = find_equation(&s, &found);
    if (is_found) {
        use_equation(&s, &found);
    }
    return is_found;
}

ig_status ig_pass_solve_extents(ig_pass_run *run, ig_graph *graph) {
    while (solve_one(run, graph)) {
    }
    return IG_OK;
}
