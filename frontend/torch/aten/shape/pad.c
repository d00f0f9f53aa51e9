/* Padding and rearranged channels.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/aten/quant.h"
#include "frontend/torch/aten/aten.h"
#include "ir/build/extent.h"

#include <assert.h>
#include <string.h>

#define PAD_MAX (1ll << 40)

typedef struct padding {
    ig_dim before[IG_TENSOR_RANK], after[IG_TENSOR_RANK];
} padding;

/* Pairs of argument `index`, the last axis first. */
static bool read_pads(ig_ts_call *call, uint32_t index, uint32_t rank, padding *out) {
    assert(rank <= IG_TENSOR_RANK && "a padding has room for each axis");
    uint32_t count;
    const ig_dim *pads = ig_aten_dims(call, index, 0, &count);
    memset(out, 0, sizeof *out);
    if (call->e->status == IG_OK && (count % 2 || count / 2 > rank)) {
        ig_expr_fail(call->e, IG_INVALID,
                     "pad has %u items, expected pairs for at most %u axes", count,
                     rank);
    }
    for (uint32_t i = 0; call->e->status == IG_OK && i < count; i++) {
        int64_t amount;
        if (ig_dim_constant(call->module, pads[i], &amount) &&
            (amount < -PAD_MAX || amount > PAD_MAX)) {
            ig_expr_fail(call->e, IG_INVALID,
                         "a padding is %lld, expected at most 2^40 in either direction",
                         (long long)amount);
        }
    }
    for (uint32_t i = 0; call->e->status == IG_OK && i < count / 2; i++) {
        out->before[rank - 1 - i] = pads[2 * i];
        out->after[rank - 1 - i] = pads[2 * i + 1];
    }
    return call->e->status == IG_OK;
}

/* Crops by negative padding, and leaves the rest in `p`. */
static ig_value *crop_axes(ig_expr *e, ig_value *x, const padding *p) {
    for (uint32_t i = 0; x && i < x->type->rank; i++) {
        int64_t before = 0, after = 0;
        (void)ig_dim_constant(e->module, p->before[i], &before);
        (void)ig_dim_constant(e->module, p->after[i], &after);
        if (before >= 0 && after >= 0) {
            continue;
        }
        int64_t front = before < 0 ? -before : 0, back = after < 0 ? -after : 0;
        ig_dim lost = ig_dim_const(e->module, front + back);
        ig_dim rest = ig_dim_sub(e->module, ig_expr_extent(e, x, i), lost);
        x = ig_expr_slice(e, x, i, ig_dim_of(front), rest, 1);
    }
    return x;
}

/* Negative amounts crop, in every mode.  Elements of the whole axis are repeated or
 * mirrored, so that it is cropped last; else first. */
static ig_value *pad_axes(ig_expr *e, ig_value *x, const padding *p, ig_pad_mode mode,
                          double value) {
    bool is_needed = false, crops_last = mode == IG_PAD_edge || mode == IG_PAD_reflect;
    padding more = *p;
    for (uint32_t i = 0; x && i < x->type->rank; i++) {
        ig_dim *ends[] = { &more.before[i], &more.after[i] };
        for (size_t k = 0; k < IG_COUNT_OF(ends); k++) {
            int64_t amount;
            if (ig_dim_constant(e->module, *ends[k], &amount) && amount < 0) {
                *ends[k] = ig_dim_of(0);
            }
            is_needed = is_needed || !ig_dim_is(*ends[k], 0);
        }
    }
    x = crops_last ? x : crop_axes(e, x, p);
    x = is_needed ? ig_expr_pad(e, x, more.before, more.after, mode, value) : x;
    return crops_last ? crop_axes(e, x, p) : x;
}

/* constant_pad_nd(self, pad, value) */
ig_status ig_ts_op_constant_pad(ig_ts_call *call) {
    if (ig_aten_is_quantised(call, 0)) {
        return ig_aten_through_float(call, ig_ts_op_constant_pad);
    }
    padding p;
    ig_value *x = ig_aten_tensor(call, 0);
    if (!x || !read_pads(call, 1, x->type->rank, &p)) {
        return call->e->status;
    }
    return ig_aten_give(
        call, pad_axes(call->e, x, &p, IG_PAD_constant, ig_aten_float_or(call, 2, 0)));
}

/* reflection_padNd, replication_padNd(self, padding); variant: an ig_pad_mode */
ig_status ig_ts_op_pad_mode(ig_ts_call *call) {
    if (ig_aten_is_quantised(call, 0)) {
        return ig_aten_through_float(call, ig_ts_op_pad_mode);
    }
    padding p;
    ig_value *x = ig_aten_tensor(call, 0);
    if (!x || !read_pads(call, 1, x->type->rank, &p)) {
        return call->e->status;
    }
    return ig_aten_give(call,
                        pad_axes(call->e, x, &p, (ig_pad_mode)call->row->variant, 0));
}

