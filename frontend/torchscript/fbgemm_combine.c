/* FBGEMM's input combiners and what else stands alone.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Tables' ids, offsets and weights become one of each: ids one behind the other; each
 * table's offsets begin where the ids of the tables before it end, and the last offset
 * of all is the number of ids; missing weights are 1.
 */
#include "frontend/torchscript/fbgemm.h"

enum { IDS, OFFSETS, WEIGHTS, INCLUDES };

typedef struct combine {
    ig_fb      fb;
    ig_value **ids, **offsets, **weights;
    uint32_t   count;
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

static bool is_nothing(const combine *c, const ig_value *x) {
    ig_module *module = c->fb.call->module;
    return !x || ig_dim_equal(module, ig_type_count(module, x->type), 0) == IG_YES;
}

/* Weights of all ids; nothing where no table has any. */
static ig_value *combine_weights(combine *c) {
    ig_fb     *fb = &c->fb;
    bool       is_some = false;
    ig_value **parts = IG_NEW_ARRAY(fb->call->arena, ig_value *, c->count);
    for (uint32_t i = 0; i < c->count; i++) {
        ig_value *one = ig_fb_number(fb, IG_DT_f32, 1);
        bool      is_mine = !is_nothing(c, c->weights[i]);
        is_some = is_some || is_mine;
        parts[i] = is_mine ? ig_fb_cast(fb, ig_fb_flat(fb, c->weights[i]), IG_DT_f32)
                           : NULL;
        if (!is_mine && !ig_fb_try(fb, ig_ts_full(fb->call, one, 1,
                                                  c->ids[i]->type->dims, &parts[i]))) {
            return NULL;
        }
    }
    if (is_some) {
        return ig_fb_concat(fb, parts, c->count, 0);
    }
    int64_t none = 0;
    return ig_ts_constant(fb->call, IG_DT_f32, 1, &none, "");
}

static ig_value *combine_ids(combine *c) {
    ig_value **parts = IG_NEW_ARRAY(c->fb.call->arena, ig_value *, c->count);
    for (uint32_t i = 0; i < c->count; i++) {
        parts[i] = ig_fb_cast(&c->fb, ig_fb_flat(&c->fb, c->ids[i]), IG_DT_i32);
    }
    return ig_fb_concat(&c->fb, parts, c->count, 0);
}

/* The begins of one table's bags, moved; and up to `batch` bags (0: as many as there
 * are), the missing ones empty. */
static ig_value *begins_of(combine *c, uint32_t number, bool has_last, ig_dim base,
                           int64_t batch) {
    ig_fb     *fb = &c->fb;
    ig_module *module = fb->call->module;
    ig_value  *x = ig_fb_cast(fb, c->offsets[number], IG_DT_i64);
    ig_dim     bags = ig_fb_extent(fb, x, 0);
    bags = has_last ? ig_dim_sub(module, bags, 1) : bags;
    x = ig_fb_2(fb, IG_OP_add, ig_fb_slice(fb, x, 0, 0, bags), ig_fb_dim(fb, base));
    ig_dim missing = ig_dim_sub(module, batch, bags);
    if (!batch || ig_dim_equal(module, missing, 0) == IG_YES) {
        return x;
    }
    ig_dim    end = ig_dim_add(module, base, c->ids[number]->type->dims[0]);
    ig_value *rest = NULL;
    if (!ig_fb_try(fb, ig_ts_full(fb->call, ig_fb_dim(fb, end), 1, &missing, &rest))) {
        return NULL;
    }
    return ig_fb_concat(fb, (ig_value *[]){ x, rest }, 2, 0);
}

static ig_value *combine_offsets(combine *c, const bool *has_last, int64_t batch) {
    ig_fb     *fb = &c->fb;
    ig_module *module = fb->call->module;
    ig_value **parts = IG_NEW_ARRAY(fb->call->arena, ig_value *, c->count + 1u);
    ig_dim     base = 0, one = 1;
    for (uint32_t i = 0; i < c->count; i++) {
        parts[i] = begins_of(c, i, has_last[i], base, batch);
        base = ig_dim_add(module, base, ig_type_count(module, c->ids[i]->type));
    }
    parts[c->count] = ig_fb_reshape(fb, ig_fb_dim(fb, base), 1, &one);
    return ig_fb_cast(fb, ig_fb_concat(fb, parts, c->count + 1, 0), IG_DT_i32);
}

/* Variant 1: tables have a given batch size. */
ig_status ig_ts_op_fb_combine(ig_ts_call *call) {
    combine  c;
    uint32_t count;
    int64_t  batch = 0;
    IG_TRY(open_combine(call, &c));
    const int64_t *includes = ig_fb_known(&c.fb, INCLUDES, "include_last_offsets",
                                          &count);
    IG_TRY(c.fb.status);
    if (call->row->variant == 1) {
        IG_TRY(ig_ts_int(call, INCLUDES + 1, &batch));
    }
    if (count != c.count) {
        return ig_ts_fail(call, IG_INVALID, "%u include_last_offsets", count);
    }
    bool *has_last = IG_NEW_ARRAY(call->arena, bool, count);
    for (uint32_t i = 0; i < count; i++) {
        has_last[i] = includes[i] != 0;
    }
    IG_TRY(ig_fb_give(&c.fb, 0, combine_ids(&c)));
    IG_TRY(ig_fb_give(&c.fb, 1, combine_offsets(&c, has_last, batch)));
    return ig_fb_give(&c.fb, 2, combine_weights(&c));
}

ig_status ig_ts_op_fb_combine_lengths(ig_ts_call *call) {
    combine c;
    IG_TRY(open_combine(call, &c));
    ig_value **parts = IG_NEW_ARRAY(call->arena, ig_value *, c.count);
    for (uint32_t i = 0; i < c.count; i++) {
        parts[i] = ig_fb_cast(&c.fb, ig_fb_flat(&c.fb, c.offsets[i]), IG_DT_i32);
    }
    IG_TRY(ig_fb_give(&c.fb, 0, combine_ids(&c)));
    IG_TRY(ig_fb_give(&c.fb, 1, ig_fb_concat(&c.fb, parts, c.count, 0)));
    return ig_fb_give(&c.fb, 2, combine_weights(&c));
}

/* bias [N, O], a [M, N, K], b [N, K, O]: each of N a layer of its own. */
ig_status ig_ts_op_fb_permute102(ig_ts_call *call) {
    ig_fb         fb = ig_fb_open(call);
    const int64_t perm[] = { 1, 0, 2 };
    ig_value     *bias = ig_fb_tensor(&fb, 0), *y = NULL;
    ig_value     *operands[] = { ig_fb_transpose(&fb, ig_fb_tensor(&fb, 1), perm),
                                 ig_fb_tensor(&fb, 2) };
    ig_dim dims[] = { ig_fb_extent(&fb, bias, 0), 1, ig_fb_extent(&fb, bias, 1) };
    IG_TRY(fb.status);
    IG_TRY(ig_ts_build(call, IG_OP_matmul, 2, operands, NULL, &y));
    y = ig_fb_2(&fb, IG_OP_add, y, ig_fb_reshape(&fb, bias, 3, dims));
    return ig_fb_give(&fb, 0, ig_fb_transpose(&fb, y, perm));
}
