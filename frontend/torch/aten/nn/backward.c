/* Operators that torch's autograd calls in place of a formula, of the forward ones.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each builds the forward operator again over copies of its tensors, and has
 * passes/grad build the gradients of the sum of (result * grad): rules are in one
 * place.  Of the forward operator nothing stays that no gradient reads. */
#include "frontend/torch/aten/aten.h"

#include "ir/build/extent.h"

#include <assert.h>
#include <string.h>

enum { GRAD, FIRST, WANTED = 2 };

/* A value of its own, so that only values built of it depend on it. */
static ig_value *copy_value(ig_expr *e, ig_value *x) {
    ig_reshape_attrs same = { .to = { x ? x->type->dims : NULL,
                                      x ? x->type->rank : 0 } };
    return x ? ig_build_reshape(e, x, NULL, same) : NULL;
}

/* A forward operator, of whose first `wanted_count` arguments copies serve as the
 * points. */
typedef struct forward {
    const char *name;
    ig_ts_value *args;
    uint32_t arg_count, wanted_count;
} forward;

/* Gradients, along argument 0 of the call, of its first result by the points. */
static bool build_gradients(ig_ts_call *call, const forward *f, ig_value *const *points,
                            ig_value **out) {
    ig_expr *e = call->e;
    ig_ts_value result;
    ig_value *xs[WANTED], *grad = ig_aten_tensor(call, GRAD);
    for (uint32_t i = 0; i < f->wanted_count && e->status == IG_OK; i++) {
        xs[i] = copy_value(e, points[i]);
        f->args[i] = ig_ts_tensor_value(call, xs[i]);
    }
    if (e->status != IG_OK ||
        !ig_expr_note(e,
                      ig_ts_invoke(call, f->name, f->args, f->arg_count, &result, 1))) {
        return false;
    }
    ig_value *y = ig_ts_read(call, &result);
    ig_gradient_at at = { .y = ig_build_mul(e, y, y ? ig_expr_like(e, grad, y) : NULL),
                          .xs = xs,
                          .points = points,
                          .count = f->wanted_count,
                          .wanted_count = f->wanted_count };
    return e->status == IG_OK && ig_expr_note(e, ig_ts_gradients(call, &at, out));
}

/* Of all but the channels: a bias is added to each of these. */
static ig_value *bias_gradient(ig_ts_call *call, ig_value *grad, bool has_batch) {
    int64_t axes[IG_TENSOR_RANK];
    uint32_t count = 0, channels = has_batch ? 1 : 0;
    for (uint32_t i = 0; i < grad->type->rank; i++) {
        axes[count] = i;
        count += i != channels;
    }
    return ig_expr_reduce(call->e, IG_REDUCE_sum, grad, axes, count, false);
}

/* convolution_backward(grad, input, weight, bias_sizes, stride, padding, dilation,
 * transposed, output_padding, groups, output_mask): by input, weight and bias, those
 * that the mask leaves out too: nobody reads them. */
ig_status ig_ts_op_convolution_backward(ig_ts_call *call) {
    enum { FORWARD_ARGS = 9 };
    ig_ts_value args[FORWARD_ARGS];
    ig_value *points[] = { ig_aten_tensor(call, 1), ig_aten_tensor(call, 2) };
    ig_value *out[WANTED], *grad = ig_aten_tensor(call, GRAD);
    IG_TRY(call->e->status);
    memcpy(args, &call->args[FIRST], sizeof args);
    args[2] = (ig_ts_value){ .kind = IG_TS_NONE };
    forward f = { "aten::convolution", args, FORWARD_ARGS, WANTED };
    if (!build_gradients(call, &f, points, out)) {
        return call->e->status;
    }
    bool has_batch = grad->type->rank == points[1]->type->rank;
    IG_TRY(ig_ts_give(call, 0, out[0]));
    IG_TRY(ig_ts_give(call, 1, out[1]));
    return ig_ts_give(call, 2, bias_gradient(call, grad, has_batch));
}

/* "aten::max_pool2d" of "aten::max_pool2d_with_indices_backward". */
static const char *forward_name(ig_ts_call *call) {
    static const char *const ends[] = { "_backward", "_with_indices" };
    const char *own = call->row->schema;
    size_t size = strcspn(own, "(");
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t end = strlen(ends[i]);
        bool has_end = size > end && strncmp(own + size - end, ends[i], end) == 0;
        size -= has_end ? end : 0;
    }
    return ig_arena_copy(call->arena, own, size);
}

/* NAME_backward(grad, self, …): of the arguments behind the first, NAME has as many as
 * the variant says. */
