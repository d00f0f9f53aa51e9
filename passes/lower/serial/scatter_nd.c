/* scatter_nd, on CPUs.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   out = x;  block ids[i…] of out is combined with updates[i…], in order of i
 *
 * x is seen as [places, block]; tuples of ids choose a place.  Two updates may meet in
 * any place, so tiles cut the block: each copies its columns of x and then goes through
 * all tuples.  A tuple out of range is reported and left out; one that is skipped is
 * left out.  Where x is in the
 * result's memory nothing is copied; where x is one number, as the zeros that gradients
 * are added to, it is read once a store.
 *
 *   grid       columns of the block, COLUMNS a tile
 */
#include "passes/lower/serial/scatter.h"

#include <assert.h>

enum { COLUMNS = 256, IDS = 1, COPIES = 4 };

typedef struct blocks {
    ig_lower *lower;
    const ig_lower_operand *x, *ids, *updates, *out;
    uint32_t depth; /* leading axes of x that a tuple selects along */
    ig_scatter kind;
    bool wraps, skips, is_checked, is_in_place;
    bool is_whole;          /* x and out are dense, and there is one tile */
    bool is_filled;         /* x is one number */
    bool is_dense;          /* the blocks of updates and out are */
    ig_value *first, *last; /* columns of this tile */
} blocks;

/* ---- one update ---- */

static ig_value *combine_extreme(ig_builder *b, ig_scatter kind, ig_value *old,
                                 ig_value *x) {
    ig_opcode code = kind == IG_SCATTER_max ? IG_OP_max : IG_OP_min;
    return k_binary(b, code, old, x);
}

void ig_scatter_put(ig_builder *b, ig_scatter kind, const ig_lower_operand *out,
                    ig_value *at, ig_value *update) {
    ig_dtype dtype = (ig_dtype)out->type->dtype, wide = ig_lower_wide(dtype);
    if (kind == IG_SCATTER_none) {
        k_store(b, update, out->buffer, at);
        return;
    }
    ig_value *old = k_cast(b, k_load(b, out->buffer, at, update->type->lanes), wide);
    ig_value *x = k_cast(b, update, wide), *joined;
    if (kind == IG_SCATTER_add) {
        joined = dtype == IG_DT_bool ? k_binary(b, IG_OP_or, old, x) : k_add(b, old, x);
    } else if (kind == IG_SCATTER_mul) {
        joined = k_mul(b, old, x);
    } else {
        joined = combine_extreme(b, kind, old, x);
    }
    k_store(b, k_cast(b, joined, dtype), out->buffer, at);
}

ig_value *ig_scatter_identity(ig_builder *b, ig_scatter kind,
                              const ig_lower_operand *out) {
    ig_dtype dtype = (ig_dtype)out->type->dtype;
    const ig_dtype_info *info = &ig_dtypes[dtype];
    bool is_max = kind == IG_SCATTER_max;
    if (kind == IG_SCATTER_add || kind == IG_SCATTER_mul) {
        double value = kind == IG_SCATTER_mul ? 1.0 : 0.0;
        return k_cast(b, k_const(b, ig_lower_wide(dtype), value), dtype);
    }
    if (info->class == IG_FLOAT) {
        double infinite = (double)__builtin_inf();
        return k_cast(
            b, k_const(b, ig_lower_wide(dtype), is_max ? -infinite : infinite), dtype);
    }
    int64_t max = info->class == IG_SINT ? (int64_t)(UINT64_MAX >> (65 - info->bits))
                                         : (int64_t)(UINT64_MAX >> (64 - info->bits));
    int64_t min = info->class == IG_SINT ? -max - 1 : 0;
    return k_cast(b, k_i64(b, is_max ? min : max), dtype);
}

/* ---- columns ---- */

