/* Values as text and as JSON.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/values/show.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SHOWN = 400 }; /* elements of one tensor in text */

char *type_text(const ig_argument *value) {
    if (value->kind != IG_ARGUMENT_TENSOR) {
        return text_of("list of %zu", value->item_count);
    }
    char dims[512] = "";
    size_t used = 0;
    for (uint32_t d = 0; d < value->rank && used < sizeof dims - 24; d++) {
        used += (size_t)snprintf(dims + used, sizeof dims - used, "%s%lld",
                                 d ? ", " : "", (long long)value->dims[d]);
    }
    return text_of("%s[%s]", value->dtype, dims);
}

/* ---- elements ---- */

static void whole_text(const ig_argument *tensor, size_t index, char *out,
                       size_t size) {
    if (strcmp(tensor->dtype, "i64") == 0) {
        snprintf(out, size, "%lld", (long long)((const int64_t *)tensor->data)[index]);
    } else if (strcmp(tensor->dtype, "u64") == 0) {
        snprintf(out, size, "%llu",
                 (unsigned long long)((const uint64_t *)tensor->data)[index]);
    } else {
        snprintf(out, size, "%.0f", ig_argument_number(tensor, index));
    }
}

void element_text(const ig_argument *tensor, size_t index, char *out, size_t size) {
    if (holds_texts(tensor->dtype)) {
        snprintf(out, size, "%s", element_text_at(tensor, index));
        return;
    }
    if (!is_real(tensor->dtype)) {
        whole_text(tensor, index, out, size);
        return;
    }
    bool is_double = strcmp(tensor->dtype, "f64") == 0;
    double value = ig_argument_number(tensor, index);
    for (int digits = is_double ? 15 : 6; digits <= 17; digits++) {
        snprintf(out, size, "%.*g", digits, value);
        double back = is_double ? strtod(out, NULL) : (double)strtof(out, NULL);
        if (back == value || isnan(value)) {
            return;
        }
    }
}

/* ---- text ---- */

static void show_element(const ig_argument *tensor, size_t index) {
    char text[64];
    if (holds_texts(tensor->dtype)) {
        put_json_text(stdout, element_text_at(tensor, index)); /* in quotes */
        return;
    }
    element_text(tensor, index, text, sizeof text);
    fputs(text, stdout);
}

static void show_rows(const ig_argument *tensor) {
    size_t count = element_count(tensor), shown = count < MAX_SHOWN ? count : MAX_SHOWN;
    size_t row = tensor->rank ? (size_t)tensor->dims[tensor->rank - 1] : 1;
    for (size_t i = 0; i < shown; i++) {
        bool ends = (i + 1) % row == 0 || i + 1 == shown;
        fputs(i % row == 0 ? "  " : " ", stdout);
        show_element(tensor, i);
        fputs(ends ? "\n" : "", stdout);
    }
    if (shown < count) {
        printf("  … and %zu more (--outputs writes all)\n", count - shown);
    }
}

static void show_value(const ig_argument *value, const char *name) {
    char *type = type_text(value);
    put_plain(stdout, name);
    printf(": %s\n", type);
    free(type);
    if (value->kind == IG_ARGUMENT_TENSOR) {
        show_rows(value);
        return;
    }
    for (size_t i = 0; i < value->item_count; i++) {
        if (value->items[i].kind == IG_ARGUMENT_TENSOR) {
            type = type_text(&value->items[i]);
            printf(" [%zu]: %s\n", i, type);
            free(type);
            show_rows(&value->items[i]);
        }
    }
}

void show_values(const ig_argument *values, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++) {
        show_value(&values[i], names[i]);
    }
}

/* ---- JSON ---- */

static void put_element(const ig_argument *tensor, size_t index) {
    char text[64];
    if (holds_texts(tensor->dtype)) {
        put_json_text(stdout, element_text_at(tensor, index));
        return;
    }
    element_text(tensor, index, text, sizeof text);
    bool is_number = !is_real(tensor->dtype) ||
                     isfinite(ig_argument_number(tensor, index));
    printf(is_number ? "%s" : "\"%s\"", text);
}

static void put_tensor(const ig_argument *tensor) {
    printf("\"dtype\": \"%s\", \"shape\": [", tensor->dtype);
    for (uint32_t d = 0; d < tensor->rank; d++) {
        printf("%s%lld", d ? ", " : "", (long long)tensor->dims[d]);
    }
    fputs("], \"data\": [", stdout);
    size_t count = element_count(tensor);
    for (size_t i = 0; i < count; i++) {
        fputs(i ? ", " : "", stdout);
        put_element(tensor, i);
    }
    putchar(']');
}

static void put_value(const ig_argument *value) {
    if (value->kind == IG_ARGUMENT_TENSOR) {
        put_tensor(value);
        return;
    }
    fputs("\"items\": [", stdout);
    for (size_t i = 0; i < value->item_count; i++) {
        fputs(i ? ", {" : "{", stdout);
        if (value->items[i].kind == IG_ARGUMENT_TENSOR) {
            put_tensor(&value->items[i]);
        }
        putchar('}');
    }
    putchar(']');
}

void show_values_json(const ig_argument *values, const char *const *names,
                      size_t count) {
    fputs("{\"outputs\": [", stdout);
    for (size_t i = 0; i < count; i++) {
        fputs(i ? ",\n  {\"name\": " : "\n  {\"name\": ", stdout);
        put_json_text(stdout, names[i]);
        fputs(", ", stdout);
        put_value(&values[i]);
        putchar('}');
    }
    puts("]}");
}
