/* Convolution with channels last, on CPUs: the GEMM schedule over windows of x.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   out[p…, o] = epilogue(sum over t…, c of
 *                         x[p * stride + t * dilation …, c] * w[t…, c, o])
 *
 * Row r of A is the window of place r of the result, images and places counted as one;
 * its elements are read in place.  Where a window begins is found once a block; from
 * there on K goes over runs of elements that are neighbours in x for every window: all
 * channels of a row of taps, or of one tap where taps are apart or groups share x.
 * Windows of one element, side by side, are rows of a matrix.
 *
 * Where the target sums blocks of rows at once (gemm_rows.c) rows must be evenly far
 * apart: windows are copied, run by run, a block at a time for all columns of a tile.
 *
 * Zeros around x need not be in memory: a run is one tap then, and the rows that see
 * them read a run of zeros instead.  A tap that all rows of a block see nothing else
 * through is left out.  Which taps of a row are in x is found once a tile of the grid,
 * as bits of a word: what a block or a run does for it would hold up its results, which
 * wait for their lines as stores of it would wait behind them.
 *
 * Groups are products side by side.  Everything else, the order of sums too, is as in
 * gemm.c.  Of 8-bit integers runs are whole quads, so no row ends within one.
 */
#include "passes/lower/cpu/gemm.h"
#include "passes/lower/cpu/cpu.h"
#include "passes/lower/serial/window.h"
#include "base/checked.h"
#include "compose/window.h"

#include <assert.h>
#include <string.h>

enum {
    SPAN_BLOCKS = 4,  /* of a tile that is a line, at least */
    SPAN_DEPTH = 256, /* words of K of such tiles, at most */
};

typedef struct conv_panels {
    ig_lower *lower;
    const ig_op *op;
    const ig_lower_operand *x;
    uint32_t last; /* axis of the channels */
    int64_t groups;
} conv_panels;

static int64_t kernel_at(const conv_panels *c, uint32_t d) {
    return c->op->attrs[IG_conv_panels_kernel].as.ints[d];
}

/* ---- code ---- */

/* The axes' indices of the place after this one. */
static void step_index(const gemm_window *w, ig_builder *b, ig_value **index) {
    ig_value *zero = k_i64(b, 0), *carry = k_i64(b, 1);
    for (uint32_t d = w->space; d-- > 0;) {
        ig_value *next = k_add(b, index[d], carry);
        if (d == 0) {
            index[d] = next;
            return;
        }
        ig_value *is_over = k_compare(b, IG_OP_eq, next, w->extents[d]);
        index[d] = k_where(b, is_over, zero, next);
        carry = k_cast(b, is_over, IG_DT_i64);
    }
}

/* The axes' indices of place number `row`. */
static void find_index(const gemm_window *w, ig_builder *b, ig_value *row,
                       ig_value **index) {
    assert(w->space < IG_TENSOR_RANK && "axes of a tensor");
    for (uint32_t d = w->space; d-- > 0;) {
        index[d] = d == 0 ? row : k_mod(b, row, w->extents[d]);
        row = d == 0 ? row : k_div(b, row, w->extents[d]);
    }
}

/* Where the window of a place begins. */
static ig_value *window_at(const gemm *g, ig_builder *b, ig_value *const *index) {
    const gemm_window *w = g->window;
    ig_value *at = k_i64(b, 0);
    for (uint32_t d = 0; d < w->space; d++) {
        at = k_add(b, at, k_mul(b, index[d], w->steps[d]));
    }
    return k_offset(b, g->a->buffer, at);
}

ig_value *gemm_window_start(const gemm *g, ig_builder *b, ig_value *row) {
    ig_value *index[IG_TENSOR_RANK];
    find_index(g->window, b, row, index);
    return window_at(g, b, index);
}

/* Places of one line: distances are numbers, which cost no register. */
static void open_span(const gemm *g, ig_builder *b, const gemm_block *tile,
                      ig_value **out_rows) {
    const gemm_range *range = tile->range;
    ig_value *skipped = k_sub(b, tile->row, range->row);
    ig_value *first = k_offset(b, range->window,
                               k_mul(b, skipped, k_i64(b, g->window->step)));
    for (uint32_t r = 0; r < tile->rows; r++) {
        out_rows[r] = k_offset(b, first, k_i64(b, r * g->window->step));
    }
}

