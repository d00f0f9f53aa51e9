/* bag_update on CPUs: rows of all tables, in place.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The words of a table (rows that rise, and the place of each) are cut into tiles of
 * work.  A row belongs to the call in whose tiles it occurs first:
 *
 *     rows     2 2 2 5 5 | 5 5 7 9 | 9 9 9 9 | 11      | tiles
 *     calls    a a a a a | a a b b | b b b b | d       (c: none)
 *
 * so that threads do equal work however often an id occurs, and each row is summed and
 * made by one of them, in one order.
 *
 *     for table; for word of a row that begins in the call's tiles
 *         the place's gradient, times its factor, is added to sums in registers
 *         at the last word of a row: the body makes it anew (update_body.c)
 *
 * Rows and gradients of later words are prefetched, which begin at any element: the
 * caller has the tables, and where they begin in a line is known at run time alone.
 * Weights and states are read and written where the results are to be, which hold them
 * by then (bufferise).  Nothing here can fail: rows and places that no table or
 * gradient has are passed by.
 *
 *   grid      words of each table, WORDS a tile
 */
#include "passes/lower/bag/update.h"

#include "passes/lower/bag/prefetch.h"
#include "passes/lower/walk.h"

enum { WORDS = 64, AHEAD_LINES = 176, MIN_AHEAD = 4, WORD_NS = 20 };

typedef enum field {
    FIELD_words,  /* of the table */
    FIELD_tables, /* its rows */
    FIELD_gradients,
    FIELD_positions, /* of bags and factors */
    FIELD_stride,    /* from one gradient to the next */
    FIELD_tile,      /* the first of the table */
    FIELD_matrix,    /* strides of the weight and of its states */
    FIELDS = FIELD_matrix + 1 + UPDATE_STATES
} field;

typedef struct update {
    ig_lower *lower;
    const ig_op *op;
    update_body body;
    uint32_t tables, operands; /* of each */
    ig_bag_update_table at;    /* of the first */
    ig_value *fields[FIELDS];  /* one number for all tables, or params of each */
    bool is_array[FIELDS];
    ig_value *range[2]; /* tiles of this call */
    /* Of the table at hand. */
    ig_value *table, *rows, *positions, *gradients, *bags, *factors;
    ig_value *words, *row_count, *gradient_count, *position_count, *stride;
    ig_value *matrices[1 + UPDATE_STATES], *strides[1 + UPDATE_STATES];
} update;

/* ---- one table ---- */

static ig_value *field_of(const update *u, ig_builder *b, uint32_t which) {
    return u->is_array[which] ? k_param_at(b, u->fields[which], u->table)
                              : u->fields[which];
}

static ig_value *operand_at(const update *u, ig_builder *b, uint32_t first) {
    ig_value *number = k_mul(b, u->table, k_i64(b, u->operands));
    return k_buffer_at(b, ig_lower_input(u->lower, u->op, first)->buffer, number);
}

static void open_table(update *u, ig_builder *b, ig_value *table) {
    uint32_t own = 1 + u->body.states;
    u->table = table;
    u->rows = operand_at(u, b, u->at.rows);
    u->positions = operand_at(u, b, u->at.positions);
    u->gradients = operand_at(u, b, u->at.gradients);
    u->bags = u->at.bags ? operand_at(u, b, u->at.bags) : NULL;
    u->factors = u->at.factors ? operand_at(u, b, u->at.factors) : NULL;
    u->words = field_of(u, b, FIELD_words);
    u->row_count = k_cast(b, field_of(u, b, FIELD_tables), IG_DT_u64);
    u->gradient_count = field_of(u, b, FIELD_gradients);
    u->position_count = field_of(u, b, FIELD_positions);
    u->stride = field_of(u, b, FIELD_stride);
    for (uint32_t i = 0; i < own; i++) {
        ig_value *number = k_mul(b, table, k_i64(b, own));
        u->matrices[i] = k_buffer_at(b, u->lower->outs[i].buffer, number);
        u->strides[i] = field_of(u, b, FIELD_matrix + i);
    }
}

