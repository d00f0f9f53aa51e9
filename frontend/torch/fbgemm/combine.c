/* FBGEMM's input combiners and the operators without family.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Tables' ids, offsets and weights become one of each: ids one after the other; each
 * table's offsets begin where the ids of the tables before it end, and the last offset
 * of all is the number of ids; missing weights are 1.
 */
#include "frontend/torch/fbgemm/fbgemm.h"

#include <assert.h>

enum { IDS, OFFSETS, WEIGHTS, INCLUDES };

typedef struct combine {
    ig_ts_call *call;
    ig_value **ids, **offsets, **weights;
    uint32_t count;
} combine;

static ig_status open_combine(ig_ts_call *call, combine *c) {
    uint32_t offsets, weights;
    c->call = call;
    IG_TRY(ig_ts_tensors(call, IDS, &c->ids, &c->count));
    IG_TRY(ig_ts_tensors(call, OFFSETS, &c->offsets, &offsets));
    IG_TRY(ig_ts_tensors(call, WEIGHTS, &c->weights, &weights));
    if (c->count == 0 || offsets != c->count || weights != c->count) {
        return ig_ts_fail(
            call, IG_INVALID,
            "%u tensors of ids, %u of offsets and %u of weights are given, expected as many of each and at least one",
            c->count, offsets, weights);
    }
    return IG_OK;
}

static ig_dim count_of(const combine *c, const ig_value *x) {
    return ig_type_count(c->call->module, x->type);
}

/* Weights of one table's ids: its own, or 1 where it has none.  With a 1 after them,
 * id k takes the one at min(k, how many there are). */
static ig_value *weights_of(combine *c, uint32_t index) {
    assert(index < c->count && "a table of the call");
    ig_expr *e = c->call->e;
    ig_value *one = ig_expr_number(e, IG_DT_f32, 1), *x = c->weights[index];
    ig_dim ids = count_of(c, c->ids[index]), single = ig_dim_of(1);
    ig_dim count = x ? count_of(c, x) : ig_dim_of(0);
    ig_value *both[2] = { x ? ig_expr_cast(e, ig_expr_flatten(e, x), IG_DT_f32)
                            : NULL };
    if (ig_dim_equal(e->module, count, ig_dim_of(0)) == IG_YES) {
        both[0] = ig_expr_expand(e, one, 1, &ids);
        return both[0];
    }
    if (ig_dim_equal(e->module, count, ids) == IG_YES) {
        return both[0];
    }
    both[1] = ig_expr_reshape(e, one, 1, &single);
    ig_value *at = ig_build_min(e, ig_expr_iota(e, IG_DT_i64, ids),
                                ig_expr_dim(e, count, IG_DT_i64));
    return ig_compose_take_rows(e, ig_expr_concat(e, 0, both, 2), at);
}

/* Weights of all ids; nothing where no table has any. */
static ig_value *combine_weights(combine *c) {
    assert(c->count > 0 && "open_combine has refused empty lists");
    ig_ts_call *call = c->call;
    ig_module *module = call->module;
    ig_value **parts = IG_NEW_ARRAY(call->arena, ig_value *, c->count);
    ig_dim given = ig_dim_of(0), ids = ig_dim_of(0);
    for (uint32_t i = 0; i < c->count; i++) {
        parts[i] = weights_of(c, i);
        given = ig_dim_add(module, given,
                           c->weights[i] ? count_of(c, c->weights[i]) : ig_dim_of(0));
        ids = ig_dim_add(module, ids, count_of(c, c->ids[i]));
    }
    ig_dim size = ig_dim_mul(module, ids, ig_dim_min(module, given, ig_dim_of(1)));
    return ig_expr_slice(call->e, ig_expr_concat(call->e, 0, parts, c->count), 0,
                         ig_dim_of(0), size, 1);
}

static ig_value *combine_ids(combine *c) {
    ig_value **parts = IG_NEW_ARRAY(c->call->arena, ig_value *, c->count);
    for (uint32_t i = 0; i < c->count; i++) {
        parts[i] = ig_expr_cast(c->call->e, ig_expr_flatten(c->call->e, c->ids[i]),
                                IG_DT_i32);
    }
    return ig_expr_concat(c->call->e, 0, parts, c->count);
}

/* One table's offsets, moved by `base`; and which of them are begins of bags: all, or
 * all but the last where `has_last` (bool[1]). */
static ig_value *begins_of(combine *c, uint32_t index, ig_dim base, ig_value *has_last,
                           ig_value **out_is_begin) {
    assert(index < c->count && "a table of the call");
    ig_expr *e = c->call->e;
    ig_value *x = ig_expr_cast(e, c->offsets[index], IG_DT_i64);
    ig_dim extent = ig_fb_extent(e, x, 0);
    ig_value *bags = ig_build_sub(e, ig_expr_dim(e, extent, IG_DT_i64), has_last);
    *out_is_begin = ig_build_lt(e, ig_expr_iota(e, IG_DT_i64, extent), bags);
    return ig_build_add(e, x, ig_expr_dim(e, base, IG_DT_i64));
}

/* `batch` begins, the missing ones those of empty bags at `end`. */
static ig_value *pad_begins(combine *c, ig_value *x, ig_value *is_begin, ig_dim batch,
                            ig_dim end) {
    ig_expr *e = c->call->e;
    ig_value *last = ig_expr_dim(e, end, IG_DT_i64), *rest = NULL, *both[2];
    both[0] = ig_build_where(e, is_begin, x, last);
    if (!(rest = ig_expr_expand(e, last, 1, &batch))) {
        return NULL;
    }
    both[1] = rest;
    return ig_expr_slice(e, ig_expr_concat(e, 0, both, 2), 0, ig_dim_of(0), batch, 1);
}

