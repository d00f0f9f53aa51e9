/* Convolutions of 3 x 3 taps by Winograd's F(2 x 2, 3 x 3), channels last, on CPUs.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   out[2 x 2 results, o] = epilogue(A [sum over c of w[o, c] * (B' d[c] B)] A')
 *
 * d is the 4 x 4 elements of x that four results see (ir/semantics/winograd.h), a patch
 * here.  For each of its 16 elements the sums over c are a matrix product of their own,
 * with panels of transformed weights: 16 products for 4 results, where the convolution
 * itself has 36.
 *
 *   grid       tiles of patches, whole blocks of them; where these are few, times
 *              groups of columns
 *   tile       its patches are transformed into scratch memory, of the size of L2;
 *              then it goes over the columns
 *   micro-panel
 *              for each of the 16 products, blocks of patches times the panels, as in
 *              gemm.c; the products go to scratch memory, and from there, transformed,
 *              to the results
 *
 * A block that is not full computes its last patch again: blocks have one height.
 * Every element is a chain of muladds over c in each of the 16 products, whatever the
 * block, the tile and the batch.
 */
#include "base/checked.h"
#include "compose/window.h"
#include "ir/semantics/winograd.h"
#include "passes/lower/cpu/cpu.h"
#include "passes/lower/gemm_tile.h"

#include <assert.h>

enum {
    PANEL = IG_PANEL,
    IN = IG_WINOGRAD_IN,
    OUT = IG_WINOGRAD_OUT,
    PRODUCTS = IG_WINOGRAD_PRODUCTS,
    RESULTS = OUT * OUT,
    MAX_BLOCKS = 4, /* of a tile */
    TILES = 8,      /* of the grid, where columns can be split */
    GROUP_COLUMNS = 128,
};

typedef struct winograd {
    ig_lower *lower;
    const ig_op *op;
    const ig_lower_operand *x, *w;
    const ig_type *out;
    ig_gemm_shape shape;
    int64_t channels, columns;
    int64_t line;   /* floats from one patch to the next */
    int64_t blocks; /* of a tile, at most */
    int64_t width;  /* columns of a micro-panel */
    int64_t groups; /* of columns: tiles of the same patches */
    int64_t group_columns;
    ig_dim patches[3];  /* along each axis: image, rows, columns */
    ig_value *count;    /* all of them */
    ig_value *inputs;   /* [PRODUCTS, patches of a tile, line] */
    ig_value *products; /* [PRODUCTS, patches of a tile, width] */
    ig_value *zeros;    /* a line */
    ig_value *stage;    /* local, of an epilogue that is long; else NULL */
} winograd;

/* Patches of a tile: the number of the first one, and how many blocks. */
typedef struct patch_range {
    ig_value *first, *blocks;
} patch_range;

/* A micro-panel: its first column, and panels. */
typedef struct micro_panel {
    ig_value *column;
    uint32_t panels;
} micro_panel;

static int64_t tile_patches(const winograd *w) {
    return w->blocks * w->shape.rows;
}

/* The float where patch number `patch` of the tile has its part of a product. */
static ig_value *position_of(const winograd *w, ig_builder *b, ig_value *product,
                             ig_value *patch, int64_t line) {
    ig_value *skipped = k_mul(b, product, k_i64(b, tile_patches(w)));
    return k_mul(b, k_add(b, skipped, patch), k_i64(b, line));
}

/* Image, row and column of a patch, by its number of all. */
static void find_patch(const winograd *w, ig_builder *b, ig_value *number,
                       ig_value *out_index[3]) {
    for (uint32_t d = 2; d > 0; d--) {
        ig_value *extent = ig_lower_dim(w->lower, w->patches[d]);
        out_index[d] = k_mod(b, number, extent);
        number = k_div(b, number, extent);
    }
    out_index[0] = number;
}

/* Those of the patch after it. */
static void step_patch(const winograd *w, ig_builder *b, ig_value *const index[3],
                       ig_value *out_next[3]) {
    ig_value *carry = k_i64(b, 1), *zero = k_i64(b, 0);
    for (uint32_t d = 2; d > 0; d--) {
        ig_value *next = k_add(b, index[d], carry);
        ig_value *is_over = k_compare(b, IG_OP_eq, next,
                                      ig_lower_dim(w->lower, w->patches[d]));
        out_next[d] = k_where(b, is_over, zero, next);
        carry = k_cast(b, is_over, IG_DT_i64);
    }
    out_next[0] = k_add(b, index[0], carry);
}

