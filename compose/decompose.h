/* Composite rows taken apart.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The `expand` column of ops.def names a function here, which builds the op's result
 * from simpler ops.  A target that has no kernel for the op gets those.  Narrow floats
 * are computed in f32 and rounded once at the end, as the interpreter does.
 *
 *     ig_value *results[IG_DECOMPOSE_RESULTS];
 *     ig_decompose_fn decompose = ig_decomposition_of(op->code);
 *     if (decompose && decompose(&e, op, results)) { … replace op's results … }
 *
 * The expression is built before the op, and is right by construction (ig_expr_of).
 */
#ifndef IG_COMPOSE_DECOMPOSE_H
#define IG_COMPOSE_DECOMPOSE_H

#include "ir/build/expr.h"

enum { IG_DECOMPOSE_RESULTS = 3 }; /* as many as a composite has at most */

/* Writes a value for each of the op's results.  False: this form cannot be taken
 * apart; then nothing was built. */
typedef bool (*ig_decompose_fn)(ig_expr *e, const ig_op *op, ig_value **out_results);

/* NULL: the op is no composite. */
ig_decompose_fn ig_decomposition_of(ig_opcode code);

#define OP(name, min, max, outs, bodies, stages, traits, infer, fold, dims, expand, \
           grad, lower, attrs)                                                      \
    bool ig_decompose_##expand(ig_expr *e, const ig_op *op, ig_value **out_results);
#include "ir/ops.def"
#undef OP

/* Forms of conv and pool that kernels do not have, in forms that they have: padding
 * becomes an op of its own, transposed convolutions plain ones, averages sums.  False:
 * the op has the form of a kernel already. */
bool ig_decompose_conv_form(ig_expr *e, const ig_op *op, ig_value **out_results);
/* keeps_pads: padding whose extent is known stays with the pool. */
bool ig_decompose_pool_form(ig_expr *e, const ig_op *op, bool keeps_pads,
                            ig_value **out_results);

#endif
