/* Result types of bag and interact.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/bag.h"

#include "ir/hooks.h"
#include "ir/infer/infer.h"

#include <assert.h>

/* ---- checks ---- */

static bool has_array(const ig_op *op, uint32_t slot, uint32_t count) {
    return !ig_attr_is_set(op, slot) || op->attrs[slot].count == count;
}

/* Entry `number` of what says which operands a feature has; adds them to *operands. */
static ig_status check_entries(const ig_op *op, uint32_t index, uint64_t *operands) {
    int64_t mask = op->attrs[IG_bag_operands].as.ints[index];
    bool has_tables = ig_attr_is_set(op, IG_bag_tables);
    int64_t tables = has_tables ? op->attrs[IG_bag_tables].as.ints[index] : 1;
    if (mask < 0 || mask > (IG_BAG_BEGINS | IG_BAG_ENDS | IG_BAG_WEIGHTS)) {
        return INFER_ERROR(op, "entry %u of 'operands' is %lld", index,
                           (long long)mask);
    }
    if (tables < 1 || tables > op->operand_count) {
        return INFER_ERROR(op, "entry %u of 'tables' is %lld", index,
                           (long long)tables);
    }
    *operands += (uint64_t)tables + 1 + (uint64_t)__builtin_popcountll((uint64_t)mask);
    return IG_OK;
}

static ig_status check_arrays(const ig_op *op) {
    uint32_t count = ig_bag_feature_count(op);
    uint64_t operands = 0;
    if (!has_array(op, IG_bag_tables, count)) {
        return INFER_ERROR(op, "'tables' has %u entries for %u features",
                           op->attrs[IG_bag_tables].count, count);
    }
    for (uint32_t i = 0; i < count; i++) {
        IG_TRY(check_entries(op, i, &operands));
    }
    if (operands != op->operand_count || count != op->result_count) {
        return INFER_ERROR(
            op,
            "%u features need %llu operands and as many results as features, not %u and %u",
            count, (unsigned long long)operands, op->operand_count, op->result_count);
    }
    if (!has_array(op, IG_bag_pool, count) || !has_array(op, IG_bag_padding, count) ||
        !has_array(op, IG_bag_last, count) || !has_array(op, IG_bag_empty, count)) {
        return INFER_ERROR(
            op, "'pool', 'padding', 'last' and 'empty' have one entry a feature");
    }
    return IG_OK;
}

static ig_status check_layout(const ig_op *op, uint32_t operand) {
    const ig_type *type = ig_operand_type(op, operand);
    int64_t dim;
    (void)ig_dim_known(type->dims[1], &dim); /* 0 where it is not */
    ig_row_layout layout;
    if (!ig_row_layout_of(type->rows, ig_dtypes[type->dtype].bits, dim, &layout)) {
        return INFER_ERROR(op, "operand %u is %s, whose rows have an impossible format",
                           operand, ig_operand_text(op, operand));
    }
    return IG_OK;
}

/* Rows of integers are copied as they are, or not at all. */
static ig_status check_plain(const ig_op *op, uint32_t operand, ig_pool pool,
                             bool has_to) {
    ig_dtype dtype = (ig_dtype)ig_operand_type(op, operand)->dtype;
    bool is_copied = pool == IG_POOL_none && ig_dtype_is_int(dtype) &&
                     ig_dtypes[dtype].bits >= 8;
    if (is_copied && has_to) {
        return INFER_ERROR(op, "rows of integers keep their dtype");
    }
    return is_copied ? IG_OK : ig_check_float(op, operand);
}

/* The dtype of the result: `to`, else that of a plain table, else f32. */
static ig_status check_table(const ig_op *op, uint32_t operand, ig_pool pool,
                             ig_dtype *out_dtype) {
    const ig_type *type = ig_operand_type(op, operand);
    ig_dtype dtype = (ig_dtype)type->dtype;
    bool is_matrix = type->kind == IG_TENSOR && type->rank == 2;
    if (!is_matrix && type->kind != IG_TABLE) {
        return INFER_ERROR(op, "operand %u is %s, expected a table or a matrix",
                           operand, ig_operand_text(op, operand));
    }
    bool has_to = ig_attr_is_set(op, IG_bag_to);
    bool has_codes = type->kind == IG_TABLE &&
                     (type->rows.format != IG_ROW_PLAIN || type->rows.exponent_bits);
    dtype = has_codes ? IG_DT_f32 : dtype;
    *out_dtype = (ig_dtype)ig_attr_int(op, IG_bag_to, (int64_t)dtype);
    if (has_to && !ig_dtype_is_float(*out_dtype)) {
        return INFER_ERROR(op, "'to' is not a float type");
    }
    IG_TRY(type->kind == IG_TABLE ? check_layout(op, operand) : IG_OK);
    return has_codes ? ig_check_int(op, operand)
                     : check_plain(op, operand, pool, has_to);
}

