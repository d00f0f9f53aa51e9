/* Dot interaction on CPUs: chosen pairs of rows of each sample, multiplied.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   out[s, p] = sum over k of x[s, i(p), k] * x[s, j(p), k]
 *
 * Rows of several vectors have lanes along the depth (interact_depth.c).  Of shorter
 * ones, whole blocks of samples have a sample in each lane (interact_lanes.c), and
 * samples that are left over are multiplied one by one, here; both make each element by
 * the same chain over k.  The extents of a sample choose, never how many there are, so
 * a sample's results do not depend on its neighbours.
 *
 * A sample's rows (27 x 64) are transposed into scratch memory, in squares of lanes x
 * lanes by shuffles, so that one vector holds column k of many rows j.  Then rows i are
 * multiplied in register tiles like a small matrix product, of which only the vectors
 * that some pair needs are computed: the lower triangle costs half of the square.
 * Pairs are grouped into runs (one i, consecutive j, consecutive p), a run is stored
 * as vectors.
 *
 *   grid       blocks of as many samples as a vector has lanes
 */
#include "passes/lower/cpu/interact.h"

#include "base/checked.h"

#include <assert.h>

enum { MAX_VECTORS = 20, MAX_RUNS = 1024, MAX_PAIRS = 8192, MAX_ROWS = 4096 };

typedef struct pair_run {
    int64_t row, column, position; /* i, first j, first p */
    int64_t count;
} pair_run;

typedef struct single {
    ig_interact of;
    bool is_along;        /* lanes are along the depth; the rest is of the other ways */
    uint32_t row_vectors; /* vectors that hold column k of all rows */
    int64_t padded;       /* row_vectors * lanes */
    pair_run *runs;
    uint32_t run_count;
    uint32_t *width;    /* vectors needed of row i */
    ig_value *columns;  /* scratch [D up to lanes][padded]: transposed sample */
    ig_value *products; /* scratch [F][padded] */
} single;

/* ---- runs ---- */

static uint32_t find_runs(const int64_t *pairs, uint32_t count, int64_t rows,
                          bool swaps, pair_run *out_runs) {
    uint32_t found = 0;
    for (uint32_t p = 0; p < count; p++) {
        int64_t i = pairs[p] / rows, j = pairs[p] % rows;
        int64_t row = swaps ? j : i, column = swaps ? i : j;
        pair_run *last = found ? &out_runs[found - 1] : NULL;
        if (last && last->row == row && last->column + last->count == column) {
            last->count++;
            continue;
        }
        out_runs[found++] = (pair_run){ row, column, p, 1 };
    }
    return found;
}

/* A dot product has no order: the orientation with fewer runs is taken. */
static void choose_runs(single *t, const int64_t *pairs, uint32_t count) {
    pair_run *plain = IG_NEW_ARRAY(t->of.lower->arena, pair_run, count);
    pair_run *swapped = IG_NEW_ARRAY(t->of.lower->arena, pair_run, count);
    uint32_t plain_count = find_runs(pairs, count, t->of.rows, false, plain);
    uint32_t swapped_count = find_runs(pairs, count, t->of.rows, true, swapped);
    t->of.swaps = swapped_count < plain_count;
    t->runs = t->of.swaps ? swapped : plain;
    t->run_count = t->of.swaps ? swapped_count : plain_count;
    t->width = IG_NEW_ARRAY(t->of.lower->arena, uint32_t, (size_t)t->of.rows);
    for (uint32_t r = 0; r < t->run_count; r++) {
        const pair_run *run = &t->runs[r];
        uint32_t need = (uint32_t)((run->column + run->count - 1) / t->of.lanes + 1);
        uint32_t *width = &t->width[run->row];
        *width = need > *width ? need : *width;
    }
}

/* ---- transposing ---- */

/* Columns k … k + lanes of rows from `row` on, into scratch.  The next sample's are
 * asked for: one sample is multiplied in about the time that memory takes. */
static void emit_square(const single *t, ig_builder *b, ig_value *sample, int64_t row,
                        ig_value *k, ig_value *count) {
    ig_value *square[IG_CPU_SQUARE];
    for (uint32_t i = 0; i < t->of.lanes; i++) {
        bool is_there = row + i < t->of.rows;
        ig_value *step = ig_lower_dim(t->of.lower, t->of.x->strides[1]);
        ig_value *at = k_add(b, k_mul(b, step, k_i64(b, row + i)), k);
        if (is_there) {
            ig_value *next = ig_lower_dim(t->of.lower, t->of.x->strides[0]);
            k_prefetch(b, sample, k_add(b, at, next), 1);
        }
        square[i] = is_there ? k_load_count(b, sample, at, t->of.lanes, count)
                             : k_const_vector(b, IG_DT_f32, t->of.lanes, 0.0);
    }
    ig_cpu_transpose(b, square, t->of.lanes);
    for (uint32_t i = 0; i < t->of.lanes; i++) {
        ig_value *line = k_mul(b, k_add(b, k, k_i64(b, i)), k_i64(b, t->padded));
        k_store(b, square[i], t->columns, k_add(b, line, k_i64(b, row)));
    }
}

