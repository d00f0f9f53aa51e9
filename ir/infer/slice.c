/* Result types of slice, pad and range: extents computed from positions.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A slice in ONNX's form clamps its positions.  With n the extent and step > 0
 *
 *     first = clamp(start < 0 ? start + n : start, 0, n)
 *     past  = clamp(end < 0 ? end + n : end, 0, n)
 *     size  = ceil((past - first) / step)
 *
 * and with step < 0 past is between -1 and n - 1, and
 *
 *     first = min(max(start < 0 ? start + n : start, 0), n - 1)
 *
 * so that a start before the beginning is element 0, where numpy takes none.  Positions
 * may be expressions; one whose sign is not known, or a step that is not known, makes
 * the extent a symbol.
 */
#include "ir/infer/slice.h"

#include "ir/dim/table.h"
#include "ir/hooks.h"
#include "ir/infer/infer.h"

#include <string.h>

/* ---- one axis ---- */

/* Which position is clamped; going forward both alike. */
typedef enum end_of { FORWARD, FIRST_BACKWARD, PAST_BACKWARD } end_of;

static ig_dim clamp_dim(ig_module *module, ig_dim at, ig_dim extent, end_of end) {
    ig_dim low = ig_dim_const(module, end == PAST_BACKWARD ? -1 : 0);
    ig_dim last = ig_dim_sub(module, extent, ig_dim_of(1));
    if (end == FIRST_BACKWARD) {
        return ig_dim_min(module, ig_dim_max(module, at, low), last);
    }
    return ig_dim_max(module, ig_dim_min(module, at, end == FORWARD ? extent : last),
                      low);
}

/* `at` counted from the front and clamped; false when its sign is not known. */
static bool clamp_position(ig_module *module, ig_dim at, ig_dim extent, end_of end,
                           ig_dim *out) {
    int64_t value, min, max;
    if (ig_dim_constant(module, at, &value) && value == INT64_MAX) {
        *out = end == FORWARD ? extent : ig_dim_sub(module, extent, ig_dim_of(1));
        return true; /* "to the end" */
    }
    if (ig_dim_constant(module, at, &value) && value == INT64_MIN) {
        *out = clamp_dim(module, ig_dim_const(module, -1), extent, end);
        return true;
    }
    ig_dim_range(module, at, &min, &max);
    if (min < 0 && max >= 0) {
        return false;
    }
    ig_dim from_front = min >= 0 ? at : ig_dim_add(module, at, extent);
    *out = clamp_dim(module, from_front, extent, end);
    return true;
}

static int64_t clamp_number(int64_t at, int64_t extent, end_of end) {
    int64_t low = end == PAST_BACKWARD ? -1 : 0;
    int64_t high = end == FORWARD ? extent : extent - 1;
    at += at < 0 ? extent : 0; /* cannot overflow: the signs differ */
    at = at < low ? low : at;
    return at > high ? high : at;
}

/* ceil(length / |step|), without a sum that could overflow. */
static uint64_t count_steps(uint64_t length, int64_t step) {
    uint64_t stride = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
    return length ? (length - 1) / stride + 1 : 0;
}

void ig_slice_numbers(int64_t start, int64_t end, int64_t step, int64_t extent,
                      int64_t *out_start, int64_t *out_size) {
    int64_t first = clamp_number(start, extent, step > 0 ? FORWARD : FIRST_BACKWARD);
    int64_t past = clamp_number(end, extent, step > 0 ? FORWARD : PAST_BACKWARD);
    int64_t length = step > 0 ? past - first : first - past;
    *out_size = (int64_t)count_steps(length > 0 ? (uint64_t)length : 0, step);
    *out_start = *out_size ? first : 0; /* of nothing: where an element would be */
}

static bool slice_constants(ig_module *module, const ig_slice_ends *ends, ig_dim extent,
                            ig_dim *out_start, ig_dim *out_size) {
    int64_t from, to, count, first, size;
    if (!ig_dim_constant(module, ends->start, &from) ||
        !ig_dim_constant(module, ends->end, &to) ||
        !ig_dim_constant(module, extent, &count)) {
        return false;
    }
    ig_slice_numbers(from, to, ends->step, count, &first, &size);
    *out_start = ig_dim_const(module, first);
    *out_size = ig_dim_of(size);
    return true;
}

