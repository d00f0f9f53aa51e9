/* Embedding bags over quantised tables.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A row of an 8-bit table is its bytes, then scale and bias (the least value) as f32:
 * the IR's format, so such a table is not copied.  Rows of 4 and 2 bits end with f16
 * scale and bias, and the IR's begin with them: those are copied.  Packed parameters
 * hold integers with a scale and a zero point a row; bias = -zero * scale. */
#include "frontend/torch/aten/quant.h"

#include "frontend/torch/eval/eval.h"
#include "ir/bag.h"
#include "ir/tensor/row.h"
#include "ir/tensor/span.h"
#include "ir/build/extent.h"

#include <string.h>

/* A table under way. */
typedef struct rows {
    ig_ts_call *call;
    int64_t count, dim; /* rows, elements a row */
    uint32_t bits;
} rows;

/* The bytes of a constant [rows, columns] of u8. */
static bool constant_rows(ig_ts_call *call, const ig_value *x, const ig_data **out) {
    const ig_data *data = x ? ig_constant_of(x) : NULL;
    if (!data || !data->bytes || data->is_splat || data->type->rank != 2) {
        ig_expr_fail(call->e, IG_UNSUPPORTED,
                     "a quantised table that is not a constant");
        return false;
    }
    *out = data;
    return true;
}

/* `bytes` are borrowed; `file` gives their position on disk, or is NULL. */
static ig_value *make_table(const rows *r, const void *bytes, const ig_data *file) {
    static const ig_dtype dtypes[] = { [2] = IG_DT_u2, [4] = IG_DT_u4, [8] = IG_DT_u8 };
    ig_module *module = r->call->module;
    ig_dtype dtype = dtypes[r->bits];
    ig_rows format = { .format = r->bits == 8 ? IG_ROW_F32 : IG_ROW_F16_AFTER };
    ig_row_layout layout;
    if (!ig_row_layout_of(format, r->bits, r->dim, &layout)) {
        return ig_expr_fail(r->call->e, IG_LIMIT, "rows of %lld elements",
                            (long long)r->dim);
    }
    ig_data data = { .type = ig_type_table(module, dtype, format, ig_dim_of(r->count),
                                           ig_dim_of(r->dim)),
                     .bytes = bytes,
                     .size = r->count * layout.stride };
    if (file) {
        data.file = file->file;
        data.offset = file->offset;
    }
    return ig_make_weight(r->call->builder,
                          ig_module_add_weight(module, "table", &data));
}

/* Argument 0, [rows, bytes]. */
static ig_value *rowwise_table(ig_ts_call *call, uint32_t bits) {
    const ig_data *data;
    if (!constant_rows(call, ig_aten_tensor(call, 0), &data)) {
        return NULL;
    }
    int64_t codes = ig_dim_value(ig_expr_extent_of(call->e, data->type, 1)) -
                    (bits == 8 ? 8 : 4);
    rows r = { call, ig_dim_value(ig_expr_extent_of(call->e, data->type, 0)),
               codes * (8 / bits), bits };
    if (codes < 0) {
        return ig_expr_fail(
            call->e, IG_INVALID, "rows of %lld bytes",
            (long long)ig_dim_value(ig_expr_extent_of(call->e, data->type, 1)));
    }
    return make_table(&r, data->bytes, data);
}

/* ---- packed parameters ---- */

/* (version, [weight], [], [bits]) */
static bool packed_weight(ig_ts_call *call, ig_aten_quantised *out) {
    ig_ts_object *object = NULL;
    if (call->e->status == IG_OK) {
        call->e->status = ig_ts_object_arg(call, 0, "EmbeddingPackedParamsBase",
                                           &object);
    }
    const ig_ts_list *state = object
                                  ? ig_ts_items_of(ig_ts_object_get(object, "state"), 2)
                                  : NULL;
    const ig_ts_list *tensors = state ? ig_ts_items_of(&state->items[1], 1) : NULL;
    if (!tensors) {
        ig_expr_fail(call->e, IG_INVALID, "packed parameters of no embedding");
        return false;
    }
    return ig_aten_quantised_of(call, &tensors->items[0], out);
}

static double number_at(const ig_data *data, int64_t i) {
    ig_tensor tensor = { .kind = IG_TENSOR,
                         .dtype = (ig_dtype)data->type->dtype,
                         .count = data->is_splat ? 1
                                                 : ig_dim_value(data->type->dims[0]),
                         .data = (void *)(uintptr_t)data->bytes };
    return ig_tensor_get_f64(&tensor, data->is_splat ? 0 : i);
}

static void put_f16(uint8_t *at, double value) {
    uint16_t bits = (uint16_t)ig_bits_of_f64(IG_DT_f16, (double)(float)value, false);
    memcpy(at, &bits, sizeof bits);
}

/* Codes of `stride` bytes a row, with the row's scale and bias after them. */
static ig_value *pack_rows(const rows *r, const uint8_t *codes, const ig_data *scales,
                           const ig_data *zeros) {
    bool is_byte = r->bits == 8;
    size_t stride = (size_t)((r->dim * r->bits + 7) / 8), tail = is_byte ? 8 : 4;
    uint8_t *copy = ig_arena_alloc(&r->call->module->arena,
                                   (stride + tail) * (size_t)r->count + 1);
    for (int64_t i = 0; i < r->count; i++) {
        uint8_t *to = copy + (size_t)i * (stride + tail);
        double scale = number_at(scales, i), bias = -number_at(zeros, i) * scale;
        float pair[] = { (float)scale, (float)bias };
        memcpy(to, codes + (size_t)i * stride, stride);
        if (is_byte) {
            memcpy(to + stride, pair, sizeof pair);
        } else {
            put_f16(to + stride, scale);
            put_f16(to + stride + 2, bias);
        }
    }
    return make_table(r, copy, NULL);
}

