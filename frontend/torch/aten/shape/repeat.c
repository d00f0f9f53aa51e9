/* Repetition, rotation and grids.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/aten/quant.h"
#include "frontend/torch/aten/view.h"
#include "ir/build/extent.h"

#include <assert.h>
#include <string.h>

/* ---- repetition ---- */

/* Each axis `repeats[i]` times, end to end: [1, d0, 1, d1 …] expanded. */
static ig_value *repeat_axes(ig_expr *e, ig_value *x, const ig_dim *repeats,
                             uint32_t count) {
    ig_dim apart[2 * IG_TENSOR_RANK], wide[2 * IG_TENSOR_RANK], dims[IG_TENSOR_RANK];
    uint32_t rank = x->type->rank;
    if (count < rank) {
        return ig_expr_fail(
            e, IG_INVALID,
            "repeats has %u items for a tensor of rank %u, expected as many or more",
            count, rank);
    }
    if (2 * count > IG_TENSOR_RANK) { /* as each axis is two for a while */
        return ig_expr_fail(e, IG_LIMIT, "repeats has %u items, expected at most %d",
                            count, IG_TENSOR_RANK / 2);
    }
    for (uint32_t i = 0; i < count; i++) {
        ig_dim own = i + rank < count ? ig_dim_of(1)
                                      : ig_expr_extent(e, x, i + rank - count);
        apart[2 * i] = ig_dim_of(1);
        wide[2 * i] = repeats[i];
        apart[2 * i + 1] = wide[2 * i + 1] = own;
        dims[i] = ig_dim_mul(e->module, repeats[i], own);
    }
    x = ig_expr_reshape(e, x, 2 * count, apart);
    x = ig_expr_expand(e, x, 2 * count, wide);
    return ig_expr_reshape(e, x, count, dims);
}

ig_status ig_ts_op_repeat(ig_ts_call *call) {
    if (ig_aten_is_quantised(call, 0)) {
        return ig_aten_through_raw(call, ig_ts_op_repeat);
    }
    uint32_t count;
    ig_value *x = ig_aten_tensor(call, 0);
    const ig_dim *repeats = ig_aten_dims(call, 1, 0, &count);
    IG_TRY(call->e->status);
    return ig_aten_give(call, repeat_axes(call->e, x, repeats, count));
}

/* tile: missing repeats are 1 */
ig_status ig_ts_op_tile(ig_ts_call *call) {
    uint32_t count;
    ig_dim all[2 * IG_TENSOR_RANK];
    ig_value *x = ig_aten_tensor(call, 0);
    const ig_dim *repeats = ig_aten_dims(call, 1, 0, &count);
    IG_TRY(call->e->status);
    uint32_t rank = x->type->rank, missing = rank > count ? rank - count : 0;
    if (count > IG_TENSOR_RANK) {
        return ig_ts_fail(call, IG_LIMIT, "repeats has %u items, expected at most %d",
                          count, IG_TENSOR_RANK);
    }
    for (uint32_t i = 0; i < missing; i++) {
        all[i] = ig_dim_of(1);
    }
    memcpy(all + missing, repeats, count * sizeof *all);
    return ig_aten_give(call, repeat_axes(call->e, x, all, count + missing));
}

/* Numbers 0 … n - 1, number i `repeats[i]` times. */
static ig_value *spread_values(ig_expr *e, ig_value *repeats) {
    ig_value *ends = ig_build_cumsum(e, repeats, (ig_cumsum_attrs){ .axis = 0 });
    ig_value *all = ig_expr_reduce(e, IG_REDUCE_sum, repeats, NULL, 0, false);
    ig_value *range = ig_build_range(e, ig_expr_integer(e, IG_DT_i64, 0), all,
                                     ig_expr_integer(e, IG_DT_i64, 1));
    return ig_build_bucketize(e, range, ends, (ig_bucketize_attrs){ .right = true });
}

