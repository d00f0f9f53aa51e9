/* Convolution, on CPUs: windows without padding (compose/window.c pads).
 * SPDX-License-Identifier: Apache-2.0
 *
 *   out[n, o, p…] = epilogue(bias[o] + sum over k…, c of
 *                            x[n, c, p * stride + k * dilation …] * w[o, c, k…])
 *
 * Lanes run along the last axis of space.  A block is OUTS channels of one group by
 * VECTORS vectors of a row: each vector of x that is loaded meets OUTS weights, which
 * are broadcast from memory.  Weights keep their layout.  Every element is one chain of
 * muladds, whatever the block, so that bits depend on the shape alone.  It goes over
 * channels inside of taps, and the bias comes last, as with channels last
 * (conv_panels.c): a layer gives the same bits whether its weights are constants or
 * arguments.  More products than one pass of those has go over taps inside of
 * channels, which needs fewer lines of the cache.
 *
 * A depthwise convolution (a channel a group) has one channel a block and more vectors.
 *
 * Windows of one element, side by side, know no rows: their axes of space are one.
 *
 *   grid       images x groups x chunks of rows x blocks of channels: a chunk of x
 *              stays in caches while the blocks pass; a single row is cut into
 *              chunks of columns
 */
#include "ir/semantics/panels.h"
#include "passes/lower/serial/window.h"

#include <assert.h>

enum { OUTS = 8, VECTORS = 6, ROWS = 8, COLUMNS = 768 };

typedef struct conv {
    ig_lower *lower;
    const ig_op *op;
    const ig_lower_operand *x, *w, *bias;
    const ig_type *out; /* of the op, with merged axes of space */
    uint32_t last;
    uint32_t lanes, outs, vectors;
    ig_dtype wide;
    ig_dim group_outs, group_ins, blocks, chunks;
    bool is_ragged;                /* the last block of a group has fewer channels */
    bool is_row;                   /* a single row: chunks are of columns */
    uint32_t axes[IG_TENSOR_RANK]; /* of the weights, as sums go over them */
} conv;

/* The position of a block. */
typedef struct block {
    const conv *c;
    ig_value *index[IG_TENSOR_RANK]; /* of out: image, first channel, row */
    ig_value *left;                  /* channels from the first on in the group */
    ig_value *x_at;                  /* of the row, first channel of the group */
    ig_value *w_at[OUTS];
    uint32_t vectors;
    ig_value *count; /* valid lanes; NULL: all */
} block;

static ig_value *stride_of(const conv *c, const ig_lower_operand *x, uint32_t axis) {
    return ig_lower_dim(c->lower, x->strides[axis]);
}

/* ---- sums ---- */

static void multiply_block(const block *k, ig_builder *b, ig_value *x_at,
                           ig_value *w_at, ig_value **sums) {
    const conv *c = k->c;
    ig_value *x[VECTORS];
    int64_t apart = ig_lower_entry(c->op, IG_conv_strides, c->last - 2);
    ig_value *stride = k_mul(b, stride_of(c, c->x, c->last), k_i64(b, apart));
    for (uint32_t v = 0; v < k->vectors; v++) {
        ig_value *skipped = k_mul(b, stride, k_i64(b, (int64_t)v * c->lanes));
        ig_value *at = k_add(b, x_at, skipped);
        x[v] = k_load_apart(b, c->x->buffer, at, stride, c->lanes, k->count);
        x[v] = k_cast(b, x[v], c->wide);
    }
    for (uint32_t o = 0; o < c->outs; o++) {
        ig_value *w = k_load(b, c->w->buffer, k_add(b, k->w_at[o], w_at), 1);
        w = k_splat(b, k_cast(b, w, c->wide), c->lanes);
        for (uint32_t v = 0; v < k->vectors; v++) {
            ig_value **sum = &sums[o * k->vectors + v];
            *sum = k_muladd(b, x[v], w, *sum);
        }
    }
}

/* The loop over the weights' axis number `nth` of those that sums go over, and those
 * after it; `sums` before and after. */
