/* Convolution of each channel by itself (depthwise), channels last, on CPUs.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   out[p…, c] = epilogue(sum over t… of
 *                         x[p * stride + t * dilation - before …, c] * w[t…, c])
 *
 * Lanes are channels.  Columns are the places along the last axis of space.  They go in
 * blocks of several columns and vectors, and a vector of x that several columns need is
 * loaded once for all of them.  Where that axis is known, so are the taps at its ends
 * that do not meet x, and the blocks there leave them out.  Where it is open, columns
 * whose windows are not within x go alone, by more vectors, over the taps that meet x.
 * Along the other axes of space a line goes over the taps that meet x in any case.
 *
 * An x of 8-bit integers is widened, less its zero point, as it is loaded.
 *
 * Every element is one chain of muladds over the taps in order, whatever the block.
 *
 *   grid       lines of the result (images and places of all but the last axis)
 */
#include "passes/lower/cpu/cpu.h"
#include "passes/lower/serial/window.h"

#include "base/checked.h"

#include <assert.h>

enum {
    LINES = 4,      /* a tile */
    BLOCK = 8,      /* vectors of a block */
    LINE_BLOCK = 7, /* columns, of lines that are known: 8 took a little longer */
    ALONE = 4,      /* vectors of a column by itself */
    UNROLLED = 8,   /* taps along the last axis, at most */
};

/* The last axis of space where it is known: of x and of the result, the zeros before x,
 * and the columns of the first and the last block; left is 0 where it is not. */
typedef struct known_line {
    int64_t extent, width, before;
    uint32_t left, right;
} known_line;

typedef struct conv_channels {
    ig_lower *lower;
    const ig_op *op;
    const ig_lower_operand *x, *w, *zero; /* zero: NULL where x is of floats */
    ig_value *zeros; /* as a vector of floats, loaded once a tile */
    const ig_type *out;
    uint32_t last;                    /* axis of the channels */
    uint32_t lanes, vectors, columns; /* of a block */
    known_line line;
    int64_t part; /* channels that a line goes over before the next; 0: all */
    int64_t taps; /* along the last axis of space; 0: not known, or many */
    bool is_heavy;
    ig_value *stage; /* local, of an epilogue that is long */
} conv_channels;

/* The taps of a window that meet x along an axis, from the first on; the position of
 * tap 0 in x (perhaps outside) and in w, and the steps to the next tap. */
typedef struct tap_range {
    ig_value *first, *end;
    ig_value *x_at, *x_step, *w_step;
} tap_range;

/* The position in the code being emitted. */
typedef struct position {
    const conv_channels *c;
    ig_value *index[IG_TENSOR_RANK]; /* of out; the last two: see below */
    tap_range axis[IG_TENSOR_RANK];  /* of each spatial axis */
    ig_value *image;                 /* of x */
    uint32_t columns, vectors;
    ig_value *column, *channel; /* the first ones */
    ig_value *channel_end;      /* of the part of the channels */
    ig_value *count;            /* valid lanes, of one vector; NULL: all */
    bool is_block; /* taps of the last axis meet x, but for those left out: */
    int64_t low,
        high; /* only positions low … high from the block's first tap are in x */
} position;

static ig_value *extent_of(const conv_channels *c, const ig_lower_operand *x,
                           uint32_t axis) {
    return ig_lower_dim(c->lower, x->type->dims[axis]);
}

static ig_value *stride_of(const conv_channels *c, const ig_lower_operand *x,
                           uint32_t axis) {
    return ig_lower_dim(c->lower, x->strides[axis]);
}

static int64_t stride_at(const conv_channels *c, uint32_t d) {
    return ig_lower_entry(c->op, IG_conv_channels_strides, d);
}

static int64_t dilation_at(const conv_channels *c, uint32_t d) {
    return ig_lower_entry(c->op, IG_conv_channels_dilations, d);
}

static ig_dim before_dim(const conv_channels *c, uint32_t d) {
    const ig_attr *before = &c->op->attrs[IG_conv_channels_before];
    return before->kind == IG_ATTR_NONE ? ig_dim_of(0) : before->as.dims[d];
}

static ig_value *before_of(const conv_channels *c, uint32_t d) {
    return ig_lower_dim(c->lower, before_dim(c, d));
}

