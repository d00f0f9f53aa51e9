/* canonicalise: rules for gather, concat, tile and small constants.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/canonical/canonicalise.h"

#include <string.h>

/* Axis attributes may count from the end. */
static uint32_t axis_of(const ig_op *op, uint32_t slot, uint32_t rank) {
    int64_t axis = ig_attr_int(op, slot, 0);
    return (uint32_t)(axis < 0 ? axis + rank : axis);
}

/* An axis that counts from the end counts from the front. */
static ig_value *axis_from_front(ig_builder *b, ig_op *op) {
    static const uint8_t slots[IG_OP_COUNT] = {
        [IG_OP_concat] = IG_concat_axis,
        [IG_OP_gather] = IG_gather_axis,
        [IG_OP_gather_elements] = IG_gather_elements_axis,
    };
    uint32_t slot = slots[op->code], rank = ig_op_operand(op, 0)->type->rank;
    if (ig_attr_int(op, slot, 0) >= 0) {
        return NULL;
    }
    ig_arena *arena = &ig_op_module(op)->arena;
    ig_attr *attrs = IG_NEW_ARRAY(arena, ig_attr, ig_ops[op->code].attr_count);
    ig_value **operands = IG_NEW_ARRAY(arena, ig_value *, op->operand_count);
    memcpy(attrs, op->attrs, ig_ops[op->code].attr_count * sizeof *attrs);
    attrs[slot] = ig_attr_of_int(axis_of(op, slot, rank));
    for (uint32_t i = 0; i < op->operand_count; i++) {
        operands[i] = ig_op_operand(op, i);
    }
    ig_expr e = ig_expr_trying(b);
    return ig_expr_make(&e, op->code, operands, op->operand_count, attrs);
}

/* ---- concat ---- */

/* A concat of one is that one. */
static ig_value *concat_of_one(ig_builder *b, ig_op *op) {
    (void)b;
    return op->operand_count == 1 ? ig_op_operand(op, 0) : NULL;
}

static ig_value *make_concat(ig_builder *b, const ig_op *like, uint32_t count,
                             ig_value *const *operands) {
    ig_expr e = ig_expr_trying(b);
    return ig_expr_make(&e, IG_OP_concat, operands, count, like->attrs);
}

/* Operands without elements along the axis add nothing. */
static ig_value *concat_without_empty(ig_builder *b, ig_op *op) {
    uint32_t axis = axis_of(op, IG_concat_axis, op->results[0].type->rank);
    uint32_t empty = 0, count = 0;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        empty += ig_dim_is(ig_op_operand(op, i)->type->dims[axis], 0);
    }
    if (empty == 0 ||
        empty == op->operand_count) { /* if all are: the first is as good */
        return empty ? ig_same_type(op, ig_op_operand(op, 0)) : NULL;
    }
    ig_value **kept = IG_NEW_ARRAY(&ig_op_module(op)->arena, ig_value *,
                                   op->operand_count - empty);
    for (uint32_t i = 0; i < op->operand_count; i++) {
        if (!ig_dim_is(ig_op_operand(op, i)->type->dims[axis], 0)) {
            kept[count++] = ig_op_operand(op, i);
        }
    }
    return make_concat(b, op, count, kept);
}

static ig_op *inner_concat(const ig_op *op, uint32_t index, uint32_t axis) {
    ig_op *inner = ig_def(ig_op_operand(op, index), IG_OP_concat);
    return inner && ig_value_has_one_use(ig_op_operand(op, index)) &&
                   axis_of(inner, IG_concat_axis, op->results[0].type->rank) == axis
               ? inner
               : NULL;
}

