/* Elementwise regions and copies, on CPUs.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The iteration space is the result's dims, with neighbours merged (merge.c).  Lanes
 * run along the last dim where all operands are contiguous or constant there.
 *
 *   grid       rows of the merged space in blocks of about 4096 elements; a last dim
 *              longer than that is cut into chunks
 *
 * Where an operand is contiguous along another dim (a transpose), a tile is a rectangle
 * of that dim and the last one, and goes over it in squares (map_turned.c); or, where
 * the region has much code, in strips of 16 along the last: the lines that a strip
 * reads are in L1 until all of their elements were used.  A last dim of few elements
 * goes together with the one before it (map_narrow.c).
 */
#include "passes/lower/cpu/map.h"
#include "passes/lower/math/more.h"

#include <assert.h>

enum { CHUNK = 4096, STRIP = 16, SQUARE = 64 };

/* ---- code ---- */

void map_emit_position(const map_space *s, ig_builder *b, ig_value **index,
                       uint32_t lanes, ig_value *count) {
    if (s->narrow) {
        map_emit_narrow(s, b, index, count);
        return;
    }
    ig_map values;
    ig_map_init(&values, s->lower->arena);
    ig_site site = { .b = b,
                     .lanes = lanes,
                     .rank = s->rank,
                     .dims = s->dims,
                     .index = index,
                     .count = count,
                     .values = &values };
    ig_lower_store_yields(s->lower, &site);
}

/* The last dim from `from` to `to`: vectors which all have a count. */
static void emit_counted(const map_space *s, ig_builder *b, ig_value **index,
                         ig_value *from, ig_value *to) {
    ig_value *lanes = k_i64(b, s->lanes);
    k_loop loop = k_loop_open(b, from, to, lanes, NULL, 0);
    index[s->rank - 1] = loop.index;
    ig_value *count = k_min(&loop.b, lanes, k_sub(&loop.b, to, loop.index));
    map_emit_position(s, &loop.b, index, s->lanes, count);
    k_loop_close(&loop, NULL, 0);
}

/* The same: whole vectors, then one with a count. */
static void emit_row(const map_space *s, ig_builder *b, ig_value **index,
                     ig_value *from, ig_value *to) {
    if (s->is_long) {
        emit_counted(s, b, index, from, to);
        return;
    }
    ig_value *lanes = k_i64(b, s->lanes);
    ig_value *whole = k_mul(b, k_div(b, k_sub(b, to, from), lanes), lanes);
    ig_value *middle = k_add(b, from, whole);
    k_loop loop = k_loop_open(b, from, middle, lanes, NULL, 0);
    index[s->rank - 1] = loop.index;
    map_emit_position(s, &loop.b, index, s->lanes, NULL);
    k_loop_close(&loop, NULL, 0);
    if (s->lanes == 1) {
        return;
    }
    k_if tail = k_if_open(b, k_compare(b, IG_OP_lt, middle, to), NULL, 0);
    index[s->rank - 1] = middle;
    map_emit_position(s, &tail.then, index, s->lanes, k_sub(&tail.then, to, middle));
    k_if_close(&tail, NULL, NULL);
}

/* Row number -> indices of all dims but the last, and the turned one. */
static void split_row(const map_space *s, ig_builder *b, ig_value *row,
                      ig_value **index) {
    for (uint32_t d = s->rank - 1; d-- > 0;) {
        if (d == s->turned) {
            continue;
        }
        ig_value *extent = ig_lower_dim(s->lower, s->dims[d]);
        index[d] = d == 0 ? row : k_mod(b, row, extent);
        row = d == 0 ? row : k_div(b, row, extent);
    }
}

/* Part number `tile`, of `count` elements each: from *from to *to. */
static void cut_range(ig_builder *b, ig_value *tile, int64_t count, ig_value *extent,
                      ig_value **from, ig_value **to) {
    *from = k_mul(b, tile, k_i64(b, count));
    *to = k_min(b, extent, k_add(b, *from, k_i64(b, count)));
}