/* The element of `x` that is column `column` of the axes from `axis` on. */
static ig_value *column_at(const blocks *s, ig_builder *b, const ig_lower_operand *x,
                           uint32_t axis, ig_value *column, ig_value *at) {
    for (uint32_t d = x->type->rank; d-- > axis;) {
        ig_value *extent = ig_lower_dim(s->lower, x->type->dims[d]);
        ig_value *i = d == axis ? column : k_mod(b, column, extent);
        column = d == axis ? column : k_div(b, column, extent);
        at = k_add(b, at, k_mul(b, i, ig_lower_dim(s->lower, x->strides[d])));
    }
    return at;
}

/* The start of number `place` among the leading `axis` axes. */
static ig_value *place_at(const blocks *s, ig_builder *b, const ig_lower_operand *x,
                          uint32_t axis, ig_value *position) {
    ig_value *at = k_i64(b, 0);
    for (uint32_t d = axis; d-- > 0;) {
        ig_value *extent = ig_lower_dim(s->lower, x->type->dims[d]);
        ig_value *i = d == 0 ? position : k_mod(b, position, extent);
        position = d == 0 ? position : k_div(b, position, extent);
        at = k_add(b, at, k_mul(b, i, ig_lower_dim(s->lower, x->strides[d])));
    }
    return at;
}

static k_loop open_columns(const blocks *s, ig_builder *b) {
    return k_loop_open(b, s->first, s->last, k_i64(b, 1), NULL, 0);
}

/* `lanes` elements of x; those of one number are all alike. */
static ig_value *load_x(const blocks *s, ig_builder *b, ig_value *at, uint32_t lanes) {
    return s->is_filled ? k_splat(b, k_load(b, s->x->buffer, k_i64(b, 0), 1), lanes)
                        : k_load(b, s->x->buffer, at, lanes);
}

/* All of x at once. */
static void copy_all(const blocks *s, ig_builder *b) {
    ig_dim all = ig_type_count(s->lower->module, s->x->type);
    uint32_t lanes = ig_lower_lanes(s->lower, (ig_dtype)s->x->type->dtype);
    ig_value *count = ig_lower_dim(s->lower, all), *step = k_i64(b, COPIES * lanes);
    ig_value *whole = k_mul(b, k_div(b, count, step), step);
    k_loop loop = k_loop_open(b, k_i64(b, 0), whole, step, NULL, 0);
    for (int64_t i = 0; i < COPIES; i++) {
        ig_value *at = k_add(&loop.b, loop.index, k_i64(&loop.b, i * lanes));
        k_store(&loop.b, load_x(s, &loop.b, at, lanes), s->out->buffer, at);
    }
    k_loop_close(&loop, NULL, 0);
    loop = k_loop_open(b, whole, count, k_i64(b, 1), NULL, 0);
    ig_value *x = load_x(s, &loop.b, loop.index, 1);
    k_store(&loop.b, x, s->out->buffer, loop.index);
    k_loop_close(&loop, NULL, 0);
}

static void copy_columns(const blocks *s, ig_builder *b) {
    if (s->is_whole) {
        copy_all(s, b);
        return;
    }
    ig_dim count = ig_dim_product(s->lower->module, s->x->type->dims, s->depth);
    ig_value *positions = ig_lower_dim(s->lower, count);
    k_loop loop = k_loop_open(b, k_i64(b, 0), positions, k_i64(b, 1), NULL, 0);
    ig_value *x = place_at(s, &loop.b, s->x, s->depth, loop.index);
    ig_value *out = place_at(s, &loop.b, s->out, s->depth, loop.index);
    k_loop columns = open_columns(s, &loop.b);
    ig_value *from = column_at(s, &columns.b, s->x, s->depth, columns.index, x);
    ig_value *to = column_at(s, &columns.b, s->out, s->depth, columns.index, out);
    k_store(&columns.b, k_load(&columns.b, s->x->buffer, from, 1), s->out->buffer, to);
    k_loop_close(&columns, NULL, 0);
    k_loop_close(&loop, NULL, 0);
}

