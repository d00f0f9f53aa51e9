/* Embedding bags on CPUs: adding one row, finishing one bag.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Quantised rows (layouts: FBGEMM's embedding_common_code_generator and torch's
 * embedding_bag_byte; value = q * scale + bias with q unsigned):
 *
 *   rowwise f32   q[dim] scale:f32 bias:f32          the fused 8-bit rows of torch
 *   rowwise f16   scale:f16 bias:f16 q[dim]          the rows of FBGEMM's TBE
 */
#include "passes/lower/cpu/bag.h"

#include <math.h>

static ig_dtype sum_dtype(const bag_class *c) {
    return c->features[0].table->type->dtype == IG_DT_f64 ? IG_DT_f64 : IG_DT_f32;
}

static bool is_quantised(const bag_class *c) {
    return c->features[0].table->type->format != IG_ROW_PLAIN;
}

static bool is_max(const bag_class *c) {
    return c->features[0].pool == IG_POOL_max;
}

/* ---- carried state ---- */

bag_sums bag_sums_start(const bag_class *c, ig_builder *b, uint32_t vectors) {
    bag_sums sums = { .count = vectors };
    double   start = is_max(c) ? -(double)INFINITY : 0.0;
    for (uint32_t v = 0; v < vectors; v++) {
        sums.vectors[v] = k_const_vector(b, sum_dtype(c), c->lanes, start);
    }
    if (is_quantised(c) && !is_max(c)) {
        sums.bias = k_const(b, IG_DT_f32, 0.0);
    }
    bool some_may_not = c->features[0].has_padding || c->negative == IG_NEGATIVE_skip;
    if (some_may_not && c->negative != IG_NEGATIVE_skip) {
        sums.taken = k_i64(b, 0);
    }
    return sums;
}

uint32_t bag_sums_pack(const bag_sums *sums, ig_value **out_values) {
    uint32_t count = 0;
    for (uint32_t v = 0; v < sums->count; v++) {
        out_values[count++] = sums->vectors[v];
    }
    if (sums->bias) {
        out_values[count++] = sums->bias;
    }
    if (sums->taken) {
        out_values[count++] = sums->taken;
    }
    return count;
}

void bag_sums_unpack(bag_sums *sums, ig_value *const *values) {
    uint32_t count = 0;
    for (uint32_t v = 0; v < sums->count; v++) {
        sums->vectors[v] = values[count++];
    }
    if (sums->bias) {
        sums->bias = values[count++];
    }
    if (sums->taken) {
        sums->taken = values[count++];
    }
}

/* ---- rows ---- */

/* Elements of the table's dtype from row to row, and to the row's first value. */
static int64_t row_stride(const bag_class *c) {
    const bag_feature *f = &c->features[0];
    switch ((ig_row_format)f->table->type->format) {
    case IG_ROW_F32:
        return f->dim + 8;
    case IG_ROW_F16:
        return f->dim + 4;
    case IG_ROW_PLAIN:
        break;
    }
    return f->dim;
}

static int64_t row_start(const bag_class *c) {
    return c->features[0].table->type->format == IG_ROW_F16 ? 4 : 0;
}

static ig_value *row_pointer(const bag_class *c, ig_builder *b, const bag_cursor *at,
                             ig_value *row) {
    return k_offset(b, at->table, k_mul(b, row, k_i64(b, row_stride(c))));
}

/* Scale (0) or bias (1) of the row. */
static ig_value *row_number(const bag_class *c, ig_builder *b, ig_value *pointer,
                            int64_t which) {
    const bag_feature *f = &c->features[0];
    bool               is_f32 = f->table->type->format == IG_ROW_F32;
    ig_value          *at = is_f32 ? k_offset(b, pointer, k_i64(b, f->dim)) : pointer;
    ig_value          *numbers = k_reinterpret(b, at, is_f32 ? IG_DT_f32 : IG_DT_f16);
    return k_cast(b, k_load(b, numbers, k_i64(b, which), 1), IG_DT_f32);
}

/* Lanes of vector `v` of this chunk that belong to the row, or NULL for all. */
static ig_value *valid_lanes(const bag_class *c, ig_builder *b, const bag_cursor *at,
                             uint32_t v) {
    int64_t left = c->features[0].dim - at->column - (int64_t)v * c->lanes;
    return left < (int64_t)c->lanes ? k_i64(b, left) : NULL;
}

/* Column `constant`, counted from this thread's. */
static ig_value *column_at(ig_builder *b, const bag_cursor *at, int64_t constant) {
    ig_value *place = k_i64(b, constant);
    return at->thread_column ? k_add(b, place, at->thread_column) : place;
}

static ig_value *load_row(const bag_class *c, ig_builder *b, const bag_cursor *at,
                          ig_value *pointer, uint32_t v) {
    int64_t   place = row_start(c) + at->column + (int64_t)v * c->lanes;
    ig_dtype  dtype = (ig_dtype)c->features[0].table->type->dtype;
    ig_value *from = is_quantised(c) && dtype == IG_DT_i8
                         ? k_reinterpret(b, pointer, IG_DT_u8)
                         : pointer;
    ig_value *x = k_load_count(b, from, column_at(b, at, place), c->lanes,
                               valid_lanes(c, b, at, v));
    return k_cast(b, x, sum_dtype(c));
}

