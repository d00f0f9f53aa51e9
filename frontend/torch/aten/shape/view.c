/* Views: new shapes and orders of the same elements.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each is built by view ops alone, so that writes through it reach its argument.  Axes
 * are counted without the trailing one of complex tensors. */
#include "frontend/torch/aten/complex.h"
#include "frontend/torch/aten/view.h"

#include "ir/build/extent.h"

#include <assert.h>
#include <string.h>

/* ---- shapes ---- */

/* The shape of argument `index` with its -1 worked out. */
static uint32_t wanted_shape(ig_ts_call *call, const ig_aten_view *v, uint32_t index,
                             ig_dim *dims) {
    uint32_t count;
    const ig_dim *given = ig_aten_dims(call, index, 0, &count);
    ig_dim minus_one = ig_dim_const(call->module, -1), others = ig_dim_of(1);
    int64_t rest = -1;
    if (count >= IG_TENSOR_RANK) {
        ig_expr_fail(call->e, IG_LIMIT, "a shape has %u axes, expected at most %d",
                     count, IG_TENSOR_RANK);
        return 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        dims[i] = given[i];
        if (!ig_dim_same(given[i], minus_one)) {
            others = ig_dim_mul(call->module, others, given[i]);
        } else if (rest >= 0) {
            ig_expr_fail(call->e, IG_INVALID, "a shape has -1 twice");
        } else {
            rest = i;
        }
    }
    if (rest >= 0) {
        ig_dim all = ig_dim_product(call->module, v->dims, v->rank);
        dims[rest] = ig_dim_same(all, others) ? ig_dim_of(1)
                     : ig_dim_is(others, 0)
                         ? ig_dim_of(0)
                         : ig_dim_exact_div(call->module, all, others);
    }
    return count;
}

ig_status ig_ts_op_view(ig_ts_call *call) {
    ig_aten_view v;
    ig_dim dims[IG_TENSOR_RANK];
    if (!ig_aten_viewed(call, &v)) {
        return call->e->status;
    }
    uint32_t rank = wanted_shape(call, &v, 1, dims);
    return ig_aten_give_view(call, ig_aten_view_reshape(call, &v, rank, dims));
}

/* The shape of another tensor. */
ig_status ig_ts_op_view_as(ig_ts_call *call) {
    ig_aten_view v;
    ig_value *other = ig_aten_tensor(call, 1);
    if (!other || !ig_aten_viewed(call, &v)) {
        return call->e->status;
    }
    return ig_aten_give_view(
        call, ig_aten_view_reshape(call, &v, other->type->rank, other->type->dims));
}

/* Axes first … last as one. */
static ig_value *flatten_axes(ig_ts_call *call, const ig_aten_view *v, uint32_t first,
                              uint32_t last) {
    assert(first <= last && last < v->rank && "the caller has checked the axes");
    ig_dim dims[IG_TENSOR_RANK];
    uint32_t rank = 0;
    for (uint32_t i = 0; i < first; i++) {
        dims[rank++] = v->dims[i];
    }
    dims[rank++] = ig_dim_product(call->module, v->dims + first, last - first + 1);
    for (uint32_t i = last + 1; i < v->rank; i++) {
        dims[rank++] = v->dims[i];
    }
    return ig_aten_view_reshape(call, v, rank, dims);
}

ig_status ig_ts_op_flatten(ig_ts_call *call) {
    ig_aten_view v;
    if (!ig_aten_viewed(call, &v)) {
        return call->e->status;
    }
    uint32_t first = ig_aten_axis(call, 1, v.rank),
             last = ig_aten_axis(call, 2, v.rank);
    IG_TRY(call->e->status);
    if (v.rank == 0) {
        return ig_aten_give_view(
            call, ig_aten_view_reshape(call, &v, 1, (ig_dim[]){ ig_dim_of(1) }));
    }
    if (first > last) {
        return ig_ts_fail(call, IG_INVALID, "start_dim comes after end_dim");
    }
    if (first == last) {
        return ig_ts_give_arg(call, 0, 0); /* the tensor itself, no view of it */
    }
    return ig_aten_give_view(call, flatten_axes(call, &v, first, last));
}

ig_status ig_ts_op_ravel(ig_ts_call *call) {
    ig_aten_view v;
    if (!ig_aten_viewed(call, &v)) {
        return call->e->status;
    }
    ig_dim count = ig_dim_product(call->module, v.dims, v.rank);
    return ig_aten_give_view(call, ig_aten_view_reshape(call, &v, 1, &count));
}

