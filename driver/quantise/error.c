/* Sums of errors.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/quantise/quantise.h"

#include <math.h>
#include <string.h>

double quant_number(const ig_argument *x, size_t i) {
    float real;
    if (strcmp(x->dtype, "f32") != 0) {
        return ig_argument_number(x, i);
    }
    memcpy(&real, (const char *)x->data + i * sizeof real, sizeof real);
    return (double)real;
}

size_t quant_count(const ig_argument *x) {
    size_t count = 1;
    for (uint32_t d = 0; d < x->rank; d++) {
        count *= (size_t)x->dims[d];
    }
    return count;
}

/* Where both are NaN, or the same infinity, nothing went wrong. */
void quant_error_add(quant_error *sum, double wanted, double got) {
    bool is_same = wanted == got || (isnan(wanted) && isnan(got));
    double difference = is_same ? 0 : fabs(wanted - got);
    difference = isnan(difference) ? (double)INFINITY : difference;
    sum->max = fmax(sum->max, difference);
    sum->difference += difference * difference;
    if (isfinite(wanted) && isfinite(got)) {
        sum->product += wanted * got;
        sum->wanted += wanted * wanted;
        sum->got += got * got;
    }
}

ig_quantize_error quant_error_of(const quant_error *sum) {
    ig_quantize_error error = { .max = sum->max };
    double lengths = sqrt(sum->wanted) * sqrt(sum->got);
    error.cosine = lengths > 0 ? sum->product / lengths : sum->difference > 0 ? 0 : 1;
    error.rms = sum->difference > 0 ? sqrt(sum->difference / sum->wanted) : 0;
    return error;
}