/* A concat inside a concat along the same axis dissolves. */
static ig_value *concat_of_concat(ig_builder *b, ig_op *op) {
    uint32_t axis = axis_of(op, IG_concat_axis, op->results[0].type->rank);
    size_t count = 0;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const ig_op *inner = inner_concat(op, i, axis);
        count += inner ? inner->operand_count : 1;
    }
    if (count == op->operand_count || count > UINT16_MAX) {
        return NULL;
    }
    ig_value **flat = IG_NEW_ARRAY(&ig_op_module(op)->arena, ig_value *, count);
    uint32_t at = 0;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const ig_op *inner = inner_concat(op, i, axis);
        for (uint32_t k = 0; k < (inner ? inner->operand_count : 1u); k++) {
            flat[at++] = inner ? ig_op_operand(inner, k) : ig_op_operand(op, i);
        }
    }
    return make_concat(b, op, at, flat);
}

enum { COPIES_MIN = 8 }; /* fewer are copied where they go, one by one */

/* `count` copies of x concatenated along `axis`. */
static ig_value *repeat_along(ig_expr *e, ig_value *x, uint32_t axis, uint32_t count) {
    ig_dim split[IG_TENSOR_RANK + 1], wide[IG_TENSOR_RANK + 1], whole[IG_TENSOR_RANK];
    uint32_t rank = x->type->rank;
    memcpy(whole, x->type->dims, rank * sizeof *whole);
    whole[axis] = ig_dim_mul(e->module, whole[axis], ig_dim_of(count));
    memcpy(split, x->type->dims, axis * sizeof *split);
    memcpy(split + axis + 1, x->type->dims + axis, (rank - axis) * sizeof *split);
    split[axis] = ig_dim_of(1);
    memcpy(wide, split, (rank + 1) * sizeof *wide);
    wide[axis] = ig_dim_of(count);
    x = ig_expr_expand(e, ig_expr_reshape(e, x, rank + 1, split), rank + 1, wide);
    return ig_expr_reshape(e, x, rank, whole);
}

/* How many operands from `first` on are the same value. */
static uint32_t count_copies(const ig_op *op, uint32_t first) {
    uint32_t count = 1;
    while (first + count < op->operand_count &&
           ig_op_operand(op, first + count) == ig_op_operand(op, first)) {
        count++;
    }
    return count;
}

/* Many copies of one value in a row are that value repeated: one loop, not one each. */
static ig_value *concat_of_copies(ig_builder *b, ig_op *op) {
    uint32_t rank = op->results[0].type->rank, at = 0, longest = 0;
    for (uint32_t i = 0; i < op->operand_count; i += count_copies(op, i)) {
        uint32_t count = count_copies(op, i);
        longest = count > longest ? count : longest;
    }
    if (longest < COPIES_MIN || rank == IG_TENSOR_RANK) {
        return NULL;
    }
    ig_expr e = ig_expr_trying(b);
    uint32_t axis = axis_of(op, IG_concat_axis, rank);
    ig_value **parts = IG_NEW_ARRAY(&ig_op_module(op)->arena, ig_value *,
                                    op->operand_count);
    for (uint32_t i = 0, count; i < op->operand_count; i += count) {
        ig_value *x = ig_op_operand(op, i);
        count = count_copies(op, i);
        bool is_run = count >= COPIES_MIN;
        for (uint32_t k = 0; k < (is_run ? 1u : count); k++) {
            parts[at++] = is_run ? repeat_along(&e, x, axis, count) : x;
        }
    }
    return make_concat(b, op, at, parts);
}

