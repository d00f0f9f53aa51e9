/* Parts of a tensor: slices, single indices, splits; and putting parts together.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/aten/quant.h"
#include "frontend/torch/aten/view.h"
#include "frontend/torch/eval/stacked.h"

#include "ir/infer/slice.h"
#include "ir/build/extent.h"

#include <assert.h>
#include <string.h>

/* ---- one slice ---- */

/* Positions whose sign is known at run time only: the op clamps them itself. */
static ig_value *slice_by_operands(ig_expr *e, ig_value *x, uint32_t axis,
                                   const ig_slice_ends *ends) {
    ig_dim axis_dim = ig_dim_of(axis), step = ig_dim_const(e->module, ends->step);
    ig_value *operands[] = { x, ig_expr_dims(e, &ends->start, 1),
                             ig_expr_dims(e, &ends->end, 1),
                             ig_expr_dims(e, &axis_dim, 1), ig_expr_dims(e, &step, 1) };
    return ig_expr_make(e, IG_OP_slice, operands, 5, NULL);
}

static ig_value *slice_axis(ig_expr *e, ig_value *x, uint32_t axis,
                            const ig_slice_ends *ends) {
    assert(axis < x->type->rank && "the caller has checked the axis");
    assert(ends->step > 0 && "slices run forward");
    ig_dim start, size;
    if (!ig_slice_extent(e->module, ends, ig_expr_extent(e, x, axis), &start, &size)) {
        return slice_by_operands(e, x, axis, ends);
    }
    return ig_expr_slice(e, x, axis, start, size, ends->step);
}

/* slice(self, dim, start, end, step) */
ig_status ig_ts_op_slice(ig_ts_call *call) {
    ig_aten_view v;
    if (!ig_aten_viewed(call, &v)) {
        return call->e->status;
    }
    if (v.rank == 0) {
        return ig_ts_fail(call, IG_INVALID, "a tensor of rank 0 has no slices");
    }
    uint32_t axis = ig_aten_axis(call, 1, v.rank);
    ig_slice_ends ends = { .end = ig_dim_const(call->module, INT64_MAX),
                           .step = ig_aten_int_or(call, 4, 1) };
    if (!ig_ts_is_none(call, 2)) {
        ends.start = ig_aten_position(call, 2, v.dims[axis]);
    }
    if (!ig_ts_is_none(call, 3)) {
        ends.end = ig_aten_position(call, 3, v.dims[axis]);
    }
    IG_TRY(call->e->status);
    if (ends.step <= 0) {
        return ig_ts_fail(call, IG_INVALID, "the step of a slice is %lld",
                          (long long)ends.step);
    }
    return ig_aten_give_view(call, slice_axis(call->e, v.x, axis, &ends));
}

/* narrow(self, dim, start, length) */
ig_status ig_ts_op_narrow(ig_ts_call *call) {
    ig_aten_view v;
    if (!ig_aten_viewed(call, &v)) {
        return call->e->status;
    }
    uint32_t axis;
    if (!ig_aten_axis_of_many(call, 1, v.rank, &axis)) {
        return call->e->status;
    }
    ig_dim length = ig_aten_dim(call, 3), start = ig_dim_of(0);
    int64_t number;
    if (call->args[2].kind == IG_TS_TENSOR) {
        ig_value *at = ig_aten_tensor(call, 2);
        if (at && !ig_constant_i64(at, &number)) {
            return ig_ts_fail(
                call, IG_UNSUPPORTED,
                "start is computed from data, expected a value that is known when the model is compiled");
        }
        start = at ? ig_dim_const(call->module, number) : ig_dim_of(0);
    } else {
        start = ig_aten_position(call, 2, v.dims[axis]);
    }
    IG_TRY(call->e->status);
    if (ig_dim_constant(call->module, start, &number) && number < 0) {
        start = ig_dim_add(call->module, start, v.dims[axis]);
    }
    ig_dim end = ig_dim_add(call->module, start, length);
    if (ig_dim_less_equal(call->module, end, v.dims[axis]) == IG_NO) {
        return ig_ts_fail(call, IG_INVALID, "the range passes the end of axis %u",
                          axis);
    }
    return ig_aten_give_view(call, ig_expr_slice(call->e, v.x, axis, start, length, 1));
}

