/* Interpolation: upsample, grid_sampler.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/aten/quant.h"
#include "frontend/torch/aten/aten.h"

#include <math.h>
#include <string.h>

enum { SPACE_MAX = 3 };

typedef struct resizing {
    ig_value *x;
    uint32_t space;
    ig_dim sizes[SPACE_MAX];
    double scales[SPACE_MAX]; /* 0: not given */
    ig_resize_mode mode;
    bool align_corners, is_exact, antialias;
} resizing;

/* How far apart places are, and where the first lies. */
static ig_coordinates coordinates_of(const resizing *r) {
    if (r->mode == IG_RESIZE_nearest) {
        return r->is_exact ? IG_COORD_half_pixel_corner : IG_COORD_asymmetric;
    }
    if (r->align_corners && !r->antialias) {
        return IG_COORD_align_corners;
    }
    bool clamps = r->mode == IG_RESIZE_linear && !r->antialias;
    return clamps ? IG_COORD_clamped_half_pixel : IG_COORD_half_pixel;
}

/* Antialiased, torch has corners change the scale alone; else the op knows them. */
static float corner_scale(ig_ts_call *call, const resizing *r, uint32_t i) {
    int64_t in, out;
    bool is_known = ig_dim_constant(call->module, r->x->type->dims[2 + i], &in) &&
                    ig_dim_constant(call->module, r->sizes[i], &out);
    return is_known && r->antialias && in > 1 && out > 1
               ? (float)((double)(out - 1) / (double)(in - 1))
               : 0;
}

static ig_status resize(ig_ts_call *call, const resizing *r) {
    ig_module *module = call->module;
    ig_dim sizes[SPACE_MAX + 2];
    float scales[SPACE_MAX + 2] = { 0 };
    bool has_scales = false;
    memcpy(sizes, r->x->type->dims, 2 * sizeof *sizes);
    for (uint32_t i = 0; i < r->space; i++) {
        sizes[2 + i] = r->sizes[i];
        scales[2 + i] = r->align_corners ? corner_scale(call, r, i)
                                         : (float)r->scales[i];
        has_scales = has_scales || scales[2 + i] > 0;
    }
    ig_attr attrs[IG_resize_attr_count] = {
        [IG_resize_sizes] = ig_attr_of_dims(module, sizes, r->space + 2),
        [IG_resize_mode] = ig_attr_of_enum(r->mode),
        [IG_resize_coordinates] = ig_attr_of_enum(coordinates_of(r)),
        [IG_resize_nearest] = ig_attr_of_enum(IG_NEAREST_floor),
        [IG_resize_cubic_a] = ig_attr_of_float(r->antialias ? -0.5 : -0.75),
    };
    if (r->antialias) {
        attrs[IG_resize_antialias] = ig_attr_of_bool(true);
        attrs[IG_resize_exclude_outside] = ig_attr_of_bool(true);
    }
    int64_t rank = r->space + 2;
    ig_value *factors = has_scales ? ig_expr_constant(call->e, "constant", IG_DT_f32, 1,
                                                      &rank, scales)
                                   : NULL;
    ig_dtype dtype = (ig_dtype)r->x->type->dtype;
    bool is_moved = r->mode == IG_RESIZE_nearest;
    ig_value *x = is_moved ? r->x : ig_aten_wide(call, r->x);
    ig_value *value = ig_expr_make(call->e, IG_OP_resize, (ig_value *[]){ x, factors },
                                   factors ? 2 : 1, attrs);
    return ig_aten_give(call, ig_aten_cast(call, value, dtype));
}

/* scale as p / q such that floor(in * p / q) is floor(in * scale), as it is rounded,
 * for every extent that images have. */
static bool as_ratio(double scale, int64_t *out_p, int64_t *out_q) {
    enum { DENOMINATOR_MAX = 1000, EXTENT_MAX = 8192 };
    for (int64_t q = 1; q <= DENOMINATOR_MAX; q++) {
        double p = rint(scale * (double)q);
        int64_t in = fabs(scale * (double)q - p) < 1e-9 ? 0 : EXTENT_MAX + 1;
        while (in <= EXTENT_MAX &&
               in * (int64_t)p / q == (int64_t)((double)in * scale)) {
            in++;
        }
        if (in == EXTENT_MAX + 1 && fabs(scale * (double)q - p) < 1e-9) {
            *out_p = (int64_t)p;
            *out_q = q;
            return true;
        }
    }
    return false;
}

