/* Attention of jagged rows on CPUs: parts of different lengths, none of them padded.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   q, k, v   rows of a matrix [T, …], part b from offsets[b] on
 *   C         the same rows
 *
 * The body says it by way of padded tensors:
 *
 *     %0 = jagged_to_padded %x, %offsets {length = N}      [B, N, C]
 *     %1 = reshape %0                                      [B, N, H, D]
 *     %2 = transpose %1 {perm = [0, 2, 1, 3]}              [B, H, N, D]
 *     …    products of it and others, weights between them
 *     %9 = padded_to_jagged %8, %offsets {rows = T}
 *
 * Here the factors are read where they are, and rows and keys past the length of a
 * part, whose values are 0, are not computed.  Tile 0 also checks the offsets and
 * writes the zeros of rows that no part has, or that are past N in theirs.
 */
#include "ir/build/build.h"
#include "ir/semantics/padded.h"
#include "passes/lower/cpu/attention.h"

#include <assert.h>
#include <string.h>

/* ---- the body ---- */

static const ig_op *take_op(const ig_value **value, ig_opcode code) {
    const ig_op *op = ig_def(*value, code);
    *value = op ? ig_op_operand(op, 0) : *value;
    return op;
}

/* Strides of x's rows where they are padded, and split into heads: a part's first row
 * is at its offset, whatever its number. */
static void find_strides(const attention *a, const ig_lower_operand *x,
                         const ig_type *split, uint32_t rows, ig_dim *out) {
    bool is_joined = split->rank != x->type->rank + 1u;
    ig_dim step = x->strides[x->type->rank - 1];
    for (uint32_t d = 0; d < rows; d++) {
        out[d] = ig_dim_of(0);
    }
    out[rows] = x->strides[0];
    for (uint32_t d = split->rank; d-- > rows + 1;) {
        out[d] = is_joined ? step : x->strides[d - 1];
        step = ig_lower_mul(a->lower, step, split->dims[d]);
    }
}

/* The factor that jagged_to_padded, reshape and transpose make of rows of the
 * launch. */
static const ig_lower_operand *read_rows(attention *a, const ig_value *value) {
    const ig_type *type = value->type;
    const ig_op *transpose = take_op(&value, IG_OP_transpose);
    const ig_type *split = value->type;
    const ig_op *reshape = take_op(&value, IG_OP_reshape);
    uint32_t rows = 1;
    if (reshape) {
        rows = ig_padded_row_axis(a->lower->module, value->type, split);
    }
    const ig_op *padded = take_op(&value, IG_OP_jagged_to_padded);
    assert(padded && rows > 0 && "ig_fuse_attention has looked for it");
    const ig_lower_operand *x = ig_lower_input(a->lower, padded, 0);
    a->parts = (ig_lower_parts){ .lower = a->lower,
                                 .offsets = ig_lower_input(a->lower, padded, 1),
                                 .row_count = x->type->dims[0],
                                 .length = padded->results->type->dims[1] };
    ig_lower_operand *out = IG_NEW(a->lower->arena, ig_lower_operand);
    ig_dim *strides = IG_NEW_ARRAY(a->lower->arena, ig_dim, type->rank);
    ig_dim own[IG_TENSOR_RANK];
    find_strides(a, x, split, rows, own);
    for (uint32_t d = 0; d < type->rank; d++) {
        strides[d] =
            own[transpose ? transpose->attrs[IG_transpose_perm].as.ints[d] : d];
    }
    *out = (ig_lower_operand){ .buffer = x->buffer, .type = type, .strides = strides };
    return out;
}

const ig_lower_operand *attention_read_factor(attention *a, const ig_op *product,
                                              uint32_t index) {
    const ig_lower_operand *input = ig_lower_input(a->lower, product, index);
    return input ? input : read_rows(a, ig_op_operand(product, index));
}

void attention_read_result(attention *a) {
    const ig_value *value = a->lower->body->last->operands[0].value;
    const ig_op *jagged = take_op(&value, IG_OP_padded_to_jagged);
    assert(jagged && "ig_fuse_attention has looked for it");
    (void)jagged;
    (void)take_op(&value, IG_OP_reshape);
    (void)take_op(&value, IG_OP_transpose);
    a->result = value;
}

/* ---- parts ---- */

/* The same factor with its part's first row for its first element. */
static const ig_lower_operand *move_factor(const attention *a, ig_builder *b,
                                           const ig_lower_operand *x, ig_dim row,
                                           ig_value *begin) {
    ig_lower_operand *moved = IG_NEW(a->lower->arena, ig_lower_operand);
    *moved = *x;
    ig_value *at = k_mul(b, begin, ig_lower_dim(a->lower, row));
    moved->buffer = k_offset(b, x->buffer, at);
    return moved;
}

void attention_open_part(attention *a, ig_builder *b, attention_tile *t) {
    ig_lower_part p = ig_lower_find_part(&a->parts, b, t->index[0]);
    dot *s = &a->scores, *v = &a->product;
    ig_value *left = k_max(b, k_sub(b, p.rows, t->rows[0]), k_i64(b, 0));
    t->count = k_min(b, t->count, left);
    t->rows[1] = k_add(b, t->rows[0], t->count);
    t->begin = p.begin;
    s->n = v->words = v->k = p.rows;
    a->present = a->softmax ? p.rows : NULL;
    a->keys = a->softmax ? a->keys : p.rows;
    s->a = move_factor(a, b, s->a, dot_stride(s->a, false, !s->transpose_a), p.begin);
    s->b = move_factor(a, b, s->b, dot_stride(s->b, false, s->transpose_b), p.begin);
    v->b = move_factor(a, b, v->b, dot_stride(v->b, true, v->transpose_b), p.begin);
}

