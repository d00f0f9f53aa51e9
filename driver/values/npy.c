/* Arrays in numpy's .npy format.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     \x93NUMPY  major  minor  header length  header  data
 *
 * The header is a Python dict literal of three keys: descr ('<f4'), fortran_order,
 * shape.  Either byte order and either order of axes is read; row-major little-endian
 * is written.  Texts are in npy_text.c.
 */
#include "driver/values/argument.h"
#include "driver/values/npy_text.h"

#include "base/checked.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define MAGIC "\x93NUMPY"

typedef struct npy_dtype {
    const char *name; /* kind and bytes */
    ig_dtype dtype;
} npy_dtype;

static const npy_dtype npy_dtypes[] = {
    { "b1", IG_DT_bool }, { "i1", IG_DT_i8 },  { "i2", IG_DT_i16 },
    { "i4", IG_DT_i32 },  { "i8", IG_DT_i64 }, { "u1", IG_DT_u8 },
    { "u2", IG_DT_u16 },  { "u4", IG_DT_u32 }, { "u8", IG_DT_u64 },
    { "f2", IG_DT_f16 },  { "f4", IG_DT_f32 }, { "f8", IG_DT_f64 },
    { "V2", IG_DT_bf16 }, { "c8", IG_DT_f32 }, { "c16", IG_DT_f64 },
};

typedef struct npy_reader {
    ig_context *context;
    ig_location where;
    ig_str header; /* the rest of it */
    ig_dtype wanted, dtype;
    ig_npy_texts texts; /* where dtype is str */
    bool is_fortran, is_swapped, is_complex;
    uint32_t rank;
    int64_t dims[IG_TENSOR_RANK];
    unsigned seen; /* bits: descr, fortran_order, shape */
} npy_reader;

static ig_status report_damage(const npy_reader *r, const char *what) {
    return ig_error(&r->context->diag, IG_INVALID, &r->where, "not a .npy file: %s",
                    what);
}

/* ---- the header's text ---- */

static void skip_bytes(npy_reader *r, size_t count) {
    assert(count <= r->header.size && "only bytes that were read are skipped");
    r->header.data += count;
    r->header.size -= count;
}

static void skip_blanks(npy_reader *r) {
    while (r->header.size && strchr(" \t\n", r->header.data[0])) {
        skip_bytes(r, 1);
    }
}

static bool accept_word(npy_reader *r, const char *word) {
    skip_blanks(r);
    if (!ig_str_starts(r->header, word)) {
        return false;
    }
    skip_bytes(r, strlen(word));
    return true;
}

static bool read_string(npy_reader *r, ig_str *out) {
    skip_blanks(r);
    if (r->header.size < 2 || !strchr("'\"", r->header.data[0])) {
        return false;
    }
    const char *end = memchr(r->header.data + 1, r->header.data[0], r->header.size - 1);
    if (!end) {
        return false;
    }
    *out = (ig_str){ r->header.data + 1, (size_t)(end - r->header.data) - 1 };
    skip_bytes(r, out->size + 2);
    return true;
}

/* "<f4": byte order, then kind and bytes. */
static ig_status read_descr(npy_reader *r) {
    ig_str text;
    if (!read_string(r, &text) || text.size < 2) {
        return ig_error(&r->context->diag, IG_UNSUPPORTED, &r->where,
                        "only arrays of numbers and texts can be read");
    }
    ig_str name = text;
    if (strchr("<>|=", text.data[0])) {
        name = (ig_str){ text.data + 1, text.size - 1 };
        r->is_swapped = text.data[0] == '>';
    }
    for (size_t i = 0; i < IG_COUNT_OF(npy_dtypes); i++) {
        if (ig_str_is(name, npy_dtypes[i].name)) {
            r->dtype = npy_dtypes[i].dtype;
            r->is_complex = name.data[0] ==
                            'c'; /* two per element: a last extent of 2 */
            return IG_OK;
        }
    }
    if (ig_npy_parse_texts(name, &r->texts)) {
        r->dtype = IG_DT_str;
        return IG_OK;
    }
    if (ig_str_is(name, "O")) {
        return ig_error(&r->context->diag, IG_UNSUPPORTED, &r->where,
                        "arrays of Python's objects cannot be read: save texts with "
                        "dtype=str");
    }
    if (ig_str_is(name, "V1") && r->wanted != IG_DT_COUNT &&
        ig_dtypes[r->wanted].bits == 8) {
        r->dtype = r->wanted;
        return IG_OK;
    }
    return ig_error(&r->context->diag, IG_UNSUPPORTED, &r->where,
                    "arrays of dtype '%.*s' cannot be read", IG_STR_ARG(text));
}

