/* unify: symbols that entry guards equate, or that one value binds, become one symbol.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     graph @main(%x: f32[B, 13], %off: i64[B_1]) { guard eq(B, B_1) "…" … }
 *   becomes
 *     graph @main(%x: f32[B, 13], %off: i64[B]) { … }
 *
 * and
 *
 *     guard eq(L, 2*floor(L / 2))             symbol L {multiple = 2}
 *     guard eq(B, C - 1)                      an input of extent B + 1 in place of C
 *     bind %n {symbols = [n]}            →    bind %n {symbols = [n]}
 *     bind %n {symbols = [n2]}
 *
 * Importers give every input dim its own symbol, because names in model files may be
 * wrong; guards state the equalities that the model needs.  A guard of the entry block
 * holds for
 * the whole run, so the rest of the compiler may as well know it.  The check moves to
 * the binding of shapes, which names the inputs and dims that disagree.
 *
 * Removes such guards and binds; keeps every other one (symbols that no input has
 * dim).
 */
#include "base/checked.h"
#include "passes/engine/guards.h"
#include "passes/engine/substitute.h"

#include <assert.h>

typedef struct unifier {
    ig_pass_run *run;
    ig_module *module;
    ig_graph *graph;
    ig_substitution by; /* the facts learnt */
    uint32_t symbol_count;
    bool *is_bound; /* symbols that an input's shape gives */
    ig_dim *dims;   /* those symbols themselves */
    int64_t *zeros; /* one a symbol */
} unifier;

/* ---- what guards say ---- */

static void find_bound(unifier *u) {
    for (uint32_t i = 0; i < u->graph->body.arg_count; i++) {
        const ig_type *type = u->graph->body.args[i]->type;
        for (uint32_t d = 0; d < type->rank; d++) {
            if (ig_dim_as_symbol(u->module, type->dims[d])) {
                uint32_t symbol = ig_symbol_index(u->module, type->dims[d]);
                u->is_bound[symbol] = true;
                u->dims[symbol] = type->dims[d];
            }
        }
    }
}

/* Fresh symbols made on the way have no row here: they are nobody's dim. */
static bool is_bound(const unifier *u, ig_dim dim) {
    uint32_t symbol = ig_symbol_index(u->module, dim);
    return symbol < u->symbol_count && u->is_bound[symbol];
}

/* A bound symbol may be replaced by `other` when that is itself known from inputs: a
 * symbol given by an input, or a number within the symbol's range. */
static bool may_become(const unifier *u, ig_dim dim, ig_dim other) {
    const ig_symbol *symbol = ig_dim_as_symbol(u->module, dim);
    if (!symbol || !is_bound(u, dim)) {
        return false;
    }
    if (ig_dim_is_static(other)) {
        int64_t number = ig_dim_value(other);
        return number >= symbol->min && number <= symbol->max &&
               number % symbol->multiple == 0;
    }
    bool is_symbol = ig_dim_as_symbol(u->module, other) != NULL;
    return is_symbol && is_bound(u, other) &&
           !ig_dim_mentions(u->module, other, ig_symbol_index(u->module, dim));
}

