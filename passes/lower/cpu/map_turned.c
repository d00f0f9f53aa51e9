/* Operands of an elementwise region that are contiguous along another dim than the
 * last.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A square of lanes x lanes of such an operand is loaded along its own dim and
 * transposed in registers; then the region's code is emitted for each of its rows.  At
 * the ends the same is done with counts: rows and lanes beyond them read arbitrary
 * memory of x, and are not stored.
 */
#include "passes/lower/cpu/map.h"

#include <assert.h>

enum { LANES = IG_CPU_SQUARE, TURNED = 2, OPS = 8 };

/* Is input number `i` contiguous along the turned dim, and not along the last? */
static bool is_turned(const map_space *s, uint32_t i) {
    ig_lower *lower = s->lower;
    const ig_lower_operand *in = &lower->ins[i];
    ig_dim last = ig_lower_step(lower, in, s->rank, s->dims, s->rank - 1);
    ig_dim own = ig_lower_step(lower, in, s->rank, s->dims, s->turned);
    return ig_dim_is(own, 1) && !ig_dim_is(last, 0) && !ig_dim_is(last, 1);
}

bool map_has_squares(map_space *s) {
    uint32_t turned = 0, ops = 0;
    for (uint32_t i = 0; i < s->lower->in_count; i++) {
        bool is_own = is_turned(s, i);
        turned += is_own;
        if (is_own && s->lower->ins[i].type->dtype == IG_DT_bool) {
            return false;
        }
    }
    for (const ig_op *op = s->lower->body->first; op; op = op->next) {
        ops += op->code != IG_OP_const;
    }
    s->is_square = s->lanes >= 4 && turned > 0 && turned <= TURNED && ops <= OPS &&
                   !ig_lower_is_heavy(s->lower->body);
    s->lanes = s->is_square && s->lanes > LANES ? LANES : s->lanes;
    return s->is_square;
}

/* Where a square begins; NULL counts: it is whole. */
typedef struct square {
    ig_value **index;
    ig_value *row, *column;
    ig_value *rows, *columns;
} square;

/* The square of an input, a vector for each place along the turned dim. */
static void load_square(const map_space *s, ig_builder *b, const square *q,
                        const ig_lower_operand *in, ig_value **out) {
    ig_value *index[IG_TENSOR_RANK];
    for (uint32_t d = 0; d < s->rank; d++) {
        index[d] = q->index[d];
    }
    index[s->turned] = q->row;
    for (uint32_t i = 0; i < s->lanes; i++) {
        ig_value *away = k_i64(b, i);
        if (q->columns) {
            away = k_min(b, away, k_sub(b, q->columns, k_i64(b, 1)));
        }
        index[s->rank - 1] = k_add(b, q->column, away);
        ig_site site = { .b = b, .rank = s->rank, .dims = s->dims, .index = index };
        ig_value *at = ig_lower_element(s->lower, &site, in);
        out[i] = k_load_count(b, in->buffer, at, s->lanes, q->rows);
    }
    ig_cpu_transpose(b, out, s->lanes);
}

static void emit_square(const map_space *s, ig_builder *b, const square *q) {
    ig_lower *lower = s->lower;
    ig_value *loaded[TURNED][LANES];
    const ig_value *arguments[TURNED];
    uint32_t count = 0;
    for (uint32_t i = 0; i < lower->in_count; i++) {
        if (is_turned(s, i)) {
            load_square(s, b, q, &lower->ins[i], loaded[count]);
            arguments[count++] = lower->body->args[i];
        }
    }
    q->index[s->rank - 1] = q->column;
    for (uint32_t r = 0; r < s->lanes; r++) {
        ig_map values;
        ig_map_init(&values, lower->arena);
        for (uint32_t i = 0; i < count; i++) {
            ig_map_set_id(&values, IG_MAP_PTR(arguments[i]), loaded[i][r]);
        }
        ig_builder *own = b;
        k_if there = { 0 };
        if (q->rows) {
            there = k_if_open(b, k_compare(b, IG_OP_lt, k_i64(b, r), q->rows), NULL, 0);
            own = &there.then;
        }
        q->index[s->turned] = k_add(own, q->row, k_i64(own, r));
        ig_site site = { .b = own,
                         .lanes = s->lanes,
                         .rank = s->rank,
                         .dims = s->dims,
                         .index = q->index,
                         .count = q->columns,
                         .values = &values };
        ig_lower_store_yields(lower, &site);
        if (q->rows) {
            k_if_close(&there, NULL, NULL);
        }
    }
}

void map_emit_squares(const map_space *s, ig_builder *b, ig_value **index,
                      ig_value *const range[4]) {
    ig_value *lanes = k_i64(b, s->lanes);
    k_loop rows = k_loop_open(b, range[0], range[1], lanes, NULL, 0);
    ig_value *row_end = k_add(&rows.b, rows.index, lanes);
    ig_value *is_high = k_compare(&rows.b, IG_OP_le, row_end, range[1]);
    k_loop columns = k_loop_open(&rows.b, range[2], range[3], lanes, NULL, 0);
    ig_builder *in = &columns.b;
    ig_value *end = k_add(in, columns.index, lanes);
    ig_value *is_wide = k_compare(in, IG_OP_le, end, range[3]);
    square q = { .index = index, .row = rows.index, .column = columns.index };
    k_if whole = k_if_open(in, k_binary(in, IG_OP_and, is_high, is_wide), NULL, 0);
    emit_square(s, &whole.then, &q);
    q.rows = k_min(&whole.other, lanes, k_sub(&whole.other, range[1], rows.index));
    q.columns = k_min(&whole.other, lanes,
                      k_sub(&whole.other, range[3], columns.index));
    emit_square(s, &whole.other, &q);
    k_if_close(&whole, NULL, NULL);
    k_loop_close(&columns, NULL, 0);
    k_loop_close(&rows, NULL, 0);
}
