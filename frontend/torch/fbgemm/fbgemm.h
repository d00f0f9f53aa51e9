/* What the functions of the FBGEMM rows are written with.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Most operators of FBGEMM are index arithmetic over segments of one array.  They are
 * written as expressions: an error sticks in `fb` and makes every later helper return
 * NULL, and the hook ends with `return fb.status` or ig_fb_give.
 *
 *     ig_fb     fb = ig_fb_open(call);
 *     ig_value *offsets = ig_fb_arg(&fb, 0, IG_DT_i64);
 *     ig_value *at = ig_fb_range(&fb, ig_fb_last(&fb, offsets));
 *     return ig_fb_give(&fb, 0, ig_fb_segment_of(&fb, offsets, at));
 *
 * Index arithmetic is in i64.  Offsets are [segments + 1], from 0, rising.
 */
#ifndef IG_FRONTEND_TORCH_FBGEMM_FBGEMM_H
#define IG_FRONTEND_TORCH_FBGEMM_FBGEMM_H

#include "frontend/torch/eval/op.h"

typedef struct ig_fb {
    ig_ts_call *call;
    ig_status status;
} ig_fb;

ig_fb ig_fb_open(ig_ts_call *call);
/* Keeps the first failure; false when there is one. */
bool ig_fb_try(ig_fb *fb, ig_status status);
ig_status ig_fb_give(ig_fb *fb, uint32_t result, ig_value *value);
ig_status ig_fb_give_none(ig_fb *fb, uint32_t result);

/* The functions of the rows. */
#define OP(schema, hook, variant) ig_status ig_ts_op_##hook(ig_ts_call *call);
#include "frontend/torch/fbgemm/fbgemm.def"
#undef OP

/* ---- arguments ---- */
ig_value *ig_fb_arg(ig_fb *fb, uint32_t index, ig_dtype dtype); /* cast */
ig_value *ig_fb_tensor(ig_fb *fb, uint32_t index);              /* as it is */
ig_value *ig_fb_optional(ig_fb *fb, uint32_t index);            /* NULL: None */
ig_value *ig_fb_size(ig_fb *fb, uint32_t index);                /* an int, as i64[] */
/* A constant tensor of integers, as numbers; INVALID says `what` when it is none. */
const int64_t *ig_fb_known(ig_fb *fb, uint32_t index, const char *what,
                           uint32_t *out_count);
/* The same; NULL when the content is not known now. */
const int64_t *ig_fb_maybe_known(ig_fb *fb, const ig_value *value, uint32_t *out_count);

/* ---- expressions ---- */
ig_value *ig_fb_int(ig_fb *fb, int64_t value); /* i64[] */
ig_value *ig_fb_dim(ig_fb *fb, ig_dim dim);    /* i64[] */
ig_value *ig_fb_number(ig_fb *fb, ig_dtype dtype, double value);
ig_value *ig_fb_ints(ig_fb *fb, const int64_t *values, uint32_t count); /* i64[n] */
ig_value *ig_fb_1(ig_fb *fb, ig_opcode code, ig_value *x);
ig_value *ig_fb_2(ig_fb *fb, ig_opcode code, ig_value *x, ig_value *y);
ig_value *ig_fb_where(ig_fb *fb, ig_value *cond, ig_value *x, ig_value *y);
ig_value *ig_fb_cast(ig_fb *fb, ig_value *x, ig_dtype dtype);
ig_value *ig_fb_like(ig_fb *fb, ig_value *x, const ig_value *model); /* its dtype */
ig_value *ig_fb_with(ig_fb *fb, ig_opcode code, ig_value *x, int64_t y);

/* ---- shapes ---- */
ig_dim ig_fb_extent(ig_fb *fb, const ig_value *x, uint32_t axis); /* 1 if NULL */
ig_value *ig_fb_reshape(ig_fb *fb, ig_value *x, uint32_t rank, const ig_dim *dims);
ig_value *ig_fb_flat(ig_fb *fb, ig_value *x);
ig_value *ig_fb_column(ig_fb *fb, ig_value *x); /* [n] as [n, 1] */
ig_value *ig_fb_expand(ig_fb *fb, ig_value *x, uint32_t rank, const ig_dim *dims);
ig_value *ig_fb_slice(ig_fb *fb, ig_value *x, uint32_t axis, ig_dim start, ig_dim size);
ig_value *ig_fb_concat(ig_fb *fb, ig_value *const *values, uint32_t count,
                       uint32_t axis);
ig_value *ig_fb_transpose(ig_fb *fb, ig_value *x, const int64_t *perm);
/* Trailing axes of length 1 until x has this rank. */
ig_value *ig_fb_unsqueeze_to(ig_fb *fb, ig_value *x, uint32_t rank);

/* ---- segments ---- */
typedef enum ig_fb_sum { IG_FB_INCLUSIVE, IG_FB_EXCLUSIVE, IG_FB_COMPLETE } ig_fb_sum;
ig_value *ig_fb_cumsum(ig_fb *fb, ig_value *x, ig_fb_sum kind); /* last axis */
ig_value *ig_fb_last(ig_fb *fb, ig_value *x);                   /* of [n]: i64[] */
ig_value *ig_fb_range(ig_fb *fb, ig_value *count); /* 0 … count - 1, i64 */
ig_value *ig_fb_range_dim(ig_fb *fb, ig_dim count);
ig_value *ig_fb_gather(ig_fb *fb, ig_value *x, ig_value *index, uint32_t axis);
/* The segment in which each position lies. */
ig_value *ig_fb_segment_of(ig_fb *fb, ig_value *offsets, ig_value *positions);
/* Lengths of the segments, [n] from offsets [n + 1]. */
ig_value *ig_fb_lengths(ig_fb *fb, ig_value *offsets);
/* Sums of x [n, …] by target (< count): [count, …]. */
ig_value *ig_fb_add_at(ig_fb *fb, ig_value *x, ig_value *target, ig_dim count);
/* x [n, …] put at rows `target` of a tensor of `count` rows that holds `fill`. */
ig_value *ig_fb_put_at(ig_fb *fb, ig_value *x, ig_value *target, ig_dim count,
                       ig_value *fill);

/* Rows of pruned tables: `slots` are pairs (id, row), cut into tables by `edges`. */
ig_value *ig_fb_look_up_pairs(ig_fb *fb, ig_value *ids, ig_value *offsets,
                              const int64_t *slots, const int64_t *edges,
                              uint32_t tables);

#endif
