/* Windows of signals; crops to a shape.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/onnx/ops/hooks.h"

/* ---- windows: a - b cos(2 pi n / period) + c cos(4 pi n / period) ---- */

typedef struct window {
    double a, b, c;
} window;

static const window windows[] = { { 0.5, 0.5, 0 },
                                  { 25.0 / 46, 21.0 / 46, 0 },
                                  { 0.42, 0.5, 0.08 } };

/* factor cos(n turns) */
static ig_value *make_wave(ig_expr *e, ig_value *n, double turns, double factor) {
    ig_value *angle = ig_expr_with(e, IG_OP_mul, n, turns);
    return ig_expr_with(e, IG_OP_mul, ig_build_cos(e, angle), factor);
}

ig_status ig_onnx_import_window(ig_onnx_node *node) {
    ig_expr *e = node->e;
    const window *w = &windows[node->row->variant];
    const double turn = 6.28318530717958647693;
    ig_dtype dtype = ig_onnx_attr_dtype(node, "output_datatype", IG_DT_f32);
    ig_value *size = ig_onnx_count_input(node, 0);
    ig_value *n = ig_build_range(e, ig_expr_integer(e, IG_DT_i64, 0), size,
                                 ig_expr_integer(e, IG_DT_i64, 1));
    ig_value *period = ig_expr_cast(e, size, IG_DT_f64);
    if (!ig_onnx_attr_bool(node, "periodic", true)) {
        period = ig_expr_with(e, IG_OP_sub, period, 1);
    }
    n = ig_build_div(e, ig_expr_cast(e, n, IG_DT_f64), period);
    ig_value *once = make_wave(e, n, turn, w->b);
    ig_value *twice = make_wave(e, n, 2 * turn, w->c);
    ig_value *y = ig_expr_number_with(e, IG_OP_sub, w->a, once);
    return ig_onnx_give(node, ig_expr_cast(e, ig_build_add(e, y, twice), dtype));
}

/* ---- crops and pads to a shape ---- */

/* Half of the missing elements (or of the surplus, rounded towards 0) goes before. */
ig_status ig_onnx_import_center_crop_pad(ig_onnx_node *node) {
    ig_expr *e = node->e;
    const ig_type *type = node->inputs[0]->type;
    ig_ints axes = ig_onnx_attr_list(node, "axes");
    int64_t all[IG_TENSOR_RANK];
    ig_dim extents[IG_TENSOR_RANK];
    uint32_t count = axes.items ? axes.count : type->rank;
    if (count > type->rank || count == 0) {
        return ig_onnx_fail(node, IG_INVALID, "axes has %u entries, expected 1 to %u",
                            count, type->rank);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t axis = ig_onnx_axis_of(node, axes.items ? axes.items[i] : i,
                                        type->rank);
        extents[i] = type->dims[axis];
        all[i] = axis;
    }
    ig_value *wanted = ig_onnx_list_input(node, 1, ig_dim_of(count),
                                          "shape must have as many entries as axes");
    if (!wanted) {
        return e->status;
    }
    wanted = ig_expr_cast(e, wanted, IG_DT_i64);
    ig_value *missing = ig_build_sub(e, wanted, ig_expr_dims(e, extents, count));
    ig_value *before = ig_expr_with(e, IG_OP_div, missing, 2);
    ig_value *after = ig_build_sub(e, missing, before);
    ig_value *pads = ig_expr_concat(e, 0, (ig_value *[]){ before, after }, 2);
    ig_value *zero = ig_expr_number(e, (ig_dtype)type->dtype, 0);
    return ig_onnx_give(node,
                        ig_build_pad(e, node->inputs[0], pads, zero,
                                     ig_expr_ints(e, all, count), (ig_pad_attrs){ 0 }));
}
