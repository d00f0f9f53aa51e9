/* resize as a choice of elements and their weighted sum, axis by axis.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Elements and their weights are known when extents and scales are: then an axis is a
 * gather by constant ids, for linear and cubic of several elements per position, which
 * a product with constant weights and a sum bring together.  Where only the run knows
 * the extents, ids and weights are computed (resize_run.c).  Resizes whose scales are
 * data are left alone.
 */
#include "compose/resize.h"

#include "compose/decompose.h"

#include <assert.h>
#include <string.h>

enum { TAPS_MAX = 1 << 20 };

/* Everything that decides about one axis. */
typedef struct axis_plan {
    ig_resize_axis axis;
    int64_t taps;
    ig_dim in, out;
    bool changes, is_open; /* open: only the run knows the extents */
} axis_plan;

static float read_number(const ig_data *data, int64_t index) {
    ig_tensor tensor = { .kind = IG_TENSOR,
                         .dtype = (ig_dtype)data->type->dtype,
                         .count = ig_dim_value(data->type->dims[0]),
                         .data = (void *)(uintptr_t)data->bytes };
    return (float)ig_tensor_get_f64(&tensor, data->is_splat ? 0 : index);
}

static bool read_axis(const ig_op *op, uint32_t d, axis_plan *out) {
    ig_module *module = ig_op_module(op);
    const ig_type *x = op->operands[0].value->type;
    float numbers[3] = { 0 };
    for (uint32_t i = 1; i < op->operand_count && i < 3; i++) {
        const ig_data *data = ig_constant_of(op->operands[i].value);
        if (!data || !data->bytes || data->type->rank != 1) {
            return false;
        }
        numbers[i - 1] = read_number(data, d);
        numbers[2] = i == 2 ? read_number(data, d + x->rank) : 0;
    }
    *out = (axis_plan){ .axis = ig_resize_axis_of(op) };
    out->axis.scale = numbers[0];
    out->axis.first = numbers[1];
    out->axis.end = numbers[2];
    ig_dim in = x->dims[d], size = op->results[0].type->dims[d];
    bool is_kept = numbers[0] == 0 || numbers[0] == 1;
    if (is_kept && out->axis.coordinates != IG_COORD_crop &&
        ig_dim_equal(module, in, size) == IG_YES) {
        return true;
    }
    out->changes = true;
    out->in = in;
    out->out = size;
    if (!ig_dim_constant(module, in, &out->axis.in) ||
        !ig_dim_constant(module, size, &out->axis.out)) {
        out->is_open = true;
        return !out->axis.has_antialias && out->axis.coordinates != IG_COORD_crop;
    }
    if (out->axis.in == 0) {
        return false;
    }
    out->taps = ig_resize_tap_count(&out->axis);
    return out->axis.out * out->taps <= TAPS_MAX;
}

/* ---- one axis ---- */

typedef struct chosen {
    int64_t *ids;
    float *weights;
    uint8_t *counts;     /* 0 where there is no element */
    uint8_t *is_outside; /* 1 where a position shows the value for that */
    bool has_gaps, has_outside;
} chosen;

static chosen choose_elements(ig_expr *e, const axis_plan *plan) {
    ig_arena *arena = &e->module->arena;
    size_t count = (size_t)(plan->axis.out * plan->taps);
    chosen c = { IG_NEW_ARRAY(arena, int64_t, count + 1),
                 IG_NEW_ARRAY(arena, float, count + 1),
                 IG_NEW_ARRAY(arena, uint8_t, count + 1),
                 IG_NEW_ARRAY(arena, uint8_t, (size_t)plan->axis.out + 1),
                 false,
                 false };
    double *weights = IG_NEW_ARRAY(arena, double, (size_t)plan->taps);
    for (int64_t i = 0; i < plan->axis.out; i++) {
        int64_t first = i * plan->taps;
        bool is_inside = ig_resize_taps(&plan->axis, i, c.ids + first, weights);
        for (int64_t t = first; t < first + plan->taps; t++) {
            c.weights[t] = is_inside ? (float)weights[t - first] : 0;
            c.ids[t] = is_inside ? c.ids[t] : 0;
            c.counts[t] = c.ids[t] >= 0;
            c.has_gaps = c.has_gaps || c.ids[t] < 0;
            c.ids[t] = c.ids[t] < 0 ? 0 : c.ids[t];
        }
        c.is_outside[i] = !is_inside;
        c.has_outside = c.has_outside || !is_inside;
    }
    return c;
}

static ig_value *make_constant(ig_expr *e, ig_dtype dtype, int64_t count,
                               const void *bytes) {
    return ig_expr_constant(e, "resize", dtype, 1, &count, bytes);
}

/* `taps` weighted elements per position, side by side along `axis`, summed; those that
 * `counts` (NULL: all do) says. */