/* max(0, ceil(a / b)); a may be negative. */
static ig_value *ceil_or_zero(ig_builder *b, ig_value *a, int64_t by) {
    return k_ceil_div(b, k_max(b, a, k_i64(b, 0)), by);
}

/* Of the window at `at` along spatial axis `d`. */
static tap_range taps_of(const conv_channels *c, ig_builder *b, uint32_t d,
                         ig_value *at) {
    int64_t apart = dilation_at(c, d);
    ig_value *size = extent_of(c, c->w, d), *extent = extent_of(c, c->x, d + 1);
    ig_value *stride = stride_of(c, c->x, d + 1);
    ig_value *start = k_sub(b, k_mul(b, at, k_i64(b, stride_at(c, d))),
                            before_of(c, d));
    ig_value *lacking = k_sub(b, k_i64(b, 0), start);
    return (tap_range){ .first = ceil_or_zero(b, lacking, apart),
                        .end = k_min(b, size,
                                     ceil_or_zero(b, k_sub(b, extent, start), apart)),
                        .x_at = k_mul(b, start, stride),
                        .x_step = k_mul(b, stride, k_i64(b, apart)),
                        .w_step = stride_of(c, c->w, d) };
}

/* ---- sums ---- */

static ig_value *load_vector(const position *p, ig_builder *b,
                             const ig_lower_operand *x, ig_value *at, uint32_t v) {
    int64_t skipped = (int64_t)v * p->c->lanes;
    return k_load_count(b, x->buffer, k_add(b, at, k_i64(b, skipped)), p->c->lanes,
                        p->count);
}

/* Of x, as floats. */
static ig_value *load_input(const position *p, ig_builder *b, ig_value *at,
                            uint32_t v) {
    const conv_channels *c = p->c;
    ig_value *x = k_cast(b, load_vector(p, b, c->x, at, v), IG_DT_f32);
    if (!c->zero) {
        return x;
    }
    return k_sub(b, x, c->zeros);
}

/* One tap of every column. */
static void multiply_tap(const position *p, ig_builder *b, ig_value *x_at,
                         ig_value *w_at, ig_value **sums) {
    const conv_channels *c = p->c;
    int64_t stride = stride_at(c, c->last - 2);
    ig_value *step = k_mul(b, stride_of(c, c->x, c->last - 1), k_i64(b, stride));
    for (uint32_t v = 0; v < p->vectors; v++) {
        ig_value *w = load_vector(p, b, c->w, w_at, v);
        for (uint32_t i = 0; i < p->columns; i++) {
            ig_value *at = k_add(b, x_at, k_mul(b, step, k_i64(b, i)));
            ig_value **sum = &sums[i * p->vectors + v];
            *sum = k_muladd(b, load_input(p, b, at, v), w, *sum);
        }
    }
}

/* The taps of the last axis, which are known: each element of x is loaded once. */
static void multiply_taps(const position *p, ig_builder *b, ig_value *x_at,
                          ig_value *w_at, ig_value **sums) {
    const conv_channels *c = p->c;
    int64_t stride = stride_at(c, c->last - 2), apart = dilation_at(c, c->last - 2);
    int64_t reach = (p->columns - 1) * stride + (c->taps - 1) * apart + 1;
    ig_value *x_step = stride_of(c, c->x, c->last - 1);
    ig_value *w_step = stride_of(c, c->w, c->last - 2), *w[UNROLLED];
    for (uint32_t v = 0; v < p->vectors; v++) {
        for (int64_t t = 0; t < c->taps; t++) {
            w[t] = load_vector(p, b, c->w,
                               k_add(b, w_at, k_mul(b, w_step, k_i64(b, t))), v);
        }
        for (int64_t j = p->low; j < reach && j < p->high; j++) {
            ig_value *x = NULL;
            for (uint32_t i = 0; i < p->columns; i++) {
                int64_t t = j - i * stride;
                if (t < 0 || t % apart != 0 || t / apart >= c->taps) {
                    continue;
                }
                ig_value *at = k_add(b, x_at, k_mul(b, x_step, k_i64(b, j)));
                x = x ? x : load_input(p, b, at, v);
                ig_value **sum = &sums[i * p->vectors + v];
                *sum = k_muladd(b, x, w[t / apart], *sum);
            }
        }
    }
}

