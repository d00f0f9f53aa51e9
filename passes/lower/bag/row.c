/* Embedding bags on CPUs: adding one row, finishing one bag.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A row of a table is bytes; ir/tensor/row.def says where codes, scale and bias are.
 * Codes narrower than a byte are summed apart by their place in it, which needs a shift
 * and a mask an id and one exchange of lanes a bag:
 *
 *   bytes in memory   ba  dc  fe …            two codes each, the first in the low bits
 *   sums[0]           a   c   e               sums[1]   b   d   f
 *   stored            a   b   c   d   e   f
 */
#include "passes/lower/bag/bag.h"

#include "passes/lower/bag/prefetch.h"

#include <assert.h>
#include <math.h>

static const ig_row_info *row_format(const bag_class *c) {
    return &ig_rows_formats[c->features[0].table->type->rows.format];
}

static bool is_quantised(const bag_class *c) {
    return row_format(c)->side != IG_ROW_NOWHERE;
}

static bool is_small_float(const bag_class *c) {
    return c->features[0].table->type->rows.exponent_bits > 0;
}

static bool is_max(const bag_class *c) {
    return c->features[0].pool == IG_POOL_max;
}

/* On CPUs narrow scale and bias are widened, weighted and summed as a pair: the sum
 * of scales is not used, and costs nothing. */
static bool has_pairs(const bag_class *c) {
    return c->lanes > 1 && row_format(c)->dtype == IG_DT_f16;
}

/* ---- carried state ---- */

bag_sums bag_sums_start(const bag_class *c, ig_builder *b, uint32_t vectors) {
    assert(vectors > 0 && vectors <= BAG_VECTORS && "sums stay in registers");
    assert(vectors % c->parts == 0 && "the codes of a byte are summed together");
    bag_sums sums = { .count = vectors };
    double start = is_max(c) ? -(double)INFINITY : 0.0;
    for (uint32_t v = 0; v < vectors; v++) {
        sums.vectors[v] = k_const_vector(b, bag_sum_dtype(c), c->lanes, start);
    }
    if (is_quantised(c) && !is_max(c)) {
        sums.bias = k_const_vector(b, IG_DT_f32, has_pairs(c) ? 2 : 1, 0.0);
    }
    bool may_have_none = is_max(c) && c->negative == IG_NEGATIVE_skip;
    if (c->features[0].has_padding || may_have_none) {
        sums.taken = k_i64(b, 0);
    }
    return sums;
}