/* repeat_interleave(repeats) */
ig_status ig_ts_op_interleave_numbers(ig_ts_call *call) {
    ig_value *repeats = ig_aten_tensor(call, 0);
    ig_dtype dtype = repeats ? (ig_dtype)repeats->type->dtype : IG_DT_i64;
    ig_value *value = spread_values(call->e, ig_aten_cast(call, repeats, IG_DT_i64));
    return ig_aten_give(call, ig_aten_cast(call, value, dtype));
}

static ig_value *repeat_each(ig_expr *e, ig_value *x, uint32_t axis, ig_dim times) {
    assert(axis < x->type->rank && "the caller has flattened a scalar");
    ig_dim dims[IG_TENSOR_RANK + 1];
    uint32_t rank = x->type->rank;
    ig_dim extent = ig_dim_mul(e->module, ig_expr_extent(e, x, axis), times);
    x = ig_expr_unsqueeze(e, x, axis + 1);
    if (!x) {
        return NULL;
    }
    memcpy(dims, x->type->dims, (rank + 1) * sizeof *dims);
    dims[axis + 1] = times;
    x = ig_expr_expand(e, x, rank + 1, dims);
    dims[axis] = extent;
    memmove(dims + axis + 1, dims + axis + 2, (rank - axis - 1) * sizeof *dims);
    return ig_expr_reshape(e, x, rank, dims);
}

/* repeat_interleave(self, repeats, dim, output_size): repeats a number or a tensor */
ig_status ig_ts_op_interleave(ig_ts_call *call) {
    if (ig_aten_is_quantised(call, 0)) {
        return ig_aten_through_raw(call, ig_ts_op_interleave);
    }
    ig_expr *e = call->e;
    ig_value *x = ig_aten_tensor(call, 0);
    if (!x) {
        return e->status;
    }
    bool is_flat = ig_ts_is_none(call, 2);
    uint32_t axis = is_flat ? 0 : ig_aten_axis(call, 2, x->type->rank);
    x = is_flat || x->type->rank == 0 ? ig_expr_flatten(e, x) : x;
    if (!x || call->args[1].kind != IG_TS_TENSOR) {
        ig_dim times = ig_aten_dim(call, 1);
        return x ? ig_aten_give(call, repeat_each(e, x, axis, times)) : e->status;
    }
    ig_value *repeats = ig_aten_cast(call, ig_aten_tensor(call, 1), IG_DT_i64);
    ig_dim extent = ig_expr_extent(e, x, axis);
    repeats = ig_expr_expand(e, ig_expr_flatten(e, repeats), 1, &extent);
    return ig_aten_give(
        call, ig_expr_gather(e, x, spread_values(e, repeats), axis, IG_NEGATIVE_wrap));
}

/* ---- rotation ---- */

/* Element i comes from i - shift, cyclically. */
static ig_value *roll_axis(ig_expr *e, ig_value *x, uint32_t axis, ig_dim by) {
    assert((!x || axis < x->type->rank) && "the caller has checked the axis");
    int64_t extent, shift;
    if (!x) {
        return NULL;
    }
    if (!ig_dim_constant(e->module, ig_expr_extent(e, x, axis), &extent) ||
        !ig_dim_constant(e->module, by, &shift)) {
        ig_value *index = ig_expr_iota(e, IG_DT_i64, ig_expr_extent(e, x, axis));
        index = ig_build_sub(e, index, ig_expr_dim(e, by, IG_DT_i64));
        index = ig_expr_map2(e, IG_OP_mod, index,
                             ig_expr_dim(e, ig_expr_extent(e, x, axis), IG_DT_i64));
        return ig_expr_gather(e, x, index, axis, IG_NEGATIVE_wrap);
    }
    shift = extent ? (shift % extent + extent) % extent : 0;
    if (shift == 0) {
        return x;
    }
    ig_value *parts[] = {
        ig_expr_slice(e, x, axis, ig_dim_of(extent - shift), ig_dim_of(shift), 1),
        ig_expr_slice(e, x, axis, ig_dim_of(0), ig_dim_of(extent - shift), 1),
    };
    return ig_expr_concat(e, axis, parts, 2);
}

