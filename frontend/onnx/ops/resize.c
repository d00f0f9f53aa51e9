/* Resize, Upsample and GridSample.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/onnx/ops/hooks.h"
#include "frontend/onnx/import/import.h"

#include <math.h>
#include <string.h>

enum { X, ROI, SCALES, SIZES };

typedef struct resizing {
    ig_onnx_node *node;
    uint32_t rank;
    uint32_t axes[IG_TENSOR_RANK], axis_count; /* which of them are resized */
    ig_dim sizes[IG_TENSOR_RANK];
    float scales[IG_TENSOR_RANK]; /* 0: not given */
    float region[2 * IG_TENSOR_RANK];
} resizing;

/* ---- inputs ---- */

/* `count` floats that are constants; false: they are computed from data. */
static bool read_floats(const ig_value *value, uint32_t count, float *out) {
    const ig_data *data = value ? ig_constant_of(value) : NULL;
    if (!data || !data->bytes || data->type->rank != 1 ||
        !ig_dtype_is_float((ig_dtype)data->type->dtype) ||
        !ig_dim_is(data->type->dims[0], count)) {
        return false;
    }
    ig_tensor tensor = { .kind = IG_TENSOR,
                         .dtype = (ig_dtype)data->type->dtype,
                         .count = count,
                         .data = (void *)(uintptr_t)data->bytes };
    for (uint32_t i = 0; i < count; i++) {
        int64_t at = data->is_splat ? 0 : (int64_t)i;
        out[i] = (float)ig_tensor_get_f64(&tensor, at);
    }
    return true;
}

static bool is_empty(const ig_value *value) {
    return !value || (value->type->kind == IG_TENSOR && value->type->rank == 1 &&
                      ig_dim_is(value->type->dims[0], 0));
}

static ig_status unknown(const resizing *r, const char *what) {
    return ig_onnx_fail(
        r->node, IG_UNSUPPORTED,
        "%s are computed from data, or not one an axis; only constants are supported",
        what);
}

/* ---- sizes ---- */

/* A float is no extent when it is negative, not a number or beyond what 64 bits
 * hold. */
static ig_status set_size(resizing *r, uint32_t axis, double extent) {
    bool is_whole = extent > -9e18 && extent < 9e18;
    if (!is_whole || !ig_dim_from((int64_t)extent, &r->sizes[axis])) {
        return ig_onnx_fail(
            r->node, IG_INVALID,
            "the scales, sizes and roi give axis %u %g elements, expected 0 or more",
            axis, extent);
    }
    return IG_OK;
}

/* floor(in * scale): exact where the scale is a whole number, else of known extents. */
static ig_status scale_axis(resizing *r, uint32_t axis, float scale) {
    ig_module *module = r->node->import->module;
    ig_dim in = r->node->inputs[X]->type->dims[axis];
    int64_t extent;
    if (!(scale > 0) || scale > 1e6f) {
        return ig_onnx_fail(r->node, IG_INVALID, "the scale of axis %u is %g", axis,
                            (double)scale);
    }
    float part = r->region[axis + r->rank] - r->region[axis];
    r->scales[axis] = scale;
    if (ig_dim_constant(module, in, &extent)) {
        return set_size(r, axis, floor((double)((float)extent * part * scale)));
    }
    if (scale == floorf(scale) && part == 1) {
        r->sizes[axis] = ig_dim_mul(module, in, ig_dim_of((int64_t)scale));
    } else if (1 / scale == floorf(1 / scale) && 1 / scale <= 1e6f && part == 1) {
        r->sizes[axis] = ig_dim_floor_div(module, in, ig_dim_of((int64_t)(1 / scale)));
    } else {
        return ig_onnx_fail(r->node, IG_UNSUPPORTED,
                            "axis %u is scaled by %g and its extent is not known", axis,
                            (double)scale);
    }
    return IG_OK;
}

static ig_status scale_axes(resizing *r, const float *scales) {
    for (uint32_t i = 0; i < r->axis_count; i++) {
        IG_TRY(scale_axis(r, r->axes[i], scales[i]));
    }
    return IG_OK;
}

/* One factor for all axes, so that the result fits in (or covers) the sizes. */
static ig_status keep_aspect(resizing *r, bool covers) {
    ig_module *module = r->node->import->module;
    float factor = 0;
    for (uint32_t i = 0; i < r->axis_count; i++) {
        int64_t in, out;
        uint32_t axis = r->axes[i];
        if (!ig_dim_constant(module, r->node->inputs[X]->type->dims[axis], &in) ||
            !ig_dim_constant(module, r->sizes[axis], &out) || in == 0) {
            return unknown(r, "sizes that keep the aspect ratio");
        }
        float own = (float)out / (float)in;
        bool is_better = covers ? own > factor : own < factor;
        factor = i == 0 || is_better ? own : factor;
    }
    for (uint32_t i = 0; i < r->axis_count; i++) {
        uint32_t axis = r->axes[i];
        float in = (float)ig_dim_value(r->node->inputs[X]->type->dims[axis]);
        r->scales[axis] = factor;
        IG_TRY(set_size(r, axis, floor((double)(factor * in) + 0.5)));
    }
    return IG_OK;
}