void gemm_window_rows(const gemm *g, ig_builder *b, const gemm_block *tile,
                      ig_value **out_rows) {
    if (g->span > 0) {
        open_span(g, b, tile, out_rows);
        return;
    }
    ig_value *index[IG_TENSOR_RANK];
    find_index(g->window, b, tile->row, index);
    for (uint32_t r = 0; r < tile->rows; r++) {
        out_rows[r] = window_at(g, b, index);
        step_index(g->window, b, index);
    }
}

ig_value *gemm_window_shift(const gemm *g, ig_builder *b, ig_value *run) {
    const gemm_window *w = g->window;
    ig_value *elements = k_mul(b, w->run, k_i64(b, g->unit));
    ig_value *shift = k_mul(b, k_sub(b, k_i64(b, 0), run), elements);
    for (uint32_t d = w->run_axes; d-- > 0;) {
        ig_value *index = d == 0 ? run : k_mod(b, run, w->kernel[d]);
        shift = k_add(b, shift, k_mul(b, index, w->apart[d]));
        run = d == 0 ? run : k_div(b, run, w->kernel[d]);
    }
    return shift;
}

/* ---- zeros around x ---- */

/* Which taps along spatial axis `d` are in x for a window whose first tap is at
 * `position`: tap i is bit i * apart. */
static ig_value *taps_in_image(const gemm *g, ig_builder *b, uint32_t d,
                               ig_value *position, int64_t apart) {
    const gemm_padding *p = g->window->padding;
    ig_value *extent = k_cast(b, p->extents[d], IG_DT_u64), *taps = k_i64(b, 0);
    for (int64_t i = 0; i < p->kernel[d]; i++) {
        ig_value *tap = k_mul(b, p->dilations[d], k_i64(b, i));
        ig_value *at = k_cast(b, k_add(b, position, tap), IG_DT_u64);
        ig_value *is_in = k_cast(b, k_compare(b, IG_OP_lt, at, extent), IG_DT_i64);
        ig_value *bit = k_binary(b, IG_OP_shl, is_in, k_i64(b, i * apart));
        taps = k_binary(b, IG_OP_or, taps, bit);
    }
    return taps;
}

/* Elements of x to where the first tap of the window at a place would be, and the taps
 * that are in x. */
static void open_position(const gemm *g, ig_builder *b, ig_value *const *index,
                          ig_value **out_start, ig_value **out_taps) {
    const gemm_window *w = g->window;
    const gemm_padding *p = w->padding;
    ig_value *start = k_sub(b, k_mul(b, index[0], w->steps[0]), p->lead);
    ig_value *taps = k_i64(b, 1);
    int64_t apart = 1;
    for (uint32_t d = w->space - 1; d-- > 0;) {
        ig_value *position = k_mul(b, index[d + 1], p->strides[d]);
        position = k_sub(b, position, p->before[d]);
        taps = k_mul(b, taps, taps_in_image(g, b, d, position, apart));
        start = k_add(b, start, k_mul(b, index[d + 1], w->steps[d + 1]));
        apart *= p->kernel[d];
    }
    *out_start = start;
    *out_taps = taps;
}

void gemm_open_positions(const gemm *g, ig_builder *b, const gemm_range *range) {
    const gemm_window *w = g->window;
    ig_value *index[IG_TENSOR_RANK], *start, *taps;
    find_index(w, b, range->row, index);
    k_loop rows = k_loop_open(b, k_i64(b, 0), range->rows, k_i64(b, 1), index,
                              w->space);
    ig_builder *in = &rows.b;
    open_position(g, in, rows.carried, &start, &taps);
    k_store(in, start, w->padding->starts, rows.index);
    k_store(in, taps, w->padding->taps, rows.index);
    memcpy(index, rows.carried, w->space * sizeof *index);
    step_index(w, in, index);
    k_loop_close(&rows, index, w->space);
}

ig_value *gemm_taps_of(const gemm *g, ig_builder *b, const gemm_block *tile) {
    ig_value *first = k_sub(b, tile->row, tile->range->row), *all = k_i64(b, 0);
    for (uint32_t r = 0; r < tile->rows; r++) {
        ig_value *row = k_add(b, first, k_i64(b, r));
        all = k_binary(b, IG_OP_or, all, k_load(b, g->window->padding->taps, row, 1));
    }
    return all;
}

