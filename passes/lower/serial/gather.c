/* Gather in its three forms.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   gather            out[o…, i…, r…] = x[o…, ids[i…], r…]
 *   gather_elements   out[i…] = x[i… with i[axis] replaced by ids[i…]]
 *   gather_nd         out[b…, i…, r…] = x[b…, ids[b…, i…, 0 … m-1], r…]
 *
 * The space is cut in two: rows (everything an id is read for) and the run of elements
 * under one id (r…), which is copied whole, as vectors where it is contiguous in both.
 * Ids are checked; one out of range is reported and its run is zero.  Runs of one
 * element side by side go by vectors of ids, all of which are checked with one test.
 *
 *   grid       rows, in blocks of about 4096 elements where the run's length is known;
 *              on GPUs elements, in pieces of 16 bytes where rows begin at them
 */
#include "passes/lower/serial/serial.h"

#include "passes/lower/team.h"

enum {
    CHUNK = 4096,
    IDS = 1,
    THREADS = 256, /* of a GPU's block, which has PIECES pieces */
    PIECES = 4 * THREADS,
    MAX_LANES = 8
};

typedef struct gather gather;
typedef struct place_at {
    ig_value *x, *valid; /* element of x; true when every id is in range */
} place_at;

struct gather {
    ig_lower *lower;
    const ig_op *op;
    const ig_lower_operand *x, *ids, *out;
    uint32_t row_rank; /* leading dims of out that are rows */
    uint32_t axis, batch;
    bool wraps, skips;
    int64_t rows_per_tile;
    uint32_t lanes;
    /* Where in x the run of a row begins. */
    place_at (*locate)(const gather *g, ig_builder *b, ig_value *const *row);
};

/* ---- ids ---- */

static ig_value *dot_strides(const gather *g, ig_builder *b, const ig_dim *strides,
                             ig_value *const *index, uint32_t count) {
    ig_value *at = k_i64(b, 0);
    for (uint32_t d = 0; d < count; d++) {
        at = k_add(b, at, k_mul(b, index[d], ig_lower_dim(g->lower, strides[d])));
    }
    return at;
}

/* The id at element `at`, made non-negative; *valid is and-ed with its being in
 * range.  What is not in range is zeros. */
static ig_value *checked_id(const gather *g, ig_builder *b, ig_value *at, ig_dim extent,
                            ig_value **valid) {
    ig_value *id = k_cast(b, k_load(b, g->ids->buffer, at, 1), IG_DT_i64);
    ig_value *rows = ig_lower_dim(g->lower, extent), *zero = k_i64(b, 0);
    ig_value *row = id;
    if (g->wraps) {
        row = k_where(b, k_compare(b, IG_OP_lt, id, zero), k_add(b, id, rows), id);
    }
    ig_value *is_good = k_compare(b, IG_OP_lt, k_cast(b, row, IG_DT_u64),
                                  k_cast(b, rows, IG_DT_u64));
    ig_value *is_meant = is_good;
    if (g->skips) {
        ig_value *is_none = k_compare(b, IG_OP_lt, id, zero);
        is_meant = k_binary(b, IG_OP_or, is_good, is_none);
    }
    k_if check = k_if_open(b, is_meant, NULL, 0);
    k_report(&check.other, k_i64(&check.other, IDS), at, id);
    k_if_close(&check, NULL, NULL);
    *valid = *valid ? k_binary(b, IG_OP_and, *valid, is_good) : is_good;
    return k_where(b, is_good, row, zero);
}

static place_at place_gather(const gather *g, ig_builder *b, ig_value *const *row) {
    place_at position = { .valid = NULL };
    uint32_t ids_rank = g->ids->type->rank;
    ig_value *const *ids_row = ids_rank > 0 ? row + g->axis : NULL;
    ig_value *at = dot_strides(g, b, g->ids->strides, ids_row, ids_rank);
    ig_value *id = checked_id(g, b, at, g->x->type->dims[g->axis], &position.valid);
    ig_value *outer = dot_strides(g, b, g->x->strides, row, g->axis);
    ig_value *step = ig_lower_dim(g->lower, g->x->strides[g->axis]);
    position.x = k_add(b, outer, k_mul(b, id, step));
    return position;
}

