/* The inside of dims: interned atoms, monomials and expressions.  Private to ir/.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     2*B*L + ceil(N / 16) - 1        an expression: terms, highest degree first
 *     2, B*L                          a term: coefficient and monomial
 *     B*L                             a monomial: atoms in order, repeated for powers
 *     B   ceil(N / 16)                atoms: a symbol, or an operation on two dims
 *
 * Each of the three is interned, so equality is a pointer (or number) compare.  The
 * order of atoms is by content - names of symbols, then structure - never by address or
 * age: text that is printed, parsed and printed again stays the same.
 *
 * Everything is bounded, since sizes come from files: an expression has at most
 * IG_DIM_SIZE_MAX nodes when written out and nests at most IG_DIM_DEPTH_MAX atoms deep.
 * An expression that would be larger, or would overflow, becomes a fresh symbol that is
 * *defined* as it; the definition may hold the two opaque atoms ADD and MUL, which
 * occur nowhere else.
 */
#ifndef IG_IR_DIM_TABLE_H
#define IG_IR_DIM_TABLE_H

#include "ir/dim/dim.h"

enum {
    IG_DIM_TERMS_MAX =
        256, /* room of a sum while it is made; limits.dim_terms decides */
    IG_DIM_DEGREE_MAX = 64,
    IG_DIM_DEPTH_MAX = 32,
    IG_DIM_SIZE_MAX = 1024
};

typedef struct ig_dim_atom {
    ig_dim_opcode kind; /* SYMBOL, or an operation on a and b */
    uint32_t symbol;    /* SYMBOL: its index */
    ig_dim a, b;
    uint32_t depth, size;
    uint64_t hash;
} ig_dim_atom;

typedef struct ig_dim_monomial {
    uint32_t degree, depth, size;
    uint64_t hash;
    const ig_dim_atom *atoms[]; /* in order */
} ig_dim_monomial;

typedef struct ig_dim_term {
    int64_t coefficient; /* never 0 */
    const ig_dim_monomial *monomial;
} ig_dim_term;

typedef struct ig_dim_expr {
    uint32_t count, depth, size;
    uint64_t hash;
    const ig_dim_term *terms;
} ig_dim_expr;

typedef struct ig_dim_name { /* a symbol with the table's private fields */
    ig_symbol symbol;
    const ig_dim_atom *atom;
    ig_dim dim;
    uint32_t next_id; /* to try when the name is taken again */
    uint32_t stamp;   /* of the last visit */
} ig_dim_name;

typedef struct ig_dim_table {
    ig_module *module;
    ig_arena *arena;
    const ig_dim_monomial *one; /* the empty monomial */
    ig_map atoms, monomials, exprs_by_terms, names, fresh;
    IG_VEC(const ig_dim_expr *) exprs;
    IG_VEC(ig_dim_name *) symbols;
    IG_VEC(uint32_t) visited;
    uint32_t stamp;
} ig_dim_table;

/* A sum while it is made: sorted, merged.  `failed` once it overflowed. */
typedef struct ig_dim_sum {
    uint32_t count;
    bool failed;
    ig_dim_term terms[IG_DIM_TERMS_MAX];
} ig_dim_sum;

static inline void ig_dim_sum_start(ig_dim_sum *sum) { /* 4 KiB need no clearing */
    sum->count = 0;
    sum->failed = false;
}

/* ---- table ---- */

/* A known extent, or an expression of this module? */
bool ig_dim_belongs(const ig_module *module, ig_dim dim);
void ig_dim_table_create(ig_module *module);
const ig_dim_atom *ig_dim_atom_intern(ig_dim_table *table, ig_dim_opcode kind, ig_dim a,
                                      ig_dim b);