/* Elements of x from a window's first tap to that of a run. */
static ig_value *tap_distance(const gemm *g, ig_builder *b, ig_value *run) {
    const gemm_window *w = g->window;
    ig_value *shift = k_i64(b, 0);
    for (uint32_t d = w->run_axes; d-- > 0;) {
        ig_value *extent = k_i64(b, w->padding->kernel[d]);
        ig_value *index = d == 0 ? run : k_mod(b, run, extent);
        shift = k_add(b, shift, k_mul(b, index, w->apart[d]));
        run = d == 0 ? run : k_div(b, run, extent);
    }
    return shift;
}

static ig_value *has_tap(ig_builder *b, ig_value *taps, ig_value *tap) {
    ig_value *own = k_binary(b, IG_OP_and, taps, tap);
    return k_compare(b, IG_OP_ne, own, k_i64(b, 0));
}

ig_value *gemm_enter_run(const gemm *g, ig_builder *b, const gemm_block *tile,
                         ig_value *taps, ig_value *run, ig_value **out_rows) {
    const gemm_padding *p = g->window->padding;
    ig_value *first = k_sub(b, tile->row, tile->range->row);
    ig_value *before = k_mul(b, run, g->window->run);
    ig_value *shift = k_sub(b, tap_distance(g, b, run), before);
    ig_value *tap = k_binary(b, IG_OP_shl, k_i64(b, 1), run);
    const ig_type *buffer = g->a->buffer->type;
    ig_value *zeros = k_offset(b, p->zeros, k_sub(b, k_i64(b, 0), before));
    for (uint32_t r = 0; r < tile->rows; r++) {
        ig_value *row = k_add(b, first, k_i64(b, r));
        ig_value *at = k_add(b, k_load(b, p->starts, row, 1), shift);
        k_if x = k_if_open(b, has_tap(b, k_load(b, p->taps, row, 1), tap), &buffer, 1);
        ig_value *then = k_offset(&x.then, g->a->buffer, at);
        k_if_close(&x, &then, &zeros);
        out_rows[r] = x.results[0];
    }
    return has_tap(b, taps, tap);
}

/* ---- copies ---- */

/* The position of a run of a window, and its copy. */
typedef struct run_copy {
    ig_value *from, *to;
    int64_t bytes; /* 0: not known */
} run_copy;

/* The vector at `at`, or `count` bytes of it. */
static void copy_vector(const gemm *g, ig_builder *b, const run_copy *c, ig_value *at,
                        ig_value *count) {
    uint32_t lanes = g->shape.lanes * g->unit;
    ig_value *x = k_load_count(b, c->from, at, lanes, count);
    k_store_count(b, x, c->to, at, count);
}

/* Of a known length, whole vectors and the rest. */
static void copy_known_run(const gemm *g, ig_builder *b, const run_copy *c) {
    enum { UNROLLED = 8 };
    int64_t lanes = (int64_t)g->shape.lanes * g->unit, left = c->bytes % lanes;
    int64_t whole = c->bytes - left;
    if (whole > UNROLLED * lanes) {
        ig_value *step = k_i64(b, lanes), *end = k_i64(b, whole);
        k_loop line = k_loop_open(b, k_i64(b, 0), end, step, NULL, 0);
        copy_vector(g, &line.b, c, line.index, NULL);
        k_loop_close(&line, NULL, 0);
    } else {
        for (int64_t i = 0; i < whole; i += lanes) {
            copy_vector(g, b, c, k_i64(b, i), NULL);
        }
    }
    if (left > 0) {
        copy_vector(g, b, c, k_i64(b, whole), k_i64(b, left));
    }
}

static void copy_run(const gemm *g, ig_builder *b, const run_copy *c) {
    if (c->bytes > 0) {
        copy_known_run(g, b, c);
        return;
    }
    ig_value *end = k_mul(b, g->window->run, k_i64(b, g->unit));
    ig_value *lanes = k_i64(b, (int64_t)g->shape.lanes * g->unit);
    k_loop line = k_loop_open(b, k_i64(b, 0), end, lanes, NULL, 0);
    copy_vector(g, &line.b, c, line.index, k_sub(&line.b, end, line.index));
    k_loop_close(&line, NULL, 0);
}

static void copy_runs(const gemm *g, ig_builder *b, const run_copy *window) {
    const gemm_window *w = g->window;
    if (w->run_axes == 0) {
        copy_run(g, b, window);
        return;
    }
    ig_value *one = k_i64(b, 1), *count = one;
    for (uint32_t d = 0; d < w->run_axes; d++) {
        count = k_mul(b, count, w->kernel[d]);
    }
    k_loop runs = k_loop_open(b, k_i64(b, 0), count, one, NULL, 0);
    ig_builder *in = &runs.b;
    ig_value *at = k_mul(in, runs.index, k_mul(in, w->run, k_i64(in, g->unit)));
    ig_value *shift = gemm_window_shift(g, in, runs.index);
    run_copy c = *window;
    c.from = k_offset(in, c.from, k_add(in, at, shift));
    c.to = k_offset(in, c.to, at);
    copy_run(g, in, &c);
    k_loop_close(&runs, NULL, 0);
}

