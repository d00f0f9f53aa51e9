/* Lines along one axis, a vector of neighbouring ones at a time.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   grid       groups of up to IG_LINE_VECTORS vectors along the last axis, of each row
 *              of the axes but that and the lines' own; without lanes `each` lines
 */
#include "passes/lower/serial/lines.h"

uint32_t ig_lower_line_lanes(ig_lower *lower, const ig_lower_operand *x,
                             const ig_lower_operand *out, uint32_t axis,
                             ig_dtype wide) {
    uint32_t last = x->type->rank - 1;
    bool is_across = x->type->rank > 1 && axis != last && out->type->rank > 0;
    bool has_lanes = is_across && ig_dim_is(x->strides[last], 1) &&
                     ig_dim_is(out->strides[out->type->rank - 1], 1) &&
                     !ig_dim_is(x->type->dims[last], 1);
    return has_lanes ? ig_lower_lanes(lower, wide) : 1;
}

static ig_dim last_extent(const ig_lines *lines) {
    return lines->type->dims[lines->type->rank - 1];
}

/* Vectors of a group: no more than the last axis fills. */
static uint32_t group_vectors(const ig_lines *lines) {
    int64_t extent = 0;
    bool is_known = ig_dim_constant(lines->lower->module, last_extent(lines), &extent);
    bool is_many = lines->has_many && lines->lower->target->vector_registers >= 32;
    int64_t room = is_many ? IG_LINE_MANY_VECTORS : IG_LINE_VECTORS;
    int64_t max = is_known ? extent / lines->lanes : IG_LINE_VECTORS;
    return max < 1 ? 1 : (uint32_t)(max > room ? room : max);
}

static int64_t group_width(const ig_lines *lines) {
    return (int64_t)lines->lanes * group_vectors(lines);
}

ig_dim ig_lower_line_grid(const ig_lines *lines) {
    ig_lower *lower = lines->lower;
    ig_dim count = ig_lower_lines(lower, lines->type, lines->axis);
    if (lines->lanes == 1) {
        return ig_lower_ceil_div(lower, count, lines->each);
    }
    ig_dim groups = ig_lower_ceil_div(lower, last_extent(lines), group_width(lines));
    for (uint32_t d = 0; d + 1 < lines->type->rank; d++) {
        if (d != lines->axis) {
            groups = ig_lower_mul(lower, groups, lines->type->dims[d]);
        }
    }
    return groups;
}

/* Row number -> indices of all axes but the last and the lines' own. */
static void split_row(const ig_lines *lines, ig_builder *b, ig_value *row,
                      ig_value **index) {
    for (uint32_t d = lines->type->rank - 1; d-- > 0;) {
        if (d != lines->axis) {
            ig_value *extent = ig_lower_dim(lines->lower, lines->type->dims[d]);
            index[d] = k_mod(b, row, extent);
            row = k_div(b, row, extent);
        }
    }
}

static void emit_group(const ig_lines *lines, ig_builder *b, ig_value *tile) {
    ig_lower *lower = lines->lower;
    int64_t width = group_width(lines);
    ig_value *extent = ig_lower_dim(lower, last_extent(lines));
    ig_value *groups =
        ig_lower_dim(lower, ig_lower_ceil_div(lower, last_extent(lines), width));
    ig_value *index[IG_TENSOR_RANK];
    ig_value *first = k_mul(b, k_mod(b, tile, groups), k_i64(b, width));
    split_row(lines, b, k_div(b, tile, groups), index);
    ig_value *end = k_add(b, first, k_i64(b, width));
    k_if whole = k_if_open(b, k_compare(b, IG_OP_le, end, extent), NULL, 0);
    index[lines->type->rank - 1] = first;
    lines->emit(lines->user, &whole.then, index, group_vectors(lines), NULL);
    ig_builder *rest = &whole.other;
    ig_value *lanes = k_i64(rest, lines->lanes);
    k_loop loop = k_loop_open(rest, first, extent, lanes, NULL, 0);
    ig_value *count = k_min(&loop.b, lanes, k_sub(&loop.b, extent, loop.index));
    index[lines->type->rank - 1] = loop.index;
    lines->emit(lines->user, &loop.b, index, 1, count);
    k_loop_close(&loop, NULL, 0);
    k_if_close(&whole, NULL, NULL);
}

void ig_lower_emit_lines(const ig_lines *lines, ig_builder *b, ig_value *tile) {
    assert(lines->axis < lines->type->rank && "lines run along an axis");
    if (lines->lanes > 1) {
        emit_group(lines, b, tile);
        return;
    }
    ig_dim all = ig_lower_lines(lines->lower, lines->type, lines->axis);
    ig_value *count = ig_lower_dim(lines->lower, all), *index[IG_TENSOR_RANK];
    k_loop loop = ig_lower_open_lines(b, tile, count, lines->each);
    ig_lower_split(lines->lower, &loop.b, lines->type, lines->axis, loop.index, index);
    lines->emit(lines->user, &loop.b, index, 1, NULL);
    k_loop_close(&loop, NULL, 0);
}

ig_value *ig_lower_line_count(const ig_lines *lines, ig_builder *b, ig_value *count) {
    ig_value *lanes = k_i64(b, lines->lanes);
    ig_value *extent = ig_lower_dim(lines->lower, lines->type->dims[lines->axis]);
    return k_min(b, count ? count : lanes, k_mul(b, extent, lanes));
}