/* unflatten(self, dim, sizes) */
ig_status ig_ts_op_unflatten(ig_ts_call *call) {
    ig_aten_view v;
    if (!ig_aten_viewed(call, &v)) {
        return call->e->status;
    }
    uint32_t axis;
    if (!ig_aten_axis_of_many(call, 1, v.rank, &axis)) {
        return call->e->status;
    }
    ig_aten_view one = { .x = v.x, .rank = 1, .dims = v.dims + axis };
    ig_dim parts[IG_TENSOR_RANK], dims[2 * IG_TENSOR_RANK];
    uint32_t count = wanted_shape(call, &one, 2, parts), rank = 0;
    IG_TRY(call->e->status);
    for (uint32_t i = 0; i < v.rank; i++) {
        if (i != axis) {
            dims[rank++] = v.dims[i];
        }
        for (uint32_t k = 0; i == axis && k < count; k++) {
            dims[rank++] = parts[k];
        }
    }
    return ig_aten_give_view(call, ig_aten_view_reshape(call, &v, rank, dims));
}

/* ---- axes of extent 1 ---- */

/* Whether an axis goes.  One that may or may not be 1 stays, and must not be. */
static bool is_one(ig_ts_call *call, ig_dim dim) {
    if (ig_dim_equal(call->module, dim, ig_dim_of(1)) == IG_MAYBE) {
        ig_expr_guard_less_equal(
            call->e, ig_dim_of(2), dim,
            "squeezing an extent that is 1 in this run would change the rank");
        return false;
    }
    return ig_dim_is(dim, 1);
}

static ig_status squeeze_axes(ig_ts_call *call, const ig_aten_view *v,
                              const int64_t *axes, uint32_t count) {
    ig_dim dims[IG_TENSOR_RANK];
    uint32_t rank = 0;
    for (uint32_t i = 0, next = 0; i < v->rank; i++) {
        bool is_asked = next < count && axes[next] == i;
        next += is_asked;
        if (!is_asked || !is_one(call, v->dims[i])) {
            dims[rank++] = v->dims[i];
        }
    }
    return ig_aten_give_view(call, ig_aten_view_reshape(call, v, rank, dims));
}

/* variant 0: all axes, 1: an axis or a list of axes. */
ig_status ig_ts_op_squeeze(ig_ts_call *call) {
    ig_aten_view v;
    int64_t all[IG_TENSOR_RANK];
    const int64_t *axes = all;
    uint32_t count;
    if (!ig_aten_viewed(call, &v)) {
        return call->e->status;
    }
    if (call->row->variant == 1) {
        axes = ig_aten_axes(call, 1, v.rank, false, &count);
        IG_TRY(call->e->status);
        return squeeze_axes(call, &v, axes, v.rank ? count : 0);
    }
    for (count = 0; count < v.rank; count++) {
        all[count] = count;
    }
    return squeeze_axes(call, &v, axes, count);
}

ig_status ig_ts_op_unsqueeze(ig_ts_call *call) {
    ig_aten_view v;
    if (!ig_aten_viewed(call, &v)) {
        return call->e->status;
    }
    uint32_t axis = ig_aten_axis(call, 1, v.rank + 1);
    ig_dim dims[IG_TENSOR_RANK + 1];
    memcpy(dims, v.dims, axis * sizeof *dims);
    dims[axis] = ig_dim_of(1);
    memcpy(dims + axis + 1, v.dims + axis, (v.rank - axis) * sizeof *dims);
    return ig_aten_give_view(call, ig_aten_view_reshape(call, &v, v.rank + 1, dims));
}

/* ---- order of axes ---- */

ig_status ig_ts_op_permute(ig_ts_call *call) {
    ig_aten_view v;
    uint32_t count;
    int64_t perm[IG_TENSOR_RANK];
    if (!ig_aten_viewed(call, &v)) {
        return call->e->status;
    }
    const int64_t *given = ig_aten_ints(call, 1, 0, &count);
    IG_TRY(call->e->status);
    if (count != v.rank) {
        return ig_ts_fail(
            call, IG_INVALID,
            "dims names %u axes for a tensor of rank %u, expected all of them", count,
            v.rank);
    }
    for (uint32_t i = 0, axis; i < count; i++) {
        if (!ig_aten_wrap_axis(call->e, given[i], v.rank, &axis)) {
            return call->e->status;
        }
        perm[i] = axis;
    }
    return ig_aten_give_view(call, ig_aten_view_transpose(call, &v, perm));
}

static ig_status swap_axes(ig_ts_call *call, const ig_aten_view *v, uint32_t a,
                           uint32_t b) {
    assert(((a < v->rank && b < v->rank) || v->rank == 0) &&
           "the caller has checked the axes");
    int64_t perm[IG_TENSOR_RANK];
    for (uint32_t i = 0; i < v->rank; i++) {
        perm[i] = i == a ? b : i == b ? a : i;
    }
    return ig_aten_give_view(call, ig_aten_view_transpose(call, v, perm));
}