/* pad(self, pad, mode, value) */
ig_status ig_ts_op_pad(ig_ts_call *call) {
    if (ig_aten_is_quantised(call, 0)) {
        return ig_aten_through_float(call, ig_ts_op_pad);
    }
    static const struct {
        const char *name;
        ig_pad_mode mode;
    } modes[] = { { "constant", IG_PAD_constant },
                  { "reflect", IG_PAD_reflect },
                  { "replicate", IG_PAD_edge },
                  { "circular", IG_PAD_wrap } };
    padding p;
    ig_str name = ig_aten_str(call, 2);
    ig_value *x = ig_aten_tensor(call, 0);
    if (!x || !read_pads(call, 1, x->type->rank, &p)) {
        return call->e->status;
    }
    for (size_t i = 0; i < IG_COUNT_OF(modes); i++) {
        if (ig_str_is(name, modes[i].name)) {
            double value = ig_aten_float_or(call, 3, 0);
            return ig_aten_give(call, pad_axes(call->e, x, &p, modes[i].mode, value));
        }
    }
    return ig_ts_fail(call, IG_INVALID, "mode is '%.*s'", IG_STR_ARG(name));
}

/* _pad_circular(self, pad) is a row of pad_mode. */

/* ---- channels ---- */

/* x as [rest, C…, H…, W…] with the last three axes in parts. */
static ig_value *rearrange_blocks(ig_expr *e, ig_value *x, const ig_dim *parts,
                                  const int64_t *order, const ig_dim *last) {
    assert(x->type->rank >= 3 && x->type->rank + 2 <= IG_TENSOR_RANK &&
           "channels and two axes of space, which become five axes");
    ig_dim dims[IG_TENSOR_RANK + 3];
    int64_t perm[IG_TENSOR_RANK + 3];
    uint32_t rest = x->type->rank - 3;
    memcpy(dims, x->type->dims, rest * sizeof *dims);
    memcpy(dims + rest, parts, 5 * sizeof *dims);
    for (uint32_t i = 0; i < rest; i++) {
        perm[i] = i;
    }
    for (uint32_t i = 0; i < 5; i++) {
        perm[rest + i] = rest + order[i];
    }
    x = ig_expr_reshape(e, x, rest + 5, dims);
    x = ig_expr_transpose(e, x, perm);
    memcpy(dims + rest, last, 3 * sizeof *dims);
    return ig_expr_reshape(e, x, rest + 3, dims);
}

/* pixel_shuffle(self, r) and back (variant 1) */
ig_status ig_ts_op_pixel_shuffle(ig_ts_call *call) {
    if (ig_aten_is_quantised(call, 0)) {
        return ig_aten_through_float(call, ig_ts_op_pixel_shuffle);
    }
    ig_value *x = ig_aten_tensor(call, 0);
    int64_t r = ig_aten_int(call, 1);
    IG_TRY(call->e->status);
    if (x->type->rank < 3 || x->type->rank + 2 > IG_TENSOR_RANK || r <= 0 ||
        r > INT16_MAX) {
        return ig_ts_fail(call, IG_INVALID, "a tensor of rank %u, a factor of %lld",
                          x->type->rank, (long long)r);
    }
    ig_module *m = call->module;
    const ig_dim *d = x->type->dims + x->type->rank - 3;
    if (call->row->variant) {
        ig_dim height = ig_dim_exact_div(m, d[1], ig_dim_of(r)),
               width = ig_dim_exact_div(m, d[2], ig_dim_of(r));
        ig_dim parts[] = { d[0], height, ig_dim_of(r), width, ig_dim_of(r) };
        ig_dim last[] = { ig_dim_mul(m, d[0], ig_dim_of(r * r)), height, width };
        return ig_aten_give(call, rearrange_blocks(call->e, x, parts,
                                                   (int64_t[]){ 0, 2, 4, 1, 3 }, last));
    }
    ig_dim channels = ig_dim_exact_div(m, d[0], ig_dim_of(r * r));
    ig_dim parts[] = { channels, ig_dim_of(r), ig_dim_of(r), d[1], d[2] };
    ig_dim last[] = { channels, ig_dim_mul(m, d[1], ig_dim_of(r)),
                      ig_dim_mul(m, d[2], ig_dim_of(r)) };
    return ig_aten_give(
        call, rearrange_blocks(call->e, x, parts, (int64_t[]){ 0, 3, 1, 4, 2 }, last));
}

/* channel_shuffle(self, groups): [N, g, C / g, …] with the two exchanged */
ig_status ig_ts_op_channel_shuffle(ig_ts_call *call) {
    if (ig_aten_is_quantised(call, 0)) {
        return ig_aten_through_float(call, ig_ts_op_channel_shuffle);
    }
    ig_value *x = ig_aten_tensor(call, 0);
    int64_t groups = ig_aten_distance(call, 1);
    IG_TRY(call->e->status);
    if (x->type->rank < 2 || x->type->rank >= IG_TENSOR_RANK || groups <= 0) {
        return ig_ts_fail(call, IG_INVALID, "a tensor of rank %u, %lld groups",
                          x->type->rank, (long long)groups);
    }
    const ig_type *type = x->type;
    ig_dim dims[IG_TENSOR_RANK + 1];
    dims[0] = type->dims[0];
    dims[1] = ig_dim_of(groups);
    dims[2] = ig_dim_exact_div(call->module, type->dims[1], ig_dim_of(groups));
    memcpy(dims + 3, type->dims + 2, (type->rank - 2) * sizeof *dims);
    x = ig_expr_reshape(call->e, x, type->rank + 1, dims);
    x = ig_expr_swap(call->e, x, 1, 2);
    return ig_aten_give(call, ig_expr_reshape(call->e, x, type->rank, type->dims));
}
