/* Tree ensembles, a row and a tree after the other.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/semantics/forest.h"

#include "ir/fold/fold.h"
#include "ir/hooks.h"

#include <math.h>

static ig_status check_forest(ig_eval *eval, const ig_op *op,
                              const ig_tensor *const *in, int64_t targets) {
    if (in[IG_FOREST_NODES]->count != in[IG_FOREST_TESTS]->count ||
        in[IG_FOREST_NODES]->count != in[IG_FOREST_LEAVES]->count) {
        return FOLD_ERROR(eval, op, "forest: tests, nodes and leaves differ in number");
    }
    ig_forest_facts facts = ig_forest_facts_read(in, targets);
    if (facts.fault) {
        return FOLD_ERROR(eval, op, "forest: %s", facts.fault);
    }
    if (facts.features > in[IG_FOREST_X]->dims[1]) {
        return FOLD_ERROR(eval, op, "forest: rows have %lld features, trees %lld",
                          (long long)in[IG_FOREST_X]->dims[1],
                          (long long)facts.features);
    }
    return IG_OK;
}

/* The node that a row reaches after all steps of tree `t`. */
static int64_t walk_tree(const ig_tensor *const *in, int64_t row, int64_t t) {
    const ig_tensor *x = in[IG_FOREST_X];
    int64_t steps = ig_tensor_get_i64(in[IG_FOREST_TREES], 2 * t), at = t;
    for (int64_t s = 0; s < steps; s++) {
        int64_t word = ig_tensor_get_i64(in[IG_FOREST_NODES], at);
        double test = ig_tensor_get_f64(in[IG_FOREST_TESTS], at);
        double seen = ig_tensor_get_f64(x, row * x->dims[1] + ig_forest_feature(word));
        bool is_low = seen <= test || (isnan(seen) && ig_forest_tracks(word));
        at = ig_forest_next(word) + !is_low;
    }
    return at;
}

static double start_of(ig_reduce kind) {
    return kind == IG_REDUCE_sum   ? 0
           : kind == IG_REDUCE_min ? (double)INFINITY
                                   : -(double)INFINITY;
}

static double join_weight(ig_reduce kind, double so_far, double next) {
    if (kind == IG_REDUCE_sum) {
        return so_far + next;
    }
    if (isnan(so_far) || isnan(next)) {
        return (double)NAN;
    }
    bool is_next = kind == IG_REDUCE_min ? next < so_far : next > so_far;
    return is_next ? next : so_far;
}

ig_status ig_fold_forest(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                         ig_tensor *out) {
    int64_t targets = ig_attr_int(op, IG_forest_targets, 0);
    ig_reduce kind = (ig_reduce)ig_attr_int(op, IG_forest_op, 0);
    const ig_tensor *trees = in[IG_FOREST_TREES], *weights = in[IG_FOREST_WEIGHTS];
    int64_t dims[] = { in[IG_FOREST_X]->dims[0], targets }, width = weights->dims[1];
    double *sums;
    IG_TRY(check_forest(eval, op, in, targets));
    IG_TRY(ig_eval_alloc(eval, op, in[IG_FOREST_X]->dtype, 2, dims, out));
    IG_TRY(ig_eval_scratch(eval, op, targets, sizeof *sums, &sums));
    for (int64_t row = 0; row < dims[0]; row++) {
        for (int64_t k = 0; k < targets; k++) {
            sums[k] = start_of(kind);
        }
        for (int64_t t = 0; t < trees->dims[0]; t++) {
            int64_t at = walk_tree(in, row, t);
            int64_t leaf = ig_tensor_get_i64(in[IG_FOREST_LEAVES], at) * width;
            double *sum = sums + ig_tensor_get_i64(trees, 2 * t + 1);
            for (int64_t k = 0; k < width; k++) {
                sum[k] = join_weight(kind, sum[k],
                                     ig_tensor_get_f64(weights, leaf + k));
            }
        }
        for (int64_t k = 0; k < targets; k++) {
            ig_tensor_set_f64(out, row * targets + k, sums[k]);
        }
    }
    return IG_OK;
}
