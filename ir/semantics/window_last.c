/* conv_panels, conv_quads, conv_channels: convolutions whose channels are the last
 * axis, and windows, their input elements.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/hooks.h"
#include "ir/semantics/check.h"
#include "ir/semantics/panels.h"
#include "ir/semantics/window.h"

#include <string.h>

static const ig_window_slots panels_slots = { IG_conv_panels_strides,
                                              IG_conv_panels_dilations,
                                              IG_conv_panels_before,
                                              IG_conv_panels_after };
static const ig_window_slots quads_slots = { IG_conv_quads_strides,
                                             IG_conv_quads_dilations, IG_WINDOW_NO_SLOT,
                                             IG_WINDOW_NO_SLOT };
static const ig_window_slots windows_slots = { IG_windows_strides, IG_windows_dilations,
                                               IG_WINDOW_NO_SLOT, IG_WINDOW_NO_SLOT };
static const ig_window_slots channels_slots = { IG_conv_channels_strides,
                                                IG_conv_channels_dilations,
                                                IG_conv_channels_before,
                                                IG_conv_channels_after };

#define SAME_SLOT(name) ((int)IG_conv_quads_##name == (int)IG_conv_panels_##name)
_Static_assert(SAME_SLOT(kernel) && SAME_SLOT(columns) && SAME_SLOT(strides) &&
                   SAME_SLOT(dilations) && SAME_SLOT(group),
               "attributes of floats and of integers are read by the same slots");

/* ---- types ---- */

static ig_status check_images(const ig_op *op, const ig_window_slots *slots) {
    IG_TRY(ig_check_tensors(op));
    const ig_type *x = ig_operand_type(op, 0);
    if (x->rank < 3) {
        return INFER_ERROR(op, "operand 0 is %s, expected rank 3 or more",
                           ig_operand_text(op, 0));
    }
    return ig_window_check(op, slots, x->rank - 2);
}

static ig_status check_operands(const ig_op *op, const ig_window_slots *slots,
                                ig_dtype x, ig_dtype w) {
    IG_TRY(check_images(op, slots));
    IG_TRY(ig_check_dtype(op, 0, x));
    return ig_check_dtype(op, 1, w);
}

static ig_status read_kernel(const ig_op *op, uint32_t slot, ig_dim *kernel) {
    const ig_attr *sizes = &op->attrs[slot];
    uint32_t space = ig_operand_type(op, 0)->rank - 2;
    if (sizes->count != space) {
        return INFER_ERROR(op, "kernel has %u entries, expected %u, one a spatial axis",
                           sizes->count, space);
    }
    for (uint32_t d = 0; d < space; d++) {
        int64_t size = sizes->as.ints[d];
        if (size < 1 || size > INT32_MAX) {
            return INFER_ERROR(op, "entry %u of kernel is %lld", d, (long long)size);
        }
        kernel[d] = ig_dim_of(size);
    }
    return IG_OK;
}

/* The panels of `unit` elements of K in a word. */
static ig_status check_panels(const ig_op *op, int64_t group, int64_t columns,
                              const ig_dim *kernel, int64_t unit) {
    ig_module *module = ig_op_module(op);
    const ig_type *x = ig_operand_type(op, 0);
    int64_t channels = 0;
    ig_dim each = ig_dim_of((columns + IG_PANEL - 1) / IG_PANEL);
    ig_dim panels = ig_dim_mul(module, ig_dim_of(group), each);
    if (ig_dim_constant(module, x->dims[x->rank - 1], &channels) &&
        channels % (group * unit) != 0) {
        return INFER_ERROR(
            op, "operand 0 is %s, whose channels are not a multiple of the group, %lld",
            ig_operand_text(op, 0), (long long)(group * unit));
    }
    ig_dim own = ig_dim_exact_div(module, x->dims[x->rank - 1],
                                  ig_dim_of(group * unit));
    ig_dim depth = ig_dim_mul(module, ig_dim_product(module, kernel, x->rank - 2), own);
    IG_TRY(ig_check_rank(op, 1, unit > 1 ? 4 : 3));
    IG_TRY(ig_check_extent(op, 1, 0, panels, "panels", NULL));
    IG_TRY(ig_check_extent(op, 1, 1, depth, "elements of a group's windows", NULL));
    IG_TRY(ig_check_extent(op, 1, 2, ig_dim_of(IG_PANEL), "columns of a panel", NULL));
    return unit == 1
               ? IG_OK
               : ig_check_extent(op, 1, 3, ig_dim_of(unit), "elements of a quad", NULL);
}