static ig_value *packed_table(ig_ts_call *call, uint32_t bits) {
    ig_aten_quantised q;
    const ig_data *data;
    if (!packed_weight(call, &q) || !constant_rows(call, q.raw, &data)) {
        return NULL;
    }
    const ig_data *scales = ig_constant_of(q.quant->scale);
    const ig_data *zeros = ig_constant_of(q.quant->zero_point);
    if (!scales || !scales->bytes || !zeros || !zeros->bytes) {
        return ig_expr_fail(call->e, IG_UNSUPPORTED, "scales that are not constants");
    }
    if (ig_dtypes[data->type->dtype].bits != bits) {
        return ig_expr_fail(call->e, IG_INVALID, "weights of %u bits, expected %u",
                            ig_dtypes[data->type->dtype].bits, bits);
    }
    rows r = { call, ig_dim_value(ig_expr_extent_of(call->e, data->type, 0)),
               ig_dim_value(ig_expr_extent_of(call->e, data->type, 1)), bits };
    return pack_rows(&r, data->bytes, scales, zeros);
}

/* embedding_bag_prepack(weight) */
ig_status ig_ts_op_q_embedding_prepack(ig_ts_call *call) {
    ig_ts_eval *eval = call->eval;
    ig_ts_list *state = ig_ts_list_create(eval, 2),
               *tensors = ig_ts_list_create(eval, 1);
    ig_ts_list_add(eval, tensors, call->args[0]);
    ig_ts_list_add(eval, state, ig_ts_of_int(1));
    ig_ts_list_add(eval, state, ig_ts_of_list(tensors));
    ig_ts_object *object = ig_ts_object_create(
        eval, "__torch__.torch.classes.quantized.EmbeddingPackedParamsBase");
    ig_ts_object_set(eval, object, "state", ig_ts_of_tuple(state));
    return ig_ts_give_value(call, 0, ig_ts_of_object(object));
}

/* embedding_bag_unpack(packed) -> weight */
ig_status ig_ts_op_q_embedding_origin(ig_ts_call *call) {
    ig_aten_quantised q;
    return packed_weight(call, &q)
               ? ig_ts_give_quantised(call, 0, q.raw, q.dtype, q.quant)
               : call->e->status;
}

/* ---- look-ups ---- */

enum { TABLE, IDS, OFFSETS, SCALE_GRAD, MODE, PRUNED, WEIGHTS, MAPPING, LAST };

static ig_value *look_up(ig_ts_call *call, ig_value *const *operands, uint32_t count,
                         int64_t given, ig_pool pool, int64_t last) {
    int64_t kind = pool;
    ig_bag_attrs attrs = { .operands = { &given, 1 },
                           .pool = { &kind, 1 },
                           .last = { &last, 1 },
                           .negative = IG_NEGATIVE_error };
    return ig_build_bag(call->e, operands, count, attrs);
}

/* embedding_bag_byte and its kin; variant: bits, + 16: the table is packed
 * parameters */
ig_status ig_ts_op_q_embedding_bag(ig_ts_call *call) {
    uint32_t bits = (uint32_t)call->row->variant & 15, count = 0;
    bool is_packed = (call->row->variant & 16) != 0;
    ig_value *ids = ig_aten_tensor(call, IDS);
    ig_value *offsets = ig_aten_optional(call, OFFSETS);
    ig_value *weights = ig_aten_optional(call, WEIGHTS);
    if (!ig_ts_is_none(call, MAPPING) && ig_aten_bool(call, PRUNED)) {
        return ig_ts_fail(call, IG_UNSUPPORTED, "pruned tables");
    }
    if (ig_aten_int(call, MODE) != 0) {
        return ig_ts_fail(call, IG_UNSUPPORTED, "bags of quantised rows are sums only");
    }
    ig_value *operands[4] = { is_packed ? packed_table(call, bits)
                                        : rowwise_table(call, bits),
                              ids };
    IG_TRY(call->e->status);
    int64_t given = 0;
    count = 2;
    if (offsets) {
        operands[count++] = offsets;
        given |= 1;
    } else if (ids->type->rank != 2) {
        return ig_ts_fail(call, IG_INVALID, "ids of rank %u without offsets",
                          ids->type->rank);
    }
    if (weights) {
        operands[count++] = ig_aten_cast(call, weights, IG_DT_f32);
        given |= 4;
    }
    int64_t last = offsets && ig_aten_bool(call, LAST) ? IG_LAST_offset : IG_LAST_ids;
    return ig_aten_give(call, look_up(call, operands, count, given, IG_POOL_sum, last));
}

/* embedding_byte, embedding_4bit(weight, indices, …); variant: bits */
ig_status ig_ts_op_q_embedding(ig_ts_call *call) {
    ig_value *ids = ig_aten_tensor(call, IDS);
    ig_value *operands[] = { packed_table(call, (uint32_t)call->row->variant), ids };
    IG_TRY(call->e->status);
    return ig_aten_give(call, look_up(call, operands, 2, 0, IG_POOL_none, IG_LAST_ids));
}

/* embedding_bag_byte_unpack …(weight): all rows as f32.  variant: bits */
ig_status ig_ts_op_q_embedding_unpack(ig_ts_call *call) {
    ig_value *table = rowwise_table(call, (uint32_t)call->row->variant);
    IG_TRY(call->e->status);
    ig_value *operands[] = { table, ig_expr_iota(call->e, IG_DT_i64,
                                                 ig_expr_extent(call->e, table, 0)) };
    IG_TRY(call->e->status);
    return ig_aten_give(call, look_up(call, operands, 2, 0, IG_POOL_none, IG_LAST_ids));
}