/* The tables of a feature differ in nothing but how many rows they have. */
static ig_status check_more_tables(const ig_op *op, const ig_bag_feature *feature) {
    const ig_type *first = ig_operand_type(op, feature->table);
    bool wraps = ig_attr_int(op, IG_bag_negative, IG_NEGATIVE_wrap) == IG_NEGATIVE_wrap;
    if (feature->tables > 1 && (wraps || feature->padding != INT64_MIN)) {
        return INFER_ERROR(
            op, "ids of several tables do not count from the end, and none is padding");
    }
    for (uint32_t i = 0; feature->tables > 1 && i < feature->tables; i++) {
        const ig_type *next = ig_operand_type(op, feature->table + i);
        bool is_alike = !ig_dim_is(next->dims[0], 0) && next->kind == first->kind &&
                        next->dtype == first->dtype && next->rank == first->rank &&
                        ig_rows_equal(next->rows, first->rows) &&
                        ig_claim_equal(ig_op_module(op), next->dims[1], first->dims[1]);
        if (!is_alike) {
            return INFER_ERROR(op, "operand %u is %s, expected rows like those of %s",
                               feature->table + i,
                               ig_operand_text(op, feature->table + i),
                               ig_operand_text(op, feature->table));
        }
    }
    return IG_OK;
}

/* An entry that a text may hold as any number. */
static bool is_within(int64_t entry, int64_t max) {
    return entry >= 0 && entry <= max;
}

static ig_status check_feature(const ig_op *op, uint32_t index,
                               const ig_bag_feature *feature) {
    IG_TRY(ig_check_tensor(op, feature->ids));
    IG_TRY(ig_check_int(op, feature->ids));
    uint32_t offsets[] = { feature->begins, feature->ends };
    for (uint32_t i = 0; i < IG_COUNT_OF(offsets); i++) {
        if (offsets[i]) {
            IG_TRY(ig_check_rank(op, offsets[i], 1));
            IG_TRY(ig_check_int(op, offsets[i]));
        }
    }
    if (feature->weights) {
        IG_TRY(ig_check_tensor(op, feature->weights));
        IG_TRY(ig_check_float(op, feature->weights));
    }
    bool is_known = feature->pool == IG_POOL_sum || feature->pool == IG_POOL_mean ||
                    feature->pool == IG_POOL_max || feature->pool == IG_POOL_none;
    bool has_begins = feature->begins > 0, has_ends = feature->ends > 0;
    bool has_last = feature->last != IG_LAST_ids;
    if (!is_known || (has_ends && (!has_begins || has_last)) ||
        (has_last && !has_begins)) {
        return INFER_ERROR(op, "feature %u: pooling and offsets do not fit together",
                           index);
    }
    if (!is_within((int64_t)feature->last, IG_LAST_rest) ||
        !is_within((int64_t)feature->empty, IG_EMPTY_nan)) {
        return INFER_ERROR(op, "feature %u: 'last' or 'empty' has no such value",
                           index);
    }
    return IG_OK;
}

static ig_status check_weights(const ig_op *op, const ig_bag_feature *feature) {
    if (!feature->weights) {
        return IG_OK;
    }
    const ig_type *ids = ig_operand_type(op, feature->ids);
    IG_TRY(ig_check_rank(op, feature->weights, ids->rank));
    for (uint32_t i = 0; i < ids->rank; i++) {
        IG_TRY(ig_check_extent(op, feature->weights, i, ids->dims[i], "that of the ids",
                               NULL));
    }
    return IG_OK;
}

/* ---- results ---- */

static ig_status count_bags(const ig_op *op, const ig_bag_feature *feature,
                            ig_dim *out_bags) {
    ig_module *module = ig_op_module(op);
    ig_dim offsets = ig_operand_type(op, feature->begins)->dims[0];
    if (feature->ends) {
        IG_TRY(ig_check_extent(op, feature->ends, 0, offsets, "the number of begins",
                               &offsets));
    }
    bool has_last = feature->last != IG_LAST_ids;
    if (has_last && !ig_claim_less_equal(module, ig_dim_of(1), offsets)) {
        return INFER_ERROR(op, "operand %u is %s, expected the last end in it",
                           feature->begins, ig_operand_text(op, feature->begins));
    }
    *out_bags = has_last ? ig_dim_sub(module, offsets, ig_dim_of(1)) : offsets;
    return IG_OK;
}

/* Extents of a feature's result, without that of a row; room for one more. */
static ig_status infer_extents(const ig_op *op, uint32_t index,
                               const ig_bag_feature *feature, ig_dim *dims,
                               uint32_t *out_rank) {
    const ig_type *ids = ig_operand_type(op, feature->ids);
    *out_rank = 1;
    if (feature->begins) {
        IG_TRY(ig_check_rank(op, feature->ids, 1));
        IG_TRY(count_bags(op, feature, &dims[0]));
        dims[0] = feature->pool == IG_POOL_none ? ids->dims[0] : dims[0];
        return IG_OK;
    }
    if (feature->pool != IG_POOL_none) {
        IG_TRY(ig_check_rank(op, feature->ids, 2));
        dims[0] = ids->dims[0];
        return IG_OK;
    }
    if (ids->rank == IG_TENSOR_RANK) {
        return INFER_FAIL(op, IG_LIMIT, "feature %u: ids have too many dimensions",
                          index);
    }
    *out_rank = ids->rank;
    for (uint32_t i = 0; i < ids->rank; i++) {
        dims[i] = ids->dims[i];
    }
    return IG_OK;
}