/* The sum of four vectors, `step` apart, times factors of 1, 0 and -1. */
static ig_value *combine_four(ig_builder *b, const int8_t *factors, ig_value *const *x,
                              uint32_t step) {
    ig_value *sum = NULL;
    for (int sign = 1; sign >= -1; sign -= 2) { /* the first is no negative one */
        for (uint32_t i = 0; i < IN; i++) {
            if (factors[i] != sign) {
                continue;
            }
            ig_value *term = x[i * step];
            sum = !sum ? term : sign > 0 ? k_add(b, sum, term) : k_sub(b, sum, term);
        }
    }
    return sum;
}

/* factor times x times its transpose: x is IN x IN vectors, the result rows x rows. */
static void apply_factor(ig_builder *b, const int8_t (*factor)[IN], uint32_t rows,
                         ig_value *const *x, ig_value **out) {
    ig_value *half[PRODUCTS];
    for (uint32_t j = 0; j < IN; j++) {
        for (uint32_t i = 0; i < rows; i++) {
            half[i * IN + j] = combine_four(b, factor[i], x + j, IN);
        }
    }
    for (uint32_t i = 0; i < rows; i++) {
        for (uint32_t j = 0; j < rows; j++) {
            out[i * rows + j] = combine_four(b, factor[j], half + i * IN, 1);
        }
    }
}

/* ---- patches ---- */

/* Where the elements of a patch are in x, or zeros where they are outside. */
static void open_patch(const winograd *w, ig_builder *b, ig_value *const index[3],
                       ig_value *out_elements[PRODUCTS]) {
    const ig_dim *strides = w->x->strides;
    const ig_type *buffer = w->x->buffer->type;
    ig_value *start = k_mul(b, index[0], ig_lower_dim(w->lower, strides[0]));
    ig_value *is_in[2][IN];
    for (uint32_t d = 0; d < 2; d++) {
        ig_dim before = ig_spatial_dim(w->op, IG_conv_winograd_before, d);
        ig_value *first = k_sub(b, k_mul(b, index[d + 1], k_i64(b, OUT)),
                                ig_lower_dim(w->lower, before));
        ig_value *extent = ig_lower_dim(w->lower, w->x->type->dims[d + 1]);
        ig_value *stride = ig_lower_dim(w->lower, strides[d + 1]);
        start = k_add(b, start, k_mul(b, first, stride));
        for (int64_t i = 0; i < IN; i++) {
            ig_value *at = k_cast(b, k_add(b, first, k_i64(b, i)), IG_DT_u64);
            is_in[d][i] = k_compare(b, IG_OP_lt, at, k_cast(b, extent, IG_DT_u64));
        }
    }
    for (uint32_t i = 0; i < PRODUCTS; i++) {
        ig_value *is_inside = k_binary(b, IG_OP_and, is_in[0][i / IN],
                                       is_in[1][i % IN]);
        k_if x = k_if_open(b, is_inside, &buffer, 1);
        ig_builder *in = &x.then;
        ig_value *down = k_mul(in, k_i64(in, i / IN),
                               ig_lower_dim(w->lower, strides[1]));
        ig_value *right = k_mul(in, k_i64(in, i % IN),
                                ig_lower_dim(w->lower, strides[2]));
        ig_value *at = k_add(in, start, k_add(in, down, right));
        ig_value *then = k_offset(in, w->x->buffer, at);
        k_if_close(&x, &then, &w->zeros);
        out_elements[i] = x.results[0];
    }
}

/* Transforms a vector of each product of a patch, or `count` of its lanes. */
static void transform_vector(const winograd *w, ig_builder *b,
                             ig_value *const elements[PRODUCTS], ig_value *patch,
                             ig_value *channel, ig_value *count) {
    ig_value *x[PRODUCTS], *v[PRODUCTS];
    for (uint32_t i = 0; i < PRODUCTS; i++) {
        x[i] = k_load_count(b, elements[i], channel, w->shape.lanes, count);
    }
    apply_factor(b, ig_winograd_input, IN, x, v);
    for (uint32_t i = 0; i < PRODUCTS; i++) {
        ig_value *line = position_of(w, b, k_i64(b, i), patch, w->line);
        k_store(b, v[i], w->inputs, k_add(b, line, channel));
    }
}

