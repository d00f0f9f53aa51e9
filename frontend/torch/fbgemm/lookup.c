/* FBGEMM's look-up in all tables of a call, and the check of bounds before it.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The look-up names one flat storage of bytes, and for each feature where its table
 * starts there, the kind of its rows and their length.  It becomes one bag:
 *
 *     table @w.t0 : i8<rowwise f16 stride 80>[4096, 64] = file(…)   part of the storage
 *     %o0 = slice %offsets {starts = [0], sizes = [B + 1]}     feature f: from f * B on
 *     %0, %1 = bag @w.t0, %ids, %o0, @w.t1, %ids, %o1 {…, negative = skip}
 *     %y = concat %0, %1 {axis = 1}
 *
 * The ids are never split: a feature's offsets say where in them its bags are.
 */
#include "frontend/torch/fbgemm/fbgemm.h"

#include "base/checked.h"
#include "ir/bag.h"
#include "ir/build/extent.h"

#include <assert.h>

enum { FEATURES = 4096 };

/* By SparseType. */
typedef struct sparse_type {
    bool exists;
    ig_dtype dtype;
    ig_row_format format;
    bool is_small_float;
} sparse_type;

static const sparse_type sparse_types[] = {
    { true, IG_DT_f32, IG_ROW_PLAIN, false }, { true, IG_DT_f16, IG_ROW_PLAIN, false },
    { true, IG_DT_i8, IG_ROW_F16, false },    { true, IG_DT_u4, IG_ROW_F16, false },
    { true, IG_DT_u2, IG_ROW_F16, false },    { true, IG_DT_bf16, IG_ROW_PLAIN, false },
    { true, IG_DT_u8, IG_ROW_PLAIN, true },
};

enum { OUT_F32 = 0, OUT_F16 = 1, OUT_INT8 = 2, OUT_BF16 = 5 };
enum { FB_SUM = 0, FB_MEAN = 1, FB_NONE = 2 };

typedef struct lookup {
    ig_ts_call *call;
    const ig_data *flat; /* the storage of the tables */
    const char *name;    /* of the storage */
    const int64_t *starts, *kinds, *columns, *rows;
    uint32_t count;
    int64_t align, pooling, out, exponent_bits, exponent_bias;
    ig_value *ids, *offsets, *weights;
    ig_dim bags;
    ig_value **tables; /* one a feature; features may share one */
} lookup;

/* ---- arguments ---- */

static ig_status fail_at_feature(lookup *l, ig_status status, const char *what,
                                 uint32_t feature) {
    return ig_ts_fail(l->call, status, "feature %u: %s", feature, what);
}

static ig_status find_storage(lookup *l) {
    static const uint32_t positions[] = { 0, 1 }; /* device, then managed memory */
    for (size_t i = 0; i < IG_COUNT_OF(positions); i++) {
        ig_value *value = ig_aten_tensor(l->call, positions[i]);
        IG_TRY(l->call->e->status);
        const ig_data *data = ig_constant_of(value);
        if (!data || data->is_splat || data->type->dtype != IG_DT_u8) {
            continue;
        }
        if (data->size > 0) {
            const ig_ts_tensor *tensor = ig_ts_peek(l->call, positions[i]);
            l->flat = data;
            l->name = tensor && tensor->storage->name ? tensor->storage->name : "table";
            return IG_OK;
        }
    }
    return ig_ts_fail(l->call, IG_UNSUPPORTED,
                      "the tables' storage is not a constant of bytes");
}

/* How many rows each table really has is said by the check of bounds before. */
static void find_rows(lookup *l) {
    const ig_op *bounds = ig_def(l->ids, IG_OP_bounds);
    if (bounds) {
        uint32_t count = 0;
        const int64_t *rows = ig_fb_maybe_known(l->call, bounds->operands[2].value,
                                                &count);
        l->rows = count == l->count ? rows : NULL;
    }
}

static ig_status read_options(lookup *l) {
    enum { POOLING = 14, WEIGHTS = 15, OUT = 16, ALIGN = 19, BITS = 21, BIAS = 22 };
    l->pooling = ig_aten_int(l->call, POOLING);
    l->out = ig_aten_int(l->call, OUT);
    l->align = ig_aten_int_or(l->call, ALIGN, 1);
    l->exponent_bits = ig_aten_int_or(l->call, BITS, -1);
    l->exponent_bias = ig_aten_int_or(l->call, BIAS, -1);
    if (l->align < 1 || l->align > 4096 || l->pooling < FB_SUM ||
        l->pooling > FB_NONE) {
        return ig_ts_fail(l->call, IG_INVALID, "row alignment %lld, pooling mode %lld",
                          (long long)l->align, (long long)l->pooling);
    }
    l->weights = l->pooling == FB_NONE ? NULL : ig_aten_optional(l->call, WEIGHTS);
    IG_TRY(l->call->e->status);
    if (l->weights &&
        ig_dim_equal(l->call->module, ig_type_count(l->call->module, l->weights->type),
                     ig_dim_of(0)) == IG_YES) {
        l->weights = NULL;
    }
    return IG_OK;
}

