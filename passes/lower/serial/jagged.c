/* Rows of parts, to padded ones and back, on CPUs.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   jagged_to_padded   out[b, n, r…] = x[offsets[b] + n, r…], or the padding
 *   padded_to_jagged   out[t, r…] = x[b, t - offsets[b], r…], or 0
 *
 * Rows of one part follow each other in both, so they are copied together: as one run
 * of elements where rows are contiguous in x and the result, else row by row, of which
 * the last dims that are contiguous in both are a run.  Runs are copied by vectors, and
 * what has no row in x is filled by them.
 *
 *   grid       rows of the result, in blocks of about 4096 elements
 *
 * Offsets are checked: those of rows that are copied must be in x (jagged_to_padded),
 * and none may be less than the one before (padded_to_jagged; each tile checks its
 * share).  What they say is never read outside of x.
 */
#include "passes/lower/parts.h"
#include "passes/lower/serial/serial.h"
#include "passes/lower/walk.h"

#include <assert.h>

enum { CHUNK = 4096, OTHER_ROWS = 16 };

typedef struct jagged {
    ig_lower *lower;
    const ig_op *op;
    const ig_lower_operand *x, *out;
    ig_lower_parts parts;
    uint32_t x_row, out_row; /* the axis of rows in each */
    uint32_t rank;           /* dims of a row */
    uint32_t apart;          /* of them, the first, which are not of a run */
    ig_dim run;              /* elements */
    bool is_joined;          /* neighbouring rows are one run in both */
    uint32_t lanes;
    bool has_rest; /* runs may end within a vector */
    int64_t rows_per_tile;
    double padding;
    ig_value *steps; /* of a search among the offsets */
} jagged;

/* ---- runs ---- */

/* The rows that are copied: elements of the first, in x (NULL: there is none, and the
 * result is filled) and the result. */
typedef struct span {
    ig_value *x, *out;
} span;

static ig_value *dim_of(const jagged *j, ig_dim dim) {
    return ig_lower_dim(j->lower, dim);
}

/* The padding by the rules of a cast, as ig_expr_number has it. */
static ig_value *padding_vector(const jagged *j, ig_builder *b) {
    ig_dtype dtype = (ig_dtype)j->out->type->dtype;
    int64_t bits = 0;
    ig_tensor one = { .kind = IG_TENSOR, .dtype = dtype, .count = 1, .data = &bits };
    ig_tensor_set_f64(&one, 0, j->padding);
    if (ig_dtypes[dtype].bits == 64 && !ig_dtype_is_float(dtype)) {
        return k_splat(b, k_cast(b, k_i64(b, bits), dtype), j->lanes);
    }
    return k_const_vector(b, dtype, j->lanes, ig_tensor_get_f64(&one, 0));
}

static void emit_vector(const jagged *j, ig_builder *b, span at, ig_value *i,
                        ig_value *count) {
    ig_value *value = NULL, *to = k_add(b, at.out, i);
    if (at.x) {
        value = k_load_count(b, j->x->buffer, k_add(b, at.x, i), j->lanes, count);
    } else {
        value = padding_vector(j, b);
    }
    k_store_count(b, value, j->out->buffer, to, count);
}

/* `length` elements, in whole vectors and the rest. */
static void emit_run(const jagged *j, ig_builder *b, span at, ig_value *length) {
    ig_value *lanes = k_i64(b, j->lanes);
    ig_value *whole = k_mul(b, k_div(b, length, lanes), lanes), *zero = k_i64(b, 0);
    k_loop loop = k_loop_open(b, zero, whole, lanes, NULL, 0);
    emit_vector(j, &loop.b, at, loop.index, NULL);
    k_loop_close(&loop, NULL, 0);
    if (j->has_rest) {
        k_if rest = k_if_open(b, k_compare(b, IG_OP_lt, whole, length), NULL, 0);
        emit_vector(j, &rest.then, at, whole, k_sub(&rest.then, length, whole));
        k_if_close(&rest, NULL, NULL);
    }
}

/* Moves on to piece `number` of a row, whose first dims are apart. */
static void step_to_piece(const jagged *j, ig_builder *b, ig_value *number, span *at) {
    for (uint32_t d = j->apart; d-- > 0;) {
        uint32_t in_out = j->out_row + 1 + d, in_x = j->x_row + 1 + d;
        ig_value *extent = dim_of(j, j->out->type->dims[in_out]);
        ig_value *i = d ? k_mod(b, number, extent) : number;
        number = d ? k_div(b, number, extent) : number;
        at->out = k_add(b, at->out, k_mul(b, i, dim_of(j, j->out->strides[in_out])));
        if (at->x) {
            at->x = k_add(b, at->x, k_mul(b, i, dim_of(j, j->x->strides[in_x])));
        }
    }
}

