/* bag_group on CPUs: the ids of each table in the order of rows.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A word holds the row of an id and its place, so that a sort by row that keeps
 * the order of equal ones is a sort of words by their upper half: digit by digit, the
 * lowest first, between the two results of the table, each as long as the ids.
 *
 *     ids       3 -1  0  3        -1 is no row, and stays last
 *     words     3|0  0|2  3|3     packed without those
 *     for digits of a row, the lowest first
 *         where each digit begins, of how often it is
 *         each word to its place
 *     rows      0  3  3 -1
 *     places    2  0  3 -1
 *
 * As many digits as the table's rows need, each of the same number of bits.  Whoever
 * has a word in hand counts the digit that is next: the lowest when words are packed,
 * each other when the one before it is sorted; so there are two sets of counters.
 *
 *   grid      tables
 */
#include "passes/lower/bag/update.h"

enum { ROW_SHIFT = 32, DIGIT_BITS = 10, DIGITS = 1 << DIGIT_BITS, ID_NS = 10 };

typedef struct group {
    ig_lower *lower;
    uint32_t count;                     /* tables */
    ig_value *lengths, *strides, *rows; /* params, one a table */
    ig_value *passes, *widths;          /* the same: digits of a row, their bits */
    ig_value *counters;                 /* two sets of DIGITS */
    ig_value *table, *length, *stride, *limit; /* of the table at hand */
} group;

/* Result 0 or 1 of the table at hand. */
static ig_value *result_at(const group *g, ig_builder *b, ig_value *which) {
    ig_value *first = k_mul(b, g->table, k_i64(b, 2));
    return k_buffer_at(b, g->lower->outs[0].buffer, k_add(b, first, which));
}

static k_loop open_loop(ig_builder *b, ig_value *count, ig_value *init) {
    return k_loop_open(b, k_i64(b, 0), count, k_i64(b, 1), &init, init ? 1 : 0);
}

/* A digit of words, by its number, and the counters of how often it is what. */
typedef struct digit {
    ig_value *shift, *mask; /* where it is in a word; its largest value */
    ig_value *counters;     /* the first of the set */
} digit;

static digit make_digit(const group *g, ig_builder *b, ig_value *number) {
    ig_value *width = k_param_at(b, g->widths, g->table), *one = k_i64(b, 1);
    ig_value *set = k_mod(b, number, k_i64(b, 2));
    return (digit){ k_add(b, k_i64(b, ROW_SHIFT), k_mul(b, number, width)),
                    k_sub(b, k_binary(b, IG_OP_shl, one, width), one),
                    k_mul(b, set, k_i64(b, DIGITS)) };
}

/* The word's counter. */
static ig_value *counter_of(ig_builder *b, const digit *d, ig_value *word) {
    ig_value *value = k_binary(b, IG_OP_and, k_binary(b, IG_OP_shr, word, d->shift),
                               d->mask);
    return k_add(b, d->counters, value);
}

/* Adds 1 to it, and gives its old value. */
static ig_value *count_word(const group *g, ig_builder *b, const digit *d,
                            ig_value *word) {
    ig_value *at = counter_of(b, d, word);
    ig_value *known = k_load(b, g->counters, at, 1);
    k_store(b, k_add(b, known, k_i64(b, 1)), g->counters, at);
    return known;
}

static void clear_counters(const group *g, ig_builder *b, const digit *d) {
    uint32_t lanes = ig_lower_lanes(g->lower, IG_DT_i64);
    ig_value *zeros = k_const_vector(b, IG_DT_i64, lanes, 0);
    k_loop loop = k_loop_open(b, k_i64(b, 0), k_i64(b, DIGITS), k_i64(b, lanes), NULL,
                              0);
    k_store(&loop.b, zeros, g->counters, k_add(&loop.b, d->counters, loop.index));
    k_loop_close(&loop, NULL, 0);
}

/* Words of the ids that are rows, in result 1, and how often each lowest digit is; how
 * many there are.  An id of no row is stored, too, where the next one comes. */
