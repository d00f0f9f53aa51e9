/* Sums of errors, and areas under ROC curves.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/quantise/quantise.h"

#include <math.h>
#include <stdlib.h>
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
    sum->most = fmax(sum->most, difference);
    sum->difference += difference * difference;
    if (isfinite(wanted) && isfinite(got)) {
        sum->product += wanted * got;
        sum->wanted += wanted * wanted;
        sum->got += got * got;
    }
}

ig_quantize_error quant_error_of(const quant_error *sum) {
    ig_quantize_error error = { .max = sum->most };
    double lengths = sqrt(sum->wanted) * sqrt(sum->got);
    error.cosine = lengths > 0 ? sum->product / lengths : sum->difference > 0 ? 0 : 1;
    error.rms = sum->difference > 0 ? sqrt(sum->difference / sum->wanted) : 0;
    return error;
}

/* ---- areas under curves ---- */

/* qsort hands no context over: heap sort of places by score. */
static void sift_down(const double *scores, size_t *order, size_t root, size_t end) {
    for (size_t child; (child = 2 * root + 1) < end; root = child) {
        if (child + 1 < end && scores[order[child]] < scores[order[child + 1]]) {
            child++;
        }
        if (scores[order[root]] >= scores[order[child]]) {
            return;
        }
        size_t other = order[root];
        order[root] = order[child];
        order[child] = other;
    }
}

static void sort_by_score(const double *scores, size_t *order, size_t count) {
    for (size_t i = 0; i < count; i++) {
        order[i] = i;
    }
    for (size_t i = count / 2; i-- > 0;) {
        sift_down(scores, order, i, count);
    }
    for (size_t end = count; end > 1; end--) {
        size_t largest = order[0];
        order[0] = order[end - 1];
        order[end - 1] = largest;
        sift_down(scores, order, 0, end - 1);
    }
}

double quant_auc(const double *scores, const double *labels, size_t *order,
                 size_t count) {
    double wins = 0, positives = 0, negatives = 0;
    sort_by_score(scores, order, count);
    for (size_t i = 0, end; i < count; i = end) {
        double ties[2] = { 0, 0 };
        for (end = i; end < count && scores[order[end]] == scores[order[i]]; end++) {
            ties[labels[order[end]] > 0.5]++;
        }
        if (end == i) { /* NaN, which equals nothing, stands alone */
            ties[labels[order[end++]] > 0.5]++;
        }
        wins += ties[1] * (negatives + ties[0] / 2);
        negatives += ties[0];
        positives += ties[1];
    }
    return positives > 0 && negatives > 0 ? wins / (positives * negatives)
                                          : (double)NAN;
}
