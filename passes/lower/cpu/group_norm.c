/* Normalisation of groups of channels, channels last, on CPUs.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   mean = sum(x) / n    c = x - mean    d = sum(c) / n    v = sum(c²) / n - d²
 *   out  = epilogue((c - d) * (1 / sqrt(v + epsilon)))
 *
 * as serial/norm.c has it, over space and the channels of a group.  Lanes are channels,
 * which are added to groups afterwards.  Three walks over an image, which stays in the
 * caches between them; some vectors side by side go through it together, so that lines
 * are read whole.  Sums of PART positions are added up one after the other, which
 * bounds rounding errors.
 *
 *   grid       images x blocks of channels: whole groups
 */
#include "ir/build/expr.h"
#include "passes/lower/cpu/cpu.h"

#include <assert.h>
#include <string.h>

enum { VECTORS = 4, PART = 256, TOTALS = 2 };
enum { MEAN, SHIFT, FACTOR, ARRAYS }; /* of a block's channels; sums before */

typedef struct group_norm {
    ig_lower *lower;
    const ig_op *op;
    const ig_lower_operand *x;
    const ig_type *out;
    uint32_t last, lanes, store_lanes;
    uint32_t vectors;               /* of channels, side by side */
    bool is_even;                   /* channels of a block are whole vectors */
    int64_t channels, group, block; /* channels of x, of a group, of a tile */
    ig_value *arrays[ARRAYS];
    ig_value *positions; /* of an image */
} group_norm;

/* Channels begin … end of one image. */
typedef struct block {
    const group_norm *n;
    ig_value *image; /* of x */
    ig_value *index, *begin, *end;
    uint32_t vectors; /* of this walk */
    ig_value *count;  /* lanes that count, or NULL */
    bool is_centred;  /* differences to the mean are summed up, and their squares */
} block;

/* ---- sums of channels ---- */

static uint32_t total_count(const block *k) {
    return k->vectors * (k->is_centred ? TOTALS : 1);
}

static ig_value *array_at(const block *k, ig_builder *b, uint32_t array,
                          ig_value *channel) {
    ig_value *at = k_sub(b, channel, k->begin);
    return k_load(b, k->n->arrays[array], at, k->n->lanes);
}

/* The elements of a position, from `channel` on. */
static void add_position(const block *k, ig_builder *b, ig_value *position,
                         ig_value *channel, ig_value *const *means, ig_value **totals) {
    const group_norm *n = k->n;
    ig_value *row = k_add(b, k_mul(b, position, k_i64(b, n->channels)), channel);
    for (uint32_t v = 0; v < k->vectors; v++) {
        ig_value *at = k_add(b, row, k_i64(b, (int64_t)v * n->lanes));
        ig_value *x = k_load_count(b, k->image, at, n->lanes, k->count);
        if (k->is_centred) {
            x = k_sub(b, x, means[v]);
            ig_value **squares = &totals[k->vectors + v];
            *squares = k_muladd(b, x, x, *squares);
        }
        totals[v] = k_add(b, totals[v], x);
    }
}

/* The sums of PART positions from `first` on. */
static void add_part(const block *k, ig_builder *b, ig_value *first, ig_value *channel,
                     ig_value *const *means, ig_value **totals) {
    uint32_t count = total_count(k);
    ig_value *sums[VECTORS * TOTALS];
    for (uint32_t i = 0; i < count; i++) {
        sums[i] = k_const_vector(b, IG_DT_f32, k->n->lanes, 0.0);
    }
    ig_value *end = k_min(b, k->n->positions, k_add(b, first, k_i64(b, PART)));
    k_loop loop = k_loop_open(b, first, end, k_i64(b, 1), sums, count);
    memcpy(sums, loop.carried, count * sizeof *sums);
    add_position(k, &loop.b, loop.index, channel, means, sums);
    k_loop_close(&loop, sums, count);
    for (uint32_t i = 0; i < count; i++) {
        totals[i] = k_add(b, totals[i], loop.results[i]);
    }
}

/* Sums of k->vectors vectors from `channel` on go to the arrays. */
static void sum_vectors(const block *k, ig_builder *b, ig_value *channel) {
    const group_norm *n = k->n;
    uint32_t count = total_count(k);
    ig_value *totals[VECTORS * TOTALS], *means[VECTORS] = { NULL };
    for (uint32_t v = 0; v < k->vectors && k->is_centred; v++) {
        ig_value *own = k_add(b, channel, k_i64(b, (int64_t)v * n->lanes));
        means[v] = array_at(k, b, MEAN, own);
    }
    for (uint32_t i = 0; i < count; i++) {
        totals[i] = k_const_vector(b, IG_DT_f32, n->lanes, 0.0);
    }
    k_loop parts = k_loop_open(b, k_i64(b, 0), n->positions, k_i64(b, PART), totals,
                               count);
    memcpy(totals, parts.carried, count * sizeof *totals);
    add_part(k, &parts.b, parts.index, channel, means, totals);
    k_loop_close(&parts, totals, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t array = !k->is_centred ? MEAN : i < k->vectors ? SHIFT : FACTOR;
        ig_value *own = k_add(b, channel,
                              k_i64(b, (int64_t)(i % k->vectors) * n->lanes));
        k_store(b, parts.results[i], n->arrays[array], k_sub(b, own, k->begin));
    }
}