static ig_value *pack_words(const group *g, ig_builder *b) {
    digit lowest = make_digit(g, b, k_i64(b, 0));
    clear_counters(g, b, &lowest);
    ig_value *ids = k_buffer_at(b, g->lower->ins[0].buffer, g->table);
    ig_value *to = result_at(g, b, k_i64(b, 1));
    k_loop loop = open_loop(b, g->length, k_i64(b, 0));
    ig_builder *in = &loop.b;
    ig_value *id = k_load(in, ids, k_mul(in, loop.index, g->stride), 1);
    ig_value *is_row = k_compare(in, IG_OP_lt, k_cast(in, id, IG_DT_u64), g->limit);
    ig_value *is_none = k_compare(in, IG_OP_eq, id, k_i64(in, -1));
    k_if check = k_if_open(in, k_binary(in, IG_OP_or, is_row, is_none), NULL, 0);
    k_report(&check.other, g->table, loop.index, id);
    k_if_close(&check, NULL, NULL);
    ig_value *upper = k_binary(in, IG_OP_shl, id, k_i64(in, ROW_SHIFT));
    ig_value *word = k_binary(in, IG_OP_or, upper, loop.index);
    ig_value *one = k_cast(in, is_row, IG_DT_i64);
    k_store(in, word, to, loop.carried[0]);
    ig_value *at = counter_of(in, &lowest, word);
    k_store(in, k_add(in, k_load(in, g->counters, at, 1), one), g->counters, at);
    ig_value *next = k_add(in, loop.carried[0], one);
    k_loop_close(&loop, &next, 1);
    return loop.results[0];
}

/* How often each digit is becomes where its words begin. */
static void sum_counters(const group *g, ig_builder *b, const digit *d) {
    ig_value *count = k_add(b, d->mask, k_i64(b, 1));
    k_loop loop = open_loop(b, count, k_i64(b, 0));
    ig_value *at = k_add(&loop.b, d->counters, loop.index);
    ig_value *often = k_load(&loop.b, g->counters, at, 1);
    k_store(&loop.b, loop.carried[0], g->counters, at);
    ig_value *next = k_add(&loop.b, loop.carried[0], often);
    k_loop_close(&loop, &next, 1);
}

/* Each word to its place; `next`: the digit to count meanwhile, or NULL. */
static void move_words(const group *g, ig_builder *b, ig_value *const from_to[2],
                       ig_value *count, const digit *d, const digit *next) {
    k_loop loop = open_loop(b, count, NULL);
    ig_builder *in = &loop.b;
    ig_value *word = k_load(in, from_to[0], loop.index, 1);
    k_store(in, word, from_to[1], count_word(g, in, d, word));
    if (next) {
        (void)count_word(g, in, next, word);
    }
    k_loop_close(&loop, NULL, 0);
}

/* Pass `number`: from one result to the other, the first from result 1. */
static void sort_by_digit(const group *g, ig_builder *b, ig_value *number,
                          ig_value *count, bool is_last) {
    ig_value *two = k_i64(b, 2), *one = k_i64(b, 1);
    ig_value *from_to[] = { result_at(g, b, k_mod(b, k_add(b, number, one), two)),
                            result_at(g, b, k_mod(b, number, two)) };
    digit own = make_digit(g, b, number),
          next = make_digit(g, b, k_add(b, number, one));
    sum_counters(g, b, &own);
    if (!is_last) {
        clear_counters(g, b, &next);
    }
    move_words(g, b, from_to, count, &own, is_last ? NULL : &next);
}

/* All passes; a table of one row has none. */
static void sort_words(const group *g, ig_builder *b, ig_value *passes,
                       ig_value *count) {
    ig_value *last = k_sub(b, passes, k_i64(b, 1));
    k_loop loop = open_loop(b, last, NULL);
    sort_by_digit(g, &loop.b, loop.index, count, false);
    k_loop_close(&loop, NULL, 0);
    k_if any = k_if_open(b, k_compare(b, IG_OP_ge, last, k_i64(b, 0)), NULL, 0);
    sort_by_digit(g, &any.then, last, count, true);
    k_if_close(&any, NULL, NULL);
}