/* roll(self, shifts, dims): without dims as one row */
ig_status ig_ts_op_roll(ig_ts_call *call) {
    uint32_t count, axes, axis;
    ig_value *x = ig_aten_tensor(call, 0);
    const ig_dim *shifts = ig_aten_dims(call, 1, 0, &count);
    const int64_t *dims = ig_aten_ints(call, 2, 0, &axes);
    IG_TRY(call->e->status);
    if (axes == 0 && count == 1) {
        const ig_type *type = x->type;
        x = roll_axis(call->e, ig_expr_flatten(call->e, x), 0, shifts[0]);
        return ig_aten_give(call, ig_expr_reshape(call->e, x, type->rank, type->dims));
    }
    if (axes != count) {
        return ig_ts_fail(call, IG_INVALID, "%u shifts for %u axes", count, axes);
    }
    for (uint32_t i = 0; x && i < count; i++) {
        if (!ig_aten_wrap_axis(call->e, dims[i], x->type->rank, &axis)) {
            return call->e->status;
        }
        x = x->type->rank ? roll_axis(call->e, x, axis, shifts[i]) : x;
    }
    return ig_aten_give(call, x);
}

/* fft_fftshift(self, dim): the axis's second half comes first; variant 1: the inverse,
 * which differs where an extent is odd */
ig_status ig_ts_op_fftshift(ig_ts_call *call) {
    ig_aten_view v;
    uint32_t count;
    if (!ig_aten_viewed(call, &v)) {
        return call->e->status;
    }
    const int64_t *axes = ig_aten_axes(call, 1, v.rank, true, &count);
    IG_TRY(call->e->status);
    ig_module *module = call->module;
    for (uint32_t i = 0; v.x && i < count && v.rank; i++) {
        uint32_t axis = (uint32_t)axes[i];
        ig_dim extent = ig_expr_extent(call->e, v.x, axis), two = ig_dim_of(2);
        ig_dim first = call->row->variant ? ig_dim_floor_div(module, extent, two)
                                          : ig_dim_ceil_div(module, extent, two);
        ig_dim rest = ig_dim_sub(module, extent, first);
        ig_value *parts[] = { ig_expr_slice(call->e, v.x, axis, first, rest, 1),
                              ig_expr_slice(call->e, v.x, axis, ig_dim_of(0), first,
                                            1) };
        v.x = ig_expr_concat(call->e, axis, parts, 2);
    }
    return v.is_complex ? ig_ts_give_complex(call, 0, v.x, ig_ts_peek(call, 0)->dtype)
                        : ig_aten_give(call, v.x);
}

/* flip(self, dims); variant: fliplr 1, flipud 2 */
ig_status ig_ts_op_flip(ig_ts_call *call) {
    if (ig_aten_is_quantised(call, 0)) {
        return ig_aten_through_raw(call, ig_ts_op_flip);
    }
    uint32_t count = 1, axis;
    ig_value *x = ig_aten_tensor(call, 0);
    int64_t fixed = call->row->variant == 1 ? 1 : 0;
    const int64_t *dims = call->row->variant ? &fixed
                                             : ig_aten_ints(call, 1, 0, &count);
    IG_TRY(call->e->status);
    for (uint32_t i = 0; x && i < count; i++) {
        if (!ig_aten_wrap_axis(call->e, dims[i], x->type->rank, &axis)) {
            return call->e->status;
        }
        x = x->type->rank ? ig_expr_flip(call->e, x, axis) : x;
    }
    return ig_aten_give(call, x);
}

