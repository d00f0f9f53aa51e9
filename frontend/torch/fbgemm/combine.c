/* FBGEMM's input combiners and what else stands alone.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Tables' ids, offsets and weights become one of each: ids one behind the other; each
 * table's offsets begin where the ids of the tables before it end, and the last offset
 * of all is the number of ids; missing weights are 1.
 */
#include "frontend/torch/fbgemm/fbgemm.h"

enum { IDS, OFFSETS, WEIGHTS, INCLUDES };

typedef struct combine {
    ig_fb fb;
    ig_value **ids, **offsets, **weights;
    uint32_t count;
} combine;

static ig_status open_combine(ig_ts_call *call, combine *c) {
    uint32_t offsets, weights;
    c->fb = ig_fb_open(call);
    IG_TRY(ig_ts_tensors(call, IDS, &c->ids, &c->count));
    IG_TRY(ig_ts_tensors(call, OFFSETS, &c->offsets, &offsets));
    IG_TRY(ig_ts_tensors(call, WEIGHTS, &c->weights, &weights));
    if (c->count == 0 || offsets != c->count || weights != c->count) {
        return ig_ts_fail(call, IG_INVALID, "%u ids, %u offsets, %u weights", c->count,
                          offsets, weights);
    }
    return IG_OK;
}

static ig_dim count_of(const combine *c, const ig_value *x) {
    return ig_type_count(c->fb.call->module, x->type);
}

/* Weights of one table's ids: its own, or 1 where it has none.  With a 1 behind them,
 * id k takes the one at min(k, how many there are). */
static ig_value *weights_of(combine *c, uint32_t number) {
    ig_fb *fb = &c->fb;
    ig_value *one = ig_fb_number(fb, IG_DT_f32, 1), *x = c->weights[number];
    ig_dim ids = count_of(c, c->ids[number]), single = ig_dim_of(1);
    ig_dim count = x ? count_of(c, x) : ig_dim_of(0);
    ig_value *both[2] = { x ? ig_fb_cast(fb, ig_fb_flat(fb, x), IG_DT_f32) : NULL };
    if (ig_dim_equal(fb->call->module, count, ig_dim_of(0)) == IG_YES) {
        ig_fb_try(fb, ig_ts_full(fb->call, one, 1, &ids, &both[0]));
        return both[0];
    }
    if (ig_dim_equal(fb->call->module, count, ids) == IG_YES) {
        return both[0];
    }
    both[1] = ig_fb_reshape(fb, one, 1, &single);
    ig_value *at = ig_fb_2(fb, IG_OP_min, ig_fb_range_dim(fb, ids),
                           ig_fb_dim(fb, count));
    return ig_fb_gather(fb, ig_fb_concat(fb, both, 2, 0), at, 0);
}

/* Weights of all ids; nothing where no table has any. */
static ig_value *combine_weights(combine *c) {
    ig_fb *fb = &c->fb;
    ig_module *module = fb->call->module;
    ig_value **parts = IG_NEW_ARRAY(fb->call->arena, ig_value *, c->count);
    ig_dim given = ig_dim_of(0), ids = ig_dim_of(0);
    for (uint32_t i = 0; i < c->count; i++) {
        parts[i] = weights_of(c, i);
        given = ig_dim_add(module, given,
                           c->weights[i] ? count_of(c, c->weights[i]) : ig_dim_of(0));
        ids = ig_dim_add(module, ids, count_of(c, c->ids[i]));
    }
    ig_dim size = ig_dim_mul(module, ids, ig_dim_min(module, given, ig_dim_of(1)));
    return ig_fb_slice(fb, ig_fb_concat(fb, parts, c->count, 0), 0, ig_dim_of(0), size);
}

static ig_value *combine_ids(combine *c) {
    ig_value **parts = IG_NEW_ARRAY(c->fb.call->arena, ig_value *, c->count);
    for (uint32_t i = 0; i < c->count; i++) {
        parts[i] = ig_fb_cast(&c->fb, ig_fb_flat(&c->fb, c->ids[i]), IG_DT_i32);
    }
    return ig_fb_concat(&c->fb, parts, c->count, 0);
}

/* One table's offsets, moved by `base`; and which of them are begins of bags: all, or
 * all but the last where `has_last` (bool[1]). */
static ig_value *begins_of(combine *c, uint32_t number, ig_dim base, ig_value *has_last,
                           ig_value **out_is_begin) {
    ig_fb *fb = &c->fb;
    ig_value *x = ig_fb_cast(fb, c->offsets[number], IG_DT_i64);
    ig_dim extent = ig_fb_extent(fb, x, 0);
    ig_value *bags = ig_fb_2(fb, IG_OP_sub, ig_fb_dim(fb, extent), has_last);
    *out_is_begin = ig_fb_2(fb, IG_OP_lt, ig_fb_range_dim(fb, extent), bags);
    return ig_fb_2(fb, IG_OP_add, x, ig_fb_dim(fb, base));
}

/* `batch` begins, the missing ones those of empty bags at `end`. */
static ig_value *pad_begins(combine *c, ig_value *x, ig_value *is_begin, ig_dim batch,
                            ig_dim end) {
    ig_fb *fb = &c->fb;
    ig_value *last = ig_fb_dim(fb, end), *rest = NULL, *both[2];
    both[0] = ig_fb_where(fb, is_begin, x, last);
    if (!ig_fb_try(fb, ig_ts_full(fb->call, last, 1, &batch, &rest))) {
        return NULL;
    }
    both[1] = rest;
    return ig_fb_slice(fb, ig_fb_concat(fb, both, 2, 0), 0, ig_dim_of(0), batch);
}