static void emit_row(const jagged *j, ig_builder *b, span at) {
    ig_dim pieces = ig_dim_product(j->lower->module,
                                   j->out->type->dims + j->out_row + 1, j->apart);
    if (j->apart == 0) {
        emit_run(j, b, at, dim_of(j, j->run));
        return;
    }
    ig_value *count = dim_of(j, pieces), *zero = k_i64(b, 0), *one = k_i64(b, 1);
    k_loop loop = k_loop_open(b, zero, count, one, NULL, 0);
    step_to_piece(j, &loop.b, loop.index, &at);
    emit_run(j, &loop.b, at, dim_of(j, j->run));
    k_loop_close(&loop, NULL, 0);
}

/* `count` rows of one part; a count below 1 is none. */
static void emit_rows(const jagged *j, ig_builder *b, span at, ig_value *count) {
    if (j->is_joined) {
        count = k_max(b, count, k_i64(b, 0));
        emit_run(j, b, at, k_mul(b, count, dim_of(j, j->run)));
        return;
    }
    ig_value *zero = k_i64(b, 0);
    k_loop loop = k_loop_open(b, zero, count, k_i64(b, 1), NULL, 0);
    ig_builder *in = &loop.b;
    ig_value *x_step = dim_of(j, j->x->strides[j->x_row]);
    ig_value *out_step = dim_of(j, j->out->strides[j->out_row]);
    at.out = k_add(in, at.out, k_mul(in, loop.index, out_step));
    at.x = at.x ? k_add(in, at.x, k_mul(in, loop.index, x_step)) : NULL;
    emit_row(j, in, at);
    k_loop_close(&loop, NULL, 0);
}

/* ---- jagged to padded ---- */

/* Rows `from` to `to` of a part. */
static void emit_part(const jagged *j, ig_builder *b, ig_value *number, ig_value *from,
                      ig_value *to) {
    ig_lower_part part = ig_lower_find_part(&j->parts, b, number);
    k_if check = k_if_open(b, part.is_in, NULL, 0);
    ig_lower_report_part(&j->parts, &check.other, number, &part);
    k_if_close(&check, NULL, NULL);
    ig_value *row_step = dim_of(j, j->out->strides[1]);
    ig_value *end = k_min(b, k_max(b, part.rows, from), to);
    ig_value *start = k_mul(b, number, dim_of(j, j->out->strides[0]));
    span at = { .out = k_add(b, start, k_mul(b, from, row_step)) };
    ig_value *first = k_add(b, part.begin, from);
    at.x = k_mul(b, first, dim_of(j, j->x->strides[0]));
    emit_rows(j, b, at, k_sub(b, end, from));
    span rest = { .out = k_add(b, start, k_mul(b, end, row_step)) };
    emit_rows(j, b, rest, k_sub(b, to, end));
}

static void emit_padded_tile(void *user, ig_builder *b, ig_value *tile) {
    const jagged *j = user;
    ig_dim count = ig_dim_product(j->lower->module, j->out->type->dims, 2);
    ig_value *length = dim_of(j, j->out->type->dims[1]), *one = k_i64(b, 1);
    ig_value *step = k_i64(b, j->rows_per_tile), *first = k_mul(b, tile, step);
    ig_value *last = k_min(b, dim_of(j, count), k_add(b, first, step));
    ig_value *end = k_add(b, k_div(b, k_sub(b, last, one), length), one);
    ig_value *begin = k_div(b, first, length);
    k_loop parts = k_loop_open(b, begin, end, one, NULL, 0);
    ig_builder *in = &parts.b;
    ig_value *start = k_mul(in, parts.index, length);
    ig_value *from = k_max(in, k_sub(in, first, start), k_i64(in, 0));
    ig_value *to = k_min(in, k_sub(in, last, start), length);
    emit_part(j, in, parts.index, from, to);
    k_loop_close(&parts, NULL, 0);
}

/* ---- padded to jagged ---- */