/* ---- which words are the call's ---- */

/* Rows as unsigned numbers rise to the end: -1 is the largest. */
static ig_value *row_at(const update *u, ig_builder *b, ig_value *word) {
    return k_cast(b, k_load(b, u->rows, word, 1), IG_DT_u64);
}

/* The first word from `low` on whose row is beyond `row`. */
static ig_value *find_beyond(const update *u, ig_builder *b, ig_value *low,
                             ig_value *row) {
    ig_value *ends[] = { low, u->words }, *one = k_i64(b, 1);
    ig_value *steps = ig_lower_count_bits(b, u->words);
    k_loop loop = k_loop_open(b, k_i64(b, 0), steps, one, ends, 2);
    ig_builder *in = &loop.b;
    ig_value *from = loop.carried[0], *to = loop.carried[1];
    ig_value *middle = k_div(in, k_add(in, from, to), k_i64(in, 2));
    ig_value *last = k_sub(in, u->words, one);
    ig_value *is_open = k_compare(in, IG_OP_lt, from, to);
    ig_value *is_beyond = k_compare(in, IG_OP_gt,
                                    row_at(u, in, k_min(in, middle, last)), row);
    ig_value *up = k_where(in, is_beyond, from, k_add(in, middle, one));
    ig_value *down = k_where(in, is_beyond, middle, to);
    ig_value *next[] = { k_where(in, is_open, up, from),
                         k_where(in, is_open, down, to) };
    k_loop_close(&loop, next, 2);
    return loop.results[0];
}

/* The begin of the first row that begins at `word` or after: words of rows alone. */
static ig_value *find_border(const update *u, ig_builder *b, ig_value *word) {
    const ig_type *type = word->type;
    k_if branch = k_if_open(b, k_compare(b, IG_OP_gt, word, k_i64(b, 0)), &type, 1);
    ig_builder *then = &branch.then;
    ig_value *before = row_at(u, then, k_sub(then, word, k_i64(then, 1)));
    ig_value *max_row = k_cast(then, k_i64(then, INT64_MAX), IG_DT_u64);
    ig_value *found = find_beyond(u, then, word, k_min(then, before, max_row));
    ig_value *is_after = k_compare(then, IG_OP_gt, before, max_row);
    /* A border after the last row is that row's end. */
    ig_value *start = find_beyond(u, then, k_i64(then, 0), max_row);
    found = k_where(then, is_after, start, k_min(then, found, start));
    k_if_close(&branch, &found, (ig_value *[]){ k_i64(&branch.other, 0) });
    return branch.results[0];
}

static void find_words(const update *u, ig_builder *b, ig_value *out[2]) {
    ig_value *first = field_of(u, b, FIELD_tile), *zero = k_i64(b, 0);
    ig_value *step = k_i64(b, WORDS);
    for (uint32_t i = 0; i < 2; i++) {
        ig_value *tile = k_max(b, k_sub(b, u->range[i], first), zero);
        out[i] = k_min(b, k_mul(b, tile, step), u->words);
    }
}

/* ---- one word ---- */

static ig_value *limit_index(ig_builder *b, ig_value *index, ig_value *count) {
    ig_value *last = k_sub(b, count, k_i64(b, 1));
    return k_max(b, k_min(b, index, last), k_i64(b, 0));
}

/* Where the gradient of a word begins; *out_factor: NULL where there is none. */
static ig_value *find_gradient(const update *u, ig_builder *b, ig_value *word,
                               ig_value **out_factor) {
    ig_value *position = k_load(b, u->positions, word, 1), *number = position;
    bool has_lists = u->bags || u->factors;
    position = has_lists ? limit_index(b, position, u->position_count) : position;
    number = u->bags ? k_load(b, u->bags, position, 1) : position;
    *out_factor = u->factors ? k_load(b, u->factors, position, 1) : NULL;
    return k_mul(b, limit_index(b, number, u->gradient_count), u->stride);
}

