/* Matchers for the recognisers of composites: constant factors, products, uses.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A recogniser takes f32 and f64 only: ops written out on narrower floats round after
 * each of them, the composite rounds once.
 */
#ifndef IG_PASSES_RECOGNISE_MATCH_H
#define IG_PASSES_RECOGNISE_MATCH_H

#include "ir/build/build.h"

/* A product of at most IG_PRODUCT_FACTORS values and a constant. */
enum { IG_PRODUCT_FACTORS = 4 };

typedef struct ig_product {
    ig_value *factors[IG_PRODUCT_FACTORS];
    uint32_t count;
    double number;
} ig_product;

/* Is the result of the op f32 or f64? */
bool ig_match_is_wide(const ig_op *op);
/* The operands of a two-operand op, as a constant scalar and the other one.  Constants
 * have one element, of any rank that leaves the result's shape alone. */
ig_value *ig_match_with_number(const ig_op *op, double *out_number);
/* Is `number` what rounding `expected` to the dtype, at most twice, may give? */
bool ig_match_is_near(ig_dtype dtype, double number, double expected);
/* Takes `root`, a mul, div by a constant or power, apart.  Its operands are taken apart
 * too where only the product uses them. */
bool ig_match_product(const ig_op *root, ig_product *out);
/* `value` divided or multiplied by a constant: the scaled value, and the factor; else
 * the value itself and 1. */
ig_value *ig_match_scaled(ig_value *value, double *out_factor);
/* The op of that code that makes `value`, when nothing else uses it; or NULL. */
ig_op *ig_match_inner(const ig_value *value, ig_opcode code);
uint32_t ig_match_use_count(const ig_value *value);
/* Erases the ops before `op` made since the graph had `op_count` ops, last ones first:
 * for a rule that finds at the end that it does not fit. */
void ig_match_undo(ig_op *op, uint32_t op_count);

#endif
