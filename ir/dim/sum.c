/* Monomials and sums: the arithmetic of normal forms.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A sum is a sorted array of terms without equal monomials.  The order is graded:
 * higher degree first, then by atoms.  It is compatible with multiplication, so
 * dividing by leading terms finds a polynomial quotient whenever there is one.
 *
 * exact(p / q) is cancelled against its divisor wherever both meet in one term:
 * 16 * exact(N / 16) is N.  Beside p itself, p is counted in such quotients:
 * N - exact(N / 16) is 15 * exact(N / 16).
 */
#include "base/checked.h"
#include "ir/dim/table.h"

#include <assert.h>
#include <string.h>

/* ---- monomials ---- */

const ig_dim_monomial *ig_dim_monomial_intern(ig_dim_table *table,
                                              const ig_dim_atom *const *atoms,
                                              uint32_t degree) {
    ig_str key = { degree ? (const char *)atoms : "", degree * sizeof(*atoms) };
    ig_dim_monomial *known = (ig_dim_monomial *)ig_map_get(&table->monomials, key);
    if (known) {
        return known;
    }
    size_t size = sizeof(ig_dim_monomial) + degree * sizeof(*atoms);
    ig_dim_monomial *monomial = (ig_dim_monomial *)ig_arena_zalloc(table->arena, size);
    monomial->degree = degree;
    monomial->size = 1;
    for (uint32_t i = 0; i < degree; i++) {
        const ig_dim_atom *atom = atoms[i];
        monomial->atoms[i] = atom;
        monomial->size += atom->size;
        monomial->depth = atom->depth > monomial->depth ? atom->depth : monomial->depth;
        monomial->hash = ig_hash_bytes(&atom->hash, sizeof(atom->hash), monomial->hash);
    }
    ig_map_set(&table->monomials, key, monomial);
    return monomial;
}

int ig_dim_monomial_compare(const ig_dim_table *table, const ig_dim_monomial *a,
                            const ig_dim_monomial *b) {
    if (a == b) {
        return 0;
    }
    if (a->degree != b->degree) {
        return a->degree > b->degree ? -1 : 1;
    }
    for (uint32_t i = 0; i < a->degree; i++) {
        int order = ig_dim_atom_compare(table, a->atoms[i], b->atoms[i]);
        if (order) {
            return order;
        }
    }
    return 0;
}

const ig_dim_monomial *ig_dim_monomial_times(ig_dim_table *table,
                                             const ig_dim_monomial *a,
                                             const ig_dim_monomial *b) {
    if (a->degree + b->degree > IG_DIM_DEGREE_MAX) {
        return NULL;
    }
    const ig_dim_atom *atoms[IG_DIM_DEGREE_MAX];
    uint32_t count = 0, i = 0, j = 0;
    while (i < a->degree || j < b->degree) {
        bool take_a = j == b->degree ||
                      (i < a->degree &&
                       ig_dim_atom_compare(table, a->atoms[i], b->atoms[j]) <= 0);
        atoms[count++] = take_a ? a->atoms[i++] : b->atoms[j++];
    }
    return ig_dim_monomial_intern(table, atoms, count);
}

/* Splits monomials a and b into the atoms that only a has and those that both have. */
typedef struct matched {
    const ig_dim_atom *rest[IG_DIM_DEGREE_MAX], *common[IG_DIM_DEGREE_MAX];
    uint32_t rest_count, common_count;
} matched;

static void match_atoms(const ig_dim_table *table, const ig_dim_monomial *a,
                        const ig_dim_monomial *b, matched *out) {
    uint32_t i = 0, j = 0;
    out->rest_count = out->common_count = 0;
    while (i < a->degree) {
        int order = j < b->degree ? ig_dim_atom_compare(table, a->atoms[i], b->atoms[j])
                                  : -1;
        if (order < 0) {
            out->rest[out->rest_count++] = a->atoms[i++];
        } else if (order > 0) {
            j++;
        } else {
            out->common[out->common_count++] = a->atoms[i++];
            j++;
        }
    }
}

const ig_dim_monomial *ig_dim_monomial_over(ig_dim_table *table,
                                            const ig_dim_monomial *a,
                                            const ig_dim_monomial *b) {
    matched m;
    match_atoms(table, a, b, &m);
    return m.common_count == b->degree
               ? ig_dim_monomial_intern(table, m.rest, m.rest_count)
               : NULL;
}

const ig_dim_monomial *ig_dim_monomial_common(ig_dim_table *table,
                                              const ig_dim_monomial *a,
                                              const ig_dim_monomial *b) {
    matched m;
    match_atoms(table, a, b, &m);
    return ig_dim_monomial_intern(table, m.common, m.common_count);
}