/* Reports an index that names no row; a negative one may say that there is none. */
static void report_index(const blocks *s, ig_builder *b, ig_value *id, ig_value *id_at,
                         ig_value *is_good) {
    ig_value *is_none = s->skips ? k_compare(b, IG_OP_lt, id, k_i64(b, 0)) : NULL;
    ig_value *is_fine = is_none ? k_binary(b, IG_OP_or, is_good, is_none) : is_good;
    k_if check = k_if_open(b, is_fine, NULL, 0);
    k_report(&check.other, k_i64(&check.other, IDS), id_at, id);
    k_if_close(&check, NULL, NULL);
}

/* Where the place that tuple `tuple` names begins in out; *valid: is there one? */
static ig_value *read_tuple(const blocks *s, ig_builder *b, ig_value *tuple,
                            ig_value **valid) {
    uint32_t last = s->ids->type->rank - 1;
    ig_value *ids = place_at(s, b, s->ids, last, tuple), *at = k_i64(b, 0);
    ig_value *step = ig_lower_dim(s->lower, s->ids->strides[last]);
    *valid = k_compare(b, IG_OP_eq, at, at);
    for (uint32_t d = 0; d < s->depth; d++) {
        ig_value *id_at = k_add(b, ids, k_mul(b, step, k_i64(b, d))), *is_good;
        ig_value *id = k_cast(b, k_load(b, s->ids->buffer, id_at, 1), IG_DT_i64);
        ig_value *extent = ig_lower_dim(s->lower, s->x->type->dims[d]), *row = id;
        if (!s->is_checked) {
            row = ig_lower_row(b, id, extent, s->wraps, &is_good);
            report_index(s, b, id, id_at, is_good);
            *valid = k_binary(b, IG_OP_and, *valid, is_good);
        }
        ig_value *stride = ig_lower_dim(s->lower, s->out->strides[d]);
        at = k_add(b, at, k_mul(b, row, stride));
    }
    return at;
}

/* `lanes` columns at a time, from `low` on. */
static void update_block(const blocks *s, ig_builder *b, ig_value *const at[2],
                         ig_value *low, ig_value *high, uint32_t lanes) {
    uint32_t lead = s->ids->type->rank - 1;
    ig_value *from = at[0], *to = at[1];
    k_loop loop = k_loop_open(b, low, high, k_i64(b, lanes), NULL, 0);
    from = column_at(s, &loop.b, s->updates, lead, loop.index, from);
    to = column_at(s, &loop.b, s->out, s->depth, loop.index, to);
    ig_value *update = k_load(&loop.b, s->updates->buffer, from, lanes);
    ig_scatter_put(&loop.b, s->kind, s->out, to, update);
    k_loop_close(&loop, NULL, 0);
}

/* Whole vectors, where blocks are contiguous, then the rest. */
static void update_columns(const blocks *s, ig_builder *b, ig_value *const at[2]) {
    uint32_t lanes = ig_lower_lanes(s->lower, (ig_dtype)s->out->type->dtype);
    ig_value *whole = s->first;
    if (s->is_dense && lanes > 1) {
        ig_value *step = k_i64(b, lanes), *width = k_sub(b, s->last, s->first);
        whole = k_add(b, s->first, k_mul(b, k_div(b, width, step), step));
        update_block(s, b, at, s->first, whole, lanes);
    }
    update_block(s, b, at, whole, s->last, 1);
}

static void update_all(const blocks *s, ig_builder *b) {
    uint32_t lead = s->ids->type->rank - 1;
    ig_dim count = ig_dim_product(s->lower->module, s->ids->type->dims, lead);
    ig_value *tuples = ig_lower_dim(s->lower, count), *valid = NULL, *at[2];
    k_loop loop = k_loop_open(b, k_i64(b, 0), tuples, k_i64(b, 1), NULL, 0);
    at[1] = read_tuple(s, &loop.b, loop.index, &valid);
    k_if check = k_if_open(&loop.b, valid, NULL, 0);
    at[0] = place_at(s, &check.then, s->updates, lead, loop.index);
    update_columns(s, &check.then, at);
    k_if_close(&check, NULL, NULL);
    k_loop_close(&loop, NULL, 0);
}