/* An index whose sign or range is known at run time only. */
static ig_value *select_by_gather(ig_ts_call *call, ig_value *x, uint32_t axis,
                                  uint32_t index_arg) {
    return ig_expr_gather(call->e, x, ig_aten_operand(call, index_arg, IG_DT_i64), axis,
                          IG_NEGATIVE_wrap);
}

/* select(self, dim, index) */
ig_status ig_ts_op_select(ig_ts_call *call) {
    ig_aten_view v;
    int64_t number, min, max;
    if (!ig_aten_viewed(call, &v)) {
        return call->e->status;
    }
    if (v.rank == 0) {
        return ig_ts_fail(call, IG_INVALID, "a tensor of rank 0 has no items");
    }
    uint32_t axis = ig_aten_axis(call, 1, v.rank);
    IG_TRY(call->e->status);
    const ig_ts_value *index = &call->args[2];
    if (index->kind == IG_TS_TENSOR || index->form == IG_TS_RUN) {
        return ig_aten_give_view(call, select_by_gather(call, v.x, axis, 2));
    }
    ig_dim at = ig_aten_dim(call, 2), extent = v.dims[axis];
    if (ig_dim_constant(call->module, at, &number)) {
        ig_dim first = number < 0 ? ig_dim_add(call->module, extent, at) : at;
        ig_dim_range(call->module, ig_dim_sub(call->module, extent, first), &min, &max);
        bool is_outside = max <= 0 ||
                          ig_dim_less_equal(call->module, ig_dim_of(0), first) == IG_NO;
        if (is_outside) {
            return ig_ts_fail(call, IG_INVALID, "index %lld is outside of axis %u",
                              (long long)number, axis);
        }
        if (min <= 0) { /* the run checks it */
            return ig_aten_give_view(call, select_by_gather(call, v.x, axis, 2));
        }
        return ig_aten_give_view(call, ig_expr_select(call->e, v.x, axis, first));
    }
    return ig_aten_give_view(call, select_by_gather(call, v.x, axis, 2));
}

/* ---- windows ---- */

/* unfold(self, dimension, size, step): windows of one axis, as a new last axis */
ig_status ig_ts_op_unfold(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    int64_t size = ig_aten_distance(call, 2), step = ig_aten_distance(call, 3);
    if (!x || call->e->status != IG_OK) {
        return call->e->status;
    }
    if (x->type->rank == 0 && size >= 0) {
        x = ig_expr_reshape(call->e, x, 1, (ig_dim[]){ ig_dim_of(1) });
        x = size == 1 ? x
                      : ig_expr_slice(call->e, x, 0, ig_dim_of(0), ig_dim_of(size), 1);
        return ig_aten_give_view(call, x);
    }
    uint32_t axis = ig_aten_axis(call, 1, x->type->rank);
    if (size < 0 || step <= 0) {
        return ig_ts_fail(
            call, IG_INVALID,
            "size is %lld and step %lld, expected 0 or more and 1 or more",
            (long long)size, (long long)step);
    }
    ig_module *module = call->module;
    ig_dim room = ig_dim_sub(module, ig_expr_extent(call->e, x, axis),
                             ig_dim_const(module, size));
    ig_dim count = ig_dim_add(module, ig_dim_floor_div(module, room, ig_dim_of(step)),
                              ig_dim_of(1));
    ig_value *starts = ig_expr_axis_iota(call->e, 2, 0, count);
    starts = ig_expr_with(call->e, IG_OP_mul, starts, (double)step);
    ig_value *within = ig_expr_axis_iota(call->e, 2, 1, ig_dim_of(size));
    ig_value *index = ig_build_add(call->e, starts, within);
    x = ig_expr_gather(call->e, x, index, axis, IG_NEGATIVE_wrap);
    ig_dim strides[] = { ig_dim_const(module, step), ig_dim_of(1) };
    x = ig_ts_mark_pick(call, x, strides);
    return ig_aten_give_view(
        call, x ? ig_expr_move_axis(call->e, x, axis + 1, x->type->rank - 1) : NULL);
}