static place_at place_elements(const gather *g, ig_builder *b, ig_value *const *row) {
    place_at position = { .valid = NULL };
    uint32_t rank = g->x->type->rank;
    ig_value *at = dot_strides(g, b, g->ids->strides, row, rank);
    ig_value *id = checked_id(g, b, at, g->x->type->dims[g->axis], &position.valid);
    ig_value *index[IG_TENSOR_RANK];
    for (uint32_t d = 0; d < rank; d++) {
        index[d] = d == g->axis ? id : row[d];
    }
    position.x = dot_strides(g, b, g->x->strides, index, rank);
    return position;
}

static place_at place_nd(const gather *g, ig_builder *b, ig_value *const *row) {
    place_at position = { .valid = NULL };
    uint32_t last = g->ids->type->rank - 1;
    ig_value *start = dot_strides(g, b, g->ids->strides, row, last);
    ig_value *step = ig_lower_dim(g->lower, g->ids->strides[last]);
    position.x = dot_strides(g, b, g->x->strides, row, g->batch);
    for (int64_t m = 0; m < ig_dim_value(g->ids->type->dims[last]); m++) {
        uint32_t d = g->batch + (uint32_t)m;
        ig_value *at = k_add(b, start, k_mul(b, step, k_i64(b, m)));
        ig_value *id = checked_id(g, b, at, g->x->type->dims[d], &position.valid);
        ig_value *by = ig_lower_dim(g->lower, g->x->strides[d]);
        position.x = k_add(b, position.x, k_mul(b, id, by));
    }
    if (!position.valid) { /* ids of no columns name all of x, which is there */
        position.valid = k_const(b, IG_DT_bool, 1);
    }
    return position;
}

/* ---- runs ---- */

static uint32_t run_rank(const gather *g) {
    return g->out->type->rank - g->row_rank;
}

/* Does the run walk through memory as one dim of stride 1? */
static bool is_run_contiguous(const gather *g, const ig_lower_operand *operand) {
    ig_module *module = g->lower->module;
    ig_dim step = ig_dim_of(1);
    for (uint32_t d = 0; d < run_rank(g); d++) {
        uint32_t at = operand->type->rank - 1 - d;
        if (!ig_dim_is(operand->type->dims[at], 1) &&
            ig_dim_equal(module, operand->strides[at], step) != IG_YES) {
            return false;
        }
        step = ig_dim_mul(module, step, operand->type->dims[at]);
    }
    return true;
}

static ig_dim run_length(const gather *g) {
    return ig_dim_product(g->lower->module, g->out->type->dims + g->row_rank,
                          run_rank(g));
}

/* `lanes` elements from `from` to `to`; those from `count` on are not touched. */
static void copy_vector(const gather *g, ig_builder *b, const place_at *from,
                        ig_value *to, uint32_t lanes, ig_value *count) {
    ig_value *x = k_load_count(b, g->x->buffer, from->x, lanes, count);
    ig_value *zero = k_const_vector(b, (ig_dtype)x->type->dtype, lanes, 0.0);
    ig_value *is_there = k_splat(b, from->valid, lanes);
    k_store_count(b, k_where(b, is_there, x, zero), g->out->buffer, to, count);
}

static void copy_contiguous(const gather *g, ig_builder *b, const place_at *from,
                            ig_value *to) {
    ig_value *length = ig_lower_dim(g->lower, run_length(g));
    ig_value *step = k_i64(b, g->lanes);
    k_loop loop = k_loop_open(b, k_i64(b, 0), length, step, NULL, 0);
    ig_value *count = g->lanes == 1 ? NULL : k_sub(&loop.b, length, loop.index);
    place_at next = { .x = k_add(&loop.b, from->x, loop.index), .valid = from->valid };
    copy_vector(g, &loop.b, &next, k_add(&loop.b, to, loop.index), g->lanes, count);
    k_loop_close(&loop, NULL, 0);
}