static void emit_turned_tile(void *user, ig_builder *b, ig_value *tile) {
    const map_space *s = user;
    ig_lower *lower = s->lower;
    ig_value *chunks = ig_lower_dim(lower, s->chunk_count);
    ig_value *turns = ig_lower_dim(lower, s->turned_count);
    ig_value *index[IG_TENSOR_RANK], *from, *to, *first, *last;
    ig_value *chunk = k_mod(b, tile, chunks), *rest = k_div(b, tile, chunks);
    cut_range(b, chunk, s->chunk, ig_lower_dim(lower, s->dims[s->rank - 1]), &from,
              &to);
    cut_range(b, k_mod(b, rest, turns), s->rows,
              ig_lower_dim(lower, s->dims[s->turned]), &first, &last);
    split_row(s, b, k_div(b, rest, turns), index);
    if (s->is_square) {
        map_emit_squares(s, b, index, (ig_value *[]){ first, last, from, to });
        return;
    }
    k_loop strip = k_loop_open(b, from, to, k_i64(b, STRIP), NULL, 0);
    k_loop row = k_loop_open(&strip.b, first, last, k_i64(&strip.b, 1), NULL, 0);
    index[s->turned] = row.index;
    ig_value *end = k_add(&row.b, strip.index, k_i64(&row.b, STRIP));
    emit_row(s, &row.b, index, strip.index, k_min(&row.b, to, end));
    k_loop_close(&row, NULL, 0);
    k_loop_close(&strip, NULL, 0);
}

static void emit_tile(void *user, ig_builder *b, ig_value *tile) {
    const map_space *s = user;
    ig_lower *lower = s->lower;
    ig_value *chunks = ig_lower_dim(lower, s->chunk_count);
    ig_value *rows_each = k_i64(b, s->rows);
    ig_value *chunk = k_i64(b, s->chunk), *one = k_i64(b, 1);
    ig_value *first = k_mul(b, k_div(b, tile, chunks), rows_each);
    ig_value *from = k_mul(b, k_mod(b, tile, chunks), chunk);
    ig_value *extent = ig_lower_dim(lower, s->dims[s->rank - 1]);
    ig_value *to = k_min(b, extent, k_add(b, from, chunk));
    ig_value *rows = ig_lower_dim(lower, s->row_count);
    ig_value *last = k_min(b, rows, k_add(b, first, rows_each));
    k_loop loop = k_loop_open(b, first, last, one, NULL, 0);
    ig_value *index[IG_TENSOR_RANK];
    split_row(s, &loop.b, loop.index, index);
    emit_row(s, &loop.b, index, from, to);
    k_loop_close(&loop, NULL, 0);
}

/* ---- the schedule ---- */

/* Of the inputs, then the outputs. */
static ig_dtype dtype_of(const ig_lower *lower, uint32_t index) {
    const ig_lower_operand *x = index < lower->in_count
                                    ? &lower->ins[index]
                                    : &lower->outs[index - lower->in_count];
    return (ig_dtype)x->type->dtype;
}

static uint32_t common_lanes(ig_lower *lower) {
    uint32_t lanes = 64;
    for (uint32_t i = 0; i < lower->in_count + lower->out_count; i++) {
        uint32_t own = ig_lower_lanes(lower, dtype_of(lower, i));
        lanes = own < lanes ? own : lanes;
    }
    return lanes;
}

/* Code of hundreds of ops takes longer to compile than masks take to run, where they
 * are instructions: of 32 bits and more, from AVX2 on. */
static bool stands_once(const ig_lower *lower) {
    bool has_masks = ig_lower_lanes(lower, IG_DT_f32) > 4, is_long = false;
    for (uint32_t i = 0; i < lower->in_count + lower->out_count && has_masks; i++) {
        has_masks = ig_dtypes[dtype_of(lower, i)].bits >= 32;
    }
    for (const ig_op *op = lower->body->first; op; op = op->next) {
        is_long = is_long || ig_math_is_long((ig_opcode)op->code);
    }
    return has_masks && is_long;
}

static bool can_store_lanes(const ig_lower *lower, const ig_type *space) {
    for (uint32_t i = 0; i < lower->out_count; i++) {
        if (!ig_dim_is(lower->outs[i].strides[space->rank - 1], 1)) {
            return false;
        }
    }
    return true;
}

/* Vectors of every input, of elements side by side or a few apart. */
static bool can_load_lanes(const map_space *s) {
    for (uint32_t i = 0; i < s->lower->in_count; i++) {
        const ig_lower_operand *in = &s->lower->ins[i];
        int64_t min, max;
        ig_dim own = ig_lower_step(s->lower, in, s->rank, s->dims, s->rank - 1);
        ig_dim_range(s->lower->module, own, &min, &max);
        bool is_near = min == max && k_is_near((ig_dtype)in->type->dtype, min);
        if ((min < 0 || max > 1) && !is_near) {
            return false;
        }
    }
    return true;
}