static void transform_patch(const winograd *w, ig_builder *b, ig_value *const index[3],
                            ig_value *patch) {
    ig_value *elements[PRODUCTS];
    open_patch(w, b, index, elements);
    int64_t lanes = w->shape.lanes, whole = w->channels / lanes * lanes;
    k_loop line = k_loop_open(b, k_i64(b, 0), k_i64(b, whole), k_i64(b, lanes), NULL,
                              0);
    transform_vector(w, &line.b, elements, patch, line.index, NULL);
    k_loop_close(&line, NULL, 0);
    if (whole < w->channels) {
        transform_vector(w, b, elements, patch, k_i64(b, whole),
                         k_i64(b, w->channels - whole));
    }
}

static void transform_patches(const winograd *w, ig_builder *b,
                              const patch_range *range) {
    ig_value *size = k_mul(b, range->blocks, k_i64(b, w->shape.rows));
    ig_value *last = k_sub(b, k_sub(b, w->count, range->first), k_i64(b, 1));
    ig_value *index[3], *next[3];
    find_patch(w, b, range->first, index);
    k_loop loop = k_loop_open(b, k_i64(b, 0), size, k_i64(b, 1), index, 3);
    ig_builder *in = &loop.b;
    transform_patch(w, in, loop.carried, loop.index);
    step_patch(w, in, loop.carried, next);
    ig_value *has_next = k_compare(in, IG_OP_lt, loop.index, last);
    for (uint32_t d = 0; d < 3; d++) {
        next[d] = k_where(in, has_next, next[d], loop.carried[d]);
    }
    k_loop_close(&loop, next, 3);
}

/* ---- products ---- */

/* One channel of a block. */
static void multiply_channel(const winograd *w, k_loop *loop, const micro_panel *p,
                             ig_value *const *rows, ig_value *panels, ig_value **sums) {
    ig_builder *b = &loop->b;
    uint32_t vectors = w->shape.vectors, width = p->panels * vectors;
    int64_t apart = PRODUCTS * w->channels * PANEL;
    ig_value *columns[K_CARRIED];
    ig_value *word = k_mul(b, loop->index, k_i64(b, PANEL));
    for (uint32_t c = 0; c < width; c++) {
        int64_t skipped = c / vectors * apart + (int64_t)(c % vectors) * w->shape.lanes;
        ig_value *panel = k_offset(b, panels, k_i64(b, skipped));
        columns[c] = k_load(b, panel, word, w->shape.lanes);
    }
    for (uint32_t r = 0; r < w->shape.rows; r++) {
        ig_value *x = k_splat(b, k_load(b, rows[r], loop->index, 1), w->shape.lanes);
        for (uint32_t c = 0; c < width; c++) {
            sums[r * width + c] = k_muladd(b, x, columns[c],
                                           loop->carried[r * width + c]);
        }
    }
}

/* Block number `block` of the tile at one product. */
static void multiply_block(const winograd *w, ig_builder *b, const micro_panel *p,
                           ig_value *product, ig_value *block) {
    uint32_t width = p->panels * w->shape.vectors, count = w->shape.rows * width;
    ig_value *sums[K_CARRIED], *rows[IG_GEMM_MAX_ROWS], *next[K_CARRIED];
    ig_value *patch = k_mul(b, block, k_i64(b, w->shape.rows));
    rows[0] = k_offset(b, w->inputs, position_of(w, b, product, patch, w->line));
    for (uint32_t r = 1; r < w->shape.rows; r++) {
        rows[r] = k_offset(b, rows[0], k_i64(b, r * w->line));
    }
    for (uint32_t i = 0; i < count; i++) {
        sums[i] = k_const_vector(b, IG_DT_f32, w->shape.lanes, 0.0);
    }
    ig_value *panel = k_mul(b, k_div(b, p->column, k_i64(b, PANEL)),
                            k_i64(b, PRODUCTS));
    ig_value *word = k_mul(b, k_add(b, panel, product), k_i64(b, w->channels * PANEL));
    ig_value *panels = k_offset(b, w->w->buffer, word);
    k_loop loop = k_loop_open(b, k_i64(b, 0), k_i64(b, w->channels), k_i64(b, 1), sums,
                              count);
    multiply_channel(w, &loop, p, rows, panels, next);
    k_loop_close(&loop, next, count);
    ig_value *to = position_of(w, b, product, patch, w->width);
    for (uint32_t i = 0; i < count; i++) {
        int64_t skipped = i / width * w->width + (int64_t)(i % width) * w->shape.lanes;
        k_store(b, loop.results[i], w->products, k_add(b, to, k_i64(b, skipped)));
    }
}