/* ---- the grid ---- */

static ig_dim block_of(const blocks *s) {
    const ig_type *x = s->x->type;
    return ig_dim_product(s->lower->module, x->dims + s->depth, x->rank - s->depth);
}

/* From `axis` on. */
static bool lies_row_by_row(ig_module *module, const ig_lower_operand *x,
                            uint32_t axis) {
    ig_dim run = ig_dim_of(1);
    bool is_dense = true;
    for (uint32_t d = x->type->rank; d-- > axis;) {
        is_dense = is_dense && ig_dim_same(x->strides[d], run);
        run = ig_dim_mul(module, run, x->type->dims[d]);
    }
    return is_dense;
}

static bool is_one_number(const ig_lower_operand *x) {
    bool is_it = true;
    for (uint32_t d = 0; d < x->type->rank; d++) {
        is_it = is_it &&
                (ig_dim_is(x->strides[d], 0) || ig_dim_is(x->type->dims[d], 1));
    }
    return is_it;
}

/* Which of the faster ways there are. */
static void find_ways(blocks *s) {
    ig_module *module = s->lower->module;
    uint32_t lead = s->ids->type->rank - 1;
    s->is_filled = is_one_number(s->x);
    s->is_whole = ig_dim_is(s->lower->grid, 1) &&
                  (s->is_filled || lies_row_by_row(module, s->x, 0)) &&
                  lies_row_by_row(module, s->out, 0);
    s->is_dense = lies_row_by_row(module, s->out, s->depth) &&
                  lies_row_by_row(module, s->updates, lead);
}

static void emit_tile(void *user, ig_builder *b, ig_value *tile) {
    blocks *s = user;
    ig_value *width = ig_lower_dim(s->lower, block_of(s));
    s->first = k_mul(b, tile, k_i64(b, ig_lower_tile(s->lower, COLUMNS)));
    s->last = k_min(b, width,
                    k_add(b, s->first, k_i64(b, ig_lower_tile(s->lower, COLUMNS))));
    if (!s->is_in_place) {
        copy_columns(s, b);
    }
    update_all(s, b);
}

ig_status ig_lower_serial_scatter_nd(ig_lower *lower) {
    const ig_op *op = ig_lower_anchor(lower, IG_OP_scatter_nd);
    int64_t rule = ig_attr_int(op, IG_scatter_nd_negative, 0);
    blocks s = { .lower = lower,
                 .x = ig_lower_input(lower, op, 0),
                 .ids = ig_lower_input(lower, op, 1),
                 .updates = ig_lower_input(lower, op, 2),
                 .out = &lower->outs[0],
                 .kind = (ig_scatter)ig_attr_int(op, IG_scatter_nd_reduce, 0),
                 .wraps = rule == IG_NEGATIVE_wrap,
                 .skips = rule == IG_NEGATIVE_skip &&
                          op->operands[1].value->type->dtype != IG_DT_u64,
                 .is_checked = ig_attr_int(op, IG_scatter_nd_is_checked, 0) != 0,
                 .is_in_place = ig_attr_int(op, IG_scatter_nd_in_place, 0) != 0 };
    ig_dim depth = s.ids->type->dims[s.ids->type->rank - 1];
    assert(ig_dim_is_static(depth) && "infer wants the depth");
    s.depth = (uint32_t)ig_dim_value(depth);
    ig_dim extent = s.depth ? s.x->type->dims[0] : ig_dim_of(1);
    if (!s.is_checked) {
        ig_lower_range(lower, IDS, extent, s.wraps);
    }
    lower->name = "scatter_nd";
    lower->grid = ig_lower_ceil_div(lower, block_of(&s), ig_lower_tile(lower, COLUMNS));
    lower->cost = ig_type_count(lower->module,
                                s.is_in_place ? s.updates->type : s.x->type);
    find_ways(&s);
    ig_lower_each_tile(lower, emit_tile, &s);
    return IG_OK;
}