/* The loop over the taps of spatial axis `d` and those after it. */
static void sum_axis(const position *p, ig_builder *b, uint32_t d, ig_value *x_at,
                     ig_value *w_at, ig_value **sums) {
    const conv_channels *c = p->c;
    const tap_range *t = &p->axis[d];
    uint32_t count = p->columns * p->vectors;
    bool is_last = d == c->last - 2;
    x_at = k_add(b, x_at, t->x_at);
    if (is_last && p->is_block && c->taps > 0) {
        multiply_taps(p, b, x_at, w_at, sums);
        return;
    }
    k_loop loop = k_loop_open(b, t->first, t->end, k_i64(b, 1), sums, count);
    ig_builder *in = &loop.b;
    ig_value *inner[K_CARRIED];
    for (uint32_t i = 0; i < count; i++) {
        inner[i] = loop.carried[i];
    }
    x_at = k_add(in, x_at, k_mul(in, loop.index, t->x_step));
    w_at = k_add(in, w_at, k_mul(in, loop.index, t->w_step));
    if (is_last) {
        multiply_tap(p, in, x_at, w_at, inner);
    } else {
        sum_axis(p, in, d + 1, x_at, w_at, inner);
    }
    k_loop_close(&loop, inner, count);
    for (uint32_t i = 0; i < count; i++) {
        sums[i] = loop.results[i];
    }
}

/* ---- results ---- */

static void store_vector(const position *p, ig_builder *b, ig_value *column,
                         ig_value *channel, ig_value *sum) {
    const conv_channels *c = p->c;
    ig_value *index[IG_TENSOR_RANK];
    ig_map values;
    ig_map_init(&values, c->lower->arena);
    ig_map_set_id(&values, IG_MAP_PTR(&c->op->results[0]), sum);
    for (uint32_t d = 0; d + 1 < c->last; d++) {
        index[d] = p->index[d];
    }
    index[c->last - 1] = column;
    index[c->last] = channel;
    ig_site site = { .b = b,
                     .lanes = c->lanes,
                     .rank = c->last + 1,
                     .dims = c->out->dims,
                     .index = index,
                     .count = p->count,
                     .values = &values };
    ig_lower_store_yields(c->lower, &site);
}

/* A long epilogue is emitted once and loops over the block, by way of memory. */
static void store_staged(const position *p, ig_builder *b, ig_value **sums) {
    const conv_channels *c = p->c;
    uint32_t count = p->columns * p->vectors;
    for (uint32_t i = 0; i < count; i++) {
        k_store(b, sums[i], c->stage, k_i64(b, (int64_t)i * c->lanes));
    }
    ig_value *vectors = k_i64(b, p->vectors), *lanes = k_i64(b, c->lanes);
    k_loop loop = k_loop_open(b, k_i64(b, 0), k_i64(b, count), k_i64(b, 1), NULL, 0);
    ig_builder *in = &loop.b;
    ig_value *sum = k_load(in, c->stage, k_mul(in, loop.index, lanes), c->lanes);
    ig_value *column = k_add(in, p->column, k_div(in, loop.index, vectors));
    ig_value *skipped = k_mul(in, k_mod(in, loop.index, vectors), lanes);
    store_vector(p, in, column, k_add(in, p->channel, skipped), sum);
    k_loop_close(&loop, NULL, 0);
}

static void emit_block(const position *p, ig_builder *b) {
    const conv_channels *c = p->c;
    ig_value *sums[K_CARRIED];
    for (uint32_t i = 0; i < p->columns * p->vectors; i++) {
        sums[i] = k_const_vector(b, IG_DT_f32, c->lanes, 0.0);
    }
    sum_axis(p, b, 0, k_add(b, p->image, p->channel), p->channel, sums);
    if (c->is_heavy) {
        store_staged(p, b, sums);
        return;
    }
    for (uint32_t i = 0; i < p->columns * p->vectors; i++) {
        ig_value *column = k_add(b, p->column, k_i64(b, i / p->vectors));
        int64_t skipped = (int64_t)(i % p->vectors) * c->lanes;
        store_vector(p, b, column, k_add(b, p->channel, k_i64(b, skipped)), sums[i]);
    }
}

/* ---- a line ---- */

