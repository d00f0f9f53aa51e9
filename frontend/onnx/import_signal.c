/* Windows of signals; blocks of pixels; crops to a shape.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/onnx/hooks.h"
#include "frontend/onnx/import.h"

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
    const double  turn = 6.28318530717958647693;
    ig_dtype      dtype;
    int64_t       code = ig_onnx_attr_int(node, "output_datatype", 1);
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

/* ---- blocks of pixels ---- */

static ig_status reordered(const ig_onnx_node *node, const ig_dim *dims,
                           const int64_t *perm, const ig_dim *to) {
    ig_value *x;
    ig_attr   attrs[IG_transpose_attr_count] = { [IG_transpose_perm] = ig_attr_of_ints(
                                                     node->import->module, perm, 6) };
    IG_TRY(ig_onnx_reshape(node, node->inputs[0], 6, dims, &x));
    IG_TRY(ig_onnx_build(node, IG_OP_transpose, 1, &x, attrs, &x));
    return ig_onnx_reshape(node, x, 4, to, &node->outputs[0]);
}

static ig_status read_block(const ig_onnx_node *node, int64_t *out_size) {
    IG_TRY(ig_onnx_tensor(node, 0));
    *out_size = ig_onnx_attr_int(node, "blocksize", 0);
    if (node->inputs[0]->type->rank != 4 || *out_size < 1 || *out_size > 1 << 20) {
        return ig_onnx_fail(node, IG_INVALID, "blocks of %lld in an input of rank %u",
                            (long long)*out_size, node->inputs[0]->type->rank);
    }
    return IG_OK;
}

static ig_dim times(const ig_onnx_node *node, ig_dim x, int64_t y) {
    return ig_dim_mul(node->import->module, x, ig_dim_const(node->import->module, y));
}

/* x / y, where the run checks that nothing is left. */
static ig_dim parts(const ig_onnx_node *node, ig_dim x, int64_t y) {
    ig_module *module = node->import->module;
    ig_dim     part = ig_dim_floor_div(module, x, ig_dim_const(module, y));
    ig_make_guard_equal(node->builder, times(node, part, y), x,
                        "an extent is no multiple of the block's size");
    return part;
}

ig_status ig_onnx_import_depth_to_space(ig_onnx_node *node) {
    int64_t b;
    IG_TRY(read_block(node, &b));
    const ig_dim *x = node->inputs[0]->type->dims;
    bool          is_crd = ig_str_is(ig_onnx_attr_str(node, "mode", "DCR"), "CRD");
    ig_dim c = parts(node, x[1], b * b), s = ig_dim_const(node->import->module, b);
    ig_dim to[] = { x[0], c, times(node, x[2], b), times(node, x[3], b) };
    if (is_crd) {
        return reordered(node, (ig_dim[]){ x[0], c, s, s, x[2], x[3] },
                         (int64_t[]){ 0, 1, 4, 2, 5, 3 }, to);
    }
    return reordered(node, (ig_dim[]){ x[0], s, s, c, x[2], x[3] },
                     (int64_t[]){ 0, 3, 4, 1, 5, 2 }, to);
}

ig_status ig_onnx_import_space_to_depth(ig_onnx_node *node) {
    int64_t b;
    IG_TRY(read_block(node, &b));
    const ig_dim *x = node->inputs[0]->type->dims;
    ig_dim        h = parts(node, x[2], b), w = parts(node, x[3], b);
    ig_dim        s = ig_dim_const(node->import->module, b);
    return reordered(node, (ig_dim[]){ x[0], x[1], h, s, w, s },
                     (int64_t[]){ 0, 3, 5, 1, 2, 4 },
                     (ig_dim[]){ x[0], times(node, x[1], b * b), h, w });
}

/* ---- crops and pads to a shape ---- */

/* Half of what is missing (or too much, rounded towards 0) goes before. */
ig_status ig_onnx_import_center_crop_pad(ig_onnx_node *node) {
    uint32_t       count;
    const int64_t *axes = ig_onnx_attr_ints(node, "axes", &count);
    IG_TRY(ig_onnx_tensor(node, 0));
    IG_TRY(ig_onnx_tensor(node, 1));
    const ig_type *type = node->inputs[0]->type;
    ig_dim         extents[IG_TENSOR_RANK], all[IG_TENSOR_RANK];
    count = axes ? count : type->rank;
    if (count > type->rank || count == 0) {
        return ig_onnx_fail(node, IG_INVALID, "%u axes of an input of rank %u", count,
                            type->rank);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t axis;
        IG_TRY(ig_onnx_axis(node, axes ? axes[i] : i, type->rank, &axis));
        extents[i] = type->dims[axis];
        all[i] = axis;
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
