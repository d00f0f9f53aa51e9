/* Resize, Upsample and GridSample.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Lists (scales, sizes, region of interest) have an entry for each of `axes`; the row's
 * have one for each axis of x.  The part that the run computes is an operand of the
 * row, and its sizes are symbols.
 */
#include "compose/resize.h"

#include "frontend/onnx/import/args.h"
#include "frontend/onnx/ops/hooks.h"

#include <math.h>
#include <string.h>

enum { X, ROI, SCALES, SIZES };

typedef struct resizing {
    ig_onnx_node *node;
    ig_expr *e;
    ig_value *x;
    uint32_t rank;
    uint32_t axes[IG_TENSOR_RANK], axis_count; /* which of them are resized */
    ig_resize_form form;
} resizing;

/* ---- lists ---- */

static bool is_given(const resizing *r, uint32_t index) {
    const ig_value *list = ig_onnx_in(r->node, index);
    return list &&
           !(list->type->rank == 1 && ig_dim_is(ig_onnx_extent(r->e, list, 0), 0));
}

/* Reads a list of constants with `parts` entries an axis; false: it is computed, or
 * has not as many. */
static bool read_list(const resizing *r, uint32_t index, uint32_t parts, float *out) {
    const ig_value *list = ig_onnx_in(r->node, index);
    uint32_t count = parts * r->axis_count;
    if (!list || list->type->rank != 1 ||
        !ig_dim_is(ig_onnx_extent(r->e, list, 0), count)) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        double entry;
        if (!ig_constant_entry(list, i, &entry)) {
            return false;
        }
        out[r->axes[i % r->axis_count] + i / r->axis_count * r->rank] = (float)entry;
    }
    return true;
}

/* The list with entries for all axes of x; `usual` has those of axes left out. */
static ig_value *complete_list(const resizing *r, uint32_t index, uint32_t parts,
                               ig_value *usual) {
    int64_t ids[2 * IG_TENSOR_RANK];
    uint32_t own = parts * r->axis_count;
    ig_value *list =
        ig_onnx_list_input(r->node, index, ig_dim_of(own),
                           "scales, sizes and roi must have as many entries as axes");
    if (!list) {
        return NULL;
    }
    list = ig_expr_like(r->e, list, usual);
    for (uint32_t i = 0; i < parts * r->rank; i++) {
        ids[i] = own + i;
    }
    bool is_complete = r->axis_count == r->rank;
    for (uint32_t i = 0; i < own; i++) {
        uint32_t at = r->axes[i % r->axis_count] + i / r->axis_count * r->rank;
        is_complete = is_complete && at == i;
        ids[at] = i;
    }
    if (is_complete) {
        return list;
    }
    ig_value *all[] = { list, usual };
    return ig_expr_gather(r->e, ig_expr_concat(r->e, 0, all, 2),
                          ig_expr_ints(r->e, ids, parts * r->rank), 0,
                          IG_NEGATIVE_wrap);
}

/* ---- sizes ---- */

/* A float is no extent when it is negative, not a number or beyond what 64 bits
 * hold. */
static void set_size(resizing *r, uint32_t axis, double extent) {
    bool is_whole = extent > -9e18 && extent < 9e18;
    if (!is_whole || !ig_dim_from((int64_t)extent, &r->form.sizes[axis])) {
        ig_onnx_fail(
            r->node, IG_INVALID,
            "the scales, sizes and roi give axis %u %g elements, expected 0 or more",
            axis, extent);
    }
}

static void scale_axes(resizing *r) {
    for (uint32_t i = 0; i < r->axis_count; i++) {
        uint32_t axis = r->axes[i];
        float scale = r->form.scales[axis];
        float part = r->form.region[axis + r->rank] - r->form.region[axis];
        ig_dim in = ig_onnx_extent(r->e, r->x, axis);
        int64_t extent;
        if (!(scale > 0) || scale > 1e6f) {
            ig_onnx_fail(r->node, IG_INVALID, "the scale of axis %u is %g", axis,
                         (double)scale);
        } else if (ig_dim_constant(r->e->module, in, &extent)) {
            set_size(r, axis, floor((double)((float)extent * part * scale)));
        } else {
            ig_compose_scaled_extent(r->e, in, (double)part, (double)scale, true,
                                     &r->form.sizes[axis]);
        }
    }
}

