/* Constants and values with shorter extents.  SPDX-License-Identifier: Apache-2.0 */
#include "frontend/onnx/edit/editor.h"

#include <string.h>

int64_t ig_onnx_cut_extent(const ig_onnx_variant *variant, int64_t extent) {
    for (size_t i = 0; i < variant->extent_count; i++) {
        if (variant->extents[i].from == extent) {
            return variant->extents[i].to;
        }
    }
    return extent;
}

/* Elements in a row-major array. */
typedef struct elements {
    size_t rank, width; /* bytes of one */
    const int64_t *dims;
    const uint8_t *bytes;
} elements;

/* Those that are left where the extents become those of `dims`. */
static uint8_t *cut_elements(const elements *from, const int64_t *dims, ig_arena *arena,
                             size_t *out_size) {
    int64_t index[IG_TENSOR_RANK] = { 0 }, count = 1;
    for (size_t d = 0; d < from->rank; d++) {
        count *= dims[d];
    }
    *out_size = (size_t)count * from->width;
    uint8_t *bytes = ig_arena_zalloc(arena, *out_size);
    for (int64_t i = 0; i < count; i++) {
        int64_t at = 0;
        for (size_t d = 0; d < from->rank; d++) {
            at = at * from->dims[d] + index[d];
        }
        memcpy(bytes + (size_t)i * from->width, from->bytes + (size_t)at * from->width,
               from->width);
        for (size_t d = from->rank; d-- > 0 && ++index[d] == dims[d];) {
            index[d] = 0;
        }
    }
    return bytes;
}

/* False where nothing is to be cut off. */
static bool cut_dims(const ig_onnx_variant *variant, const int64_t *dims, size_t rank,
                     int64_t *out) {
    bool is_cut = false, fits = rank <= IG_TENSOR_RANK;
    for (size_t d = 0; d < rank && fits; d++) {
        out[d] = ig_onnx_cut_extent(variant, dims[d]);
        is_cut = is_cut || out[d] != dims[d];
        fits = out[d] <= dims[d];
    }
    return is_cut && fits;
}

/* ---- constants ---- */

/* Short vectors of i64 are shapes, where they hold an extent that goes. */
static void cut_shape(const ig_onnx_variant *variant, Onnx__TensorProto *tensor,
                      ig_arena *arena) {
    size_t count = tensor->raw_data.len / sizeof(int64_t);
    if (tensor->n_dims != 1 || count > IG_TENSOR_RANK || !variant->extent_count) {
        return;
    }
    int64_t *numbers = IG_NEW_ARRAY(arena, int64_t, count);
    for (size_t i = 0; i < count; i++) {
        memcpy(&numbers[i], tensor->raw_data.data + i * sizeof *numbers,
               sizeof *numbers);
        numbers[i] = ig_onnx_cut_extent(variant, numbers[i]);
    }
    tensor->raw_data.data = (uint8_t *)numbers;
}

static void fill_with_ones(Onnx__TensorProto *tensor, ig_arena *arena) {
    size_t count = tensor->raw_data.len / sizeof(float);
    float *ones = IG_NEW_ARRAY(arena, float, count);
    for (size_t i = 0; i < count; i++) {
        ones[i] = 1;
    }
    tensor->raw_data.data = (uint8_t *)ones;
}

Onnx__TensorProto *ig_onnx_cut_constant(const ig_onnx_variant *variant,
                                        const Onnx__TensorProto *from,
                                        ig_arena *arena) {
    Onnx__TensorProto *tensor = IG_NEW(arena, Onnx__TensorProto);
    ig_dtype dtype;
    *tensor = *from;
    if (!ig_dtype_from_onnx(from->data_type, &dtype) || ig_dtypes[dtype].bits < 8) {
        return tensor;
    }
    int64_t *dims = IG_NEW_ARRAY(arena, int64_t, from->n_dims);
    if (cut_dims(variant, from->dims, from->n_dims, dims)) {
        elements all = { from->n_dims, ig_dtypes[dtype].bits / 8, from->dims,
                         from->raw_data.data };
        tensor->dims = dims;
        tensor->raw_data.data = cut_elements(&all, dims, arena, &tensor->raw_data.len);
    }
    if (dtype == IG_DT_i64) {
        cut_shape(variant, tensor, arena);
    }
    if (dtype == IG_DT_f32 && variant->has_plain_weights) {
        fill_with_ones(tensor, arena);
    }
    return tensor;
}

/* ---- values ---- */

/* Whole numbers may be places in an extent that was cut. */
static void cut_numbers(const ig_onnx_variant *variant, ig_tensor *value) {
    for (int64_t i = 0; i < value->count; i++) {
        int64_t number = ig_tensor_get_i64(value, i);
        for (size_t e = 0; e < variant->extent_count; e++) {
            const ig_onnx_extent *extent = &variant->extents[e];
            if (number >= extent->to && number < extent->from && extent->to > 0) {
                number %= extent->to;
            }
        }
        ig_tensor_set_i64(value, i, number);
    }
}

void ig_onnx_cut_value(const ig_onnx_variant *variant, ig_tensor *value,
                       ig_arena *arena) {
    size_t size, width = ig_dtypes[value->dtype].bits / 8;
    int64_t dims[IG_TENSOR_RANK];
    memcpy(dims, value->dims, sizeof dims);
    bool is_cut = cut_dims(variant, value->dims, value->rank, dims);
    bool is_numbers = value->dtype == IG_DT_i64 || value->dtype == IG_DT_i32;
    if (!value->data || !width || !(is_cut || (is_numbers && variant->extent_count))) {
        return;
    }
    elements all = { value->rank, width, value->dims, value->data };
    value->data = cut_elements(&all, is_cut ? dims : value->dims, arena, &size);
    memcpy(value->dims, is_cut ? dims : value->dims, sizeof dims);
    value->count = (int64_t)(size / width);
    if (is_numbers) {
        cut_numbers(variant, value);
    }
}
