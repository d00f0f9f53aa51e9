/* Convolutions that become conv_winograd, and their weights.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %1 = conv %0, @w : f32[B, 64, 56, 56]                   w: f32[64, 64, 3, 3]
 *   becomes, where the caller allows it,
 *     %1 = conv_winograd %0, @w.winograd {columns = 64} : f32[B, 56, 56, 64]
 *
 * Sums are then rounded in other places than those of the convolution, and each result
 * depends on all elements of its patch, so it is never done unasked.
 */
#include "ir/semantics/winograd.h"

#include "ir/semantics/panels.h"
#include "passes/place/channels.h"
#include "passes/place/pack.h"

enum {
    PAYING_CHANNELS = 32, /* of x and of the result, for transforming them */
    PAYING_PATCHES = 32,  /* rows of a product, at least */
};

static bool has_entries(const ig_op *op, uint32_t slot, int64_t wanted) {
    const ig_attr *attr = &op->attrs[slot];
    bool is_good = true;
    for (uint32_t d = 0; d < attr->count; d++) {
        is_good = is_good && attr->as.ints[d] == wanted;
    }
    return is_good;
}

/* Transformed weights are 16 for 9: too much to read for few patches.  An open batch
 * may be one image. */
static bool has_patches(const ig_op *conv) {
    const ig_type *y = conv->results->type;
    ig_module *module = ig_op_module(conv);
    int64_t rows = 0, columns = 0, images = 0;
    if (!ig_dim_constant(module, y->dims[2], &rows) ||
        !ig_dim_constant(module, y->dims[3], &columns)) {
        return true;
    }
    images = ig_dim_constant(module, y->dims[0], &images) ? images : 1;
    return images * ((rows + 1) / 2) * ((columns + 1) / 2) >= PAYING_PATCHES;
}

bool ig_channels_takes_winograd(const ig_pass_run *run, const ig_op *conv) {
    const ig_type *w = conv->operands[1].value->type;
    if (!run->options->winograd || w->rank != 4 || !ig_type_is_static(w) ||
        !ig_pack_is_constant(conv->operands[1].value)) {
        return false;
    }
    int64_t outs = ig_dim_value(w->dims[0]), ins = ig_dim_value(w->dims[1]);
    return ig_dim_is(w->dims[2], IG_WINOGRAD_TAPS) &&
           ig_dim_is(w->dims[3], IG_WINOGRAD_TAPS) &&
           ig_attr_int(conv, IG_conv_group, 1) == 1 &&
           has_entries(conv, IG_conv_strides, 1) &&
           has_entries(conv, IG_conv_dilations, 1) && ins >= PAYING_CHANNELS &&
           ins <= IG_PANEL_PASS && outs >= PAYING_CHANNELS && has_patches(conv);
}

/* The sum of three slices, each with the sign of its factor; factors are of one
 * size. */
static ig_value *combine_slices(ig_expr *e, const int8_t *factors,
                                ig_value *const *slices) {
    ig_value *sum = NULL;
    int size = 0;
    for (uint32_t k = 0; k < IG_WINOGRAD_TAPS; k++) {
        if (factors[k] != 0) {
            size = factors[k] < 0 ? -factors[k] : factors[k];
            sum = !sum             ? slices[k]
                  : factors[k] > 0 ? ig_build_add(e, sum, slices[k])
                                   : ig_build_sub(e, sum, slices[k]);
        }
    }
    return size == 2 ? sum : ig_expr_with(e, IG_OP_mul, sum, size / 2.0);
}

/* The factors of the last axis, of extent 3: it has 4 then. */
static ig_value *transform_last(ig_expr *e, ig_value *w) {
    ig_value *slices[IG_WINOGRAD_TAPS], *sums[IG_WINOGRAD_IN];
    uint32_t last = w->type->rank - 1;
    for (int64_t k = 0; k < IG_WINOGRAD_TAPS; k++) {
        slices[k] = ig_expr_slice(e, w, last, ig_dim_of(k), ig_dim_of(1), 1);
    }
    for (uint32_t i = 0; i < IG_WINOGRAD_IN; i++) {
        sums[i] = combine_slices(e, ig_winograd_weights[i], slices);
    }
    return ig_expr_concat(e, last, sums, IG_WINOGRAD_IN);
}

ig_value *ig_channels_winograd_weights(ig_expr *e, ig_value *w) {
    w = transform_last(e, ig_expr_cast(e, w, IG_DT_f64));
    w = transform_last(e, ig_expr_swap(e, w, 2, 3));
    return ig_expr_cast(e, ig_expr_swap(e, w, 2, 3), IG_DT_f32);
}