static void emit_transpose(const single *t, ig_builder *b, ig_value *sample) {
    int64_t whole = t->of.depth / t->of.lanes * t->of.lanes;
    ig_value *step = k_i64(b, t->of.lanes);
    k_loop loop = k_loop_open(b, k_i64(b, 0), k_i64(b, whole), step, NULL, 0);
    for (int64_t row = 0; row < t->of.rows; row += t->of.lanes) {
        emit_square(t, &loop.b, sample, row, loop.index, NULL);
    }
    k_loop_close(&loop, NULL, 0);
    for (int64_t row = 0; whole < t->of.depth && row < t->of.rows; row += t->of.lanes) {
        emit_square(t, b, sample, row, k_i64(b, whole), k_i64(b, t->of.depth - whole));
    }
}

/* ---- products ---- */

/* Rows first … first + count, each with its own number of vectors. */
static void emit_rows(const single *t, ig_builder *b, ig_value *sample, int64_t first,
                      int64_t count) {
    ig_value *sums[K_CARRIED];
    uint32_t total = 0, widest = 0;
    for (int64_t r = first; r < first + count; r++) {
        total += t->width[r];
        widest = t->width[r] > widest ? t->width[r] : widest;
    }
    for (uint32_t i = 0; i < total; i++) {
        sums[i] = k_const_vector(b, IG_DT_f32, t->of.lanes, 0.0);
    }
    k_loop loop = k_loop_open(b, k_i64(b, 0), k_i64(b, t->of.depth), k_i64(b, 1), sums,
                              total);
    ig_builder *in = &loop.b;
    ig_value *line = k_mul(in, loop.index, k_i64(in, t->padded));
    ig_value *others[K_CARRIED];
    for (uint32_t v = 0; v < widest; v++) {
        ig_value *at = k_add(in, line, k_i64(in, (int64_t)v * t->of.lanes));
        others[v] = k_load(in, t->columns, at, t->of.lanes);
    }
    ig_value *step = ig_lower_dim(t->of.lower, t->of.x->strides[1]);
    for (int64_t r = first, i = 0; r < first + count; r++) {
        ig_value *at = k_add(in, k_mul(in, step, k_i64(in, r)), loop.index);
        ig_value *own = k_splat(in, k_load(in, sample, at, 1), t->of.lanes);
        for (uint32_t v = 0; v < t->width[r]; v++, i++) {
            sums[i] = k_muladd(in, own, others[v], loop.carried[i]);
        }
    }
    k_loop_close(&loop, sums, total);
    for (int64_t r = first, i = 0; r < first + count; r++) {
        for (uint32_t v = 0; v < t->width[r]; v++, i++) {
            int64_t position = r * t->padded + (int64_t)v * t->of.lanes;
            k_store(b, loop.results[i], t->products, k_i64(b, position));
        }
    }
}

/* Sums that fit into registers beside one column of all rows and one own element. */
static uint32_t tile_vectors(const single *t) {
    uint32_t beside = t->row_vectors + 2,
             registers = t->of.lower->target->vector_registers;
    uint32_t room = registers > beside + 4 ? registers - beside : 4;
    return room > MAX_VECTORS + 8 ? MAX_VECTORS + 8 : room;
}

static void emit_products(const single *t, ig_builder *b, ig_value *sample) {
    uint32_t room = tile_vectors(t);
    for (int64_t first = 0; first < t->of.rows;) {
        uint32_t total = t->width[first];
        int64_t next = first + 1;
        while (next < t->of.rows && total + t->width[next] <= room) {
            total += t->width[next++];
        }
        if (total) {
            emit_rows(t, b, sample, first, next - first);
        }
        first = next;
    }
}

/* ---- runs to their places ---- */

static void emit_run(const single *t, ig_builder *b, const pair_run *run,
                     ig_value *out_row) {
    int64_t from = run->row * t->padded + run->column;
    for (int64_t done = 0; done < run->count; done += t->of.lanes) {
        int64_t left = run->count - done;
        ig_value *count = left < (int64_t)t->of.lanes ? k_i64(b, left) : NULL;
        ig_value *x = k_load_count(b, t->products, k_i64(b, from + done), t->of.lanes,
                                   count);
        ig_value *position = k_add(b, out_row, k_i64(b, run->position + done));
        k_store_count(b, x, t->of.out->buffer, position, count);
    }
}

static void emit_transposed(const single *t, ig_builder *b, ig_value *sample,
                            ig_value *out_row) {
    emit_transpose(t, b, sample);
    emit_products(t, b, sample);
    for (uint32_t r = 0; r < t->run_count; r++) {
        emit_run(t, b, &t->runs[r], out_row);
    }
}