void gemm_copy_windows(const gemm *g, ig_builder *b, const gemm_block *tile,
                       ig_value *count) {
    const gemm_range *range = tile->range;
    const gemm_window *w = g->window;
    ig_value *index[IG_TENSOR_RANK];
    find_index(w, b, tile->row, index);
    k_loop rows = k_loop_open(b, k_i64(b, 0), count, k_i64(b, 1), index, w->space);
    ig_builder *in = &rows.b;
    ig_value *row = k_add(in, k_sub(in, tile->row, range->row), rows.index);
    ig_value *position = k_mul(in, row, k_i64(in, g->copy_stride * g->unit));
    run_copy c = { .from = window_at(g, in, rows.carried),
                   .to = k_offset(in, g->copy, position),
                   .bytes = w->run_words * g->unit };
    copy_runs(g, in, &c);
    memcpy(index, rows.carried, w->space * sizeof *index);
    step_index(w, in, index);
    k_loop_close(&rows, index, w->space);
}

/* ---- the schedule ---- */

/* From one place of the result to the next along axis `d`, in x. */
static ig_dim step_of(const conv_panels *c, uint32_t d) {
    int64_t stride = d == 0 ? 1 : ig_lower_entry(c->op, IG_conv_panels_strides, d - 1);
    return ig_lower_mul(c->lower, c->x->strides[d], ig_dim_of(stride));
}

/* From one tap to the next along spatial axis `d`, in x. */
static ig_dim apart_of(const conv_panels *c, uint32_t d) {
    int64_t dilation = ig_lower_entry(c->op, IG_conv_panels_dilations, d);
    return ig_lower_mul(c->lower, c->x->strides[d + 1], ig_dim_of(dilation));
}

static bool is_padded(const conv_panels *c) {
    return c->op->code == IG_OP_conv_panels &&
           (ig_attr_is_set(c->op, IG_conv_panels_before) ||
            ig_attr_is_set(c->op, IG_conv_panels_after));
}

/* Is a tap's run of known length, and are taps so few that they are bits of a word? */
static bool has_padded_runs(const conv_panels *c) {
    int64_t taps = 1;
    for (uint32_t d = 0; d + 1 < c->last; d++) {
        if (kernel_at(c, d) > IG_PADDED_TAPS / taps) {
            return false;
        }
        taps *= kernel_at(c, d);
    }
    return ig_dim_is_static(c->x->type->dims[c->last]);
}

/* Spatial axes of the kernel that runs are counted along: the rest, and the channels,
 * are contiguous.  *run: elements of a run. */
static uint32_t count_run_axes(const conv_panels *c, ig_dim channels, ig_dim *run) {
    uint32_t axes = c->last - 1;
    *run = channels;
    if (is_padded(c)) {
        return axes;
    }
    for (; axes > 0; axes--) {
        int64_t taps = kernel_at(c, axes - 1);
        if (taps > 1 &&
            ig_dim_equal(c->lower->module, apart_of(c, axes - 1), *run) != IG_YES) {
            break;
        }
        *run = ig_lower_mul(c->lower, *run, ig_dim_of(taps));
    }
    while (axes > 0 && kernel_at(c, axes - 1) == 1) {
        axes--;
    }
    return axes;
}

/* Do places of the result follow each other in x as rows of a matrix? */
static bool is_matrix(const conv_panels *c, const ig_type *out, ig_dim run,
                      ig_dim depth) {
    ig_module *module = c->lower->module;
    bool is_matrix = !is_padded(c) && ig_dim_equal(module, run, depth) == IG_YES;
    for (uint32_t d = 0; is_matrix && d + 1 < c->last; d++) {
        ig_dim next = ig_lower_mul(c->lower, step_of(c, d + 1), out->dims[d + 1]);
        is_matrix = ig_dim_equal(module, step_of(c, d), next) == IG_YES;
    }
    return is_matrix;
}

static ig_value **make_params(ig_lower *lower, const ig_dim *dims, uint32_t count) {
    ig_value **params = IG_NEW_ARRAY(lower->arena, ig_value *, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        params[i] = ig_lower_param(lower, dims[i]);
    }
    return params;
}