static void multiply_patches(const winograd *w, ig_builder *b, const patch_range *range,
                             const micro_panel *p) {
    ig_value *zero = k_i64(b, 0), *one = k_i64(b, 1);
    k_loop products = k_loop_open(b, zero, k_i64(b, PRODUCTS), one, NULL, 0);
    k_loop blocks = k_loop_open(&products.b, zero, range->blocks, one, NULL, 0);
    multiply_block(w, &blocks.b, p, products.index, blocks.index);
    k_loop_close(&blocks, NULL, 0);
    k_loop_close(&products, NULL, 0);
}

/* ---- results ---- */

/* A vector of columns at one result of a patch. */
static void store_result(const winograd *w, ig_builder *b, ig_value *const index[3],
                         ig_value *const offset[2], ig_value *column, ig_value *y) {
    ig_value *at[] = { index[0], NULL, NULL, column };
    for (uint32_t d = 0; d < 2; d++) {
        at[d + 1] = k_add(b, k_mul(b, index[d + 1], k_i64(b, OUT)), offset[d]);
    }
    bool is_whole = w->columns % w->shape.lanes == 0;
    ig_site site = { .b = b,
                     .lanes = w->shape.lanes,
                     .rank = w->out->rank,
                     .dims = w->out->dims,
                     .index = at,
                     .count = is_whole ? NULL
                                       : k_sub(b, k_i64(b, w->columns), column) };
    ig_lower_store_anchor(w->lower, site, w->op, y);
}

/* Is the result in the image?  The last patches may have fewer. */
static ig_value *is_result(const winograd *w, ig_builder *b, ig_value *const index[3],
                           ig_value *const offset[2]) {
    ig_value *is_in[2];
    for (uint32_t d = 0; d < 2; d++) {
        ig_value *first = k_mul(b, index[d + 1], k_i64(b, OUT));
        ig_value *extent = ig_lower_dim(w->lower, w->out->dims[d + 1]);
        is_in[d] = k_compare(b, IG_OP_lt, k_add(b, first, offset[d]), extent);
    }
    return k_binary(b, IG_OP_and, is_in[0], is_in[1]);
}

/* A long epilogue is emitted once, and loops over the results, by way of memory. */
static void store_staged(const winograd *w, ig_builder *b, ig_value *const index[3],
                         ig_value *column, ig_value *const y[RESULTS]) {
    ig_value *lanes = k_i64(b, w->shape.lanes), *two = k_i64(b, OUT);
    for (int64_t i = 0; i < RESULTS; i++) {
        k_store(b, y[i], w->stage, k_mul(b, k_i64(b, i), lanes));
    }
    k_loop loop = k_loop_open(b, k_i64(b, 0), k_i64(b, RESULTS), k_i64(b, 1), NULL, 0);
    ig_builder *in = &loop.b;
    ig_value *offset[] = { k_div(in, loop.index, two), k_mod(in, loop.index, two) };
    k_if is_in = k_if_open(in, is_result(w, in, index, offset), NULL, 0);
    ig_value *x = k_load(&is_in.then, w->stage, k_mul(&is_in.then, loop.index, lanes),
                         w->shape.lanes);
    store_result(w, &is_in.then, index, offset, column, x);
    k_if_close(&is_in, NULL, NULL);
    k_loop_close(&loop, NULL, 0);
}

/* Does a patch have a second result along spatial axis `d`, as far as is known? */
static bool has_whole_patches(const winograd *w, uint32_t d) {
    int64_t extent;
    return ig_dim_constant(w->lower->module, w->out->dims[d + 1], &extent) &&
           extent % OUT == 0;
}

static void store_each(const winograd *w, ig_builder *b, ig_value *const index[3],
                       ig_value *column, ig_value *const y[RESULTS]) {
    for (int64_t i = 0; i < RESULTS; i++) {
        ig_value *offset[] = { k_i64(b, i / OUT), k_i64(b, i % OUT) };
        if ((i / OUT == 0 || has_whole_patches(w, 0)) &&
            (i % OUT == 0 || has_whole_patches(w, 1))) {
            store_result(w, b, index, offset, column, y[i]);
            continue;
        }
        k_if is_in = k_if_open(b, is_result(w, b, index, offset), NULL, 0);
        store_result(w, &is_in.then, index, offset, column, y[i]);
        k_if_close(&is_in, NULL, NULL);
    }
}