/* Moves both places on to element `rest` of a run with gaps. */
static void step_into_run(const gather *g, ig_builder *b, ig_value *rest, ig_value **x,
                          ig_value **out) {
    for (uint32_t d = 0; d < run_rank(g); d++) {
        uint32_t at_out = g->out->type->rank - 1 - d, at_x = g->x->type->rank - 1 - d;
        ig_value *extent = ig_lower_dim(g->lower, g->out->type->dims[at_out]);
        ig_value *i = k_mod(b, rest, extent);
        rest = k_div(b, rest, extent);
        *x = k_add(b, *x, k_mul(b, i, ig_lower_dim(g->lower, g->x->strides[at_x])));
        *out = k_add(b, *out,
                     k_mul(b, i, ig_lower_dim(g->lower, g->out->strides[at_out])));
    }
}

/* Element by element, for runs with gaps. */
static void copy_scattered(const gather *g, ig_builder *b, const place_at *from,
                           ig_value *to) {
    ig_value *length = ig_lower_dim(g->lower, run_length(g));
    k_loop loop = k_loop_open(b, k_i64(b, 0), length, k_i64(b, 1), NULL, 0);
    place_at position = *from;
    step_into_run(g, &loop.b, loop.index, &position.x, &to);
    copy_vector(g, &loop.b, &position, to, 1, NULL);
    k_loop_close(&loop, NULL, 0);
}

/* ---- the grid ---- */

static bool is_contiguous(const gather *g) {
    return is_run_contiguous(g, g->x) && is_run_contiguous(g, g->out);
}

static void emit_row(const gather *g, ig_builder *b, ig_value *const *index) {
    place_at from = g->locate(g, b, index);
    ig_value *to = dot_strides(g, b, g->out->strides, index, g->row_rank);
    if (is_contiguous(g)) {
        copy_contiguous(g, b, &from, to);
    } else {
        copy_scattered(g, b, &from, to);
    }
}

/* ---- runs of one element, by vectors ---- */

/* Lanes run along the last row axis, where ids and results are side by side. */
static bool has_id_lanes(const gather *g) {
    uint32_t ids_rank = g->ids->type->rank;
    ig_dtype dtype = (ig_dtype)g->x->type->dtype;
    return g->op->code != IG_OP_gather_nd && run_rank(g) == 0 && ids_rank > 0 &&
           ig_dim_is(g->ids->strides[ids_rank - 1], 1) &&
           ig_dim_is(g->out->strides[g->out->type->rank - 1], 1) &&
           ig_dtypes[dtype].bits >= 32 && ig_lower_lanes(g->lower, IG_DT_i64) >= 4;
}

/* Where in x the ids of a vector lead to, as place_gather and place_elements have
 * it. */
static ig_value *place_lanes(const gather *g, ig_builder *b, ig_value *const *row,
                             ig_value *rows, ig_value *count) {
    uint32_t lanes = rows->type->lanes, inner = g->row_rank - 1;
    uint32_t fixed = g->op->code == IG_OP_gather ? g->axis : g->row_rank;
    ig_value *start = k_i64(b, 0);
    for (uint32_t d = 0; d < fixed; d++) {
        if (g->op->code == IG_OP_gather || d != g->axis) {
            ig_value *step = ig_lower_dim(g->lower, g->x->strides[d]);
            start = k_add(b, start, k_mul(b, row[d], step));
        }
    }
    ig_value *step = ig_lower_dim(g->lower, g->x->strides[g->axis]);
    ig_value *at = k_binary(b, IG_OP_mul, rows, k_splat(b, step, lanes));
    at = k_binary(b, IG_OP_add, at, k_splat(b, start, lanes));
    if (g->op->code == IG_OP_gather || g->axis == inner) {
        return at;
    }
    ig_value *lane = k_iota(b, lanes);
    if (count) {
        ig_value *last = k_splat(b, k_sub(b, count, k_i64(b, 1)), lanes);
        lane = k_binary(b, IG_OP_min, lane, last);
    }
    step = ig_lower_dim(g->lower, g->x->strides[inner]);
    return k_binary(b, IG_OP_add, at,
                    k_binary(b, IG_OP_mul, lane, k_splat(b, step, lanes)));
}

