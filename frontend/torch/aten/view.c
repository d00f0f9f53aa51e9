/* Views of argument 0, as rows of every room build them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/aten/view.h"
#include "ir/build/extent.h"

#include <assert.h>
#include <string.h>

bool ig_aten_viewed(ig_ts_call *call, ig_aten_view *out) {
    const ig_ts_tensor *tensor = NULL;
    memset(out, 0, sizeof *out);
    if (call->e->status == IG_OK) {
        call->e->status = ig_ts_tensor_raw(call, 0, &out->x, &tensor);
    }
    if (call->e->status != IG_OK) {
        return false;
    }
    out->is_complex = tensor->dtype->is_complex;
    out->rank = out->x->type->rank - out->is_complex;
    out->dims = out->x->type->dims;
    return true;
}

ig_value *ig_aten_view_reshape(ig_ts_call *call, const ig_aten_view *v, uint32_t rank,
                               const ig_dim *dims) {
    ig_dim all[IG_TENSOR_RANK + 1];
    if (rank >= IG_TENSOR_RANK) {
        return ig_expr_fail(call->e, IG_LIMIT,
                            "a shape has %u axes, expected at most %d", rank,
                            IG_TENSOR_RANK);
    }
    memcpy(all, dims, rank * sizeof *dims);
    all[rank] = ig_dim_of(2);
    return ig_expr_reshape(call->e, v->x, rank + v->is_complex, all);
}

ig_value *ig_aten_view_transpose(ig_ts_call *call, const ig_aten_view *v,
                                 const int64_t *perm) {
    assert(v->rank + v->is_complex <= IG_TENSOR_RANK && "a view is of a tensor");
    int64_t all[IG_TENSOR_RANK + 1];
    memcpy(all, perm, v->rank * sizeof *perm);
    all[v->rank] = v->rank;
    return ig_expr_transpose(call->e, v->x, all);
}

ig_status ig_aten_give_view(ig_ts_call *call, ig_value *value) {
    return value ? ig_ts_give_view(call, 0, 0, value) : call->e->status;
}

/* `count` elements of an axis, `step` apart: dims that are known at run time only. */
static ig_value *gather_steps(ig_ts_call *call, ig_value *x, uint32_t axis,
                              ig_dim start, ig_dim step, ig_dim count) {
    ig_expr *e = call->e;
    ig_value *index = ig_expr_iota(e, IG_DT_i64, count);
    index = ig_build_mul(e, index, ig_expr_dim(e, step, IG_DT_i64));
    index = ig_build_add(e, index, ig_expr_dim(e, start, IG_DT_i64));
    ig_value *taken = ig_expr_gather(e, x, index, axis, IG_NEGATIVE_error);
    return ig_ts_mark_pick(call, taken, &step);
}

ig_value *ig_aten_diagonal(ig_ts_call *call, ig_value *x, int64_t offset, uint32_t a,
                           uint32_t b) {
    assert(a != b && a < x->type->rank && b < x->type->rank &&
           "two axes of the tensor");
    int64_t perm[IG_TENSOR_RANK];
    ig_dim dims[IG_TENSOR_RANK];
    uint32_t rank = x->type->rank, next = 0;
    for (uint32_t i = 0; i < rank; i++) {
        if (i != a && i != b) {
            dims[next] = ig_expr_extent(call->e, x, i);
            perm[next++] = i;
        }
    }
    perm[rank - 2] = a;
    perm[rank - 1] = b;
    ig_module *module = call->module;
    ig_dim rows = ig_expr_extent(call->e, x, a);
    ig_dim columns = ig_expr_extent(call->e, x, b);
    offset = offset < -INT32_MAX ? -INT32_MAX : offset; /* none is there */
    offset = offset > INT32_MAX ? INT32_MAX : offset;
    ig_dim down = ig_dim_const(module, offset < 0 ? -offset : 0);
    ig_dim right = ig_dim_const(module, offset > 0 ? offset : 0);
    ig_dim length = ig_dim_min(module, ig_dim_sub(module, rows, down),
                               ig_dim_sub(module, columns, right));
    length = ig_dim_max(module, length, ig_dim_of(0));
    int64_t width;
    dims[rank - 2] = ig_dim_mul(module, rows, columns);
    x = ig_expr_transpose(call->e, x, perm);
    x = ig_expr_reshape(call->e, x, rank - 1, dims);
    ig_dim start = ig_dim_add(module, ig_dim_mul(module, down, columns), right);
    if (!ig_dim_constant(module, columns, &width)) {
        return gather_steps(call, x, rank - 2, start,
                            ig_dim_add(module, columns, ig_dim_of(1)), length);
    }
    return ig_expr_slice(call->e, x, rank - 2,
                         ig_dim_is(length, 0) ? ig_dim_of(0) : start, length,
                         width + 1);
}