/* The dim that is one atom. */
ig_dim ig_dim_of_atom(ig_dim_table *table, const ig_dim_atom *atom);
/* The atom as a dim; operands that are too deep or too large get a name first. */
ig_dim ig_dim_make_atom(ig_dim_table *table, ig_dim_opcode kind, ig_dim a, ig_dim b);
/* Terms of `dim`; a constant's are written to `room`. */
const ig_dim_term *ig_dim_terms(const ig_dim_table *table, ig_dim dim,
                                ig_dim_term *room, uint32_t *out_count);
uint32_t ig_dim_depth(const ig_dim_table *table, ig_dim dim);
uint32_t ig_dim_size(const ig_dim_table *table, ig_dim dim);
int ig_dim_compare(const ig_dim_table *table, ig_dim a, ig_dim b);
int ig_dim_atom_compare(const ig_dim_table *table, const ig_dim_atom *a,
                        const ig_dim_atom *b);
/* The symbol defined as `kind`(a, b) or, with IG_DIM_CONST, as a itself.  Equal
 * arguments give the same symbol. */
ig_dim ig_dim_fresh(ig_dim_table *table, ig_dim_opcode kind, ig_dim a, ig_dim b);
/* Structural: equal in clones of a module. */
uint64_t ig_dim_hash(const ig_module *module, ig_dim dim);
/* Makes the symbols of `from` in the new module `to`, with the same indices. */
void ig_dim_copy_symbols(const ig_module *from, ig_module *to);

/* ---- monomials and sums (sum.c) ---- */

/* Interns `degree` atoms, which are in order. */
const ig_dim_monomial *ig_dim_monomial_intern(ig_dim_table *table,
                                              const ig_dim_atom *const *atoms,
                                              uint32_t degree);
int ig_dim_monomial_compare(const ig_dim_table *table, const ig_dim_monomial *a,
                            const ig_dim_monomial *b);
/* NULL when the degree would pass its limit. */
const ig_dim_monomial *ig_dim_monomial_times(ig_dim_table *table,
                                             const ig_dim_monomial *a,
                                             const ig_dim_monomial *b);
/* a / b, or NULL when b is no factor of a. */
const ig_dim_monomial *ig_dim_monomial_over(ig_dim_table *table,
                                            const ig_dim_monomial *a,
                                            const ig_dim_monomial *b);
/* What both have in common. */
const ig_dim_monomial *ig_dim_monomial_common(ig_dim_table *table,
                                              const ig_dim_monomial *a,
                                              const ig_dim_monomial *b);
void ig_dim_sum_add(ig_dim_table *table, ig_dim_sum *sum, int64_t coefficient,
                    const ig_dim_monomial *monomial);
/* Adds factor * dim. */
void ig_dim_sum_add_dim(ig_dim_table *table, ig_dim_sum *sum, ig_dim_term factor,
                        ig_dim dim);
/* Cancels exact quotients against the factors that they divide. */
void ig_dim_sum_join(ig_dim_table *table, ig_dim_sum *sum);
/* The normal form; false when it passes a limit.  `sum` is used up. */
bool ig_dim_sum_finish(ig_dim_table *table, ig_dim_sum *sum, ig_dim *out_dim);
/* The same for a monomial that is in normal form already. */
bool ig_dim_sum_intern(ig_dim_table *table, const ig_dim_sum *sum, ig_dim *out_dim);
/* Quotient of polynomials without remainder; false when there is none. */
bool ig_dim_divide(ig_dim_table *table, ig_dim a, ig_dim b, ig_dim *out_quotient);

/* ---- ranges (range.c): the ends of int64 mean "no bound" ---- */

typedef struct ig_dim_interval {
    int64_t min, max;
} ig_dim_interval;

ig_dim_interval ig_dim_interval_of(const ig_dim_table *table, ig_dim dim);
ig_dim_interval ig_dim_interval_of_sum(const ig_dim_table *table,
                                       const ig_dim_sum *sum);
ig_dim_interval ig_dim_interval_apply(ig_dim_opcode kind, ig_dim_interval a,
                                      ig_dim_interval b);

#endif