/* The results of patch number `patch` of the tile in a micro-panel. */
static void finish_patch(const winograd *w, ig_builder *b, const micro_panel *p,
                         ig_value *const index[3], ig_value *patch) {
    ig_value *x[PRODUCTS], *y[RESULTS];
    ig_value *left = k_sub(b, k_i64(b, w->columns), p->column);
    ig_value *width = k_min(b, left, k_i64(b, (int64_t)p->panels * PANEL));
    ig_value *zero = k_i64(b, 0), *step = k_i64(b, w->shape.lanes);
    k_loop loop = k_loop_open(b, zero, width, step, NULL, 0);
    ig_builder *in = &loop.b;
    for (int64_t i = 0; i < PRODUCTS; i++) {
        ig_value *line = position_of(w, in, k_i64(in, i), patch, w->width);
        x[i] = k_load(in, w->products, k_add(in, line, loop.index), w->shape.lanes);
    }
    apply_factor(in, ig_winograd_output, OUT, x, y);
    (w->stage ? store_staged : store_each)(w, in, index,
                                           k_add(in, p->column, loop.index), y);
    k_loop_close(&loop, NULL, 0);
}

static void finish_patches(const winograd *w, ig_builder *b, const patch_range *range,
                           const micro_panel *p) {
    ig_value *left = k_sub(b, w->count, range->first);
    ig_value *size = k_mul(b, range->blocks, k_i64(b, w->shape.rows));
    ig_value *index[3], *next[3];
    find_patch(w, b, range->first, index);
    k_loop loop = k_loop_open(b, k_i64(b, 0), k_min(b, left, size), k_i64(b, 1), index,
                              3);
    finish_patch(w, &loop.b, p, loop.carried, loop.index);
    step_patch(w, &loop.b, loop.carried, next);
    k_loop_close(&loop, next, 3);
}

/* ---- the schedule ---- */

static void emit_micro_panel(const winograd *w, ig_builder *b, const patch_range *range,
                             micro_panel p) {
    multiply_patches(w, b, range, &p);
    finish_patches(w, b, range, &p);
}

/* Micro-panels of all panels that they hold, then one for those that are left, which
 * the last group has. */
static void emit_columns(const winograd *w, ig_builder *b, const patch_range *range,
                         ig_value *group) {
    int64_t panels = ig_ceil_div(w->columns, PANEL), each = w->shape.panels;
    int64_t whole = panels / each * each;
    ig_value *first = k_mul(b, group, k_i64(b, w->group_columns));
    ig_value *end = k_min(b, k_add(b, first, k_i64(b, w->group_columns)),
                          k_i64(b, whole * PANEL));
    k_loop loop = k_loop_open(b, first, end, k_i64(b, each * PANEL), NULL, 0);
    emit_micro_panel(w, &loop.b, range, (micro_panel){ loop.index, (uint32_t)each });
    k_loop_close(&loop, NULL, 0);
    for (; whole < panels; whole++) {
        ig_value *is_last = k_compare(b, IG_OP_eq, group, k_i64(b, w->groups - 1));
        k_if last = k_if_open(b, is_last, NULL, 0);
        ig_value *column = k_i64(&last.then, whole * PANEL);
        emit_micro_panel(w, &last.then, range, (micro_panel){ column, 1 });
        k_if_close(&last, NULL, NULL);
    }
}

static ig_dim count_patches(const winograd *w) {
    return ig_dim_product(w->lower->module, w->patches, 3);
}

static ig_dim count_tiles(const winograd *w) {
    return ig_lower_ceil_div(w->lower, count_patches(w), tile_patches(w));
}

static void emit_tile(void *user, ig_builder *b, ig_value *number) {
    winograd *w = user;
    ig_lower *lower = w->lower;
    w->count = ig_lower_dim(lower, count_patches(w));
    ig_value *groups = k_i64(b, w->groups), *tile = k_div(b, number, groups);
    ig_value *tiles = ig_lower_dim(lower, count_tiles(w));
    ig_value *blocks = k_ceil_div(b, w->count, w->shape.rows);
    ig_cpu_split split = ig_cpu_open_split(b, blocks, tiles);
    ig_value *skipped;
    patch_range range;
    ig_cpu_find_part(b, &split, tile, &skipped, &range.blocks);
    range.first = k_mul(b, skipped, k_i64(b, w->shape.rows));
    transform_patches(w, b, &range);
    emit_columns(w, b, &range, k_mod(b, number, groups));
}