/* Larger steps could overflow where an expression is evaluated. */
enum { STEP_MAX = INT32_MAX };

bool ig_slice_extent(ig_module *module, const ig_slice_ends *ends, ig_dim extent,
                     ig_dim *out_start, ig_dim *out_size) {
    ig_dim first, past;
    int64_t step = ends->step;
    bool is_forward = step > 0;
    if (slice_constants(module, ends, extent, out_start, out_size)) {
        return true;
    }
    if (step > STEP_MAX || step < -STEP_MAX ||
        !clamp_position(module, ends->start, extent,
                        is_forward ? FORWARD : FIRST_BACKWARD, &first) ||
        !clamp_position(module, ends->end, extent, is_forward ? FORWARD : PAST_BACKWARD,
                        &past)) {
        return false;
    }
    ig_dim length = is_forward ? ig_dim_sub(module, past, first)
                               : ig_dim_sub(module, first, past);
    length = ig_dim_max(module, length, ig_dim_of(0));
    *out_start = first;
    *out_size = ig_dim_ceil_div(module, length, ig_dim_of(is_forward ? step : -step));
    return true;
}

/* ---- slice by operands ---- */

enum { STARTS = 1, ENDS, AXES, STEPS };

/* Which entry of the operands is for each axis; -1 for none.  False: not known. */
static ig_status map_axes(const ig_op *op, uint32_t rank, int64_t entries,
                          int64_t *entry, bool *out_known) {
    ig_dims_value axes = { 0 };
    *out_known = op->operand_count <= AXES || ig_operand_dims(op, AXES, entries, &axes);
    for (uint32_t i = 0; i < rank; i++) {
        entry[i] = -1;
    }
    for (int64_t i = 0; *out_known && i < entries; i++) {
        int64_t axis = i;
        uint32_t at;
        if (op->operand_count > AXES &&
            !ig_dim_constant(ig_op_module(op), axes.dims[i], &axis)) {
            *out_known = false;
            break;
        }
        IG_TRY(ig_check_axis(op, axis, rank, &at));
        if (entry[at] >= 0) {
            return INFER_ERROR(op, "axis %u is given twice", at);
        }
        entry[at] = i;
    }
    return IG_OK;
}

static ig_status check_positions(const ig_op *op, uint32_t rank, ig_dim *out_entries) {
    if (op->operand_count < 3) {
        return INFER_ERROR(op, "a slice has sizes, or operands starts and ends");
    }
    *out_entries = ig_dim_of(0);
    for (uint32_t i = STARTS; i < op->operand_count; i++) {
        IG_TRY(ig_check_int(op, i));
        IG_TRY(ig_check_rank(op, i, 1));
        ig_dim entries = i == STARTS ? ig_operand_type(op, i)->dims[0] : *out_entries;
        IG_TRY(ig_check_extent(op, i, 0, entries, "the number of starts", out_entries));
    }
    int64_t count;
    if (!ig_dim_known(*out_entries, &count) || count <= rank) {
        return IG_OK;
    }
    return INFER_ERROR(op, "operand 1 is %s, more starts than operand 0 has axes",
                       ig_operand_text(op, STARTS));
}

/* The extent of one axis that is sliced, or a symbol. */
static ig_status slice_axis(const ig_op *op, uint32_t axis, int64_t entry,
                            ig_dim *dim) {
    ig_module *module = ig_op_module(op);
    ig_dims_value starts, ends, steps;
    int64_t step = 1;
    bool is_known = ig_operand_dims(op, STARTS, entry + 1, &starts) &&
                    ig_operand_dims(op, ENDS, entry + 1, &ends);
    if (op->operand_count > STEPS) {
        is_known = ig_operand_dims(op, STEPS, entry + 1, &steps) &&
                   ig_dim_constant(module, steps.dims[entry], &step) && is_known;
    }
    if (step == 0) {
        return INFER_ERROR(op, "the step along axis %u is 0", axis);
    }
    ig_slice_ends cut = { is_known ? starts.dims[entry] : ig_dim_of(0),
                          is_known ? ends.dims[entry] : ig_dim_of(0), step };
    ig_dim first;
    if (!is_known || !ig_slice_extent(module, &cut, *dim, &first, dim)) {
        *dim = ig_result_symbol(op, 0, axis, "n");
    }
    return IG_OK;
}