static void sum_channels(block k, ig_builder *b) {
    int64_t lanes = k.n->lanes;
    ig_value *step = k_i64(b, k.n->vectors * lanes);
    ig_value *whole = k_div(b, k_sub(b, k.end, k.begin), step);
    ig_value *end = k_add(b, k.begin, k_mul(b, whole, step));
    k.vectors = k.n->vectors;
    k_loop wide = k_loop_open(b, k.begin, end, step, NULL, 0);
    sum_vectors(&k, &wide.b, wide.index);
    k_loop_close(&wide, NULL, 0);
    k.vectors = 1;
    k_loop rest = k_loop_open(b, end, k.end, k_i64(b, lanes), NULL, 0);
    k.count = k.n->is_even ? NULL : k_sub(&rest.b, k.end, rest.index);
    sum_vectors(&k, &rest.b, rest.index);
    k_loop_close(&rest, NULL, 0);
}

/* ---- groups ---- */

/* The mean of a group's sums in an array. */
static ig_value *mean_of(const group_norm *n, ig_builder *b, uint32_t array,
                         ig_value *first) {
    ig_value *zero = k_const(b, IG_DT_f32, 0);
    k_loop loop = k_loop_open(b, k_i64(b, 0), k_i64(b, n->group), k_i64(b, 1), &zero,
                              1);
    ig_value *at = k_add(&loop.b, first, loop.index);
    ig_value *sum = k_add(&loop.b, loop.carried[0],
                          k_load(&loop.b, n->arrays[array], at, 1));
    k_loop_close(&loop, &sum, 1);
    ig_value *count = k_mul(b, n->positions, k_i64(b, n->group));
    return k_binary(b, IG_OP_div, loop.results[0], k_cast(b, count, IG_DT_f32));
}

static void fill_group(const group_norm *n, ig_builder *b, uint32_t array,
                       ig_value *first, ig_value *x) {
    k_loop loop = k_loop_open(b, k_i64(b, 0), k_i64(b, n->group), k_i64(b, 1), NULL, 0);
    k_store(&loop.b, x, n->arrays[array], k_add(&loop.b, first, loop.index));
    k_loop_close(&loop, NULL, 0);
}

/* Each group's values in position of its channels' sums. */
static void join_groups(const block *k, ig_builder *b) {
    const group_norm *n = k->n;
    ig_value *width = k_sub(b, k->end, k->begin);
    k_loop loop = k_loop_open(b, k_i64(b, 0), width, k_i64(b, n->group), NULL, 0);
    ig_builder *in = &loop.b;
    if (!k->is_centred) {
        fill_group(n, in, MEAN, loop.index, mean_of(n, in, MEAN, loop.index));
        k_loop_close(&loop, NULL, 0);
        return;
    }
    double epsilon = ig_attr_float(n->op, IG_group_norm_last_epsilon, 0.0);
    ig_value *shift = mean_of(n, in, SHIFT, loop.index);
    ig_value *v = mean_of(n, in, FACTOR, loop.index);
    v = k_max(in, k_sub(in, v, k_mul(in, shift, shift)), k_const(in, IG_DT_f32, 0.0));
    v = k_unary(in, IG_OP_sqrt, k_add(in, v, k_const(in, IG_DT_f32, epsilon)));
    fill_group(n, in, SHIFT, loop.index, shift);
    fill_group(n, in, FACTOR, loop.index,
               k_binary(in, IG_OP_div, k_const(in, IG_DT_f32, 1.0), v));
    k_loop_close(&loop, NULL, 0);
}

/* ---- results ---- */

static void store_vector(const block *k, ig_builder *b, ig_value *const *index,
                         ig_value *row, ig_value *count) {
    const group_norm *n = k->n;
    uint32_t lanes = n->store_lanes;
    ig_value *channel = index[n->last], *at = k_sub(b, channel, k->begin);
    ig_value *x = k_load_count(b, k->image, k_add(b, row, channel), lanes, count);
    x = k_sub(b, x, k_load(b, n->arrays[MEAN], at, lanes));
    x = k_sub(b, x, k_load(b, n->arrays[SHIFT], at, lanes));
    x = k_mul(b, x, k_load(b, n->arrays[FACTOR], at, lanes));
    ig_site site = { .b = b,
                     .lanes = lanes,
                     .rank = n->last + 1,
                     .dims = n->out->dims,
                     .index = index,
                     .count = count };
    ig_lower_store_anchor(n->lower, site, n->op, x);
}

