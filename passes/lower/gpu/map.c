/* Elementwise regions and copies, on GPUs.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   grid       blocks of CHUNK elements of the result, in row-major order
 *   thread     elements THREADS apart: a warp reads and writes neighbours
 */
#include "passes/lower/gpu/gpu.h"

enum { THREADS = 256, CHUNK = 4 * THREADS };

typedef struct map_space {
    ig_lower *lower;
    const ig_type *type;
    ig_value *thread, *count;
} map_space;

static void split_element(const map_space *s, ig_builder *b, ig_value *element,
                          ig_value **index) {
    for (uint32_t d = s->type->rank; d-- > 1;) {
        ig_value *extent = ig_lower_dim(s->lower, s->type->dims[d]);
        index[d] = k_mod(b, element, extent);
        element = k_div(b, element, extent);
    }
    index[0] = element;
}

static void emit_tile(void *user, ig_builder *b, ig_value *tile) {
    const map_space *s = user;
    ig_value *from = k_mul(b, tile, k_i64(b, CHUNK));
    ig_value *to = k_min(b, s->count, k_add(b, from, k_i64(b, CHUNK)));
    k_loop loop = ig_gpu_share_out(s->lower, b, s->thread, from, to);
    ig_value *index[IG_TENSOR_RANK];
    split_element(s, &loop.b, loop.index, index);
    ig_map values;
    ig_map_init(&values, s->lower->arena);
    ig_site site = { .b = &loop.b,
                     .lanes = 1,
                     .rank = s->type->rank,
                     .dims = s->type->dims,
                     .index = index,
                     .values = &values };
    ig_lower_store_yields(s->lower, &site);
    k_loop_close(&loop, NULL, 0);
}

ig_status ig_lower_gpu_map(ig_lower *lower) {
    map_space s = { .lower = lower, .type = lower->outs[0].type };
    ig_dim count = ig_type_count(lower->module, s.type);
    lower->name = ig_lower_name(lower, lower->body->first->next ? "map" : "copy");
    lower->threads = THREADS;
    lower->grid = ig_lower_ceil_div(lower, count, CHUNK);
    s.count = ig_lower_dim(lower, count);
    s.thread = ig_gpu_thread(&lower->b);
    ig_lower_each_tile(lower, emit_tile, &s);
    return IG_OK;
}
