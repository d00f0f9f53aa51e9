/* The result types of boxes that are suppressed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/hooks.h"
#include "ir/infer/infer.h"
#include "ir/semantics/suppress.h"

ig_status ig_infer_suppress(ig_op *op, const ig_type **out_types) {
    static const uint32_t ranks[IG_SUPPRESS_OPERANDS] = { 3, 3, 0, 0, 0 };
    for (uint32_t i = 0; i < op->operand_count; i++) {
        IG_TRY(ig_check_rank(op, i, ranks[i]));
    }
    const ig_type *boxes = ig_operand_type(op, IG_SUPPRESS_BOXES);
    const ig_type *scores = ig_operand_type(op, IG_SUPPRESS_SCORES);
    ig_dtype own = (ig_dtype)boxes->dtype;
    if (own != IG_DT_f32 && own != IG_DT_f64) {
        return INFER_ERROR(op, "operand 0 is %s, expected f32 or f64",
                           ig_operand_text(op, IG_SUPPRESS_BOXES));
    }
    IG_TRY(ig_check_dtype(op, IG_SUPPRESS_SCORES, IG_DT_f32));
    IG_TRY(ig_check_dtype(op, IG_SUPPRESS_SHARE, own));
    IG_TRY(ig_check_dtype(op, IG_SUPPRESS_MAX, IG_DT_i64));
    if (op->operand_count > IG_SUPPRESS_MIN) {
        IG_TRY(ig_check_dtype(op, IG_SUPPRESS_MIN, IG_DT_f32));
    }
    IG_TRY(ig_check_extent(op, IG_SUPPRESS_BOXES, 2, ig_dim_of(4), "4", NULL));
    IG_TRY(ig_check_extent(op, IG_SUPPRESS_SCORES, 0, boxes->dims[0],
                           "that of operand 0", NULL));
    IG_TRY(ig_check_extent(op, IG_SUPPRESS_SCORES, 2, boxes->dims[1],
                           "the number of boxes", NULL));
    out_types[0] = ig_type_tensor(ig_op_module(op), IG_DT_i64, 3, scores->dims);
    out_types[1] = ig_type_tensor(ig_op_module(op), IG_DT_i64, 2, scores->dims);
    return IG_OK;
}