static ig_value *sum_taps(ig_expr *e, ig_value *x, ig_value *weights, ig_value *counts,
                          uint32_t axis, const axis_plan *plan) {
    ig_dim dims[IG_TENSOR_RANK + 1], ones[IG_TENSOR_RANK + 1];
    uint32_t rank = x->type->rank;
    memcpy(dims, x->type->dims, axis * sizeof *dims);
    memcpy(dims + axis + 2, x->type->dims + axis + 1, (rank - axis - 1) * sizeof *dims);
    dims[axis] = plan->out;
    dims[axis + 1] = ig_dim_of(plan->taps);
    for (uint32_t d = 0; d <= rank; d++) {
        ones[d] = d == axis || d == axis + 1 ? dims[d] : ig_dim_of(1);
    }
    weights = ig_expr_reshape(e, weights, rank + 1, ones);
    weights = ig_expr_like(e, weights, x);
    x = ig_build_mul(e, ig_expr_reshape(e, x, rank + 1, dims), weights);
    if (counts) {
        ig_value *zero = ig_expr_number(e, (ig_dtype)x->type->dtype, 0);
        counts = ig_expr_reshape(e, counts, rank + 1, ones);
        x = ig_build_where(e, counts, x, zero);
    }
    return ig_expr_reduce_axis(e, IG_REDUCE_sum, x, axis + 1, false);
}

static ig_value *resize_open(ig_expr *e, ig_value *x, uint32_t axis, axis_plan *plan) {
    ig_resize_elements taken;
    bool is_done = ig_compose_resize_elements(e, &plan->axis, plan->in, plan->out,
                                              &taken);
    assert(is_done && "read_axis leaves out what needs known extents");
    (void)is_done;
    plan->taps = taken.taps;
    x = ig_expr_gather(e, x, taken.ids, axis, IG_NEGATIVE_wrap);
    return taken.weights ? sum_taps(e, x, taken.weights, NULL, axis, plan) : x;
}

/* Where a position lies outside of x, the value for that. */
static ig_value *show_outside(ig_expr *e, const ig_op *op, ig_value *x, uint32_t axis,
                              const chosen *c) {
    int64_t count = ig_dim_value(x->type->dims[axis]);
    ig_value *outside = make_constant(e, IG_DT_bool, count, c->is_outside);
    ig_value *value = ig_expr_number(e, (ig_dtype)x->type->dtype,
                                     ig_attr_float(op, IG_resize_outside, 0));
    outside = ig_expr_along(e, outside, axis, x->type->rank);
    return ig_build_where(e, outside, value, x);
}

static ig_value *resize_axis(ig_expr *e, const ig_op *op, ig_value *x, uint32_t axis,
                             axis_plan *plan) {
    if (plan->is_open) {
        return resize_open(e, x, axis, plan);
    }
    chosen c = choose_elements(e, plan);
    int64_t count = plan->axis.out * plan->taps;
    ig_value *ids = make_constant(e, IG_DT_i64, count, c.ids);
    x = ig_expr_gather(e, x, ids, axis, IG_NEGATIVE_wrap);
    if (plan->taps > 1) {
        ig_value *weights = make_constant(e, IG_DT_f32, count, c.weights);
        ig_value *counts = c.has_gaps ? make_constant(e, IG_DT_bool, count, c.counts)
                                      : NULL;
        x = sum_taps(e, x, weights, counts, axis, plan);
    }
    return c.has_outside ? show_outside(e, op, x, axis, &c) : x;
}

bool ig_decompose_resize(ig_expr *e, const ig_op *op, ig_value **out_results) {
    axis_plan plans[IG_TENSOR_RANK];
    ig_value *x = op->operands[0].value;
    ig_dtype dtype = (ig_dtype)x->type->dtype;
    uint32_t rank = x->type->rank;
    for (uint32_t d = 0; d < rank; d++) {
        if (!read_axis(op, d, &plans[d])) {
            return false;
        }
    }
    bool is_weighted = ig_attr_int(op, IG_resize_mode, 0) != IG_RESIZE_nearest;
    if (is_weighted && rank == IG_TENSOR_RANK) {
        return false; /* there is no further axis for the elements of a position */
    }
    bool is_real = is_weighted ||
                   ig_attr_int(op, IG_resize_coordinates, 0) == IG_COORD_crop;
    if (is_real) {
        x = ig_dtype_is_float(dtype) ? ig_expr_widen(e, x)
                                     : ig_expr_cast(e, x, IG_DT_f64);
    }
    for (uint32_t d = 0; d < rank; d++) {
        x = plans[d].changes ? resize_axis(e, op, x, d, &plans[d]) : x;
    }
    if (is_real && !ig_dtype_is_float(dtype)) {
        x = ig_build_round(e, x);
    }
    *out_results = ig_expr_cast(e, x, dtype);
    return true;
}
