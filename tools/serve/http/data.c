/* Elements as JSON.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/http/data.h"

#include "tools/serve/call/datatype.h"

#include <float.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

/* Whole numbers of each type that has a text. */
static const struct {
    ig_dtype_code dtype;
    int64_t min, max;
} ranges[] = {
    { IG_BOOL8, 0, 1 },
    { IG_U8, 0, UINT8_MAX },
    { IG_U16, 0, UINT16_MAX },
    { IG_U32, 0, UINT32_MAX },
    { IG_I8, INT8_MIN, INT8_MAX },
    { IG_I16, INT16_MIN, INT16_MAX },
    { IG_I32, INT32_MIN, INT32_MAX },
    { IG_I64, INT64_MIN, INT64_MAX },
    { IG_U64, 0, INT64_MAX },
};

typedef struct reading {
    request *of;
    const tensor *to;
    uint8_t *at, *end;
} reading;

static bool refuse_element(const reading *now) {
    return request_fail(now->of, CALL_INVALID,
                        "input '%.100s': an element of its data is not %s",
                        now->to->name, datatype_name(now->to->dtype));
}

static bool read_real_element(reading *now, const json_t *from) {
    double value = json_number_value(from);
    float narrow = (float)value;
    if (!json_is_number(from) ||
        (now->to->dtype == IG_F32 && isfinite(value) && !isfinite(narrow))) {
        return refuse_element(now);
    }
    if (now->to->dtype == IG_F32) {
        memcpy(now->at, &narrow, sizeof narrow);
    } else {
        memcpy(now->at, &value, sizeof value);
    }
    return true;
}

static bool read_whole_element(reading *now, const json_t *from) {
    int64_t value = json_is_true(from) ? 1 : json_integer_value(from);
    size_t row = 0;
    while (ranges[row].dtype != now->to->dtype) {
        row++; /* each type that is neither a real number nor a text has one */
    }
    bool is_good = now->to->dtype == IG_BOOL8
                       ? json_is_boolean(from) || json_is_integer(from)
                       : json_is_integer(from);
    if (!is_good || value < ranges[row].min || value > ranges[row].max) {
        return refuse_element(now);
    }
    memcpy(now->at, &value,
           datatype_size(now->to->dtype)); /* x86-64: low bytes first */
    return true;
}

static bool read_text_element(reading *now, const json_t *from) {
    size_t length = json_string_length(from);
    if (!json_is_string(from)) {
        return refuse_element(now);
    }
    now->at = text_put(now->at, json_string_value(from), length);
    return true;
}

static bool read_element(reading *now, const json_t *from) {
    ig_dtype_code dtype = now->to->dtype;
    if (dtype == IG_STR8) {
        return read_text_element(now, from);
    }
    if (now->at == now->end) {
        return request_fail(now->of, CALL_INVALID,
                            "input '%.100s': more data than its "
                            "shape has elements",
                            now->to->name);
    }
    bool is_real = dtype == IG_F32 || dtype == IG_F64;
    if (!(is_real ? read_real_element(now, from) : read_whole_element(now, from))) {
        return false;
    }
    now->at += datatype_size(dtype);
    return true;
}

/* Lists in lists, at most as deep as a shape has extents. */
static bool read_list(reading *now, const json_t *from, uint32_t depth) {
    for (size_t i = 0; i < json_array_size(from); i++) {
        const json_t *item = json_array_get(from, i);
        if (json_is_array(item) && depth == 0) {
            return refuse_element(now);
        }
        if (!(json_is_array(item) ? read_list(now, item, depth - 1)
                                  : read_element(now, item))) {
            return false;
        }
    }
    return true;
}

/* Bytes that all texts of a list take with their lengths. */
static size_t measure_texts(const json_t *from, uint32_t depth) {
    size_t size = 0;
    for (size_t i = 0; i < json_array_size(from); i++) {
        const json_t *item = json_array_get(from, i);
        size += json_is_array(item) ? depth ? measure_texts(item, depth - 1) : 0
                                    : TEXT_HEAD + json_string_length(item);
    }
    return size;
}

bool data_read(request *of, const json_t *from, tensor *to) {
    int64_t count = count_elements(to->dims, to->rank);
    if (!data_has_text(to->dtype)) {
        return request_fail(
            of, CALL_INVALID,
            "input '%.100s' is %s, which goes after the JSON only (binary_data_size)",
            to->name, datatype_name(to->dtype));
    }
    if (!json_is_array(from) || count < 0) {
        return request_fail(of, CALL_INVALID, "input '%.100s': %s", to->name,
                            count < 0 ? "its shape has too many elements"
                                      : "data is not a list");
    }
    size_t size = to->dtype == IG_STR8 ? measure_texts(from, IG_MAX_RANK)
                                       : (size_t)count * datatype_size(to->dtype);
    /* A list has at least a byte an element, so this does not fail for what fits. */
    uint8_t *data = (uint64_t)count > SIZE_MAX / 16 ? NULL
                                                    : pool_take(&of->memory, size);
    if (!data) {
        return request_fail(of, CALL_FULL, "memory for input '%.100s' ran out",
                            to->name);
    }
    reading now = { .of = of, .to = to, .at = data, .end = data + size };
    if (!read_list(&now, from, IG_MAX_RANK)) {
        return false;
    }
    if (now.at != now.end) {
        return request_fail(of, CALL_INVALID,
                            "input '%.100s': less data than its shape has "
                            "elements",
                            to->name);
    }
    to->data = data;
    to->size = size;
    return true;
}

bool data_has_text(ig_dtype_code dtype) {
    return dtype != IG_F16 && dtype != IG_BF16;
}

/* ---- writing ---- */

static void write_whole(bytes *to, const uint8_t *from, ig_dtype_code dtype) {
    size_t size = datatype_size(dtype);
    uint64_t value = 0;
    memcpy(&value, from, size);
    if (dtype == IG_BOOL8) {
        put_text(to, value ? "true" : "false");
    } else if (dtype == IG_I8 || dtype == IG_I16 || dtype == IG_I32 ||
               dtype == IG_I64) {
        int64_t wide = (int64_t)(value << (64 - 8 * size)) >> (64 - 8 * size);
        put_format(to, "%lld", (long long)wide);
    } else {
        put_format(to, "%llu", (unsigned long long)value);
    }
}

static const uint8_t *write_element(bytes *to, const uint8_t *from,
                                    ig_dtype_code dtype) {
    if (dtype == IG_STR8) {
        uint32_t length;
        memcpy(&length, from, sizeof length);
        put_string(to, (const char *)from + 4, length);
        return from + 4 + length;
    }
    if (dtype == IG_F32) {
        float value;
        memcpy(&value, from, sizeof value);
        put_real(to, (double)value, FLT_DECIMAL_DIG);
    } else if (dtype == IG_F64) {
        double value;
        memcpy(&value, from, sizeof value);
        put_real(to, value, DBL_DECIMAL_DIG);
    } else {
        write_whole(to, from, dtype);
    }
    return from + datatype_size(dtype);
}

void data_write(bytes *to, const tensor *from) {
    const uint8_t *at = from->data, *end = from->data + from->size;
    put_text(to, "[");
    while (at < end) {
        if (at > from->data) {
            put_text(to, ",");
        }
        at = write_element(to, at, from->dtype);
    }
    put_text(to, "]");
}