/* Axes that starts of unknown length can reach: without axes they are the first
 * ones. */
static uint32_t count_reachable(const ig_op *op, ig_dim entries, uint32_t rank) {
    int64_t min, max;
    ig_dim_range(ig_op_module(op), entries, &min, &max);
    return op->operand_count > AXES || max > rank ? rank : (uint32_t)max;
}

static ig_status slice_by_operands(const ig_op *op, ig_dim *dims, uint32_t rank) {
    ig_dim entries;
    int64_t entry[IG_TENSOR_RANK];
    int64_t count;
    IG_TRY(check_positions(op, rank, &entries));
    bool is_known = ig_dim_known(entries, &count);
    if (is_known) {
        IG_TRY(map_axes(op, rank, count, entry, &is_known));
    }
    uint32_t reachable = count_reachable(op, entries, rank);
    for (uint32_t i = 0; i < rank; i++) {
        if (!is_known && i < reachable) {
            dims[i] = ig_result_symbol(op, 0, i, "n");
        } else if (is_known && entry[i] >= 0) {
            IG_TRY(slice_axis(op, i, entry[i], &dims[i]));
        }
    }
    return IG_OK;
}

/* ---- slice by attributes ---- */

/* Provably outside of [0, extent)? */
static bool is_outside(ig_module *module, ig_dim at, ig_dim extent) {
    ig_dim minus_one = ig_dim_const(module, -1);
    return ig_dim_less_equal(module, at, minus_one) == IG_YES ||
           ig_dim_less_equal(module, extent, at) == IG_YES;
}

/* States that a slice of any elements is inside of [0, extent). */
static void claim_inside(ig_module *module, ig_dim low, ig_dim high, ig_dim size,
                         ig_dim extent) {
    ig_dim any = ig_dim_min(module, size, ig_dim_of(1));
    ig_dim end = ig_dim_add(module, high, ig_dim_of(1));
    ig_dim before = ig_dim_sub(module, end, size); /* the end of an empty one */
    if (ig_dim_less_equal(module, before, extent) != IG_YES) {
        end = ig_dim_mul(module, any, end); /* without elements it may start anywhere */
    }
    if (ig_dim_less_equal(module, ig_dim_of(0), low) != IG_YES) {
        low = ig_dim_mul(module, any, low);
    }
    (void)ig_claim_less_equal(module, ig_dim_of(0), low);
    (void)ig_claim_less_equal(module, end, extent);
}

/* `size` elements from `start` by `step` provably leave an axis? */
static bool leaves_axis(ig_module *module, ig_dim start, ig_dim size, int64_t step,
                        ig_dim extent) {
    ig_dim span = ig_dim_mul(module, ig_dim_sub(module, size, ig_dim_of(1)),
                             ig_dim_const(module, step));
    ig_dim last = ig_dim_add(module, start, span);
    bool has_elements = ig_dim_less_equal(module, ig_dim_of(1), size) == IG_YES;
    bool is_unfit = is_outside(module, start, extent) ||
                    is_outside(module, last, extent);
    if (step == 0 || (has_elements && is_unfit)) {
        return true;
    }
    if (ig_claims_of(module) && !ig_dim_is(size, 0)) {
        claim_inside(module, step > 0 ? start : last, step > 0 ? last : start, size,
                     extent);
    }
    return !ig_claim_less_equal(module, ig_dim_of(0), size);
}