/* ---- sums ---- */

static void remove_term(ig_dim_sum *sum, uint32_t index) {
    sum->count--;
    memmove(&sum->terms[index], &sum->terms[index + 1],
            (sum->count - index) * sizeof(ig_dim_term));
}

static void insert_term(ig_dim_sum *sum, uint32_t index, ig_dim_term term) {
    if (sum->count == IG_DIM_TERMS_MAX) {
        sum->failed = true;
        return;
    }
    memmove(&sum->terms[index + 1], &sum->terms[index],
            (sum->count - index) * sizeof(ig_dim_term));
    sum->terms[index] = term;
    sum->count++;
}

void ig_dim_sum_add(ig_dim_table *table, ig_dim_sum *sum, int64_t coefficient,
                    const ig_dim_monomial *monomial) {
    if (sum->failed || coefficient == 0) {
        return;
    }
    uint32_t low = 0, high = sum->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = ig_dim_monomial_compare(table, sum->terms[middle].monomial,
                                            monomial);
        if (order == 0) {
            ig_dim_term *term = &sum->terms[middle];
            if (!ig_add_i64(term->coefficient, coefficient, &term->coefficient)) {
                sum->failed = true;
            } else if (term->coefficient == 0) {
                remove_term(sum, middle);
            }
            return;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    insert_term(sum, low, (ig_dim_term){ coefficient, monomial });
}

void ig_dim_sum_add_dim(ig_dim_table *table, ig_dim_sum *sum, ig_dim_term factor,
                        ig_dim dim) {
    ig_dim_term room;
    uint32_t count;
    const ig_dim_term *terms = ig_dim_terms(table, dim, &room, &count);
    for (uint32_t i = 0; i < count && !sum->failed; i++) {
        int64_t coefficient;
        const ig_dim_monomial *product = ig_dim_monomial_times(table, factor.monomial,
                                                               terms[i].monomial);
        if (!product ||
            !ig_mul_i64(factor.coefficient, terms[i].coefficient, &coefficient)) {
            sum->failed = true;
            return;
        }
        ig_dim_sum_add(table, sum, coefficient, product);
    }
}

/* ---- cancelling exact quotients ---- */

/* Is there an exact(p / q) in the term whose one-term divisor q is a factor of the
 * rest?  Then the term is out_rest * p. */
static bool find_exact(ig_dim_table *table, const ig_dim_term *term, ig_dim *out_p,
                       ig_dim_term *out_rest) {
    const ig_dim_monomial *monomial = term->monomial;
    for (uint32_t i = 0; i < monomial->degree; i++) {
        const ig_dim_atom *atom = monomial->atoms[i];
        if (atom->kind != IG_DIM_EXACT) {
            continue;
        }
        ig_dim_term room;
        uint32_t count;
        const ig_dim_term *divisor = ig_dim_terms(table, atom->b, &room, &count);
        if (count != 1 || divisor->coefficient < 0 ||
            term->coefficient % divisor->coefficient) {
            continue;
        }
        const ig_dim_monomial *self = ig_dim_monomial_intern(table, &atom, 1);
        const ig_dim_monomial *rest = ig_dim_monomial_over(table, monomial, self);
        rest = ig_dim_monomial_over(table, rest, divisor->monomial);
        if (rest) {
            *out_p = atom->a;
            *out_rest = (ig_dim_term){ term->coefficient / divisor->coefficient, rest };
            return true;
        }
    }
    return false;
}

/* Each step takes one atom away; the bound only guards against what we did not
 * foresee. */
static void cancel_exact(ig_dim_table *table, ig_dim_sum *sum) {
    enum { STEPS_MAX = 1024 };
    uint32_t i = 0;
    for (int steps = 0; i < sum->count && !sum->failed && steps < STEPS_MAX; steps++) {
        ig_dim p;
        ig_dim_term rest;
        if (find_exact(table, &sum->terms[i], &p, &rest)) {
            remove_term(sum, i);
            ig_dim_sum_add_dim(table, sum, rest, p);
            i = 0;
        } else {
            i++;
        }
    }
}

/* How often is p, times `rest`, in the sum as a whole?  0: not at all. */
static int64_t times_in_sum(ig_dim_table *table, const ig_dim_sum *sum, ig_dim p,
                            const ig_dim_monomial *rest) {
    ig_dim_term room;
    uint32_t count;
    const ig_dim_term *terms = ig_dim_terms(table, p, &room, &count);
    int64_t times = 0;
    for (uint32_t i = 0; i < count; i++) {
        const ig_dim_monomial *monomial = ig_dim_monomial_times(table, rest,
                                                                terms[i].monomial);
        int64_t found = 0;
        for (uint32_t k = 0; monomial && k < sum->count; k++) {
            found = sum->terms[k].monomial == monomial ? sum->terms[k].coefficient
                                                       : found;
        }
        bool is_whole = terms[i].coefficient > 0 && found != INT64_MIN &&
                        found % terms[i].coefficient == 0;
        int64_t by = is_whole ? found / terms[i].coefficient : 0;
        if (by == 0 || (i > 0 && by != times)) {
            return 0;
        }
        times = by;
    }
    return times;
}

/* k * p + e * exact(p / d) is (k * d + e) * exact(p / d), for the exact quotient `atom`
 * in term `index`. */
static bool join_exact(ig_dim_table *table, ig_dim_sum *sum, uint32_t index,
                       const ig_dim_atom *atom) {
    const ig_dim_monomial *monomial = sum->terms[index].monomial;
    const ig_dim_monomial *self = ig_dim_monomial_intern(table, &atom, 1);
    const ig_dim_monomial *rest = ig_dim_monomial_over(table, monomial, self);
    int64_t times = times_in_sum(table, sum, atom->a, rest), more;
    if (times == 0 || times == INT64_MIN ||
        !ig_mul_i64(times, ig_dim_value(atom->b), &more)) {
        return false;
    }
    ig_dim_sum trial = *sum;
    ig_dim_sum_add_dim(table, &trial, (ig_dim_term){ -times, rest }, atom->a);
    ig_dim_sum_add(table, &trial, more, monomial);
    if (trial.failed) {
        return false;
    }
    *sum = trial;
    return true;
}

/* Each step makes the sum shorter. */
static void join_exacts(ig_dim_table *table, ig_dim_sum *sum) {
    for (uint32_t i = 0; sum->count > 1 && i < sum->count && !sum->failed; i++) {
        const ig_dim_monomial *monomial = sum->terms[i].monomial;
        for (uint32_t k = 0; k < monomial->degree; k++) {
            const ig_dim_atom *atom = monomial->atoms[k];
            int64_t divisor;
            if (atom->kind == IG_DIM_EXACT && ig_dim_known(atom->b, &divisor) &&
                divisor > 1 && join_exact(table, sum, i, atom)) {
                i = UINT32_MAX; /* from the start */
                break;
            }
        }
    }
}

/* ---- sums with extremes ---- */

/* min(p, q) = p - max(p - q, 0) and max(p, q) = p + max(q - p, 0): taken where the sum
 * gets shorter by it.  So x - min(x, y) is max(x - y, 0), and that plus min(x, y) is
 * x. */
static bool shorten_extreme(ig_dim_table *table, ig_dim_sum *sum, uint32_t index,
                            ig_dim p, ig_dim q) {
    ig_module *module = table->module;
    ig_dim_term term = sum->terms[index];
    bool is_min = term.monomial->atoms[0]->kind == IG_DIM_MIN;
    ig_dim_sum trial = *sum;
    remove_term(&trial, index);
    ig_dim_sum_add_dim(table, &trial, (ig_dim_term){ term.coefficient, table->one }, p);
    if (trial.failed || trial.count > sum->count || term.coefficient == INT64_MIN) {
        return false;
    }
    ig_dim rest = is_min ? ig_dim_sub(module, p, q) : ig_dim_sub(module, q, p);
    int64_t factor = is_min ? -term.coefficient : term.coefficient;
    ig_dim_sum_add_dim(table, &trial, (ig_dim_term){ factor, table->one },
                       ig_dim_max(module, rest, ig_dim_of(0)));
    if (trial.failed || trial.count >= sum->count) {
        return false;
    }
    *sum = trial;
    return true;
}

/* The min or max that a term is a multiple of, when it is not too deep to try. */
static const ig_dim_atom *extreme_of(const ig_dim_term *term) {
    enum { DEPTH = 4 };
    if (term->monomial->degree != 1) {
        return NULL;
    }
    const ig_dim_atom *atom = term->monomial->atoms[0];
    bool is_extreme = atom->kind == IG_DIM_MIN || atom->kind == IG_DIM_MAX;
    return is_extreme && atom->depth <= DEPTH ? atom : NULL;
}

/* Each step makes the sum shorter, so there are at most as many as it has terms. */
static void shorten_extremes(ig_dim_table *table, ig_dim_sum *sum) {
    if (sum->count < 2) {
        return;
    }
    uint32_t i = 0;
    while (i < sum->count && !sum->failed) {
        const ig_dim_atom *atom = extreme_of(&sum->terms[i]);
        bool is_shorter = atom && (shorten_extreme(table, sum, i, atom->a, atom->b) ||
                                   shorten_extreme(table, sum, i, atom->b, atom->a));
        i = is_shorter ? 0 : i + 1;
    }
}

/* ---- from sum to dim ---- */

static ig_dim intern_expr(ig_dim_table *table, const ig_dim_sum *sum, uint32_t size) {
    ig_str key = { (const char *)sum->terms, sum->count * sizeof(ig_dim_term) };
    void *known = ig_map_get(&table->exprs_by_terms, key);
    if (known) {
        return (ig_dim){ -(int64_t)(uintptr_t)known }; /* stored as 1 + index */
    }
    ig_dim_expr *expr = IG_NEW(table->arena, ig_dim_expr);
    expr->count = sum->count;
    expr->size = size;
    expr->terms = (const ig_dim_term *)(void *)ig_arena_copy(table->arena, sum->terms,
                                                             key.size);
    for (uint32_t i = 0; i < sum->count; i++) {
        const ig_dim_term *term = &sum->terms[i];
        uint64_t parts[2] = { (uint64_t)term->coefficient, term->monomial->hash };
        expr->hash = ig_hash_bytes(parts, sizeof(parts), expr->hash + 1);
        expr->depth = term->monomial->depth > expr->depth ? term->monomial->depth
                                                          : expr->depth;
    }
    IG_PUSH(table->arena, &table->exprs, expr);
    ig_map_set(&table->exprs_by_terms, key, (void *)(uintptr_t)table->exprs.count);
    return (ig_dim){ -(int64_t)table->exprs.count };
}

void ig_dim_sum_join(ig_dim_table *table, ig_dim_sum *sum) {
    cancel_exact(table, sum);
    join_exacts(table, sum);
}

bool ig_dim_sum_finish(ig_dim_table *table, ig_dim_sum *sum, ig_dim *out_dim) {
    ig_dim_sum_join(table, sum);
    shorten_extremes(table, sum);
    return ig_dim_sum_intern(table, sum, out_dim);
}

bool ig_dim_sum_intern(ig_dim_table *table, const ig_dim_sum *sum, ig_dim *out_dim) {
    int64_t limit = table->module->context->limits.dim_terms;
    if (sum->failed || sum->count > limit) {
        return false;
    }
    if (sum->count == 0) {
        *out_dim = ig_dim_of(0);
        return true;
    }
    const ig_dim_term *first = &sum->terms[0];
    if (sum->count == 1 && first->monomial->degree == 0 && first->coefficient > 0) {
        *out_dim = ig_dim_of(first->coefficient);
        return true;
    }
    uint32_t size = 0;
    for (uint32_t i = 0; i < sum->count; i++) {
        size += sum->terms[i].monomial->size;
    }
    if (size > IG_DIM_SIZE_MAX) {
        return false;
    }
    *out_dim = intern_expr(table, sum, size);
    return true;
}

bool ig_dim_divide(ig_dim_table *table, ig_dim a, ig_dim b, ig_dim *out_quotient) {
    ig_dim_term room;
    uint32_t count;
    const ig_dim_term *divisor = ig_dim_terms(table, b, &room, &count);
    if (count == 0) {
        return false;
    }
    ig_dim_sum rest, quotient;
    ig_dim_sum_start(&rest);
    ig_dim_sum_start(&quotient);
    ig_dim_sum_add_dim(table, &rest, (ig_dim_term){ 1, table->one }, a);
    for (int steps = 0; rest.count && steps < IG_DIM_TERMS_MAX; steps++) {
        ig_dim_term lead = rest.terms[0];
        const ig_dim_monomial *monomial = ig_dim_monomial_over(table, lead.monomial,
                                                               divisor[0].monomial);
        bool is_min = lead.coefficient == INT64_MIN; /* INT64_MIN / -1 overflows */
        if (!monomial || is_min || lead.coefficient % divisor[0].coefficient) {
            return false;
        }
        int64_t factor = lead.coefficient / divisor[0].coefficient;
        ig_dim_sum_add(table, &quotient, factor, monomial);
        ig_dim_sum_add_dim(table, &rest, (ig_dim_term){ -factor, monomial }, b);
        if (rest.failed || quotient.failed) {
            return false;
        }
    }
    return rest.count == 0 && ig_dim_sum_finish(table, &quotient, out_quotient);
}
