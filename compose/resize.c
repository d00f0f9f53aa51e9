/* resize as a choice of elements and their weighted sum, axis by axis.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Which elements, and how much of each, is known when extents and scales are: then an
 * axis is a gather by constant ids, for linear and cubic of several elements a place,
 * which a product with constant weights and a sum bring together.  Where only the run
 * knows the extents, ids and weights are computed (expand_places.c).  Resizes whose
 * scales are data are left alone.
 */
#include "compose/places.h"

#include <string.h>

enum { TAPS_MOST = 1 << 20 };

/* Everything that decides about one axis. */
typedef struct axis_plan {
    ig_resize_axis axis;
    int64_t taps;
    ig_dim in, out;
    bool changes, is_open; /* open: only the run knows the extents */
} axis_plan;

static float number_at(const ig_data *data, int64_t index) {
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
        numbers[i - 1] = number_at(data, d);
        numbers[2] = i == 2 ? number_at(data, d + x->rank) : 0;
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
    return out->axis.out * out->taps <= TAPS_MOST;
}

/* ---- one axis ---- */

typedef struct chosen {
    int64_t *ids;
    float *weights, *outside; /* outside: 1 where a place shows the value for that */
    bool has_outside;
} chosen;

static chosen choose(ig_builder *b, const axis_plan *plan) {
    ig_arena *arena = &b->graph->module->arena;
    size_t count = (size_t)(plan->axis.out * plan->taps);
    chosen c = { IG_NEW_ARRAY(arena, int64_t, count + 1),
                 IG_NEW_ARRAY(arena, float, count + 1),
                 IG_NEW_ARRAY(arena, float, (size_t)plan->axis.out + 1), false };
    double *weights = IG_NEW_ARRAY(arena, double, (size_t)plan->taps);
    for (int64_t i = 0; i < plan->axis.out; i++) {
        int64_t at = i * plan->taps;
        bool is_inside = ig_resize_taps(&plan->axis, i, c.ids + at, weights);
        for (int64_t t = 0; t < plan->taps; t++) {
            c.weights[at + t] = is_inside ? (float)weights[t] : 0;
            c.ids[at + t] = is_inside ? c.ids[at + t] : 0;
        }
        c.outside[i] = is_inside ? 0 : 1;
        c.has_outside = c.has_outside || !is_inside;
    }
    return c;
}

static ig_value *constant(ig_builder *b, ig_dtype dtype, uint32_t rank,
                          const ig_dim *dims, const void *bytes) {
    ig_module *module = b->graph->module;
    const ig_type *type = ig_type_tensor(module, dtype, rank, dims);
    ig_data data = { .type = type, .bytes = bytes };
    data.size = ig_dim_value(ig_type_count(module, type)) * (ig_dtypes[dtype].bits / 8);
    return ig_make_weight(b, ig_module_add_weight(module, "resize", &data));
}

/* `values`, `outer` by `inner`, at axes `axis` and the next of `rank`. */
static ig_value *beside(ig_builder *b, ig_value *values, uint32_t axis, uint32_t rank,
                        ig_dim outer, ig_dim inner) {
    ig_dim dims[IG_TENSOR_RANK];
    for (uint32_t d = 0; d < rank; d++) {
        dims[d] = d == axis ? outer : d == axis + 1 ? inner : ig_dim_of(1);
    }
    return ig_make_reshape(b, values, rank, dims);
}

/* `taps` weighted elements a place, one behind the other along `axis`, summed. */
static ig_value *sum_taps(ig_builder *b, ig_value *x, ig_value *weights, uint32_t axis,
                          const axis_plan *plan) {
    ig_dim dims[IG_TENSOR_RANK];
    uint32_t rank = x->type->rank;
    memcpy(dims, x->type->dims, axis * sizeof *dims);
    memcpy(dims + axis + 2, x->type->dims + axis + 1, (rank - axis - 1) * sizeof *dims);
    dims[axis] = plan->out;
    dims[axis + 1] = ig_dim_of(plan->taps);
    weights = beside(b, weights, axis, rank + 1, plan->out, ig_dim_of(plan->taps));
    weights = ig_make_cast(b, weights, (ig_dtype)x->type->dtype);
    x = ig_make_reshape(b, x, rank + 1, dims);
    x = ig_make2(b, IG_OP_mul, x, weights);
    x = ig_expand_reduce(b, IG_REDUCE_sum, x, axis + 1, axis + 1);
    memmove(dims + axis + 1, dims + axis + 2, (rank - axis - 1) * sizeof *dims);
    return ig_make_reshape(b, x, rank, dims);
}

static ig_value *resize_open(ig_builder *b, ig_value *x, uint32_t axis,
                             axis_plan *plan) {
    ig_places places;
    if (!ig_expand_places(b, &plan->axis, plan->in, plan->out, &places)) {
        return NULL;
    }
    plan->taps = places.taps;
    x = ig_expand_gather(b, x, places.ids, axis);
    return places.weights ? sum_taps(b, x, places.weights, axis, plan) : x;
}

static ig_value *resize_axis(ig_builder *b, const ig_op *op, ig_value *x, uint32_t axis,
                             axis_plan *plan) {
    if (plan->is_open) {
        return resize_open(b, x, axis, plan);
    }
    chosen c = choose(b, plan);
    ig_dim flat = ig_dim_of(plan->axis.out * plan->taps);
    uint32_t rank = x->type->rank;
    ig_dtype dtype = (ig_dtype)x->type->dtype;
    x = ig_expand_gather(b, x, constant(b, IG_DT_i64, 1, &flat, c.ids), axis);
    if (plan->taps > 1) {
        x = sum_taps(b, x, constant(b, IG_DT_f32, 1, &flat, c.weights), axis, plan);
    }
    if (!c.has_outside) {
        return x;
    }
    ig_dim out = ig_dim_of(plan->axis.out);
    ig_value *outside = constant(b, IG_DT_f32, 1, &out, c.outside);
    outside = ig_expand_with(b, IG_OP_gt, ig_expand_along(b, outside, axis, rank), 0);
    ig_value *value = ig_make_float(b, dtype, ig_attr_float(op, IG_resize_outside, 0));
    return ig_make3(b, IG_OP_where, outside, value, x);
}

ig_value *ig_expand_resize(ig_builder *b, ig_op *op) {
    axis_plan plans[IG_TENSOR_RANK];
    ig_value *x = op->operands[0].value;
    ig_dtype dtype = (ig_dtype)x->type->dtype;
    uint32_t rank = x->type->rank;
    for (uint32_t d = 0; d < rank; d++) {
        if (!read_axis(op, d, &plans[d])) {
            return NULL;
        }
    }
    bool is_weighted = ig_attr_int(op, IG_resize_mode, 0) != IG_RESIZE_nearest;
    bool is_real = is_weighted ||
                   ig_attr_int(op, IG_resize_coordinates, 0) == IG_COORD_crop;
    if (is_real) {
        x = ig_dtype_is_float(dtype) ? ig_expand_widen(b, x)
                                     : ig_make_cast(b, x, IG_DT_f64);
    }
    for (uint32_t d = 0; d < rank; d++) {
        x = plans[d].changes ? resize_axis(b, op, x, d, &plans[d]) : x;
    }
    if (is_real && !ig_dtype_is_float(dtype)) {
        x = ig_make1(b, IG_OP_round, x);
    }
    return ig_make_cast(b, x, dtype);
}