static void sum_axis(const block *k, ig_builder *b, uint32_t nth, ig_value *x_at,
                     ig_value *w_at, ig_value **sums) {
    const conv *c = k->c;
    if (nth == c->last) {
        multiply_block(k, b, x_at, w_at, sums);
        return;
    }
    uint32_t count = c->outs * k->vectors, axis = c->axes[nth];
    ig_dim extent = c->w->type->dims[axis];
    int64_t apart = axis > 1 ? ig_lower_entry(c->op, IG_conv_dilations, axis - 2) : 1;
    if (ig_dim_is(extent, 1)) {
        sum_axis(k, b, nth + 1, x_at, w_at, sums);
        return;
    }
    ig_value *end = ig_lower_dim(c->lower, extent);
    k_loop loop = k_loop_open(b, k_i64(b, 0), end, k_i64(b, 1), sums, count);
    ig_value *inner[OUTS * VECTORS];
    for (uint32_t i = 0; i < count; i++) {
        inner[i] = loop.carried[i];
    }
    ig_builder *in = &loop.b;
    ig_value *x_step = k_mul(in, stride_of(c, c->x, axis), k_i64(in, apart));
    ig_value *w_step = stride_of(c, c->w, axis);
    x_at = k_add(in, x_at, k_mul(in, loop.index, x_step));
    w_at = k_add(in, w_at, k_mul(in, loop.index, w_step));
    sum_axis(k, in, nth + 1, x_at, w_at, inner);
    k_loop_close(&loop, inner, count);
    for (uint32_t i = 0; i < count; i++) {
        sums[i] = loop.results[i];
    }
}

/* ---- a block ---- */

static void add_bias(const block *k, ig_builder *b, ig_value **sums) {
    const conv *c = k->c;
    for (uint32_t o = 0; c->bias && o < c->outs; o++) {
        ig_value *max = k_sub(b, k->left, k_i64(b, 1));
        ig_value *own = k_min(b, k_i64(b, o), max);
        ig_value *at = k_mul(b, k_add(b, k->index[1], own), stride_of(c, c->bias, 0));
        ig_value *bias = k_cast(b, k_load(b, c->bias->buffer, at, 1), c->wide);
        bias = k_splat(b, bias, c->lanes);
        for (uint32_t v = 0; v < k->vectors; v++) {
            ig_value **sum = &sums[o * k->vectors + v];
            *sum = k_add(b, *sum, bias);
        }
    }
}

static void store_channel(const block *k, ig_builder *b, uint32_t o, ig_value *column,
                          ig_value *const *sums) {
    const conv *c = k->c;
    ig_value *index[IG_TENSOR_RANK];
    for (uint32_t d = 0; d < c->last; d++) {
        index[d] = k->index[d];
    }
    index[1] = k_add(b, k->index[1], k_i64(b, o));
    for (uint32_t v = 0; v < k->vectors; v++) {
        ig_map values;
        ig_map_init(&values, c->lower->arena);
        ig_value *sum = k_cast(b, sums[o * k->vectors + v], (ig_dtype)c->out->dtype);
        ig_map_set_id(&values, IG_MAP_PTR(&c->op->results[0]), sum);
        index[c->last] = k_add(b, column, k_i64(b, (int64_t)v * c->lanes));
        ig_site site = { .b = b,
                         .lanes = c->lanes,
                         .rank = c->last + 1,
                         .dims = c->out->dims,
                         .index = index,
                         .count = k->count,
                         .values = &values };
        ig_lower_store_yields(c->lower, &site);
    }
}

static void emit_block(const block *k, ig_builder *b, ig_value *column) {
    const conv *c = k->c;
    ig_value *sums[OUTS * VECTORS];
    int64_t apart = ig_lower_entry(c->op, IG_conv_strides, c->last - 2);
    ig_value *step = k_mul(b, stride_of(c, c->x, c->last), k_i64(b, apart));
    ig_value *x_at = k_add(b, k->x_at, k_mul(b, column, step));
    ig_value *zero = k_const_vector(b, c->wide, c->lanes, 0.0);
    for (uint32_t i = 0; i < c->outs * k->vectors; i++) {
        sums[i] = zero;
    }
    sum_axis(k, b, 0, x_at, k_i64(b, 0), sums);
    add_bias(k, b, sums);
    for (uint32_t o = 0; o < c->outs; o++) {
        if (!c->is_ragged || o == 0) {
            store_channel(k, b, o, column, sums);
            continue;
        }
        ig_value *is_there = k_compare(b, IG_OP_lt, k_i64(b, o), k->left);
        k_if store = k_if_open(b, is_there, NULL, 0);
        store_channel(k, &store.then, o, column, sums);
        k_if_close(&store, NULL, NULL);
    }
}

/* ---- a row: blocks of all vectors, then single ones, the last with a count ---- */

static void emit_row(block *k, ig_builder *b, ig_value *from, ig_value *to) {
    const conv *c = k->c;
    ig_value *step = k_i64(b, (int64_t)c->vectors * c->lanes);
    ig_value *count = k_div(b, k_sub(b, to, from), step);
    ig_value *whole = k_add(b, from, k_mul(b, count, step));
    k->vectors = c->vectors;
    k->count = NULL;
    k_loop loop = k_loop_open(b, from, whole, step, NULL, 0);
    emit_block(k, &loop.b, loop.index);
    k_loop_close(&loop, NULL, 0);
    if (c->vectors * c->lanes == 1) {
        return;
    }
    k->vectors = 1;
    k_loop tail = k_loop_open(b, whole, to, k_i64(b, c->lanes), NULL, 0);
    k->count = c->lanes == 1 ? NULL : k_sub(&tail.b, to, tail.index);
    emit_block(k, &tail.b, tail.index);
    k_loop_close(&tail, NULL, 0);
}