/* The memory of argument 0, whose content is `content`, as one axis. */
static ig_value *memory_of(ig_ts_call *call, ig_value *content) {
    const ig_ts_tensor *tensor = ig_ts_peek(call, 0);
    ig_dim strides[IG_TENSOR_RANK];
    int64_t perm[IG_TENSOR_RANK];
    if (!content || call->e->status != IG_OK) {
        return NULL;
    }
    if (ig_ts_tensor_strides(call->eval, tensor, strides) == IG_MAYBE ||
        content->type->dtype != tensor->type->dtype) {
        return ig_expr_fail(call->e, IG_UNSUPPORTED,
                            "the elements of self are not in a known order in memory: "
                            "clone() it with torch.contiguous_format");
    }
    const ig_ts_order *order = tensor->storage->order;
    for (uint32_t i = 0; order && i < content->type->rank; i++) {
        perm[i] = order->axes[i];
    }
    content = order ? ig_expr_transpose(call->e, content, perm) : content;
    return ig_expr_flatten(call->e, content);
}

/* Where each element of size, stride and offset (arguments first, first + 1 and
 * first + 2) is in the memory of argument 0; NULL when the call has failed. */
static ig_value *strided_positions(ig_ts_call *call, uint32_t first) {
    uint32_t rank, stride_count;
    const ig_dim *size = ig_aten_shape(call, first, &rank);
    const ig_dim *stride = ig_aten_shape(call, first + 1, &stride_count);
    if (call->e->status != IG_OK) {
        return NULL;
    }
    if (stride_count != rank) {
        return ig_expr_fail(call->e, IG_INVALID, "size has %u items and stride %u",
                            rank, stride_count);
    }
    bool is_first = ig_ts_is_none(call, first + 2);
    if (is_first && ig_ts_peek(call, 0)->step_count) {
        return ig_expr_fail(
            call->e, IG_UNSUPPORTED,
            "self is a view, whose offset in its memory is not known: give storage_offset");
    }
    ig_dim offset = is_first ? ig_dim_of(0) : ig_aten_dim(call, first + 2);
    ig_value *index = ig_expr_dim(call->e, offset, IG_DT_i64);
    for (uint32_t i = 0; i < rank; i++) {
        ig_value *along = ig_expr_axis_iota(call->e, rank, i, size[i]);
        along = ig_build_mul(call->e, along,
                             ig_expr_dim(call->e, stride[i], IG_DT_i64));
        index = ig_build_add(call->e, index, along);
    }
    return index;
}

/* as_strided(self, size, stride, storage_offset): elements taken one by one */
ig_status ig_ts_op_as_strided(ig_ts_call *call) {
    uint32_t count;
    bool is_read = ig_aten_tensor(call, 0) != NULL;
    ig_value *content = is_read ? ig_ts_peek(call, 0)->storage->value : NULL;
    ig_value *x = memory_of(call, content), *positions = strided_positions(call, 1);
    const ig_dim *strides = ig_aten_dims(call, 2, 0, &count);
    IG_TRY(call->e->status);
    x = ig_expr_gather(call->e, x, positions, 0, IG_NEGATIVE_error);
    return ig_aten_give_view(call, ig_ts_mark_pick(call, x, strides));
}

/* Undoes memory_of, for content of x's shape. */
static ig_value *content_of(ig_ts_call *call, const ig_value *x, ig_value *memory) {
    const ig_ts_order *order = ig_ts_peek(call, 0)->storage->order;
    ig_dim dims[IG_TENSOR_RANK];
    int64_t back[IG_TENSOR_RANK];
    for (uint32_t i = 0; i < x->type->rank; i++) {
        uint32_t axis = order ? order->axes[i] : i;
        dims[i] = x->type->dims[axis];
        back[axis] = i;
    }
    memory = ig_expr_reshape(call->e, memory, x->type->rank, dims);
    return order ? ig_expr_transpose(call->e, memory, back) : memory;
}

/* as_strided_scatter(self, src, size, stride, storage_offset) */
ig_status ig_ts_op_as_strided_scatter(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0), *src = ig_aten_tensor(call, 1);
    ig_value *positions = strided_positions(call, 2);
    IG_TRY(call->e->status);
    if (ig_ts_peek(call, 0)->step_count) {
        return ig_ts_fail(call, IG_UNSUPPORTED,
                          "self is a view, expected a tensor with memory of its own");
    }
    src = ig_aten_cast(call, src, (ig_dtype)x->type->dtype);
    src = ig_expr_expand(call->e, src, positions->type->rank, positions->type->dims);
    ig_value *y = ig_build_scatter_elements(
        call->e, memory_of(call, x), ig_expr_flatten(call->e, positions),
        ig_expr_flatten(call->e, src),
        (ig_scatter_elements_attrs){ .axis = 0, .reduce = (int)IG_SCATTER_none });
    return ig_aten_give(call, content_of(call, x, y));
}