/* The part's channels of the place's columns: `vectors` vectors at a time, then one. */
static void emit_channels(position p, ig_builder *b) {
    const conv_channels *c = p.c;
    ig_value *lanes = k_i64(b, c->lanes);
    ig_value *step = k_i64(b, (int64_t)p.vectors * c->lanes);
    ig_value *count = k_div(b, k_sub(b, p.channel_end, p.channel), step);
    ig_value *end = p.channel_end, *whole = k_add(b, p.channel, k_mul(b, count, step));
    p.count = NULL;
    k_loop loop = k_loop_open(b, p.channel, whole, step, NULL, 0);
    p.channel = loop.index;
    emit_block(&p, &loop.b);
    k_loop_close(&loop, NULL, 0);
    int64_t known = 0, each = (int64_t)p.vectors * c->lanes;
    if (ig_dim_constant(c->lower->module, c->x->type->dims[c->last], &known) &&
        known % each == 0 && c->part % each == 0) {
        return;
    }
    p.vectors = 1;
    k_loop rest = k_loop_open(b, whole, end, lanes, NULL, 0);
    p.channel = rest.index;
    p.count = c->lanes == 1 ? NULL : k_sub(&rest.b, end, rest.index);
    emit_block(&p, &rest.b);
    k_loop_close(&rest, NULL, 0);
}

/* Columns `from` to `to`, so many at a time; returns the first that is left. */
static ig_value *emit_columns(position p, ig_builder *b, ig_value *from, ig_value *to) {
    const conv_channels *c = p.c;
    ig_value *step = k_i64(b, p.columns);
    ig_value *count = k_div(b, k_sub(b, to, from), step);
    ig_value *end = k_add(b, from, k_mul(b, count, step));
    k_loop loop = k_loop_open(b, from, end, step, NULL, 0);
    p.column = loop.index;
    p.axis[c->last - 2] = taps_of(c, &loop.b, c->last - 2, p.column);
    emit_channels(p, &loop.b);
    k_loop_close(&loop, NULL, 0);
    return end;
}

/* A block of columns from `column` on, at the beginning or the end of a line whose
 * extents are known, or of all of it. */
static void emit_end(position p, ig_builder *b, int64_t column, uint32_t columns) {
    const conv_channels *c = p.c;
    uint32_t d = c->last - 2;
    int64_t first = column * stride_at(c, d) - c->line.before;
    p.columns = columns;
    p.is_block = true;
    p.low = first < 0 ? -first : 0;
    p.high = c->line.extent - first;
    p.column = k_i64(b, column);
    p.axis[d] = taps_of(c, b, d, p.column);
    emit_channels(p, b);
}

/* Columns [first, end) whose windows are within x. */
static void find_inside(const conv_channels *c, ig_builder *b, ig_value **first,
                        ig_value **end) {
    uint32_t d = c->last - 2;
    ig_value *width = ig_lower_dim(c->lower, c->out->dims[d + 1]), *one = k_i64(b, 1);
    ig_value *before = before_of(c, d);
    ig_value *reach = k_mul(b, k_sub(b, extent_of(c, c->w, d), one),
                            k_i64(b, dilation_at(c, d)));
    ig_value *room = k_sub(b, k_add(b, extent_of(c, c->x, d + 1), before), reach);
    ig_value *count = ceil_or_zero(b, room, stride_at(c, d)); /* room > o * stride */
    *first = k_min(b, ceil_or_zero(b, before, stride_at(c, d)), width);
    *end = k_max(b, k_min(b, count, width), *first);
}

static void emit_open_columns(position p, ig_builder *b) {
    const conv_channels *c = p.c;
    ig_value *first, *end, *width = ig_lower_dim(c->lower, c->out->dims[c->last - 1]);
    find_inside(c, b, &first, &end);
    position alone = p;
    alone.columns = 1;
    alone.vectors = ALONE;
    p.columns = c->columns;
    p.vectors = c->vectors;
    p.is_block = true;
    emit_columns(alone, b, k_i64(b, 0), first);
    ig_value *left = emit_columns(p, b, first, end);
    emit_columns(alone, b, left, width);
}

static void emit_known_columns(position p, ig_builder *b) {
    const conv_channels *c = p.c;
    const known_line *line = &c->line;
    int64_t end = line->width - line->right;
    p.vectors = c->vectors;
    emit_end(p, b, 0, line->left);
    if (line->left < end) {
        p.columns = c->columns;
        p.is_block = true;
        emit_columns(p, b, k_i64(b, line->left), k_i64(b, end));
    }
    if (line->right > 0) {
        emit_end(p, b, end, line->right);
    }
}