/* The first part that ends after row `row`, or their number. */
static ig_value *find_part(const jagged *j, ig_builder *b, ig_value *row) {
    ig_value *zero = k_i64(b, 0),
             *inits[] = { zero, dim_of(j, ig_lower_part_count(&j->parts)) };
    k_loop loop = k_loop_open(b, zero, j->steps, k_i64(b, 1), inits, 2);
    ig_builder *in = &loop.b;
    ig_value *low = loop.carried[0], *high = loop.carried[1];
    ig_value *is_open = k_compare(in, IG_OP_lt, low, high);
    ig_value *one = k_i64(in, 1), *sum = k_add(in, low, high);
    ig_value *middle = k_binary(in, IG_OP_shr, sum, one);
    ig_value *next = k_add(in, middle, one);
    ig_value *end = ig_lower_part_offset(
        &j->parts, in, k_min(in, next, dim_of(j, ig_lower_part_count(&j->parts))));
    ig_value *is_before = k_compare(in, IG_OP_le, end, row);
    ig_value *goes_up = k_binary(in, IG_OP_and, is_open, is_before);
    ig_value *goes_down = k_binary(in, IG_OP_and, is_open,
                                   k_unary(in, IG_OP_not, is_before));
    low = k_where(in, goes_up, next, low);
    high = k_where(in, goes_down, middle, high);
    k_loop_close(&loop, (ig_value *[]){ low, high }, 2);
    return loop.results[0];
}

/* The tile's share of the offsets; one less than the one before is reported. */
static void check_share(const jagged *j, ig_builder *b, ig_value *tile) {
    ig_module *module = j->lower->module;
    ig_dim parts = ig_lower_part_count(&j->parts);
    ig_dim tiles = ig_dim_max(module, j->lower->grid, ig_dim_of(1));
    ig_value *share = dim_of(j, ig_dim_ceil_div(module, parts, tiles));
    ig_value *first = k_mul(b, tile, share), *one = k_i64(b, 1);
    ig_value *last = k_min(b, dim_of(j, parts), k_add(b, first, share));
    k_loop loop = k_loop_open(b, first, last, one, NULL, 0);
    ig_builder *in = &loop.b;
    ig_value *next = k_add(in, loop.index, one);
    ig_value *before = ig_lower_part_offset(&j->parts, in, loop.index);
    ig_value *own = ig_lower_part_offset(&j->parts, in, next);
    k_if check = k_if_open(in, k_compare(in, IG_OP_le, before, own), NULL, 0);
    ig_lower_report_offset(&j->parts, &check.other, next, own);
    k_if_close(&check, NULL, NULL);
    k_loop_close(&loop, NULL, 0);
}

static ig_value *row_at(const jagged *j, ig_builder *b, ig_value *row) {
    return k_mul(b, row, dim_of(j, j->out->strides[0]));
}

static void emit_zeros(const jagged *j, ig_builder *b, ig_value *first,
                       ig_value *last) {
    span at = { .out = row_at(j, b, first) };
    emit_rows(j, b, at, k_sub(b, last, first));
}

/* Rows `first` to `last` as far as they are of the part. */
static void emit_part_rows(const jagged *j, ig_builder *b, ig_value *part,
                           ig_value *first, ig_value *last) {
    ig_value *length = dim_of(j, j->x->type->dims[1]), *zero = k_i64(b, 0);
    ig_value *begin = ig_lower_part_offset(&j->parts, b, part);
    ig_value *end = ig_lower_part_offset(&j->parts, b, k_add(b, part, k_i64(b, 1)));
    first = k_max(b, first, begin);
    last = k_max(b, k_min(b, last, end), first);
    ig_value *n = k_sub(b, first, begin); /* right in u64 */
    ig_value *has_rows = ig_lower_is_below(b, IG_OP_lt, n, length);
    ig_value *left = k_sub(b, length, n);
    ig_value *rows = k_min(b, k_sub(b, last, first), left);
    rows = k_where(b, has_rows, rows, zero);
    span at = { .out = row_at(j, b, first) };
    ig_value *start = k_mul(b, part, dim_of(j, j->x->strides[0]));
    at.x = k_add(b, start, k_mul(b, n, dim_of(j, j->x->strides[1])));
    emit_rows(j, b, at, rows);
    emit_zeros(j, b, k_add(b, first, rows), last);
}

static void emit_jagged_tile(void *user, ig_builder *b, ig_value *tile) {
    const jagged *j = user;
    ig_value *rows = dim_of(j, j->out->type->dims[0]), *one = k_i64(b, 1);
    ig_value *step = k_i64(b, j->rows_per_tile), *first = k_mul(b, tile, step);
    ig_value *last = k_min(b, rows, k_add(b, first, step));
    check_share(j, b, tile);
    ig_value *begin = ig_lower_part_offset(&j->parts, b, k_i64(b, 0));
    ig_value *end = ig_lower_part_offset(&j->parts, b,
                                         dim_of(j, ig_lower_part_count(&j->parts)));
    emit_zeros(j, b, first, k_max(b, k_min(b, begin, last), first));
    ig_value *from = find_part(j, b, first);
    ig_value *to = find_part(j, b, k_sub(b, last, one));
    to = k_min(b, k_add(b, to, one), dim_of(j, ig_lower_part_count(&j->parts)));
    k_loop loop = k_loop_open(b, from, to, one, NULL, 0);
    emit_part_rows(j, &loop.b, loop.index, first, last);
    k_loop_close(&loop, NULL, 0);
    emit_zeros(j, b, k_min(b, k_max(b, first, k_max(b, begin, end)), last), last);
}

