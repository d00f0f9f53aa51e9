/* Values as people write them: "f32[2,3]=1,2,3,4,5,6", generators, JSON.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/values/argument.h"

#include "base/checked.h"
#include "ir/tensor/span.h"

#include <assert.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct value_text {
    ig_context *context;
    ig_arena *arena;
    const char *text; /* for messages */
    ig_str content;
    ig_dtype dtype;
    uint32_t rank;
    int64_t dims[IG_TENSOR_RANK];
} value_text;

static ig_status report_value(const value_text *v, const char *what) {
    return ig_error_hint(
        &v->context->diag, IG_INVALID, NULL,
        "a value is @FILE, f32[2,3]=1,2,3,4,5,6, f32[8,13]=random, i64[4]=0 or JSON; a "
        "list is [VALUE, …] with values in JSON or in quotes",
        "'%.60s' %s", v->text, what);
}

/* ---- the type in front ---- */

/* "f32[2,3]=": true and the rest in v->content when the text begins so. */
static bool read_type(value_text *v) {
    const char *bracket = strchr(v->text, '[');
    if (!bracket ||
        !ig_dtype_parse((ig_str){ v->text, (size_t)(bracket - v->text) }, &v->dtype)) {
        return false;
    }
    const char *at = bracket + 1;
    while (*at && *at != ']') {
        size_t length = strcspn(at, ",]");
        while (length && at[0] == ' ') {
            at++, length--;
        }
        bool is_full = v->rank == IG_TENSOR_RANK;
        if (is_full || !ig_str_to_i64((ig_str){ at, length }, &v->dims[v->rank]) ||
            v->dims[v->rank++] < 0) {
            return false;
        }
        at += length + (at[length] == ',');
    }
    if (at[0] != ']' || at[1] != '=') {
        return false;
    }
    v->content = ig_str_of(at + 2);
    return true;
}

/* ---- generators ---- */

/* splitmix64: the same numbers on every machine. */
static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* "LOW:HIGH" after the word; false for anything else. */
static bool read_range(ig_str text, double *low, double *high) {
    if (text.size == 0) {
        return true;
    }
    const char *colon = memchr(text.data + 1, ':', text.size - 1);
    if (text.data[0] != ':' || !colon) {
        return false;
    }
    ig_str first = { text.data + 1, (size_t)(colon - text.data) - 1 };
    ig_str second = { colon + 1, text.size - first.size - 2 };
    return ig_str_to_f64(first, low) && ig_str_to_f64(second, high) && *low <= *high;
}

/* Does the type hold the number, rounded or cut to it?  It is at `index`. */
static bool is_held(const ig_tensor *out, int64_t index, double value) {
    const ig_dtype_info *info = &ig_dtypes[out->dtype];
    if (ig_dtype_is_float(out->dtype)) {
        return !isfinite(value) || isfinite(ig_tensor_get_f64(out, index));
    }
    double limit = ldexp(1, info->bits - (info->class == IG_SINT));
    double min = info->class == IG_SINT ? -limit : 0, whole = trunc(value);
    return !ig_dtype_is_int(out->dtype) || (whole >= min && whole < limit);
}

static ig_status report_range(const value_text *v, double value) {
    return ig_error(&v->context->diag, IG_INVALID, NULL,
                    "'%.60s': %.17g is out of the range of %s", v->text, value,
                    ig_dtypes[v->dtype].name);
}

/* As a text, where texts are wanted. */
static ig_status set_generated(const value_text *v, ig_tensor *out, int64_t index,
                               double value) {
    if (out->dtype == IG_DT_str) {
        ((const char **)out->data)[index] = ig_arena_printf(v->arena, "%.17g", value);
        return IG_OK;
    }
    ig_tensor_set_f64(out, index, value);
    return is_held(out, index, value) ? IG_OK : report_range(v, value);
}

static ig_status fill_random(const value_text *v, ig_str range, ig_tensor *out) {
    bool is_real = ig_dtype_is_float(v->dtype);
    double low = 0, high = is_real ? 1 : 2;
    if (!read_range(range, &low, &high)) {
        return report_value(v, "has no range LOW:HIGH after random");
    }
    uint64_t state = ig_hash_bytes(out->dims, sizeof out->dims, 1);
    for (int64_t i = 0; i < out->count; i++) {
        double unit = (double)(next_random(&state) >> 11) * 0x1p-53;
        double value = low + unit * (high - low);
        IG_TRY(set_generated(v, out, i, is_real ? value : floor(value)));
    }
    return IG_OK;
}