static ig_status read_inputs(lookup *l) {
    enum { INDICES = 12, OFFSETS = 13 };
    ig_module *module = l->call->module;
    l->ids = ig_aten_tensor(l->call, INDICES);
    l->offsets = ig_aten_tensor(l->call, OFFSETS);
    IG_TRY(l->call->e->status);
    if (l->ids->type->rank != 1 || l->offsets->type->rank != 1) {
        return ig_ts_fail(l->call, IG_INVALID,
                          "indices and offsets must have one axis");
    }
    ig_dim bags = ig_dim_sub(module, ig_expr_extent(l->call->e, l->offsets, 0),
                             ig_dim_of(1));
    l->bags = ig_dim_exact_div(module, bags, ig_dim_of(l->count));
    ig_expr_guard_equal(l->call->e, bags,
                        ig_dim_mul(module, l->bags, ig_dim_of(l->count)),
                        "the offsets do not belong to so many tables");
    if (l->weights) {
        l->weights = ig_expr_cast(l->call->e, ig_expr_flatten(l->call->e, l->weights),
                                  IG_DT_f32);
        IG_TRY(l->call->e->status);
        ig_expr_guard_equal(l->call->e, ig_expr_extent(l->call->e, l->weights, 0),
                            ig_expr_extent(l->call->e, l->ids, 0),
                            "there must be a weight for each index");
    }
    return l->call->e->status;
}

static ig_status read_tables(lookup *l) {
    enum { STARTS = 3, KINDS = 4, COLUMNS = 5 };
    uint32_t starts, kinds, columns;
    l->starts = ig_fb_known(l->call, STARTS, "weights_offsets", &starts);
    l->kinds = ig_fb_known(l->call, KINDS, "weights_tys", &kinds);
    l->columns = ig_fb_known(l->call, COLUMNS, "D_offsets", &columns);
    IG_TRY(l->call->e->status);
    if (columns < 2 || starts != columns - 1 || kinds != columns - 1 ||
        starts > FEATURES) {
        return ig_ts_fail(
            l->call, IG_INVALID,
            "weights_offsets has %u items, weights_tys %u and D_offsets %u, expected one per table and one more in D_offsets",
            starts, kinds, columns);
    }
    l->count = starts;
    return find_storage(l);
}

/* ---- tables ---- */

/* The storage's bytes from a table's start to the next one. */
static int64_t window_of(const lookup *l, uint32_t feature) {
    assert(feature < l->count && "a feature of the call");
    int64_t end = l->flat->size;
    for (uint32_t i = 0; i < l->count; i++) {
        bool is_next = l->starts[i] > l->starts[feature] && l->starts[i] < end;
        end = is_next ? l->starts[i] : end;
    }
    return end - l->starts[feature];
}

static bool read_row_type(const lookup *l, uint32_t feature, const sparse_type **out,
                          ig_rows *out_rows) {
    assert(feature < l->count && "a feature of the call");
    int64_t kind = l->kinds[feature];
    if (kind < 0 || kind >= (int64_t)IG_COUNT_OF(sparse_types)) {
        return false;
    }
    *out = &sparse_types[kind];
    out_rows->format = (uint8_t)(*out)->format;
    if ((*out)->is_small_float) {
        bool is_default = l->exponent_bits < 0 || l->exponent_bias < 0;
        out_rows->exponent_bits = is_default ? 4 : (uint8_t)l->exponent_bits;
        out_rows->exponent_bias = is_default ? 7 : (uint8_t)l->exponent_bias;
    }
    return true;
}

/* Without pooling and with 8-bit results, rows are given as they are stored. */
static bool gives_rows(const lookup *l) {
    return l->out == OUT_INT8 && l->pooling == FB_NONE;
}