/* One factor for all axes, so that the result fits in (or covers) the sizes; false:
 * only the run knows them. */
static bool keep_aspect(resizing *r, bool covers) {
    int64_t in[IG_TENSOR_RANK], out;
    float factor = 0;
    for (uint32_t i = 0; i < r->axis_count; i++) {
        uint32_t axis = r->axes[i];
        if (!ig_dim_constant(r->e->module, ig_onnx_extent(r->e, r->x, axis), &in[i]) ||
            !ig_dim_constant(r->e->module, r->form.sizes[axis], &out)) {
            return false;
        }
        if (in[i] == 0) {
            ig_onnx_fail(r->node, IG_UNSUPPORTED,
                         "keeps the aspect ratio of extents that are 0");
            return true;
        }
        float own = (float)out / (float)in[i];
        bool is_better = covers ? own > factor : own < factor;
        factor = i == 0 || is_better ? own : factor;
    }
    for (uint32_t i = 0; i < r->axis_count; i++) {
        r->form.scales[r->axes[i]] = factor;
        set_size(r, r->axes[i], floor((double)(factor * (float)in[i]) + 0.5));
    }
    return true;
}

/* The same for sizes that the run computes. */
static ig_value *keep_aspect_at_run(resizing *r, ig_value *sizes, bool covers) {
    ig_expr *e = r->e;
    ig_value *in = ig_expr_dims(e, r->x->type->dims, r->rank);
    in = ig_expr_cast(e, in, IG_DT_f32);
    float is_own[IG_TENSOR_RANK] = { 0 };
    int64_t ids[IG_TENSOR_RANK], rank = r->rank;
    for (uint32_t i = 0; i < r->axis_count; i++) {
        ids[i] = r->axes[i];
        is_own[ids[i]] = 1;
    }
    ig_value *own = ig_build_div(e, ig_expr_cast(e, sizes, IG_DT_f32), in);
    ig_value *at = ig_expr_ints(e, ids, r->axis_count);
    own = ig_expr_gather(e, own, at, 0, IG_NEGATIVE_wrap);
    ig_value *factor = ig_expr_reduce(e, covers ? IG_REDUCE_max : IG_REDUCE_min, own,
                                      NULL, 0, true);
    ig_value *mask = ig_expr_constant(e, "axes", IG_DT_f32, 1, &rank, is_own);
    r->form.scales_of_run = ig_build_mul(e, mask, factor);
    ig_value *wanted = ig_expr_with(e, IG_OP_add, ig_build_mul(e, in, factor), 0.5);
    wanted = ig_expr_cast(e, ig_build_floor(e, wanted), IG_DT_i64);
    return ig_build_where(e, ig_expr_with(e, IG_OP_gt, mask, 0), wanted, sizes);
}

/* Sizes of the run become symbols. */
static void take_sizes(resizing *r, uint32_t policy) {
    ig_dims_value known;
    if (ig_onnx_shape(r->node, SIZES, &known) && known.count == r->axis_count) {
        for (uint32_t i = 0; i < r->axis_count; i++) {
            r->form.sizes[r->axes[i]] = known.dims[i];
        }
        if (policy == 0 || keep_aspect(r, policy == 2)) {
            return;
        }
    }
    ig_value *sizes = ig_expr_dims(r->e, r->x->type->dims, r->rank);
    sizes = complete_list(r, SIZES, 1, sizes);
    if (policy > 0 && sizes) {
        sizes = keep_aspect_at_run(r, sizes, policy == 2);
    }
    ig_expr_bind_dims(r->e, sizes, r->rank, "an entry of sizes", r->form.sizes);
}

/* ---- the row ---- */