/* A slice within one operand of a concat is a slice of that one. */
static ig_value *slice_of_concat(ig_builder *b, ig_op *op) {
    ig_op *concat = ig_def(ig_op_operand(op, 0), IG_OP_concat);
    if (!concat || op->operand_count != 1 || ig_attr_is_set(op, IG_slice_steps)) {
        return NULL;
    }
    ig_module *module = ig_op_module(op);
    uint32_t rank = op->results[0].type->rank;
    uint32_t axis = axis_of(concat, IG_concat_axis, rank);
    ig_dim starts[IG_TENSOR_RANK];
    memcpy(starts, op->attrs[IG_slice_starts].as.dims, rank * sizeof(*starts));
    const ig_dim *sizes = op->attrs[IG_slice_sizes].as.dims;
    ig_dim past = ig_dim_add(module, starts[axis], sizes[axis]), begin = ig_dim_of(0);
    for (uint32_t i = 0; i < concat->operand_count; i++) {
        ig_value *x = ig_op_operand(concat, i);
        ig_dim end = ig_dim_add(module, begin, x->type->dims[axis]);
        if (ig_dim_less_equal(module, begin, starts[axis]) == IG_YES &&
            ig_dim_less_equal(module, past, end) == IG_YES) {
            starts[axis] = ig_dim_sub(module, starts[axis], begin);
            ig_expr e = ig_expr_trying(b);
            return ig_expr_slices(&e, x, starts, sizes, NULL);
        }
        begin = end;
    }
    return NULL;
}

/* ---- gather ---- */

/* Indices that are first, first + step, … */
typedef struct progression {
    int64_t first, step, count;
} progression;

static bool is_readable(const ig_data *data) {
    return data && data->bytes && data->type->kind == IG_TENSOR &&
           ig_type_is_static(data->type);
}

static bool read_progression(const ig_value *indices, progression *out) {
    enum { COUNT_MAX = 1 << 13 };
    const ig_data *data = ig_constant_of(indices);
    int64_t count = 1;
    if (!is_readable(data)) {
        return false;
    }
    for (uint32_t i = 0; i < data->type->rank; i++) {
        int64_t extent = ig_dim_value(data->type->dims[i]);
        if (extent > COUNT_MAX || (count *= extent) > COUNT_MAX) {
            return false;
        }
    }
    if (count == 0 || (data->is_splat && count > 1)) {
        return false;
    }
    ig_tensor tensor = { .kind = IG_TENSOR,
                         .dtype = (ig_dtype)data->type->dtype,
                         .count = count };
    tensor.data = (void *)(uintptr_t)data->bytes; /* only read */
    out->count = count;
    out->first = ig_tensor_get_i64(&tensor, 0);
    out->step = count > 1 ? ig_tensor_get_i64(&tensor, 1) - out->first : 1;
    for (int64_t i = 1; i < count; i++) {
        int64_t step = ig_tensor_get_i64(&tensor, i) -
                       ig_tensor_get_i64(&tensor, i - 1);
        if (step != out->step) {
            return false;
        }
    }
    /* Far positions are an error anyway; near ones cannot overflow below. */
    return out->step != 0 && out->first > -(INT64_C(1) << 40) &&
           out->first < INT64_C(1) << 40 && out->step > -(INT64_C(1) << 20) &&
           out->step < INT64_C(1) << 20;
}

/* The first position from the front, and the extent that is needed.  False when indices
 * are on both sides of zero, since then counting from the end is no even step. */
static bool place_progression(const ig_op *op, const progression *p, ig_dim extent,
                              ig_dim *out_first, ig_dim *out_needed) {
    ig_module *module = ig_op_module(op);
    int64_t last = p->first + p->step * (p->count - 1);
    int64_t min = p->first < last ? p->first : last;
    int64_t max = p->first < last ? last : p->first;
    bool wraps = ig_attr_int(op, IG_gather_negative, 0) == IG_NEGATIVE_wrap;
    if (min < 0 && (max >= 0 || !wraps)) {
        return false;
    }
    *out_needed = ig_dim_of(min < 0 ? -min : max + 1);
    if (ig_dim_less_equal(module, *out_needed, extent) == IG_NO) {
        return false; /* the run reports it */
    }
    *out_first = ig_dim_const(module, p->first);
    if (min < 0) {
        *out_first = ig_dim_add(module, extent, *out_first);
    }
    return true;
}

/* A gather of evenly spaced constant positions is a slice (and a reshape, when the
 * indices are not a list). */