/* All channels of the block at one position. */
static void store_position(const block *k, ig_builder *b, ig_value **index,
                           ig_value *position) {
    const group_norm *n = k->n;
    int64_t lanes = n->store_lanes;
    ig_value *step = k_i64(b, lanes);
    ig_value *row = k_mul(b, position, k_i64(b, n->channels));
    ig_value *whole = k_div(b, k_sub(b, k->end, k->begin), step);
    ig_value *end = k_add(b, k->begin, k_mul(b, whole, step));
    k_loop loop = k_loop_open(b, k->begin, end, step, NULL, 0);
    index[n->last] = loop.index;
    store_vector(k, &loop.b, index, row, NULL);
    k_loop_close(&loop, NULL, 0);
    if (lanes == 1 || n->is_even) {
        return;
    }
    k_if rest = k_if_open(b, k_compare(b, IG_OP_lt, end, k->end), NULL, 0);
    index[n->last] = end;
    store_vector(k, &rest.then, index, row, k_sub(&rest.then, k->end, end));
    k_if_close(&rest, NULL, NULL);
}

/* Places along the axes of space from `axis` on; `position`: their number so far. */
static void store_positions(const block *k, ig_builder *b, uint32_t axis,
                            ig_value **index, ig_value *position) {
    const group_norm *n = k->n;
    if (axis == n->last) {
        store_position(k, b, index, position);
        return;
    }
    ig_value *extent = ig_lower_dim(n->lower, n->out->dims[axis]);
    k_loop loop = k_loop_open(b, k_i64(b, 0), extent, k_i64(b, 1), NULL, 0);
    index[axis] = loop.index;
    position = k_add(&loop.b, k_mul(&loop.b, position, extent), loop.index);
    store_positions(k, &loop.b, axis + 1, index, position);
    k_loop_close(&loop, NULL, 0);
}

/* ---- the grid ---- */

static void emit_tile(void *user, ig_builder *b, ig_value *tile) {
    const group_norm *n = user;
    ig_value *index[IG_TENSOR_RANK], *width = k_i64(b, n->block);
    ig_value *blocks = k_i64(b, (n->channels + n->block - 1) / n->block);
    block k = { .n = n, .index = k_div(b, tile, blocks) };
    ig_value *size = k_mul(b, n->positions, k_i64(b, n->channels));
    k.image = k_offset(b, n->x->buffer, k_mul(b, k.index, size));
    k.begin = k_mul(b, k_mod(b, tile, blocks), width);
    k.end = k_min(b, k_add(b, k.begin, width), k_i64(b, n->channels));
    for (uint32_t i = 0; i < 2; i++) {
        k.is_centred = i == 1;
        sum_channels(k, b);
        join_groups(&k, b);
    }
    index[0] = k.index;
    store_positions(&k, b, 1, index, k_i64(b, 0));
}

/* Whole groups of about as many channels as a walk takes side by side, or all. */
static void choose_block(group_norm *n) {
    int64_t width = (int64_t)VECTORS * n->lanes;
    n->block = width % n->group == 0 && width < n->channels ? width : n->channels;
    int64_t room = (n->block + n->lanes - 1) / n->lanes * n->lanes;
    n->is_even = n->channels % n->lanes == 0 && n->block % n->lanes == 0;
    n->vectors = VECTORS;
    while (n->vectors > 1 && n->block < (int64_t)n->vectors * n->lanes) {
        n->vectors /= 2;
    }
    for (uint32_t i = 0; i < ARRAYS; i++) {
        n->arrays[i] = ig_cpu_scratch(n->lower, room);
    }
}

static bool has_vectors(ig_lower *lower, const group_norm *n) {
    ig_lower others = ig_lower_without(lower, ig_lower_only_of(lower, n->op));
    return ig_lower_is_vectorizable(&others, n->last + 1, n->out->dims) &&
           ig_dim_is(lower->outs[0].strides[n->last], 1);
}

ig_status ig_lower_cpu_group_norm(ig_lower *lower) {
    const ig_op *op = ig_lower_anchor(lower, IG_OP_group_norm_last);
    assert(op && "the family's body has its anchor");
    group_norm n = { .lower = lower,
                     .op = op,
                     .x = ig_lower_input(lower, op, 0),
                     .out = op->results->type,
                     .last = op->results->type->rank - 1u,
                     .lanes = ig_lower_lanes(lower, IG_DT_f32) };
    if (!n.x) {
        return ig_lower_unsupported(lower, "a norm of what the kernel computes");
    }
    ig_module *module = lower->module;
    n.channels = ig_dim_value(n.out->dims[n.last]);
    n.group = n.channels / ig_attr_int(op, IG_group_norm_last_groups, 1);
    n.store_lanes = has_vectors(lower, &n) ? n.lanes : 1;
    choose_block(&n);
    ig_dim positions = ig_dim_product(module, n.out->dims + 1, n.last - 1);
    n.positions = ig_lower_dim(lower, positions);
    int64_t blocks = (n.channels + n.block - 1) / n.block;
    lower->grid = ig_lower_mul(lower, n.out->dims[0], ig_dim_of(blocks));
    lower->cost = ig_lower_ceil_div(lower, ig_type_count(module, n.out), 2);
    lower->name = ig_lower_name(lower, "group_norm");
    ig_lower_each_tile(lower, emit_tile, &n);
    return IG_OK;
}