static ig_status slice_by_sizes(const ig_op *op, ig_dim *dims, uint32_t rank) {
    ig_module *module = ig_op_module(op);
    const ig_attr *starts = &op->attrs[IG_slice_starts],
                  *sizes = &op->attrs[IG_slice_sizes];
    const ig_attr *steps = &op->attrs[IG_slice_steps];
    bool has_steps = ig_attr_is_set(op, IG_slice_steps);
    if (!ig_attr_is_set(op, IG_slice_starts) || starts->count != rank ||
        sizes->count != rank || (has_steps && steps->count != rank)) {
        return INFER_ERROR(
            op, "operand 0 is %s, expected a start, size and step for each of its axes",
            ig_operand_text(op, 0));
    }
    for (uint32_t i = 0; i < rank; i++) {
        int64_t step = has_steps ? steps->as.ints[i] : 1;
        ig_dim start = starts->as.dims[i], size = sizes->as.dims[i];
        if (leaves_axis(module, start, size, step, dims[i])) {
            return INFER_ERROR(op,
                               "operand 0 is %s, and the slice leaves its extent %u",
                               ig_operand_text(op, 0), i);
        }
        dims[i] = size;
    }
    return IG_OK;
}

ig_status ig_infer_slice(ig_op *op, const ig_type **out_types) {
    IG_TRY(ig_check_tensors(op));
    const ig_type *type = ig_operand_type(op, 0);
    ig_dim dims[IG_TENSOR_RANK];
    memcpy(dims, type->dims, type->rank * sizeof *dims);
    bool has_sizes = ig_attr_is_set(op, IG_slice_sizes);
    if (has_sizes && op->operand_count > 1) {
        return INFER_ERROR(op, "a slice has either sizes or operands");
    }
    IG_TRY(has_sizes ? slice_by_sizes(op, dims, type->rank)
                     : slice_by_operands(op, dims, type->rank));
    out_types[0] = ig_type_with_dims(ig_op_module(op), type, type->rank, dims);
    return IG_OK;
}

/* ---- insert ---- */

ig_status ig_infer_insert(ig_op *op, const ig_type **out_types) {
    IG_TRY(ig_check_tensors(op));
    IG_TRY(ig_check_same_dtype(op, 0, 1));
    const ig_type *x = ig_operand_type(op, 0), *y = ig_operand_type(op, 1);
    const ig_attr *starts = &op->attrs[IG_insert_starts];
    const ig_attr *steps = &op->attrs[IG_insert_steps];
    bool has_steps = ig_attr_is_set(op, IG_insert_steps);
    IG_TRY(ig_check_rank(op, 1, x->rank));
    if (starts->count != x->rank || (has_steps && steps->count != x->rank)) {
        return INFER_ERROR(
            op, "operand 0 is %s, expected a start and step for each of its axes",
            ig_operand_text(op, 0));
    }
    for (uint32_t i = 0; i < x->rank; i++) {
        int64_t step = has_steps ? steps->as.ints[i] : 1;
        if (leaves_axis(ig_op_module(op), starts->as.dims[i], y->dims[i], step,
                        x->dims[i])) {
            return INFER_ERROR(
                op, "operand 1 is %s and leaves operand 0, which is %s, along axis %u",
                ig_operand_text(op, 1), ig_operand_text(op, 0), i);
        }
    }
    out_types[0] = x;
    return IG_OK;
}

/* ---- pad ---- */

static ig_status pad_axis(const ig_op *op, uint32_t axis, ig_dim before, ig_dim after,
                          ig_dim *dim) {
    ig_module *module = ig_op_module(op);
    ig_dim padded = ig_dim_add(module, *dim, ig_dim_add(module, before, after));
    if (!ig_claim_less_equal(module, ig_dim_of(0), padded)) {
        return INFER_ERROR(
            op, "operand 0 is %s, and padding would make its extent %u negative",
            ig_operand_text(op, 0), axis);
    }
    *dim = padded;
    return IG_OK;
}

static ig_status pad_by_attributes(const ig_op *op, ig_dim *dims, uint32_t rank) {
    const ig_attr *before = &op->attrs[IG_pad_before],
                  *after = &op->attrs[IG_pad_after];
    if (before->count != rank || after->count != rank || op->operand_count > 2) {
        return INFER_ERROR(
            op, "operand 0 is %s, expected padding before and after each of its axes",
            ig_operand_text(op, 0));
    }
    for (uint32_t i = 0; i < rank; i++) {
        IG_TRY(pad_axis(op, i, before->as.dims[i], after->as.dims[i], &dims[i]));
    }
    return IG_OK;
}

enum { PADS = 1, VALUE, PAD_AXES };

/* Number of axes that the pads are for; 0 with *out_known false when it is not known.
 * */