static ig_value *scaled(const bag_class *c, ig_builder *b, ig_value *pointer,
                        const bag_cursor *at, bag_sums *sums) {
    if (!is_quantised(c)) {
        return at->weight ? k_cast(b, at->weight, sum_dtype(c)) : NULL;
    }
    ig_value *scale = row_number(c, b, pointer, 0),
             *bias = row_number(c, b, pointer, 1);
    if (at->weight) {
        scale = k_mul(b, scale, at->weight);
        bias = k_mul(b, bias, at->weight);
    }
    sums->bias = k_add(b, sums->bias, bias);
    return scale;
}

static void max_row(const bag_class *c, ig_builder *b, const bag_cursor *at,
                    ig_value *pointer, bag_sums *sums) {
    for (uint32_t v = 0; v < sums->count; v++) {
        ig_value *x = load_row(c, b, at, pointer, v);
        if (is_quantised(c)) {
            ig_value *scale = k_splat(b, row_number(c, b, pointer, 0), c->lanes);
            ig_value *bias = k_splat(b, row_number(c, b, pointer, 1), c->lanes);
            x = k_muladd(b, x, scale, bias);
        }
        if (at->weight) {
            x = k_mul(b, x, k_splat(b, k_cast(b, at->weight, sum_dtype(c)), c->lanes));
        }
        sums->vectors[v] = k_max(b, sums->vectors[v], x);
    }
}

void bag_add_row(const bag_class *c, ig_builder *b, const bag_cursor *at, ig_value *row,
                 bag_sums *sums) {
    ig_value *pointer = row_pointer(c, b, at, row);
    if (is_max(c)) {
        max_row(c, b, at, pointer, sums);
        return;
    }
    ig_value *by = scaled(c, b, pointer, at, sums);
    by = by ? k_splat(b, by, c->lanes) : NULL;
    for (uint32_t v = 0; v < sums->count; v++) {
        ig_value *x = load_row(c, b, at, pointer, v);
        ig_value *sum = sums->vectors[v];
        sums->vectors[v] = by ? k_muladd(b, x, by, sum) : k_add(b, sum, x);
    }
}

void bag_prefetch_row(const bag_class *c, ig_builder *b, const bag_cursor *at,
                      ig_value *row) {
    ig_value *pointer = row_pointer(c, b, at, row);
    int64_t   size = ig_dtypes[c->features[0].table->type->dtype].bits / 8;
    int64_t   line = c->lower->target->line_bytes / size;
    for (int64_t place = 0; place < row_stride(c); place += line) {
        k_prefetch(b, pointer, k_i64(b, place), 0);
    }
}

/* ---- the finished bag ---- */

/* Ids that count; for TBE a pruned id (-1) counts too. */
static ig_value *counted(const bag_cursor *at, const bag_sums *sums) {
    return sums->taken ? sums->taken : at->count;
}

static double empty_value(ig_empty empty) {
    if (empty == IG_EMPTY_nan) {
        return (double)NAN;
    }
    return empty == IG_EMPTY_neg_inf ? -(double)INFINITY : 0.0;
}

static ig_value *finish(const bag_class *c, ig_builder *b, const bag_cursor *at,
                        const bag_sums *sums, ig_value *x) {
    if (sums->bias) {
        x = k_add(b, x, k_splat(b, sums->bias, c->lanes));
    }
    ig_pool  pool = c->features[0].pool;
    ig_empty empty = c->features[0].empty;
    if (pool == IG_POOL_none || (pool == IG_POOL_sum && empty == IG_EMPTY_zero)) {
        return x;
    }
    ig_value *count = counted(at, sums);
    if (pool == IG_POOL_mean) {
        ig_value *divisor = k_cast(b, at->divisor ? at->divisor : count, sum_dtype(c));
        x = k_binary(b, IG_OP_div, x, k_splat(b, divisor, c->lanes));
    }
    ig_value *is_empty = k_compare(b, IG_OP_eq, count, k_i64(b, 0));
    ig_value *instead = k_const_vector(b, sum_dtype(c), c->lanes, empty_value(empty));
    return k_where(b, k_splat(b, is_empty, c->lanes), instead, x);
}

void bag_store(const bag_class *c, ig_builder *b, const bag_cursor *at, ig_value *bag,
               const bag_sums *sums) {
    ig_dtype  dtype = (ig_dtype)c->features[0].out->type->dtype;
    ig_value *row = k_mul(b, bag, at->out_stride);
    for (uint32_t v = 0; v < sums->count; v++) {
        ig_value *x = finish(c, b, at, sums, sums->vectors[v]);
        int64_t   column = at->column + (int64_t)v * c->lanes;
        ig_value *place = k_add(b, row, column_at(b, at, column));
        k_store_count(b, k_cast(b, x, dtype), at->out, place, valid_lanes(c, b, at, v));
    }
}