static ig_status read_shape(npy_reader *r) {
    if (!accept_word(r, "(")) {
        return report_damage(r, "its shape is not a tuple");
    }
    while (!accept_word(r, ")")) {
        size_t length = 0;
        while (length < r->header.size &&
               strchr("0123456789", r->header.data[length])) {
            length++;
        }
        if (r->rank == IG_TENSOR_RANK) {
            return ig_error(&r->context->diag, IG_LIMIT, &r->where, "rank is above %d",
                            IG_TENSOR_RANK);
        }
        ig_str number = { r->header.data, length };
        if (!ig_str_to_i64(number, &r->dims[r->rank++])) {
            return report_damage(r, "its shape is not made of numbers");
        }
        skip_bytes(r, length);
        accept_word(r, "L"); /* long integers of Python 2 */
        accept_word(r, ",");
    }
    return IG_OK;
}

static ig_status read_key(npy_reader *r) {
    ig_str key;
    if (!read_string(r, &key) || !accept_word(r, ":")) {
        return report_damage(r, "its header is damaged");
    }
    if (ig_str_is(key, "descr")) {
        r->seen |= 1;
        return read_descr(r);
    }
    if (ig_str_is(key, "shape")) {
        r->seen |= 2;
        return r->rank ? report_damage(r, "it has two shapes") : read_shape(r);
    }
    r->is_fortran = accept_word(r, "True");
    if (!ig_str_is(key, "fortran_order") ||
        (!r->is_fortran && !accept_word(r, "False"))) {
        return report_damage(r, "its header holds an unknown key");
    }
    r->seen |= 4;
    return IG_OK;
}

static ig_status read_header(npy_reader *r) {
    if (!accept_word(r, "{")) {
        return report_damage(r, "its header is not a dict");
    }
    while (!accept_word(r, "}")) {
        IG_TRY(read_key(r));
        accept_word(r, ",");
    }
    return r->seen == 7 ? IG_OK : report_damage(r, "its header lacks a key");
}

/* Real and imaginary part become an extent. */
static ig_status split_complex(npy_reader *r) {
    if (!r->is_complex) {
        return IG_OK;
    }
    if (r->is_fortran || r->rank == IG_TENSOR_RANK) {
        return ig_error(&r->context->diag, IG_UNSUPPORTED, &r->where,
                        "complex arrays are read in row-major order, up to rank %d",
                        IG_TENSOR_RANK - 1);
    }
    r->dims[r->rank++] = 2;
    return IG_OK;
}

/* ---- the data ---- */

static void swap_bytes(char *data, size_t count, size_t width) {
    assert(width > 0 && "numpy has no dtype below a byte");
    for (size_t i = 0; i < count; i++) {
        for (size_t a = 0, b = width - 1; a < b; a++, b--) {
            char byte = data[i * width + a];
            data[i * width + a] = data[i * width + b];
            data[i * width + b] = byte;
        }
    }
}

/* Column-major to row-major, element by element. */
static void take_fortran(const npy_reader *r, const char *from, char *to,
                         size_t width) {
    assert(r->rank <= IG_TENSOR_RANK && "read_shape checked the rank");
    int64_t at[IG_TENSOR_RANK] = { 0 }, strides[IG_TENSOR_RANK], step = 1, count = 1;
    for (uint32_t d = 0; d < r->rank; d++) {
        strides[d] = step;
        step *= r->dims[d];
        count *= r->dims[d];
    }
    for (int64_t i = 0; i < count; i++) {
        int64_t offset = 0;
        for (uint32_t d = 0; d < r->rank; d++) {
            offset += at[d] * strides[d];
        }
        memcpy(to + (size_t)i * width, from + (size_t)offset * width, width);
        for (uint32_t d = r->rank; d-- > 0 && ++at[d] == r->dims[d];) {
            at[d] = 0;
        }
    }
}

/* The elements as in the file, in row-major order and with the bytes of
 * each unit (an element or a character) little-endian. */
static void take_elements(const npy_reader *r, ig_str data, char *to, size_t width,
                          size_t unit) {
    if (r->is_fortran) {
        take_fortran(r, data.data, to, width);
    } else if (data.size) {
        memcpy(to, data.data, data.size);
    }
    if (r->is_swapped) {
        swap_bytes(to, data.size / unit, unit);
    }
}

static ig_status read_texts(npy_reader *r, ig_arena *arena, ig_str data,
                            ig_tensor *out) {
    IG_TRY(ig_tensor_alloc(arena, r->context, IG_DT_str, r->rank, r->dims, out));
    char *rows = ig_arena_alloc(arena, data.size);
    size_t unit = ig_npy_character(&r->texts);
    take_elements(r, data, rows, unit * r->texts.characters, unit);
    const char *why = ig_npy_take_texts(&r->texts, rows, arena, out);
    return why ? ig_error(&r->context->diag, IG_INVALID, &r->where, "it holds %s", why)
               : IG_OK;
}

/* False where the size of the data is another than the shape's. */
static bool is_whole(const npy_reader *r, ig_str data) {
    int64_t count = 1, bytes = 0;
    bool fits = true;
    for (uint32_t d = 0; d < r->rank; d++) {
        fits = fits && ig_mul_i64(count, r->dims[d], &count);
    }
    if (r->dtype == IG_DT_str) {
        int64_t width = (int64_t)(r->texts.characters * ig_npy_character(&r->texts));
        fits = fits && ig_mul_i64(count, width, &bytes);
    } else {
        fits = fits && ig_dtype_bytes(r->dtype, count, &bytes);
    }
    return fits && (uint64_t)bytes == data.size;
}

