/* Quotients of dims: floor, ceil and exact.
 * SPDX-License-Identifier: Apache-2.0
 *
 * floor(a / d) with a constant d > 0 goes through these steps:
 *
 *   1. terms that are multiples leave      floor((16*N + M) / 16) = N + floor(M / 16)
 *   2. the constant keeps 0 ... d-1      floor((M + 35) / 16) = 2 + floor((M + 3) / 16)
 *   3. a common factor is divided out      floor((4*M + 3) / 16) = floor(M / 4)
 *   4. nested quotients become one         floor(floor(M / 4) / 5) = floor(M / 20)
 *   5. a range within one step is constant floor(M / 16) = 0 for 0 <= M < 16
 *
 * and the atom that is left prints as ceil when its constant is d-1.  ceil(a / d) is
 * floor((a + d - 1) / d), so both roundings have one normal form.
 */
#include "base/checked.h"
#include "ir/dim/table.h"

#include <assert.h>

static int64_t gcd_of(int64_t a, int64_t b) { /* both >= 0 */
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* |value|, or 1 for INT64_MIN: as a divisor to look for, that is merely cautious. */
static int64_t size_of(int64_t value) {
    return value == INT64_MIN ? 1 : value < 0 ? -value : value;
}

/* ---- by a constant ---- */

/* A numerator taken apart: quotient * d + rest. */
typedef struct split {
    ig_dim quotient, rest;
} split;

/* Is every value of the term a multiple of d, by its coefficient or its symbols? */
static bool is_multiple(const ig_dim_table *table, const ig_dim_term *term, int64_t d) {
    int64_t left = d / gcd_of(d, size_of(term->coefficient));
    for (uint32_t i = 0; i < term->monomial->degree && left > 1; i++) {
        const ig_dim_atom *atom = term->monomial->atoms[i];
        if (atom->kind == IG_DIM_SYMBOL) {
            int64_t multiple = table->symbols.items[atom->symbol]->symbol.multiple;
            left /= gcd_of(left, size_of(multiple));
        }
    }
    return left == 1;
}

/* What divides every value of the term. */
static int64_t term_divisor(const ig_dim_table *table, const ig_dim_term *term) {
    int64_t divisor = size_of(term->coefficient), more;
    for (uint32_t i = 0; i < term->monomial->degree; i++) {
        const ig_dim_atom *atom = term->monomial->atoms[i];
        if (atom->kind == IG_DIM_SYMBOL) {
            int64_t multiple = table->symbols.items[atom->symbol]->symbol.multiple;
            divisor = ig_mul_i64(divisor, size_of(multiple), &more) ? more : divisor;
        }
    }
    return divisor;
}

int64_t ig_dim_divisor(const ig_module *module, ig_dim dim) {
    ig_dim_term room;
    uint32_t count;
    assert(module->dims && "the module has a table of dims");
    const ig_dim_term *terms = ig_dim_terms(module->dims, dim, &room, &count);
    int64_t divisor = 0;
    for (uint32_t i = 0; i < count; i++) {
        divisor = gcd_of(divisor, term_divisor(module->dims, &terms[i]));
    }
    return divisor;
}

static bool split_terms(ig_dim_table *table, ig_dim a, int64_t d, split *out) {
    ig_dim_term room;
    uint32_t count;
    const ig_dim_term *terms = ig_dim_terms(table, a, &room, &count);
    ig_dim_sum quotient, rest;
    ig_dim_sum_start(&quotient);
    ig_dim_sum_start(&rest);
    for (uint32_t i = 0; i < count; i++) {
        const ig_dim_term *term = &terms[i];
        if (term->coefficient % d == 0) {
            ig_dim_sum_add(table, &quotient, term->coefficient / d, term->monomial);
        } else if (term->monomial->degree == 0) {
            int64_t whole = ig_floor_div(term->coefficient, d);
            ig_dim_sum_add(table, &quotient, whole, table->one);
            ig_dim_sum_add(table, &rest, term->coefficient - whole * d, table->one);
        } else if (is_multiple(table, term, d)) {
            ig_dim part, exact;
            ig_dim_sum single;
            ig_dim_sum_start(&single);
            ig_dim_sum_add(table, &single, term->coefficient, term->monomial);
            if (!ig_dim_sum_finish(table, &single, &part)) {
                return false;
            }
            exact = ig_dim_exact_div(table->module, part, ig_dim_of(d));
            ig_dim_sum_add_dim(table, &quotient, (ig_dim_term){ 1, table->one }, exact);
        } else {
            ig_dim_sum_add(table, &rest, term->coefficient, term->monomial);
        }
    }
    return ig_dim_sum_finish(table, &quotient, &out->quotient) &&
           ig_dim_sum_finish(table, &rest, &out->rest);
}

/* The constant of an expression: its last term when that has degree 0. */
static int64_t constant_part(const ig_dim_term *terms, uint32_t count) {
    bool has = count && terms[count - 1].monomial->degree == 0;
    return has ? terms[count - 1].coefficient : 0;
}

static ig_dim floor_by(ig_dim_table *table, ig_dim a, int64_t d, int depth);

/* Step 3: divides the terms and d by their common factor, and floors the constant. */
static bool divide_common(ig_dim_table *table, ig_dim rest, int64_t d, ig_dim *out_rest,
                          int64_t *out_d) {
    ig_dim_term room;
    uint32_t count;
    const ig_dim_term *terms = ig_dim_terms(table, rest, &room, &count);
    int64_t common = d;
    for (uint32_t i = 0; i < count; i++) {
        if (terms[i].monomial->degree) {
            common = gcd_of(common, size_of(terms[i].coefficient));
        }
    }
    if (common <= 1) {
        return false;
    }
    ig_dim_sum sum;
    ig_dim_sum_start(&sum);
    for (uint32_t i = 0; i < count; i++) {
        ig_dim_sum_add(table, &sum, ig_floor_div(terms[i].coefficient, common),
                       terms[i].monomial);
    }
    *out_d = d / common;
    return ig_dim_sum_finish(table, &sum, out_rest);
}

/* Step 4: floor(x / c) + k over d is x + k*c over c*d; the same for ceil. */
static bool flatten_quotient(ig_dim_table *table, ig_dim rest, int64_t d,
                             ig_dim *out_rest, int64_t *out_d) {
    ig_dim_term room;
    uint32_t count;
    const ig_dim_term *terms = ig_dim_terms(table, rest, &room, &count);
    int64_t k = constant_part(terms, count);
    if (count != 1 + (k != 0) || terms[0].coefficient != 1 ||
        terms[0].monomial->degree != 1) {
        return false;
    }
    const ig_dim_atom *atom = terms[0].monomial->atoms[0];
    bool is_ceil = atom->kind == IG_DIM_CEIL;
    int64_t c, add;
    if ((atom->kind != IG_DIM_FLOOR && !is_ceil) || !ig_dim_known(atom->b, &c) ||
        c == 0 || !ig_mul_i64(c, d, out_d) || !ig_mul_i64(k, c, &add) ||
        (is_ceil && !ig_add_i64(add, c - 1, &add))) {
        return false;
    }
    ig_dim_sum sum;
    ig_dim_sum_start(&sum);
    ig_dim_sum_add_dim(table, &sum, (ig_dim_term){ 1, table->one }, atom->a);
    ig_dim_sum_add(table, &sum, add, table->one);
    return ig_dim_sum_finish(table, &sum, out_rest);
}

/* floor(-x / d) = -ceil(x / d): the leading coefficient of the rest is positive. */
static ig_dim floor_of_negative(ig_dim_table *table, ig_dim rest, int64_t d,
                                int depth) {
    ig_dim_sum sum;
    ig_dim_sum_start(&sum);
    ig_dim_sum_add_dim(table, &sum, (ig_dim_term){ -1, table->one }, rest);
    ig_dim_sum_add(table, &sum, d - 1, table->one);
    ig_dim positive;
    if (!ig_dim_sum_finish(table, &sum, &positive)) {
        return ig_dim_make_atom(table, IG_DIM_FLOOR, rest, ig_dim_of(d));
    }
    return ig_dim_sub(table->module, ig_dim_of(0),
                      floor_by(table, positive, d, depth + 1));
}

/* The rest after steps 1 and 2: its leading coefficient is no multiple of d, its
 * constant is in 0 … d-1. */
static ig_dim floor_of_rest(ig_dim_table *table, ig_dim rest, int64_t d, int depth) {
    enum { DEPTH = 2 * IG_DIM_DEPTH_MAX };
    ig_dim_interval range = ig_dim_interval_of(table, rest);
    if (range.min != INT64_MIN && range.max != INT64_MAX &&
        ig_floor_div(range.min, d) == ig_floor_div(range.max, d)) {
        return ig_dim_const(table->module, ig_floor_div(range.min, d));
    }
    ig_dim_term room;
    uint32_t count;
    const ig_dim_term *terms = ig_dim_terms(table, rest, &room, &count);
    ig_dim simpler;
    int64_t divisor;
    if (depth < DEPTH) {
        if (terms[0].coefficient < 0) {
            return floor_of_negative(table, rest, d, depth);
        }
        if (divide_common(table, rest, d, &simpler, &divisor) ||
            flatten_quotient(table, rest, d, &simpler, &divisor)) {
            return floor_by(table, simpler, divisor, depth + 1);
        }
    }
    if (constant_part(terms, count) == d - 1) {
        ig_dim whole = ig_dim_sub(table->module, rest, ig_dim_of(d - 1));
        return ig_dim_make_atom(table, IG_DIM_CEIL, whole, ig_dim_of(d));
    }
    return ig_dim_make_atom(table, IG_DIM_FLOOR, rest, ig_dim_of(d));
}

static ig_dim floor_by(ig_dim_table *table, ig_dim a, int64_t d, int depth) {
    if (d == 1) {
        return a;
    }
    split parts;
    if (!split_terms(table, a, d, &parts)) {
        return ig_dim_make_atom(table, IG_DIM_FLOOR, a, ig_dim_of(d));
    }
    if (ig_dim_is(parts.rest, 0)) {
        return parts.quotient;
    }
    ig_dim rest = floor_of_rest(table, parts.rest, d, depth);
    return ig_dim_add(table->module, parts.quotient, rest);
}

/* ---- by an expression ---- */

/* Terms that b divides leave, when b is one term: floor((B*N + M) / B). */
static bool split_by_term(ig_dim_table *table, ig_dim a, ig_dim b, split *out) {
    ig_dim_term room_a, room_b;
    uint32_t count_a, count_b;
    const ig_dim_term *terms = ig_dim_terms(table, a, &room_a, &count_a);
    const ig_dim_term *by = ig_dim_terms(table, b, &room_b, &count_b);
    if (count_b != 1 || by->coefficient <= 0) {
        return false;
    }
    ig_dim_sum quotient, rest;
    ig_dim_sum_start(&quotient);
    ig_dim_sum_start(&rest);
    for (uint32_t i = 0; i < count_a; i++) {
        const ig_dim_monomial *monomial = ig_dim_monomial_over(table, terms[i].monomial,
                                                               by->monomial);
        bool leaves = monomial && terms[i].coefficient % by->coefficient == 0;
        ig_dim_sum_add(table, leaves ? &quotient : &rest,
                       leaves ? terms[i].coefficient / by->coefficient
                              : terms[i].coefficient,
                       leaves ? monomial : terms[i].monomial);
    }
    return quotient.count && ig_dim_sum_finish(table, &quotient, &out->quotient) &&
           ig_dim_sum_finish(table, &rest, &out->rest);
}

static ig_dim round_by_dim(ig_module *module, ig_dim_opcode kind, ig_dim a, ig_dim b) {
    ig_dim_table *table = module->dims;
    ig_dim quotient = ig_dim_of(0);
    if (ig_dim_is(a, 0) || ig_dim_divide(table, a, b, &quotient)) {
        return quotient;
    }
    split parts = { ig_dim_of(0), a };
    if (!split_by_term(table, a, b, &parts)) {
        parts = (split){ ig_dim_of(0), a };
    }
    ig_dim_interval rest = ig_dim_interval_of(table, parts.rest);
    ig_dim_interval by = ig_dim_interval_of(table, b);
    if (kind == IG_DIM_FLOOR && rest.min >= 0 && by.min > 0 && rest.max < by.min) {
        return parts.quotient;
    }
    return ig_dim_add(module, parts.quotient,
                      ig_dim_make_atom(table, kind, parts.rest, b));
}

/* Signs of a constant divisor go into the numerator. */
static bool positive_divisor(ig_module *module, ig_dim *a, ig_dim b, int64_t *out_d) {
    if (!ig_dim_constant(module, b, out_d) || *out_d == 0 || *out_d == INT64_MIN) {
        return false;
    }
    if (*out_d < 0) {
        *a = ig_dim_sub(module, ig_dim_of(0), *a);
        *out_d = -*out_d;
    }
    return true;
}

ig_dim ig_dim_floor_div(ig_module *module, ig_dim a, ig_dim b) {
    assert(ig_dim_belongs(module, a) && "a dim of another module");
    assert(ig_dim_belongs(module, b) && "a dim of another module");
    int64_t d;
    if (ig_dim_is(b, 0)) {
        return ig_dim_make_atom(module->dims, IG_DIM_FLOOR, a, b); /* has no value */
    }
    return positive_divisor(module, &a, b, &d)
               ? floor_by(module->dims, a, d, 0)
               : round_by_dim(module, IG_DIM_FLOOR, a, b);
}

ig_dim ig_dim_ceil_div(ig_module *module, ig_dim a, ig_dim b) {
    assert(ig_dim_belongs(module, a) && "a dim of another module");
    assert(ig_dim_belongs(module, b) && "a dim of another module");
    int64_t d;
    if (ig_dim_is(b, 0)) {
        return ig_dim_make_atom(module->dims, IG_DIM_CEIL, a, b); /* has no value */
    }
    if (!positive_divisor(module, &a, b, &d)) {
        return round_by_dim(module, IG_DIM_CEIL, a, b);
    }
    return floor_by(module->dims, ig_dim_add(module, a, ig_dim_of(d - 1)), d, 0);
}

/* ---- exact ---- */

/* The common factor of all terms of both: a positive number and a monomial. */
static ig_dim_term common_factor(ig_dim_table *table, ig_dim a, ig_dim b) {
    ig_dim_term common = { 0, NULL };
    ig_dim dims[2] = { a, b };
    for (int k = 0; k < 2; k++) {
        ig_dim_term room;
        uint32_t count;
        const ig_dim_term *terms = ig_dim_terms(table, dims[k], &room, &count);
        for (uint32_t i = 0; i < count; i++) {
            common.coefficient = gcd_of(common.coefficient,
                                        size_of(terms[i].coefficient));
            common.monomial = common.monomial
                                  ? ig_dim_monomial_common(table, common.monomial,
                                                           terms[i].monomial)
                                  : terms[i].monomial;
        }
    }
    return common;
}

static bool divide_by_term(ig_dim_table *table, ig_dim *dim, ig_dim_term by) {
    ig_dim divisor;
    ig_dim_sum sum;
    ig_dim_sum_start(&sum);
    ig_dim_sum_add(table, &sum, by.coefficient, by.monomial);
    return ig_dim_sum_finish(table, &sum, &divisor) &&
           ig_dim_divide(table, *dim, divisor, dim);
}

/* The exact(p / q) inside a one-term dim, as (m*p, q); false: none. */
static bool open_exact(ig_dim_table *table, ig_dim dim, ig_dim *out_p, ig_dim *out_q) {
    ig_dim_term room;
    uint32_t count;
    const ig_dim_term *terms = ig_dim_terms(table, dim, &room, &count);
    const ig_dim_monomial *monomial = count == 1 ? terms[0].monomial : table->one;
    for (uint32_t i = 0; i < monomial->degree; i++) {
        const ig_dim_atom *atom = monomial->atoms[i];
        if (atom->kind == IG_DIM_EXACT) {
            const ig_dim_monomial *self = ig_dim_monomial_intern(table, &atom, 1);
            const ig_dim_monomial *rest = ig_dim_monomial_over(table, monomial, self);
            ig_dim_sum sum;
            ig_dim_sum_start(&sum);
            ig_dim_sum_add_dim(table, &sum, (ig_dim_term){ terms[0].coefficient, rest },
                               atom->a);
            *out_q = atom->b;
            return ig_dim_sum_finish(table, &sum, out_p);
        }
    }
    return false;
}

/* Each call of itself has one exact atom less, so the recursion is bounded by degree
 * and depth. */
ig_dim ig_dim_exact_div(ig_module *module, ig_dim a, ig_dim b) {
    assert(ig_dim_belongs(module, a) && "a dim of another module");
    assert(ig_dim_belongs(module, b) && "a dim of another module");
    ig_dim_table *table = module->dims;
    ig_dim quotient, p, q;
    if (ig_dim_is(b, 0)) {
        return ig_dim_make_atom(table, IG_DIM_EXACT, a, b); /* has no value */
    }
    if (ig_dim_is(a, 0) || ig_dim_is(b, 1)) {
        return a;
    }
    if (ig_dim_divide(table, a, b, &quotient)) {
        return quotient;
    }
    ig_dim_term common = common_factor(table, a, b);
    ig_dim_term room;
    uint32_t count;
    if (ig_dim_terms(table, b, &room, &count)[0].coefficient < 0) {
        common.coefficient = -common.coefficient;
    }
    ig_dim top = a, bottom = b;
    if ((common.coefficient != 1 || common.monomial->degree) &&
        divide_by_term(table, &top, common) && divide_by_term(table, &bottom, common)) {
        return ig_dim_exact_div(module, top, bottom);
    }
    if (open_exact(table, a, &p, &q)) { /* (m * p/q) / b = m*p / (q*b) */
        return ig_dim_exact_div(module, p, ig_dim_mul(module, q, b));
    }
    if (open_exact(table, b, &p, &q)) { /* a / (m * p/q) = a*q / (m*p) */
        return ig_dim_exact_div(module, ig_dim_mul(module, a, q), p);
    }
    return ig_dim_make_atom(table, IG_DIM_EXACT, a, b);
}