/* rot90(self, k, dims) */
ig_status ig_ts_op_rot90(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    int64_t turns = ig_aten_int(call, 1) & 3;
    uint32_t count, a, b;
    const int64_t *dims = ig_aten_ints(call, 2, 2, &count);
    IG_TRY(call->e->status);
    if (!ig_aten_wrap_axis(call->e, dims[0], x->type->rank, &a) ||
        !ig_aten_wrap_axis(call->e, dims[1], x->type->rank, &b)) {
        return call->e->status;
    }
    if (turns == 2) {
        x = ig_expr_flip(call->e, ig_expr_flip(call->e, x, a), b);
    } else if (turns) {
        x = ig_expr_swap(call->e, ig_expr_flip(call->e, x, turns == 1 ? b : a), a, b);
    }
    return ig_aten_give(call, x);
}

/* ---- grids ---- */

static ig_status give_values(ig_ts_call *call, ig_value **values, uint32_t count) {
    return ig_ts_give_list(call, 0, IG_TS_NO_ARG, values, count);
}

/* The tensors of argument 0 as axes of one shape; `swaps` the first two. */
static ig_value **make_grid(ig_ts_call *call, uint32_t *out_count, bool swaps) {
    ig_dim dims[IG_TENSOR_RANK], one[IG_TENSOR_RANK];
    uint32_t count;
    ig_value **values = ig_aten_tensors(call, 0, &count);
    *out_count = count;
    if (count > IG_TENSOR_RANK) {
        ig_expr_fail(call->e, IG_LIMIT,
                     "a grid of %u tensors has as many axes, expected at most %d",
                     count, IG_TENSOR_RANK);
    }
    if (call->e->status != IG_OK) {
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = swaps && count > 1 && i < 2 ? 1 - i : i;
        dims[at] = ig_type_count(call->module, values[i]->type);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = swaps && count > 1 && i < 2 ? 1 - i : i;
        for (uint32_t k = 0; k < count; k++) {
            one[k] = k == at ? dims[k] : ig_dim_of(1);
        }
        values[i] = ig_expr_reshape(call->e, values[i], count, one);
        values[i] = ig_expr_expand(call->e, values[i], count, dims);
    }
    return call->e->status == IG_OK ? values : NULL;
}

/* meshgrid(tensors), meshgrid(tensors, *, indexing) (variant 1) */
ig_status ig_ts_op_meshgrid(ig_ts_call *call) {
    uint32_t count;
    bool swaps = call->row->variant && ig_str_is(ig_aten_str(call, 1), "xy");
    ig_value **values = make_grid(call, &count, swaps);
    return values ? give_values(call, values, count) : call->e->status;
}

/* Rows of all combinations, the last tensor running fastest. */
ig_status ig_ts_op_cartesian_prod(ig_ts_call *call) {
    uint32_t count;
    ig_value **values = make_grid(call, &count, false);
    if (!values) {
        return call->e->status;
    }
    if (count == 0) {
        return ig_ts_fail(call, IG_INVALID, "takes 0 tensors, expected 1 or more");
    }
    if (count == 1) {
        return ig_aten_give(call, values[0]);
    }
    for (uint32_t i = 0; i < count; i++) {
        ig_dim dims[] = { ig_type_count(call->module, values[i]->type), ig_dim_of(1) };
        values[i] = ig_expr_reshape(call->e, values[i], 2, dims);
    }
    return ig_aten_give(call, ig_expr_concat(call->e, 1, values, count));
}

