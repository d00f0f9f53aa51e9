/* The GPU's schedules by family, and their helpers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/lower/gpu/gpu.h"

#include "passes/lower/serial/serial.h"

#include <assert.h>

/* Families without a schedule of their own: a tile is the work of one thread, as a CPU
 * does it with one lane, and the threads of a block have tiles of their own; or it is a
 * line that a team goes over (team.h). */
#define SERIAL_FAMILIES(ROW)                                                     \
    ROW(gather)                                                                  \
    ROW(reduce)                                                                  \
    ROW(softmax)                                                                 \
    ROW(pad)                                                                     \
    ROW(scan) ROW(range) ROW(scatter) ROW(forest) ROW(arg) ROW(search) ROW(sort) \
        ROW(suppress) ROW(random) ROW(conv) ROW(pool)

static ig_op *find_op(const ig_lower *lower, ig_opcode code) {
    ig_op *op = lower->kernel->body.first;
    while (op && op->code != code) {
        op = op->next;
    }
    assert(op && "a schedule goes over its tiles");
    return op;
}

/* Block b has the tiles from b * threads on, thread t every one of them that is t, or t
 * more than a multiple of the threads. */
static void share_tiles(ig_lower *lower) {
    ig_op *tiles = find_op(lower, IG_OP_tiles);
    ig_op *loop = tiles->results[0].uses->user;
    assert(loop->code == IG_OP_for && "tiles are gone over in a loop");
    ig_value *count = ig_lower_param(lower, lower->grid);
    ig_builder b = ig_builder_before(tiles);
    ig_value *range[2];
    k_tiles(&b, &range[0], &range[1]);
    ig_value *threads = k_i64(&b, IG_SERIAL_THREADS);
    ig_value *begin = k_add(&b, k_mul(&b, range[0], threads), ig_gpu_thread(&b));
    ig_value *end = k_min(&b, k_mul(&b, range[1], threads), count);
    ig_value_replace(&tiles->results[0], begin);
    ig_value_replace(&tiles->results[1], end);
    ig_use_set(&loop->operands[2], threads);
    ig_op_erase(tiles);
    lower->grid = ig_lower_ceil_div(lower, lower->grid, IG_SERIAL_THREADS);
    lower->threads = IG_SERIAL_THREADS;
}

static ig_status lower_serial(ig_lower *lower, ig_lower_fn schedule) {
    lower->threads = 1; /* as many as the schedule has in mind */
    IG_TRY(schedule(lower));
    if (lower->threads == 1) {
        share_tiles(lower);
    }
    return IG_OK;
}

#define SCHEDULE(name)                                      \
    static ig_status lower_serial_##name(ig_lower *lower) { \
        return lower_serial(lower, ig_lower_serial_##name); \
    }
SERIAL_FAMILIES(SCHEDULE)
#undef SCHEDULE

const ig_lower_fn ig_lower_gpu[IG_FAMILY_COUNT] = {
    [IG_FAMILY_gemm] = ig_lower_gpu_gemm,
    [IG_FAMILY_dot] = ig_lower_gpu_dot,
    [IG_FAMILY_bag] = ig_lower_gpu_bag,
    [IG_FAMILY_interact] = ig_lower_gpu_interact,
    [IG_FAMILY_map] = ig_lower_gpu_map,
    [IG_FAMILY_copy] = ig_lower_gpu_map,
#define ROW(name) [IG_FAMILY_##name] = lower_serial_##name,
    SERIAL_FAMILIES(ROW)
#undef ROW
};

k_loop ig_gpu_share_out(const ig_lower *lower, ig_builder *b, ig_value *thread,
                        ig_value *from, ig_value *to) {
    ig_value *step = k_i64(b, lower->threads);
    return k_loop_open(b, k_add(b, from, thread), to, step, NULL, 0);
}
