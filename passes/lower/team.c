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
        team.partial = ig_gpu_shared(lower, wide, team.size);
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

ig_value *ig_team_combine(const ig_team *team, ig_builder *b, ig_reduce how,
                          ig_value *x) {
    if (!team->size) {
        return x;
    }
    k_store(b, x, team->partial, team->thread);
    ig_gpu_barrier(b);
    for (int64_t half = team->size / 2; half > 0; half /= 2) {
        ig_value *is_low = k_compare(b, IG_OP_lt, team->thread, k_i64(b, half));
        k_if low = k_if_open(b, is_low, NULL, 0);
        ig_value *at = k_add(&low.then, team->thread, k_i64(&low.then, half));
        ig_value *own = k_load(&low.then, team->partial, team->thread, 1);
        ig_value *other = k_load(&low.then, team->partial, at, 1);
        k_store(&low.then, combine_two(&low.then, how, own, other), team->partial,
                team->thread);
        k_if_close(&low, NULL, NULL);
        ig_gpu_barrier(b);
    }
    ig_value *all = k_load(b, team->partial, k_i64(b, 0), 1);
    ig_gpu_barrier(b); /* before the next values take the place of these */
    return all;
}

void ig_team_store(const ig_team *team, ig_builder *b, ig_value *x, ig_value *buffer,
                   ig_value *at) {
    assert(team->size && "one worker stores as it likes");
    ig_value *is_first = k_compare(b, IG_OP_eq, team->thread, k_i64(b, 0));
    k_if first = k_if_open(b, is_first, NULL, 0);
    k_store(&first.then, x, buffer, at);
    k_if_close(&first, NULL, NULL);
}