/* The rows of some ids; *is_good: are all of those that count (NULL: all) in range? */
static ig_value *check_lanes(const gather *g, ig_builder *b, ig_value *ids,
                             ig_value *count, ig_value **is_good) {
    uint32_t lanes = ids->type->lanes;
    ig_value *extent = ig_lower_dim(g->lower, g->x->type->dims[g->axis]);
    ig_value *zero = k_splat(b, k_i64(b, 0), lanes), *all = k_splat(b, extent, lanes);
    ig_value *rows = ids;
    if (g->wraps) {
        ig_value *is_low = k_compare(b, IG_OP_lt, ids, zero);
        rows = k_where(b, is_low, k_binary(b, IG_OP_add, ids, all), ids);
    }
    ig_value *is_in = k_compare(b, IG_OP_lt, k_cast(b, rows, IG_DT_u64),
                                k_cast(b, all, IG_DT_u64));
    ig_value *is_bad = k_unary(b, IG_OP_not, is_in);
    if (count) {
        ig_value *is_meant = k_compare(b, IG_OP_lt, k_iota(b, lanes),
                                       k_splat(b, count, lanes));
        is_bad = k_binary(b, IG_OP_and, is_bad, is_meant);
    }
    *is_good = k_unary(b, IG_OP_not, k_any(b, is_bad));
    return k_where(b, is_in, rows, zero);
}

/* Elements from index[inner] on, `count` of a vector (NULL: all); those that ids out of
 * range name go one by one. */
static void emit_id_vector(const gather *g, ig_builder *b, ig_value **index,
                           ig_value *count) {
    uint32_t inner = g->row_rank - 1, lanes = ig_lower_lanes(g->lower, IG_DT_i64);
    uint32_t ids_rank = g->ids->type->rank;
    ig_value *const *own = index + (g->op->code == IG_OP_gather ? g->axis : 0);
    ig_value *first = index[inner], *is_good = NULL;
    ig_value *at = dot_strides(g, b, g->ids->strides, own, ids_rank);
    ig_value *ids = k_load_count(b, g->ids->buffer, at, lanes, count);
    ig_value *rows = check_lanes(g, b, k_cast(b, ids, IG_DT_i64), count, &is_good);
    k_if check = k_if_open(b, is_good, NULL, 0);
    ig_builder *in = &check.then;
    ig_value *x = k_load_at(in, g->x->buffer, place_lanes(g, in, index, rows, count));
    ig_value *to = dot_strides(g, in, g->out->strides, index, g->row_rank);
    k_store_count(in, x, g->out->buffer, to, count);
    ig_value *end = k_add(&check.other, first,
                          count ? count : k_i64(&check.other, lanes));
    k_loop loop = k_loop_open(&check.other, first, end, k_i64(&check.other, 1), NULL,
                              0);
    index[inner] = loop.index;
    emit_row(g, &loop.b, index);
    k_loop_close(&loop, NULL, 0);
    k_if_close(&check, NULL, NULL);
}

/* Rows `first` to `last` of those along the last row axis under `outer`, the index of
 * the others. */
static void emit_line(const gather *g, ig_builder *b, ig_value *outer, ig_value *first,
                      ig_value *last) {
    ig_value *index[IG_TENSOR_RANK];
    uint32_t inner = g->row_rank - 1;
    for (uint32_t d = inner; d-- > 0;) {
        ig_value *extent = ig_lower_dim(g->lower, g->out->type->dims[d]);
        index[d] = d == 0 ? outer : k_mod(b, outer, extent);
        outer = d == 0 ? outer : k_div(b, outer, extent);
    }
    if (has_id_lanes(g)) {
        ig_value *lanes = k_i64(b, ig_lower_lanes(g->lower, IG_DT_i64));
        ig_value *count = k_div(b, k_max(b, k_sub(b, last, first), k_i64(b, 0)), lanes);
        ig_value *whole = k_add(b, first, k_mul(b, count, lanes));
        k_loop vectors = k_loop_open(b, first, whole, lanes, NULL, 0);
        index[inner] = vectors.index;
        emit_id_vector(g, &vectors.b, index, NULL);
        k_loop_close(&vectors, NULL, 0);
        k_if rest = k_if_open(b, k_compare(b, IG_OP_lt, whole, last), NULL, 0);
        index[inner] = whole;
        emit_id_vector(g, &rest.then, index, k_sub(&rest.then, last, whole));
        k_if_close(&rest, NULL, NULL);
        return;
    }
    k_loop loop = k_loop_open(b, first, last, k_i64(b, 1), NULL, 0);
    index[inner] = loop.index;
    emit_row(g, &loop.b, index);
    k_loop_close(&loop, NULL, 0);
}

