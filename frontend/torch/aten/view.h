/* Argument 0 of a view op: any dtype, axes counted without complex's trailing one.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_TORCH_ATEN_VIEW_H
#define IG_FRONTEND_TORCH_ATEN_VIEW_H

#include "frontend/torch/aten/aten.h"

typedef struct ig_aten_view {
    ig_value *x; /* with the trailing 2 of complex ones */
    const ig_dim *dims;
    uint32_t rank; /* without it */
    bool is_complex;
} ig_aten_view;

/* False when the argument cannot be had; call->e->status says why. */
bool ig_aten_viewed(ig_ts_call *call, ig_aten_view *out);
ig_value *ig_aten_view_reshape(ig_ts_call *call, const ig_aten_view *v, uint32_t rank,
                               const ig_dim *dims);
ig_value *ig_aten_view_transpose(ig_ts_call *call, const ig_aten_view *v,
                                 const int64_t *perm);
ig_status ig_aten_give_view(ig_ts_call *call, ig_value *value);
/* The diagonal of axes a, b as last axis; a view. */
ig_value *ig_aten_diagonal(ig_ts_call *call, ig_value *x, int64_t offset, uint32_t a,
                           uint32_t b);

#endif