static ig_value *gather_of_even_indices(ig_builder *b, ig_op *op) {
    ig_value *x = ig_op_operand(op, 0);
    const ig_type *result = op->results[0].type;
    uint32_t rank = x->type->rank, axis = axis_of(op, IG_gather_axis, rank);
    progression p;
    ig_dim starts[IG_TENSOR_RANK] = { 0 }, sizes[IG_TENSOR_RANK];
    int64_t steps[IG_TENSOR_RANK];
    ig_dim extent = x->type->dims[axis], needed;
    if (!read_progression(ig_op_operand(op, 1), &p) ||
        !place_progression(op, &p, extent, &starts[axis], &needed)) {
        return NULL;
    }
    for (uint32_t i = 0; i < rank; i++) {
        sizes[i] = i == axis ? ig_dim_of(p.count) : x->type->dims[i];
        steps[i] = i == axis ? p.step : 1;
    }
    ig_expr e = ig_expr_trying(b);
    ig_value *by = ig_expr_slices(&e, x, starts, sizes, steps);
    if (by && ig_op_operand(op, 1)->type->rank != 1) {
        by = ig_expr_reshape(&e, by, result->rank, result->dims);
    }
    if (by) {
        ig_expr_guard_less_equal(&e, needed, extent,
                                 "a gather's index is out of range");
    }
    return by;
}

/* Is every element of a short constant list the same? */
static bool is_one_number(const ig_data *data) {
    enum { COUNT_MAX = 1 << 13 };
    if (!is_readable(data) || data->type->rank != 1 || data->is_splat ||
        ig_dim_is(data->type->dims[0], 0) ||
        ig_dim_value(data->type->dims[0]) > COUNT_MAX ||
        ig_dtypes[data->type->dtype].bits < 8 ||
        ig_dtypes[data->type->dtype].class == IG_STRING) {
        return false;
    }
    size_t size = ig_dtypes[data->type->dtype].bits / 8;
    const char *bytes = data->bytes;
    for (int64_t i = 1; i < ig_dim_value(data->type->dims[0]); i++) {
        if (memcmp(bytes, bytes + (size_t)i * size, size) != 0) {
            return false;
        }
    }
    return true;
}

static ig_dim axis_extent(const ig_op *gather) {
    const ig_type *x = gather->operands[0].value->type;
    return x->dims[axis_of(gather, IG_gather_axis, x->rank)];
}

/* Does another gather beside `op` refuse the same positions? */
static bool is_checked_beside(const ig_op *op) {
    int64_t negative = ig_attr_int(op, IG_gather_negative, 0);
    for (const ig_use *use = op->operands[1].value->uses; use; use = use->next) {
        const ig_op *other = use->user;
        if (other != op && other->code == IG_OP_gather && other->block == op->block &&
            use == &other->operands[1] && other->results[0].uses &&
            ig_attr_int(other, IG_gather_negative, 0) == negative &&
            ig_dim_same(axis_extent(other), axis_extent(op)) &&
            !is_one_number(ig_constant_of(other->operands[0].value))) {
            return true;
        }
    }
    return false;
}

/* Is the value 0 or more, whatever the run brings?  It follows operands, as deep as
 * these few ops nest. */
static bool is_count(const ig_value *value, uint32_t depth) {
    const ig_op *op = value->def;
    int64_t number, min, max;
    ig_dims_value dims;
    if (ig_constant_i64(value, &number)) {
        return number >= 0;
    }
    if (op && ig_value_dims(value, &dims) && dims.count == 1) {
        ig_dim_range(ig_op_module(op), dims.dims[0], &min, &max);
        return min >= 0;
    }
    bool is_made_of_two = op && (op->code == IG_OP_div || op->code == IG_OP_min);
    if (depth && is_made_of_two) {
        return is_count(op->operands[0].value, depth - 1) &&
               is_count(op->operands[1].value, depth - 1);
    }
    return op && op->code == IG_OP_bucketize;
}

