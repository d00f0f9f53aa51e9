/* How much work a compute op is, from its body and the types of its operands.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Profiles hold measured times against these numbers, so they describe the task and not
 * a schedule's way to do it:
 *
 *   flops   by op: a product of M x K and K x N is 2 M K N, an elementwise op one an
 *           element (an exp too), a cast, a comparison of ids or a copy none
 *   bytes   every operand once, a stretched one (stride 0) by its real size
 *   lines   rows that ids name, out of tables that are larger than a cache; rows of
 *           smaller tables count as bytes
 */
#include "passes/lower/work.h"

#include "ir/bag.h"
#include "ir/build/build.h"
#include "ir/semantics/winograd.h"
#include "ir/tensor/row.h"
#include "passes/lower/lower.h"

typedef struct counter {
    ig_module *module;
    const ig_target *target;
    const ig_op *compute;
    bool *is_counted; /* by operand: its bytes are taken care of */
    ig_work work;
} counter;

typedef void (*count_fn)(counter *c, const ig_op *op);

static void add_flops(counter *c, ig_dim count, int64_t each) {
    ig_dim flops = ig_dim_mul(c->module, count, ig_dim_of(each));
    c->work.flops = ig_dim_add(c->module, c->work.flops, flops);
}

static void add_bytes(counter *c, ig_dim count, int64_t each) {
    ig_dim bytes = ig_dim_mul(c->module, count, ig_dim_of(each));
    c->work.bytes = ig_dim_add(c->module, c->work.bytes, bytes);
}

static ig_dim count_of(const counter *c, const ig_value *value) {
    return ig_type_count(c->module, value->type);
}

static ig_dim operand_count(const counter *c, const ig_op *op, uint32_t index) {
    return count_of(c, op->operands[index].value);
}

/* ---- arithmetic ---- */

static void count_elements(counter *c, const ig_op *op) {
    add_flops(c, count_of(c, &op->results[0]), 1);
}

static void count_operand(counter *c, const ig_op *op) {
    add_flops(c, operand_count(c, op, 0), 1);
}

/* Largest, difference, exp, sum, quotient. */
static void count_softmax(counter *c, const ig_op *op) {
    add_flops(c, operand_count(c, op, 0), 5);
}

/* Sum, difference, square, sum, and scale and shift. */
static void count_norm(counter *c, const ig_op *op) {
    add_flops(c, operand_count(c, op, 0), 6);
}

static void count_matmul(counter *c, const ig_op *op) {
    const ig_type *a = op->operands[0].value->type;
    ig_dim depth = a->rank ? a->dims[a->rank - 1] : ig_dim_of(1);
    ig_dim results = count_of(c, &op->results[0]);
    add_flops(c, ig_dim_mul(c->module, results, depth), 2);
}

static void count_conv(counter *c, const ig_op *op) {
    const ig_type *w = op->operands[1].value->type;
    bool is_transposed = ig_attr_int(op, IG_conv_transposed, 0) != 0;
    /* Each element of the result (transposed: of x) meets every tap once. */
    ig_dim positions = is_transposed ? operand_count(c, op, 0)
                                     : count_of(c, &op->results[0]);
    ig_dim taps = ig_dim_product(c->module, w->dims + 1, w->rank - 1);
    add_flops(c, ig_dim_mul(c->module, positions, taps), 2);
}

/* Each element of the result meets a column of the panels. */
static void count_conv_panels(counter *c, const ig_op *op) {
    const ig_type *w = op->operands[1].value->type;
    ig_dim depth = ig_dim_mul(c->module, w->dims[1],
                              w->rank > 3 ? w->dims[3] : ig_dim_of(1));
    add_flops(c, ig_dim_mul(c->module, count_of(c, &op->results[0]), depth), 2);
}

/* As if its weights were the 9 taps that 16 of them are made of. */
static void count_conv_winograd(counter *c, const ig_op *op) {
    const ig_type *x = op->operands[0].value->type;
    ig_dim results = count_of(c, &op->results[0]);
    add_flops(c, ig_dim_mul(c->module, results, x->dims[x->rank - 1]),
              2 * IG_WINOGRAD_TAPS * IG_WINOGRAD_TAPS);
}

static void count_conv_channels(counter *c, const ig_op *op) {
    const ig_type *w = op->operands[1].value->type;
    ig_dim taps = ig_dim_product(c->module, w->dims, w->rank - 1);
    add_flops(c, ig_dim_mul(c->module, count_of(c, &op->results[0]), taps), 2);
}

static void count_pool(counter *c, const ig_op *op) {
    const ig_attr *kernel = &op->attrs[IG_pool_kernel];
    int64_t taps = 1;
    for (uint32_t i = 0; i < kernel->count; i++) {
        taps *= kernel->as.ints[i];
    }
    add_flops(c, count_of(c, &op->results[0]), taps);
}

static void count_interact(counter *c, const ig_op *op) {
    const ig_type *x = op->operands[0].value->type;
    ig_dim results = count_of(c, &op->results[0]);
    add_flops(c, ig_dim_mul(c->module, results, x->dims[2]), 2);
}