/* Of a convolution with weights in panels. */
static ig_status infer_panels(ig_op *op, int64_t unit, ig_dtype to,
                              const ig_type **out_types) {
    ig_dim kernel[IG_WINDOW_RANK], dims[IG_WINDOW_RANK + 2];
    int64_t group = ig_attr_int(op, IG_conv_panels_group, 1);
    int64_t columns = ig_attr_int(op, IG_conv_panels_columns, -1);
    IG_TRY(read_kernel(op, IG_conv_panels_kernel, kernel));
    if (group < 1 || group > INT32_MAX || columns < 1 || columns > INT32_MAX) {
        return INFER_ERROR(op, "group is %lld and columns is %lld, expected at least 1",
                           (long long)group, (long long)columns);
    }
    IG_TRY(check_panels(op, group, columns, kernel, unit));
    IG_TRY(ig_window_dims(op, unit > 1 ? &quads_slots : &panels_slots, kernel, dims));
    uint32_t rank = ig_operand_type(op, 0)->rank;
    dims[rank - 1] = ig_dim_of(group * columns);
    out_types[0] = ig_type_tensor(ig_op_module(op), to, rank, dims);
    return IG_OK;
}

ig_status ig_infer_conv_panels(ig_op *op, const ig_type **out_types) {
    IG_TRY(check_operands(op, &panels_slots, IG_DT_f32, IG_DT_f32));
    return infer_panels(op, 1, IG_DT_f32, out_types);
}

ig_status ig_infer_conv_quads(ig_op *op, const ig_type **out_types) {
    IG_TRY(check_operands(op, &quads_slots, IG_DT_u8, IG_DT_i8));
    return infer_panels(op, IG_QUAD, IG_DT_i32, out_types);
}

ig_status ig_infer_windows(ig_op *op, const ig_type **out_types) {
    ig_dim kernel[IG_WINDOW_RANK], dims[IG_WINDOW_RANK + 2];
    ig_module *module = ig_op_module(op);
    IG_TRY(check_images(op, &windows_slots));
    IG_TRY(read_kernel(op, IG_windows_kernel, kernel));
    IG_TRY(ig_window_dims(op, &windows_slots, kernel, dims));
    const ig_type *x = ig_operand_type(op, 0);
    ig_dim taps = ig_dim_product(module, kernel, x->rank - 2);
    dims[x->rank - 1] = ig_dim_mul(module, taps, x->dims[x->rank - 1]);
    out_types[0] = ig_type_with_dims(module, x, x->rank, dims);
    return IG_OK;
}

/* x of 8 bits, with a zero point of its dtype. */
static ig_status check_bytes(const ig_op *op) {
    ig_dtype x = (ig_dtype)ig_operand_type(op, 0)->dtype;
    IG_TRY(ig_check_rank(op, 2, 0));
    IG_TRY(ig_check_dtype(op, 2, x));
    return x == IG_DT_u8 ? IG_OK : ig_check_dtype(op, 0, IG_DT_i8);
}

ig_status ig_infer_conv_channels(ig_op *op, const ig_type **out_types) {
    ig_dim dims[IG_WINDOW_RANK + 2];
    IG_TRY(check_images(op, &channels_slots));
    IG_TRY(op->operand_count > 2 ? check_bytes(op) : ig_check_dtype(op, 0, IG_DT_f32));
    IG_TRY(ig_check_dtype(op, 1, IG_DT_f32));
    const ig_type *x = ig_operand_type(op, 0), *w = ig_operand_type(op, 1);
    IG_TRY(ig_check_rank(op, 1, x->rank - 1));
    IG_TRY(ig_check_extent(op, 1, w->rank - 1, x->dims[x->rank - 1],
                           "the channels of operand 0", &dims[x->rank - 1]));
    for (uint32_t d = 0; d + 1 < w->rank; d++) {
        if (ig_dim_is(w->dims[d], 0)) {
            return INFER_ERROR(op, "operand 1 is %s: a kernel without elements",
                               ig_operand_text(op, 1));
        }
    }
    IG_TRY(ig_window_dims(op, &channels_slots, w->dims, dims));
    out_types[0] = ig_type_tensor(ig_op_module(op), IG_DT_f32, x->rank, dims);
    return IG_OK;
}

/* ---- values ---- */

typedef struct fold {
    ig_window window;
    const ig_tensor *x, *w;
    int64_t channels;       /* of x */
    int64_t group, columns; /* of panels; 0: each channel by itself */
    bool is_quads;
    double zero; /* of x */
    ig_tap *taps;
    int64_t tap_count; /* of the present window */
} fold;