/* A line, a part of the channels after the other. */
static void emit_parts(position p, ig_builder *b) {
    const conv_channels *c = p.c;
    void (*emit)(position, ig_builder *) = c->line.left > 0 ? emit_known_columns
                                                            : emit_open_columns;
    ig_value *channels = extent_of(c, c->x, c->last), *zero = k_i64(b, 0);
    if (c->part == 0) {
        p.channel = zero;
        p.channel_end = channels;
        emit(p, b);
        return;
    }
    ig_value *step = k_i64(b, c->part);
    k_loop parts = k_loop_open(b, zero, channels, step, NULL, 0);
    p.channel = parts.index;
    p.channel_end = k_min(&parts.b, channels, k_add(&parts.b, p.channel, step));
    emit(p, &parts.b);
    k_loop_close(&parts, NULL, 0);
}

static void emit_line(const conv_channels *c, ig_builder *b, ig_value *number) {
    position p = { .c = c };
    for (uint32_t d = c->last - 1; d-- > 0;) {
        ig_value *extent = ig_lower_dim(c->lower, c->out->dims[d]);
        p.index[d] = d == 0 ? number : k_mod(b, number, extent);
        number = d == 0 ? number : k_div(b, number, extent);
    }
    p.image = k_mul(b, p.index[0], stride_of(c, c->x, 0));
    for (uint32_t d = 0; d + 2 < c->last; d++) {
        p.axis[d] = taps_of(c, b, d, p.index[d + 1]);
    }
    p.high = INT64_MAX;
    emit_parts(p, b);
}

static void emit_tile(void *user, ig_builder *b, ig_value *tile) {
    conv_channels *c = user;
    ig_dim lines = ig_dim_product(c->lower->module, c->out->dims, c->last - 1);
    if (c->zero) {
        ig_value *zero = k_load(b, c->zero->buffer, k_i64(b, 0), 1);
        c->zeros = k_splat(b, k_cast(b, zero, IG_DT_f32), c->lanes);
    }
    k_loop loop = ig_lower_open_lines(b, tile, ig_lower_dim(c->lower, lines), LINES);
    emit_line(c, &loop.b, loop.index);
    k_loop_close(&loop, NULL, 0);
}

/* ---- the schedule ---- */

/* The last axis, where it is known and taps along it are few.  False where not. */
static bool read_line(conv_channels *c) {
    uint32_t d = c->last - 2;
    known_line *line = &c->line;
    const ig_module *module = c->lower->module;
    return c->taps > 0 &&
           ig_dim_constant(module, c->x->type->dims[d + 1], &line->extent) &&
           ig_dim_constant(module, c->out->dims[d + 1], &line->width) &&
           ig_dim_constant(module, before_dim(c, d), &line->before) &&
           line->extent > 0 && line->width > 0 && line->before >= 0;
}

/* Is there a split into blocks of so many columns and two at the ends that have all
 * columns whose windows are not within x?  Takes it where it has fewest blocks. */
static bool split_line(conv_channels *c, int64_t columns, int64_t max) {
    known_line *line = &c->line;
    int64_t stride = stride_at(c, c->last - 2);
    int64_t reach = (c->taps - 1) * dilation_at(c, c->last - 2);
    int64_t room = line->extent + line->before - reach;
    int64_t first = ig_ceil_div(line->before, stride);
    int64_t inside = room > 0 ? ig_ceil_div(room, stride) : 0;
    int64_t last = line->width > inside ? line->width - inside : 0;
    int64_t blocks = ig_ceil_div(line->width - 2 * max, columns);
    int64_t ends = line->width - (blocks > 0 ? blocks : 0) * columns, left = ends / 2;
    left = left > ends - last ? ends - last : left;
    left = left < first ? first : left;
    if (left < 1 || left > max || ends - left < last || ends - left > max) {
        return false;
    }
    line->left = (uint32_t)left;
    line->right = (uint32_t)(ends - left);
    c->columns = (uint32_t)columns;
    return true;
}

/* Splits a known line into the fewest blocks; all of it is one where that has room. */
static bool choose_line(conv_channels *c) {
    known_line *line = &c->line;
    int64_t max = c->columns < LINE_BLOCK ? c->columns : LINE_BLOCK;
    if (read_line(c) && line->width <= max) {
        line->left = (uint32_t)line->width;
        return true;
    }
    bool is_split = false;
    for (int64_t columns = max; line->width > max && columns > max / 2; columns--) {
        is_split = is_split || split_line(c, columns, max);
    }
    return is_split;
}