static ig_status read_sizes(resizing *r) {
    ig_onnx_node *node = r->node;
    ig_dims_value known;
    if (!ig_onnx_dims(node, SIZES, &known) || known.count != r->axis_count) {
        return unknown(r, "the sizes");
    }
    for (uint32_t i = 0; i < r->axis_count; i++) {
        r->sizes[r->axes[i]] = known.dims[i];
    }
    ig_str policy = ig_onnx_attr_str(node, "keep_aspect_ratio_policy", "stretch");
    bool covers = ig_str_is(policy, "not_smaller");
    if (!covers && !ig_str_is(policy, "not_larger")) {
        return IG_OK;
    }
    return keep_aspect(r, covers);
}

static ig_status read_axes(resizing *r) {
    uint32_t count;
    const int64_t *axes = ig_onnx_attr_ints(r->node, "axes", &count);
    r->axis_count = axes ? count : r->rank;
    if (r->axis_count > r->rank) {
        return ig_onnx_fail(r->node, IG_INVALID, "axes has %u entries, more than %u",
                            count, r->rank);
    }
    for (uint32_t i = 0; i < r->axis_count; i++) {
        r->axes[i] = i;
        if (axes) {
            IG_TRY(ig_onnx_axis(r->node, axes[i], r->rank, &r->axes[i]));
        }
    }
    return IG_OK;
}

static ig_status start(ig_onnx_node *node, resizing *r) {
    IG_TRY(ig_onnx_tensor(node, X));
    const ig_type *type = node->inputs[X]->type;
    *r = (resizing){ .node = node, .rank = type->rank };
    memcpy(r->sizes, type->dims, type->rank * sizeof *r->sizes);
    for (uint32_t d = 0; d < r->rank; d++) {
        r->region[d + r->rank] = 1;
    }
    return read_axes(r);
}

/* ---- lists that only the run knows ---- */

static ig_value *float_list(const resizing *r, const float *values, uint32_t count) {
    ig_dim dim = ig_dim_of(count);
    const ig_type *type = ig_type_tensor(r->node->import->module, IG_DT_f32, 1, &dim);
    return ig_make_const(r->node->builder, type, values);
}

/* Entry `axis` of list `index` as a list of one; `part` is 1 for the ends of roi.  What
 * the list leaves out stays as it is. */
static ig_status entry_of(const resizing *r, uint32_t index, uint32_t part,
                          uint32_t axis, ig_value **out_value) {
    static const float usual[] = { 0, 1 };
    for (uint32_t i = 0; i < r->axis_count; i++) {
        if (r->axes[i] == axis) {
            return ig_onnx_slice(r->node, r->node->inputs[index], 0,
                                 ig_dim_of(i + part * r->axis_count), ig_dim_of(1),
                                 out_value);
        }
    }
    *out_value = index == SIZES ? ig_make_dims(r->node->builder, &r->sizes[axis], 1)
                                : float_list(r, &usual[index == ROI && part], 1);
    return IG_OK;
}

/* Input `index` with an entry (for roi: two) for every axis. */
static ig_status full_list(const resizing *r, uint32_t index, ig_value **out_value) {
    ig_value *parts[2 * IG_TENSOR_RANK];
    uint32_t count = index == ROI ? 2 * r->rank : r->rank;
    const ig_value *given = r->node->inputs[index];
    ig_dtype dtype = index == SIZES ? IG_DT_i64 : IG_DT_f32;
    uint32_t own = r->axis_count * (index == ROI ? 2 : 1);
    if (given->type->kind != IG_TENSOR || given->type->rank != 1 ||
        !ig_dim_is(given->type->dims[0], own) || count == 0) {
        return ig_onnx_fail(r->node, IG_UNSUPPORTED,
                            "input %u is not a list of as many numbers as axes", index);
    }
    for (uint32_t i = 0; i < count; i++) {
        IG_TRY(entry_of(r, index, i / r->rank, i % r->rank, &parts[i]));
        parts[i] = ig_make_cast(r->node->builder, parts[i], dtype);
    }
    ig_attr attrs[IG_concat_attr_count] = { [IG_concat_axis] = ig_attr_of_int(0) };
    return ig_onnx_build(r->node, IG_OP_concat, count, parts, attrs, out_value);
}