/* `batch` known to be 0: as many bags as there are. */
static ig_value *combine_offsets(combine *c, ig_value *has_last, ig_dim batch) {
    ig_fb *fb = &c->fb;
    ig_module *module = fb->call->module;
    ig_value **parts = IG_NEW_ARRAY(fb->call->arena, ig_value *, c->count + 1u);
    ig_value **masks = IG_NEW_ARRAY(fb->call->arena, ig_value *, c->count);
    ig_dim base = ig_dim_of(0), one = ig_dim_of(1);
    bool is_padded = !ig_dim_is(batch, 0);
    for (uint32_t i = 0; i < c->count; i++) {
        parts[i] = begins_of(c, i, base,
                             ig_fb_slice(fb, has_last, 0, ig_dim_of(i), ig_dim_of(1)),
                             &masks[i]);
        base = ig_dim_add(module, base, count_of(c, c->ids[i]));
        if (is_padded) {
            parts[i] = pad_begins(c, parts[i], masks[i], batch, base);
        }
    }
    parts[c->count] = ig_fb_reshape(fb, ig_fb_dim(fb, base), 1, &one);
    if (!is_padded) {
        ig_value *is_begin = ig_fb_concat(fb, masks, c->count, 0);
        ig_value *found = ig_fb_flat(fb, ig_fb_1(fb, IG_OP_nonzero, is_begin));
        ig_value *all = ig_fb_concat(fb, parts, c->count, 0);
        parts[0] = ig_fb_gather(fb, all, found, 0);
        parts[1] = parts[c->count];
    }
    uint32_t count = is_padded ? c->count + 1 : 2;
    return ig_fb_cast(fb, ig_fb_concat(fb, parts, count, 0), IG_DT_i32);
}

/* Variant 1: tables have a given batch size. */
ig_status ig_ts_op_fb_combine(ig_ts_call *call) {
    combine c;
    ig_dim batch = ig_dim_of(0);
    IG_TRY(open_combine(call, &c));
    ig_value *has_last = ig_fb_arg(&c.fb, INCLUDES, IG_DT_i64);
    if (call->row->variant == 1) {
        IG_TRY(ig_ts_dim(call, INCLUDES + 1, &batch));
    }
    IG_TRY(ig_ts_guard_equal(call, ig_fb_extent(&c.fb, has_last, 0), ig_dim_of(c.count),
                             "include_last_offsets has an entry a table"));
    IG_TRY(ig_fb_give(&c.fb, 0, combine_ids(&c)));
    IG_TRY(ig_fb_give(&c.fb, 1, combine_offsets(&c, has_last, batch)));
    return ig_fb_give(&c.fb, 2, combine_weights(&c));
}

/* Variant 1: tables have a given batch size; missing bags are empty. */
ig_status ig_ts_op_fb_combine_lengths(ig_ts_call *call) {
    combine c;
    ig_dim batch = ig_dim_of(0);
    IG_TRY(open_combine(call, &c));
    if (call->row->variant == 1) {
        IG_TRY(ig_ts_dim(call, INCLUDES, &batch));
    }
    ig_value **parts = IG_NEW_ARRAY(call->arena, ig_value *, c.count);
    ig_value *zero = ig_ts_scalar_int(call, IG_DT_i32, 0), *rest = NULL;
    for (uint32_t i = 0; i < c.count; i++) {
        parts[i] = ig_fb_cast(&c.fb, ig_fb_flat(&c.fb, c.offsets[i]), IG_DT_i32);
        if (call->row->variant == 1) {
            IG_TRY(ig_ts_full(call, zero, 1, &batch, &rest));
            ig_value *both[] = { parts[i], rest };
            parts[i] = ig_fb_concat(&c.fb, both, 2, 0);
            parts[i] = ig_fb_slice(&c.fb, parts[i], 0, ig_dim_of(0), batch);
        }
    }
    IG_TRY(ig_fb_give(&c.fb, 0, combine_ids(&c)));
    IG_TRY(ig_fb_give(&c.fb, 1, ig_fb_concat(&c.fb, parts, c.count, 0)));
    return ig_fb_give(&c.fb, 2, combine_weights(&c));
}

/* bias [N, O], a [M, N, K], b [N, K, O]: each of N a layer of its own. */
ig_status ig_ts_op_fb_permute102(ig_ts_call *call) {
    ig_fb fb = ig_fb_open(call);
    const int64_t perm[] = { 1, 0, 2 };
    ig_value *bias = ig_fb_tensor(&fb, 0), *y = NULL;
    ig_value *operands[] = { ig_fb_transpose(&fb, ig_fb_tensor(&fb, 1), perm),
                             ig_fb_tensor(&fb, 2) };
    ig_dim dims[] = { ig_fb_extent(&fb, bias, 0), ig_dim_of(1),
                      ig_fb_extent(&fb, bias, 1) };
    IG_TRY(fb.status);
    IG_TRY(ig_ts_build(call, IG_OP_matmul, 2, operands, NULL, &y));
    y = ig_fb_2(&fb, IG_OP_add, y, ig_fb_reshape(&fb, bias, 3, dims));
    return ig_fb_give(&fb, 0, ig_fb_transpose(&fb, y, perm));
}
