/* Embedding bags of all tables of a model in one launch, on GPUs.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Features, classes, checks and the sum of a bag are those of every target (bag/bag.c).
 * Here a tile is a few bags of one feature, and a thread owns a column of one bag, or
 * 16 bytes of columns: a row of a table is read by neighbouring threads, and an id by
 * all threads of its bag at once.
 *
 *   grid       blocks of a few bags, feature after feature
 *   thread     columns (bag, some lanes) of the block, THREADS apart
 */
#include "passes/lower/gpu/gpu.h"

#include "passes/lower/bag/bag.h"

enum { THREADS = 256 };

static void emit_feature(const bag_class *c, ig_builder *b, ig_value *number,
                         ig_value *const range[2], bag_ahead *ahead) {
    (void)ahead;
    bag_cursor at = { 0 };
    ig_value *bags[2];
    bag_open_feature(c, b, number, &at);
    bag_open_tiles(c, b, number, &at, range, bags);
    ig_value *per = k_i64(b, c->features[0].dim / c->lanes);
    ig_value *count = k_mul(b, k_sub(b, bags[1], bags[0]), per);
    ig_value *thread = ig_gpu_thread(b), *zero = k_i64(b, 0);
    k_loop loop = ig_gpu_share_out(c->lower, b, thread, zero, count);
    ig_value *bag = k_add(&loop.b, bags[0], k_div(&loop.b, loop.index, per));
    at.thread_column = k_mod(&loop.b, loop.index, per);
    at.thread_column = k_mul(&loop.b, at.thread_column, k_i64(&loop.b, c->lanes));
    bag_open(c, &loop.b, &at, bag);
    bag_emit_columns(c, &loop.b, &at, bag, 1);
    k_loop_close(&loop, NULL, 0);
}

ig_status ig_lower_gpu_bag(ig_lower *lower) {
    lower->threads = THREADS;
    return bag_lower(lower, emit_feature);
}