static ig_status count_padded(const ig_op *op, uint32_t rank, uint32_t *out_count,
                              bool *out_known) {
    ig_dim length = ig_operand_type(op, PADS)->dims[0];
    ig_dim expected = ig_dim_of(2 * (int64_t)rank);
    if (op->operand_count > PAD_AXES) {
        IG_TRY(ig_check_int(op, PAD_AXES));
        IG_TRY(ig_check_rank(op, PAD_AXES, 1));
        ig_dim axes = ig_operand_type(op, PAD_AXES)->dims[0];
        expected = ig_dim_mul(ig_op_module(op), axes, ig_dim_of(2));
    }
    IG_TRY(ig_check_extent(op, PADS, 0, expected, "two for each axis", &length));
    int64_t entries;
    bool is_known = ig_dim_known(length, &entries);
    *out_known = is_known && entries / 2 <= rank;
    *out_count = *out_known ? (uint32_t)entries / 2 : 0;
    if (is_known && entries / 2 > rank) {
        return INFER_ERROR(op, "operand 1 is %s, more pads than operand 0 has axes",
                           ig_operand_text(op, PADS));
    }
    return IG_OK;
}

static ig_status pad_by_operands(const ig_op *op, ig_dim *dims, uint32_t rank) {
    uint32_t count = 0;
    bool is_known = false;
    ig_dims_value pads, axes = { 0 };
    IG_TRY(ig_check_int(op, PADS));
    IG_TRY(ig_check_rank(op, PADS, 1));
    IG_TRY(count_padded(op, rank, &count, &is_known));
    bool has_axes = op->operand_count > PAD_AXES;
    is_known = is_known && ig_operand_dims(op, PADS, 2 * (int64_t)count, &pads) &&
               (!has_axes || ig_operand_dims(op, PAD_AXES, count, &axes));
    for (uint32_t i = 0; !is_known && i < rank; i++) {
        dims[i] = ig_result_symbol(op, 0, i, "n");
    }
    for (uint32_t i = 0; is_known && i < count; i++) {
        int64_t axis = i;
        uint32_t at;
        if (has_axes && !ig_dim_constant(ig_op_module(op), axes.dims[i], &axis)) {
            return INFER_FAIL(op, IG_UNSUPPORTED, "the axes to pad are not known");
        }
        IG_TRY(ig_check_axis(op, axis, rank, &at));
        IG_TRY(pad_axis(op, at, pads.dims[i], pads.dims[i + count], &dims[at]));
    }
    return IG_OK;
}

ig_status ig_infer_pad(ig_op *op, const ig_type **out_types) {
    IG_TRY(ig_check_tensors(op));
    const ig_type *type = ig_operand_type(op, 0);
    ig_dim dims[IG_TENSOR_RANK];
    memcpy(dims, type->dims, type->rank * sizeof *dims);
    bool by_attributes = ig_attr_is_set(op, IG_pad_before);
    uint32_t value = by_attributes ? 1 : VALUE;
    if (by_attributes != ig_attr_is_set(op, IG_pad_after) ||
        (!by_attributes && op->operand_count < 2)) {
        return INFER_ERROR(op,
                           "padding is given by 'before' and 'after' or by operand 1");
    }
    if (op->operand_count > value &&
        (ig_operand_type(op, value)->dtype != type->dtype ||
         !ig_claim_equal(
             ig_op_module(op), ig_dim_of(1),
             ig_type_count(ig_op_module(op), ig_operand_type(op, value))))) {
        return INFER_ERROR(op, "operand %u is %s, expected one value to pad with",
                           value, ig_operand_text(op, value));
    }
    IG_TRY(by_attributes ? pad_by_attributes(op, dims, type->rank)
                         : pad_by_operands(op, dims, type->rank));
    out_types[0] = ig_type_with_dims(ig_op_module(op), type, type->rank, dims);
    return IG_OK;
}

/* ---- range ---- */

static bool is_not_below(const ig_module *module, ig_dim dim, int64_t min) {
    int64_t from, to;
    ig_dim_range(module, dim, &from, &to);
    return from >= min;
}

