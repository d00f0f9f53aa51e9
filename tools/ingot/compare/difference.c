/* How two tensors differ.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/compare/difference.h"

#include "tools/ingot/values/show.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENT_TEXT = 64, INDEX_TEXT = 256 };

static double largest_of(const ig_argument *tensor) {
    double largest = 0;
    size_t count = element_count(tensor);
    for (size_t i = 0; i < count; i++) {
        double size = fabs(ig_argument_number(tensor, i));
        largest = isfinite(size) && size > largest ? size : largest;
    }
    return largest;
}

static tolerance tolerance_for(const settings *given, const ig_argument *want) {
    tolerance within = default_tolerance(given);
    if (!given->has_rtol && strcmp(want->dtype, "f16") == 0) {
        within.rtol = 0x1p-8;
    }
    if (!given->has_atol) {
        within.atol = is_real(want->dtype) ? 1e-5 * largest_of(want) : 0;
    }
    return within;
}

static void note_error(difference *out, double got, double want, size_t index,
                       size_t *finite) {
    double error = fabs(got - want);
    if (!isfinite(error)) {
        return;
    }
    if (error > out->max_error) {
        out->max_error = error;
        out->worst = index;
    }
    if (error > 0 && want != 0) {
        out->max_relative = fmax(out->max_relative, error / fabs(want));
    }
    out->mean_error += error;
    ++*finite;
}

bool tensors_equal(const settings *given, const ig_argument *got,
                   const ig_argument *want, difference *out) {
    *out = (difference){ 0 };
    if (!types_agree(got, want, &out->types)) {
        return false;
    }
    tolerance within = default_tolerance(given);
    if (got->kind != IG_ARGUMENT_TENSOR) {
        return values_agree(got, want, &within, &out->types);
    }
    size_t finite = 0;
    within = tolerance_for(given, want);
    out->rtol = within.rtol;
    out->atol = within.atol;
    out->count = element_count(want);
    for (size_t i = 0; i < out->count; i++) {
        if (!elements_agree(got, want, i, &within)) {
            if (out->wrong < OFFENCES) {
                out->offences[out->wrong] = i;
            }
            out->wrong++;
        }
        note_error(out, ig_argument_number(got, i), ig_argument_number(want, i), i,
                   &finite);
    }
    out->mean_error /= finite ? (double)finite : 1;
    return out->wrong == 0;
}

/* ---- shown ---- */

typedef struct shown {
    char index[INDEX_TEXT], got[ELEMENT_TEXT], want[ELEMENT_TEXT];
} shown;

static shown show_element(const ig_argument *got, const ig_argument *want,
                          size_t index) {
    shown out;
    index_text(want, index, out.index, sizeof out.index);
    element_text(got, index, out.got, sizeof out.got);
    element_text(want, index, out.want, sizeof out.want);
    return out;
}

static size_t shown_count(const difference *how) {
    return how->wrong < OFFENCES ? how->wrong : OFFENCES;
}

/* The worst element is among those that are shown first, or comes after them. */
static bool is_worst_shown(const difference *how) {
    bool is_shown = how->max_error == 0;
    for (size_t i = 0; i < shown_count(how); i++) {
        is_shown = is_shown || how->offences[i] == how->worst;
    }
    return is_shown;
}

static json_t *element_json(const ig_argument *got, const ig_argument *want,
                            size_t index) {
    shown e = show_element(got, want, index);
    return json_pack("{s:s, s:s, s:s}", "index", e.index, "got", e.got, "want", e.want);
}

json_t *difference_json(const difference *how, const ig_argument *got,
                        const ig_argument *want) {
    if (how->types.text[0]) {
        return need(json_pack("{s:s}", "types", how->types.text));
    }
    json_t *elements = need(json_array());
    for (size_t i = 0; i < shown_count(how); i++) {
        json_array_append_new(elements, element_json(got, want, how->offences[i]));
    }
    if (!is_worst_shown(how)) {
        json_array_append_new(elements, element_json(got, want, how->worst));
    }
    return need(json_pack("{s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:o}", "elements_differ",
                          (json_int_t)how->wrong, "elements", (json_int_t)how->count,
                          "rtol", how->rtol, "atol", how->atol, "max_error",
                          how->max_error, "mean_error", how->mean_error, "max_relative",
                          how->max_relative, "shown", elements));
}

static double real_of(const json_t *facts, const char *key) {
    return json_real_value(json_object_get(facts, key));
}

static long long whole_of(const json_t *facts, const char *key) {
    return (long long)json_integer_value(json_object_get(facts, key));
}

static void print_element(const json_t *element) {
    const char *index = "", *got = "", *want = "";
    (void)json_unpack((json_t *)(uintptr_t)element, "{s:s, s:s, s:s}", "index", &index,
                      "got", &got, "want", &want);
    printf("    [%s]  got %s  want %s\n", index, got, want);
}

void difference_print(const json_t *facts) {
    const char *types = json_string_value(json_object_get(facts, "types"));
    const json_t *element;
    size_t i;
    if (types) {
        printf("  %s\n", types);
        return;
    }
    printf("  %lld of %lld elements differ by more than %.3g * |want| + %.3g\n",
           whole_of(facts, "elements_differ"), whole_of(facts, "elements"),
           real_of(facts, "rtol"), real_of(facts, "atol"));
    printf("  error: at most %.4g, on average %.4g; relative at most %.4g\n",
           real_of(facts, "max_error"), real_of(facts, "mean_error"),
           real_of(facts, "max_relative"));
    json_array_foreach(json_object_get(facts, "shown"), i, element) {
        print_element(element);
    }
}