/* Are all positions known to be within the axis: a count, or the last one if that is
 * less? */
static bool is_within(const ig_op *op) {
    enum { DEPTH = 6 };
    const ig_value *at = op->operands[1].value;
    int64_t extent, max;
    return at->def && at->def->code == IG_OP_min && is_count(at, DEPTH) &&
           ig_dim_known(axis_extent(op), &extent) &&
           ig_constant_i64(at->def->operands[1].value, &max) && max < extent;
}

/* Whichever element is gathered, it is the same number.  What refuses a position that
 * is none has to stay. */
static ig_value *gather_of_equal_elements(ig_builder *b, ig_op *op) {
    const ig_data *data = ig_constant_of(ig_op_operand(op, 0));
    const ig_type *result = op->results[0].type;
    if (!is_one_number(data) || !(is_within(op) || is_checked_beside(op))) {
        return NULL;
    }
    ig_expr e = ig_expr_trying(b);
    ig_value *number = ig_expr_constant(&e, NULL, (ig_dtype)result->dtype, 0, NULL,
                                        data->bytes);
    return ig_expr_expand(&e, number, result->rank, result->dims);
}

/* ---- tile ---- */

/* A tile repeats by expanding: [a, b] repeated 2 and 3 times is [1, a, 1, b] expanded
 * to [2, a, 3, b] and seen as [2*a, 3*b].  Axes repeated once need no second axis. */
static ig_value *tile_by_expanding(ig_builder *b, ig_op *op) {
    ig_dims_value repeats;
    ig_value *x = ig_op_operand(op, 0);
    const ig_type *type = x->type, *result = op->results[0].type;
    if (!ig_value_dims(ig_op_operand(op, 1), &repeats) || repeats.count != type->rank) {
        return NULL;
    }
    ig_dim split[2 * IG_TENSOR_RANK], wide[2 * IG_TENSOR_RANK];
    uint32_t rank = 0;
    for (uint32_t i = 0; i < type->rank; i++) {
        if (!ig_dim_is(repeats.dims[i], 1)) {
            split[rank] = ig_dim_of(1);
            wide[rank++] = repeats.dims[i];
        }
        split[rank] = wide[rank] = type->dims[i];
        rank++;
    }
    if (rank > IG_TENSOR_RANK) {
        return NULL;
    }
    ig_expr e = ig_expr_trying(b);
    x = ig_expr_expand(&e, ig_expr_reshape(&e, x, rank, split), rank, wide);
    return ig_expr_reshape(&e, x, result->rank, result->dims);
}

/* ---- constants ---- */

/* A stored number is a number: kernels hold it as they hold every other one. */
static ig_value *weight_of_one_element(ig_builder *b, ig_op *op) {
    const ig_data *data = ig_constant_of(&op->results[0]);
    const ig_type *type = op->results[0].type;
    if (!is_readable(data) || data->is_splat || type->rank > 1 ||
        (type->rank == 1 && !ig_dim_is(type->dims[0], 1)) || !op->results[0].uses) {
        return NULL;
    }
    while (b->before && ig_ops[b->before->code].traits & IG_CONSTANT) {
        b->before = b->before->next; /* after the constants at the graph's head */
    }
    return ig_make_const(b, type, data->bytes);
}

static const ig_rule rules[] = {
    RULE(gather, gather_of_equal_elements),
    RULE(weight, weight_of_one_element),
    RULE(concat, axis_from_front),
    RULE(gather, axis_from_front),
    RULE(gather_elements, axis_from_front),
    RULE(concat, concat_of_one),
    RULE(concat, concat_without_empty),
    RULE(concat, concat_of_concat),
    RULE(concat, concat_of_copies),
    RULE(slice, slice_of_concat),
    RULE(gather, gather_of_even_indices),
    RULE(tile, tile_by_expanding),
};

const ig_rules ig_rules_index = { rules, IG_COUNT_OF(rules) };
