/* Micro-panels of a computed right-hand side, copied for the schedule of panels.
 * SPDX-License-Identifier: Apache-2.0
 *
 * dot_panels.c says why; dot_quads.c does the same for bytes.
 */
#include "passes/lower/cpu/dot.h"

#include <assert.h>

int64_t dot_width(const dot *d, const dot_micro_panel *s) {
    return (int64_t)s->vectors * d->panels.lanes;
}

ig_value *dot_valid_lanes(ig_builder *b, const dot_micro_panel *s, ig_value *column) {
    return s->left ? k_sub(b, s->left, column) : NULL;
}

void dot_emit_ends(const dot *d, ig_builder *b, const dot_micro_panel *s, dot_part part,
                   const void *more) {
    dot_micro_panel some = *s, whole = *s;
    some.is_whole = whole.is_whole = whole.left = NULL;
    if (!s->is_whole) {
        part(d, b, &some, more);
        return;
    }
    k_if ends = k_if_open(b, s->is_whole, NULL, 0);
    part(d, &ends.then, &whole, more);
    part(d, &ends.other, &some, more);
    k_if_close(&ends, NULL, NULL);
}

dot_matrix dot_matrix_of(const dot *d, ig_builder *b, const dot_micro_panel *s) {
    ig_value *const *index = s->range->index;
    ig_dim along_k = dot_stride(d->b, true, d->transpose_b);
    ig_dim along_n = dot_stride(d->b, false, d->transpose_b);
    ig_value *zero = k_i64(b, 0);
    ig_value *start = dot_row_start(d, b, d->b, d->transpose_b, index, zero);
    return (dot_matrix){
        .start = d->unit > 1 ? k_reinterpret(b, start, IG_DT_u8) : start,
        .along_k = ig_lower_dim(d->lower, along_k),
        .along_n = ig_lower_dim(d->lower, along_n),
    };
}

/* Some words of a column. */
static ig_value *load_line(const dot *d, ig_builder *b, ig_value *column, ig_value *k,
                           ig_value *count) {
    if (d->unit > 1) {
        return dot_quad_line(d, b, column, k, count);
    }
    ig_value *x = k_load_count(b, column, k, d->panels.lanes, count);
    return k_cast(b, x, d->panels.wide);
}

/* Where a square comes from, and its first element in the panel. */
typedef struct square {
    ig_value *columns[IG_CPU_SQUARE]; /* of B: lines along k */
    dot_bits_row rows[IG_CPU_SQUARE]; /* the same of numbers of few bits */
    ig_value *position;               /* in the panel, for the first k */
    int64_t width;
} square;

/* Words k … k + lanes; elements from `count` on are zero. */
static void pack_square(const dot *d, ig_builder *b, const square *q, ig_value *k,
                        ig_value *first, ig_value *count) {
    uint32_t lanes = d->panels.lanes;
    ig_value *rows[IG_CPU_SQUARE];
    for (uint32_t j = 0; j < lanes; j++) {
        rows[j] = dot_is_bits(d) ? dot_bits_line(d, b, &q->rows[j], k)
                                 : load_line(d, b, q->columns[j], k, count);
    }
    ig_cpu_transpose(b, rows, lanes);
    ig_value *at = k_mul(b, k_sub(b, k, first), k_i64(b, q->width));
    at = k_add(b, at, q->position);
    for (uint32_t j = 0; j < lanes; j++) {
        ig_value *position = k_add(b, at, k_i64(b, (int64_t)j * q->width));
        k_store(b, rows[j], d->panels.panel, position);
    }
}