/* The words in result `which` become rows and places, with -1 after them. */
static void unpack_words(const group *g, ig_builder *b, ig_value *which,
                         ig_value *count) {
    ig_value *from = result_at(g, b, which);
    ig_value *to[] = { result_at(g, b, k_i64(b, 0)), result_at(g, b, k_i64(b, 1)) };
    k_loop loop = open_loop(b, count, NULL);
    ig_builder *in = &loop.b;
    ig_value *word = k_load(in, from, loop.index, 1);
    ig_value *mask = k_i64(in, (INT64_C(1) << ROW_SHIFT) - 1);
    k_store(in, k_binary(in, IG_OP_shr, word, k_i64(in, ROW_SHIFT)), to[0], loop.index);
    k_store(in, k_binary(in, IG_OP_and, word, mask), to[1], loop.index);
    k_loop_close(&loop, NULL, 0);
    k_loop rest = k_loop_open(b, count, g->length, k_i64(b, 1), NULL, 0);
    for (uint32_t i = 0; i < 2; i++) {
        k_store(&rest.b, k_i64(&rest.b, -1), to[i], rest.index);
    }
    k_loop_close(&rest, NULL, 0);
}

static void emit_table(void *user, ig_builder *b, ig_value *table) {
    group own = *(const group *)user, *g = &own;
    g->table = table;
    g->length = k_param_at(b, g->lengths, table);
    g->stride = k_param_at(b, g->strides, table);
    ig_value *max_rows = k_i64(b, IG_BAG_GROUP_ROWS);
    g->limit = k_cast(b, k_min(b, k_param_at(b, g->rows, table), max_rows), IG_DT_u64);
    ig_value *count = pack_words(g, b), *passes = k_param_at(b, g->passes, table);
    sort_words(g, b, passes, count);
    unpack_words(g, b, k_mod(b, k_add(b, passes, k_i64(b, 1)), k_i64(b, 2)), count);
}

/* Bits of the largest row number; of 2^31 rows where it is not known. */
static int64_t row_bits(const ig_lower *lower, ig_dim rows) {
    int64_t known, bits = 0;
    if (!ig_dim_constant(lower->module, rows, &known) || known > IG_BAG_GROUP_ROWS) {
        known = IG_BAG_GROUP_ROWS;
    }
    while (known > 1 && (known - 1) >> bits) {
        bits++;
    }
    return bits;
}

static void make_params(group *g, const ig_op *op) {
    ig_lower *lower = g->lower;
    ig_dim *numbers[5];
    for (uint32_t i = 0; i < IG_COUNT_OF(numbers); i++) {
        numbers[i] = IG_NEW_ARRAY(lower->arena, ig_dim, g->count);
    }
    for (uint32_t t = 0; t < g->count; t++) {
        const ig_lower_operand *ids = ig_lower_input(lower, op, t);
        ig_dim rows = op->attrs[IG_bag_group_rows].as.dims[t];
        int64_t bits = row_bits(lower, rows);
        int64_t passes = (bits + DIGIT_BITS - 1) / DIGIT_BITS;
        numbers[0][t] = ids->type->dims[0];
        numbers[1][t] = ids->strides[0];
        numbers[2][t] = rows;
        numbers[3][t] = ig_dim_of(passes);
        numbers[4][t] = ig_dim_of(passes ? (bits + passes - 1) / passes : 0);
        lower->cost = ig_dim_add(lower->module, lower->cost,
                                 ig_lower_mul(lower, numbers[0][t], ig_dim_of(ID_NS)));
        ig_lower_range(lower, t, rows, false);
    }
    g->lengths = ig_lower_param_array(lower, numbers[0], g->count);
    g->strides = ig_lower_param_array(lower, numbers[1], g->count);
    g->rows = ig_lower_param_array(lower, numbers[2], g->count);
    g->passes = ig_lower_param_array(lower, numbers[3], g->count);
    g->widths = ig_lower_param_array(lower, numbers[4], g->count);
}

ig_status update_lower_group(ig_lower *lower) {
    const ig_op *op = ig_lower_anchor(lower, IG_OP_bag_group);
    group g = { .lower = lower, .count = op->operand_count };
    lower->cost = ig_dim_of(0);
    make_params(&g, op);
    g.counters = k_local(lower->kernel, IG_DT_i64, 2 * DIGITS);
    lower->name = "bag_group";
    lower->grid = ig_dim_of(g.count);
    ig_lower_each_tile(lower, emit_table, &g);
    return IG_OK;
}