static ig_status read_data(npy_reader *r, ig_arena *arena, ig_str data,
                           ig_tensor *out) {
    if (r->wanted != IG_DT_COUNT && !ig_dtype_is_float(r->dtype) &&
        ig_dtype_is_float(r->wanted) && ig_dtypes[r->wanted].bits <= 16 &&
        ig_dtypes[r->wanted].bits == ig_dtypes[r->dtype].bits) {
        r->dtype = r->wanted; /* bits of a float that numpy has no name for */
    }
    if (!is_whole(r, data)) {
        return report_damage(r, "its data is not as long as its shape says");
    }
    if (r->dtype == IG_DT_str) {
        return read_texts(r, arena, data, out);
    }
    IG_TRY(ig_tensor_alloc(arena, r->context, r->dtype, r->rank, r->dims, out));
    size_t width = ig_dtypes[r->dtype].bits / 8;
    take_elements(r, data, out->data, width, width);
    return IG_OK;
}

ig_status ig_npy_read(ig_context *context, ig_arena *arena, const char *file,
                      ig_str bytes, ig_dtype wanted, ig_tensor *out) {
    npy_reader r = { .context = context, .where = { .file = file }, .wanted = wanted };
    const uint8_t *at = (const uint8_t *)bytes.data;
    if (bytes.size < 10 || memcmp(at, MAGIC, 6) != 0) {
        return report_damage(&r, "it begins with other bytes");
    }
    bool is_long = at[6] >= 2;
    size_t begin = is_long ? 12 : 10;
    if (at[6] > 3 || bytes.size < begin) {
        return report_damage(&r, "it is of an unknown version, or cut off");
    }
    size_t length = (size_t)at[8] | (size_t)at[9] << 8;
    length |= is_long ? (size_t)at[10] << 16 | (size_t)at[11] << 24 : 0;
    if (length > bytes.size - begin) {
        return report_damage(&r, "its header is cut off");
    }
    r.header = (ig_str){ bytes.data + begin, length };
    IG_TRY(read_header(&r));
    IG_TRY(split_complex(&r));
    ig_str data = { bytes.data + begin + length, bytes.size - begin - length };
    return read_data(&r, arena, data, out);
}

/* ---- writing ---- */

static const char *npy_name(ig_dtype dtype) {
    for (size_t i = 0; i < IG_COUNT_OF(npy_dtypes); i++) {
        if (npy_dtypes[i].dtype == dtype) {
            return npy_dtypes[i].name;
        }
    }
    return ig_dtypes[dtype].bits == 8 ? "V1" : NULL;
}

static void put_header(const ig_tensor *tensor, const char *name, ig_writer *out) {
    assert(out->size == 0 && "the header is aligned from the start of the writer");
    ig_put_bytes(out, MAGIC "\1\0\0\0", 10);
    ig_put(out, "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
           ig_dtypes[tensor->dtype].bits == 8 ? '|' : '<', name);
    for (uint32_t d = 0; d < tensor->rank; d++) {
        ig_put(out, "%lld,%s", (long long)tensor->dims[d],
               d + 1 < tensor->rank ? " " : "");
    }
    ig_put(out, "), }");
    while ((out->size + 1) % 64) {
        ig_put_char(out, ' ');
    }
    ig_put_char(out, '\n');
    size_t header = out->size - 10;
    assert(header <= UINT16_MAX && "version 1 has headers of 16 bits; ranks are small");
    out->data[8] = (char)(header & 255);
    out->data[9] = (char)(header >> 8);
}

static ig_status write_texts(ig_context *context, const char *file,
                             const ig_tensor *tensor, ig_writer *out) {
    ig_npy_texts texts = ig_npy_measure_texts(tensor);
    char name[24];
    snprintf(name, sizeof name, "U%zu", texts.characters);
    put_header(tensor, name, out);
    if (!ig_npy_put_texts(&texts, tensor, out)) {
        ig_location where = { .file = file };
        return ig_error(&context->diag, IG_UNSUPPORTED, &where,
                        "numpy has no format for texts that are not UTF-8");
    }
    return IG_OK;
}

ig_status ig_npy_write(ig_context *context, const char *file, const ig_tensor *tensor,
                       ig_writer *out) {
    if (tensor->kind == IG_TENSOR && tensor->dtype == IG_DT_str) {
        return write_texts(context, file, tensor, out);
    }
    const char *name = tensor->kind == IG_TENSOR ? npy_name(tensor->dtype) : NULL;
    if (!name) {
        ig_location where = { .file = file };
        return ig_error(&context->diag, IG_UNSUPPORTED, &where,
                        "numpy has no format for %s",
                        tensor->kind == IG_TENSOR ? ig_dtypes[tensor->dtype].name
                                                  : "lists of arrays");
    }
    put_header(tensor, name, out);
    ig_put_bytes(out, tensor->data, (size_t)ig_tensor_bytes(tensor));
    return IG_OK;
}