/* The last dim that an operand is contiguous along, if that is not the last of all. */
static uint32_t find_turned(const map_space *s) {
    uint32_t last = s->rank - 1;
    for (uint32_t i = 0; i < s->lower->in_count; i++) {
        const ig_lower_operand *in = &s->lower->ins[i];
        uint32_t missing = s->rank - in->type->rank;
        bool is_here = in->type->rank > 1 && in->type->rank <= s->rank;
        for (uint32_t d = last; is_here && d-- > missing;) {
            if (ig_dim_is(in->strides[d - missing], 1) &&
                !ig_dim_is(in->type->dims[d - missing], 1)) {
                return d;
            }
        }
    }
    return last;
}

/* As much of dim `d` as there is, but at most `max`. */
static int64_t limit_part(const map_space *s, uint32_t d, int64_t max) {
    int64_t known = 0;
    bool is_known = ig_dim_constant(s->lower->module, s->dims[d], &known);
    return !is_known || known > max ? max : known > 0 ? known : 1;
}

/* Rectangles of CHUNK elements, square where both dims are long. */
static void choose_turned_tiles(map_space *s) {
    uint32_t last = s->rank - 1;
    s->chunk = limit_part(s, last, SQUARE);
    s->rows = limit_part(s, s->turned, CHUNK / s->chunk);
    s->chunk = limit_part(s, last, CHUNK / s->rows);
    ig_dim tiles = ig_dim_of(1);
    for (uint32_t d = 0; d < last; d++) {
        tiles = d == s->turned ? tiles : ig_lower_mul(s->lower, tiles, s->dims[d]);
    }
    s->turned_count = ig_lower_ceil_div(s->lower, s->dims[s->turned], s->rows);
    s->chunk_count = ig_lower_ceil_div(s->lower, s->dims[last], s->chunk);
    tiles = ig_lower_mul(s->lower, tiles, s->turned_count);
    s->lower->grid = ig_lower_mul(s->lower, tiles, s->chunk_count);
}

static void choose_tiles(map_space *s) {
    int64_t inner = 0;
    uint32_t outer = s->narrow ? s->rank - 2 : s->rank - 1;
    int64_t max = s->narrow ? CHUNK / s->narrow : CHUNK;
    bool is_known = ig_dim_constant(s->lower->module, s->dims[s->rank - 1], &inner);
    s->chunk = is_known && inner < max ? (inner > 0 ? inner : 1) : max;
    s->rows = is_known && inner < max && outer > 0 ? max / s->chunk : 1;
    s->row_count = ig_dim_product(s->lower->module, s->dims, outer);
    s->chunk_count = ig_lower_ceil_div(s->lower, s->dims[s->rank - 1], s->chunk);
    s->lower->grid = ig_lower_mul(
        s->lower, ig_lower_ceil_div(s->lower, s->row_count, s->rows), s->chunk_count);
}

/* A scalar result is a space of one dim of one element. */
static const ig_type *add_unit_dim(ig_lower *lower, const ig_type *space) {
    ig_dim *one = IG_NEW(lower->arena, ig_dim);
    *one = ig_dim_of(1);
    for (uint32_t i = 0; i < lower->out_count; i++) {
        lower->outs[i].type = ig_type_with_dims(lower->module, lower->outs[i].type, 1,
                                                one);
        lower->outs[i].strides = one;
    }
    return ig_type_with_dims(lower->module, space, 1, one);
}

ig_status ig_lower_cpu_map(ig_lower *lower) {
    const ig_type *space = lower->outs[0].type;
    lower->name = ig_lower_name(lower, lower->body->first->next ? "map" : "copy");
    lower->cost = ig_lower_ceil_div(lower, ig_type_count(lower->module, space), 4);
    space = space->rank == 0 ? add_unit_dim(lower, space)
                             : ig_lower_merge_dims(lower, space, 0, space->rank, 0);
    map_space s = { .lower = lower,
                    .rank = space->rank,
                    .dims = space->dims,
                    .turned = space->rank - 1,
                    .lanes = common_lanes(lower) };
    bool stores_lanes = can_store_lanes(lower, space);
    bool is_narrow = stores_lanes && map_narrow_space(&s);
    bool has_lanes = is_narrow || (stores_lanes && can_load_lanes(&s));
    s.turned = has_lanes ? s.turned : find_turned(&s);
    bool is_turned = s.turned + 1 < s.rank && !is_narrow;
    bool is_square = is_turned && stores_lanes && map_has_squares(&s);
    s.lanes = has_lanes || is_square ? s.lanes : 1;
    s.is_long = s.lanes > 1 && !s.is_square && stands_once(lower);
    if (is_turned) {
        choose_turned_tiles(&s);
        ig_lower_each_tile(lower, emit_turned_tile, &s);
        return IG_OK;
    }
    choose_tiles(&s);
    ig_lower_each_tile(lower, emit_tile, &s);
    return IG_OK;
}