/* Row `number` of the image and channels that the block has. */
static void place_row(block *k, ig_builder *b, ig_value *number, ig_value *group) {
    const conv *c = k->c;
    ig_lower_split_rows(c->lower, b, c->out, 2, number, k->index);
    ig_value *first = k_mul(b, group, ig_lower_dim(c->lower, c->group_ins));
    k->x_at = k_add(b, k_mul(b, k->index[0], stride_of(c, c->x, 0)),
                    k_mul(b, first, stride_of(c, c->x, 1)));
    for (uint32_t d = 2; d < c->last; d++) {
        int64_t apart = ig_lower_entry(c->op, IG_conv_strides, d - 2);
        ig_value *step = k_mul(b, stride_of(c, c->x, d), k_i64(b, apart));
        k->x_at = k_add(b, k->x_at, k_mul(b, k->index[d], step));
    }
}

/* Channels of the block that do not exist read the weights of the last one. */
static void place_weights(block *k, ig_builder *b) {
    const conv *c = k->c;
    for (uint32_t o = 0; o < c->outs; o++) {
        ig_value *own = k_i64(b, o);
        if (c->is_ragged) {
            own = k_min(b, own, k_sub(b, k->left, k_i64(b, 1)));
        }
        ig_value *channel = k_add(b, k->index[1], own);
        k->w_at[o] = k_mul(b, channel, stride_of(c, c->w, 0));
    }
}

static void emit_tile(void *user, ig_builder *b, ig_value *tile) {
    const conv *c = user;
    block k = { .c = c };
    ig_value *chunks = ig_lower_dim(c->lower, c->chunks);
    ig_value *blocks = ig_lower_dim(c->lower, c->blocks);
    ig_value *groups = k_i64(b, ig_attr_int(c->op, IG_conv_group, 1));
    ig_value *outs = ig_lower_dim(c->lower, c->group_outs);
    ig_value *number = k_mod(b, tile, blocks), *rest = k_div(b, tile, blocks);
    ig_value *chunk = k_mod(b, rest, chunks);
    rest = k_div(b, rest, chunks);
    ig_value *group = k_mod(b, rest, groups);
    ig_value *skipped = k_mul(b, number, k_i64(b, c->outs));
    k.index[0] = k_div(b, rest, groups);
    k.index[1] = k_add(b, k_mul(b, group, outs), skipped);
    k.left = k_sub(b, outs, skipped);
    place_weights(&k, b);
    ig_value *width = ig_lower_dim(c->lower, c->out->dims[c->last]);
    if (c->is_row) {
        ig_value *from = k_mul(b, chunk, k_i64(b, COLUMNS));
        ig_value *to = k_min(b, k_add(b, from, k_i64(b, COLUMNS)), width);
        place_row(&k, b, k_i64(b, 0), group);
        emit_row(&k, b, from, to);
        return;
    }
    ig_value *rows = ig_lower_dim(c->lower, ig_lower_row_count(c->lower, c->out, 2));
    k_loop loop = ig_lower_open_lines(b, chunk, rows, ROWS);
    place_row(&k, &loop.b, loop.index, group);
    emit_row(&k, &loop.b, k_i64(&loop.b, 0), width);
    k_loop_close(&loop, NULL, 0);
}

/* ---- the schedule ---- */

/* Windows of one element, side by side, take the axes of space as one.  A bias runs
 * along channels and takes no part, unless the epilogue broadcasts it along space. */
static void merge_space(conv *c) {
    if (c->bias && !ig_value_has_one_use(c->op->operands[2].value)) {
        return;
    }
    for (uint32_t d = 2; d <= c->last; d++) {
        if (!ig_dim_is(c->w->type->dims[d], 1) ||
            ig_lower_entry(c->op, IG_conv_strides, d - 2) != 1) {
            return;
        }
    }
    uint64_t apart = c->bias ? (uint64_t)1 << (c->bias - c->lower->ins) : 0;
    c->out = ig_lower_merge_dims(c->lower, c->out, 2, c->out->rank, apart);
    c->last = c->out->rank - 1;
}