/* ---- the op ---- */

static ig_status build(resizing *r, ig_attr *attrs, bool is_crop) {
    ig_onnx_node *node = r->node;
    ig_value *operands[3] = { node->inputs[X] };
    uint32_t count = 1;
    bool has_scales = false;
    attrs[IG_resize_sizes] = ig_attr_of_dims(node->import->module, r->sizes, r->rank);
    for (uint32_t d = 0; d < r->rank; d++) {
        has_scales = has_scales || r->scales[d] != 0;
    }
    if (has_scales || is_crop) {
        operands[count++] = float_list(r, r->scales, r->rank);
    }
    if (is_crop) {
        operands[count++] = float_list(r, r->region, 2 * r->rank);
    }
    return ig_onnx_build(node, IG_OP_resize, count, operands, attrs, &node->outputs[0]);
}

/* The number of `name`'s value in `names`. */
static ig_status read_name(const ig_onnx_node *node, const char *name,
                           const char *absent, const char *const *names, int64_t *out) {
    ig_str text = ig_onnx_attr_str(node, name, absent);
    for (*out = 0; names[*out]; (*out)++) {
        if (ig_str_is(text, names[*out])) {
            return IG_OK;
        }
    }
    return ig_onnx_fail(node, IG_INVALID, "%s is '%.*s', which is not known", name,
                        IG_STR_ARG(text));
}

static const char *const modes[] = { "nearest", "linear", "cubic", NULL };
static const char *const coordinates[] = {
    "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",   "align_corners",
    "asymmetric", "tf_crop_and_resize",   "tf_half_pixel_for_nn", NULL
};
static const char *const nearest[] = { "round_prefer_floor", "round_prefer_ceil",
                                       "floor", "ceil", NULL };

static ig_status read_region(resizing *r, bool is_crop) {
    float region[2 * IG_TENSOR_RANK];
    if (!is_crop) {
        return IG_OK;
    }
    if (!read_floats(ig_onnx_in(r->node, ROI), 2 * r->axis_count, region)) {
        return unknown(r, "the places of roi");
    }
    for (uint32_t i = 0; i < r->axis_count; i++) {
        r->region[r->axes[i]] = region[i];
        r->region[r->axes[i] + r->rank] = region[i + r->axis_count];
    }
    return IG_OK;
}

/* Are all lists constants? */
static bool is_known(const resizing *r, bool is_crop, bool has_sizes, float *scales) {
    ig_dims_value sizes;
    float region[2 * IG_TENSOR_RANK];
    if (is_crop && !read_floats(ig_onnx_in(r->node, ROI), 2 * r->axis_count, region)) {
        return false;
    }
    return has_sizes ? ig_onnx_dims(r->node, SIZES, &sizes)
                     : read_floats(ig_onnx_in(r->node, SCALES), r->axis_count, scales);
}

static ig_status build_at_run(const resizing *r, const ig_attr *attrs, bool is_crop,
                              bool has_sizes) {
    ig_onnx_node *node = r->node;
    ig_value *operands[4] = { node->inputs[X] };
    uint32_t count = 2;
    ig_str policy = ig_onnx_attr_str(node, "keep_aspect_ratio_policy", "stretch");
    if (has_sizes && !ig_str_is(policy, "stretch")) {
        return unknown(r, "sizes that keep the aspect ratio");
    }
    operands[1] = float_list(r, r->scales, r->rank);
    operands[2] = float_list(r, r->region, 2 * r->rank);
    if (!has_sizes) {
        IG_TRY(full_list(r, SCALES, &operands[1]));
    }
    if (is_crop) {
        IG_TRY(full_list(r, ROI, &operands[2]));
        count = 3;
    }
    if (has_sizes) {
        IG_TRY(full_list(r, SIZES, &operands[3]));
        count = 4;
    }
    return ig_onnx_build(node, IG_OP_resize, count, operands, attrs, &node->outputs[0]);
}

