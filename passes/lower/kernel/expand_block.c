/* dot4_block taken apart: for checked kernels, which look at each access, and to hold
 * the op against.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/lower/kernel/kernel.h"

#include "ir/semantics/panels.h"

#include <assert.h>

/* 16 sums of one row: the places of its factors, and theirs. */
typedef struct block_row {
    ig_value *a, *b, *sums, *k;
    bool adds;
} block_row;

static void sum_row(ig_builder *b, const block_row *row) {
    ig_value *zero = k_i64(b, 0), *one = k_i64(b, 1);
    ig_value *start = row->adds ? k_load(b, row->sums, zero, IG_PANEL)
                                : k_const_vector(b, IG_DT_i32, IG_PANEL, 0);
    k_loop depth = k_loop_open(b, zero, row->k, one, &start, 1);
    ig_builder *in = &depth.b;
    ig_value *at = k_mul(in, depth.index, k_i64(in, IG_QUAD));
    ig_value *x = k_regroup(in, k_load(in, row->a, at, IG_QUAD), IG_DT_i32);
    x = k_regroup(in, k_splat(in, x, IG_PANEL), IG_DT_u8);
    ig_value *line = k_mul(in, at, k_i64(in, IG_PANEL));
    ig_value *y = k_load(in, row->b, line, IG_PANEL * IG_QUAD);
    ig_value *sum = k_dot4(in, x, y, depth.carried[0]);
    k_loop_close(&depth, &sum, 1);
    k_store(b, depth.results[0], row->sums, zero);
}

static ig_value *step_to(ig_builder *b, const ig_op *op, uint32_t operand,
                         ig_value *number) {
    ig_value *step = k_mul(b, number, op->operands[operand + 1].value);
    return k_offset(b, op->operands[operand].value, step);
}

void k_expand_block(ig_builder *b, const ig_op *op) {
    assert(op->code == IG_OP_dot4_block && "only this op is taken apart here");
    ig_value *zero = k_i64(b, 0), *one = k_i64(b, 1);
    int64_t panels = ig_attr_int(op, IG_dot4_block_panels, 1);
    k_loop rows = k_loop_open(b, zero, op->operands[6].value, one, NULL, 0);
    k_loop columns = k_loop_open(&rows.b, zero, k_i64(&rows.b, panels), one, NULL, 0);
    ig_builder *in = &columns.b;
    ig_value *first = k_mul(in, columns.index, k_i64(in, IG_PANEL));
    block_row row = { .k = op->operands[7].value,
                      .adds = ig_attr_int(op, IG_dot4_block_adds, 0) != 0 };
    row.a = step_to(in, op, 0, rows.index);
    row.b = step_to(in, op, 2, columns.index);
    row.sums = k_offset(in, step_to(in, op, 4, rows.index), first);
    sum_row(in, &row);
    k_loop_close(&columns, NULL, 0);
    k_loop_close(&rows, NULL, 0);
}
