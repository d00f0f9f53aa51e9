/* Readers and shapes shared by the functions of the FBGEMM rows.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Most operators of FBGEMM are index arithmetic over segments of one array: formulas of
 * ir/build/ and compose/rows/segments.h over arguments that ig_aten_* and ig_fb_* read.
 *
 *     ig_value *offsets = ig_fb_arg(call, 0, IG_DT_i64);
 *     ig_value *at = ig_fb_range(call->e, ig_compose_last(call->e, offsets));
 *     return ig_aten_give(call, ig_compose_segment_of(call->e, offsets, at));
 *
 * Index arithmetic is in i64.
 */
#ifndef IG_FRONTEND_TORCH_FBGEMM_FBGEMM_H
#define IG_FRONTEND_TORCH_FBGEMM_FBGEMM_H

#include "compose/rows/segments.h"
#include "frontend/torch/aten/aten.h"

ig_status ig_fb_give_none(ig_ts_call *call, uint32_t result);

/* The functions of the rows. */
#define OP(schema, hook, ...) ig_status ig_ts_op_##hook(ig_ts_call *call);
#include "frontend/torch/fbgemm/fbgemm.def"
#undef OP

/* ---- arguments ---- */
ig_value *ig_fb_arg(ig_ts_call *call, uint32_t index, ig_dtype dtype); /* cast */
ig_value *ig_fb_size(ig_ts_call *call, uint32_t index); /* an int, as i64[] */
/* A constant tensor of integers, as numbers; INVALID says `what` when it is none. */
const int64_t *ig_fb_known(ig_ts_call *call, uint32_t index, const char *what,
                           uint32_t *out_count);
/* The same; NULL when the content is not known now. */
const int64_t *ig_fb_maybe_known(ig_ts_call *call, const ig_value *value,
                                 uint32_t *out_count);

/* ---- shapes ---- */
ig_dim ig_fb_extent(ig_expr *e, const ig_value *x, uint32_t axis); /* 1 if NULL */
ig_dim ig_fb_segments(ig_expr *e, const ig_value *offsets); /* one less than offsets */
ig_value *ig_fb_positions(ig_expr *e, const ig_value *x);   /* 0 … extent - 1, i64 */
ig_value *ig_fb_column(ig_expr *e, ig_value *x);            /* [n] as [n, 1] */
ig_value *ig_fb_range(ig_expr *e, ig_value *count);         /* 0 … count - 1, i64 */

/* Rows of pruned tables: `slots` are pairs (id, row), cut into tables by `edges`. */
ig_value *ig_fb_look_up_pairs(ig_ts_call *call, ig_value *ids, ig_value *offsets,
                              const int64_t *slots, const int64_t *edges,
                              uint32_t tables);

#endif
