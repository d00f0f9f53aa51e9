/* Layer normalisation over the last axes.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   mean = sum(x) / n    c = x - mean    d = sum(c) / n    v = sum(c²) / n - d²
 *   (c - d) / sqrt(v + epsilon) * scale + bias
 *
 * d is what rounding left out of the mean: where a row is nearly constant c is exact
 * and d puts it right, as Björck's corrected two-pass algorithm does for the variance
 * (Chan, Golub, LeVeque: Algorithms for computing the sample variance, 1983).
 *
 * Three walks over a row in one kernel; the row stays in the caches between them.
 * Narrow floats are computed in f32.  Lanes run along the last axis where every operand
 * is contiguous or constant there; their sums are added halves to halves.  On GPUs a
 * team (team.h) goes along it.
 *
 *   grid       rows, in blocks of about 4096 elements
 */
#include "passes/lower/serial/serial.h"

#include "passes/lower/team.h"

#include <assert.h>
#include <string.h>

enum { CHUNK = 4096 };

typedef struct norm {
    ig_lower *lower;
    const ig_op *op;
    const ig_lower_operand *x, *out;
    uint32_t axis, rank; /* the first normalised axis; of x */
    uint32_t lanes;
    ig_dtype wide;
    int64_t rows; /* a tile */
    ig_team team;
} norm;

typedef struct row {
    const norm *n;
    ig_value *index[IG_TENSOR_RANK];
    ig_value *mean, *shift, *deviation; /* shift: d above; NULL with rms */
} row;

enum { SUM, SQUARES, TOTALS }; /* the sums of a walk */

/* One step: adds the elements there to `totals`; `count` lanes of it, all when NULL. */
typedef void (*step_fn)(row *r, ig_builder *b, ig_value **totals, ig_value *count);

/* ---- one step of each walk ---- */

/* The position of the walk. */
static ig_site site_of(const row *r, ig_builder *b, ig_value *count) {
    return (ig_site){ .b = b,
                      .lanes = r->n->lanes,
                      .rank = r->n->rank,
                      .dims = r->n->x->type->dims,
                      .index = r->index,
                      .count = count };
}

/* An operand there; those of lower rank belong to the last axes. */
static ig_value *load_operand(row *r, ig_builder *b, const ig_lower_operand *operand,
                              ig_value *count) {
    ig_site site = site_of(r, b, count);
    return k_cast(b, ig_lower_load(r->n->lower, &site, operand), r->n->wide);
}

/* 0 in the lanes after the last element: one that is broadcast fills them too. */
static ig_value *own_lanes(const row *r, ig_builder *b, ig_value *x, ig_value *count) {
    uint32_t lanes = r->n->lanes;
    if (!count || lanes == 1) {
        return x;
    }
    ig_value *is_there = k_compare(b, IG_OP_lt, k_iota(b, lanes),
                                   k_splat(b, count, lanes));
    return k_where(b, is_there, x, k_const_vector(b, r->n->wide, lanes, 0.0));
}

static void step_sum(row *r, ig_builder *b, ig_value **totals, ig_value *count) {
    ig_value *x = load_operand(r, b, r->n->x, count);
    totals[SUM] = k_add(b, totals[SUM], own_lanes(r, b, x, count));
}

static void step_squares(row *r, ig_builder *b, ig_value **totals, ig_value *count) {
    ig_value *centred = load_operand(r, b, r->n->x, count);
    if (r->mean) {
        centred = own_lanes(r, b, k_sub(b, centred, r->mean), count);
        totals[SUM] = k_add(b, totals[SUM], centred);
    } else {
        centred = own_lanes(r, b, centred, count);
    }
    totals[SQUARES] = k_muladd(b, centred, centred, totals[SQUARES]);
}

