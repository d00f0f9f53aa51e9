/* Maxima and sums of windows, on CPUs.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A line of the result, along its last axis, takes two steps: elements of x are
 * combined over the taps of all other axes, and then over those of the last:
 *
 *     y[i]   = max over taps… of x[…, i]
 *     out[j] = max over t of y[j * stride + t * dilation - before]
 *
 * First y of each line of a tile, then their windows: a load of y that begins between
 * two vectors would wait for stores that are not in the cache yet.
 *
 * Taps outside of x along other axes are left out; y begins and ends with the
 * maximum (sum) of nothing.  Where windows have one element along the last axis, as
 * with channels last, y is the result.
 *
 *   grid       lines of the result, LINES a tile
 */
#include "passes/lower/cpu/cpu.h"
#include "passes/lower/serial/window.h"

#include <assert.h>
#include <string.h>

enum {
    LINES = 8,
    VECTORS = 4,   /* that go over the taps together, at most */
    COLUMNS = 256, /* of the result at a time */
    UNROLLED = 8,  /* taps along the last axis, at most */
};

typedef struct pool {
    ig_lower *lower;
    const ig_op *op;
    const ig_lower_operand *x, *out;
    uint32_t last, lanes, vectors;
    ig_dtype wide;
    bool is_max, is_flat; /* flat: windows of one element along the last axis */
    int64_t columns;      /* of the result, for which y has room */
    int64_t reach;        /* elements of y */
    ig_value *y;
} pool;

/* The taps of a window that meet x along an axis; where the first of all would be. */
typedef struct taps {
    ig_value *first, *end, *start;
} taps;

/* A line of the result. */
typedef struct line {
    const pool *p;
    ig_value *y_at; /* its own part of y */
    ig_value *index[IG_TENSOR_RANK];
    taps axis[IG_TENSOR_RANK];
    ig_value *x_at; /* of the image's plane */
} line;

static int64_t entry_of(const pool *p, uint32_t slot, uint32_t axis) {
    return ig_lower_entry(p->op, slot, axis - 2);
}

static ig_value *stride_of(const pool *p, const ig_lower_operand *x, uint32_t axis) {
    return ig_lower_dim(p->lower, x->strides[axis]);
}

static ig_value *extent_of(const pool *p, const ig_lower_operand *x, uint32_t axis) {
    return ig_lower_dim(p->lower, x->type->dims[axis]);
}

static ig_dim before_of(const pool *p, uint32_t axis) {
    const ig_attr *before = &p->op->attrs[IG_pool_before];
    return before->kind == IG_ATTR_NONE ? ig_dim_of(0) : before->as.dims[axis - 2];
}

static ig_value *combine_values(const pool *p, ig_builder *b, ig_value *x,
                                ig_value *y) {
    return p->is_max ? k_max(b, x, y) : k_add(b, x, y);
}

static ig_value *start_value(const pool *p, ig_builder *b) {
    return p->is_max ? ig_lower_lowest(b, p->wide, p->lanes)
                     : k_const_vector(b, p->wide, p->lanes, 0.0);
}

/* ---- over the taps of all axes but the last ---- */

/* a / b, rounded up, of an a that may be negative: then 0. */
static ig_value *ceil_or_zero(ig_builder *b, ig_value *a, int64_t by) {
    return k_ceil_div(b, k_max(b, a, k_i64(b, 0)), by);
}

static taps taps_of(const pool *p, ig_builder *b, uint32_t axis, ig_value *at) {
    int64_t apart = entry_of(p, IG_pool_dilations, axis);
    ig_value *size = k_i64(b, p->op->attrs[IG_pool_kernel].as.ints[axis - 2]);
    ig_value *start = k_mul(b, at, k_i64(b, entry_of(p, IG_pool_strides, axis)));
    bool is_inside = !ig_attr_is_set(p->op, IG_pool_before) &&
                     !ig_attr_is_set(p->op, IG_pool_after);
    if (is_inside) {
        return (taps){ k_i64(b, 0), size, start };
    }
    start = k_sub(b, start, ig_lower_dim(p->lower, before_of(p, axis)));
    ig_value *left = k_sub(b, extent_of(p, p->x, axis), start);
    return (taps){ ceil_or_zero(b, k_sub(b, k_i64(b, 0), start), apart),
                   k_min(b, size, ceil_or_zero(b, left, apart)), start };
}