static ig_status table_type(lookup *l, uint32_t feature, const ig_type **out_type) {
    assert(feature < l->count && "D_offsets has an entry more than features");
    const sparse_type *kind = NULL;
    ig_rows rows = { 0 };
    ig_row_layout layout;
    int64_t dim = l->columns[feature + 1] - l->columns[feature];
    if (!read_row_type(l, feature, &kind, &rows)) {
        return fail_at_feature(l, IG_UNSUPPORTED,
                               "weights_tys holds a type of rows that is not supported",
                               feature);
    }
    ig_dtype dtype = kind->dtype;
    if (dim <= 0 || !ig_row_layout_of(rows, ig_dtypes[dtype].bits, dim, &layout)) {
        return fail_at_feature(
            l, IG_INVALID, "D_offsets does not give rows that can be stored", feature);
    }
    int64_t stride = ig_ceil_div(layout.bytes, l->align) * l->align;
    int64_t start = l->starts[feature];
    if (start < 0 || start > l->flat->size || stride > UINT32_MAX) {
        return fail_at_feature(l, IG_INVALID, "the table starts outside of its storage",
                               feature);
    }
    int64_t count = window_of(l, feature) / stride;
    if (l->rows && l->rows[feature] > count) {
        return fail_at_feature(l, IG_INVALID,
                               "the table has fewer rows than rows_per_table says",
                               feature);
    }
    if (gives_rows(l)) {
        rows = (ig_rows){ 0 };
        dtype = IG_DT_u8;
        dim = layout.bytes;
    }
    rows.stride = stride == layout.bytes ? 0 : (uint32_t)stride;
    count = l->rows ? l->rows[feature] : count;
    ig_dim extent;
    if (!ig_dim_from(count, &extent)) {
        return fail_at_feature(l, IG_INVALID, "rows_per_table is negative", feature);
    }
    *out_type = ig_type_table(l->call->module, dtype, rows, extent, ig_dim_of(dim));
    return IG_OK;
}

static ig_status make_table(lookup *l, uint32_t feature) {
    assert(l->flat && feature < l->count && "read_tables has found the storage");
    const ig_type *type = NULL;
    IG_TRY(table_type(l, feature, &type));
    for (uint32_t i = 0; i < feature; i++) {
        if (l->starts[i] == l->starts[feature] && l->tables[i]->type == type) {
            l->tables[feature] = l->tables[i];
            return IG_OK;
        }
    }
    ig_data data = *l->flat;
    ig_row_layout layout;
    ig_row_layout_of(type->rows, ig_dtypes[type->dtype].bits,
                     ig_dim_value(type->dims[1]), &layout);
    data.type = type;
    data.size = ig_dim_value(type->dims[0]) * layout.stride;
    data.bytes = data.bytes ? (const char *)data.bytes + l->starts[feature] : NULL;
    data.offset += l->starts[feature];
    const char *name = ig_arena_printf(l->call->arena, "%s.t%u", l->name, feature);
    ig_weight *weight = ig_module_add_weight(l->call->module, name, &data);
    l->tables[feature] = ig_make_weight(l->call->builder, weight);
    return IG_OK;
}

/* ---- the bag ---- */

static ig_ints same_for_all(const lookup *l, int64_t value) {
    int64_t *values = IG_NEW_ARRAY(l->call->arena, int64_t, l->count);
    for (uint32_t i = 0; i < l->count; i++) {
        values[i] = value;
    }
    return (ig_ints){ values, l->count };
}

static ig_dtype out_dtype(const lookup *l) {
    assert(!gives_rows(l) && "rows that are given as stored are bytes");
    return l->out == OUT_F16 ? IG_DT_f16 : l->out == OUT_BF16 ? IG_DT_bf16 : IG_DT_f32;
}

static ig_op *make_bag(lookup *l) {
    static const ig_pool pools[] = { IG_POOL_sum, IG_POOL_mean, IG_POOL_none };
    /* One feature without pooling: all ids are its own. */
    bool has_offsets = l->pooling != FB_NONE || l->count > 1;
    int64_t mask = (has_offsets ? IG_BAG_BEGINS : 0) |
                   (l->weights ? IG_BAG_WEIGHTS : 0);
    ig_bag_attrs attrs = { .operands = same_for_all(l, mask),
                           .pool = same_for_all(l, pools[l->pooling]),
                           .negative = IG_NEGATIVE_skip,
                           .whole = ig_ts_fixes_means(l->call) &&
                                    l->pooling == FB_MEAN };
    if (has_offsets) {
        attrs.last = same_for_all(l, IG_LAST_offset);
    }
    if (!gives_rows(l)) {
        attrs.to = (ig_maybe_dtype)IG_SET(out_dtype(l));
    }
    ig_module *module = l->call->module;
    ig_value **operands = IG_NEW_ARRAY(l->call->arena, ig_value *, 4 * l->count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < l->count; i++) {
        operands[count++] = l->tables[i];
        operands[count++] = l->ids;
        if (has_offsets) {
            ig_dim start = ig_dim_mul(module, l->bags, ig_dim_of(i));
            operands[count++] = ig_expr_slice(l->call->e, l->offsets, 0, start,
                                              ig_dim_add(module, l->bags, ig_dim_of(1)),
                                              1);
        }
        if (l->weights) {
            operands[count++] = l->weights;
        }
    }
    ig_op_spec spec = { .operands = operands,
                        .operand_count = count,
                        .result_count = l->count };
    return ig_build_bag_op(l->call->e, &spec, attrs);
}

