/* Ranges of expressions, and three-valued comparison by them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Interval arithmetic.  INT64_MIN and INT64_MAX mean "no bound" and stay so through
 * every operation, so a bound that overflows is lost, never wrong.
 */
#include "base/checked.h"
#include "ir/dim/table.h"

#include <assert.h>

static const ig_dim_interval unbounded = { INT64_MIN, INT64_MAX };

static int64_t min_of(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t max_of(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static bool is_end(int64_t value) {
    return value == INT64_MIN || value == INT64_MAX;
}

static int64_t add_ends(int64_t a, int64_t b, int64_t when_lost) {
    int64_t sum;
    return is_end(a) || is_end(b) || !ig_add_i64(a, b, &sum) ? when_lost : sum;
}

static int64_t mul_ends(int64_t a, int64_t b) {
    int64_t product;
    if (a == 0 || b == 0) {
        return 0;
    }
    if (is_end(a) || is_end(b) || !ig_mul_i64(a, b, &product)) {
        return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
    }
    return product;
}

static ig_dim_interval add_intervals(ig_dim_interval a, ig_dim_interval b) {
    return (ig_dim_interval){ add_ends(a.min, b.min, INT64_MIN),
                              add_ends(a.max, b.max, INT64_MAX) };
}

static ig_dim_interval mul_intervals(ig_dim_interval a, ig_dim_interval b) {
    int64_t p = mul_ends(a.min, b.min), q = mul_ends(a.min, b.max);
    int64_t r = mul_ends(a.max, b.min), s = mul_ends(a.max, b.max);
    return (ig_dim_interval){ min_of(min_of(p, q), min_of(r, s)),
                              max_of(max_of(p, q), max_of(r, s)) };
}

/* Of a quotient rounded in any way; a divisor of 0 has no value, so it does not
 * count. */
static ig_dim_interval div_intervals(ig_dim_opcode kind, ig_dim_interval a,
                                     ig_dim_interval b) {
    int64_t low = max_of(b.min, 1);
    if (b.min < 0 || b.max < 1) {
        return unbounded;
    }
    bool is_ceil = kind == IG_DIM_CEIL;
    ig_dim_interval range = unbounded;
    if (!is_end(a.min)) {
        int64_t by = a.min >= 0 ? b.max : low;
        range.min = is_ceil ? ig_ceil_div(a.min, by) : ig_floor_div(a.min, by);
    }
    if (!is_end(a.max)) {
        int64_t by = a.max >= 0 ? low : b.max;
        range.max = is_ceil ? ig_ceil_div(a.max, by) : ig_floor_div(a.max, by);
    }
    return range;
}

ig_dim_interval ig_dim_interval_apply(ig_dim_opcode kind, ig_dim_interval a,
                                      ig_dim_interval b) {
    switch (kind) {
    case IG_DIM_ADD:
        return add_intervals(a, b);
    case IG_DIM_MUL:
        return mul_intervals(a, b);
    case IG_DIM_MIN:
        return (ig_dim_interval){ min_of(a.min, b.min), min_of(a.max, b.max) };
    case IG_DIM_MAX:
        return (ig_dim_interval){ max_of(a.min, b.min), max_of(a.max, b.max) };
    case IG_DIM_BCAST:
        return (ig_dim_interval){ min_of(a.min, b.min), max_of(a.max, b.max) };
    case IG_DIM_FLOOR:
    case IG_DIM_CEIL:
    case IG_DIM_EXACT:
        return div_intervals(kind, a, b);
    case IG_DIM_CONST:
    case IG_DIM_SYMBOL:
        break;
    }
    return unbounded;
}

/* Recursion is at most IG_DIM_DEPTH_MAX deep and visits IG_DIM_SIZE_MAX nodes. */
static ig_dim_interval atom_interval(const ig_dim_table *table,
                                     const ig_dim_atom *atom) {
    if (atom->kind == IG_DIM_SYMBOL) {
        const ig_symbol *symbol = &table->symbols.items[atom->symbol]->symbol;
        return (ig_dim_interval){ symbol->min, symbol->max };
    }
    return ig_dim_interval_apply(atom->kind, ig_dim_interval_of(table, atom->a),
                                 ig_dim_interval_of(table, atom->b));
}

static ig_dim_interval of_terms(const ig_dim_table *table, const ig_dim_term *terms,
                                uint32_t count) {
    ig_dim_interval total = { 0, 0 };
    for (uint32_t i = 0; i < count; i++) {
        ig_dim_interval product = { terms[i].coefficient, terms[i].coefficient };
        for (uint32_t k = 0; k < terms[i].monomial->degree; k++) {
            product = mul_intervals(product,
                                    atom_interval(table, terms[i].monomial->atoms[k]));
        }
        total = add_intervals(total, product);
    }
    return total;
}

ig_dim_interval ig_dim_interval_of(const ig_dim_table *table, ig_dim dim) {
    ig_dim_term room;
    uint32_t count;
    const ig_dim_term *terms = ig_dim_terms(table, dim, &room, &count);
    return of_terms(table, terms, count);
}

ig_dim_interval ig_dim_interval_of_sum(const ig_dim_table *table,
                                       const ig_dim_sum *sum) {
    return of_terms(table, sum->terms, sum->count);
}

void ig_dim_range(const ig_module *module, ig_dim dim, int64_t *out_min,
                  int64_t *out_max) {
    assert(ig_dim_belongs(module, dim) && "a dim of another module");
    ig_dim_interval range = ig_dim_interval_of(module->dims, dim);
    *out_min = range.min;
    *out_max = range.max;
}

/* ---- comparison ---- */

/* a - b as a sum, without interning it. */
static bool subtract_dims(ig_dim_table *table, ig_dim a, ig_dim b, ig_dim_sum *sum) {
    ig_dim_sum_start(sum);
    ig_dim_sum_add_dim(table, sum, (ig_dim_term){ 1, table->one }, a);
    ig_dim_sum_add_dim(table, sum, (ig_dim_term){ -1, table->one }, b);
    ig_dim_sum_join(table, sum);
    return !sum->failed;
}

static uint64_t magnitude_of(int64_t value) {
    return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

/* 2*B - 2*L + 1 is never 0: the common divisor of the other terms does not divide the
 * constant. */
static bool never_zero_by_gcd(const ig_dim_sum *sum) {
    uint64_t gcd = 0, constant = 0;
    for (uint32_t i = 0; i < sum->count; i++) {
        uint64_t a = magnitude_of(sum->terms[i].coefficient);
        if (sum->terms[i].monomial->degree == 0) {
            constant = a;
            continue;
        }
        while (a) {
            uint64_t rest = gcd % a;
            gcd = a;
            a = rest;
        }
    }
    return gcd > 1 && constant % gcd;
}

ig_truth ig_dim_equal(const ig_module *module, ig_dim a, ig_dim b) {
    assert(ig_dim_belongs(module, a) && "a dim of another module");
    assert(ig_dim_belongs(module, b) && "a dim of another module");
    if (ig_dim_same(a, b)) {
        return IG_YES;
    }
    if (ig_dim_is_static(a) && ig_dim_is_static(b)) {
        return IG_NO;
    }
    ig_dim_sum sum;
    if (!subtract_dims(module->dims, a, b, &sum)) {
        return IG_MAYBE;
    }
    if (sum.count == 0) {
        return IG_YES;
    }
    ig_dim_interval range = ig_dim_interval_of_sum(module->dims, &sum);
    if (range.min > 0 || range.max < 0 || never_zero_by_gcd(&sum)) {
        return IG_NO;
    }
    return range.min == 0 && range.max == 0 ? IG_YES : IG_MAYBE;
}

static ig_truth and_truths(ig_truth a, ig_truth b) {
    if (a == IG_NO || b == IG_NO) {
        return IG_NO;
    }
    return a == IG_YES && b == IG_YES ? IG_YES : IG_MAYBE;
}

static ig_truth or_truths(ig_truth a, ig_truth b) {
    if (a == IG_YES || b == IG_YES) {
        return IG_YES;
    }
    return a == IG_NO && b == IG_NO ? IG_NO : IG_MAYBE;
}

bool ig_dim_is_polynomial(const ig_module *module, ig_dim dim) {
    assert(ig_dim_belongs(module, dim) && "a dim of another module");
    ig_dim_term room;
    uint32_t count;
    const ig_dim_term *terms = ig_dim_terms(module->dims, dim, &room, &count);
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < terms[i].monomial->degree; k++) {
            if (terms[i].monomial->atoms[k]->kind != IG_DIM_SYMBOL) {
                return false;
            }
        }
    }
    return true;
}

bool ig_dim_as_rounded(const ig_module *module, ig_dim dim, ig_dim *out_of,
                       int64_t *out_multiple) {
    assert(ig_dim_belongs(module, dim) && "a dim of another module");
    ig_dim_term room;
    uint32_t count;
    const ig_dim_term *terms = ig_dim_terms(module->dims, dim, &room, &count);
    if (count != 1 || terms[0].monomial->degree != 1) {
        return false;
    }
    const ig_dim_atom *atom = terms[0].monomial->atoms[0];
    *out_of = atom->a;
    return atom->kind == IG_DIM_FLOOR && ig_dim_known(atom->b, out_multiple) &&
           *out_multiple > 1 && *out_multiple == terms[0].coefficient;
}

/* The atom that `dim` is when it is a min or max, else NULL. */
static const ig_dim_atom *as_extreme(const ig_dim_table *table, ig_dim dim) {
    ig_dim_term room;
    uint32_t count;
    const ig_dim_term *terms = ig_dim_terms(table, dim, &room, &count);
    if (count != 1 || terms[0].coefficient != 1 || terms[0].monomial->degree != 1) {
        return NULL;
    }
    const ig_dim_atom *atom = terms[0].monomial->atoms[0];
    return atom->kind == IG_DIM_MIN || atom->kind == IG_DIM_MAX ? atom : NULL;
}

/* The first term -c*floor(x/k), c > 0, of a number k; UINT32_MAX when there is none. */
static uint32_t find_floor_less(const ig_dim_sum *sum) {
    for (uint32_t i = 0; i < sum->count; i++) {
        const ig_dim_monomial *monomial = sum->terms[i].monomial;
        bool is_floor = monomial->degree == 1 &&
                        monomial->atoms[0]->kind == IG_DIM_FLOOR &&
                        ig_dim_is_static(monomial->atoms[0]->b) &&
                        !ig_dim_is(monomial->atoms[0]->b, 0);
        if (is_floor && sum->terms[i].coefficient < 0) {
            return i;
        }
    }
    return UINT32_MAX;
}

/* Never below 0, since floor(x/k) <= x/k: 2*L - 2*floor(L/2), times 2, is no less than
 * 4*L - 2*L.  `sum` is used up. */
static bool never_below_zero(ig_dim_table *table, ig_dim_sum *sum) {
    enum { FLOORS = 4 };
    for (uint32_t n = 0; n < FLOORS && !sum->failed; n++) {
        uint32_t at = find_floor_less(sum);
        if (at == UINT32_MAX) {
            break;
        }
        ig_dim_term less = sum->terms[at];
        const ig_dim_atom *rounded = less.monomial->atoms[0];
        ig_dim_sum more;
        ig_dim_sum_start(&more);
        for (uint32_t i = 0; i < sum->count; i++) {
            int64_t scaled;
            if (i == at || !ig_mul_i64(sum->terms[i].coefficient,
                                       ig_dim_value(rounded->b), &scaled)) {
                more.failed = more.failed || i != at;
                continue;
            }
            ig_dim_sum_add(table, &more, scaled, sum->terms[i].monomial);
        }
        ig_dim_term factor = { less.coefficient, table->one };
        ig_dim_sum_add_dim(table, &more, factor, rounded->a);
        ig_dim_sum_join(table, &more);
        *sum = more;
    }
    return !sum->failed && ig_dim_interval_of_sum(table, sum).min >= 0;
}

static ig_truth less_equal(ig_dim_table *table, ig_dim a, ig_dim b, int depth) {
    enum { DEPTH = 4 };
    if (ig_dim_same(a, b)) {
        return IG_YES;
    }
    if (ig_dim_is_static(a) && ig_dim_is_static(b)) {
        return ig_dim_value(a) < ig_dim_value(b) ? IG_YES : IG_NO;
    }
    ig_dim_sum sum;
    if (subtract_dims(table, b, a, &sum)) {
        ig_dim_interval range = ig_dim_interval_of_sum(table, &sum);
        if (range.min >= 0 || range.max < 0) {
            return range.min >= 0 ? IG_YES : IG_NO;
        }
        if (find_floor_less(&sum) != UINT32_MAX && never_below_zero(table, &sum)) {
            return IG_YES;
        }
    }
    if (depth == DEPTH) {
        return IG_MAYBE;
    }
    const ig_dim_atom *left = as_extreme(table, a);
    if (left) {
        ig_truth p = less_equal(table, left->a, b, depth + 1);
        ig_truth q = less_equal(table, left->b, b, depth + 1);
        return left->kind == IG_DIM_MIN ? or_truths(p, q) : and_truths(p, q);
    }
    const ig_dim_atom *right = as_extreme(table, b);
    if (right) {
        ig_truth p = less_equal(table, a, right->a, depth + 1);
        ig_truth q = less_equal(table, a, right->b, depth + 1);
        return right->kind == IG_DIM_MAX ? or_truths(p, q) : and_truths(p, q);
    }
    return IG_MAYBE;
}

ig_truth ig_dim_less_equal(const ig_module *module, ig_dim a, ig_dim b) {
    assert(ig_dim_belongs(module, a) && "a dim of another module");
    assert(ig_dim_belongs(module, b) && "a dim of another module");
    return less_equal(module->dims, a, b, 0);
}