ig_status ig_ts_op_broadcast_tensors(ig_ts_call *call) {
    ig_dim dims[IG_TENSOR_RANK];
    uint32_t count, rank = 0;
    ig_value **values = ig_aten_tensors(call, 0, &count);
    IG_TRY(call->e->status);
    for (uint32_t i = 0; i < count; i++) {
        if (!ig_expr_broadcast_dims(call->e, values[i]->type, dims, &rank)) {
            return call->e->status;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        values[i] = ig_expr_expand(call->e, values[i], rank, dims);
    }
    return give_values(call, values, count);
}

/* ---- diagonals ---- */

/* x's last axis as the diagonal `offset` of a matrix in axes a, b. */
static ig_value *embed_diagonal(ig_expr *e, ig_value *x, int64_t offset, uint32_t a,
                                uint32_t b) {
    assert(a < b && b <= x->type->rank && "the diagonal's axes are in order");
    assert(x->type->rank > 0 && "the last axis is the diagonal");
    ig_module *module = e->module;
    uint32_t rank = x->type->rank;
    int64_t far = offset < 0 ? -offset : offset;
    ig_dim length = ig_expr_extent(e, x, rank - 1);
    ig_dim size = ig_dim_add(module, length, ig_dim_const(module, far));
    ig_dim before[IG_TENSOR_RANK] = { 0 }, after[IG_TENSOR_RANK] = { 0 };
    int64_t perm[IG_TENSOR_RANK + 1];
    /* Row i holds x[i] at column i + offset: a column of x, masked. */
    before[rank - 1] = ig_dim_const(module, offset < 0 ? far : 0);
    after[rank - 1] = ig_dim_const(module, offset > 0 ? far : 0);
    x = ig_expr_pad(e, x, before, after, IG_PAD_constant, 0);
    x = x ? ig_expr_unsqueeze(e, x, rank) : NULL;
    ig_value *row = ig_expr_axis_iota(e, rank + 1, rank - 1, size);
    ig_value *column = ig_expr_axis_iota(e, rank + 1, rank, size);
    ig_value *at = ig_build_add(e, row, ig_expr_integer(e, IG_DT_i64, offset));
    ig_value *zero = x ? ig_expr_integer(e, (ig_dtype)x->type->dtype, 0) : NULL;
    x = ig_build_where(e, ig_build_eq(e, column, at), x, zero);
    for (uint32_t i = 0, next = 0; i < rank + 1; i++) {
        perm[i] = i == a ? rank - 1 : i == b ? rank : next++;
    }
    return ig_expr_transpose(e, x, perm);
}

/* diag_embed(self, offset, dim1, dim2) */
ig_status ig_ts_op_diag_embed(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    int64_t offset = ig_aten_distance(call, 1);
    if (!x) {
        return call->e->status;
    }
    uint32_t a = ig_aten_axis(call, 2, x->type->rank + 1);
    uint32_t b = ig_aten_axis(call, 3, x->type->rank + 1);
    IG_TRY(call->e->status);
    if (a == b || x->type->rank == 0 || x->type->rank == IG_TENSOR_RANK) {
        return ig_ts_fail(
            call, x->type->rank == IG_TENSOR_RANK ? IG_LIMIT : IG_INVALID,
            "a diagonal in axes %u and %u of a tensor of rank %u, expected two axes and a result of rank at most %d",
            a, b, x->type->rank, IG_TENSOR_RANK);
    }
    if (a > b) {
        return ig_aten_give(call, embed_diagonal(call->e, x, -offset, b, a));
    }
    return ig_aten_give(call, embed_diagonal(call->e, x, offset, a, b));
}

/* diag(self, diagonal): of a matrix its diagonal, of a vector a matrix; variant 1,
 * diagflat: always a matrix */
ig_status ig_ts_op_diag(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    int64_t offset = ig_aten_distance(call, 1);
    x = call->row->variant ? ig_expr_flatten(call->e, x) : x;
    if (!x) {
        return call->e->status;
    }
    if (x->type->rank == 2) {
        return ig_aten_give(call, ig_aten_diagonal(call, x, offset, 0, 1));
    }
    return ig_aten_give(call, embed_diagonal(call->e, x, offset, 0, 1));
}

ig_status ig_ts_op_trace(ig_ts_call *call) {
    ig_value *x = ig_aten_sum_dtype(call, ig_aten_tensor(call, 0));
    x = x ? ig_aten_diagonal(call, x, 0, 0, 1) : NULL;
    return ig_aten_give(call,
                        ig_expr_reduce(call->e, IG_REDUCE_sum, x, NULL, 0, false));
}
