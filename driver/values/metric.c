/* Areas under ROC curves.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stddef.h>

#include <ingot/values.h>

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

double ig_metric_auc(const double *scores, const double *labels, size_t *order,
                     size_t count) {
    double wins = 0, positives = 0, negatives = 0;
    sort_by_score(scores, order, count);
    for (size_t i = 0, end; i < count; i = end) {
        double ties[2] = { 0, 0 };
        for (end = i; end < count && scores[order[end]] == scores[order[i]]; end++) {
            ties[labels[order[end]] > 0.5]++;
        }
        if (end == i) { /* NaN, which equals nothing, is a class of its own */
            ties[labels[order[end++]] > 0.5]++;
        }
        wins += ties[1] * (negatives + ties[0] / 2);
        negatives += ties[0];
        positives += ties[1];
    }
    return positives > 0 && negatives > 0 ? wins / (positives * negatives)
                                          : (double)NAN;
}