/* Scores of keys that fill the part up are 0, which softmax counts. */
void attention_clear_scores(const attention *a, ig_builder *b, const attention_tile *t,
                            const attention_keys *keys, ig_value *end) {
    ig_value *lanes = k_i64(b, a->lanes), *one = k_i64(b, 1), *zero = k_i64(b, 0);
    ig_value *present = k_sub(b, end, keys->first);
    ig_value *from = k_mul(b, k_div(b, present, lanes), lanes);
    ig_value *count = k_sub(b, keys->end, keys->first);
    k_loop rows = k_loop_open(b, zero, t->count, one, NULL, 0);
    k_loop line = k_loop_open(&rows.b, from, count, lanes, NULL, 0);
    ig_builder *in = &line.b;
    ig_value *row = k_mul(in, rows.index, k_i64(in, ATTENTION_KEYS));
    ig_value *at = k_add(in, row, line.index);
    ig_value *left = k_splat(in, k_sub(in, present, line.index), a->lanes);
    ig_value *is_there = k_compare(in, IG_OP_lt, k_iota(in, a->lanes), left);
    ig_value *x = k_load(in, a->weights, at, a->lanes);
    x = k_where(in, is_there, x, k_const_vector(in, IG_DT_f32, a->lanes, 0));
    k_store(in, x, a->weights, at);
    k_loop_close(&line, NULL, 0);
    k_loop_close(&rows, NULL, 0);
}

/* ---- results ---- */

/* The element of the result at row `row` of all and what the tile's index says of the
 * heads, in column 0: these are axes of it, or one after the other in a row. */
ig_value *attention_jagged_start(const attention *a, ig_builder *b,
                                 const attention_tile *t, ig_value *row) {
    const ig_lower_operand *out = &a->lower->outs[0];
    const ig_dim *dims = a->product.type->dims;
    ig_value *at = k_mul(b, row, ig_lower_dim(a->lower, out->strides[0]));
    ig_dim step = ig_lower_mul(a->lower, out->strides[out->type->rank - 1],
                               dims[a->rank - 1]);
    for (uint32_t d = a->rank - 2; d-- > 1;) {
        bool is_joined = out->type->rank == 2;
        ig_dim stride = is_joined ? step : out->strides[d];
        at = k_add(b, at, k_mul(b, t->index[d], ig_lower_dim(a->lower, stride)));
        step = ig_lower_mul(a->lower, step, dims[d]);
    }
    return at;
}

/* Rows from … to of the result, element by element: they are rare. */
static void clear_rows(const attention *a, ig_builder *b, ig_value *from,
                       ig_value *to) {
    const ig_lower_operand *out = &a->lower->outs[0];
    const ig_type *type = out->type;
    ig_dim row = ig_dim_product(a->lower->module, type->dims + 1, type->rank - 1u);
    ig_value *zero = k_i64(b, 0), *one = k_i64(b, 1);
    k_loop rows = k_loop_open(b, from, to, one, NULL, 0);
    k_loop line = k_loop_open(&rows.b, zero, ig_lower_dim(a->lower, row), one, NULL, 0);
    ig_builder *in = &line.b;
    ig_value *rest = line.index;
    ig_value *at = k_mul(in, rows.index, ig_lower_dim(a->lower, out->strides[0]));
    for (uint32_t d = type->rank; d-- > 1;) {
        ig_value *extent = ig_lower_dim(a->lower, type->dims[d]);
        ig_value *step = ig_lower_dim(a->lower, out->strides[d]);
        at = k_add(in, at, k_mul(in, k_mod(in, rest, extent), step));
        rest = k_div(in, rest, extent);
    }
    k_store(in, k_const(in, IG_DT_f32, 0), out->buffer, at);
    k_loop_close(&line, NULL, 0);
    k_loop_close(&rows, NULL, 0);
}

void attention_check_parts(const attention *a, ig_builder *b) {
    const ig_lower_parts *parts = &a->parts;
    ig_value *count = ig_lower_dim(a->lower, ig_lower_part_count(parts));
    ig_value *all = ig_lower_dim(a->lower, parts->row_count), *zero = k_i64(b, 0);
    ig_value *first = ig_lower_part_offset(parts, b, zero);
    ig_value *last = ig_lower_part_offset(parts, b, count);
    first = k_min(b, k_max(b, first, zero), all);
    clear_rows(a, b, zero, first);
    k_loop loop = k_loop_open(b, zero, count, k_i64(b, 1), NULL, 0);
    ig_builder *in = &loop.b;
    ig_lower_part part = ig_lower_find_part(parts, in, loop.index);
    /* padded_to_jagged takes no offsets that fall. */
    ig_value *rises = k_compare(in, IG_OP_le, part.begin, part.end);
    k_if good = k_if_open(in, k_binary(in, IG_OP_and, part.is_in, rises), NULL, 0);
    ig_builder *then = &good.then;
    ig_value *from = k_max(then, k_add(then, part.begin, part.rows), zero);
    clear_rows(a, then, from, k_min(then, part.end, all));
    ig_lower_report_part(parts, &good.other, loop.index, &part);
    k_if_close(&good, NULL, NULL);
    k_loop_close(&loop, NULL, 0);
    clear_rows(a, b, k_min(b, k_max(b, last, first), all), all);
}
