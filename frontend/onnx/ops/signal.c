/* Windows of signals; crops to a shape.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/onnx/ops/hooks.h"
#include "frontend/onnx/import/import.h"

/* ---- windows: a - b cos(2 pi n / period) + c cos(4 pi n / period) ---- */

typedef struct window {
    double a, b, c;
} window;

static const window windows[] = { { 0.5, 0.5, 0 },
                                  { 25.0 / 46, 21.0 / 46, 0 },
                                  { 0.42, 0.5, 0.08 } };

/* factor cos(n turns) */
static ig_status wave(const ig_onnx_node *node, ig_value *n, double turns,
                      double factor, ig_value **out_value) {
    ig_value *angle;
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_mul, n, turns, &angle));
    IG_TRY(ig_onnx_build1(node, IG_OP_cos, angle, &angle));
    return ig_onnx_build_scalar(node, IG_OP_mul, angle, factor, out_value);
}

ig_status ig_onnx_import_window(ig_onnx_node *node) {
    const window *w = &windows[node->row->variant];
    const double turn = 6.28318530717958647693;
    ig_dtype dtype;
    int64_t code = ig_onnx_attr_int(node, "output_datatype", 1);
    IG_TRY(ig_onnx_tensor(node, 0));
    if (!ig_dtype_from_onnx(code, &dtype)) {
        return ig_onnx_fail(node, IG_UNSUPPORTED, "element type %lld is not supported",
                            (long long)code);
    }
    ig_value *size = ig_make_cast(node->builder, node->inputs[0], IG_DT_i64);
    ig_value *n, *period, *once, *twice, *y;
    IG_TRY(ig_onnx_reshape(node, size, 0, NULL, &size));
    IG_TRY(ig_onnx_build(node, IG_OP_range, 3,
                         (ig_value *[]){ ig_make_i64(node->builder, 0), size,
                                         ig_make_i64(node->builder, 1) },
                         NULL, &n));
    period = ig_make_cast(node->builder, size, IG_DT_f64);
    if (!ig_onnx_attr_int(node, "periodic", 1)) {
        IG_TRY(ig_onnx_build_scalar(node, IG_OP_sub, period, 1, &period));
    }
    n = ig_make_cast(node->builder, n, IG_DT_f64);
    IG_TRY(ig_onnx_build2(node, IG_OP_div, n, period, &n));
    IG_TRY(wave(node, n, turn, w->b, &once));
    IG_TRY(wave(node, n, 2 * turn, w->c, &twice));
    IG_TRY(ig_onnx_scalar_build(node, IG_OP_sub, w->a, once, &y));
    IG_TRY(ig_onnx_build2(node, IG_OP_add, y, twice, &y));
    node->outputs[0] = ig_make_cast(node->builder, y, dtype);
    return IG_OK;
}

/* ---- crops and pads to a shape ---- */

/* Half of what is missing (or too much, rounded towards 0) goes before. */
ig_status ig_onnx_import_center_crop_pad(ig_onnx_node *node) {
    uint32_t count;
    const int64_t *axes = ig_onnx_attr_ints(node, "axes", &count);
    IG_TRY(ig_onnx_tensor(node, 0));
    IG_TRY(ig_onnx_tensor(node, 1));
    const ig_type *type = node->inputs[0]->type;
    ig_dim extents[IG_TENSOR_RANK], all[IG_TENSOR_RANK];
    count = axes ? count : type->rank;
    if (count > type->rank || count == 0) {
        return ig_onnx_fail(node, IG_INVALID, "%u axes of an input of rank %u", count,
                            type->rank);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t axis;
        IG_TRY(ig_onnx_axis(node, axes ? axes[i] : i, type->rank, &axis));
        extents[i] = type->dims[axis];
        all[i] = ig_dim_of(axis);
    }
    ig_value *wanted = ig_make_cast(node->builder, node->inputs[1], IG_DT_i64);
    ig_value *have = ig_make_dims(node->builder, extents, count);
    ig_value *missing, *before, *after, *pads;
    IG_TRY(ig_onnx_build2(node, IG_OP_sub, wanted, have, &missing));
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_div, missing, 2, &before));
    IG_TRY(ig_onnx_build2(node, IG_OP_sub, missing, before, &after));
    ig_attr concat[IG_concat_attr_count] = { [IG_concat_axis] = ig_attr_of_int(0) };
    IG_TRY(ig_onnx_build(node, IG_OP_concat, 2, (ig_value *[]){ before, after }, concat,
                         &pads));
    ig_value *zero = ig_onnx_scalar(node, (ig_dtype)type->dtype, 0);
    ig_value *operands[] = { node->inputs[0], pads, zero,
                             ig_make_dims(node->builder, all, count) };
    return ig_onnx_build(node, IG_OP_pad, 4, operands, NULL, &node->outputs[0]);
}