ig_status ig_ts_op_transpose(ig_ts_call *call) {
    ig_aten_view v;
    if (!ig_aten_viewed(call, &v)) {
        return call->e->status;
    }
    uint32_t a = ig_aten_axis(call, 1, v.rank), b = ig_aten_axis(call, 2, v.rank);
    IG_TRY(call->e->status);
    return swap_axes(call, &v, a, b);
}

/* t, numpy_T (all axes reversed): variant 0; mT, mH, adjoint: variant 1. */
ig_status ig_ts_op_t(ig_ts_call *call) {
    ig_aten_view v;
    int64_t perm[IG_TENSOR_RANK];
    if (!ig_aten_viewed(call, &v)) {
        return call->e->status;
    }
    if (call->row->variant == 1) {
        if (v.rank < 2) {
            return ig_ts_fail(call, IG_INVALID, "self has rank %u, expected 2 or more",
                              v.rank);
        }
        return swap_axes(call, &v, v.rank - 2, v.rank - 1);
    }
    for (uint32_t i = 0; i < v.rank; i++) {
        perm[i] = v.rank - 1 - i;
    }
    return ig_aten_give_view(call, ig_aten_view_transpose(call, &v, perm));
}

/* mH, adjoint, matrix_H */
ig_status ig_ts_op_adjoint(ig_ts_call *call) {
    return ig_aten_is_complex(call, 0, 1) ? ig_aten_complex_adjoint(call)
                                          : ig_ts_op_t(call);
}

/* movedim(self, source, destination): ints or lists of them */
ig_status ig_ts_op_movedim(ig_ts_call *call) {
    ig_aten_view v;
    uint32_t count, others;
    bool is_one = call->args[1].kind == IG_TS_INT;
    const int64_t *from = ig_aten_ints(call, 1, is_one, &count);
    int64_t perm[IG_TENSOR_RANK];
    const int64_t *to = ig_aten_ints(call, 2, count, &others);
    if (!ig_aten_viewed(call, &v)) {
        return call->e->status;
    }
    bool is_moved[IG_TENSOR_RANK] = { false };
    for (uint32_t i = 0; i < v.rank; i++) {
        perm[i] = -1;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t source, target;
        if (!ig_aten_wrap_axis(call->e, from[i], v.rank, &source) ||
            !ig_aten_wrap_axis(call->e, to[i], v.rank, &target)) {
            return call->e->status;
        }
        if (v.rank && (perm[target] >= 0 || is_moved[source])) {
            return ig_ts_fail(call, IG_INVALID, "axis %u is moved twice", source);
        }
        perm[target] = source;
        is_moved[source] = true;
    }
    for (uint32_t i = 0, next = 0; i < v.rank; i++) {
        while (perm[i] < 0 && is_moved[next]) {
            next++;
        }
        perm[i] = perm[i] < 0 ? next++ : perm[i];
    }
    return ig_aten_give_view(call, ig_aten_view_transpose(call, &v, perm));
}

/* ---- broadcasting ---- */

/* An extent that cannot be the asked one may still be 1, as that of x[:1] is unless x
 * is empty: the run checks it.  NULL: it is not. */
static ig_value *take_one(ig_ts_call *call, ig_value *x, uint32_t axis) {
    ig_dim one = ig_dim_of(1), own = ig_expr_extent(call->e, x, axis);
    if (ig_dim_equal(call->module, own, one) == IG_NO) {
        return NULL;
    }
    ig_expr_guard_equal(call->e, own, one, "an extent that is expanded must be 1");
    return ig_expr_slice(call->e, x, axis, ig_dim_of(0), one, 1);
}

static ig_status expand_to(ig_ts_call *call, const ig_aten_view *v, const ig_dim *given,
                           uint32_t rank) {
    ig_dim dims[IG_TENSOR_RANK + 1], minus_one = ig_dim_const(call->module, -1);
    ig_value *x = v->x;
    if (rank < v->rank || rank >= IG_TENSOR_RANK) {
        return ig_ts_fail(call, IG_INVALID, "a tensor of rank %u expanded to rank %u",
                          v->rank, rank);
    }
    for (uint32_t i = 0; i < rank; i++) {
        uint32_t missing = rank - v->rank;
        ig_dim own = i < missing ? ig_dim_of(1) : v->dims[i - missing];
        dims[i] = ig_dim_same(given[i], minus_one) ? own : given[i];
        if (ig_dim_is(own, 1) || ig_dim_equal(call->module, own, dims[i]) != IG_NO) {
            continue;
        }
        x = take_one(call, x, i - missing);
        if (!x) {
            return ig_ts_fail(
                call, IG_INVALID,
                "the extent of axis %u cannot be expanded, expected 1 or the same extent",
                i);
        }
    }
    dims[rank] = ig_dim_of(2);
    return ig_aten_give_view(call,
                             ig_expr_expand(call->e, x, rank + v->is_complex, dims));
}

