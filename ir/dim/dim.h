/* Symbolic dimensions: expressions over symbols, in a normal form.
 * SPDX-License-Identifier: Apache-2.0
 *
 * An expression is a sum of products of atoms with integer coefficients, interned in
 * its module, so equal normal forms are the same ig_dim.  Atoms:
 *
 *     B            a symbol
 *     min(a, b)  max(a, b)
 *     floor(a / b)  ceil(a / b)
 *     bcast(a, b)  b if a = 1, else a: the extent of two broadcast extents
 *     exact(a / b) a quotient known to leave no remainder (a reshape's -1); common
 *                  factors cancel even where they may be 0
 *
 * Extents are never negative, but expressions may be (a shape value 2 - B).  A negative
 * *constant* is thus an expression; use ig_dim_const to make one and ig_dim_constant to
 * read one.  An expression of more than limits.dim_terms terms is replaced by a fresh
 * symbol defined as it.
 */
#ifndef IG_IR_DIM_DIM_H
#define IG_IR_DIM_DIM_H

#include "base/writer.h"
#include "ir/dim/handle.h"
#include "ir/module/module.h"

typedef struct ig_symbol {
    const char *name;   /* unique in the module */
    const char *origin; /* where the user knows it from, e.g. "dim 0 of input 'x'" */
    int64_t min, max;   /* inclusive; default 0 and INT64_MAX */
    int64_t multiple;   /* of this; default 1 */
    ig_dim defined;     /* the expression that defines a fresh symbol, else 0 */
    uint32_t level;     /* definitions after it, one after the other */
} ig_symbol;

/* Of a type's extents: who walks definitions may recurse so deep. */
enum { IG_DIM_LEVELS_MAX = 1024 };

/* Is it defined as an expression? */
static inline bool ig_symbol_is_defined(const ig_symbol *symbol) {
    return !ig_dim_is(symbol->defined, 0);
}

typedef enum ig_truth { IG_NO, IG_YES, IG_MAYBE } ig_truth;

/* A new symbol; `name` is made unique by a number when it is taken.  Returns its
 * dim. */
ig_dim ig_dim_symbol(ig_module *module, const char *name);
/* The symbol `name`, made when it is new; the parser calls it. */
ig_dim ig_dim_named(ig_module *module, ig_str name);
/* The symbol of a dim that is exactly one symbol, else NULL. */
ig_symbol *ig_dim_as_symbol(const ig_module *module, ig_dim dim);
uint32_t ig_symbol_count(const ig_module *module);
ig_symbol *ig_symbol_at(const ig_module *module, uint32_t index);
/* Index of the symbol of `dim` (which must be one symbol). */
uint32_t ig_symbol_index(const ig_module *module, ig_dim dim);

ig_dim ig_dim_const(ig_module *module, int64_t value);
/* False leaves *out_value as it is. */
bool ig_dim_constant(const ig_module *module, ig_dim dim, int64_t *out_value);

ig_dim ig_dim_add(ig_module *module, ig_dim a, ig_dim b);
ig_dim ig_dim_sub(ig_module *module, ig_dim a, ig_dim b);
ig_dim ig_dim_mul(ig_module *module, ig_dim a, ig_dim b);
ig_dim ig_dim_min(ig_module *module, ig_dim a, ig_dim b);
ig_dim ig_dim_max(ig_module *module, ig_dim a, ig_dim b);
ig_dim ig_dim_floor_div(ig_module *module, ig_dim a, ig_dim b);
ig_dim ig_dim_ceil_div(ig_module *module, ig_dim a, ig_dim b);
ig_dim ig_dim_bcast(ig_module *module, ig_dim a, ig_dim b);
ig_dim ig_dim_exact_div(ig_module *module, ig_dim a, ig_dim b);
/* Product of `count` dims. */
ig_dim ig_dim_product(ig_module *module, const ig_dim *dims, uint32_t count);