ig_status ig_onnx_import_resize(ig_onnx_node *node) {
    resizing r;
    int64_t mode, place, rule;
    float scales[IG_TENSOR_RANK];
    IG_TRY(start(node, &r));
    IG_TRY(read_name(node, "mode", "nearest", modes, &mode));
    IG_TRY(read_name(node, "coordinate_transformation_mode", "half_pixel", coordinates,
                     &place));
    IG_TRY(read_name(node, "nearest_mode", "round_prefer_floor", nearest, &rule));
    bool is_crop = place == IG_COORD_crop,
         has_sizes = !is_empty(ig_onnx_in(node, SIZES));
    if (!has_sizes && is_empty(ig_onnx_in(node, SCALES))) {
        return ig_onnx_fail(node, IG_INVALID, "has neither scales nor sizes");
    }
    ig_attr attrs[IG_resize_attr_count] = {
        [IG_resize_mode] = ig_attr_of_enum(mode),
        [IG_resize_coordinates] = ig_attr_of_enum(place),
        [IG_resize_nearest] = ig_attr_of_enum(rule),
        [IG_resize_cubic_a] =
            ig_attr_of_float(ig_onnx_attr_float(node, "cubic_coeff_a", -0.75)),
    };
    if (ig_onnx_attr_int(node, "antialias", 0)) {
        attrs[IG_resize_antialias] = ig_attr_of_bool(true);
    }
    if (ig_onnx_attr_int(node, "exclude_outside", 0)) {
        attrs[IG_resize_exclude_outside] = ig_attr_of_bool(true);
    }
    if (is_crop) {
        attrs[IG_resize_outside] =
            ig_attr_of_float(ig_onnx_attr_float(node, "extrapolation_value", 0));
    }
    if (!is_known(&r, is_crop, has_sizes, scales)) {
        return build_at_run(&r, attrs, is_crop, has_sizes);
    }
    IG_TRY(read_region(&r, is_crop));
    IG_TRY(has_sizes ? read_sizes(&r) : scale_axes(&r, scales));
    return build(&r, attrs, is_crop);
}

/* Upsample, and Resize of opset 10: i / scale, rounded down. */
ig_status ig_onnx_import_upsample(ig_onnx_node *node) {
    resizing r;
    float scales[IG_TENSOR_RANK];
    int64_t mode;
    ig_str text = ig_onnx_attr_str(node, "mode", "nearest");
    IG_TRY(start(node, &r));
    if (ig_str_is(text, "bilinear")) {
        mode = IG_RESIZE_linear;
    } else {
        IG_TRY(read_name(node, "mode", "nearest", modes, &mode));
    }
    bool may_hold = ig_onnx_row_has_attr(node->row, "scales");
    const Onnx__AttributeProto *attr = may_hold ? ig_onnx_attr(node, "scales", NULL)
                                                : NULL;
    bool is_constant = attr && attr->n_floats == r.rank;
    if (is_constant) {
        memcpy(scales, attr->floats, r.rank * sizeof *scales);
    } else {
        IG_TRY(ig_onnx_tensor(node, 1));
        is_constant = read_floats(node->inputs[1], r.rank, scales);
    }
    ig_attr attrs[IG_resize_attr_count] = {
        [IG_resize_mode] = ig_attr_of_enum(mode),
        [IG_resize_coordinates] = ig_attr_of_enum(IG_COORD_asymmetric),
        [IG_resize_nearest] = ig_attr_of_enum(IG_NEAREST_floor),
    };
    if (!is_constant) {
        ig_value *operands[] = {
            node->inputs[X], ig_make_cast(node->builder, node->inputs[1], IG_DT_f32)
        };
        return ig_onnx_build(node, IG_OP_resize, 2, operands, attrs, &node->outputs[0]);
    }
    IG_TRY(scale_axes(&r, scales));
    return build(&r, attrs, false);
}

/* ---- GridSample ---- */

ig_status ig_onnx_import_grid_sample(ig_onnx_node *node) {
    static const char *const outside[] = { "zeros", "border", "reflection", NULL };
    ig_str text = ig_onnx_attr_str(node, "mode", "linear");
    int64_t mode, rule;
    IG_TRY(ig_onnx_tensor(node, 0));
    IG_TRY(ig_onnx_tensor(node, 1));
    if (ig_str_is(text, "bilinear") || ig_str_is(text, "bicubic")) {
        mode = ig_str_is(text, "bilinear") ? IG_RESIZE_linear : IG_RESIZE_cubic;
    } else {
        IG_TRY(read_name(node, "mode", "linear", modes, &mode));
    }
    IG_TRY(read_name(node, "padding_mode", "zeros", outside, &rule));
    if (node->inputs[1]->type->rank > 0) {
        ig_onnx_guard_extents(node, 1, 0, 0, 0);
    }
    ig_attr attrs[IG_grid_sample_attr_count] = {
        [IG_grid_sample_mode] = ig_attr_of_enum(mode),
        [IG_grid_sample_outside] = ig_attr_of_enum(rule),
    };
    if (ig_onnx_attr_int(node, "align_corners", 0)) {
        attrs[IG_grid_sample_align_corners] = ig_attr_of_bool(true);
    }
    return ig_onnx_build(node, IG_OP_grid_sample, 2, node->inputs, attrs,
                         &node->outputs[0]);
}