static bool start_resizing(ig_onnx_node *node, resizing *r) {
    ig_value *x = node->inputs[X];
    *r = (resizing){ .node = node, .e = node->e, .x = x, .rank = x->type->rank };
    r->form = ig_compose_resize_form(x);
    ig_ints axes = { 0 };
    if (ig_onnx_row_has_attr(node->row, "axes")) {
        axes = ig_onnx_attr_list(node, "axes");
    }
    r->axis_count = axes.items ? axes.count : r->rank;
    if (r->axis_count > r->rank) {
        ig_onnx_fail(node, IG_INVALID, "axes has %u entries, more than %u", axes.count,
                     r->rank);
        return false;
    }
    for (uint32_t i = 0; i < r->axis_count; i++) {
        r->axes[i] = axes.items ? ig_onnx_axis_of(node, axes.items[i], r->rank) : i;
    }
    return !ig_onnx_has_failed(node);
}

/* Entries of a list for all axes, f32: of the run, or NULL where all are known, which
 * go to `numbers`. */
static ig_value *take_list(const resizing *r, uint32_t index, uint32_t parts,
                           float *numbers) {
    int64_t count = parts * r->rank;
    if (read_list(r, index, parts, numbers)) {
        return NULL;
    }
    ig_value *usual = ig_expr_constant(r->e, "usual", IG_DT_f32, 1, &count, numbers);
    return complete_list(r, index, parts, usual);
}

static void take_scales(resizing *r, uint32_t index) {
    r->form.scales_of_run = take_list(r, index, 1, r->form.scales);
    if (!r->form.scales_of_run && r->form.region_of_run) {
        int64_t rank = r->rank;
        r->form.scales_of_run = ig_expr_constant(r->e, "scales", IG_DT_f32, 1, &rank,
                                                 r->form.scales);
    }
    if (r->form.scales_of_run) {
        ig_compose_resize_sizes(r->e, r->x, &r->form);
    } else if (!ig_onnx_has_failed(r->node)) {
        scale_axes(r);
    }
}

static ig_status give_resized(resizing *r) {
    return ig_onnx_has_failed(r->node)
               ? r->node->e->status
               : ig_onnx_give(r->node, ig_compose_resize(r->e, r->x, &r->form));
}

static void read_attrs(const ig_onnx_node *node, ig_resize_attrs *out) {
    *out = (ig_resize_attrs){
        .mode = (int)ig_onnx_attr_choice(node, "mode", "nearest linear cubic"),
        .coordinates = (int)ig_onnx_attr_choice(
            node, "coordinate_transformation_mode",
            "half_pixel half_pixel_symmetric pytorch_half_pixel align_corners "
            "asymmetric tf_crop_and_resize tf_half_pixel_for_nn"),
        .nearest = (int)ig_onnx_attr_choice(
            node, "nearest_mode", "round_prefer_floor round_prefer_ceil floor ceil"),
        .cubic_a = IG_SET(ig_onnx_attr_float(node, "cubic_coeff_a", -0.75)),
        .antialias = ig_onnx_attr_bool(node, "antialias", false),
        .exclude_outside = ig_onnx_attr_bool(node, "exclude_outside", false),
        .outside = IG_SET(ig_onnx_attr_float(node, "extrapolation_value", 0)),
    };
}

ig_status ig_onnx_import_resize(ig_onnx_node *node) {
    resizing r;
    if (!start_resizing(node, &r)) {
        return node->e->status;
    }
    read_attrs(node, &r.form.attrs);
    uint32_t policy = ig_onnx_attr_choice(node, "keep_aspect_ratio_policy",
                                          "stretch not_larger not_smaller");
    bool is_crop = r.form.attrs.coordinates == IG_COORD_crop;
    bool has_sizes = is_given(&r, SIZES);
    if (!has_sizes && !is_given(&r, SCALES)) {
        return ig_onnx_fail(node, IG_INVALID, "has neither scales nor sizes");
    }
    if (is_crop && !is_given(&r, ROI)) {
        return ig_onnx_fail(node, IG_INVALID,
                            "takes a part of its input, but has no roi");
    }
    if (is_crop) {
        r.form.region_of_run = take_list(&r, ROI, 2, r.form.region);
    }
    if (has_sizes) {
        take_sizes(&r, policy);
    } else {
        take_scales(&r, SCALES);
    }
    return give_resized(&r);
}