static ig_value *add_vector(const update *u, ig_builder *b, ig_value *from,
                            ig_value *factor, ig_value *sum, ig_value *column) {
    const update_body *body = &u->body;
    ig_value *x = k_load_count(b, u->gradients, k_add(b, from, column), body->lanes,
                               update_lanes_at(body, b, column));
    return factor ? k_muladd(b, x, k_splat(b, factor, body->lanes), sum)
                  : k_add(b, sum, x);
}

static int64_t bytes_of(const update *u, uint32_t index) {
    int64_t size = ig_dtypes[u->body.dtype].bits / 8;
    return (u->body.is_single[index] ? 1 : u->body.dim) * size;
}

static void prefetch_matrix(const update *u, ig_builder *b, uint32_t index,
                            ig_value *row) {
    int64_t size = ig_dtypes[u->body.dtype].bits / 8;
    ig_value *start = k_mul(b, row, k_mul(b, u->strides[index], k_i64(b, size)));
    ig_value *at = k_reinterpret(b, u->matrices[index], IG_DT_u8);
    bag_prefetch_bytes(u->lower, b, at, start, bytes_of(u, index), size);
}

/* Gradients are read in the order of rows, which for them is none. */
static void prefetch_gradient(const update *u, ig_builder *b, ig_value *word) {
    ig_value *factor;
    int64_t size = ig_dtypes[u->body.dtype].bits / 8;
    ig_value *start = k_mul(b, find_gradient(u, b, word, &factor), k_i64(b, size));
    ig_value *at = k_reinterpret(b, u->gradients, IG_DT_u8);
    bag_prefetch_bytes(u->lower, b, at, start, u->body.dim * size, size);
}

/* How many words ahead: so many that their lines keep the memory busy, and so few that
 * a first cache holds them until they are used. */
static int64_t count_words_ahead(const update *u) {
    int64_t size = ig_dtypes[u->body.dtype].bits / 8;
    int64_t lines = bag_count_lines(u->lower, u->body.dim * size, size);
    for (uint32_t i = 0; i <= u->body.states; i++) {
        lines += bag_count_lines(u->lower, bytes_of(u, i), size);
    }
    return AHEAD_LINES / lines > MIN_AHEAD ? AHEAD_LINES / lines : MIN_AHEAD;
}

/* Prefetches the row of a later word and its gradient, of the last where there is
 * none. */
static void look_ahead(const update *u, ig_builder *b, ig_value *word, ig_value *end) {
    ig_value *next = k_min(b, k_add(b, word, k_i64(b, count_words_ahead(u))),
                           k_sub(b, end, k_i64(b, 1)));
    ig_value *row = k_load(b, u->rows, next, 1);
    for (uint32_t i = 0; i <= u->body.states; i++) {
        prefetch_matrix(u, b, i, row);
    }
    prefetch_gradient(u, b, next);
}

static void make_row(const update *u, ig_builder *b, ig_value *row,
                     ig_value *const *sums) {
    update_row own = { 0 };
    for (uint32_t i = 0; i <= u->body.states; i++) {
        own.buffers[i] = u->matrices[i];
        own.starts[i] = k_mul(b, row, u->strides[i]);
    }
    for (uint32_t v = 0; sums && v < u->body.vectors; v++) {
        own.sums[v] = sums[v];
    }
    update_body_emit(&u->body, b, &own);
}

/* Is the word the last of its row, and the row one of the table? */
static ig_value *ends_row(const update *u, ig_builder *b, ig_value *word, ig_value *row,
                          ig_value *end) {
    ig_value *next = k_add(b, word, k_i64(b, 1));
    ig_value *near = k_min(b, next, k_sub(b, u->words, k_i64(b, 1)));
    ig_value *is_other = k_compare(b, IG_OP_ne, k_load(b, u->rows, near, 1), row);
    return k_binary(b, IG_OP_or, is_other, k_compare(b, IG_OP_ge, next, end));
}

static ig_value *is_in_table(const update *u, ig_builder *b, ig_value *row) {
    return k_compare(b, IG_OP_lt, k_cast(b, row, IG_DT_u64), u->row_count);
}

