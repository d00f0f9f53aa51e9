/* What fold hooks share, beside the walks of semantics/walk.h.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Folds are the reference: plain loops that are right at a glance.  Values are
 * converted through ir/tensor/; sums are kept in double or int64_t and rounded once.
 */
#ifndef IG_IR_FOLD_FOLD_H
#define IG_IR_FOLD_FOLD_H

#include "ir/semantics/walk.h"

/* numpy's product, in the dtype of `a`, that of `b` too. */
typedef struct ig_product_of {
    const ig_tensor *a, *b;
    bool transpose_a, transpose_b;
} ig_product_of;
ig_status ig_eval_product(ig_eval *eval, const ig_op *op, ig_product_of factors,
                          ig_tensor *out);

/* A reshape whose result shows the memory of its operand. */
ig_status ig_fold_reshape_view(ig_eval *eval, const ig_op *op,
                               const ig_tensor *const *in, ig_tensor *out);

/* A running sum over elements of `dtype`, rounded between the steps of a row: beyond
 * the range of f32 it is infinite, except for f64.  Kernels and other runtimes keep
 * sums in f32. */
double ig_fold_sum(ig_dtype dtype, double total);

/* ---- random.c ---- */

/* A run of the module has ended: `run_number` of the next one is larger by 1. */
void ig_fold_count_run(ig_module *module);

#endif
