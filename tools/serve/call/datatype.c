/* Element types: one table.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/call/datatype.h"

#include <string.h>

static const struct {
    ig_dtype_code dtype;
    const char *name, *config_name;
    int config_id;
    size_t size;
} rows[] = {
    { IG_F32, "FP32", "TYPE_FP32", 11, 4 },
    { IG_I64, "INT64", "TYPE_INT64", 9, 8 },
    { IG_I32, "INT32", "TYPE_INT32", 8, 4 },
    { IG_BOOL8, "BOOL", "TYPE_BOOL", 1, 1 },
    { IG_U8, "UINT8", "TYPE_UINT8", 2, 1 },
    { IG_U16, "UINT16", "TYPE_UINT16", 3, 2 },
    { IG_U32, "UINT32", "TYPE_UINT32", 4, 4 },
    { IG_U64, "UINT64", "TYPE_UINT64", 5, 8 },
    { IG_I8, "INT8", "TYPE_INT8", 6, 1 },
    { IG_I16, "INT16", "TYPE_INT16", 7, 2 },
    { IG_F16, "FP16", "TYPE_FP16", 10, 2 },
    { IG_F64, "FP64", "TYPE_FP64", 12, 8 },
    { IG_STR8, "BYTES", "TYPE_STRING", 13, 0 },
    { IG_BF16, "BF16", "TYPE_BF16", 14, 2 },
};
enum { ROWS = sizeof rows / sizeof *rows };

static size_t find_row(ig_dtype_code dtype) {
    size_t row = 0;
    while (row < ROWS && rows[row].dtype != dtype) {
        row++;
    }
    return row;
}

const char *datatype_name(ig_dtype_code dtype) {
    size_t row = find_row(dtype);
    return row < ROWS ? rows[row].name : NULL;
}

ig_dtype_code datatype_find(const char *name) {
    for (size_t row = 0; row < ROWS; row++) {
        if (strcmp(rows[row].name, name) == 0) {
            return rows[row].dtype;
        }
    }
    return (ig_dtype_code)0;
}

ig_dtype_code datatype_find_config(const char *name) {
    for (size_t row = 0; row < ROWS; row++) {
        if (strcmp(rows[row].config_name, name) == 0) {
            return rows[row].dtype;
        }
    }
    return (ig_dtype_code)0;
}

int datatype_config_id(ig_dtype_code dtype) {
    size_t row = find_row(dtype);
    return row < ROWS ? rows[row].config_id : 0;
}

const char *datatype_config_name(ig_dtype_code dtype) {
    size_t row = find_row(dtype);
    return row < ROWS ? rows[row].config_name : NULL;
}

size_t datatype_size(ig_dtype_code dtype) {
    size_t row = find_row(dtype);
    return row < ROWS ? rows[row].size : 0;
}

uint8_t *text_put(uint8_t *out, const void *data, size_t size) {
    for (int k = 0; k < TEXT_HEAD; k++) {
        *out++ = (uint8_t)(size >> 8 * k);
    }
    if (size) {
        memcpy(out, data, size);
    }
    return out + size;
}

const uint8_t *text_at(const uint8_t *at, const uint8_t *end, uint32_t *out_size) {
    size_t left = (size_t)(end - at);
    uint32_t size = 0;
    for (int k = 0; k < TEXT_HEAD && left >= TEXT_HEAD; k++) {
        size |= (uint32_t)at[k] << 8 * k;
    }
    *out_size = size;
    return left >= TEXT_HEAD && size <= left - TEXT_HEAD ? at + TEXT_HEAD : NULL;
}
