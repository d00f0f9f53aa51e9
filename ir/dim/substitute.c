/* Substitution of symbols in dims.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/dim/table.h"

#include <assert.h>

typedef ig_dim (*make_fn)(ig_module *module, ig_dim a, ig_dim b);

static const make_fn makers[] = {
    [IG_DIM_ADD] = ig_dim_add,         [IG_DIM_MUL] = ig_dim_mul,
    [IG_DIM_MIN] = ig_dim_min,         [IG_DIM_MAX] = ig_dim_max,
    [IG_DIM_FLOOR] = ig_dim_floor_div, [IG_DIM_CEIL] = ig_dim_ceil_div,
    [IG_DIM_BCAST] = ig_dim_bcast,     [IG_DIM_EXACT] = ig_dim_exact_div,
};

static ig_dim substitute_atom(const ig_module *from, const ig_dim_atom *atom,
                              const ig_dim *by_symbol, ig_module *module) {
    if (atom->kind == IG_DIM_SYMBOL) {
        ig_dim by = by_symbol[atom->symbol];
        bool is_kept = ig_dim_same(by, IG_DIM_KEEP);
        assert((!is_kept || from == module) && "another module has symbols of its own");
        return is_kept ? ig_dim_of_atom(module->dims, atom) : by;
    }
    assert(makers[atom->kind] && "an operation");
    return makers[atom->kind](module, ig_dim_move(from, atom->a, by_symbol, module),
                              ig_dim_move(from, atom->b, by_symbol, module));
}

ig_dim ig_dim_substitute(ig_module *module, ig_dim dim, const ig_dim *by_symbol) {
    return ig_dim_move(module, dim, by_symbol, module);
}

/* Recursion is bounded by IG_DIM_DEPTH_MAX. */
ig_dim ig_dim_move(const ig_module *from, ig_dim dim, const ig_dim *by_symbol,
                   ig_module *module) {
    assert(ig_dim_belongs(from, dim) && "a dim of another module");
    if (ig_dim_is_static(dim)) {
        return dim;
    }
    ig_dim_term room;
    uint32_t count;
    const ig_dim_term *terms = ig_dim_terms(from->dims, dim, &room, &count);
    ig_dim total = ig_dim_of(0);
    for (uint32_t i = 0; i < count; i++) {
        ig_dim product = ig_dim_const(module, terms[i].coefficient);
        for (uint32_t k = 0; k < terms[i].monomial->degree; k++) {
            const ig_dim_atom *atom = terms[i].monomial->atoms[k];
            product = ig_dim_mul(module, product,
                                 substitute_atom(from, atom, by_symbol, module));
        }
        total = ig_dim_add(module, total, product);
    }
    return total;
}