/* Upsample, and Resize before its coordinates had names: i / scale, rounded down. */
static bool start_upsampling(ig_onnx_node *node, resizing *r) {
    static const int modes[] = { IG_RESIZE_nearest, IG_RESIZE_linear, IG_RESIZE_linear,
                                 IG_RESIZE_cubic };
    uint32_t mode = ig_onnx_attr_choice(node, "mode", "nearest linear bilinear cubic");
    if (!start_resizing(node, r)) {
        return false;
    }
    r->form.attrs = (ig_resize_attrs){ .mode = modes[mode],
                                       .coordinates = IG_COORD_asymmetric,
                                       .nearest = IG_NEAREST_floor };
    return true;
}

/* The axes that grow (or shrink), the others as they are. */
static ig_value *resize_some(const resizing *r, ig_value *x, bool grows) {
    ig_resize_form form = r->form;
    form.attrs.nearest = grows ? IG_NEAREST_floor : IG_NEAREST_ceil;
    for (uint32_t i = 0; i < r->rank; i++) {
        if ((form.scales[i] >= 1) != grows) {
            form.scales[i] = 1;
            form.sizes[i] = x->type->dims[i];
        }
    }
    return ig_compose_resize(r->e, x, &form);
}

/* Before its coordinates had names, the nearest element of an axis that shrinks was the
 * next one (the text's example, and ONNX Runtime).  Scales of the run count as 1 or
 * more. */
static ig_status give_upsampled(resizing *r) {
    bool grows = false, shrinks = false;
    for (uint32_t i = 0; i < r->rank && !r->form.scales_of_run; i++) {
        grows |= r->form.scales[i] > 1;
        shrinks |= r->form.scales[i] < 1;
    }
    if (ig_onnx_has_failed(r->node) || !shrinks ||
        r->form.attrs.mode != IG_RESIZE_nearest) {
        return give_resized(r);
    }
    ig_value *x = grows ? resize_some(r, r->x, true) : r->x;
    return ig_onnx_give(r->node, x ? resize_some(r, x, false) : NULL);
}

ig_status ig_onnx_import_upsample(ig_onnx_node *node) {
    resizing r;
    if (!start_upsampling(node, &r)) {
        return node->e->status;
    }
    const Onnx__AttributeProto *attr = ig_onnx_row_has_attr(node->row, "scales")
                                           ? ig_onnx_attr(node, "scales", NULL)
                                           : NULL;
    if (attr && attr->n_floats == r.rank) {
        memcpy(r.form.scales, attr->floats, r.rank * sizeof *r.form.scales);
        scale_axes(&r);
    } else if (attr || node->input_count < 2) {
        return ig_onnx_fail(node, IG_INVALID, "must have as many scales as axes");
    } else {
        take_scales(&r, 1);
    }
    return give_upsampled(&r);
}

/* Of images alone, by the scales of height and width. */
ig_status ig_onnx_import_upsample_image(ig_onnx_node *node) {
    resizing r;
    ig_onnx_ranked_input(node, 0, 4);
    if (!start_upsampling(node, &r)) {
        return node->e->status;
    }
    r.form.scales[0] = r.form.scales[1] = 1;
    r.form.scales[2] = (float)ig_onnx_attr_float(node, "height_scale", 1);
    r.form.scales[3] = (float)ig_onnx_attr_float(node, "width_scale", 1);
    scale_axes(&r);
    return give_upsampled(&r);
}

/* ---- GridSample ---- */

ig_status ig_onnx_import_grid_sample(ig_onnx_node *node) {
    static const int modes[] = { IG_RESIZE_linear, IG_RESIZE_linear, IG_RESIZE_nearest,
                                 IG_RESIZE_cubic, IG_RESIZE_cubic };
    uint32_t mode = ig_onnx_attr_choice(node, "mode",
                                        "linear bilinear nearest cubic bicubic");
    ig_grid_sample_attrs attrs = {
        .mode = modes[mode],
        .outside = (int)ig_onnx_attr_choice(node, "padding_mode",
                                            "zeros border reflection"),
        .align_corners = ig_onnx_attr_bool(node, "align_corners", false),
    };
    if (node->inputs[0]->type->rank > 0 && node->inputs[1]->type->rank > 0) {
        ig_onnx_guard_extents(node, 1, 0, 0, 0);
    }
    return ig_onnx_give(
        node, ig_build_grid_sample(node->e, node->inputs[0], node->inputs[1], attrs));
}