static const gemm_padding *make_padding(const conv_panels *c, int64_t run) {
    gemm_padding *p = IG_NEW(c->lower->arena, gemm_padding);
    uint32_t space = c->last - 1;
    ig_dim before[IG_TENSOR_RANK], strides[IG_TENSOR_RANK], dilations[IG_TENSOR_RANK];
    ig_dim lead = ig_dim_of(0);
    for (uint32_t d = 0; d < space; d++) {
        before[d] = ig_spatial_dim(c->op, IG_conv_panels_before, d);
        strides[d] = ig_dim_of(ig_lower_entry(c->op, IG_conv_panels_strides, d));
        dilations[d] = ig_dim_of(ig_lower_entry(c->op, IG_conv_panels_dilations, d));
        ig_dim own = ig_lower_mul(c->lower, before[d], c->x->strides[d + 1]);
        lead = ig_dim_add(c->lower->module, lead, own);
    }
    p->extents = make_params(c->lower, c->x->type->dims + 1, space);
    p->before = make_params(c->lower, before, space);
    p->strides = make_params(c->lower, strides, space);
    p->dilations = make_params(c->lower, dilations, space);
    p->lead = ig_lower_param(c->lower, lead);
    p->zeros = ig_cpu_zeros(c->lower, run);
    p->kernel = c->op->attrs[IG_conv_panels_kernel].as.ints;
    p->starts = k_local(c->lower->kernel, IG_DT_i64, IG_GEMM_MAX_TILE_ROWS);
    p->taps = k_local(c->lower->kernel, IG_DT_i64, IG_GEMM_MAX_TILE_ROWS);
    return p;
}

/* `run`: in words. */
static gemm_window *make_window(const conv_panels *c, const ig_type *out, ig_dim run,
                                uint32_t run_axes) {
    gemm_window *w = IG_NEW(c->lower->arena, gemm_window);
    ig_dim steps[IG_TENSOR_RANK], kernel[IG_TENSOR_RANK], apart[IG_TENSOR_RANK];
    for (uint32_t d = 0; d < c->last; d++) {
        steps[d] = step_of(c, d);
    }
    for (uint32_t d = 0; d < run_axes; d++) {
        kernel[d] = ig_dim_of(kernel_at(c, d));
        apart[d] = apart_of(c, d);
    }
    w->space = c->last;
    w->extents = make_params(c->lower, out->dims, c->last);
    w->steps = make_params(c->lower, steps, c->last);
    ig_dim_constant(c->lower->module, steps[c->last - 1], &w->step);
    w->run = ig_lower_param(c->lower, run);
    ig_dim_constant(c->lower->module, run, &w->run_words);
    w->run_axes = run_axes;
    w->kernel = make_params(c->lower, kernel, run_axes);
    w->apart = make_params(c->lower, apart, run_axes);
    w->padding = is_padded(c) ? make_padding(c, w->run_words) : NULL;
    return w;
}

/* The space of the epilogue: rows are one axis where all that it reads goes through
 * them as one, x too where it is added to its own convolution. */
static const ig_type *merge_positions(const conv_panels *c, const ig_type *out) {
    return ig_lower_merge_dims(c->lower, out, 0, c->last,
                               ig_lower_only_of(c->lower, c->op));
}

/* The rows' operand, each of a group's `channels` or, of a matrix, all of K. */
static const ig_lower_operand *make_rows(const conv_panels *c, ig_dim rows,
                                         ig_dim channels) {
    ig_dim *strides = IG_NEW_ARRAY(c->lower->arena, ig_dim, 2);
    ig_lower_operand *a = IG_NEW(c->lower->arena, ig_lower_operand);
    ig_dim dims[2] = { rows, channels };
    strides[0] = step_of(c, c->last - 1);
    strides[1] = ig_dim_of(1);
    *a = (ig_lower_operand){ .buffer = c->x->buffer,
                             .type = ig_type_with_dims(c->lower->module, c->x->type, 2,
                                                       dims),
                             .strides = strides };
    return a;
}

/* A line of places is one block, or several of full height, so that those of the first
 * and the last line leave out the taps that see zeros alone. */
static void keep_lines(const conv_panels *c, gemm *g, const ig_type *out) {
    int64_t width = 0, rows = g->shape.rows;
    if (is_padded(c) &&
        ig_dim_constant(c->lower->module, out->dims[c->last - 1], &width) &&
        width > 1 && (width < rows ? 2 * width >= rows : width % rows == 0)) {
        g->line = width < rows ? width : rows;
        g->shape.rows = (uint32_t)g->line;
    }
}