uint32_t bag_sums_pack(const bag_sums *sums, ig_value **out_values) {
    assert(sums->count <= BAG_VECTORS && "sums stay in registers");
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

/* Where the row's codes start: as bytes of a table, or as elements of a matrix. */
static ig_value *row_pointer(const bag_class *c, ig_builder *b, const bag_cursor *at,
                             ig_value *row) {
    const bag_feature *f = &c->features[0];
    int64_t stride = bag_is_table(f) ? c->layout.stride : f->dim;
    return k_offset(b, at->table, k_mul(b, row, k_i64(b, stride)));
}

/* Numbers of the row from scale (0) or bias (1) on. */
static ig_value *row_numbers(const bag_class *c, ig_builder *b, ig_value *pointer,
                             int64_t first, uint32_t count) {
    assert(is_quantised(c) && "plain rows have no scale and bias");
    assert(first >= 0 && first + count <= 2 && "scale and bias");
    ig_value *at = k_offset(b, pointer, k_i64(b, c->layout.factors));
    ig_value *numbers = k_reinterpret(b, at, (ig_dtype)row_format(c)->dtype);
    return k_cast(b, k_load(b, numbers, k_i64(b, first), count), IG_DT_f32);
}

static ig_value *row_number(const bag_class *c, ig_builder *b, ig_value *pointer,
                            int64_t which) {
    return row_numbers(c, b, pointer, which, 1);
}

/* Of `stored` lanes a vector of `per` columns each, those of the vector at `column`
 * that belong to the row; NULL for all. */
static ig_value *valid_lanes(const bag_class *c, ig_builder *b, int64_t column,
                             int64_t per) {
    int64_t left = (c->features[0].dim - column + per - 1) / per;
    return left < (int64_t)c->lanes ? k_i64(b, left) : NULL;
}

/* Column `constant`, counted from this thread's. */
static ig_value *column_at(ig_builder *b, const bag_cursor *at, int64_t constant) {
    ig_value *position = k_i64(b, constant);
    return at->thread_column ? k_add(b, position, at->thread_column) : position;
}

static ig_value *with_i32(const bag_class *c, ig_builder *b, ig_opcode code,
                          ig_value *x, int64_t y) {
    assert(x->type->dtype == IG_DT_i32 && "codes are handled as i32");
    return k_binary(b, code, x, k_const_vector(b, IG_DT_i32, c->lanes, (double)y));
}

/* Codes of a small float (ir/tensor/row.h): the bits under f32's fields, then to
 * scale. */
static ig_value *widen_small_float(const bag_class *c, ig_builder *b, ig_value *code) {
    assert(is_small_float(c) && "codes with an exponent");
    const ig_rows *rows = &c->features[0].table->type->rows;
    ig_value *x = k_cast(b, code, IG_DT_i32);
    ig_value *sign = with_i32(c, b, IG_OP_and, x, 0x80);
    ig_value *rest = with_i32(c, b, IG_OP_and, x, 0x7f);
    rest = with_i32(c, b, IG_OP_shl, rest, 16 + rows->exponent_bits);
    sign = with_i32(c, b, IG_OP_shl, sign, 24);
    x = k_reinterpret(b, k_binary(b, IG_OP_or, rest, sign), IG_DT_f32);
    double scale = ldexp(1.0, 127 - rows->exponent_bias);
    return k_mul(b, x, k_const_vector(b, IG_DT_f32, c->lanes, scale));
}

/* One code per lane: of each byte the bits from `shift` on. */
static ig_value *code_of(const bag_class *c, ig_builder *b, ig_value *bytes,
                         ig_value *shift, bool is_highest) {
    unsigned bits = ig_dtypes[c->features[0].table->type->dtype].bits;
    ig_value *x = k_binary(b, IG_OP_shr, bytes, shift);
    return is_highest ? x : with_i32(c, b, IG_OP_and, x, (1 << bits) - 1);
}

/* GPU: this thread's code. */
static ig_value *load_packed_code(const bag_class *c, ig_builder *b,
                                  const bag_cursor *at, ig_value *pointer) {
    assert(c->lanes == 1 && "a thread reads its own code");
    unsigned bits = ig_dtypes[c->features[0].table->type->dtype].bits;
    ig_value *column = column_at(b, at, at->column), *per = k_i64(b, 8 / bits);
    ig_value *position = k_add(b, k_div(b, column, per), k_i64(b, c->layout.codes));
    ig_value *byte = k_cast(b, k_load(b, pointer, position, 1), IG_DT_i32);
    ig_value *shift = k_mul(b, k_mod(b, column, per), k_i64(b, bits));
    return code_of(c, b, byte, k_cast(b, shift, IG_DT_i32), false);
}

/* Vectors v … v + parts of the row, as numbers. */
static void load_packed(const bag_class *c, ig_builder *b, const bag_cursor *at,
                        ig_value *pointer, uint32_t v, ig_value **out_parts) {
    assert(c->parts > 1 && "codes that share a byte");
    assert(v % c->parts == 0 && "the first vector of whole bytes");
    int64_t column = at->column + (int64_t)v * c->lanes;
    ig_value *position = k_i64(b, c->layout.codes + column / c->parts);
    ig_value *bytes = k_load_count(b, pointer, position, c->lanes,
                                   valid_lanes(c, b, column, c->parts));
    ig_value *wide = k_cast(b, bytes, IG_DT_i32);
    for (uint32_t i = 0; i < c->parts; i++) {
        ig_value *shift = k_const_vector(b, IG_DT_i32, c->lanes, i * (8.0 / c->parts));
        ig_value *code = code_of(c, b, wide, shift, i + 1 == c->parts);
        out_parts[i] = k_cast(b, code, IG_DT_f32);
    }
}

static ig_value *load_whole(const bag_class *c, ig_builder *b, const bag_cursor *at,
                            ig_value *pointer, uint32_t v) {
    const bag_feature *f = &c->features[0];
    int64_t column = at->column + (int64_t)v * c->lanes;
    ig_dtype dtype = (ig_dtype)f->table->type->dtype;
    if (bag_is_table(f)) {
        pointer = k_offset(b, pointer, k_i64(b, c->layout.codes));
        bool is_code = is_quantised(c) && dtype == IG_DT_i8;
        pointer = is_code ? pointer : k_reinterpret(b, pointer, dtype);
    }
    ig_value *x = k_load_count(b, pointer, column_at(b, at, column), c->lanes,
                               valid_lanes(c, b, column, 1));
    return is_small_float(c) ? widen_small_float(c, b, x)
                             : k_cast(b, x, bag_sum_dtype(c));
}

static void load_row(const bag_class *c, ig_builder *b, const bag_cursor *at,
                     ig_value *pointer, uint32_t v, ig_value **out_parts) {
    unsigned bits = ig_dtypes[c->features[0].table->type->dtype].bits;
    if (bits >= 8) {
        out_parts[0] = load_whole(c, b, at, pointer, v);
    } else if (c->parts == 1) {
        out_parts[0] = k_cast(b, load_packed_code(c, b, at, pointer), IG_DT_f32);
    } else {
        load_packed(c, b, at, pointer, v, out_parts);
    }
}

static ig_value *load_scale(const bag_class *c, ig_builder *b, ig_value *pointer,
                            const bag_cursor *at, bag_sums *sums) {
    if (!is_quantised(c)) {
        return at->weight ? k_cast(b, at->weight, bag_sum_dtype(c)) : NULL;
    }
    if (has_pairs(c)) {
        ig_value *pair = row_numbers(c, b, pointer, 0, 2);
        pair = at->weight ? k_mul(b, pair, k_splat(b, at->weight, 2)) : pair;
        sums->bias = k_add(b, sums->bias, pair);
        return k_extract(b, pair, 0);
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

static ig_value *find_larger(const bag_class *c, ig_builder *b, const bag_cursor *at,
                             ig_value *pointer, ig_value *x, ig_value *than) {
    if (is_quantised(c)) {
        ig_value *scale = k_splat(b, row_number(c, b, pointer, 0), c->lanes);
        ig_value *bias = k_splat(b, row_number(c, b, pointer, 1), c->lanes);
        x = k_muladd(b, x, scale, bias);
    }
    if (at->weight) {
        ig_value *weight = k_cast(b, at->weight, bag_sum_dtype(c));
        x = k_mul(b, x, k_splat(b, weight, c->lanes));
    }
    return k_max(b, than, x);
}

static void open_row(const bag_class *c, ig_builder *b, const bag_cursor *at,
                     ig_value *row, bag_sums *sums, bag_row *out) {
    out->pointer = row_pointer(c, b, at, row);
    out->by = is_max(c) ? NULL : load_scale(c, b, out->pointer, at, sums);
    out->by = out->by ? k_splat(b, out->by, c->lanes) : NULL;
}

static void add_vector(const bag_class *c, ig_builder *b, const bag_cursor *at,
                       const bag_row *row, ig_value *x, ig_value **sum) {
    *sum = is_max(c) ? find_larger(c, b, at, row->pointer, x, *sum)
           : row->by ? k_muladd(b, x, row->by, *sum)
                     : k_add(b, *sum, x);
}

void bag_load_row(const bag_class *c, ig_builder *b, const bag_cursor *at,
                  ig_value *row, bag_sums *sums, bag_row *out) {
    assert(c->parts == 1 && "a thread reads its own code");
    open_row(c, b, at, row, sums, out);
    for (uint32_t v = 0; v < sums->count; v++) {
        load_row(c, b, at, out->pointer, v, &out->vectors[v]);
    }
}

void bag_add_loaded(const bag_class *c, ig_builder *b, const bag_cursor *at,
                    const bag_row *row, bag_sums *sums) {
    for (uint32_t v = 0; v < sums->count; v++) {
        add_vector(c, b, at, row, row->vectors[v], &sums->vectors[v]);
    }
}

void bag_add_row(const bag_class *c, ig_builder *b, const bag_cursor *at, ig_value *row,
                 bag_sums *sums) {
    ig_value *parts[BAG_PARTS];
    bag_row opened;
    open_row(c, b, at, row, sums, &opened);
    for (uint32_t v = 0; v < sums->count; v += c->parts) {
        load_row(c, b, at, opened.pointer, v, parts);
        for (uint32_t i = 0; i < c->parts; i++) {
            add_vector(c, b, at, &opened, parts[i], &sums->vectors[v + i]);
        }
    }
}

/* Bytes: each row begins at a multiple of them after a line's begin. */
static int64_t align_of_rows(const bag_class *c) {
    int64_t aligned = c->layout.stride & -c->layout.stride;
    for (uint32_t i = 0; i < c->count; i++) {
        const bag_feature *f = &c->features[i];
        for (uint32_t t = 0; t < f->tables; t++) {
            const ig_lower_operand *table = f->table + t;
            ig_lower_start start =
                ig_lower_start_of(ig_lower_operand_value(c->lower, table));
            bool is_located = start.root == IG_ROOT_buffer ||
                              start.root == IG_ROOT_weight;
            int64_t size = ig_dtypes[table->type->dtype].bits / 8;
            int64_t begin = (is_located ? start.even : 1) * (size ? size : 1);
            aligned = begin < aligned ? begin : aligned;
        }
    }
    return aligned;
}

void bag_prefetch_row(const bag_class *c, ig_builder *b, const bag_cursor *at,
                      ig_value *row) {
    ig_value *pointer = k_reinterpret(b, row_pointer(c, b, at, row), IG_DT_u8);
    bag_prefetch_bytes(c->lower, b, pointer, NULL, c->layout.bytes, align_of_rows(c));
}

/* ---- the finished bag ---- */

/* Ids that count; for TBE a pruned id (-1) counts too. */
static ig_value *count_of(const bag_cursor *at, const bag_sums *sums) {
    return sums->taken ? sums->taken : at->count;
}

static double empty_value(ig_empty empty) {
    if (empty == IG_EMPTY_nan) {
        return (double)NAN;
    }
    return empty == IG_EMPTY_neg_inf ? -(double)INFINITY : 0.0;
}

static ig_value *finish_vector(const bag_class *c, ig_builder *b, const bag_cursor *at,
                               const bag_sums *sums, ig_value *x) {
    if (sums->bias) {
        ig_value *bias = has_pairs(c) ? k_extract(b, sums->bias, 1) : sums->bias;
        x = k_add(b, x, k_splat(b, bias, c->lanes));
    }
    ig_pool pool = c->features[0].pool;
    ig_empty empty = c->features[0].empty;
    if (pool == IG_POOL_none || (pool == IG_POOL_sum && empty == IG_EMPTY_zero)) {
        return x;
    }
    ig_value *count = count_of(at, sums);
    if (pool == IG_POOL_mean) {
        ig_value *divisor = k_cast(b, at->divisor ? at->divisor : count,
                                   bag_sum_dtype(c));
        x = k_binary(b, IG_OP_div, x, k_splat(b, divisor, c->lanes));
    }
    ig_value *is_empty = k_compare(b, IG_OP_eq, count, k_i64(b, 0));
    ig_value *instead = k_const_vector(b, bag_sum_dtype(c), c->lanes,
                                       empty_value(empty));
    return k_where(b, k_splat(b, is_empty, c->lanes), instead, x);
}

/* a0 b0 a1 b1 … in two vectors. */
static void zip_vectors(ig_builder *b, uint32_t lanes, ig_value *x, ig_value *y,
                        ig_value **out_halves) {
    assert(lanes % 2 == 0 && lanes <= UINT8_MAX + 1 && "halves of vectors");
    int64_t positions[UINT8_MAX + 1];
    for (uint32_t half = 0; half < 2; half++) {
        for (uint32_t i = 0; i < lanes; i++) {
            positions[i] = half * lanes / 2 + i / 2 + i % 2 * lanes;
        }
        out_halves[half] = k_shuffle(b, x, y, positions, lanes);
    }
}

/* Sums kept apart by their place in a byte, back in the order of columns. */
static void order_parts(const bag_class *c, ig_builder *b, ig_value *const *parts,
                        ig_value **out) {
    assert(c->parts <= BAG_PARTS && "no more codes than bits allow");
    ig_value *even[2], *odd[2];
    switch (c->parts) {
    case 2:
        zip_vectors(b, c->lanes, parts[0], parts[1], out);
        return;
    case BAG_PARTS:
        zip_vectors(b, c->lanes, parts[0], parts[2], even);
        zip_vectors(b, c->lanes, parts[1], parts[3], odd);
        zip_vectors(b, c->lanes, even[0], odd[0], &out[0]);
        zip_vectors(b, c->lanes, even[1], odd[1], &out[2]);
        return;
    default:
        out[0] = parts[0];
    }
}

void bag_store(const bag_class *c, ig_builder *b, const bag_cursor *at, ig_value *bag,
               const bag_sums *sums) {
    ig_dtype dtype = (ig_dtype)c->features[0].out->type->dtype;
    ig_value *row = k_mul(b, bag, at->out_stride);
    for (uint32_t v = 0; v < sums->count; v += c->parts) {
        ig_value *ordered[BAG_PARTS];
        order_parts(c, b, &sums->vectors[v], ordered);
        for (uint32_t i = 0; i < c->parts; i++) {
            ig_value *x = finish_vector(c, b, at, sums, ordered[i]);
            int64_t column = at->column + (int64_t)(v + i) * c->lanes;
            ig_value *position = k_add(b, row, column_at(b, at, column));
            if (column < c->features[0].dim) {
                k_store_count(b, k_cast(b, x, dtype), at->out, position,
                              valid_lanes(c, b, column, 1));
            }
        }
    }
}
