/* Comparing values.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/values/compare.h"

#include "tools/ingot/values/show.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

tolerance default_tolerance(const settings *given) {
    return (tolerance){
        .rtol = given->has_rtol ? given->rtol : 1e-3,
        .atol = given->has_atol ? given->atol : 1e-7,
        .bf16_rtol = given->has_rtol ? 0 : 0x1p-6,
    };
}

bool types_agree(const ig_argument *got, const ig_argument *want, message *why) {
    bool is_same = got->kind == want->kind;
    if (is_same && got->kind == IG_ARGUMENT_TENSOR) {
        is_same = strcmp(got->dtype, want->dtype) == 0 && got->rank == want->rank &&
                  (got->rank == 0 ||
                   memcmp(got->dims, want->dims, got->rank * sizeof *got->dims) == 0);
    } else if (is_same) {
        is_same = got->item_count == want->item_count;
    }
    if (!is_same) {
        char *a = type_text(got), *b = type_text(want);
        snprintf(why->text, sizeof why->text, "got %s, want %s", a, b);
        free(a);
        free(b);
    }
    return is_same;
}

static bool bytes_agree(const ig_argument *got, const ig_argument *want, size_t index) {
    size_t width = element_bits(got->dtype) / 8;
    return width && memcmp((const char *)got->data + index * width,
                           (const char *)want->data + index * width, width) == 0;
}

bool elements_agree(const ig_argument *got, const ig_argument *want, size_t index,
                    const tolerance *within) {
    if (holds_texts(got->dtype)) {
        return holds_texts(want->dtype) &&
               strcmp(element_text_at(got, index), element_text_at(want, index)) == 0;
    }
    if (bytes_agree(got, want, index)) {
        return true;
    }
    double a = ig_argument_number(got, index), b = ig_argument_number(want, index);
    if (isnan(a) || isnan(b)) {
        return isnan(a) && isnan(b);
    }
    bool is_whole = !is_real(got->dtype);
    if (within->is_exact || strcmp(got->dtype, "bool") == 0) {
        return a == b && (!is_whole || element_bits(got->dtype) < 64);
    }
    if (isinf(a) || isinf(b)) {
        return a == b;
    }
    double rtol = is_whole ? 0 : within->rtol;
    rtol = strcmp(got->dtype, "bf16") == 0 ? fmax(rtol, within->bf16_rtol) : rtol;
    bool is_blurred = is_whole && element_bits(got->dtype) == 64 && fabs(b) > 0x1p53;
    return !is_blurred && fabs(a - b) <= within->atol + rtol * fabs(b);
}

void index_text(const ig_argument *tensor, size_t index, char *out, size_t size) {
    size_t at[64], used = 0;
    uint32_t rank = tensor->rank < 64 ? tensor->rank : 64;
    for (uint32_t d = rank; d-- > 0;) {
        size_t extent = (size_t)tensor->dims[d];
        at[d] = index % extent;
        index /= extent;
    }
    out[0] = '\0';
    for (uint32_t d = 0; d < rank && used + 24 < size; d++) {
        used += (size_t)snprintf(out + used, size - used, "%s%zu", d ? ", " : "",
                                 at[d]);
    }
}

static bool tensors_agree(const ig_argument *got, const ig_argument *want,
                          const tolerance *within, message *why) {
    size_t count = element_count(want), wrong = 0, first = 0;
    for (size_t i = 0; i < count; i++) {
        if (!elements_agree(got, want, i, within)) {
            first = wrong++ ? first : i;
        }
    }
    if (wrong) {
        char where[256], a[64], b[64];
        index_text(want, first, where, sizeof where);
        element_text(got, first, a, sizeof a);
        element_text(want, first, b, sizeof b);
        snprintf(why->text, sizeof why->text,
                 "at [%s] got %s, want %s (%zu of %zu differ)", where, a, b, wrong,
                 count);
    }
    return wrong == 0;
}

/* Recursion is as deep as lists nest, which readers bound. */
bool values_agree(const ig_argument *got, const ig_argument *want,
                  const tolerance *within, message *why) {
    if (!types_agree(got, want, why)) {
        return false;
    }
    if (got->kind == IG_ARGUMENT_TENSOR) {
        return tensors_agree(got, want, within, why);
    }
    for (size_t i = 0; i < want->item_count; i++) {
        message inner = { "" };
        if (!values_agree(&got->items[i], &want->items[i], within, &inner)) {
            snprintf(why->text, sizeof why->text, "item %zu: %.900s", i, inner.text);
            return false;
        }
    }
    return true;
}