/* Channel `o` of the result, in image `n`. */
static double sum_panels(const fold *f, int64_t n, int64_t o) {
    int64_t ins = f->channels / f->group, own = o / f->columns, j = o % f->columns;
    int64_t depth = f->window.tap_count * ins;
    int64_t panel = own * ((f->columns + IG_PANEL - 1) / IG_PANEL) + j / IG_PANEL;
    double sum = 0;
    for (int64_t t = 0; t < f->tap_count; t++) {
        int64_t at = (n * f->window.in_count + f->taps[t].x) * f->channels + own * ins;
        int64_t k = panel * depth + f->taps[t].tap * ins;
        for (int64_t c = 0; c < ins; c++) {
            sum += ig_tensor_get_f64(f->x, at + c) *
                   ig_tensor_get_f64(f->w, (k + c) * IG_PANEL + j % IG_PANEL);
        }
    }
    return sum;
}

/* The same of 8-bit integers, which wraps. */
static int64_t sum_quads(const fold *f, int64_t n, int64_t o) {
    int64_t ins = f->channels / f->group, own = o / f->columns, j = o % f->columns;
    int64_t depth = f->window.tap_count * ins;
    int64_t panel = own * ((f->columns + IG_PANEL - 1) / IG_PANEL) + j / IG_PANEL;
    uint64_t sum = 0;
    for (int64_t i = 0; i < f->tap_count * ins; i++) {
        ig_tap tap = f->taps[i / ins];
        int64_t k = tap.tap * ins + i % ins;
        int64_t at = (n * f->window.in_count + tap.x) * f->channels + own * ins;
        int64_t quad = (panel * depth + k) / IG_QUAD;
        int64_t position = (quad * IG_PANEL + j % IG_PANEL) * IG_QUAD + k % IG_QUAD;
        sum += (uint64_t)(ig_tensor_get_i64(f->x, at + i % ins) *
                          ig_tensor_get_i64(f->w, position));
    }
    return (int64_t)sum;
}

static double sum_channel(const fold *f, int64_t n, int64_t o) {
    double sum = 0;
    for (int64_t t = 0; t < f->tap_count; t++) {
        int64_t at = (n * f->window.in_count + f->taps[t].x) * f->channels + o;
        sum += (ig_tensor_get_f64(f->x, at) - f->zero) *
               ig_tensor_get_f64(f->w, f->taps[t].tap * f->channels + o);
    }
    return sum;
}

static void set_sum(const fold *f, int64_t n, int64_t o, ig_tensor *out, int64_t at) {
    if (f->is_quads) {
        ig_tensor_set_i64(out, at, sum_quads(f, n, o));
        return;
    }
    ig_tensor_set_f64(out, at, f->columns ? sum_panels(f, n, o) : sum_channel(f, n, o));
}

/* `outs` channels of every place of the result. */
static ig_status fold_windows(ig_eval *eval, const ig_op *op, fold *f, int64_t outs,
                              ig_tensor *out) {
    ig_dtype to = f->is_quads ? IG_DT_i32 : IG_DT_f32;
    int64_t dims[IG_WINDOW_RANK + 2] = { f->x->dims[0] }, position = 0;
    uint32_t rank = f->x->rank;
    for (uint32_t d = 0; d + 2 < rank; d++) {
        dims[d + 1] = f->window.out[d];
    }
    dims[rank - 1] = outs;
    IG_TRY(ig_eval_alloc(eval, op, to, rank, dims, out));
    if (out->count == 0) {
        return IG_OK;
    }
    int64_t max = f->window.tap_count < f->window.in_count ? f->window.tap_count
                                                           : f->window.in_count;
    IG_TRY(ig_eval_scratch(eval, op, max, sizeof *f->taps, &f->taps));
    ig_walk walk = { 0 };
    for (ig_walk_start(&walk, f->window.rank, f->window.out); walk.is_inside;
         ig_walk_next(&walk), position++) {
        f->tap_count = ig_window_taps(&f->window, walk.index, f->taps);
        for (int64_t i = 0; i < dims[0] * outs; i++) {
            int64_t n = i / outs, o = i % outs;
            set_sum(f, n, o, out, (n * f->window.out_count + position) * outs + o);
        }
        IG_TRY(ig_context_poll(eval->context));
    }
    return IG_OK;
}