ig_status ig_ts_op_plain_backward(ig_ts_call *call) {
    enum { MAX_ARGS = 7 };
    uint32_t count = (uint32_t)call->row->variant;
    ig_ts_value args[MAX_ARGS];
    ig_value *x = ig_aten_tensor(call, 1), *out = NULL;
    IG_TRY(call->e->status);
    assert(count <= MAX_ARGS && "a row's variant");
    memcpy(args, &call->args[FIRST], count * sizeof *args);
    forward f = { forward_name(call), args, count, 1 };
    return build_gradients(call, &f, &x, &out) ? ig_aten_give(call, out)
                                               : call->e->status;
}

/* grid_sampler_2d_backward(grad, input, grid, interpolation_mode, padding_mode,
 * align_corners, output_mask): by input and grid, the one that the mask leaves out
 * too: nobody reads it. */
ig_status ig_ts_op_grid_sampler_backward(ig_ts_call *call) {
    enum { FORWARD_ARGS = 5 };
    ig_ts_value args[FORWARD_ARGS];
    ig_value *points[] = { ig_aten_tensor(call, 1), ig_aten_tensor(call, 2) };
    ig_value *out[WANTED];
    IG_TRY(call->e->status);
    memcpy(args, &call->args[FIRST], sizeof args);
    forward f = { "aten::grid_sampler_2d", args, FORWARD_ARGS, WANTED };
    return build_gradients(call, &f, points, out) ? ig_aten_give2(call, out[0], out[1])
                                                  : call->e->status;
}

/* ---- bags ---- */

enum {
    IDS = 1,
    OFFSETS,
    BAG_SIZES = 4,
    MAXIMA,
    ROWS,
    SCALES,
    MODE,
    SPARSE,
    WEIGHTS,
    PADDING
};
enum { MODE_MAX = 2 };

/* The maxima say which row each number is of; an empty bag has none. */
static ig_status give_maxima_gradient(ig_ts_call *call, ig_value *zeros) {
    ig_expr *e = call->e;
    ig_value *grad = ig_aten_tensor(call, GRAD),
             *size = ig_aten_tensor(call, BAG_SIZES);
    IG_TRY(e->status);
    ig_value *is_full = ig_expr_with(e, IG_OP_gt, ig_expr_unsqueeze(e, size, 1), 0);
    ig_value *none = ig_expr_number(e, (ig_dtype)grad->type->dtype, 0);
    ig_value *added = ig_build_where(e, is_full, grad, none);
    IG_TRY(e->status);
    ig_ts_value result,
        args[] = { ig_ts_tensor_value(call, zeros), ig_ts_of_int(0), call->args[MAXIMA],
                   ig_ts_tensor_value(call, added) };
    IG_TRY(
        ig_ts_invoke(call, "aten::scatter_add", args, IG_COUNT_OF(args), &result, 1));
    return ig_ts_give_value(call, 0, result);
}

/* _embedding_bag_backward(grad, indices, offsets, offset2bag, bag_size,
 * maximum_indices, num_weights, scale_grad_by_freq, mode, sparse, per_sample_weights,
 * padding_idx): by the table, of which sums and means do not depend. */
ig_status ig_ts_op_embedding_bag_backward(ig_ts_call *call) {
    ig_expr *e = call->e;
    ig_value *grad = ig_aten_tensor(call, GRAD),
             *offsets = ig_aten_tensor(call, OFFSETS);
    ig_dim rows = ig_aten_dim(call, ROWS);
    bool scales = ig_aten_bool(call, SCALES);
    IG_TRY(e->status);
    if (scales) {
        return ig_ts_fail(call, IG_UNSUPPORTED, "scale_grad_by_freq");
    }
    ig_dim dims[] = { rows, ig_expr_extent(e, grad, 1) };
    ig_value *zeros = ig_expr_fill(e, (ig_dtype)grad->type->dtype, 2, dims, 0), *out;
    if (ig_aten_int(call, MODE) == MODE_MAX) {
        return give_maxima_gradient(call, zeros);
    }
    ig_truth is_plain = ig_dim_equal(call->module, ig_expr_extent(e, grad, 0),
                                     ig_expr_extent(e, offsets, 0));
    if (is_plain == IG_MAYBE) {
        return ig_ts_fail(call, IG_UNSUPPORTED,
                          "bags and offsets whose extents are apart");
    }
    ig_ts_value args[] = { { 0 },
                           call->args[IDS],
                           call->args[OFFSETS],
                           call->args[SCALES],
                           call->args[MODE],
                           call->args[SPARSE],
                           call->args[WEIGHTS],
                           ig_ts_of_bool(is_plain == IG_NO),
                           call->args[PADDING] };
    forward f = { "aten::_embedding_bag", args, IG_COUNT_OF(args), 1 };
    return build_gradients(call, &f, &zeros, &out) ? ig_aten_give(call, out)
                                                   : e->status;
}
