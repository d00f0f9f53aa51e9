/* A row per op whose samples do not need each other.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/shard/rows.h"

#include "ir/dim/dim.h"

#include <assert.h>

int64_t ig_samples_rows(const ig_samples *samples, const ig_value *value) {
    return (int64_t)(uintptr_t)ig_map_get_id(&samples->rows, IG_MAP_PTR(value));
}

void ig_samples_set(ig_samples *samples, const ig_value *value, int64_t rows) {
    assert(rows > 0 && ig_samples_have(samples, value, rows) && "rows of samples");
    ig_map_set_id(&samples->rows, IG_MAP_PTR(value), (void *)(uintptr_t)rows);
}

bool ig_samples_have(const ig_samples *samples, const ig_value *value, int64_t rows) {
    const ig_type *type = value->type;
    ig_dim each = ig_dim_const(samples->module, rows);
    if (type->kind != IG_TENSOR || type->rank == 0) {
        return false;
    }
    ig_dim all = ig_dim_mul(samples->module, samples->count, each);
    return ig_dim_same(type->dims[0], all) ||
           (samples->has_other &&
            ig_dim_same(type->dims[0],
                        ig_dim_mul(samples->module, samples->other, each)));
}

/* ---- operands ---- */

static ig_value *operand_of(const ig_op *op, uint32_t i) {
    return op->operands[i].value;
}

static bool is_cut(const ig_samples *s, const ig_op *op, uint32_t i) {
    return ig_samples_rows(s, operand_of(op, i)) > 0;
}

/* Operand `i` in samples of use->rows rows. */
static bool cut_operand(const ig_samples *s, const ig_op *op, uint32_t i,
                        ig_row_use *use) {
    use->operands[i] = use->rows;
    return ig_samples_have(s, operand_of(op, i), use->rows);
}

/* Rows of the first operand that is made in chunks. */
static int64_t rows_given(const ig_samples *s, const ig_op *op) {
    int64_t rows = 0;
    for (uint32_t i = 0; i < op->operand_count && !rows; i++) {
        rows = ig_samples_rows(s, operand_of(op, i));
    }
    return rows;
}

/* The first operand in samples, the others whole. */
static bool cut_first(const ig_samples *s, const ig_op *op, ig_row_use *use) {
    for (uint32_t i = 1; i < op->operand_count; i++) {
        if (is_cut(s, op, i)) {
            return false;
        }
    }
    use->rows = ig_samples_rows(s, operand_of(op, 0));
    return use->rows && cut_operand(s, op, 0, use);
}

/* ---- rules ---- */

typedef bool row_rule(const ig_samples *s, const ig_op *op, ig_row_use *use);

/* Axes are counted from the last: a value with fewer of them, or one row, is every
 * sample's. */
static bool rows_of_map(const ig_samples *s, const ig_op *op, ig_row_use *use) {
    use->rows = rows_given(s, op);
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const ig_type *type = operand_of(op, i)->type;
        bool is_shared = type->rank < op->results->type->rank ||
                         (ig_dim_is(type->dims[0], 1) && !is_cut(s, op, i));
        if (is_shared ? is_cut(s, op, i) : !cut_operand(s, op, i, use)) {
            return false;
        }
    }
    return true;
}

static bool rows_of_matmul(const ig_samples *s, const ig_op *op, ig_row_use *use) {
    uint32_t rank = operand_of(op, 0)->type->rank,
             other = operand_of(op, 1)->type->rank;
    bool is_turned = ig_attr_int(op, IG_matmul_transpose_a, 0) != 0;
    if (other == 2 && rank >= 2 && !(rank == 2 && is_turned)) {
        return cut_first(s, op, use);
    }
    use->rows = rows_given(s, op); /* a product for each sample */
    return rank == other && rank >= 3 && cut_operand(s, op, 0, use) &&
           cut_operand(s, op, 1, use);
}

/* Numbers of one row; 0 where it is not known, or none. */
static int64_t row_size(const ig_type *type) {
    int64_t size = 1, extent;
    for (uint32_t d = 1; d < type->rank; d++) {
        bool is_known = ig_dim_known(type->dims[d], &extent);
        if (!is_known || __builtin_mul_overflow(size, extent, &size)) {
            return 0;
        }
    }
    return size;
}

/* A sample's values stay contiguous. */
static bool rows_of_reshape(const ig_samples *s, const ig_op *op, ig_row_use *use) {
    const ig_type *type = op->results->type;
    if (op->operand_count > 1 || type->rank == 0 || !cut_first(s, op, use)) {
        return false;
    }
    int64_t from = row_size(operand_of(op, 0)->type), to = row_size(type), numbers;
    if (from < 1 || to < 1 || __builtin_mul_overflow(use->rows, from, &numbers) ||
        numbers % to != 0) {
        return false;
    }
    use->rows = numbers / to;
    use->dims = IG_reshape_to;
    return true;
}

static bool rows_of_transpose(const ig_samples *s, const ig_op *op, ig_row_use *use) {
    return op->attrs[IG_transpose_perm].as.ints[0] == 0 && cut_first(s, op, use);
}

