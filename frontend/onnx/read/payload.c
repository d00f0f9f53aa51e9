/* Payloads: the data of raw_data or of one of the typed fields.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     field         element types                        in the file
 *     raw_data      all but string                       little-endian, as in the IR
 *     float_data    f32                                  4 bytes each: borrowed too
 *     double_data   f64                                  8 bytes each: borrowed too
 *     int32_data    bool, i8…i32, u8, u16, f16, bf16,    varints; narrow types as bits;
 *                   f8; i4, u4 (2), i2, u2 (4 each)      sub-byte: a byte's worth each
 *     int64_data    i64                                  varints
 *     uint64_data   u32, u64                             varints
 */
#include "frontend/onnx/read/model.h"

#include "base/checked.h"
#include "ir/tensor/tensor.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    FLOAT_DATA = 4,
    INT32_DATA = 5,
    STRING_DATA = 6,
    INT64_DATA = 7,
    RAW_DATA = 9,
    DOUBLE_DATA = 10,
    UINT64_DATA = 11
};

ig_status ig_onnx_complain(const ig_onnx_about *about, ig_status status,
                           const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return ig_error(&about->context->diag, status, about->where, "%s %s", about->what,
                    text);
}

static const char *field_name(unsigned field) {
    static const char *const names[] = {
        [FLOAT_DATA] = "float_data",   [INT32_DATA] = "int32_data",
        [STRING_DATA] = "string_data", [INT64_DATA] = "int64_data",
        [RAW_DATA] = "raw_data",       [DOUBLE_DATA] = "double_data",
        [UINT64_DATA] = "uint64_data",
    };
    return field < IG_COUNT_OF(names) && names[field] ? names[field]
                                                      : "a payload field";
}

/* The typed field that holds a dtype; int32_data where nothing else is said. */
static unsigned typed_field(ig_dtype dtype) {
    static const uint8_t fields[IG_DT_COUNT] = {
        [IG_DT_f32] = FLOAT_DATA,  [IG_DT_f64] = DOUBLE_DATA, [IG_DT_i64] = INT64_DATA,
        [IG_DT_u32] = UINT64_DATA, [IG_DT_u64] = UINT64_DATA, [IG_DT_str] = STRING_DATA,
    };
    return fields[dtype] ? fields[dtype] : INT32_DATA;
}

/* ---- the form: dims and dtype ---- */

static ig_status check_dims(const ig_onnx_about *about, const Onnx__TensorProto *tensor,
                            int64_t *out_count) {
    if (tensor->n_dims > (uint64_t)about->context->limits.rank ||
        tensor->n_dims > IG_TENSOR_RANK) {
        return ig_error_limit(&about->context->diag, about->where,
                              &about->context->limits, IG_LIMIT_rank,
                              "the rank of %s, %zu,", about->what, tensor->n_dims);
    }
    int64_t count = 1;
    bool is_empty = false, fits = true;
    for (size_t i = 0; i < tensor->n_dims; i++) {
        int64_t dim = tensor->dims[i];
        if (dim < 0) {
            return ig_onnx_complain(about, IG_INVALID, "has a negative dimension, %lld",
                                    (long long)dim);
        }
        is_empty |= dim == 0;
        fits = fits && (dim == 0 || ig_mul_i64(count, dim, &count));
    }
    if (!fits && !is_empty) {
        return ig_onnx_complain(about, IG_INVALID,
                                "has more elements than 64 bits can count");
    }
    *out_count = is_empty ? 0 : count;
    return IG_OK;
}

const char *ig_onnx_dtype_name(int64_t code) {
    const ProtobufCEnumDescriptor *names = &onnx__tensor_proto__data_type__descriptor;
    const ProtobufCEnumValue *value =
        code > 0 && code <= INT_MAX
            ? protobuf_c_enum_descriptor_get_value(names, (int)code)
            : NULL;
    return value ? value->name : NULL;
}

ig_status ig_onnx_tensor_form(const ig_onnx_about *about,
                              const Onnx__TensorProto *tensor, ig_onnx_form *out_form) {
    int code = tensor->data_type;
    if (!ig_dtype_from_onnx(code, &out_form->dtype)) {
        const char *name = ig_onnx_dtype_name(code);
        return name
                   ? ig_onnx_complain(about, IG_UNSUPPORTED,
                                      "has element type %s, which is not supported yet",
                                      name)
                   : ig_onnx_complain(about, IG_INVALID,
                                      "has data_type %d, which is not an element type",
                                      code);
    }
    if (tensor->segment) {
        return ig_onnx_complain(about, IG_UNSUPPORTED, "is stored in segments");
    }
    IG_TRY(check_dims(about, tensor, &out_form->count));
    if (!ig_dtype_bytes(out_form->dtype, out_form->count, &out_form->bytes)) {
        return ig_onnx_complain(about, IG_INVALID,
                                "has more bytes than 64 bits can count");
    }
    return IG_OK;
}

