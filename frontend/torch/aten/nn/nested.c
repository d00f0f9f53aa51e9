/* Nested tensors as nn.TransformerEncoder makes them of a padding mask.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     if _nested_tensor_from_mask_left_aligned(src, keep):
 *         output = _nested_tensor_from_mask(src, keep, False), no mask for the layers
 *     else:
 *         output = src, the padding's mask for the layers
 *     … layers …
 *     output = to_padded_tensor(output, 0., src.size())          (in the first case)
 *
 * A nested tensor lacks the places of padding.  Here it has them, and layers leave them
 * out as keys, which gives the same at all others.  So both ways are one: the first
 * question is answered with yes, and padding shows 0 at the end only where the run
 * finds that padding comes last in each row.
 */
#include "frontend/torch/aten/aten.h"
#include "ir/build/extent.h"

/* bool []: no position is kept after one that is not, in any row of `keep` [B, T]. */
static ig_value *is_left_aligned(ig_expr *e, ig_value *keep) {
    ig_dim one = ig_dim_of(1), count = ig_expr_extent(e, keep, 1);
    ig_dim rest = ig_dim_max(e->module, ig_dim_sub(e->module, count, one),
                             ig_dim_of(0));
    ig_value *before = ig_expr_slice(e, keep, 1, ig_dim_of(0), rest, 1);
    ig_value *after = ig_expr_slice(e, keep, 1, ig_dim_sub(e->module, count, rest),
                                    rest, 1);
    ig_value *breaks = ig_build_and(e, after, ig_build_not(e, before));
    breaks = ig_expr_reduce(e, IG_REDUCE_max, ig_expr_cast(e, breaks, IG_DT_i32), NULL,
                            0, false);
    return ig_expr_with(e, IG_OP_le, breaks, 0);
}

/* x [B, T, …] where `visible` [B, T], else the number. */
static ig_value *show_visible(ig_expr *e, ig_value *x, ig_value *visible,
                              double other) {
    if (!x) {
        return NULL;
    }
    visible = ig_expr_unsqueeze_to(e, visible, x->type->rank);
    return ig_build_where(e, visible, x,
                          ig_expr_number(e, (ig_dtype)x->type->dtype, other));
}

/* _nested_tensor_from_mask(Tensor t, Tensor mask, bool mask_check=True) */
ig_status ig_ts_op_nested_from_mask(ig_ts_call *call) {
    ig_expr *e = call->e;
    ig_value *x = ig_aten_tensor(call, 0), *keep = ig_aten_tensor(call, 1);
    IG_TRY(e->status);
    if (keep->type->dtype != IG_DT_bool) {
        return ig_ts_fail(call, IG_INVALID, "takes a mask of booleans");
    }
    ig_ts_nested *nested = IG_NEW(call->arena, ig_ts_nested);
    nested->keep = keep;
    nested->visible = ig_build_or(e, keep, ig_build_not(e, is_left_aligned(e, keep)));
    x = show_visible(e, x, nested->visible, 0);
    return ig_aten_give(call, ig_ts_mark_nested(call, x, nested));
}

/* to_padded_tensor(Tensor self, float padding, SymInt[]? output_size=None) */
ig_status ig_ts_op_to_padded(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    double padding = ig_aten_float(call, 1);
    IG_TRY(call->e->status);
    const ig_ts_nested *nested = ig_ts_nested_of(call, x);
    if (!nested || ig_ts_is_none(call, 2)) {
        return ig_ts_fail(
            call, IG_UNSUPPORTED,
            nested ? "without the size that it had before"
                   : "of a nested tensor that is not one of nn.TransformerEncoder");
    }
    return ig_aten_give(call, show_visible(call->e, x, nested->visible, padding));
}
