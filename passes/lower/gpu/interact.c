/* Dot interaction on GPUs: chosen pairs of rows of each sample, multiplied.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   out[s, p] = sum over k of x[s, i(p), k] * x[s, j(p), k]
 *
 *   grid       one block a sample
 *   block      copies the sample's rows into shared memory (27 x 64: 7 KB); a sample
 *              that does not fit is read from global memory
 *   thread     pairs THREADS apart; each product is one chain over k
 *
 * The pairs are an array of params.  Rows in shared memory are one element longer than
 * they are deep, so that threads that walk along different rows use different banks.
 */
#include "passes/lower/gpu/gpu.h"

#include <assert.h>

enum { THREADS = 128 };

typedef struct interact {
    ig_lower *lower;
    const ig_lower_operand *x, *out;
    int64_t rows, depth; /* F, D */
    ig_value *thread, *pairs;
    int64_t pair_count;
    ig_value *staged; /* shared [F][D + 1], or NULL */
} interact;

/* Rows of one sample: where, and how far apart. */
typedef struct sample_rows {
    ig_value *buffer, *stride;
} sample_rows;

static sample_rows stage_rows(const interact *t, ig_builder *b, sample_rows from) {
    sample_rows to = { t->staged, k_i64(b, t->depth + 1) };
    ig_value *zero = k_i64(b, 0), *depth = k_i64(b, t->depth);
    ig_value *count = k_i64(b, t->rows * t->depth);
    k_loop loop = ig_gpu_share_out(t->lower, b, t->thread, zero, count);
    ig_builder *in = &loop.b;
    ig_value *row = k_div(in, loop.index, depth), *k = k_mod(in, loop.index, depth);
    ig_value *x = k_load(in, from.buffer, k_add(in, k_mul(in, row, from.stride), k), 1);
    k_store(in, x, to.buffer, k_add(in, k_mul(in, row, to.stride), k));
    k_loop_close(&loop, NULL, 0);
    ig_gpu_barrier(b);
    return to;
}

static ig_value *multiply_pair(const interact *t, ig_builder *b, sample_rows from,
                               ig_value *pair) {
    ig_value *rows = k_i64(b, t->rows);
    ig_value *i = k_offset(b, from.buffer, k_mul(b, k_div(b, pair, rows), from.stride));
    ig_value *j = k_offset(b, from.buffer, k_mul(b, k_mod(b, pair, rows), from.stride));
    ig_value *zero = k_const(b, IG_DT_f32, 0.0);
    k_loop loop = k_loop_open(b, k_i64(b, 0), k_i64(b, t->depth), k_i64(b, 1), &zero,
                              1);
    ig_value *x = k_load(&loop.b, i, loop.index, 1);
    ig_value *y = k_load(&loop.b, j, loop.index, 1);
    ig_value *sum = k_muladd(&loop.b, x, y, loop.carried[0]);
    k_loop_close(&loop, &sum, 1);
    return loop.results[0];
}

static void emit_tile(void *user, ig_builder *b, ig_value *sample) {
    const interact *t = user;
    ig_lower *lower = t->lower;
    ig_value *step = ig_lower_dim(lower, t->x->strides[0]);
    sample_rows rows = { k_offset(b, t->x->buffer, k_mul(b, sample, step)),
                         ig_lower_dim(lower, t->x->strides[1]) };
    rows = t->staged ? stage_rows(t, b, rows) : rows;
    ig_value *out_row = k_mul(b, sample, ig_lower_dim(lower, t->out->strides[0]));
    ig_value *out_step = ig_lower_dim(lower, t->out->strides[1]);
    ig_value *zero = k_i64(b, 0), *count = k_i64(b, t->pair_count);
    k_loop loop = ig_gpu_share_out(lower, b, t->thread, zero, count);
    ig_value *pair = k_param_at(&loop.b, t->pairs, loop.index);
    ig_value *sum = multiply_pair(t, &loop.b, rows, pair);
    ig_value *at = k_add(&loop.b, out_row, k_mul(&loop.b, loop.index, out_step));
    k_store(&loop.b, sum, t->out->buffer, at);
    k_loop_close(&loop, NULL, 0);
    if (t->staged) {
        ig_gpu_barrier(b); /* before the next sample takes this one's place */
    }
}

static ig_value *pair_params(ig_lower *lower, const ig_attr *pairs) {
    ig_dim *dims = IG_NEW_ARRAY(lower->arena, ig_dim, pairs->count);
    for (uint32_t i = 0; i < pairs->count; i++) {
        dims[i] = ig_dim_const(lower->module, pairs->as.ints[i]);
    }
    return ig_lower_param_array(lower, dims, pairs->count);
}

ig_status ig_lower_gpu_interact(ig_lower *lower) {
    ig_op *anchor = ig_lower_anchor(lower, IG_OP_interact);
    assert(anchor && "the family's body has its anchor");
    const ig_attr *pairs = &anchor->attrs[IG_interact_pairs];
    interact t = { .lower = lower,
                   .x = ig_lower_input(lower, anchor, 0),
                   .out = &lower->outs[0],
                   .pair_count = pairs->count };
    bool is_known = t.x &&
                    ig_dim_constant(lower->module, t.x->type->dims[1], &t.rows) &&
                    ig_dim_constant(lower->module, t.x->type->dims[2], &t.depth);
    if (!is_known || t.x->type->dtype != IG_DT_f32 || !ig_dim_is(t.x->strides[2], 1) ||
        pairs->count == 0) {
        return ig_lower_unsupported(lower, "this form of interaction");
    }
    lower->threads = THREADS;
    lower->grid = t.x->type->dims[0];
    t.pairs = pair_params(lower, pairs);
    t.thread = ig_gpu_thread(&lower->b);
    bool fits = t.depth > 0 && t.rows <= IG_GPU_SHARED_BYTES / 4 / (t.depth + 1);
    if (fits && t.rows > 0) {
        t.staged = ig_gpu_shared(lower, IG_DT_f32, t.rows * (t.depth + 1));
    }
    ig_lower_each_tile(lower, emit_tile, &t);
    return IG_OK;
}