ig_truth ig_dim_equal(const ig_module *module, ig_dim a, ig_dim b);
ig_truth ig_dim_less_equal(const ig_module *module, ig_dim a, ig_dim b);
/* A sum of products of symbols and numbers? */
bool ig_dim_is_polynomial(const ig_module *module, ig_dim dim);
/* Is `dim` out_multiple * floor(out_of / out_multiple)? */
bool ig_dim_as_rounded(const ig_module *module, ig_dim dim, ig_dim *out_of,
                       int64_t *out_multiple);
/* Bounds that follow from the symbols' ranges (saturating at the int64 ends). */
void ig_dim_range(const ig_module *module, ig_dim dim, int64_t *out_min,
                  int64_t *out_max);

/* What divides every value of `dim`, from its terms' factors and its symbols'
 * multiples: at least 1; of the number 0 it is 0. */
int64_t ig_dim_divisor(const ig_module *module, ig_dim dim);

/* Value with symbols[i] for symbol i.  False on overflow, division by zero, or when an
 * exact quotient leaves a remainder. */
bool ig_dim_evaluate(const ig_module *module, ig_dim dim, const int64_t *symbols,
                     int64_t *out_value);
/* Every symbol that `dim` mentions, through fresh symbols' definitions too. */
void ig_dim_visit_symbols(const ig_module *module, ig_dim dim,
                          void (*visit)(void *user, uint32_t symbol), void *user);
/* Does `dim` mention symbol number `symbol`; one with number `first` or later? */
bool ig_dim_mentions(const ig_module *module, ig_dim dim, uint32_t symbol);
bool ig_dim_mentions_since(const ig_module *module, ig_dim dim, uint32_t first);
/* The most levels of the symbols that `dim` mentions. */
uint32_t ig_dim_level(const ig_module *module, ig_dim dim);
/* Is there a number in `dim` that 64 bits do not hold?  Then it never has a value. */
bool ig_dim_overflows(const ig_module *module, ig_dim dim);
/* `dim` with by_symbol[i] in place of symbol i, simplified anew; IG_DIM_KEEP keeps
 * it. */
ig_dim ig_dim_substitute(ig_module *module, ig_dim dim, const ig_dim *by_symbol);
/* The same of a dim of `from`, every symbol of which `by_symbol` replaces by a dim of
 * `to`. */
ig_dim ig_dim_move(const ig_module *from, ig_dim dim, const ig_dim *by_symbol,
                   ig_module *to);
/* `dim` of `from` rebuilt in `to`; symbols are matched by name. */
ig_dim ig_dim_translate(const ig_module *from, ig_dim dim, ig_module *to);

/* Text, fully parenthesised only where needed: "2*B*L + ceil(N / 16) - 1". */
void ig_dim_print(const ig_module *module, ig_dim dim, ig_writer *writer);
/* What decides `a` and `b`: "; they follow from dim 0 of input 'x', dim 1 of
 * input 'y'", the first four; nothing where no symbol of theirs has an origin. */
void ig_dim_print_origins(const ig_module *module, ig_dim a, ig_dim b,
                          ig_writer *writer);

/* Postfix code for the runtime: what evaluates `dim` with a small stack.
 * opcode DIM_CONST pushes `value`, DIM_SYMBOL pushes symbols[value], others pop two. */
typedef enum ig_dim_opcode {
    IG_DIM_CONST,
    IG_DIM_SYMBOL,
    IG_DIM_ADD,
    IG_DIM_MUL,
    IG_DIM_MIN,
    IG_DIM_MAX,
    IG_DIM_FLOOR,
    IG_DIM_CEIL,
    IG_DIM_BCAST,
    IG_DIM_EXACT
} ig_dim_opcode;
typedef struct ig_dim_code {
    int64_t opcode, value;
} ig_dim_code;
/* Appends the code of `dim` into the arena; returns its length. */
uint32_t ig_dim_encode(const ig_module *module, ig_dim dim, ig_arena *arena,
                       ig_dim_code **out_code);

#endif