/* Samples first … last, one by one. */
static void emit_samples(const single *t, ig_builder *b, ig_value *first,
                         ig_value *last) {
    const ig_interact *of = &t->of;
    k_loop loop = k_loop_open(b, first, last, k_i64(b, 1), NULL, 0);
    ig_builder *in = &loop.b;
    ig_value *step = ig_lower_dim(of->lower, of->x->strides[0]);
    ig_value *sample = k_offset(in, of->x->buffer, k_mul(in, loop.index, step));
    ig_value *out_step = ig_lower_dim(of->lower, of->out->strides[0]);
    ig_value *out_row = k_mul(in, loop.index, out_step);
    if (t->is_along) {
        ig_interact_emit_depth(of, in, sample, out_row);
    } else {
        emit_transposed(t, in, sample, out_row);
    }
    k_loop_close(&loop, NULL, 0);
}

static void emit_tile(void *user, ig_builder *b, ig_value *tile) {
    const single *t = user;
    ig_dim samples = t->of.x->type->dims[0];
    ig_value *lanes = k_i64(b, t->of.lanes), *first = k_mul(b, tile, lanes);
    ig_value *end = k_add(b, first, lanes), *total = ig_lower_dim(t->of.lower, samples);
    if (!t->of.columns) {
        emit_samples(t, b, first, k_min(b, end, total));
        return;
    }
    k_if whole = k_if_open(b, k_compare(b, IG_OP_le, end, total), NULL, 0);
    ig_interact_emit_lanes(&t->of, &whole.then, first);
    emit_samples(t, &whole.other, first, total);
    k_if_close(&whole, NULL, NULL);
}

/* ---- the schedule ---- */

static bool is_supported(const ig_interact *of) {
    return of->x->type->dtype == IG_DT_f32 && ig_dim_is(of->x->strides[2], 1) &&
           ig_dim_is(of->out->strides[1], 1) && of->rows <= MAX_ROWS;
}

/* Turning a sample takes time by its elements, adding up lanes by pairs: for each pair
 * as long as for 1 / 7 of as many elements as there are lanes. */
static bool is_best_along(const single *t) {
    const ig_interact *of = &t->of;
    int64_t lanes = of->lanes, whole = of->depth / lanes * lanes;
    return whole >= 2 * lanes &&
           (int64_t)of->pair_count * lanes <= 7 * of->rows * whole;
}

static void choose_way(single *t) {
    const ig_interact *of = &t->of;
    t->row_vectors = (uint32_t)((of->rows + of->lanes - 1) / of->lanes);
    t->padded = (int64_t)t->row_vectors * of->lanes;
    choose_runs(t, of->pairs, of->pair_count);
    bool is_small = t->row_vectors <= MAX_VECTORS && t->run_count <= MAX_RUNS &&
                    of->pair_count <= MAX_PAIRS;
    t->is_along = !is_small || is_best_along(t);
}

static void plan_scratch(single *t) {
    ig_interact *of = &t->of;
    int64_t depth = (of->depth + of->lanes - 1) / of->lanes * of->lanes, count;
    t->columns = ig_cpu_scratch(of->lower, depth * t->padded);
    t->products = ig_cpu_scratch(of->lower, of->rows * t->padded);
    ig_dim samples = of->x->type->dims[0];
    if (!ig_dim_constant(of->lower->module, samples, &count) || count >= of->lanes) {
        ig_interact_plan_lanes(of);
    }
}

ig_status ig_lower_cpu_interact(ig_lower *lower) {
    ig_op *anchor = ig_lower_anchor(lower, IG_OP_interact);
    assert(anchor && "the family's body has its anchor");
    const ig_attr *pairs = &anchor->attrs[IG_interact_pairs];
    single t = { .of = { .lower = lower,
                         .x = ig_lower_input(lower, anchor, 0),
                         .out = &lower->outs[0],
                         .lanes = ig_lower_lanes(lower, IG_DT_f32),
                         .pairs = pairs->as.ints,
                         .pair_count = pairs->count } };
    ig_interact *of = &t.of;
    bool is_known = of->x &&
                    ig_dim_constant(lower->module, of->x->type->dims[1], &of->rows) &&
                    ig_dim_constant(lower->module, of->x->type->dims[2], &of->depth);
    if (!is_known) {
        return ig_lower_unsupported(lower, "an interaction of unknown size");
    }
    if (!is_supported(of)) {
        return ig_lower_unsupported(lower, "this form of interaction");
    }
    choose_way(&t);
    if (!t.is_along) {
        plan_scratch(&t);
    }
    ig_dim samples = of->x->type->dims[0];
    lower->grid = ig_lower_ceil_div(lower, samples, of->lanes);
    lower->cost = ig_lower_mul(lower, samples,
                               ig_dim_of((int64_t)of->pair_count * of->depth / 16));
    ig_lower_each_tile(lower, emit_tile, &t);
    return IG_OK;
}