/* 0, 1, 2 … or 0, STEP, 2 STEP … */
static ig_status fill_iota(const value_text *v, ig_str step, ig_tensor *out) {
    double by = 1;
    if (step.size && (step.data[0] != ':' ||
                      !ig_str_to_f64((ig_str){ step.data + 1, step.size - 1 }, &by))) {
        return report_value(v, "has no step after iota");
    }
    for (int64_t i = 0; i < out->count; i++) {
        IG_TRY(set_generated(v, out, i, (double)i * by));
    }
    return IG_OK;
}

/* ---- bags ---- */

/* Where bag number `index` of `bags` begins that share `total` items: a place drawn
 * from its even part of them, so that places ascend.  The last bag ends with the
 * items. */
static double begin_of_bag(uint64_t *state, int64_t index, int64_t bags, double total) {
    double unit = (double)(next_random(state) >> 11) * 0x1p-53;
    double position = floor(total * (((double)index + unit) / (double)bags));
    return index == 0 ? 0 : index < bags ? fmin(position, total) : total;
}

/* Reads ":TOTAL". */
static ig_status read_total(const value_text *v, ig_str text, double *out_total) {
    bool is_number = text.size > 1 && text.data[0] == ':' &&
                     ig_str_to_f64((ig_str){ text.data + 1, text.size - 1 }, out_total);
    return is_number && *out_total >= 0 && *out_total == floor(*out_total) &&
                   *out_total <= 0x1p53
               ? IG_OK
               : report_value(v, "has no count of items after it, as in offsets:640");
}

static ig_status fill_positions(const value_text *v, ig_str text, int64_t bags,
                                ig_tensor *out) {
    double total;
    IG_TRY(read_total(v, text, &total));
    uint64_t state = ig_hash_bytes(out->dims, sizeof out->dims, 2);
    for (int64_t i = 0; i < out->count; i++) {
        IG_TRY(set_generated(v, out, i, begin_of_bag(&state, i, bags, total)));
    }
    return IG_OK;
}

static ig_status fill_begins(const value_text *v, ig_str total, ig_tensor *out) {
    return fill_positions(v, total, out->count, out);
}

static ig_status fill_offsets(const value_text *v, ig_str total, ig_tensor *out) {
    return fill_positions(v, total, out->count - 1, out);
}

static ig_status fill_lengths(const value_text *v, ig_str text, ig_tensor *out) {
    double total, before = 0;
    IG_TRY(read_total(v, text, &total));
    uint64_t state = ig_hash_bytes(out->dims, sizeof out->dims, 2);
    for (int64_t i = 1; i <= out->count; i++) {
        double end = begin_of_bag(&state, i, out->count, total);
        IG_TRY(set_generated(v, out, i - 1, end - before));
        before = end;
    }
    return IG_OK;
}

/* ---- elements ---- */

static void set_text(const value_text *v, ig_tensor *out, int64_t index, ig_str text) {
    ((const char **)out->data)[index] = ig_arena_copy(v->arena, text.data, text.size);
}

/* An integer past those of 63 bits. */
static bool read_u64(ig_str text, uint64_t *out_value) {
    int64_t head;
    int digit = text.size > 1 ? text.data[text.size - 1] - '0' : -1;
    if (digit < 0 || digit > 9 ||
        !ig_str_to_i64((ig_str){ text.data, text.size - 1 }, &head) || head < 0 ||
        (uint64_t)head > (UINT64_MAX - (uint64_t)digit) / 10) {
        return false;
    }
    *out_value = (uint64_t)head * 10 + (uint64_t)digit;
    return true;
}