/* A tile's rows, of which those along the last row axis need no division. */
static void emit_tile(void *user, ig_builder *b, ig_value *tile) {
    const gather *g = user;
    ig_dim count = ig_dim_product(g->lower->module, g->out->type->dims, g->row_rank);
    ig_value *rows = ig_lower_dim(g->lower, count), *one = k_i64(b, 1);
    ig_value *step = k_i64(b, g->rows_per_tile);
    ig_value *first = k_mul(b, tile, step);
    ig_value *last = k_min(b, rows, k_add(b, first, step));
    if (g->row_rank == 0) {
        emit_row(g, b, NULL);
        return;
    }
    if (g->row_rank == 1) {
        emit_line(g, b, NULL, first, last);
        return;
    }
    ig_value *extent = ig_lower_dim(g->lower, g->out->type->dims[g->row_rank - 1]);
    ig_value *end = k_add(b, k_div(b, k_sub(b, last, one), extent), one);
    k_loop lines = k_loop_open(b, k_div(b, first, extent), end, one, NULL, 0);
    ig_builder *in = &lines.b;
    ig_value *start = k_mul(in, lines.index, extent);
    ig_value *from = k_max(in, k_sub(in, first, start), k_i64(in, 0));
    ig_value *to = k_min(in, k_sub(in, last, start), extent);
    emit_line(g, in, lines.index, from, to);
    k_loop_close(&lines, NULL, 0);
}

/* ---- on GPUs: pieces of rows by all threads of a block ---- */

/* Piece `number` of the result: `lanes` elements of a run. */
static void emit_piece(const gather *g, ig_builder *b, ig_value *number) {
    ig_dim length = run_length(g);
    ig_value *per = g->lanes > 1 ? k_i64(b, ig_dim_value(length) / g->lanes)
                                 : ig_lower_dim(g->lower, length);
    ig_value *rest = k_mul(b, k_mod(b, number, per), k_i64(b, g->lanes));
    ig_value *row = k_div(b, number, per), *index[IG_TENSOR_RANK];
    for (uint32_t d = g->row_rank; d-- > 0;) {
        ig_value *extent = ig_lower_dim(g->lower, g->out->type->dims[d]);
        index[d] = d == 0 ? row : k_mod(b, row, extent);
        row = d == 0 ? row : k_div(b, row, extent);
    }
    place_at from = g->locate(g, b, index);
    ig_value *to = dot_strides(g, b, g->out->strides, index, g->row_rank);
    if (is_contiguous(g)) {
        from.x = k_add(b, from.x, rest);
        to = k_add(b, to, rest);
    } else {
        step_into_run(g, b, rest, &from.x, &to);
    }
    copy_vector(g, b, &from, to, g->lanes, NULL);
}

/* Neighbouring threads have neighbouring pieces. */
static void emit_pieces(void *user, ig_builder *b, ig_value *tile) {
    const gather *g = user;
    ig_dim count = ig_type_count(g->lower->module, g->out->type);
    ig_value *all = k_div(b, ig_lower_dim(g->lower, count), k_i64(b, g->lanes));
    ig_value *first = k_mul(b, tile, k_i64(b, PIECES));
    ig_value *last = k_min(b, k_add(b, first, k_i64(b, PIECES)), all);
    ig_value *begin = k_add(b, first, ig_gpu_thread(b));
    k_loop loop = k_loop_open(b, begin, last, k_i64(b, THREADS), NULL, 0);
    emit_piece(g, &loop.b, loop.index);
    k_loop_close(&loop, NULL, 0);
}