/* With weights in panels. */
static ig_status fold_panels(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                             ig_tensor *out) {
    uint32_t rank = in[0]->rank;
    fold f = { .x = in[0],
               .w = in[1],
               .is_quads = op->code == IG_OP_conv_quads,
               .channels = in[0]->dims[rank - 1],
               .group = ig_attr_int(op, IG_conv_panels_group, 1),
               .columns = ig_attr_int(op, IG_conv_panels_columns, 1) };
    ig_window_source from = { .slots = f.is_quads ? &quads_slots : &panels_slots,
                              .in = in[0]->dims + 1,
                              .kernel = op->attrs[IG_conv_panels_kernel].as.ints,
                              .rank = rank - 2 };
    IG_TRY(ig_window_eval(eval, op, &from, &f.window));
    int64_t panels = f.group * ((f.columns + IG_PANEL - 1) / IG_PANEL);
    int64_t depth = f.window.tap_count * (f.channels / f.group);
    int64_t unit = f.is_quads ? IG_QUAD : 1;
    if (f.channels % (f.group * unit) != 0 || in[1]->dims[0] != panels ||
        in[1]->dims[1] != depth / unit) {
        return FOLD_ERROR(eval, op, "%s: %lld channels do not fit the panels",
                          ig_ops[op->code].name, (long long)f.channels);
    }
    return fold_windows(eval, op, &f, f.group * f.columns, out);
}

ig_status ig_fold_conv_panels(ig_eval *eval, const ig_op *op,
                              const ig_tensor *const *in, ig_tensor *out) {
    return fold_panels(eval, op, in, out);
}

ig_status ig_fold_conv_quads(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                             ig_tensor *out) {
    return fold_panels(eval, op, in, out);
}

static void copy_element(ig_tensor *to, int64_t at, const ig_tensor *from,
                         int64_t position) {
    if (ig_dtype_is_float(to->dtype)) {
        ig_tensor_set_f64(to, at, ig_tensor_get_f64(from, position));
    } else {
        ig_tensor_set_i64(to, at, ig_tensor_get_i64(from, position));
    }
}

/* The elements of each image below the windows at one place.  There is no padding, so
 * every window has all taps. */
static void copy_windows(const fold *f, int64_t position, ig_tensor *out) {
    int64_t depth = f->tap_count * f->channels, images = f->x->dims[0];
    for (int64_t i = 0; i < images * depth; i++) {
        int64_t n = i / depth, k = i % depth;
        int64_t at = n * f->window.in_count + f->taps[k / f->channels].x;
        copy_element(out, (n * f->window.out_count + position) * depth + k, f->x,
                     at * f->channels + k % f->channels);
    }
}

ig_status ig_fold_windows(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                          ig_tensor *out) {
    uint32_t rank = in[0]->rank;
    fold f = { .x = in[0], .channels = in[0]->dims[rank - 1] };
    ig_window_source from = { .slots = &windows_slots,
                              .in = in[0]->dims + 1,
                              .kernel = op->attrs[IG_windows_kernel].as.ints,
                              .rank = rank - 2 };
    IG_TRY(ig_window_eval(eval, op, &from, &f.window));
    int64_t dims[IG_WINDOW_RANK + 2] = { in[0]->dims[0] }, position = 0;
    memcpy(dims + 1, f.window.out, (rank - 2) * sizeof *dims);
    dims[rank - 1] = f.window.tap_count * f.channels;
    IG_TRY(ig_eval_alloc(eval, op, in[0]->dtype, rank, dims, out));
    if (out->count == 0) {
        return IG_OK;
    }
    IG_TRY(ig_eval_scratch(eval, op, f.window.tap_count, sizeof *f.taps, &f.taps));
    ig_walk walk = { 0 };
    for (ig_walk_start(&walk, f.window.rank, f.window.out); walk.is_inside;
         ig_walk_next(&walk), position++) {
        f.tap_count = ig_window_taps(&f.window, walk.index, f.taps);
        copy_windows(&f, position, out);
    }
    return IG_OK;
}

ig_status ig_fold_conv_channels(ig_eval *eval, const ig_op *op,
                                const ig_tensor *const *in, ig_tensor *out) {
    uint32_t rank = in[0]->rank;
    fold f = { .x = in[0], .w = in[1], .channels = in[0]->dims[rank - 1] };
    f.zero = op->operand_count > 2 ? ig_tensor_get_f64(in[2], 0) : 0;
    ig_window_source from = { .slots = &channels_slots,
                              .in = in[0]->dims + 1,
                              .kernel = in[1]->dims,
                              .rank = rank - 2 };
    IG_TRY(ig_window_eval(eval, op, &from, &f.window));
    if (in[1]->dims[rank - 2] != f.channels) {
        return FOLD_ERROR(eval, op,
                          "conv_channels: %lld channels do not fit the weights",
                          (long long)f.channels);
    }
    return fold_windows(eval, op, &f, f.channels, out);
}