/* ---- together ---- */

static bool is_legacy_empty(const ig_value *x) {
    return x->type->rank == 1 && ig_dim_is(x->type->dims[0], 0);
}

static void guard_extents(ig_expr *e, const ig_value *x, const ig_value *y,
                          uint32_t axis) {
    for (uint32_t i = 0; x->type->rank == y->type->rank && i < x->type->rank; i++) {
        if (i != axis && e->status == IG_OK) {
            ig_expr_guard_equal(e, ig_expr_extent(e, x, i), ig_expr_extent(e, y, i),
                                "extents of concatenated tensors");
        }
    }
}

static ig_value *concat_cast(ig_ts_call *call, ig_value **values, uint32_t count,
                             int64_t axis_arg, ig_dtype dtype) {
    ig_value **kept = IG_NEW_ARRAY(call->arena, ig_value *, count + 1u);
    uint32_t kept_count = 0, axis;
    for (uint32_t i = 0; i < count; i++) {
        if (!values[i]) {
            return NULL;
        }
        if (!is_legacy_empty(values[i]) || (i + 1 == count && kept_count == 0)) {
            kept[kept_count++] = ig_aten_cast(call, values[i], dtype);
        }
    }
    if (kept_count == 0 || !kept[0]) {
        return ig_expr_fail(call->e, IG_INVALID,
                            "concatenates 0 tensors, expected 1 or more");
    }
    int64_t rank = kept[0]->type->rank;
    if (axis_arg < -rank || axis_arg >= rank) {
        return ig_expr_fail(call->e, IG_INVALID, "axis %lld is outside of rank %lld",
                            (long long)axis_arg, (long long)rank);
    }
    axis = (uint32_t)(axis_arg < 0 ? axis_arg + rank : axis_arg);
    for (uint32_t i = 1; i < kept_count; i++) {
        if (kept[i]) {
            guard_extents(call->e, kept[0], kept[i], axis);
        }
    }
    return ig_expr_concat(call->e, axis, kept, kept_count);
}

/* cat of a list that is a tensor [N, …]: N and the axis become one. */
static ig_status cat_stacked(ig_ts_call *call, ig_value *stack) {
    assert(stack->type->rank > 0 && "the first axis of a stack counts its items");
    uint32_t rank = stack->type->rank - 1, axis;
    ig_dim dims[IG_TENSOR_RANK];
    if (!ig_aten_axis_of_many(call, 1, rank, &axis)) {
        return call->e->status;
    }
    memcpy(dims, stack->type->dims + 1, rank * sizeof *dims);
    dims[axis] = ig_dim_mul(call->module, dims[axis],
                            ig_expr_extent(call->e, stack, 0));
    ig_value *moved = ig_expr_move_axis(call->e, stack, 0, axis);
    return ig_aten_give(call, ig_expr_reshape(call->e, moved, rank, dims));
}

/* cat(tensors, dim) */
ig_status ig_ts_op_cat(ig_ts_call *call) {
    if (ig_aten_are_quantised(call)) {
        return ig_aten_through_floats(call, ig_ts_op_cat);
    }
    uint32_t count;
    ig_dtype dtype = IG_DT_f32;
    ig_value *stack;
    IG_TRY(ig_ts_stacked_arg(call, 0, &stack));
    if (stack) {
        return cat_stacked(call, stack);
    }
    ig_value **values = ig_aten_tensors(call, 0, &count);
    IG_TRY(call->e->status);
    IG_TRY(ig_ts_result_type_of_list(call, 0, &dtype));
    return ig_aten_give(call,
                        concat_cast(call, values, count, ig_aten_int(call, 1), dtype));
}