/* A step L that divides the span B*L as a whole: B, since a step of 0 is an error. */
static bool range_of_multiples(const ig_op *op, ig_dim start, ig_dim limit,
                               ig_dim *out_count) {
    ig_module *module = ig_op_module(op);
    ig_dims_value step;
    ig_dim span = ig_dim_sub(module, limit, start);
    return ig_operand_dims(op, 2, 1, &step) && is_not_below(module, step.dims[0], 0) &&
           is_not_below(module, span, 0) &&
           ig_dim_divide(module->dims, span, step.dims[0], out_count);
}

/* max(0, ceil((limit - start) / step)) of expressions with a constant step. */
static bool range_of_dims(const ig_op *op, ig_dim *out_count) {
    ig_module *module = ig_op_module(op);
    ig_dims_value start, limit;
    int64_t step, from, to;
    if (!ig_operand_dims(op, 0, 1, &start) || !ig_operand_dims(op, 1, 1, &limit)) {
        return false;
    }
    if (!ig_operand_int(op, 2, &step)) {
        return range_of_multiples(op, start.dims[0], limit.dims[0], out_count);
    }
    if (step == 0) {
        return false;
    }
    if (ig_dim_constant(module, start.dims[0], &from) &&
        ig_dim_constant(module, limit.dims[0], &to)) {
        *out_count = ig_dim_of(ig_range_count_ints(from, to, step));
        return true;
    }
    if (step > STEP_MAX || step < -STEP_MAX) {
        return false;
    }
    ig_dim span = step > 0 ? ig_dim_sub(module, limit.dims[0], start.dims[0])
                           : ig_dim_sub(module, start.dims[0], limit.dims[0]);
    span = ig_dim_max(module, span, ig_dim_of(0));
    *out_count = ig_dim_ceil_div(module, span, ig_dim_of(step > 0 ? step : -step));
    return true;
}

int64_t ig_range_count_ints(int64_t start, int64_t limit, int64_t step) {
    bool is_empty = step > 0 ? limit <= start : limit >= start;
    uint64_t span = step > 0 ? (uint64_t)limit - (uint64_t)start
                             : (uint64_t)start - (uint64_t)limit;
    uint64_t count = is_empty ? 0 : count_steps(span, step);
    return count > INT64_MAX ? INT64_MAX : (int64_t)count;
}

static bool range_of_floats(const ig_op *op, ig_dim *out_count) {
    double start, limit, step;
    int64_t count;
    return ig_constant_f64(op->operands[0].value, &start) &&
           ig_constant_f64(op->operands[1].value, &limit) &&
           ig_constant_f64(op->operands[2].value, &step) &&
           ig_range_count(start, limit, step, &count) && ig_dim_from(count, out_count);
}

bool ig_range_count(double start, double limit, double step, int64_t *out_count) {
    double count = (limit - start) / step;
    if (!(count <= 0 || count < 9e18)) {
        return false; /* NaN, or more than there can be */
    }
    int64_t whole = count > 0 ? (int64_t)count : 0;
    *out_count = whole + (count > (double)whole);
    return true;
}

ig_status ig_infer_range(ig_op *op, const ig_type **out_types) {
    IG_TRY(ig_check_same_dtype(op, 0, 2));
    for (uint32_t i = 0; i < 3; i++) {
        IG_TRY(ig_check_tensor(op, i));
        ig_dim count = ig_type_count(ig_op_module(op), ig_operand_type(op, i));
        if (!ig_claim_equal(ig_op_module(op), count, ig_dim_of(1))) {
            return INFER_ERROR(op, "operand %u is %s, expected one number", i,
                               ig_operand_text(op, i));
        }
    }
    ig_dtype dtype = (ig_dtype)ig_operand_type(op, 0)->dtype;
    if (!ig_dtype_is_int(dtype) && !ig_dtype_is_float(dtype)) {
        return INFER_ERROR(op, "operand 0 is %s, expected a number",
                           ig_operand_text(op, 0));
    }
    ig_dim count;
    bool is_known = ig_dtype_is_float(dtype) ? range_of_floats(op, &count)
                                             : range_of_dims(op, &count);
    if (!is_known) {
        count = ig_result_symbol(op, 0, 0, "n");
    }
    out_types[0] = ig_type_tensor(ig_op_module(op), dtype, 1, &count);
    return IG_OK;
}