/* Vectors that are combined; count: lanes of one that count, or NULL. */
typedef struct group {
    ig_value *totals[VECTORS], *count;
    uint32_t vectors;
} group;

/* The columns of x from `at` on, of the taps of axes from `axis` on. */
static void combine_taps(const line *l, ig_builder *b, uint32_t axis, ig_value *at,
                         group *g) {
    const pool *p = l->p;
    ig_value *stride = stride_of(p, p->x, axis);
    for (uint32_t v = 0; axis == p->last && v < g->vectors; v++) {
        ig_value *away = k_mul(b, stride, k_i64(b, (int64_t)v * p->lanes));
        ig_value *x = k_load_apart(b, p->x->buffer, k_add(b, at, away), stride,
                                   p->lanes, g->count);
        g->totals[v] = combine_values(p, b, g->totals[v], k_cast(b, x, p->wide));
    }
    if (axis == p->last) {
        return;
    }
    const taps *own = &l->axis[axis];
    k_loop loop = k_loop_open(b, own->first, own->end, k_i64(b, 1), g->totals,
                              g->vectors);
    ig_builder *in = &loop.b;
    ig_value *tap = k_mul(in, loop.index,
                          k_i64(in, entry_of(p, IG_pool_dilations, axis)));
    memcpy(g->totals, loop.carried, g->vectors * sizeof *g->totals);
    tap = k_mul(in, k_add(in, own->start, tap), stride);
    combine_taps(l, in, axis + 1, k_add(in, at, tap), g);
    k_loop_close(&loop, g->totals, g->vectors);
    memcpy(g->totals, loop.results, g->vectors * sizeof *g->totals);
}

/* What the body makes of the pool's value at a column of the result. */
static void store_result(line *l, ig_builder *b, ig_value *column, ig_value *value,
                         ig_value *count) {
    const pool *p = l->p;
    l->index[p->last] = column;
    ig_site site = { .b = b,
                     .lanes = p->lanes,
                     .rank = p->last + 1,
                     .dims = p->out->type->dims,
                     .index = l->index,
                     .count = p->lanes == 1 ? NULL : count };
    ig_lower_store_anchor(p->lower, site, p->op, value);
}

/* Columns of x; their combinations go into y, column 0 `to` there, or are results. */
typedef struct run {
    ig_value *from, *end;
    ig_value *to; /* NULL: results */
} run;

static void emit_vectors(line *l, ig_builder *b, const run *r, ig_value *column,
                         uint32_t vectors, ig_value *count) {
    const pool *p = l->p;
    group g = { .count = count, .vectors = vectors };
    for (uint32_t v = 0; v < vectors; v++) {
        g.totals[v] = start_value(p, b);
    }
    ig_value *at = k_mul(b, column, stride_of(p, p->x, p->last));
    combine_taps(l, b, 2, k_add(b, l->x_at, at), &g);
    for (uint32_t v = 0; v < vectors; v++) {
        ig_value *own = k_add(b, column, k_i64(b, (int64_t)v * p->lanes));
        if (r->to) {
            k_store_count(b, g.totals[v], p->y, k_add(b, r->to, own),
                          p->lanes == 1 ? NULL : count);
        } else {
            store_result(l, b, own, g.totals[v], count);
        }
    }
}

static void emit_run(line *l, ig_builder *b, const run *r) {
    ig_value *wide = k_i64(b, (int64_t)l->p->lanes * l->p->vectors);
    ig_value *groups = k_div(b, k_max(b, k_sub(b, r->end, r->from), k_i64(b, 0)), wide);
    ig_value *middle = k_add(b, r->from, k_mul(b, groups, wide));
    k_loop loop = k_loop_open(b, r->from, middle, wide, NULL, 0);
    emit_vectors(l, &loop.b, r, loop.index, l->p->vectors, NULL);
    k_loop_close(&loop, NULL, 0);
    k_loop tail = k_loop_open(b, middle, r->end, k_i64(b, l->p->lanes), NULL, 0);
    ig_value *left = l->p->lanes > 1 ? k_sub(&tail.b, r->end, tail.index) : NULL;
    emit_vectors(l, &tail.b, r, tail.index, 1, left);
    k_loop_close(&tail, NULL, 0);
}