static ig_status set_element(const value_text *v, ig_tensor *out, int64_t index,
                             ig_str text) {
    assert(index >= 0 && index < out->count && "the caller counts elements");
    if (out->dtype == IG_DT_str) {
        set_text(v, out, index, text);
        return IG_OK;
    }
    while (text.size && text.data[0] == ' ') {
        text = (ig_str){ text.data + 1, text.size - 1 };
    }
    int64_t whole = 0;
    uint64_t large;
    double real = 0;
    if (ig_str_is(text, "true") || ig_str_is(text, "false")) {
        ig_tensor_set_i64(out, index, text.data[0] == 't');
    } else if (!ig_dtype_is_float(out->dtype) && ig_str_to_i64(text, &whole)) {
        real = (double)whole;
        ig_tensor_set_i64(out, index, whole);
    } else if (out->dtype == IG_DT_u64 && read_u64(text, &large)) {
        ig_tensor_set_i64(out, index, (int64_t)large);
    } else if (ig_str_to_f64(text, &real)) {
        ig_tensor_set_f64(out, index, real);
    } else {
        return report_value(v, "holds a value that is not a number");
    }
    return is_held(out, index, real) || (whole == INT64_MAX && v->dtype == IG_DT_i64)
               ? IG_OK
               : report_range(v, real);
}

static void fill_with_first(ig_tensor *out) {
    for (int64_t i = 1; i < out->count; i++) {
        if (out->dtype == IG_DT_str) {
            ig_span_copy(out, i, out, 0, 1);
        } else if (ig_dtype_is_float(out->dtype)) {
            ig_tensor_set_f64(out, i, ig_tensor_get_f64(out, 0));
        } else {
            ig_tensor_set_i64(out, i, ig_tensor_get_i64(out, 0));
        }
    }
}

static ig_status read_numbers(const value_text *v, ig_tensor *out) {
    const char *at = v->content.data, *end = at + v->content.size;
    int64_t given = 0;
    while (at < end) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *stop = comma ? comma : end;
        if (given < out->count) {
            IG_TRY(set_element(v, out, given, (ig_str){ at, (size_t)(stop - at) }));
        }
        given++;
        at = stop + (comma != NULL);
    }
    if (given == 1 && out->count > 1) {
        fill_with_first(out);
    } else if (given != out->count && !(given == 1 && out->count == 0)) {
        return ig_error(&v->context->diag, IG_INVALID, NULL,
                        "'%.60s' gives %lld numbers for %lld elements", v->text,
                        (long long)given, (long long)out->count);
    }
    return IG_OK;
}

static ig_status read_typed(const value_text *v, ig_tensor *out) {
    IG_TRY(ig_tensor_alloc(v->arena, v->context, v->dtype, v->rank, v->dims, out));
    static const struct {
        const char *word;
        ig_status (*fill)(const value_text *v, ig_str rest, ig_tensor *out);
    } generators[] = { { "random", fill_random },
                       { "iota", fill_iota },
                       { "begins", fill_begins },
                       { "offsets", fill_offsets },
                       { "lengths", fill_lengths } };
    for (size_t i = 0; i < IG_COUNT_OF(generators); i++) {
        size_t length = strlen(generators[i].word);
        if (ig_str_starts(v->content, generators[i].word)) {
            ig_str rest = { v->content.data + length, v->content.size - length };
            return generators[i].fill(v, rest, out);
        }
    }
    return read_numbers(v, out);
}

/* ---- JSON ---- */

/* Extents by the first element at each level; then every level must agree. */
static ig_status measure_json(value_text *v, const json_t *json, ig_dtype *out_dtype) {
    v->rank = 0;
    while (json_is_array(json)) {
        if (v->rank == IG_TENSOR_RANK) {
            return report_value(v, "is nested too deep");
        }
        v->dims[v->rank++] = (int64_t)json_array_size(json);
        json = json_array_get(json, 0);
    }
    *out_dtype = json_is_string(json) ? IG_DT_str
                 : json_is_real(json) ? IG_DT_f32
                                      : IG_DT_i64;
    return IG_OK;
}

static ig_status take_json(const value_text *v, const json_t *json, uint32_t depth,
                           ig_tensor *out, int64_t *index) {
    assert(depth <= v->rank && "measure_json counted the levels");
    if (depth < v->rank) {
        if (!json_is_array(json) || (int64_t)json_array_size(json) != v->dims[depth]) {
            return report_value(v, "is not rectangular");
        }
        for (size_t i = 0; i < json_array_size(json); i++) {
            IG_TRY(take_json(v, json_array_get(json, i), depth + 1, out, index));
        }
        return IG_OK;
    }
    assert(*index < out->count &&
           "levels agree, so there are no more numbers than elements");
    if (out->dtype == IG_DT_str && json_is_string(json)) {
        set_text(v, out, *index, ig_str_of(json_string_value(json)));
    } else if (out->dtype == IG_DT_str) {
        return report_value(v, "holds a value that is not a string");
    } else if (json_is_integer(json) && !ig_dtype_is_float(out->dtype)) {
        ig_tensor_set_i64(out, *index, json_integer_value(json));
    } else if (json_is_number(json)) {
        ig_tensor_set_f64(out, *index, json_number_value(json));
    } else if (json_is_boolean(json)) {
        ig_tensor_set_i64(out, *index, json_is_true(json));
    } else {
        return report_value(v, "holds a value that is not a number");
    }
    ++*index;
    return IG_OK;
}