/* A block fills lines of the cache; of the widths that registers allow the one that
 * leaves fewest columns alone. */
static void choose_block(conv_channels *c) {
    int64_t width = 0, taps = 0, best = INT64_MAX;
    const ig_module *module = c->lower->module;
    bool knows = ig_dim_constant(module, c->w->type->dims[c->last - 2], &taps);
    c->taps = knows && taps <= UNROLLED ? taps : 0;
    c->vectors = c->lower->target->vector_bytes >= 64 ? 1 : 2;
    c->columns = BLOCK / c->vectors;
    if (choose_line(c) || !ig_dim_constant(module, c->out->dims[c->last - 1], &width)) {
        return;
    }
    uint32_t max = c->columns;
    int64_t ends = (taps - 1) / stride_at(c, c->last - 2);
    int64_t inside = width > ends ? width - ends : 1;
    for (uint32_t columns = max; 2 * columns > max; columns--) {
        if (inside % columns < best) {
            best = inside % columns;
            c->columns = columns;
        }
    }
}

/* Weights of a part stay in L1 for all columns of a line: they take three eighths. */
static void choose_part(conv_channels *c) {
    const ig_module *module = c->lower->module;
    ig_dim all = ig_dim_product(c->lower->module, c->w->type->dims, c->last - 1);
    int64_t taps = 0, channels = 0, step = (int64_t)c->vectors * c->lanes;
    if (!ig_dim_constant(module, all, &taps) || taps < 1 ||
        !ig_dim_constant(module, c->x->type->dims[c->last], &channels)) {
        return;
    }
    int64_t limit = c->lower->target->l1_bytes / 8 * 3 / (taps * 4) / step;
    int64_t steps = (channels + step - 1) / step;
    limit = limit > 0 ? limit : 1;
    int64_t parts = (steps + limit - 1) / limit;
    c->part = parts > 1 ? (steps + parts - 1) / parts * step : 0;
}

static bool has_vectors(ig_lower *lower, const conv_channels *c) {
    ig_lower others = ig_lower_without(lower, ig_lower_only_of(lower, c->op));
    return ig_lower_is_vectorizable(&others, c->last + 1, c->out->dims) &&
           ig_dim_is(lower->outs[0].strides[c->last], 1) &&
           ig_dim_is(c->x->strides[c->last], 1) &&
           ig_dim_is(c->w->strides[c->last - 1], 1);
}

ig_status ig_lower_cpu_conv_channels(ig_lower *lower) {
    const ig_op *op = ig_lower_anchor(lower, IG_OP_conv_channels);
    assert(op && "the family's body has its anchor");
    conv_channels c = { .lower = lower,
                        .op = op,
                        .x = ig_lower_input(lower, op, 0),
                        .w = ig_lower_input(lower, op, 1),
                        .out = op->results[0].type,
                        .last = op->results[0].type->rank - 1,
                        .is_heavy = ig_lower_is_heavy(lower->body) };
    c.zero = op->operand_count > 2 ? ig_lower_input(lower, op, 2) : NULL;
    if (!c.x || !c.w || (op->operand_count > 2 && !c.zero)) {
        return ig_lower_unsupported(lower, "a convolution of this form");
    }
    c.lanes = has_vectors(lower, &c) ? ig_lower_lanes(lower, IG_DT_f32) : 1;
    choose_block(&c);
    choose_part(&c);
    if (c.is_heavy) {
        c.stage = k_local(lower->kernel, IG_DT_f32, (int64_t)BLOCK * c.lanes);
    }
    ig_module *module = lower->module;
    ig_dim lines = ig_dim_product(module, c.out->dims, c.last - 1);
    ig_dim taps = ig_dim_product(module, c.w->type->dims, c.last - 1);
    ig_dim macs = ig_lower_mul(lower, ig_type_count(module, c.out), taps);
    lower->grid = ig_lower_ceil_div(lower, lines, LINES);
    lower->cost = ig_lower_ceil_div(lower, macs, 16);
    lower->name = ig_lower_name(lower, "conv_channels");
    ig_lower_each_tile(lower, emit_tile, &c);
    return IG_OK;
}