/* Without pooling, every feature gave rows for its ids and zeros for the others'. */
static ig_value *join_features(lookup *l, const ig_op *bag) {
    ig_value **parts = IG_NEW_ARRAY(l->call->arena, ig_value *, l->count);
    ig_value *sum = &bag->results[0];
    for (uint32_t i = 0; i < l->count; i++) {
        parts[i] = &bag->results[i];
        bool is_more = l->pooling == FB_NONE && i > 0;
        sum = is_more ? ig_build_add(l->call->e, sum, parts[i]) : sum;
    }
    return l->pooling == FB_NONE ? sum : ig_expr_concat(l->call->e, 1, parts, l->count);
}

ig_status ig_ts_op_fb_lookup(ig_ts_call *call) {
    lookup l = { .call = call };
    IG_TRY(read_tables(&l));
    IG_TRY(read_options(&l));
    IG_TRY(read_inputs(&l));
    bool is_known = l.out == OUT_F32 || l.out == OUT_F16 || l.out == OUT_BF16 ||
                    gives_rows(&l);
    if (!is_known) {
        return ig_ts_fail(call, IG_UNSUPPORTED, "results of dtype %lld",
                          (long long)l.out);
    }
    find_rows(&l);
    l.tables = IG_NEW_ARRAY(call->arena, ig_value *, l.count);
    for (uint32_t i = 0; i < l.count; i++) {
        IG_TRY(make_table(&l, i));
    }
    ig_op *bag = make_bag(&l);
    return ig_aten_give(call, bag ? join_features(&l, bag) : NULL);
}

/* ---- bounds ---- */

/* Writes to a tensor of the program.  Where it is the caller's or the module's own, the
 * program sees the mended content, and the caller's stays unchanged: a call leaves
 * no mended ids and no count of errors. */
static ig_status write_mended(ig_ts_call *call, uint32_t arg, ig_value *value) {
    const ig_ts_tensor *tensor = ig_ts_peek(call, arg);
    ig_ts_storage *storage = tensor ? tensor->storage : NULL;
    bool was_written = storage && storage->is_written;
    IG_TRY(ig_ts_write(call, arg, value));
    if (storage->is_input || storage->origin) {
        storage->is_written = was_written;
    }
    return IG_OK;
}

ig_status ig_ts_op_fb_bounds(ig_ts_call *call) {
    enum { ROWS, INDICES, OFFSETS, MODE, WARNING, B_OFFSETS = 6 };
    int64_t mode = ig_aten_int(call, MODE);
    if (!ig_ts_is_none(call, B_OFFSETS)) {
        return ig_ts_fail(call, IG_UNSUPPORTED, "a batch size for each feature");
    }
    ig_value *ids = ig_aten_tensor(call, INDICES);
    ig_value *offsets = ig_aten_tensor(call, OFFSETS);
    ig_value *rows = ig_aten_tensor(call, ROWS);
    IG_TRY(call->e->status);
    enum { FATAL = 0, V2_FATAL = 6, MODE_WARNING = 1, V2_WARNING = 5 };
    bool is_fatal = mode == FATAL || mode == V2_FATAL;
    ig_value *results[3];
    ig_bounds_attrs attrs = { .range = is_fatal ? IG_RANGE_error : IG_RANGE_first };
    if (!ig_expr_results(ig_build_bounds(call->e, ids, offsets, rows, attrs),
                         results)) {
        return call->e->status;
    }
    IG_TRY(write_mended(call, INDICES, results[0]));
    IG_TRY(write_mended(call, OFFSETS, results[1]));
    bool counts = mode == MODE_WARNING || mode == V2_WARNING;
    return counts ? write_mended(call, WARNING, results[2]) : IG_OK;
}