static bool rows_of_expand(const ig_samples *s, const ig_op *op, ig_row_use *use) {
    use->dims = IG_expand_to;
    return ig_attr_is_set(op, IG_expand_to) && op->operand_count == 1 &&
           operand_of(op, 0)->type->rank == op->attrs[IG_expand_to].count &&
           op->results->type->rank == op->attrs[IG_expand_to].count &&
           ig_dim_same(op->attrs[IG_expand_to].as.dims[0],
                       op->results->type->dims[0]) &&
           cut_first(s, op, use);
}

/* Of all rows, in order. */
static bool rows_of_slice(const ig_samples *s, const ig_op *op, ig_row_use *use) {
    if (op->operand_count > 1 || !ig_attr_is_set(op, IG_slice_starts) ||
        !cut_first(s, op, use)) {
        return false;
    }
    const ig_attr *steps = &op->attrs[IG_slice_steps];
    use->dims = IG_slice_sizes;
    return ig_dim_is(op->attrs[IG_slice_starts].as.dims[0], 0) &&
           (!ig_attr_is_set(op, IG_slice_steps) || steps->as.ints[0] == 1);
}

static uint32_t axis_of(const ig_op *op, uint32_t slot) {
    int64_t axis = ig_attr_int(op, slot, 0);
    return (uint32_t)(axis < 0 ? axis + operand_of(op, 0)->type->rank : axis);
}

static bool rows_of_concat(const ig_samples *s, const ig_op *op, ig_row_use *use) {
    use->rows = rows_given(s, op);
    for (uint32_t i = 0; i < op->operand_count; i++) {
        if (!cut_operand(s, op, i, use)) {
            return false;
        }
    }
    return axis_of(op, IG_concat_axis) != 0;
}

static bool rows_of_softmax(const ig_samples *s, const ig_op *op, ig_row_use *use) {
    return axis_of(op, IG_softmax_axis) != 0 && cut_first(s, op, use);
}

static bool rows_of_layer_norm(const ig_samples *s, const ig_op *op, ig_row_use *use) {
    return axis_of(op, IG_layer_norm_axis) != 0 && cut_first(s, op, use);
}

static bool rows_of_cumsum(const ig_samples *s, const ig_op *op, ig_row_use *use) {
    return axis_of(op, IG_cumsum_axis) != 0 && cut_first(s, op, use);
}

/* Queries, keys and values of each sample; a mask of its own, or one for all. */
static bool rows_of_attention(const ig_samples *s, const ig_op *op, ig_row_use *use) {
    uint32_t rank = operand_of(op, 0)->type->rank;
    use->rows = ig_samples_rows(s, operand_of(op, 0));
    for (uint32_t i = 0; i < 3; i++) {
        if (operand_of(op, i)->type->rank != rank || !cut_operand(s, op, i, use)) {
            return false;
        }
    }
    if (op->operand_count > 3 && is_cut(s, op, 3)) {
        return operand_of(op, 3)->type->rank == rank && cut_operand(s, op, 3, use);
    }
    return rank >= 3;
}

static bool rows_of_gather(const ig_samples *s, const ig_op *op, ig_row_use *use) {
    return axis_of(op, IG_gather_axis) != 0 && cut_first(s, op, use);
}

static bool rows_of_reduce(const ig_samples *s, const ig_op *op, ig_row_use *use) {
    const ig_attr *axes = &op->attrs[IG_reduce_axes];
    if (op->operand_count > 1 || !ig_attr_is_set(op, IG_reduce_axes)) {
        return false;
    }
    for (uint32_t i = 0; i < axes->count; i++) {
        int64_t axis = axes->as.ints[i];
        if (axis == 0 || axis + operand_of(op, 0)->type->rank == 0) {
            return false;
        }
    }
    return axes->count > 0 && cut_first(s, op, use);
}

static row_rule *const rules[IG_OP_COUNT] = {
    [IG_OP_matmul] = rows_of_matmul,       [IG_OP_reshape] = rows_of_reshape,
    [IG_OP_transpose] = rows_of_transpose, [IG_OP_expand] = rows_of_expand,
    [IG_OP_slice] = rows_of_slice,         [IG_OP_concat] = rows_of_concat,
    [IG_OP_interact] = cut_first,          [IG_OP_softmax] = rows_of_softmax,
    [IG_OP_gather] = rows_of_gather,       [IG_OP_layer_norm] = rows_of_layer_norm,
    [IG_OP_reduce] = rows_of_reduce,       [IG_OP_cumsum] = rows_of_cumsum,
    [IG_OP_attention] = rows_of_attention, [IG_OP_forest] = cut_first,
    [IG_OP_batch_norm] = cut_first,
};

bool ig_op_keeps_samples(const ig_samples *samples, const ig_op *op, ig_row_use *use) {
    row_rule *rule = ig_ops[op->code].traits & IG_MAP ? rows_of_map : rules[op->code];
    if (!rule || op->result_count != 1 || op->body_count || !rows_given(samples, op)) {
        return false;
    }
    *use = (ig_row_use){ .operands = use->operands, .dims = -1 };
    for (uint32_t i = 0; i < op->operand_count; i++) {
        use->operands[i] = 0;
    }
    return rule(samples, op, use) && ig_samples_have(samples, op->results, use->rows);
}
