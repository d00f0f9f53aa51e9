/* The first few elements of adjacent lines, a vector of lines at a time.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Lane l holds the keys (heap.h) of line l that come first so far, in order:
 *
 *     for rows of the vector's elements
 *         does one come before its line's last key?   all keys take their row's place
 *
 *   grid    lines.c
 */
#include "passes/lower/serial/heap.h"
#include "passes/lower/serial/lines.h"
#include "passes/lower/serial/sort.h"

#include <assert.h>
#include <string.h>

enum { ELEMENTS_A_NS = 4 };

typedef struct across {
    ig_lower *lower;
    const ig_lower_operand *x, *values, *positions;
    ig_lines lines;
    uint32_t axis, few;
    bool is_descending;
} across;

/* First elements of a vector's lines. */
typedef struct starts {
    ig_value *x, *values, *positions;
} starts;

static uint32_t lanes_of(ig_lower *lower, const ig_lower_operand *x, uint32_t axis) {
    uint32_t lanes = ig_lower_lanes(lower, IG_DT_i64);
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t own = ig_lower_line_lanes(lower, x, &lower->outs[i], axis, IG_DT_i64);
        lanes = own < lanes ? own : lanes;
    }
    return lanes;
}

bool ig_sort_is_across(ig_lower *lower, const ig_lower_operand *x, uint32_t axis,
                       uint32_t few) {
    uint32_t lanes = few ? lanes_of(lower, x, axis) : 1;
    ig_dim width = x->type->dims[x->type->rank - 1];
    int64_t known = 0;
    bool is_known = ig_dim_constant(lower->module, width, &known);
    return lanes > 1 && (!is_known || 2 * known >= lanes);
}

/* The keys of row `row`. */
static ig_value *load_keys(const across *a, ig_builder *b, ig_value *start,
                           ig_value *row, ig_value *count) {
    uint32_t lanes = a->lines.lanes;
    ig_value *stride = ig_lower_dim(a->lower, a->x->strides[a->axis]);
    ig_value *at = k_add(b, start, k_mul(b, row, stride));
    ig_value *x = k_load_count(b, a->x->buffer, at, lanes, count);
    ig_value *value = ig_heap_value(b, x);
    value = a->is_descending ? k_unary(b, IG_OP_not, value) : value;
    return ig_heap_key(b, value, k_splat(b, row, lanes));
}

/* keys with those of `next` that come before their last. */
static void take_keys(const across *a, ig_builder *b, ig_value *next, ig_value **keys) {
    const ig_type *types[K_CARRIED];
    ig_value *with[K_CARRIED];
    for (uint32_t i = 0; i < a->few; i++) {
        types[i] = keys[i]->type;
        with[i] = keys[i];
    }
    ig_value *is_before = k_compare(b, IG_OP_lt, next, keys[a->few - 1]);
    k_if branch = k_if_open(b, k_any(b, is_before), types, a->few);
    ig_sort_put_key(&branch.then, next, with, a->few);
    k_if_close(&branch, with, keys);
    memcpy(keys, branch.results, a->few * sizeof *keys);
}

/* Lanes that do not count read the first one's element. */
static void write_rows(const across *a, ig_builder *b, const starts *at,
                       ig_value *const *keys, ig_value *count) {
    uint32_t lanes = a->lines.lanes;
    ig_value *first = k_splat(b, at->x, lanes), *lane = k_iota(b, lanes);
    ig_value *stride = k_splat(b, ig_lower_dim(a->lower, a->x->strides[a->axis]),
                               lanes);
    ig_value *values = ig_lower_dim(a->lower, a->values->strides[a->axis]);
    ig_value *positions = ig_lower_dim(a->lower, a->positions->strides[a->axis]);
    for (uint32_t i = 0; i < a->few; i++) {
        ig_value *number = k_i64(b, i), *row = ig_heap_number(b, keys[i]);
        ig_value *from = k_add(b, k_add(b, first, lane), k_mul(b, row, stride));
        if (count) {
            ig_value *counts = k_compare(b, IG_OP_lt, lane, k_splat(b, count, lanes));
            from = k_where(b, counts, from, first);
        }
        k_store_count(b, row, a->positions->buffer,
                      k_add(b, at->positions, k_mul(b, number, positions)), count);
        k_store_count(b, k_load_at(b, a->x->buffer, from), a->values->buffer,
                      k_add(b, at->values, k_mul(b, number, values)), count);
    }
}

static void emit_vector(const across *a, ig_builder *b, const starts *at,
                        ig_value *count) {
    ig_value *keys[K_CARRIED];
    for (uint32_t i = 0; i < a->few; i++) {
        keys[i] = k_splat(b, k_i64(b, INT64_MAX), a->lines.lanes);
    }
    ig_value *extent = ig_lower_dim(a->lower, a->x->type->dims[a->axis]);
    k_loop loop = k_loop_open(b, k_i64(b, 0), extent, k_i64(b, 1), keys, a->few);
    memcpy(keys, loop.carried, a->few * sizeof *keys);
    take_keys(a, &loop.b, load_keys(a, &loop.b, at->x, loop.index, count), keys);
    k_loop_close(&loop, keys, a->few);
    write_rows(a, b, at, loop.results, count);
}

static void emit_lines(void *user, ig_builder *b, ig_value **index, uint32_t vectors,
                       ig_value *count) {
    const across *a = user;
    index[a->axis] = k_i64(b, 0);
    starts at = { ig_lower_at(a->lower, b, a->x, index),
                  ig_lower_at(a->lower, b, a->values, index),
                  ig_lower_at(a->lower, b, a->positions, index) };
    ig_value *step = k_i64(b, a->lines.lanes);
    k_loop loop = k_loop_open(
        b, k_i64(b, 0), k_i64(b, (int64_t)vectors * a->lines.lanes), step, NULL, 0);
    starts own = { k_add(&loop.b, at.x, loop.index),
                   k_add(&loop.b, at.values, loop.index),
                   k_add(&loop.b, at.positions, loop.index) };
    emit_vector(a, &loop.b, &own, count);
    k_loop_close(&loop, NULL, 0);
}

static void emit_tile(void *user, ig_builder *b, ig_value *tile) {
    const across *a = user;
    ig_lower_emit_lines(&a->lines, b, tile);
}

ig_status ig_sort_lower_across(ig_lower *lower, const ig_lower_operand *x,
                               uint32_t axis, uint32_t few, bool is_descending) {
    assert(few > 0 && few <= K_CARRIED && "keys are values of a loop");
    across a = { .lower = lower,
                 .x = x,
                 .values = &lower->outs[0],
                 .positions = &lower->outs[1],
                 .axis = axis,
                 .few = few,
                 .is_descending = is_descending };
    a.lines = (ig_lines){ .lower = lower,
                          .type = x->type,
                          .axis = axis,
                          .lanes = lanes_of(lower, x, axis),
                          .emit = emit_lines,
                          .user = &a };
    lower->name = "sort";
    lower->grid = ig_lower_line_grid(&a.lines);
    lower->cost = ig_lower_ceil_div(lower, ig_type_count(lower->module, x->type),
                                    ELEMENTS_A_NS);
    ig_lower_each_tile(lower, emit_tile, &a);
    return IG_OK;
}