/* ---- varints ---- */

typedef struct sink {
    uint8_t *bytes;
    int64_t count, limit; /* elements */
    unsigned width;       /* bytes of one */
} sink;

static bool put_element(sink *to, uint64_t value) {
    if (to->count == to->limit) {
        return false;
    }
    uint8_t *at = to->bytes + to->count++ * (int64_t)to->width;
    for (unsigned i = 0; i < to->width; i++) {
        at[i] = (uint8_t)(value >> (8 * i));
    }
    return true;
}

/* Elements of one chunk; false when it is malformed or holds too many. */
static bool read_varints(const ig_onnx_chunk *chunk, sink *to) {
    const uint8_t *at = chunk->data, *end = at + chunk->size;
    while (at < end) {
        uint64_t value;
        at = ig_onnx_varint(at, end, &value);
        if (!at || !put_element(to, value)) {
            return false;
        }
    }
    return true;
}

static bool read_fixed(const ig_onnx_chunk *chunk, sink *to) {
    if (chunk->size % to->width != 0) {
        return false;
    }
    for (size_t i = 0; i < chunk->size; i += to->width) {
        uint64_t value = 0;
        for (unsigned k = 0; k < to->width; k++) {
            value |= (uint64_t)chunk->data[i + k] << (8 * k);
        }
        if (!put_element(to, value)) {
            return false;
        }
    }
    return true;
}

/* Sub-byte values outside the last element's count must not leak: the IR wants
 * zeroes. */
static void clear_tail(ig_dtype dtype, int64_t count, uint8_t *bytes) {
    unsigned used = (unsigned)(count * ig_dtypes[dtype].bits % 8);
    if (ig_dtypes[dtype].bits < 8 && used) {
        int64_t last = count * ig_dtypes[dtype].bits / 8;
        bytes[last] &= (uint8_t)((1u << used) - 1);
    }
}

/* ---- one payload ---- */

static ig_status check_single_field(const ig_onnx_about *about,
                                    const ig_onnx_chunk *chunks, size_t count) {
    for (size_t i = 1; i < count; i++) {
        if (chunks[i].field != chunks[0].field) {
            return ig_onnx_complain(about, IG_INVALID, "has two payloads, %s and %s",
                                    field_name(chunks[0].field),
                                    field_name(chunks[i].field));
        }
        if (chunks[i].field == RAW_DATA) {
            return ig_onnx_complain(about, IG_INVALID, "has raw_data twice");
        }
    }
    return IG_OK;
}

static bool are_bools(const uint8_t *bytes, int64_t count) {
    uint8_t all = 0;
    for (int64_t i = 0; i < count; i++) {
        all |= bytes[i];
    }
    return all <= 1;
}

static ig_status take_raw(const ig_onnx_about *about, ig_arena *arena,
                          const ig_onnx_chunk *chunk, const ig_onnx_form *form,
                          const void **out_bytes) {
    if (chunk->size != (uint64_t)form->bytes) {
        return ig_onnx_complain(about, IG_INVALID, "holds %zu bytes instead of %lld",
                                chunk->size, (long long)form->bytes);
    }
    *out_bytes = chunk->data;
    if (form->dtype == IG_DT_bool && !are_bools(chunk->data, form->count)) {
        uint8_t *copy = ig_arena_alloc(arena, chunk->size);
        for (int64_t i = 0; i < form->count; i++) {
            copy[i] = chunk->data[i] != 0;
        }
        *out_bytes = copy;
    }
    return IG_OK;
}

/* One chunk a text; each becomes the address of a copy that ends in 0. */
static ig_status take_texts(const ig_onnx_about *about, ig_arena *arena,
                            const ig_onnx_chunk *chunks, size_t chunk_count,
                            const ig_onnx_form *form, const void **out_bytes) {
    if ((uint64_t)form->count != chunk_count) {
        return ig_onnx_complain(about, IG_INVALID, "holds %zu strings instead of %lld",
                                chunk_count, (long long)form->count);
    }
    const char **texts = IG_NEW_ARRAY(arena, const char *, chunk_count);
    for (size_t i = 0; i < chunk_count; i++) {
        size_t size = chunks[i].size;
        if (size && memchr(chunks[i].data, 0, size)) {
            return ig_onnx_complain(about, IG_UNSUPPORTED,
                                    "holds a string with a zero byte in it");
        }
        texts[i] = ig_arena_copy(arena, size ? (const char *)chunks[i].data : "", size);
    }
    *out_bytes = texts;
    return IG_OK;
}

