/* Arithmetic of dims: from operation to normal form.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Sums and products distribute into terms (sum.c).  Quotients, extremes and
 * broadcast extents become atoms after everything that can be taken out of them was
 * taken out:
 *
 *     floor((32*N + 5) / 16)  =  2*N
 *     floor((N + 15) / 16)    =  ceil(N / 16)     one form for both roundings
 *     exact(4*B*S / (2*B))    =  2*S              also where B may be 0
 *     min(B, B + 1)           =  B
 *     bcast(B, 1)             =  B
 */
#include "base/checked.h"
#include "ir/dim/table.h"

#include <assert.h>

static const ig_dim_monomial *one_of(const ig_module *module) {
    return module->dims->one;
}

ig_dim ig_dim_const(ig_module *module, int64_t value) {
    if (value >= 0) {
        return ig_dim_of(value);
    }
    ig_dim_sum sum;
    ig_dim_sum_start(&sum);
    ig_dim_sum_add(module->dims, &sum, value, one_of(module));
    ig_dim dim = ig_dim_of(0);
    (void)ig_dim_sum_finish(module->dims, &sum, &dim); /* one term always fits */
    return dim;
}

bool ig_dim_constant(const ig_module *module, ig_dim dim, int64_t *out_value) {
    assert(ig_dim_belongs(module, dim) && "a dim of another module");
    ig_dim_term room;
    uint32_t count;
    const ig_dim_term *terms = ig_dim_terms(module->dims, dim, &room, &count);
    if (count == 0) {
        *out_value = 0;
        return true;
    }
    if (count > 1 || terms[0].monomial->degree != 0) {
        return false;
    }
    *out_value = terms[0].coefficient;
    return true;
}

/* ---- sums and products ---- */

/* a + factor * b, or false when it passes a limit. */
static bool add_scaled(ig_module *module, ig_dim a, int64_t factor, ig_dim b,
                       ig_dim *out) {
    ig_dim_sum sum;
    ig_dim_sum_start(&sum);
    ig_dim_sum_add_dim(module->dims, &sum, (ig_dim_term){ 1, one_of(module) }, a);
    ig_dim_sum_add_dim(module->dims, &sum, (ig_dim_term){ factor, one_of(module) }, b);
    return ig_dim_sum_finish(module->dims, &sum, out);
}

ig_dim ig_dim_add(ig_module *module, ig_dim a, ig_dim b) {
    assert(ig_dim_belongs(module, a) && "a dim of another module");
    assert(ig_dim_belongs(module, b) && "a dim of another module");
    int64_t left, right, known;
    ig_dim sum;
    if (ig_dim_known(a, &left) && ig_dim_known(b, &right) &&
        ig_add_i64(left, right, &known)) {
        return ig_dim_of(known);
    }
    return add_scaled(module, a, 1, b, &sum)
               ? sum
               : ig_dim_fresh(module->dims, IG_DIM_ADD, a, b);
}

static ig_dim negate_dim(ig_module *module, ig_dim a) {
    ig_dim negative;
    return add_scaled(module, ig_dim_of(0), -1, a, &negative)
               ? negative
               : ig_dim_fresh(module->dims, IG_DIM_MUL, a, ig_dim_const(module, -1));
}

ig_dim ig_dim_sub(ig_module *module, ig_dim a, ig_dim b) {
    assert(ig_dim_belongs(module, a) && "a dim of another module");
    assert(ig_dim_belongs(module, b) && "a dim of another module");
    ig_dim difference;
    return add_scaled(module, a, -1, b, &difference)
               ? difference
               : ig_dim_fresh(module->dims, IG_DIM_ADD, a, negate_dim(module, b));
}

static bool multiply_dims(ig_dim_table *table, ig_dim a, ig_dim b, ig_dim *out) {
    ig_dim_term room;
    uint32_t count;
    const ig_dim_term *terms = ig_dim_terms(table, a, &room, &count);
    ig_dim_sum sum;
    ig_dim_sum_start(&sum);
    for (uint32_t i = 0; i < count; i++) {
        ig_dim_sum_add_dim(table, &sum, terms[i], b);
    }
    return ig_dim_sum_finish(table, &sum, out);
}

/* The exact(p / q) of a one-term dim and its cofactor; NULL: none. */
static const ig_dim_atom *exact_factor(ig_dim_table *table, ig_dim dim,
                                       ig_dim_term *out_rest) {
    ig_dim_term room;
    uint32_t count;
    const ig_dim_term *terms = ig_dim_terms(table, dim, &room, &count);
    if (count != 1) {
        return NULL;
    }
    const ig_dim_monomial *monomial = terms[0].monomial;
    for (uint32_t i = 0; i < monomial->degree; i++) {
        if (monomial->atoms[i]->kind == IG_DIM_EXACT) {
            const ig_dim_monomial *self =
                ig_dim_monomial_intern(table, &monomial->atoms[i], 1);
            *out_rest = (ig_dim_term){ terms[0].coefficient,
                                       ig_dim_monomial_over(table, monomial, self) };
            return monomial->atoms[i];
        }
    }
    return NULL;
}

/* factor * dim. */
static bool scale_dim(ig_dim_table *table, ig_dim_term factor, ig_dim dim,
                      ig_dim *out) {
    ig_dim_sum sum;
    ig_dim_sum_start(&sum);
    ig_dim_sum_add_dim(table, &sum, factor, dim);
    return ig_dim_sum_finish(table, &sum, out);
}

/* m*exact(p / q) * b = m*p * (b/q) when q divides b as a whole: for divisors of several
 * terms, which distributing would tear apart. */