/* Sums in registers. */
static void emit_words(const update *u, ig_builder *b, ig_value *const range[2]) {
    const update_body *body = &u->body;
    ig_value *sums[UPDATE_VECTORS],
        *zero = k_const_vector(b, body->dtype, body->lanes, 0);
    for (uint32_t v = 0; v < body->vectors; v++) {
        sums[v] = zero;
    }
    k_loop loop = k_loop_open(b, range[0], range[1], k_i64(b, 1), sums, body->vectors);
    ig_builder *in = &loop.b;
    ig_value *factor, *row = k_load(in, u->rows, loop.index, 1);
    look_ahead(u, in, loop.index, range[1]);
    ig_value *from = find_gradient(u, in, loop.index, &factor);
    for (uint32_t v = 0; v < body->vectors; v++) {
        ig_value *column = k_i64(in, (int64_t)v * body->lanes);
        sums[v] = add_vector(u, in, from, factor, loop.carried[v], column);
    }
    ig_value *is_end = ends_row(u, in, loop.index, row, range[1]);
    ig_value *is_good = k_binary(in, IG_OP_and, is_end, is_in_table(u, in, row));
    k_if branch = k_if_open(in, is_good, NULL, 0);
    make_row(u, &branch.then, row, sums);
    k_if_close(&branch, NULL, NULL);
    for (uint32_t v = 0; v < body->vectors; v++) {
        sums[v] = k_where(in, k_splat(in, is_end, body->lanes), zero, sums[v]);
    }
    k_loop_close(&loop, sums, body->vectors);
}

/* Sums of long rows, in memory of the call's own. */
static void add_in_memory(const update *u, ig_builder *b, ig_value *from,
                          ig_value *factor, ig_value *is_first) {
    const update_body *body = &u->body;
    ig_value *zero = k_const_vector(b, body->dtype, body->lanes, 0);
    ig_value *step = k_i64(b, body->lanes);
    k_loop loop = k_loop_open(b, k_i64(b, 0), k_i64(b, body->dim), step, NULL, 0);
    ig_value *sum = k_load(&loop.b, body->memory, loop.index, body->lanes);
    sum = k_where(&loop.b, k_splat(&loop.b, is_first, body->lanes), zero, sum);
    sum = add_vector(u, &loop.b, from, factor, sum, loop.index);
    k_store(&loop.b, sum, body->memory, loop.index);
    k_loop_close(&loop, NULL, 0);
}

static void emit_long_words(const update *u, ig_builder *b, ig_value *const range[2]) {
    ig_value *one = k_i64(b, 1), *factor;
    k_loop loop = k_loop_open(b, range[0], range[1], one, &one, 1);
    ig_builder *in = &loop.b;
    ig_value *row = k_load(in, u->rows, loop.index, 1);
    look_ahead(u, in, loop.index, range[1]);
    ig_value *from = find_gradient(u, in, loop.index, &factor);
    ig_value *is_first = k_compare(in, IG_OP_ne, loop.carried[0], k_i64(in, 0));
    add_in_memory(u, in, from, factor, is_first);
    ig_value *is_end = ends_row(u, in, loop.index, row, range[1]);
    ig_value *is_good = k_binary(in, IG_OP_and, is_end, is_in_table(u, in, row));
    k_if branch = k_if_open(in, is_good, NULL, 0);
    make_row(u, &branch.then, row, NULL);
    k_if_close(&branch, NULL, NULL);
    ig_value *next = k_cast(in, is_end, IG_DT_i64);
    k_loop_close(&loop, &next, 1);
}

static void emit_table(update *u, ig_builder *b, ig_value *table) {
    ig_value *tiles[2], *range[2];
    open_table(u, b, table);
    find_words(u, b, tiles);
    ig_value *is_some = k_compare(b, IG_OP_lt, tiles[0], tiles[1]);
    ig_value *has_gradients = k_compare(b, IG_OP_gt, u->gradient_count, k_i64(b, 0));
    k_if branch = k_if_open(b, k_binary(b, IG_OP_and, is_some, has_gradients), NULL, 0);
    range[0] = find_border(u, &branch.then, tiles[0]);
    range[1] = find_border(u, &branch.then, tiles[1]);
    if (u->body.memory) {
        emit_long_words(u, &branch.then, range);
    } else {
        emit_words(u, &branch.then, range);
    }
    k_if_close(&branch, NULL, NULL);
}