/* stack(tensors, dim) */
ig_status ig_ts_op_stack(ig_ts_call *call) {
    if (ig_aten_are_quantised(call)) {
        return ig_aten_through_floats(call, ig_ts_op_stack);
    }
    uint32_t count;
    ig_dtype dtype = IG_DT_f32;
    ig_value *stack;
    IG_TRY(ig_ts_stacked_arg(call, 0, &stack));
    if (stack) {
        uint32_t to = ig_aten_axis(call, 1, stack->type->rank);
        return ig_aten_give(call, ig_expr_move_axis(call->e, stack, 0, to));
    }
    ig_value **values = ig_aten_tensors(call, 0, &count);
    IG_TRY(call->e->status);
    IG_TRY(ig_ts_result_type_of_list(call, 0, &dtype));
    if (count == 0) {
        return ig_ts_fail(call, IG_INVALID, "stacks 0 tensors, expected 1 or more");
    }
    uint32_t axis = ig_aten_axis(call, 1, values[0]->type->rank + 1);
    ig_value **raised = IG_NEW_ARRAY(call->arena, ig_value *, count);
    for (uint32_t i = 0; i < count; i++) {
        raised[i] = ig_expr_unsqueeze(call->e, ig_aten_cast(call, values[i], dtype),
                                      axis);
    }
    IG_TRY(call->e->status);
    for (uint32_t i = 1; i < count; i++) {
        guard_extents(call->e, raised[0], raised[i], axis);
    }
    return ig_aten_give(call, ig_expr_concat(call->e, axis, raised, count));
}

/* At least `rank` axes, as atleast_Nd places the new ones. */
static ig_value *raise_rank(ig_expr *e, ig_value *x, uint32_t rank) {
    assert(rank <= 3 && "atleast_1d, 2d and 3d");
    while (x && x->type->rank < rank) {
        bool is_last = rank == 3 && x->type->rank == 2;
        x = ig_expr_unsqueeze(e, x, is_last ? 2 : 0);
    }
    return x;
}

/* variant: the rank */
ig_status ig_ts_op_atleast(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    uint32_t rank = (uint32_t)call->row->variant;
    return x && x->type->rank >= rank
               ? ig_ts_give_arg(call, 0, 0)
               : ig_aten_give(call, raise_rank(call->e, x, rank));
}

ig_status ig_ts_op_atleast_list(ig_ts_call *call) {
    uint32_t count;
    ig_value **values = ig_aten_tensors(call, 0, &count);
    IG_TRY(call->e->status);
    for (uint32_t i = 0; i < count; i++) {
        values[i] = raise_rank(call->e, values[i], (uint32_t)call->row->variant);
    }
    return ig_ts_give_list(call, 0, IG_TS_NO_ARG, values, count);
}

/* hstack, vstack, dstack; variant: at least so many axes */
ig_status ig_ts_op_stack_along(ig_ts_call *call) {
    if (ig_aten_are_quantised(call)) {
        return ig_aten_through_floats(call, ig_ts_op_stack_along);
    }
    uint32_t count, rank = (uint32_t)call->row->variant;
    ig_dtype dtype = IG_DT_f32;
    ig_value **values = ig_aten_tensors(call, 0, &count);
    IG_TRY(call->e->status);
    IG_TRY(ig_ts_result_type_of_list(call, 0, &dtype));
    for (uint32_t i = 0; i < count; i++) {
        values[i] = raise_rank(call->e, values[i], rank);
    }
    IG_TRY(call->e->status);
    int64_t axis = rank == 2 ? 0 : rank == 3 ? 2 : count && values[0]->type->rank > 1;
    return ig_aten_give(call, concat_cast(call, values, count, axis, dtype));
}

/* column_stack: vectors as columns */
ig_status ig_ts_op_column_stack(ig_ts_call *call) {
    if (ig_aten_are_quantised(call)) {
        return ig_aten_through_floats(call, ig_ts_op_column_stack);
    }
    uint32_t count;
    ig_dtype dtype = IG_DT_f32;
    ig_value **values = ig_aten_tensors(call, 0, &count);
    IG_TRY(call->e->status);
    IG_TRY(ig_ts_result_type_of_list(call, 0, &dtype));
    for (uint32_t i = 0; i < count; i++) {
        ig_dim dims[] = { ig_type_count(call->module, values[i]->type), ig_dim_of(1) };
        if (values[i]->type->rank <= 1) {
            values[i] = ig_expr_reshape(call->e, values[i], 2, dims);
        }
    }
    return ig_aten_give(call, concat_cast(call, values, count, 1, dtype));
}