/* floor(in * scale) */
static bool scaled_size(ig_ts_call *call, ig_dim in, double scale, ig_dim *out) {
    int64_t extent, p, q;
    bool is_known = ig_dim_constant(call->module, in, &extent);
    bool is_fit = scale > 0 && scale < INT16_MAX;
    if (is_known && is_fit && extent < INT32_MAX) {
        *out = ig_dim_const(call->module, (int64_t)floor((double)extent * scale));
        return true;
    }
    if (!is_known && is_fit && as_ratio(scale, &p, &q)) {
        *out = ig_dim_floor_div(
            call->module, ig_dim_mul(call->module, in, ig_dim_of(p)), ig_dim_of(q));
        return true;
    }
    ig_expr_fail(call->e, is_fit && !is_known ? IG_UNSUPPORTED : IG_INVALID,
                 "%s extent scaled by %g", is_known ? "an" : "an unknown", scale);
    return false;
}

/* Rows' variants: mode, + 4 align_corners is argument 2, + 8 exact, + 16 antialias,
 * + 32 the form with lists (output_size?, …, scale_factors?). */
enum { ALIGNS = 4, EXACT = 8, ANTIALIAS = 16, LISTS = 32 };

static bool read_lists(ig_ts_call *call, resizing *r, uint32_t scales_arg) {
    uint32_t count;
    if (!ig_ts_is_none(call, 1)) {
        const ig_dim *sizes = ig_aten_dims(call, 1, r->space, &count);
        for (uint32_t i = 0; call->e->status == IG_OK && i < r->space; i++) {
            r->sizes[i] = sizes[i];
        }
        return call->e->status == IG_OK;
    }
    const double *scales = NULL;
    if (call->e->status == IG_OK) {
        call->e->status = ig_ts_floats(call, scales_arg, r->space, &scales, &count);
    }
    for (uint32_t i = 0; call->e->status == IG_OK && i < r->space; i++) {
        r->scales[i] = scales[i];
        if (!scaled_size(call, r->x->type->dims[2 + i], scales[i], &r->sizes[i])) {
            return false;
        }
    }
    return call->e->status == IG_OK;
}

static bool read_sizes(ig_ts_call *call, resizing *r, uint32_t scales_arg) {
    uint32_t count;
    const ig_dim *sizes = ig_aten_dims(call, 1, r->space, &count);
    for (uint32_t i = 0; call->e->status == IG_OK && i < r->space; i++) {
        r->sizes[i] = sizes[i];
        r->scales[i] = scales_arg + i < call->arg_count
                           ? ig_aten_float_or(call, scales_arg + i, 0)
                           : 0;
    }
    return call->e->status == IG_OK;
}

ig_status ig_ts_op_upsample(ig_ts_call *call) {
    if (ig_aten_is_quantised(call, 0)) {
        return ig_aten_through_float(call, ig_ts_op_upsample);
    }
    int variant = call->row->variant;
    bool aligns = (variant & ALIGNS) != 0;
    resizing r = { .x = ig_aten_tensor(call, 0),
                   .mode = (ig_resize_mode)(variant & 3),
                   .align_corners = aligns && ig_aten_bool(call, 2),
                   .is_exact = (variant & EXACT) != 0,
                   .antialias = (variant & ANTIALIAS) != 0 };
    IG_TRY(call->e->status);
    if (r.x->type->rank < 3 || r.x->type->rank > SPACE_MAX + 2) {
        return ig_ts_fail(call, IG_INVALID, "an input of rank %u", r.x->type->rank);
    }
    r.space = r.x->type->rank - 2;
    uint32_t scales_arg = aligns ? 3 : 2;
    bool is_read = variant & LISTS ? read_lists(call, &r, scales_arg)
                                   : read_sizes(call, &r, scales_arg);
    return is_read ? resize(call, &r) : call->e->status;
}

/* grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners) */
ig_status ig_ts_op_grid_sampler(ig_ts_call *call) {
    static const ig_resize_mode modes[] = { IG_RESIZE_linear, IG_RESIZE_nearest,
                                            IG_RESIZE_cubic };
    ig_value *x = ig_aten_tensor(call, 0), *grid = ig_aten_tensor(call, 1);
    int64_t mode = ig_aten_int(call, 2), outside = ig_aten_int(call, 3);
    IG_TRY(call->e->status);
    if (mode < 0 || mode > 2 || outside < 0 || outside > 2) {
        return ig_ts_fail(call, IG_INVALID, "interpolation %lld, padding %lld",
                          (long long)mode, (long long)outside);
    }
    ig_attr attrs[IG_grid_sample_attr_count] = {
        [IG_grid_sample_mode] = ig_attr_of_enum(modes[mode]),
        [IG_grid_sample_outside] = ig_attr_of_enum(outside),
    };
    if (ig_aten_bool(call, 4)) {
        attrs[IG_grid_sample_align_corners] = ig_attr_of_bool(true);
    }
    return ig_aten_give(call, ig_expr_make(call->e, IG_OP_grid_sample,
                                           (ig_value *[]){ x, grid }, 2, attrs));
}