ig_status ig_ts_op_expand(ig_ts_call *call) {
    ig_aten_view v;
    uint32_t rank;
    if (!ig_aten_viewed(call, &v)) {
        return call->e->status;
    }
    const ig_dim *dims = ig_aten_shape(call, 1, &rank);
    IG_TRY(call->e->status);
    return expand_to(call, &v, dims, rank);
}

ig_status ig_ts_op_expand_as(ig_ts_call *call) {
    ig_aten_view v;
    ig_value *other = ig_aten_tensor(call, 1);
    if (!other || !ig_aten_viewed(call, &v)) {
        return call->e->status;
    }
    return expand_to(call, &v, other->type->dims, other->type->rank);
}

/* All of it, as another tensor: a change to the shape of one does not change the
 * other. */
ig_status ig_ts_op_alias(ig_ts_call *call) {
    ig_aten_view v;
    if (!ig_aten_viewed(call, &v)) {
        return call->e->status;
    }
    return ig_aten_give_view(call, ig_aten_view_reshape(call, &v, v.rank, v.dims));
}

/* The very tensor: cpu, requires_grad_ and the like. */
ig_status ig_ts_op_itself(ig_ts_call *call) {
    return ig_ts_give_arg(call, 0, 0);
}

/* ---- diagonals ---- */

/* Has axis b surely wider strides than axis a, or any where a has the narrowest? */
static bool is_wider(ig_ts_call *call, uint32_t b, uint32_t a) {
    ig_dim strides[IG_TENSOR_RANK];
    return ig_ts_strides(call, 0, strides) &&
           (ig_dim_less_equal(call->module, strides[b], strides[a]) == IG_NO ||
            (ig_dim_is(strides[a], 1) && !ig_dim_is(strides[b], 1)));
}

/* diagonal(self, offset, dim1, dim2) */
ig_status ig_ts_op_diagonal(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    int64_t offset = ig_aten_distance(call, 1);
    if (!x) {
        return call->e->status;
    }
    uint32_t a = ig_aten_axis(call, 2, x->type->rank);
    uint32_t b = ig_aten_axis(call, 3, x->type->rank);
    IG_TRY(call->e->status);
    if (a == b || x->type->rank < 2) {
        return ig_ts_fail(
            call, IG_INVALID,
            "dim1 and dim2 name axes %u and %u of a tensor of rank %u, expected two axes",
            a, b, x->type->rank);
    }
    bool is_turned = is_wider(call, b, a);
    /* the axis of wider strides first: a view, where the other order would be a copy */
    return ig_aten_give_view(call, is_turned ? ig_aten_diagonal(call, x, -offset, b, a)
                                             : ig_aten_diagonal(call, x, offset, a, b));
}

/* ---- the tensor itself gets another shape ---- */

/* Who else sees the tensor's new shape: later calls, or the other side of a branch and
 * the next trip of a loop, where nothing keeps account of it.  NULL: nobody. */
static const char *find_other_viewer(const ig_ts_call *call) {
    const ig_ts_tensor *tensor = call->args[0].as.tensor;
    if (ig_ts_is_from_outside(call, tensor)) {
        return "inside of a branch or loop that the run decides on, of an outer tensor";
    }
    return tensor->storage->origin && !tensor->step_count ? "of what the module holds"
                                                          : NULL;
}

/* Runs a view's function; argument 0 becomes that view. */
static ig_status write_as_view(ig_ts_call *call, ig_ts_op_hook view) {
    assert(call->arg_count > 0 && call->result_count > 0 &&
           "a view of argument 0 is given");
    assert(call->args[0].kind == IG_TS_TENSOR &&
           "the schema's first argument is a tensor");
    const char *viewer = find_other_viewer(call);
    if (viewer) {
        return ig_ts_fail(call, IG_UNSUPPORTED,
                          "changes the shape in place %s, which is not supported yet: "
                          "give the view another name",
                          viewer);
    }
    ig_ts_tensor *tensor = call->args[0].as.tensor;
    uint64_t born = tensor->born;
    IG_TRY(view(call));
    *tensor = *call->results[0].as.tensor;
    tensor->born = born;
    call->results[0] = call->args[0];
    return IG_OK;
}

ig_status ig_ts_op_become_t(ig_ts_call *call) {
    return write_as_view(call, ig_ts_op_t);
}

ig_status ig_ts_op_become_transpose(ig_ts_call *call) {
    return write_as_view(call, ig_ts_op_transpose);
}

ig_status ig_ts_op_become_squeeze(ig_ts_call *call) {
    return write_as_view(call, ig_ts_op_squeeze);
}

ig_status ig_ts_op_become_unsqueeze(ig_ts_call *call) {
    return write_as_view(call, ig_ts_op_unsqueeze);
}
