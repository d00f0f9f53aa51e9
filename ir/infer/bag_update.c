/* Result types of bag_group and bag_update.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/bag.h"

#include "ir/hooks.h"
#include "ir/infer/infer.h"

ig_status ig_infer_bag_group(ig_op *op, const ig_type **out_types) {
    const ig_attr *rows = &op->attrs[IG_bag_group_rows];
    if (rows->count != op->operand_count ||
        op->result_count != 2u * op->operand_count) {
        return INFER_ERROR(
            op,
            "%u lists of ids need as many 'rows' and two results each, not %u and %u",
            op->operand_count, rows->count, op->result_count);
    }
    for (uint32_t i = 0; i < op->operand_count; i++) {
        int64_t known;
        IG_TRY(ig_check_rank(op, i, 1));
        IG_TRY(ig_check_dtype(op, i, IG_DT_i64));
        if (ig_dim_known(rows->as.dims[i], &known) && known > IG_BAG_GROUP_ROWS) {
            return INFER_FAIL(op, IG_LIMIT, "table %u has %lld rows, at most 2^31", i,
                              (long long)known);
        }
        out_types[2 * i] = out_types[2 * i + 1] = ig_operand_type(op, i);
    }
    return IG_OK;
}

/* ---- bag_update ---- */

static ig_status check_counts(const ig_op *op) {
    return ig_bag_update_counts_fit(op)
               ? IG_OK
               : INFER_ERROR(
                     op,
                     "'tables' and 'states' do not go with %u operands and %u results",
                     op->operand_count, op->result_count);
}

/* A list of i64, as long as list `as`. */
static ig_status check_list(const ig_op *op, uint32_t operand, uint32_t as) {
    ig_dim count = ig_operand_type(op, as)->dims[0];
    IG_TRY(ig_check_rank(op, operand, 1));
    IG_TRY(ig_check_dtype(op, operand, IG_DT_i64));
    return ig_check_extent(op, operand, 0, count, "the number of rows", NULL);
}

/* [rows, D], or for a state perhaps [rows, 1]. */
static ig_status check_matrix(const ig_op *op, const ig_bag_update_table *t,
                              uint32_t operand) {
    const ig_type *weight = ig_operand_type(op, t->weight), *type;
    IG_TRY(ig_check_rank(op, operand, 2));
    IG_TRY(ig_check_dtype(op, operand, (ig_dtype)weight->dtype));
    type = ig_operand_type(op, operand);
    IG_TRY(
        ig_check_extent(op, operand, 0, weight->dims[0], "that of the weight", NULL));
    return ig_dim_is(type->dims[1], 1)
               ? IG_OK
               : ig_check_extent(op, operand, 1, weight->dims[1], "that of the weight",
                                 NULL);
}

static ig_status check_gradients(const ig_op *op, const ig_bag_update_table *t) {
    const ig_type *weight = ig_operand_type(op, t->weight);
    IG_TRY(ig_check_rank(op, t->gradients, 2));
    IG_TRY(ig_check_dtype(op, t->gradients, (ig_dtype)weight->dtype));
    IG_TRY(ig_check_extent(op, t->gradients, 1, weight->dims[1], "that of the weight",
                           NULL));
    if (t->bags) {
        IG_TRY(ig_check_rank(op, t->bags, 1));
        IG_TRY(ig_check_dtype(op, t->bags, IG_DT_i64));
    }
    if (t->factors) {
        IG_TRY(ig_check_rank(op, t->factors, 1));
        IG_TRY(ig_check_dtype(op, t->factors, (ig_dtype)weight->dtype));
    }
    return IG_OK;
}

/* All tables have one dtype, and rows of one length. */
static ig_status check_table(const ig_op *op, const ig_bag_update_table *t) {
    const ig_type *first = ig_operand_type(op, 0), *type;
    IG_TRY(ig_check_rank(op, t->weight, 2));
    IG_TRY(ig_check_dtype(op, t->weight, (ig_dtype)first->dtype));
    type = ig_operand_type(op, t->weight);
    if (type->dtype != IG_DT_f32 && type->dtype != IG_DT_f64) {
        return INFER_ERROR(op, "operand %u is %s; tables of f32 and f64 change",
                           t->weight, ig_operand_text(op, t->weight));
    }
    IG_TRY(ig_check_extent(op, t->weight, 1, first->dims[1], "that of the first table",
                           NULL));
    for (uint32_t s = 0; s < ig_bag_update_states(op); s++) {
        IG_TRY(check_matrix(op, t, t->weight + 1 + s));
    }
    IG_TRY(ig_check_rank(op, t->rows, 1));
    IG_TRY(check_list(op, t->rows, t->rows));
    IG_TRY(check_list(op, t->positions, t->rows));
    return check_gradients(op, t);
}

ig_status ig_infer_bag_update(ig_op *op, const ig_type **out_types) {
    IG_TRY(check_counts(op));
    uint32_t own = 1 + ig_bag_update_states(op);
    for (uint32_t i = 0; i < ig_bag_update_tables(op); i++) {
        ig_bag_update_table t = ig_bag_update_at(op, i);
        IG_TRY(check_table(op, &t));
        for (uint32_t k = 0; k < own; k++) {
            out_types[i * own + k] = ig_operand_type(op, t.weight + k);
        }
    }
    for (uint32_t i = ig_bag_update_scalars(op); i < op->operand_count; i++) {
        IG_TRY(ig_check_rank(op, i, 0));
    }
    return IG_OK;
}