/* 16 bytes a thread where rows of both sides begin at multiples of them. */
static uint32_t piece_lanes(const gather *g) {
    uint32_t bits = (uint32_t)ig_dtypes[g->x->type->dtype].bits;
    uint32_t lanes = bits < 8 ? 1 : 128 / bits;
    lanes = lanes > MAX_LANES ? MAX_LANES : lanes;
    ig_dim length = run_length(g);
    bool is_even = ig_dim_is_static(length) && ig_dim_value(length) % lanes == 0;
    return is_even && is_contiguous(g) &&
                   ig_lower_has_even_rows(g->lower, g->x, lanes) &&
                   ig_lower_has_even_rows(g->lower, g->out, lanes)
               ? lanes
               : 1;
}

static void lower_pieces(gather *g) {
    ig_lower *lower = g->lower;
    g->lanes = piece_lanes(g);
    lower->threads = THREADS;
    ig_dim count = ig_type_count(lower->module, g->out->type);
    lower->grid = ig_lower_ceil_div(lower, count, PIECES * (int64_t)g->lanes);
    ig_lower_each_tile(lower, emit_pieces, g);
}

static void choose_form(gather *g) {
    uint32_t rank = g->x->type->rank;
    int64_t negative = IG_NEGATIVE_wrap;
    if (g->op->code == IG_OP_gather) {
        g->axis = (uint32_t)ig_attr_int(g->op, IG_gather_axis, 0);
        negative = ig_attr_int(g->op, IG_gather_negative, 0);
        g->row_rank = g->axis + g->ids->type->rank;
        g->locate = place_gather;
    } else if (g->op->code == IG_OP_gather_elements) {
        g->axis = (uint32_t)ig_attr_int(g->op, IG_gather_elements_axis, 0);
        g->row_rank = rank;
        g->locate = place_elements;
    } else {
        g->batch = (uint32_t)ig_attr_int(g->op, IG_gather_nd_batch, 0);
        negative = ig_attr_int(g->op, IG_gather_nd_negative, 0);
        g->row_rank = g->ids->type->rank - 1;
        g->locate = place_nd;
    }
    g->wraps = negative == IG_NEGATIVE_wrap;
    g->skips = negative == IG_NEGATIVE_skip;
}

ig_status ig_lower_serial_gather(ig_lower *lower) {
    const ig_op *op = lower->body->first;
    gather g = { .lower = lower,
                 .op = op,
                 .x = ig_lower_input(lower, op, 0),
                 .ids = ig_lower_input(lower, op, 1),
                 .out = &lower->outs[0] };
    choose_form(&g);
    bool is_nd = op->code == IG_OP_gather_nd;
    if (is_nd && !ig_dim_is_static(g.ids->type->dims[g.ids->type->rank - 1])) {
        return ig_lower_unsupported(lower, "gather_nd by ids of unknown length");
    }
    ig_dim extent = g.x->type->dims[is_nd ? g.batch : g.axis];
    ig_lower_range(lower, IDS, extent, g.wraps);
    if (lower->target->has_threads) {
        lower_pieces(&g);
        return IG_OK;
    }
    g.lanes = ig_lower_lanes(lower, (ig_dtype)g.x->type->dtype);
    int64_t length = 0;
    bool is_known = ig_dim_constant(lower->module, run_length(&g), &length);
    g.lanes = is_known && length < g.lanes ? 1 : g.lanes;
    g.rows_per_tile = is_known && length > 0 ? ig_lower_tile(lower, CHUNK) / length
                                             : 16;
    g.rows_per_tile = g.rows_per_tile < 1 ? 1 : g.rows_per_tile;
    ig_dim rows = ig_dim_product(lower->module, g.out->type->dims, g.row_rank);
    lower->grid = ig_lower_ceil_div(lower, rows, g.rows_per_tile);
    lower->cost = ig_lower_mul(lower, rows, ig_dim_of(is_known ? 4 + length / 8 : 32));
    ig_lower_each_tile(lower, emit_tile, &g);
    return IG_OK;
}