/* `batch` known to be 0: as many bags as there are. */
static ig_value *combine_offsets(combine *c, ig_value *has_last, ig_dim batch) {
    assert(c->count > 0 && "open_combine has refused empty lists");
    ig_ts_call *call = c->call;
    ig_expr *e = call->e;
    ig_module *module = call->module;
    ig_value **parts = IG_NEW_ARRAY(call->arena, ig_value *, c->count + 1u);
    ig_value **masks = IG_NEW_ARRAY(call->arena, ig_value *, c->count);
    ig_dim base = ig_dim_of(0), one = ig_dim_of(1);
    bool is_padded = !ig_dim_is(batch, 0);
    for (uint32_t i = 0; i < c->count; i++) {
        parts[i] = begins_of(
            c, i, base, ig_expr_slice(e, has_last, 0, ig_dim_of(i), ig_dim_of(1), 1),
            &masks[i]);
        base = ig_dim_add(module, base, count_of(c, c->ids[i]));
        if (is_padded) {
            parts[i] = pad_begins(c, parts[i], masks[i], batch, base);
        }
    }
    parts[c->count] = ig_expr_reshape(e, ig_expr_dim(e, base, IG_DT_i64), 1, &one);
    if (!is_padded) {
        ig_value *is_begin = ig_expr_concat(e, 0, masks, c->count);
        ig_value *found = ig_expr_flatten(e, ig_build_nonzero(e, is_begin));
        ig_value *all = ig_expr_concat(e, 0, parts, c->count);
        parts[0] = ig_compose_take_rows(e, all, found);
        parts[1] = parts[c->count];
    }
    uint32_t count = is_padded ? c->count + 1 : 2;
    return ig_expr_cast(e, ig_expr_concat(e, 0, parts, count), IG_DT_i32);
}

/* Variant 1: tables have a given batch size. */
ig_status ig_ts_op_fb_combine(ig_ts_call *call) {
    combine c;
    ig_dim batch = ig_dim_of(0);
    IG_TRY(open_combine(call, &c));
    ig_value *has_last = ig_fb_arg(c.call, INCLUDES, IG_DT_i64);
    if (call->row->variant == 1) {
        batch = ig_aten_dim(call, INCLUDES + 1);
    }
    ig_expr_guard_equal(call->e, ig_fb_extent(call->e, has_last, 0), ig_dim_of(c.count),
                        "include_last_offsets must have an entry for each table");
    IG_TRY(call->e->status);
    IG_TRY(ig_ts_give(c.call, 0, combine_ids(&c)));
    IG_TRY(ig_ts_give(c.call, 1, combine_offsets(&c, has_last, batch)));
    return ig_ts_give(c.call, 2, combine_weights(&c));
}

/* Variant 1: tables have a given batch size; missing bags are empty. */
ig_status ig_ts_op_fb_combine_lengths(ig_ts_call *call) {
    combine c;
    ig_dim batch = ig_dim_of(0);
    IG_TRY(open_combine(call, &c));
    if (call->row->variant == 1) {
        batch = ig_aten_dim(call, INCLUDES);
    }
    ig_value **parts = IG_NEW_ARRAY(call->arena, ig_value *, c.count);
    ig_value *zero = ig_expr_integer(call->e, IG_DT_i32, 0), *rest = NULL;
    for (uint32_t i = 0; i < c.count; i++) {
        parts[i] = ig_expr_cast(c.call->e, ig_expr_flatten(c.call->e, c.offsets[i]),
                                IG_DT_i32);
        if (call->row->variant == 1) {
            rest = ig_expr_expand(call->e, zero, 1, &batch);
            IG_TRY(call->e->status);
            ig_value *both[] = { parts[i], rest };
            parts[i] = ig_expr_concat(c.call->e, 0, both, 2);
            parts[i] = ig_expr_slice(c.call->e, parts[i], 0, ig_dim_of(0), batch, 1);
        }
    }
    IG_TRY(ig_ts_give(c.call, 0, combine_ids(&c)));
    IG_TRY(ig_ts_give(c.call, 1, ig_expr_concat(c.call->e, 0, parts, c.count)));
    return ig_ts_give(c.call, 2, combine_weights(&c));
}

/* bias [N, O], a [M, N, K], b [N, K, O]: each of N a layer of its own. */
ig_status ig_ts_op_fb_permute102(ig_ts_call *call) {
    const int64_t perm[] = { 1, 0, 2 };
    ig_value *bias = ig_aten_tensor(call, 0);
    ig_value *operands[] = { ig_expr_transpose(call->e, ig_aten_tensor(call, 1), perm),
                             ig_aten_tensor(call, 2) };
    ig_dim dims[] = { ig_fb_extent(call->e, bias, 0), ig_dim_of(1),
                      ig_fb_extent(call->e, bias, 1) };
    ig_value *y = ig_expr_make(call->e, IG_OP_matmul, operands, 2, NULL);
    y = ig_build_add(call->e, y, ig_expr_reshape(call->e, bias, 3, dims));
    return ig_aten_give(call, ig_expr_transpose(call->e, y, perm));
}