/* Entries of a typed field, and bytes of one entry in the IR. */
static int64_t entry_count(ig_dtype dtype, int64_t count, unsigned *out_width) {
    unsigned bits = ig_dtypes[dtype].bits;
    *out_width = bits < 8 ? 1 : bits / 8;
    unsigned each = bits < 8 ? 8 / bits : 1;
    return count / each + (count % each != 0);
}

static ig_status take_typed(const ig_onnx_about *about, ig_arena *arena,
                            const ig_onnx_chunk *chunks, size_t chunk_count,
                            const ig_onnx_form *form, const void **out_bytes) {
    unsigned field = chunks[0].field;
    sink to = { 0 };
    to.limit = entry_count(form->dtype, form->count, &to.width);
    bool is_fixed = field == FLOAT_DATA || field == DOUBLE_DATA;
    if (is_fixed && chunk_count == 1 &&
        chunks[0].size == (uint64_t)to.limit * to.width) {
        *out_bytes = chunks[0].data;
        return IG_OK;
    }
    uint64_t held = 0; /* every entry takes a byte of the file: bounds the memory */
    for (size_t i = 0; i < chunk_count; i++) {
        held += chunks[i].size;
    }
    bool fits = (uint64_t)to.limit <= held;
    to.bytes = ig_arena_alloc(arena, fits ? (size_t)to.limit * to.width : 0);
    for (size_t i = 0; fits && i < chunk_count; i++) {
        fits = is_fixed ? read_fixed(&chunks[i], &to) : read_varints(&chunks[i], &to);
    }
    if (!fits || to.count != to.limit) {
        return ig_onnx_complain(about, IG_INVALID, "does not hold %lld values in %s",
                                (long long)to.limit, field_name(field));
    }
    clear_tail(form->dtype, form->count, to.bytes);
    for (int64_t i = 0; form->dtype == IG_DT_bool && i < form->count; i++) {
        to.bytes[i] = to.bytes[i] != 0;
    }
    *out_bytes = to.bytes;
    return IG_OK;
}

ig_status ig_onnx_payload_bytes(const ig_onnx_about *about, ig_arena *arena,
                                const ig_onnx_wire *wire,
                                const Onnx__TensorProto *tensor,
                                const ig_onnx_form *form, const void **out_bytes) {
    uint32_t record = 0;
    if (tensor->raw_data.len != sizeof(record)) {
        return ig_onnx_complain(about, IG_INTERNAL, "has no payload record");
    }
    memcpy(&record, tensor->raw_data.data, sizeof(record));
    const ig_onnx_payload *payload = &wire->payloads.items[record];
    const ig_onnx_chunk *chunks = payload->count ? wire->chunks.items + payload->first
                                                 : NULL;
    if (ig_onnx_is_external(tensor) && payload->count > 0) {
        return ig_onnx_complain(about, IG_INVALID, "is external, but holds %s too",
                                field_name(chunks[0].field));
    }
    if (payload->count == 0) {
        if (form->count > 0 && !ig_onnx_is_external(tensor)) {
            return ig_onnx_complain(about, IG_INVALID, "holds no data");
        }
        *out_bytes = "";
        return IG_OK;
    }
    IG_TRY(check_single_field(about, chunks, payload->count));
    if (chunks[0].field == RAW_DATA && form->dtype == IG_DT_str) {
        return ig_onnx_complain(about, IG_INVALID, "holds strings as raw_data");
    }
    if (chunks[0].field == RAW_DATA) {
        return take_raw(about, arena, &chunks[0], form, out_bytes);
    }
    if (chunks[0].field != typed_field(form->dtype)) {
        return ig_onnx_complain(about, IG_INVALID, "is %s, but its payload is in %s",
                                ig_dtypes[form->dtype].name,
                                field_name(chunks[0].field));
    }
    return form->dtype == IG_DT_str
               ? take_texts(about, arena, chunks, payload->count, form, out_bytes)
               : take_typed(about, arena, chunks, payload->count, form, out_bytes);
}