/* ---- over those of the last axis ---- */

/* Elements of y for windows from `first` on. */
static void emit_y(line *l, ig_builder *b, ig_value *first) {
    const pool *p = l->p;
    ig_value *stride = k_i64(b, entry_of(p, IG_pool_strides, p->last));
    ig_value *start = k_sub(b, k_mul(b, first, stride),
                            ig_lower_dim(p->lower, before_of(p, p->last)));
    k_loop loop = k_loop_open(b, k_i64(b, 0), k_i64(b, p->reach), k_i64(b, p->lanes),
                              NULL, 0);
    k_store(&loop.b, start_value(p, &loop.b), p->y,
            k_add(&loop.b, l->y_at, loop.index));
    k_loop_close(&loop, NULL, 0);
    ig_value *past = k_add(b, start, k_i64(b, p->reach));
    run r = { .from = k_max(b, start, k_i64(b, 0)),
              .end = k_min(b, past, extent_of(p, p->x, p->last)),
              .to = k_sub(b, l->y_at, start) };
    emit_run(l, b, &r);
}

/* One vector of windows, `at` in y. */
static ig_value *emit_windows(const pool *p, ig_builder *b, ig_value *at) {
    int64_t size = p->op->attrs[IG_pool_kernel].as.ints[p->last - 2];
    int64_t apart = entry_of(p, IG_pool_dilations, p->last);
    ig_value *stride = k_i64(b, entry_of(p, IG_pool_strides, p->last));
    ig_value *total = start_value(p, b);
    for (int64_t t = 0; size <= UNROLLED && t < size; t++) {
        ig_value *own = k_add(b, at, k_i64(b, t * apart));
        ig_value *x = k_load_apart(b, p->y, own, stride, p->lanes, NULL);
        total = combine_values(p, b, total, x);
    }
    if (size <= UNROLLED) {
        return total;
    }
    k_loop loop = k_loop_open(b, k_i64(b, 0), k_i64(b, size), k_i64(b, 1), &total, 1);
    ig_builder *in = &loop.b;
    ig_value *own = k_add(in, at, k_mul(in, loop.index, k_i64(in, apart)));
    ig_value *x = k_load_apart(in, p->y, own, stride, p->lanes, NULL);
    total = combine_values(p, in, loop.carried[0], x);
    k_loop_close(&loop, &total, 1);
    return loop.results[0];
}

/* Columns first … of the result, as many as y has room for. */
static void emit_columns(line *l, ig_builder *b, ig_value *first) {
    const pool *p = l->p;
    ig_value *width = extent_of(p, p->out, p->last);
    ig_value *end = k_min(b, width, k_add(b, first, k_i64(b, p->columns)));
    ig_value *stride = k_i64(b, entry_of(p, IG_pool_strides, p->last));
    k_loop loop = k_loop_open(b, first, end, k_i64(b, p->lanes), NULL, 0);
    ig_builder *in = &loop.b;
    ig_value *at = k_mul(in, k_sub(in, loop.index, first), stride);
    ig_value *value = emit_windows(p, in, k_add(in, l->y_at, at));
    store_result(l, in, loop.index, value, k_sub(in, end, loop.index));
    k_loop_close(&loop, NULL, 0);
}

/* ---- the schedule ---- */

static void emit_flat(line *l, ig_builder *b, ig_value *first) {
    run r = { .from = first, .end = extent_of(l->p, l->p->out, l->p->last) };
    emit_run(l, b, &r);
}

/* One step of each line of a tile, for columns first … */
static void each_line(const pool *p, ig_builder *b, ig_value *tile, ig_value *first,
                      void (*step)(line *l, ig_builder *b, ig_value *first)) {
    ig_dim count = ig_lower_row_count(p->lower, p->out->type, 0);
    k_loop loop = ig_lower_open_lines(b, tile, ig_lower_dim(p->lower, count), LINES);
    ig_builder *in = &loop.b;
    line l = { .p = p };
    ig_lower_split_rows(p->lower, in, p->out->type, 0, loop.index, l.index);
    l.x_at = k_add(in, k_mul(in, l.index[0], stride_of(p, p->x, 0)),
                   k_mul(in, l.index[1], stride_of(p, p->x, 1)));
    ig_value *own = k_sub(in, loop.index, k_mul(in, tile, k_i64(in, LINES)));
    l.y_at = k_mul(in, own, k_i64(in, p->reach));
    for (uint32_t d = 2; d < p->last; d++) {
        l.axis[d] = taps_of(p, in, d, l.index[d]);
    }
    step(&l, in, first);
    k_loop_close(&loop, NULL, 0);
}