/* ---- rows that ids name ---- */

/* The compute's operand that this value is, or the number of operands. */
static uint32_t operand_of(const counter *c, const ig_value *value) {
    bool is_input = !value->def && value->block == c->compute->bodies[0];
    return is_input ? value->index : c->compute->operand_count;
}

/* The operand is not read as a whole. */
static void skip_bytes(counter *c, const ig_value *value) {
    uint32_t operand = operand_of(c, value);
    if (operand < c->compute->operand_count) {
        c->is_counted[operand] = true;
    }
}

/* `rows` rows of `row_bytes` out of `table`, which has `held` bytes. */
static void add_rows(counter *c, const ig_value *table, ig_dim held, ig_dim rows,
                     ig_dim row_bytes) {
    int64_t line = c->target->line_bytes ? c->target->line_bytes : 64;
    int64_t bytes = 0;
    bool is_small = ig_dim_constant(c->module, held, &bytes) &&
                    bytes <= (int64_t)c->target->l3_bytes;
    skip_bytes(c, table);
    if (is_small) {
        c->work.bytes = ig_dim_add(c->module, c->work.bytes,
                                   ig_dim_mul(c->module, rows, row_bytes));
        return;
    }
    ig_dim lines = ig_dim_ceil_div(c->module, row_bytes, ig_dim_of(line));
    c->work.lines = ig_dim_add(c->module, c->work.lines,
                               ig_dim_mul(c->module, rows, lines));
}

static ig_dim table_row_bytes(const counter *c, const ig_type *table) {
    int64_t width = 0;
    ig_row_layout layout;
    unsigned bits = ig_dtypes[table->dtype].bits;
    ig_dim_constant(c->module, table->dims[1], &width);
    if (table->kind == IG_TABLE &&
        ig_row_layout_of(table->rows, bits, width, &layout)) {
        return ig_dim_of(layout.stride);
    }
    return ig_dim_mul(c->module, table->dims[1], ig_dim_of(bits / 8));
}

/* All tables of a launch compete for the caches. */
static void count_bag(counter *c, const ig_op *op) {
    uint32_t features = ig_bag_feature_count(op);
    ig_dim held = ig_dim_of(0);
    for (uint32_t i = 0; i < features; i++) {
        ig_bag_feature f = ig_bag_feature_at(op, i);
        const ig_type *table = op->operands[f.table].value->type;
        ig_dim bytes = table_row_bytes(c, table);
        ig_dim rows = ig_bag_feature_rows(op, &f);
        held = ig_dim_add(c->module, held, ig_dim_mul(c->module, rows, bytes));
    }
    for (uint32_t i = 0; i < features; i++) {
        ig_bag_feature f = ig_bag_feature_at(op, i);
        const ig_value *table = op->operands[f.table].value;
        ig_dim ids = operand_count(c, op, f.ids);
        ig_dim elements = ig_dim_mul(c->module, ids, table->type->dims[1]);
        add_flops(c, f.pool == IG_POOL_none ? ig_dim_of(0) : elements,
                  f.weights ? 2 : 1);
        for (uint32_t t = 1; t < f.tables; t++) {
            skip_bytes(c, op->operands[f.table + t].value);
        }
        add_rows(c, table, held, ids, table_row_bytes(c, table->type));
    }
}

static ig_dim bytes_of(const counter *c, const ig_type *type) {
    ig_dim bits = ig_dim_mul(c->module, ig_type_count(c->module, type),
                             ig_dim_of(ig_dtypes[type->dtype].bits));
    return ig_dim_ceil_div(c->module, bits, ig_dim_of(8));
}

/* The result at `index` is not written as a whole. */
static void skip_result(counter *c, uint32_t index) {
    uint32_t outs = (uint32_t)ig_attr_int(c->compute, IG_compute_outs, 0);
    c->is_counted[c->compute->operand_count - outs + index] = true;
}

/* Rows that occur, once for each id at the most: read, and written where they are; the
 * sums of their gradients, without the body. */
static void count_bag_update(counter *c, const ig_op *op) {
    uint32_t own = 1 + ig_bag_update_states(op);
    ig_dim held = ig_dim_of(0);
    for (uint32_t i = 0; i < op->result_count; i++) {
        held = ig_dim_add(c->module, held, bytes_of(c, op->results[i].type));
        skip_result(c, i);
    }
    for (uint32_t i = 0; i < op->result_count; i++) {
        ig_bag_update_table t = ig_bag_update_at(op, i / own);
        const ig_value *matrix = op->operands[t.weight + i % own].value;
        ig_dim ids = operand_count(c, op, t.rows);
        add_rows(c, matrix, held, ids, table_row_bytes(c, matrix->type));
        if (i % own == 0) {
            add_flops(c, ig_dim_mul(c->module, ids, matrix->type->dims[1]),
                      t.factors ? 2 : 1);
        }
    }
}

