/* Threads of a GPU's block that go over one line together.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/lower/team.h"

#include "ir/build/expr.h"

#include <assert.h>

ig_value *ig_gpu_thread(ig_builder *b) {
    const ig_type *i64 = ig_type_vector(b->graph->module, IG_DT_i64, 1);
    ig_op_spec spec = { .result_types = &i64, .result_count = 1 };
    ig_expr e = ig_expr_of(b);
    return ig_build_thread_op(&e, &spec)->results;
}

void ig_gpu_barrier(ig_builder *b) {
    ig_expr e = ig_expr_of(b);
    (void)ig_build_barrier(&e);
}

ig_value *ig_gpu_shared(ig_lower *lower, ig_dtype dtype, int64_t count) {
    ig_builder head = lower->b;
    head.block = &lower->kernel->body;
    head.before = lower->kernel->body.first;
    const ig_type *type = ig_type_buffer(lower->module, dtype, 0, NULL);
    ig_op_spec spec = { .result_types = &type, .result_count = 1 };
    ig_expr e = ig_expr_of(&head);
    assert(count > 0 && "a shared array has elements");
    return ig_build_shared_op(&e, &spec, (ig_shared_attrs){ .count = count })->results;
}

ig_own_array ig_own_array_open(ig_lower *lower, ig_dtype dtype, int64_t count) {
    int64_t bytes = count * ig_dtypes[dtype].bits / 8;
    if (!lower->target->has_threads ||
        bytes > IG_GPU_SHARED_BYTES / IG_SERIAL_THREADS) {
        return (ig_own_array){ k_local(lower->kernel, dtype, count),
                               k_i64(&lower->b, 0) };
    }
    ig_value *buffer = ig_gpu_shared(lower, dtype, IG_SERIAL_THREADS * count);
    ig_value *thread = ig_gpu_thread(&lower->b);
    return (ig_own_array){ buffer, k_mul(&lower->b, thread, k_i64(&lower->b, count)) };
}

enum { WARP = 32, LARGE = 128, SHORT = 16, LONG = 256 };

/* Of a short line most threads would have nothing; a warp is enough up to LONG. */
static int64_t size_for(const ig_lower *lower, ig_dim length) {
    int64_t known = 0;
    if (!lower->target->has_threads) {
        return 0;
    }
    if (!ig_dim_constant(lower->module, length, &known)) {
        return LARGE;
    }
    return known < SHORT ? 0 : known <= LONG ? WARP : LARGE;
}

ig_team ig_team_open(ig_lower *lower, ig_dtype wide, ig_dim length) {
    ig_team team = { .size = size_for(lower, length) };
    if (team.size) {
        lower->threads = team.size;
        team.partial = team.size > WARP ? ig_gpu_shared(lower, wide, team.size) : NULL;
        team.thread = ig_gpu_thread(&lower->b);
    }
    return team;
}

static ig_value *combine_two(ig_builder *b, ig_reduce how, ig_value *x, ig_value *y) {
    return how == IG_REDUCE_max    ? k_max(b, x, y)
           : how == IG_REDUCE_min  ? k_min(b, x, y)
           : how == IG_REDUCE_prod ? k_mul(b, x, y)
                                   : k_add(b, x, y);
}

/* Exchanges are of words. */
static ig_value *swap_value(ig_builder *b, ig_value *x, int64_t bit) {
    ig_dtype dtype = (ig_dtype)x->type->dtype;
    bool is_word = ig_dtypes[dtype].bits >= 32;
    return is_word ? k_swap(b, x, bit)
                   : k_cast(b, k_swap(b, k_cast(b, x, IG_DT_i32), bit), dtype);
}

ig_value *ig_warp_combine(ig_builder *b, ig_reduce how, ig_value *x) {
    for (int64_t half = WARP / 2; half > 0; half /= 2) {
        x = combine_two(b, how, x, swap_value(b, x, half));
    }
    return x;
}

/* Values of the warps go through memory, where each thread reads all of them. */
static ig_value *combine_warps(const ig_team *team, ig_builder *b, ig_reduce how,
                               ig_value *x) {
    k_store(b, x, team->partial, team->thread);
    ig_gpu_barrier(b);
    ig_value *all = k_load(b, team->partial, k_i64(b, 0), 1);
    for (int64_t first = WARP; first < team->size; first += WARP) {
        all = combine_two(b, how, all, k_load(b, team->partial, k_i64(b, first), 1));
    }
    ig_gpu_barrier(b); /* before the next values take the place of these */
    return all;
}

ig_value *ig_team_combine(const ig_team *team, ig_builder *b, ig_reduce how,
                          ig_value *x) {
    if (!team->size) {
        return x;
    }
    x = ig_warp_combine(b, how, x);
    return team->size == WARP ? x : combine_warps(team, b, how, x);
}

void ig_team_store(const ig_team *team, ig_builder *b, ig_value *x, ig_value *buffer,
                   ig_value *at) {
    assert(team->size && "one worker stores as it likes");
    ig_value *is_first = k_compare(b, IG_OP_eq, team->thread, k_i64(b, 0));
    k_if first = k_if_open(b, is_first, NULL, 0);
    k_store(&first.then, x, buffer, at);
    k_if_close(&first, NULL, NULL);
}