static ig_status json_to_tensor(value_text *v, const json_t *json, bool is_typed,
                                ig_tensor *out) {
    ig_dtype dtype = IG_DT_i64;
    int64_t index = 0;
    IG_TRY(measure_json(v, json, &dtype));
    if (!is_typed) {
        v->dtype = dtype;
    }
    IG_TRY(ig_tensor_alloc(v->arena, v->context, v->dtype, v->rank, v->dims, out));
    return take_json(v, json, 0, out, &index);
}

/* jansson may leave out values for lack of memory, or call the text wrong: errno, which
 * is cleared before, tells. */
static ig_status report_json(const value_text *v, const char *what) {
    return errno == ENOMEM ? ig_error(&v->context->diag, IG_LIMIT, NULL,
                                      "no memory for '%.60s'", v->text)
                           : report_value(v, what);
}

/* jansson stays on malloc: nothing between load and decref unwinds. */
static ig_status read_json(value_text *v, const char *type, ig_tensor *out) {
    ig_kind kind;
    bool is_typed = ig_declared_type(type, &kind, &v->dtype);
    json_error_t error;
    errno = 0;
    json_t *json = json_loads(v->text, JSON_DECODE_ANY, &error);
    if (!json || errno == ENOMEM) {
        json_decref(json);
        return report_json(v, "is not a value");
    }
    ig_status status = json_to_tensor(v, json, is_typed, out);
    json_decref(json);
    return status;
}

/* ---- lists ---- */

/* A text in quotes as it is, anything else as JSON; NULL: no memory. */
static const char *text_of_item(ig_arena *arena, const json_t *item) {
    char *dumped = json_is_string(item) ? NULL : json_dumps(item, JSON_ENCODE_ANY);
    const char *text = json_is_string(item) ? json_string_value(item) : dumped;
    size_t size = text ? strlen(text) + 1 : 0;
    char *copy = size ? ig_arena_try_alloc(arena, size) : NULL;
    if (copy) {
        memcpy(copy, text, size);
    }
    free(dumped);
    return copy;
}

static ig_status take_items(const value_text *v, const json_t *json,
                            const char *const **out_items, size_t *out_count) {
    if (!json_is_array(json) && !json_is_null(json)) {
        return report_value(v, "is not a list");
    }
    size_t count = json_array_size(json);
    const char **items = ig_arena_try_alloc(v->arena, (count + 1) * sizeof *items);
    bool is_good = items != NULL;
    for (size_t i = 0; i < count && is_good; i++) {
        items[i] = text_of_item(v->arena, json_array_get(json, i));
        is_good = items[i] != NULL;
    }
    *out_items = items;
    *out_count = count;
    return is_good
               ? IG_OK
               : ig_error(&v->context->diag, IG_LIMIT, NULL, "no memory for a list");
}

ig_status ig_argument_split(ig_context *context, ig_arena *arena, const char *text,
                            const char *const **out_items, size_t *out_count) {
    value_text v = { .context = context, .arena = arena, .text = text };
    json_error_t error;
    errno = 0;
    json_t *json = json_loads(text, JSON_DECODE_ANY, &error);
    if (!json || errno == ENOMEM) {
        json_decref(json);
        return report_json(&v, "is not a list");
    }
    ig_status status = take_items(&v, json, out_items, out_count);
    json_decref(json);
    return status;
}

ig_status ig_argument_parse(ig_context *context, ig_arena *arena, const char *text,
                            const char *type, ig_tensor *out) {
    value_text v = { .context = context, .arena = arena, .text = text };
    return read_type(&v) ? read_typed(&v, out) : read_json(&v, type, out);
}