/* Whole stretches after the axis. */
static void count_gather(counter *c, const ig_op *op) {
    const ig_value *x = op->operands[0].value;
    int64_t axis = ig_attr_int(op, IG_gather_axis, 0);
    axis += axis < 0 ? (int64_t)x->type->rank : 0;
    ig_dim row = ig_dim_of(ig_dtypes[x->type->dtype].bits / 8),
           rows = operand_count(c, op, 1);
    for (uint32_t d = 0; d < x->type->rank; d++) {
        ig_dim *factor = (int64_t)d < axis ? &rows : &row;
        if ((int64_t)d != axis) {
            *factor = ig_dim_mul(c->module, *factor, x->type->dims[d]);
        }
    }
    add_rows(c, x, bytes_of(c, x->type), rows, row);
}

static void count_elements_gathered(counter *c, const ig_op *op) {
    const ig_value *x = op->operands[0].value;
    add_rows(c, x, bytes_of(c, x->type), count_of(c, &op->results[0]),
             ig_dim_of(ig_dtypes[x->type->dtype].bits / 8));
}

/* In place, only the elements of x that the updates change are written, and read where
 * updates are combined with them. */
static void count_scatter(counter *c, const ig_op *op) {
    bool is_nd = op->code == IG_OP_scatter_nd;
    uint32_t in_place = is_nd ? IG_scatter_nd_in_place : IG_scatter_elements_in_place;
    uint32_t reduce = is_nd ? IG_scatter_nd_reduce : IG_scatter_elements_reduce;
    bool combines = ig_attr_int(op, reduce, 0) != IG_SCATTER_none;
    add_flops(c, combines ? operand_count(c, op, 2) : ig_dim_of(0), 1);
    if (ig_attr_int(op, in_place, 0)) {
        skip_bytes(c, op->operands[0].value);
        c->is_counted[c->compute->operand_count - 1] = true;
        add_bytes(c, bytes_of(c, op->operands[2].value->type), combines ? 2 : 1);
    }
}

/* ---- a row an op that is not elementwise ---- */

static const count_fn counts[IG_OP_COUNT] = {
    [IG_OP_matmul] = count_matmul,
    [IG_OP_matmul_integer] = count_matmul,
    [IG_OP_matmul_bits] = count_matmul,
    [IG_OP_matmul_panels] = count_matmul,
    [IG_OP_matmul_quads] = count_matmul,
    [IG_OP_conv] = count_conv,
    [IG_OP_conv_panels] = count_conv_panels,
    [IG_OP_conv_quads] = count_conv_panels,
    [IG_OP_conv_winograd] = count_conv_winograd,
    [IG_OP_conv_channels] = count_conv_channels,
    [IG_OP_pool] = count_pool,
    [IG_OP_interact] = count_interact,
    [IG_OP_reduce] = count_operand,
    [IG_OP_cumsum] = count_operand,
    [IG_OP_cumulate] = count_operand,
    [IG_OP_softmax] = count_softmax,
    [IG_OP_layer_norm] = count_norm,
    [IG_OP_bag] = count_bag,
    [IG_OP_bag_update] = count_bag_update,
    [IG_OP_gather] = count_gather,
    [IG_OP_gather_nd] = count_elements_gathered,
    [IG_OP_gather_elements] = count_elements_gathered,
    [IG_OP_scatter_elements] = count_scatter,
    [IG_OP_scatter_nd] = count_scatter,
};

static void count_op(counter *c, const ig_op *op) {
    const ig_op_info *info = &ig_ops[op->code];
    bool is_map = (info->traits & IG_MAP) != 0;
    if (counts[op->code]) {
        counts[op->code](c, op);
    } else if (is_map && op->code != IG_OP_cast) {
        count_elements(c, op);
    }
}

/* ---- operands ---- */

static bool is_repeated(const counter *c, uint32_t index) {
    const ig_value *value = c->compute->operands[index].value;
    for (uint32_t i = 0; i < index; i++) {
        if (c->compute->operands[i].value == value) {
            return true;
        }
    }
    return false;
}

static void count_bytes(counter *c, uint32_t index, ig_arena *arena) {
    const ig_value *value = c->compute->operands[index].value;
    const ig_type *type = value->type;
    if (c->is_counted[index] || is_repeated(c, index)) {
        return;
    }
    const ig_dim *strides = ig_lower_strides(arena, value);
    ig_dim count = ig_dim_of(ig_dtypes[type->dtype].bits);
    for (uint32_t d = 0; d < type->rank; d++) {
        if (!ig_dim_is(strides[d], 0)) {
            count = ig_dim_mul(c->module, count, type->dims[d]);
        }
    }
    add_bytes(c, ig_dim_ceil_div(c->module, count, ig_dim_of(8)), 1);
}

ig_work ig_work_of(const ig_op *compute, const ig_target *target, ig_arena *arena) {
    counter c = { .module = compute->block->graph->module,
                  .target = target,
                  .compute = compute,
                  .is_counted = IG_NEW_ARRAY(arena, bool, compute->operand_count) };
    for (const ig_op *op = compute->bodies[0]->first; op; op = op->next) {
        count_op(&c, op);
    }
    for (uint32_t i = 0; i < compute->operand_count; i++) {
        count_bytes(&c, i, arena);
    }
    return c.work;
}