static void emit_tile(void *user, ig_builder *b, ig_value *tile) {
    const pool *p = user;
    if (p->is_flat) {
        each_line(p, b, tile, k_i64(b, 0), emit_flat);
        return;
    }
    k_loop loop = k_loop_open(b, k_i64(b, 0), extent_of(p, p->out, p->last),
                              k_i64(b, p->columns), NULL, 0);
    each_line(p, &loop.b, tile, loop.index, emit_y);
    each_line(p, &loop.b, tile, loop.index, emit_columns);
    k_loop_close(&loop, NULL, 0);
}

static bool is_flat(const pool *p) {
    const ig_attr *after = &p->op->attrs[IG_pool_after];
    bool ends = after->kind == IG_ATTR_NONE ||
                ig_dim_is(after->as.dims[p->last - 2], 0);
    return p->op->attrs[IG_pool_kernel].as.ints[p->last - 2] == 1 && ends &&
           entry_of(p, IG_pool_strides, p->last) == 1 &&
           ig_dim_is(before_of(p, p->last), 0);
}

/* Room for y: as many elements as the windows of some columns see. */
static void choose_columns(pool *p) {
    int64_t width = 0;
    bool is_known = ig_dim_constant(p->lower->module, p->out->type->dims[p->last],
                                    &width);
    int64_t size = p->op->attrs[IG_pool_kernel].as.ints[p->last - 2], lanes = p->lanes;
    int64_t reach = (size - 1) * entry_of(p, IG_pool_dilations, p->last);
    p->columns = is_known && width > 0 && width < COLUMNS ? width : COLUMNS;
    p->reach = (p->columns + lanes) * entry_of(p, IG_pool_strides, p->last) + reach;
    p->reach = (p->reach + lanes - 1) / lanes * lanes;
    p->y = ig_cpu_scratch_of(p->lower, p->wide, p->reach * LINES);
}

ig_status ig_lower_cpu_pool(ig_lower *lower) {
    const ig_op *op = lower->body->first;
    if (op->code != IG_OP_pool) {
        return ig_lower_serial_pool(lower);
    }
    pool p = { .lower = lower,
               .op = op,
               .x = ig_lower_input(lower, op, 0),
               .out = &lower->outs[0],
               .is_max = ig_attr_int(op, IG_pool_op, 0) == IG_WINDOW_max };
    bool is_average = ig_attr_int(op, IG_pool_op, 0) == IG_WINDOW_average;
    if (!p.x || is_average || ig_attr_int(op, IG_pool_ceil_mode, 0)) {
        return ig_lower_unsupported(lower, "a pool of this form");
    }
    p.wide = ig_lower_wide((ig_dtype)p.x->type->dtype);
    p.last = p.x->type->rank - 1;
    p.is_flat = is_flat(&p);
    bool has_lanes = ig_dim_is(p.out->strides[p.last], 1);
    p.lanes = has_lanes ? ig_lower_lanes(lower, p.wide) : 1;
    int64_t width = 0;
    bool is_known = ig_dim_constant(lower->module, p.x->type->dims[p.last], &width);
    p.vectors = is_known && width < (int64_t)VECTORS * p.lanes
                    ? (uint32_t)(width / p.lanes)
                    : VECTORS;
    p.vectors = p.vectors < 1 ? 1 : p.vectors;
    if (!p.is_flat) {
        choose_columns(&p);
    }
    ig_dim rows = ig_lower_row_count(lower, p.out->type, 0);
    lower->name = ig_lower_name(lower, "pool");
    lower->grid = ig_lower_ceil_div(lower, rows, LINES);
    lower->cost = ig_lower_ceil_div(lower, ig_type_count(lower->module, p.out->type),
                                    2);
    ig_lower_each_tile(lower, emit_tile, &p);
    return IG_OK;
}