static ig_status infer_feature(const ig_op *op, uint32_t index,
                               const ig_type **out_type) {
    ig_bag_feature feature = ig_bag_feature_at(op, index);
    ig_dtype dtype = IG_DT_f32;
    IG_TRY(check_table(op, feature.table, feature.pool, &dtype));
    IG_TRY(check_more_tables(op, &feature));
    IG_TRY(check_feature(op, index, &feature));
    IG_TRY(check_weights(op, &feature));
    ig_dim dims[IG_TENSOR_RANK + 1];
    uint32_t rank;
    IG_TRY(infer_extents(op, index, &feature, dims, &rank));
    dims[rank++] = ig_operand_type(op, feature.table)->dims[1];
    *out_type = ig_type_tensor(ig_op_module(op), dtype, rank, dims);
    return IG_OK;
}

ig_status ig_infer_bag(ig_op *op, const ig_type **out_types) {
    IG_TRY(check_arrays(op));
    for (uint32_t i = 0; i < ig_bag_feature_count(op); i++) {
        IG_TRY(infer_feature(op, i, &out_types[i]));
    }
    return IG_OK;
}

ig_status ig_infer_bag_ids(ig_op *op, const ig_type **out_types) {
    ig_module *module = ig_op_module(op);
    int64_t mask = ig_attr_int(op, IG_bag_ids_operands, 0);
    if (!is_within(mask, IG_BAG_BEGINS | IG_BAG_ENDS | IG_BAG_WEIGHTS)) {
        return INFER_ERROR(op, "'operands' is %lld", (long long)mask);
    }
    ig_bag_feature feature = ig_bag_ids_feature(op);
    uint32_t results = feature.weights ? 3 : 2;
    if (feature.operands != op->operand_count || results != op->result_count) {
        return INFER_ERROR(op, "it needs %u operands and %u results, not %u and %u",
                           feature.operands, results, op->operand_count,
                           op->result_count);
    }
    if (ig_attr_int(op, IG_bag_ids_rows, 0) < 0) {
        return INFER_ERROR(op, "'rows' is negative");
    }
    IG_TRY(check_feature(op, 0, &feature));
    IG_TRY(check_weights(op, &feature));
    ig_dim dims[IG_TENSOR_RANK + 1];
    uint32_t rank;
    IG_TRY(infer_extents(op, 0, &feature, dims, &rank));
    bool is_none = feature.pool == IG_POOL_none;
    ig_dim bags = is_none ? ig_dim_product(module, dims, rank) : dims[0];
    ig_dim ids = is_none ? bags : ig_result_symbol(op, 1, 0, "ids");
    out_types[0] = ig_type_tensor(module, IG_DT_i64, 1, &bags);
    out_types[1] = ig_type_tensor(module, IG_DT_i64, 1, &ids);
    if (feature.weights) {
        const ig_type *weights = ig_operand_type(op, feature.weights);
        out_types[2] = ig_type_with_dims(module, weights, 1, &ids);
    }
    return IG_OK;
}

ig_status ig_infer_interact(ig_op *op, const ig_type **out_types) {
    IG_TRY(ig_check_rank(op, 0, 3));
    IG_TRY(ig_check_float(op, 0));
    const ig_type *type = ig_operand_type(op, 0);
    const ig_attr *pairs = &op->attrs[IG_interact_pairs];
    int64_t rows;
    bool is_known = ig_dim_known(type->dims[1], &rows);
    for (uint32_t i = 0; i < pairs->count && is_known; i++) {
        int64_t pair = pairs->as.ints[i];
        if (pair < 0 || rows == 0 || pair / rows >= rows) {
            return INFER_ERROR(
                op, "operand 0 is %s, and pair %u is %lld, outside of its rows",
                ig_operand_text(op, 0), i, (long long)pair);
        }
    }
    ig_dim dims[] = { type->dims[0], ig_dim_of(pairs->count) };
    out_types[0] = ig_type_with_dims(ig_op_module(op), type, 2, dims);
    return IG_OK;
}

ig_status ig_infer_bounds(ig_op *op, const ig_type **out_types) {
    ig_dim one = ig_dim_of(1);
    for (uint32_t i = 0; i < op->operand_count; i++) {
        IG_TRY(ig_check_rank(op, i, 1));
        IG_TRY(ig_check_int(op, i));
    }
    if (ig_attr_int(op, IG_bounds_range, 0) == IG_RANGE_clamp) {
        return INFER_ERROR(op, "ids become 0, or are errors");
    }
    out_types[0] = ig_operand_type(op, 0);
    out_types[1] = ig_operand_type(op, 1);
    out_types[2] = ig_type_tensor(ig_op_module(op), IG_DT_i64, 1, &one);
    return IG_OK;
}