static int64_t gcd_of(int64_t a, int64_t b) {
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Facts of the symbol that goes are facts of the one that stays. */
static void merge_facts(unifier *u, ig_dim gone, ig_dim stays) {
    ig_symbol *to = ig_dim_as_symbol(u->module, stays);
    const ig_symbol *from = ig_dim_as_symbol(u->module, gone);
    if (!to) {
        return;
    }
    int64_t common = gcd_of(from->multiple, to->multiple), multiple;
    bool fits = ig_mul_i64(from->multiple / common, to->multiple, &multiple);
    to->multiple = fits ? multiple : to->multiple;
    to->min = from->min > to->min ? from->min : to->min;
    to->max = from->max < to->max ? from->max : to->max;
}

static void take_fact(unifier *u, ig_dim gone, ig_dim stays) {
    uint32_t symbol = ig_symbol_index(u->module, gone);
    merge_facts(u, gone, stays);
    u->by.by_symbol[symbol] = stays;
    for (uint32_t i = 0; i < u->symbol_count; i++) {
        if (i != symbol && !ig_dim_same(u->by.by_symbol[i], IG_DIM_KEEP)) {
            u->by.by_symbol[i] = ig_dim_substitute(u->module, u->by.by_symbol[i],
                                                   u->by.by_symbol);
        }
    }
}

static void note_symbol(void *user, uint32_t symbol) {
    *(uint32_t *)user = symbol;
}

/* 2 * L and 4 * floor(L / 2): the same without what both are multiplied by. */
static void divide_both(unifier *u, ig_dim *dim, ig_dim *rounded) {
    uint32_t symbol = UINT32_MAX;
    int64_t factor;
    ig_dim_visit_symbols(u->module, *dim, note_symbol, &symbol);
    if (symbol < u->symbol_count && u->is_bound[symbol] &&
        ig_dim_constant(u->module, ig_dim_exact_div(u->module, *dim, u->dims[symbol]),
                        &factor) &&
        factor > 1) {
        *dim = u->dims[symbol];
        *rounded = ig_dim_exact_div(u->module, *rounded, ig_dim_of(factor));
    }
}

/* An extent that is as it is when rounded is a multiple; floor(L / 2) is simpler then,
 * so everything that mentions it is written down anew. */
static bool take_multiple(unifier *u, ig_dim dim, ig_dim rounded) {
    enum { MULTIPLE_MAX = 1 << 30 };
    divide_both(u, &dim, &rounded);
    ig_symbol *symbol = ig_dim_as_symbol(u->module, dim);
    ig_dim of;
    int64_t multiple;
    if (!symbol || !is_bound(u, dim) ||
        !ig_dim_as_rounded(u->module, rounded, &of, &multiple) ||
        !ig_dim_same(of, dim) || multiple > MULTIPLE_MAX ||
        symbol->multiple > MULTIPLE_MAX) {
        return false;
    }
    symbol->multiple *= multiple / gcd_of(multiple, symbol->multiple);
    u->by.by_symbol[ig_symbol_index(u->module, dim)] = dim;
    return true;
}

/* ---- sums ---- */

typedef struct solver {
    unifier *u;
    ig_dim rest; /* is 0 */
    bool is_solved;
} solver;

static void check_bound(void *user, uint32_t symbol) {
    solver *s = user;
    unifier *u = s->u;
    s->is_solved = s->is_solved && symbol < u->symbol_count && u->is_bound[symbol];
}

/* Is `other` known from inputs, and always within the symbol's range?  Of two extents
 * the longer is expressed by the shorter. */
static bool is_value_of(unifier *u, const ig_symbol *symbol, ig_dim other) {
    solver bound = { .u = u, .is_solved = true };
    int64_t low, high, min;
    ig_dim_visit_symbols(u->module, other, check_bound, &bound);
    ig_dim_range(u->module, other, &low, &high);
    return bound.is_solved && ig_dim_is_polynomial(u->module, other) &&
           ig_dim_evaluate(u->module, other, u->zeros, &min) && min >= 0 &&
           symbol->multiple == 1 && low >= symbol->min && high <= symbol->max;
}

static void solve_for(void *user, uint32_t symbol) {
    solver *s = user;
    unifier *u = s->u;
    if (s->is_solved || symbol >= u->symbol_count || !u->is_bound[symbol]) {
        return;
    }
    ig_dim dim = u->dims[symbol];
    ig_dim plus = ig_dim_sub(u->module, dim, s->rest);  /* x, where rest is S - x */
    ig_dim minus = ig_dim_add(u->module, dim, s->rest); /* x, where it is x - S */
    ig_dim other = ig_dim_mentions(u->module, plus, symbol) ? minus : plus;
    if (!ig_dim_mentions(u->module, other, symbol) &&
        is_value_of(u, ig_dim_as_symbol(u->module, dim), other)) {
        take_fact(u, dim, other);
        s->is_solved = true;
    }
}

/* C - 1 = B: the extent C is B + 1. */
static bool solve_equality(unifier *u, ig_dim left, ig_dim right) {
    solver s = { .u = u, .rest = ig_dim_sub(u->module, left, right) };
    ig_dim_visit_symbols(u->module, s.rest, solve_for, &s);
    return s.is_solved;
}

/* A lower bound: roundings and clamps below it simplify. */
static bool take_min(unifier *u, const ig_op *guard) {
    ig_dim left = guard->attrs[IG_guard_left].as.dim,
           dim = guard->attrs[IG_guard_right].as.dim;
    ig_symbol *symbol = ig_dim_as_symbol(u->module, dim);
    if (!symbol || !is_bound(u, dim) || !ig_dim_is_static(left) ||
        !ig_dim_same(u->by.by_symbol[ig_symbol_index(u->module, dim)], IG_DIM_KEEP) ||
        ig_dim_value(left) > symbol->max) {
        return false;
    }
    symbol->min = ig_dim_value(left) > symbol->min ? ig_dim_value(left) : symbol->min;
    u->by.by_symbol[ig_symbol_index(u->module, dim)] = dim;
    return true;
}

static bool use_guard(unifier *u, const ig_op *guard) {
    if (ig_attr_int(guard, IG_guard_test, 0) != 0) {
        return take_min(u, guard);
    }
    ig_dim left = ig_dim_substitute(u->module, guard->attrs[IG_guard_left].as.dim,
                                    u->by.by_symbol);
    ig_dim right = ig_dim_substitute(u->module, guard->attrs[IG_guard_right].as.dim,
                                     u->by.by_symbol);
    if (ig_dim_equal(u->module, left, right) == IG_YES) {
        return true;
    }
    if (take_multiple(u, left, right) || take_multiple(u, right, left)) {
        return true;
    }
    bool both = may_become(u, left, right) && may_become(u, right, left);
    bool keeps_left = both && ig_symbol_index(u->module, left) <
                                  ig_symbol_index(u->module, right);
    if (may_become(u, right, left) && (!both || keeps_left)) {
        take_fact(u, right, left);
        return true;
    }
    if (may_become(u, left, right)) {
        take_fact(u, left, right);
        return true;
    }
    return solve_equality(u, left, right);
}

/* ---- what binds say ---- */

/* The later of two binds of one value adds nothing but names. */
static bool use_bind(unifier *u, const ig_op *bind) {
    const ig_attr *symbols = &bind->attrs[IG_bind_symbols], *first = NULL;
    for (const ig_op *op = bind->prev; op && !first; op = op->prev) {
        bool is_same = op->code == IG_OP_bind &&
                       op->operands[0].value == bind->operands[0].value &&
                       op->attrs[IG_bind_symbols].count == symbols->count;
        first = is_same ? &op->attrs[IG_bind_symbols] : NULL;
    }
    for (uint32_t i = 0; first && i < symbols->count; i++) {
        bool is_free = ig_dim_as_symbol(u->module, symbols->as.dims[i]) &&
                       ig_dim_as_symbol(u->module, first->as.dims[i]) &&
                       ig_symbol_index(u->module, symbols->as.dims[i]) <
                           u->symbol_count &&
                       !is_bound(u, symbols->as.dims[i]);
        first = is_free ? first : NULL;
    }
    for (uint32_t i = 0; first && i < symbols->count; i++) {
        ig_dim stays = ig_dim_substitute(u->module, first->as.dims[i], u->by.by_symbol);
        if (!ig_dim_same(stays, symbols->as.dims[i])) {
            take_fact(u, symbols->as.dims[i], stays);
        }
    }
    return first != NULL;
}

ig_status ig_pass_unify(ig_pass_run *run, ig_graph *graph) {
    unifier u = { .run = run,
                  .module = graph->module,
                  .graph = graph,
                  .symbol_count = ig_symbol_count(graph->module) };
    ig_substitution_init(&u.by, u.module, run->scratch);
    u.is_bound = IG_NEW_ARRAY(run->scratch, bool, u.symbol_count);
    u.dims = IG_NEW_ARRAY(run->scratch, ig_dim, u.symbol_count);
    u.zeros = IG_NEW_ARRAY(run->scratch, int64_t, u.symbol_count);
    find_bound(&u);
    for (ig_op *op = graph->body.first, *next; op; op = next) {
        next = op->next;
        if ((op->code == IG_OP_guard && use_guard(&u, op)) ||
            (op->code == IG_OP_bind && use_bind(&u, op))) {
            ig_op_erase(op);
            run->changed = true;
        }
    }
    if (run->changed) {
        ig_substitute_definitions(&u.by);
        ig_substitute_block(&u.by, &graph->body);
    }
    return run->changed ? ig_learnt_check(run, graph) : IG_OK;
}
