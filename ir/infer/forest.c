/* The result type of tree ensembles.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/hooks.h"
#include "ir/infer/infer.h"
#include "ir/semantics/forest.h"

ig_status ig_infer_forest(ig_op *op, const ig_type **out_types) {
    static const uint32_t ranks[IG_FOREST_OPERANDS] = { 2, 1, 1, 2, 1, 2 };
    static const ig_dtype dtypes[IG_FOREST_OPERANDS] = {
        [IG_FOREST_NODES] = IG_DT_i64,
        [IG_FOREST_TREES] = IG_DT_i64,
        [IG_FOREST_LEAVES] = IG_DT_i32,
    };
    ig_module *module = ig_op_module(op);
    const ig_type *x = ig_operand_type(op, IG_FOREST_X);
    ig_dtype own = (ig_dtype)x->dtype;
    int64_t targets = ig_attr_int(op, IG_forest_targets, 0);
    int64_t kind = ig_attr_int(op, IG_forest_op, 0);
    for (uint32_t i = 0; i < IG_FOREST_OPERANDS; i++) {
        bool is_integer = i >= IG_FOREST_NODES && i <= IG_FOREST_LEAVES;
        IG_TRY(ig_check_rank(op, i, ranks[i]));
        IG_TRY(ig_check_dtype(op, i, is_integer ? dtypes[i] : own));
    }
    if (own != IG_DT_f32 && own != IG_DT_f64) {
        return INFER_ERROR(op, "operand 0 is %s, expected f32 or f64",
                           ig_operand_text(op, IG_FOREST_X));
    }
    if (kind != IG_REDUCE_sum && kind != IG_REDUCE_min && kind != IG_REDUCE_max) {
        return INFER_ERROR(op, "trees are summed, or the smallest or largest is taken");
    }
    ig_dim records = ig_operand_type(op, IG_FOREST_TESTS)->dims[0];
    IG_TRY(ig_check_extent(op, IG_FOREST_NODES, 0, records, "that of operand 1", NULL));
    IG_TRY(
        ig_check_extent(op, IG_FOREST_LEAVES, 0, records, "that of operand 1", NULL));
    IG_TRY(ig_check_extent(op, IG_FOREST_TREES, 1, ig_dim_of(2), "2", NULL));
    ig_dim width = ig_operand_type(op, IG_FOREST_WEIGHTS)->dims[1];
    if (targets < 1 || !ig_claim_less_equal(module, width, ig_dim_of(targets))) {
        return INFER_ERROR(op, "operand 5 is %s, more than %lld targets",
                           ig_operand_text(op, IG_FOREST_WEIGHTS), (long long)targets);
    }
    ig_dim dims[] = { x->dims[0], ig_dim_of(targets) };
    out_types[0] = ig_type_with_dims(module, x, 2, dims);
    return IG_OK;
}