/* The results, as the body's elementwise ops make them. */
static void step_write(row *r, ig_builder *b, ig_value **totals, ig_value *count) {
    const norm *n = r->n;
    ig_value *value = load_operand(r, b, n->x, count);
    (void)totals;
    if (r->mean) {
        value = k_sub(b, k_sub(b, value, r->mean), r->shift);
    }
    value = k_binary(b, IG_OP_div, value, r->deviation);
    if (n->op->operand_count > 1) {
        ig_value *scale = load_operand(r, b, ig_lower_input(n->lower, n->op, 1), count);
        value = k_mul(b, value, scale);
    }
    if (n->op->operand_count > 2) {
        value = k_add(b, value,
                      load_operand(r, b, ig_lower_input(n->lower, n->op, 2), count));
    }
    ig_lower_store_anchor(n->lower, site_of(r, b, count), n->op, value);
}

/* ---- a walk over the normalised axes ---- */

static void walk_last(row *r, ig_builder *b, ig_value **totals, step_fn step) {
    const norm *n = r->n;
    uint32_t last = n->rank - 1;
    ig_value *extent = ig_lower_dim(n->lower, n->x->type->dims[last]);
    bool has_team = n->team.size > 0;
    ig_value *by = k_i64(b, has_team ? n->team.size : n->lanes);
    ig_value *whole = has_team ? extent : k_mul(b, k_div(b, extent, by), by);
    ig_value *begin = has_team ? n->team.thread : k_i64(b, 0);
    k_loop loop = k_loop_open(b, begin, whole, by, totals, TOTALS);
    ig_value *next[TOTALS] = { loop.carried[SUM], loop.carried[SQUARES] };
    r->index[last] = loop.index;
    step(r, &loop.b, next, NULL);
    k_loop_close(&loop, next, TOTALS);
    memcpy(totals, loop.results, TOTALS * sizeof *totals);
    if (n->lanes == 1) {
        return;
    }
    k_loop tail = k_loop_open(b, whole, extent, by, totals, TOTALS);
    memcpy(next, tail.carried, TOTALS * sizeof *next);
    r->index[last] = tail.index;
    step(r, &tail.b, next, k_sub(&tail.b, extent, tail.index));
    k_loop_close(&tail, next, TOTALS);
    memcpy(totals, tail.results, TOTALS * sizeof *totals);
}

/* `totals` hold its start values, and then the sums. */
static void walk_axes(row *r, ig_builder *b, uint32_t axis, ig_value **totals,
                      step_fn step) {
    assert(axis < r->n->rank && "an axis of x");
    const norm *n = r->n;
    if (axis + 1 == n->rank) {
        walk_last(r, b, totals, step);
        return;
    }
    ig_value *extent = ig_lower_dim(n->lower, n->x->type->dims[axis]);
    k_loop loop = k_loop_open(b, k_i64(b, 0), extent, k_i64(b, 1), totals, TOTALS);
    ig_value *next[TOTALS] = { loop.carried[SUM], loop.carried[SQUARES] };
    r->index[axis] = loop.index;
    walk_axes(r, &loop.b, axis + 1, next, step);
    k_loop_close(&loop, next, TOTALS);
    memcpy(totals, loop.results, TOTALS * sizeof *totals);
}

/* ---- a row ---- */

static ig_value *mean_of(const norm *n, ig_builder *b, ig_value *lanes,
                         ig_value *count) {
    ig_value *sum = ig_team_combine(&n->team, b, IG_REDUCE_sum,
                                    k_hreduce(b, IG_REDUCE_sum, lanes));
    return k_binary(b, IG_OP_div, sum, count);
}