/* ---- the schedule ---- */

/* The last dims of a row that are one run in x and the result, and whether rows are. */
static void find_run(jagged *j) {
    ig_module *module = j->lower->module;
    ig_dim run = ig_dim_of(1);
    uint32_t d = j->rank;
    for (; d > 0; d--) {
        ig_dim extent = j->out->type->dims[j->out_row + d];
        ig_dim x_step = j->x->strides[j->x_row + d];
        ig_dim out_step = j->out->strides[j->out_row + d];
        bool is_next = ig_dim_equal(module, x_step, run) == IG_YES &&
                       ig_dim_equal(module, out_step, run) == IG_YES;
        if (!is_next && !ig_dim_is(extent, 1)) {
            break;
        }
        run = ig_dim_mul(module, run, extent);
    }
    j->apart = d;
    j->run = run;
    j->is_joined = d == 0 &&
                   ig_dim_equal(module, j->x->strides[j->x_row], run) == IG_YES &&
                   ig_dim_equal(module, j->out->strides[j->out_row], run) == IG_YES;
}

/* Vectors no longer than a run, which they may end with. */
static void choose_lanes(jagged *j) {
    int64_t run = 0;
    bool is_known = ig_dim_constant(j->lower->module, j->run, &run);
    j->lanes = ig_lower_lanes(j->lower, (ig_dtype)j->x->type->dtype);
    while (is_known && !j->is_joined && j->lanes > 1 && j->lanes > run) {
        j->lanes /= 2;
    }
    j->has_rest = j->lanes > 1 && !(is_known && run % j->lanes == 0);
}

ig_status ig_lower_serial_jagged(ig_lower *lower) {
    const ig_op *op = lower->body->first;
    bool is_padded = op->code == IG_OP_jagged_to_padded;
    ig_dim rows;
    jagged j = { .lower = lower,
                 .op = op,
                 .x = ig_lower_input(lower, op, 0),
                 .out = &lower->outs[0],
                 .x_row = is_padded ? 0 : 1,
                 .out_row = is_padded ? 1 : 0 };
    j.parts = (ig_lower_parts){ .lower = lower,
                                .offsets = ig_lower_input(lower, op, 1),
                                .row_count = (is_padded ? j.x : j.out)->type->dims[0],
                                .length = (is_padded ? j.out : j.x)->type->dims[1] };
    assert(j.x && j.parts.offsets && "the region is the op alone");
    j.rank = j.out->type->rank - 1 - j.out_row;
    if (is_padded) {
        j.padding = ig_attr_float(op, IG_jagged_to_padded_padding, 0);
    }
    find_run(&j);
    choose_lanes(&j);
    int64_t length = 0;
    ig_dim row = ig_dim_product(lower->module, j.out->type->dims + j.out_row + 1,
                                j.rank);
    bool is_known = ig_dim_constant(lower->module, row, &length) && length > 0;
    j.rows_per_tile = is_known ? CHUNK / length : OTHER_ROWS;
    j.rows_per_tile = j.rows_per_tile < 1 ? 1 : j.rows_per_tile;
    rows = ig_dim_product(lower->module, j.out->type->dims, j.out_row + 1);
    lower->name = ig_ops[op->code].name;
    lower->grid = ig_lower_ceil_div(lower, rows, j.rows_per_tile);
    lower->cost = ig_lower_mul(lower, rows, ig_dim_of(is_known ? 2 + length / 8 : 32));
    ig_dim high = is_padded
                      ? ig_dim_add(lower->module, j.x->type->dims[0], ig_dim_of(1))
                      : ig_dim_const(lower->module, INT64_MAX);
    ig_lower_offsets(lower, j.parts.offsets - lower->ins, high);
    j.steps = is_padded ? NULL
                        : ig_lower_count_bits(
                              &lower->b, dim_of(&j, ig_lower_part_count(&j.parts)));
    ig_lower_each_tile(lower, is_padded ? emit_padded_tile : emit_jagged_tile, &j);
    return IG_OK;
}