/* Axis 1 is the channels'. */
static void choose_order(conv *c) {
    int64_t products = 0;
    const ig_module *module = c->lower->module;
    ig_dim all = ig_dim_product(c->lower->module, c->w->type->dims + 1, c->last);
    bool is_short = ig_dim_constant(module, all, &products) &&
                    products <= IG_PANEL_PASS;
    for (uint32_t i = 0; i < c->last; i++) {
        c->axes[i] = !is_short ? i + 1 : i + 1 < c->last ? i + 2 : 1;
    }
}

/* Channels of a block: the largest divisor of a group's, where that is enough. */
static void choose_block(conv *c) {
    uint32_t max = c->lower->target->vector_registers >= 32 ? OUTS : 4;
    int64_t known = 0;
    c->outs = max;
    c->is_ragged = true;
    if (ig_dim_constant(c->lower->module, c->group_outs, &known) && known > 0) {
        c->outs = known < max ? (uint32_t)known : max;
        while (c->outs > 1 && known % c->outs != 0 && 2 * c->outs > max) {
            c->outs--;
        }
        c->outs = known % c->outs == 0 || known < max ? c->outs : max;
        c->is_ragged = known % c->outs != 0;
    }
    c->vectors = c->outs >= 8 ? 2 : c->outs >= 4 ? 3 : c->outs >= 2 ? 4 : VECTORS;
    int64_t width = 0;
    bool is_known = ig_dim_constant(c->lower->module, c->out->dims[c->last], &width);
    while (is_known && c->vectors > 1 && (int64_t)c->vectors * c->lanes > width) {
        c->vectors--;
    }
}

/* Can everything but the op's own operands be read in vectors? */
static bool has_vectors(ig_lower *lower, const conv *c) {
    ig_lower others = ig_lower_without(lower, ig_lower_only_of(lower, c->op));
    return ig_lower_is_vectorizable(&others, c->last + 1, c->out->dims) &&
           ig_dim_is(lower->outs[0].strides[c->last], 1);
}

static void choose_grid(conv *c) {
    ig_lower *lower = c->lower;
    ig_module *module = lower->module;
    int64_t group = ig_attr_int(c->op, IG_conv_group, 1);
    ig_dim rows = ig_lower_row_count(lower, c->out, 2);
    c->blocks = ig_lower_ceil_div(lower, c->group_outs, c->outs);
    c->is_row = c->last == 2;
    c->chunks = c->is_row ? ig_lower_ceil_div(lower, c->out->dims[c->last], COLUMNS)
                          : ig_lower_ceil_div(lower, rows, ROWS);
    ig_dim tiles = ig_lower_mul(lower, c->out->dims[0], c->chunks);
    tiles = ig_lower_mul(lower, tiles, c->blocks);
    lower->grid = ig_lower_mul(lower, tiles, ig_dim_const(module, group));
    ig_dim taps = ig_dim_product(module, c->w->type->dims + 1, c->last);
    ig_dim macs = ig_lower_mul(lower, ig_type_count(module, c->out), taps);
    lower->cost = ig_lower_ceil_div(lower, macs, 16);
}

ig_status ig_lower_serial_conv(ig_lower *lower) {
    const ig_op *op = ig_lower_anchor(lower, IG_OP_conv);
    assert(op && "the family's body has its anchor");
    conv c = { .lower = lower,
               .op = op,
               .x = ig_lower_input(lower, op, 0),
               .w = ig_lower_input(lower, op, 1),
               .bias = op->operand_count > 2 ? ig_lower_input(lower, op, 2) : NULL,
               .out = op->results[0].type,
               .last = op->results[0].type->rank - 1 };
    bool is_plain = !ig_attr_int(op, IG_conv_transposed, 0) &&
                    !ig_attr_is_set(op, IG_conv_before) &&
                    !ig_attr_is_set(op, IG_conv_after);
    if (!c.x || !c.w || !is_plain) {
        return ig_lower_unsupported(lower, "a convolution of this form");
    }
    ig_module *module = lower->module;
    ig_dim group = ig_dim_const(module, ig_attr_int(op, IG_conv_group, 1));
    ig_dtype dtype = (ig_dtype)c.out->dtype;
    bool is_narrow = ig_dtype_is_float(dtype) && ig_dtypes[dtype].bits < 32;
    c.wide = is_narrow ? IG_DT_f32 : dtype;
    c.group_outs = ig_dim_exact_div(module, c.out->dims[1], group);
    c.group_ins = c.w->type->dims[1];
    merge_space(&c);
    choose_order(&c);
    c.lanes = has_vectors(lower, &c) ? ig_lower_lanes(lower, c.wide) : 1;
    choose_block(&c);
    choose_grid(&c);
    lower->name = ig_lower_name(lower, "conv");
    ig_lower_each_tile(lower, emit_tile, &c);
    return IG_OK;
}