static bool multiply_exact(ig_dim_table *table, ig_dim a, ig_dim b, ig_dim *out) {
    ig_dim_term rest;
    const ig_dim_atom *atom = exact_factor(table, a, &rest);
    ig_dim quotient, product;
    return atom && ig_dim_divide(table, b, atom->b, &quotient) &&
           multiply_dims(table, atom->a, quotient, &product) &&
           scale_dim(table, rest, product, out);
}

ig_dim ig_dim_mul(ig_module *module, ig_dim a, ig_dim b) {
    assert(ig_dim_belongs(module, a) && "a dim of another module");
    assert(ig_dim_belongs(module, b) && "a dim of another module");
    int64_t left, right, known;
    ig_dim product;
    if (ig_dim_known(a, &left) && ig_dim_known(b, &right) &&
        ig_mul_i64(left, right, &known)) {
        return ig_dim_of(known);
    }
    if (multiply_exact(module->dims, a, b, &product) ||
        multiply_exact(module->dims, b, a, &product) ||
        multiply_dims(module->dims, a, b, &product)) {
        return product;
    }
    return ig_dim_fresh(module->dims, IG_DIM_MUL, a, b);
}

ig_dim ig_dim_product(ig_module *module, const ig_dim *dims, uint32_t count) {
    assert((dims || !count) && "a product has its factors");
    ig_dim product = ig_dim_of(1);
    for (uint32_t i = 0; i < count; i++) {
        product = ig_dim_mul(module, product, dims[i]);
    }
    return product;
}

/* ---- atoms ---- */

/* The atom that a dim is, when it is of `kind`. */
static const ig_dim_atom *as_atom(const ig_module *module, ig_dim dim,
                                  ig_dim_opcode kind) {
    ig_dim_term room;
    uint32_t count;
    const ig_dim_term *terms = ig_dim_terms(module->dims, dim, &room, &count);
    if (count != 1 || terms[0].coefficient != 1 || terms[0].monomial->degree != 1) {
        return NULL;
    }
    const ig_dim_atom *atom = terms[0].monomial->atoms[0];
    return atom->kind == kind ? atom : NULL;
}

/* `first` <= `second` where `kind` is MIN, the other way round where it is MAX. */
static bool is_ordered(const ig_module *module, ig_dim_opcode kind, ig_dim first,
                       ig_dim second) {
    return kind == IG_DIM_MIN ? ig_dim_less_equal(module, first, second) == IG_YES
                              : ig_dim_less_equal(module, second, first) == IG_YES;
}

static ig_dim make_extreme(ig_module *module, ig_dim_opcode kind, ig_dim a, ig_dim b);

/* min(min(p, q), b) where b is comparable with p or q. */
static bool absorb_operand(ig_module *module, ig_dim_opcode kind, ig_dim a, ig_dim b,
                           ig_dim *out) {
    const ig_dim_atom *inner = as_atom(module, a, kind);
    if (!inner) {
        return false;
    }
    bool drops_p = is_ordered(module, kind, b, inner->a);
    if (!drops_p && !is_ordered(module, kind, b, inner->b)) {
        return false;
    }
    *out = make_extreme(module, kind, drops_p ? inner->b : inner->a, b);
    return true;
}

/* Each step of `absorb_operand` takes an atom away, so the recursion is bounded by
 * depth. */
static ig_dim make_extreme(ig_module *module, ig_dim_opcode kind, ig_dim a, ig_dim b) {
    ig_dim out;
    if (is_ordered(module, kind, a, b)) {
        return a;
    }
    if (is_ordered(module, kind, b, a)) {
        return b;
    }
    if (absorb_operand(module, kind, a, b, &out) ||
        absorb_operand(module, kind, b, a, &out)) {
        return out;
    }
    bool is_swapped = ig_dim_compare(module->dims, a, b) > 0;
    return ig_dim_make_atom(module->dims, kind, is_swapped ? b : a, is_swapped ? a : b);
}

ig_dim ig_dim_min(ig_module *module, ig_dim a, ig_dim b) {
    assert(ig_dim_belongs(module, a) && "a dim of another module");
    assert(ig_dim_belongs(module, b) && "a dim of another module");
    return make_extreme(module, IG_DIM_MIN, a, b);
}

ig_dim ig_dim_max(ig_module *module, ig_dim a, ig_dim b) {
    assert(ig_dim_belongs(module, a) && "a dim of another module");
    assert(ig_dim_belongs(module, b) && "a dim of another module");
    return make_extreme(module, IG_DIM_MAX, a, b);
}

ig_dim ig_dim_bcast(ig_module *module, ig_dim a, ig_dim b) {
    assert(ig_dim_belongs(module, a) && "a dim of another module");
    assert(ig_dim_belongs(module, b) && "a dim of another module");
    if (ig_dim_is(a, 1)) {
        return b;
    }
    if (ig_dim_is(b, 1) || ig_dim_same(a, b) ||
        ig_dim_equal(module, a, ig_dim_of(1)) == IG_NO ||
        ig_dim_equal(module, a, b) == IG_YES) {
        return a;
    }
    const ig_dim_atom *left = as_atom(module, a, IG_DIM_BCAST);
    if (left && (ig_dim_same(left->a, b) || ig_dim_same(left->b, b))) {
        return a;
    }
    const ig_dim_atom *right = as_atom(module, b, IG_DIM_BCAST);
    if (right && ig_dim_same(right->a, a)) {
        return b;
    }
    if (right && ig_dim_same(right->b, a)) {
        return ig_dim_bcast(module, a, right->a);
    }
    return ig_dim_make_atom(module->dims, IG_DIM_BCAST, a, b);
}