/* A tile of the grid has a line of places, or an even part of it, where lines have
 * several blocks and the panels of a tile are so small that lower tiles cost nothing:
 * windows of a block are evenly apart then. */
static void keep_spans(const conv_panels *c, gemm *g, const ig_type *out) {
    int64_t width = 0, depth = 0, rows = g->shape.rows;
    const ig_module *module = c->lower->module;
    if (!g->window || g->window->padding || g->window->step == 0 ||
        g->copy_stride > 0 || !ig_dim_constant(module, g->depth, &depth) ||
        depth > SPAN_DEPTH ||
        !ig_dim_constant(module, out->dims[c->last - 1], &width)) {
        return;
    }
    int64_t parts = ig_ceil_div(width, IG_GEMM_MAX_TILE_ROWS);
    if (parts > 0 && width >= SPAN_BLOCKS * rows * parts && width % parts == 0) {
        g->span = width / parts;
    }
}

/* The product of the windows' rows, of floats or of 8-bit integers, whose operands and
 * schedule are still open. */
static gemm start_product(const conv_panels *c, const ig_lower_operand *panels,
                          const ig_dim *dims) {
    ig_lower *lower = c->lower;
    bool is_quads = c->op->code == IG_OP_conv_quads;
    return (gemm){ .lower = lower,
                   .shape = is_quads ? ig_gemm_quad_shape_of(lower->target)
                                     : ig_gemm_shape_of(lower->target),
                   .anchor = &c->op->results[0],
                   .panels = panels,
                   .dims = dims,
                   .depth = panels->type->dims[1],
                   .groups = c->groups,
                   .is_quads = is_quads,
                   .sum = is_quads ? IG_DT_i32 : IG_DT_f32,
                   .unit = is_quads ? IG_QUAD : 1 };
}

static ig_op *find_anchor(ig_lower *lower) {
    ig_op *quads = ig_lower_anchor(lower, IG_OP_conv_quads);
    return quads ? quads : ig_lower_anchor(lower, IG_OP_conv_panels);
}

ig_status ig_lower_cpu_conv_panels(ig_lower *lower) {
    if (ig_lower_anchor(lower, IG_OP_conv_winograd)) {
        return ig_lower_cpu_winograd(lower);
    }
    ig_op *op = find_anchor(lower);
    assert(op && "the family's body has its anchor");
    const ig_type *out = op->results[0].type;
    conv_panels c = { .lower = lower,
                      .op = op,
                      .x = ig_lower_input(lower, op, 0),
                      .last = out->rank - 1,
                      .groups = ig_attr_int(op, IG_conv_panels_group, 1) };
    const ig_lower_operand *panels = ig_lower_input(lower, op, 1);
    bool has_rows = c.x && (ig_dim_is(c.x->strides[c.last], 1) ||
                            ig_dim_is(c.x->type->dims[c.last], 1));
    has_rows &= c.x && (!is_padded(&c) || has_padded_runs(&c));
    if (!has_rows || !panels) {
        return ig_lower_unsupported(lower, "a convolution of this form");
    }
    ig_module *module = lower->module;
    ig_dim run;
    ig_dim channels = ig_dim_exact_div(module, c.x->type->dims[c.last],
                                       ig_dim_of(c.groups));
    uint32_t run_axes = count_run_axes(&c, channels, &run);
    ig_dim dims[2] = { ig_dim_product(module, out->dims, c.last),
                       ig_dim_of(ig_attr_int(op, IG_conv_panels_columns, 0)) };
    lower->shares_strides = true;
    gemm g = start_product(&c, panels, dims);
    ig_dim unit = ig_dim_of(g.unit), depth = ig_lower_mul(lower, g.depth, unit);
    bool has_windows = !is_matrix(&c, out, run, depth);
    run = ig_dim_exact_div(module, run, unit);
    g.window = has_windows ? make_window(&c, out, run, run_axes) : NULL;
    g.a = make_rows(&c, dims[0], has_windows ? channels : depth);
    g.space = merge_positions(&c, out);
    lower->name = ig_lower_name(lower, g.is_quads ? "conv_i8" : "conv");
    gemm_spread_rows(&g);
    keep_lines(&c, &g, out);
    keep_spans(&c, &g, out);
    return gemm_lower(&g);
}