static void emit_row(const norm *n, ig_builder *b, ig_value *number) {
    row r = { .n = n };
    for (uint32_t d = n->axis; d-- > 0;) {
        ig_value *extent = ig_lower_dim(n->lower, n->x->type->dims[d]);
        r.index[d] = d == 0 ? number : k_mod(b, number, extent);
        number = d == 0 ? number : k_div(b, number, extent);
    }
    ig_dim length = ig_dim_product(n->lower->module, n->x->type->dims + n->axis,
                                   n->rank - n->axis);
    ig_value *count = k_cast(b, ig_lower_dim(n->lower, length), n->wide);
    double epsilon = ig_attr_float(n->op, IG_layer_norm_epsilon, 0.0);
    bool is_rms = ig_attr_int(n->op, IG_layer_norm_rms, 0);
    ig_value *zero = k_const_vector(b, n->wide, n->lanes, 0.0);
    ig_value *sums[TOTALS] = { zero, zero }, *squares[TOTALS] = { zero, zero };
    if (!is_rms) {
        walk_axes(&r, b, n->axis, sums, step_sum);
        r.mean = k_splat(b, mean_of(n, b, sums[SUM], count), n->lanes);
    }
    walk_axes(&r, b, n->axis, squares, step_squares);
    ig_value *v = mean_of(n, b, squares[SQUARES], count);
    if (!is_rms) {
        ig_value *shift = mean_of(n, b, squares[SUM], count);
        v = k_max(b, k_sub(b, v, k_mul(b, shift, shift)), k_const(b, n->wide, 0.0));
        r.shift = k_splat(b, shift, n->lanes);
    }
    v = k_unary(b, IG_OP_sqrt, k_add(b, v, k_const(b, n->wide, epsilon)));
    r.deviation = k_splat(b, v, n->lanes);
    walk_axes(&r, b, n->axis, sums, step_write);
}

static void emit_tile(void *user, ig_builder *b, ig_value *tile) {
    const norm *n = user;
    ig_dim count = ig_dim_product(n->lower->module, n->x->type->dims, n->axis);
    ig_value *step = k_i64(b, n->rows);
    ig_value *first = k_mul(b, tile, step);
    ig_value *last = k_min(b, ig_lower_dim(n->lower, count), k_add(b, first, step));
    k_loop loop = k_loop_open(b, first, last, k_i64(b, 1), NULL, 0);
    emit_row(n, &loop.b, loop.index);
    k_loop_close(&loop, NULL, 0);
}

/* ---- the schedule ---- */

/* Are the norm's own operands and its result contiguous or constant along the last
 * axis? */
static bool has_lanes(const norm *n) {
    bool has_lanes = ig_dim_is(n->out->strides[n->rank - 1], 1);
    for (uint32_t i = 0; i < n->op->operand_count; i++) {
        const ig_lower_operand *x = ig_lower_input(n->lower, n->op, i);
        ig_dim step = ig_lower_step(n->lower, x, n->rank, n->x->type->dims,
                                    n->rank - 1);
        has_lanes &= ig_dim_is(step, 0) || ig_dim_is(step, 1);
    }
    return has_lanes;
}

ig_status ig_lower_serial_norm(ig_lower *lower) {
    const ig_op *op = ig_lower_anchor(lower, IG_OP_layer_norm);
    assert(op && "the family's body has its anchor");
    norm n = { .lower = lower,
               .op = op,
               .x = ig_lower_input(lower, op, 0),
               .out = &lower->outs[0] };
    n.rank = n.x->type->rank;
    int64_t axis = ig_attr_int(op, IG_layer_norm_axis, 0);
    n.axis = (uint32_t)(axis < 0 ? axis + n.rank : axis);
    n.wide = n.x->type->dtype == IG_DT_f64 ? IG_DT_f64 : IG_DT_f32;
    n.lanes = has_lanes(&n) ? ig_lower_lanes(lower, n.wide) : 1;
    ig_module *module = lower->module;
    ig_dim length = ig_dim_product(module, n.x->type->dims + n.axis, n.rank - n.axis);
    int64_t known = 0;
    n.rows = ig_dim_constant(module, length, &known) && known > 0
                 ? ig_lower_tile(lower, CHUNK) / known
                 : 8;
    n.team = ig_team_open(lower, n.wide, n.x->type->dims[n.rank - 1]);
    n.rows = n.rows < 1 || n.team.size ? 1 : n.rows;
    ig_dim rows = ig_dim_product(module, n.x->type->dims, n.axis);
    lower->name = ig_lower_name(lower, "layer_norm");
    lower->grid = ig_lower_ceil_div(lower, rows, n.rows);
    lower->cost = ig_lower_ceil_div(lower, ig_type_count(module, n.x->type), 2);
    ig_lower_each_tile(lower, emit_tile, &n);
    return IG_OK;
}