/* ---- the schedule ---- */

static ig_dim extent_of(const update *u, uint32_t operand) {
    return ig_lower_input(u->lower, u->op, operand)->type->dims[0];
}

/* Of bags and factors, the shorter. */
static ig_dim count_positions(const update *u, const ig_bag_update_table *at) {
    if (!at->bags || !at->factors) {
        uint32_t list = at->bags ? at->bags : at->factors ? at->factors : at->gradients;
        return extent_of(u, list);
    }
    return ig_dim_min(u->lower->module, extent_of(u, at->bags),
                      extent_of(u, at->factors));
}

static void read_table(update *u, uint32_t table, ig_dim *tiles, ig_dim *out) {
    ig_lower *lower = u->lower;
    ig_bag_update_table at = ig_bag_update_at(u->op, table);
    uint32_t own = 1 + u->body.states;
    ig_dim words = extent_of(u, at.rows);
    out[FIELD_words] = words;
    out[FIELD_tables] = extent_of(u, at.weight);
    out[FIELD_gradients] = extent_of(u, at.gradients);
    out[FIELD_positions] = count_positions(u, &at);
    out[FIELD_stride] = ig_lower_input(lower, u->op, at.gradients)->strides[0];
    out[FIELD_tile] = *tiles;
    for (uint32_t i = 0; i < own; i++) {
        out[FIELD_matrix + i] = lower->outs[table * own + i].strides[0];
    }
    *tiles = ig_dim_add(lower->module, *tiles, ig_lower_ceil_div(lower, words, WORDS));
    lower->cost = ig_dim_add(lower->module, lower->cost,
                             ig_lower_mul(lower, words, ig_dim_of(WORD_NS)));
}

/* One number for all tables is known to the code, where it is known at all. */
static void make_field(update *u, uint32_t which, const ig_dim *line) {
    for (uint32_t t = 1; t < u->tables; t++) {
        u->is_array[which] |= !ig_dim_same(line[t], line[0]);
    }
    u->fields[which] = u->is_array[which]
                           ? ig_lower_param_array(u->lower, line, u->tables)
                           : ig_lower_dim(u->lower, line[0]);
}

static void read_tables(update *u) {
    ig_lower *lower = u->lower;
    uint32_t fields = FIELD_matrix + 1 + u->body.states;
    ig_dim *all = IG_NEW_ARRAY(lower->arena, ig_dim, (size_t)u->tables * fields);
    ig_dim own[FIELDS];
    ig_dim tiles = ig_dim_of(0);
    for (uint32_t t = 0; t < u->tables; t++) {
        read_table(u, t, &tiles, own);
        for (uint32_t f = 0; f < fields; f++) {
            all[(size_t)f * u->tables + t] = own[f];
        }
    }
    for (uint32_t f = 0; f < fields; f++) {
        make_field(u, f, &all[(size_t)f * u->tables]);
    }
    lower->grid = tiles;
}

ig_status update_lower_tables(ig_lower *lower) {
    const ig_op *op = ig_lower_anchor(lower, IG_OP_bag_update);
    update u = { .lower = lower,
                 .op = op,
                 .tables = ig_bag_update_tables(op),
                 .operands = ig_bag_update_operands(op),
                 .at = ig_bag_update_at(op, 0) };
    ig_builder *b = &lower->b;
    IG_TRY(update_body_open(lower, op, &u.body));
    lower->cost = ig_dim_of(0);
    lower->name = "bag_update";
    read_tables(&u);
    update_body_share(&u.body, b);
    k_tiles(b, &u.range[0], &u.range[1]);
    k_loop loop = k_loop_open(b, k_i64(b, 0), k_i64(b, u.tables), k_i64(b, 1), NULL, 0);
    emit_table(&u, &loop.b, loop.index);
    k_loop_close(&loop, NULL, 0);
    return IG_OK;
}