/* Columns beyond N repeat the last one: nobody reads their sums. */
static void pack_transposed(const dot *d, ig_builder *b, const dot_micro_panel *s,
                            ig_value *const k[2]) {
    ig_value *lanes = k_i64(b, d->panels.lanes), *width = k_i64(b, dot_width(d, s));
    ig_value *unit = k_i64(b, d->unit), *last = k_sub(b, d->n, k_i64(b, 1));
    ig_value *size = k_mul(b, k[1], unit);
    size = d->unit > 1 ? k_min(b, size, d->k) : size; /* elements */
    ig_value *count = k_div(b, k_sub(b, size, k_mul(b, k[0], unit)), unit);
    ig_value *whole = k_mul(b, k_div(b, count, lanes), lanes);
    ig_value *end = k_add(b, k[0], whole), *first_left = k_mul(b, end, unit);
    k_loop squares = k_loop_open(b, k_i64(b, 0), width, lanes, NULL, 0);
    ig_builder *in = &squares.b;
    dot_matrix m = dot_matrix_of(d, in, s);
    square q = { .position = squares.index, .width = dot_width(d, s) };
    for (uint32_t j = 0; j < d->panels.lanes; j++) {
        ig_value *n = k_add(in, k_add(in, s->column, squares.index), k_i64(in, j));
        n = s->left ? k_min(in, n, last) : n;
        q.columns[j] = k_offset(in, m.start, k_mul(in, n, m.along_n));
        if (dot_is_bits(d)) {
            q.rows[j] = dot_open_bits_row(d, in, n);
        }
    }
    k_loop loop = k_loop_open(in, k[0], end, lanes, NULL, 0);
    pack_square(d, &loop.b, &q, loop.index, k[0], NULL);
    k_loop_close(&loop, NULL, 0);
    k_if rest = k_if_open(in, k_compare(in, IG_OP_lt, first_left, size), NULL, 0);
    pack_square(d, &rest.then, &q, end, k[0], k_sub(&rest.then, size, first_left));
    k_if_close(&rest, NULL, NULL);
    k_loop_close(&squares, NULL, 0);
}

/* One vector of B's row k. */
ig_value *dot_load_columns(const dot *d, ig_builder *b, const dot_micro_panel *s,
                           const dot_matrix *m, ig_value *const at[2]) {
    ig_value *k = at[0], *column = at[1], *n = k_add(b, s->column, column);
    uint32_t lanes = d->panels.lanes;
    ig_value *row = k_offset(b, m->start, k_mul(b, k, m->along_k));
    if (ig_dim_is(dot_stride(d->b, false, d->transpose_b), 1)) {
        return k_load_count(b, row, n, lanes, dot_valid_lanes(b, s, column));
    }
    ig_value *all = k_add(b, k_iota(b, lanes), k_splat(b, n, lanes));
    ig_value *last = k_sub(b, d->n, k_i64(b, 1));
    all = s->left ? k_min(b, all, k_splat(b, last, lanes)) : all;
    return k_load_at(b, row, k_mul(b, all, k_splat(b, m->along_n, lanes)));
}

/* more: k[2]. */
static void pack_by_rows(const dot *d, ig_builder *b, const dot_micro_panel *s,
                         const void *more) {
    ig_value *const *k = more;
    dot_matrix m = dot_matrix_of(d, b, s);
    k_loop loop = k_loop_open(b, k[0], k[1], k_i64(b, 1), NULL, 0);
    ig_builder *in = &loop.b;
    ig_value *row = k_mul(in, k_sub(in, loop.index, k[0]), k_i64(in, dot_width(d, s)));
    for (uint32_t v = 0; v < s->vectors; v++) {
        ig_value *column = k_i64(in, (int64_t)v * d->panels.lanes);
        ig_value *at[2] = { loop.index, column };
        ig_value *x = d->unit > 1 ? dot_quad_columns(d, in, s, &m, at)
                                  : k_cast(in, dot_load_columns(d, in, s, &m, at),
                                           d->panels.wide);
        k_store(in, x, d->panels.panel, k_add(in, row, column));
    }
    k_loop_close(&loop, NULL, 0);
}

bool dot_is_along_k(const ig_lower_operand *x, bool k_is_last) {
    return ig_dim_is(dot_stride(x, true, k_is_last), 1);
}

/* Is B read in squares along k?  The code of one is longer than that of a matrix of few
 * elements, which come one a lane. */
static bool takes_squares(const dot *d) {
    int64_t k = 0, n = 0, lanes = d->panels.lanes;
    bool is_small = ig_dim_constant(d->lower->module, dot_depth(d), &k) &&
                    ig_dim_constant(d->lower->module, d->type->dims[d->rank - 1], &n) &&
                    k * ((n + lanes - 1) / lanes) <= lanes / 2;
    bool is_along = dot_is_along_k(d->b, d->transpose_b) &&
                    !ig_dim_is(dot_stride(d->b, false, d->transpose_b), 1);
    return is_along && (!is_small || d->unit > 1 || dot_is_bits(d));
}

void dot_pack_panel(const dot *d, ig_builder *b, const dot_micro_panel *s,
                    ig_value *const k[2]) {
    assert(s->vectors > 0 && "a panel has columns");
    if (takes_squares(d)) {
        pack_transposed(d, b, s, k);
    } else {
        dot_emit_ends(d, b, s, pack_by_rows, k);
    }
}