/* The height of blocks that leaves fewest patches to compute again, where their number
 * is known: half of what registers hold, or more. */
static void choose_rows(winograd *w) {
    uint32_t max = w->shape.rows, best = max;
    int64_t count, fewest = INT64_MAX;
    if (!ig_dim_constant(w->lower->module, count_patches(w), &count) || count < 1) {
        return;
    }
    for (uint32_t rows = max; 2 * rows >= max && rows > 0; rows--) {
        int64_t computed = ig_ceil_div(count, rows) * rows;
        if (computed < fewest) {
            fewest = computed;
            best = rows;
        }
    }
    w->shape.rows = best;
}

static void choose_blocks(winograd *w) {
    int64_t bytes = PRODUCTS * w->line * 4 * w->shape.rows;
    int64_t blocks = w->lower->target->l2_bytes / bytes;
    w->blocks = blocks < 1 ? 1 : blocks > MAX_BLOCKS ? MAX_BLOCKS : blocks;
}

/* Where the patches are few tiles, columns are split too, so that threads have work;
 * each group transforms the patches for itself. */
static void choose_groups(winograd *w) {
    int64_t tiles, each = w->width;
    int64_t max = w->columns / GROUP_COLUMNS, wanted = 1;
    if (ig_dim_constant(w->lower->module, count_tiles(w), &tiles) && tiles > 0) {
        wanted = ig_ceil_div(TILES, tiles);
    }
    wanted = wanted > max ? max : wanted;
    int64_t panels = ig_ceil_div(w->columns, each);
    w->group_columns = ig_ceil_div(panels, wanted > 1 ? wanted : 1) * each;
    w->groups = ig_ceil_div(panels * each, w->group_columns);
}

static void open_memory(winograd *w) {
    ig_lower *lower = w->lower;
    int64_t patches = PRODUCTS * tile_patches(w), lanes = w->shape.lanes;
    w->inputs = ig_cpu_scratch(lower, patches * w->line);
    w->products = ig_cpu_scratch(lower, patches * w->width);
    w->zeros = ig_cpu_zeros(lower, w->line);
    if (ig_lower_is_heavy(lower->body)) {
        w->stage = k_local(lower->kernel, IG_DT_f32, RESULTS * lanes);
    }
}

static bool can_lower(const winograd *w) {
    return w->x && w->w &&
           (ig_dim_is(w->x->strides[3], 1) || ig_dim_is(w->x->type->dims[3], 1));
}

ig_status ig_lower_cpu_winograd(ig_lower *lower) {
    const ig_op *op = ig_lower_anchor(lower, IG_OP_conv_winograd);
    winograd w = { .lower = lower,
                   .op = op,
                   .x = ig_lower_input(lower, op, 0),
                   .w = ig_lower_input(lower, op, 1),
                   .out = op->results[0].type,
                   .shape = ig_gemm_shape_of(lower->target),
                   .columns = ig_attr_int(op, IG_conv_winograd_columns, 1) };
    if (!can_lower(&w) ||
        !ig_dim_constant(lower->module, w.x->type->dims[3], &w.channels) ||
        w.channels < 1) {
        return ig_lower_unsupported(lower, "a convolution of this form");
    }
    w.line = ig_gemm_copy_stride(w.channels);
    w.width = (int64_t)w.shape.panels * PANEL;
    w.patches[0] = w.out->dims[0];
    for (uint32_t d = 1; d < 3; d++) {
        w.patches[d] = ig_lower_ceil_div(lower, w.out->dims[d], OUT);
    }
    choose_rows(&w);
    choose_blocks(&w);
    choose_groups(&w);
    open_memory(&w);
    ig_dim count = count_patches(&w);
    int64_t macs = PRODUCTS * w.channels * w.columns;
    lower->grid = ig_lower_mul(lower, count_tiles(&w), ig_dim_of(w.groups));
    lower->cost = ig_lower_mul(lower, count, ig_dim_of(macs / 64 + 1));
    lower->name = ig_lower_name(lower, "winograd");
    ig_lower_each_tile(lower, emit_tile, &w);
    return IG_OK;
}
