/* Counting without locks: a counter has one writer.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/model/statistics.h"

uint64_t histogram_bound(measure which, size_t bucket) {
    static const uint64_t us[BUCKETS - 1] = { 10,     25,     50,     100,
                                              250,    500,    1000,   2500,
                                              5000,   10000,  25000,  50000,
                                              100000, 250000, 500000, 1000000 };
    return which == MEASURE_ROWS ? (uint64_t)1 << bucket : us[bucket] * 1000;
}

void count_up(_Atomic uint64_t *counter, uint64_t more) {
    uint64_t now = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, now + more, memory_order_relaxed);
}

uint64_t count_now(const _Atomic uint64_t *counter) {
    return atomic_load_explicit(counter, memory_order_relaxed);
}

void histogram_add(statistics *to, measure which, uint64_t value) {
    histogram *of = &to->of[which];
    size_t bucket = 0;
    while (bucket < BUCKETS - 1 && value > histogram_bound(which, bucket)) {
        bucket++;
    }
    count_up(&of->buckets[bucket], 1);
    count_up(&of->count, 1);
    count_up(&of->sum, value);
}

void statistics_sum(statistics *to, const statistics *from) {
    count_up(&to->succeeded, count_now(&from->succeeded));
    count_up(&to->failed, count_now(&from->failed));
    count_up(&to->failed_ns, count_now(&from->failed_ns));
    count_up(&to->runs, count_now(&from->runs));
    count_up(&to->rows, count_now(&from->rows));
    if (count_now(&from->last_ms) > count_now(&to->last_ms)) {
        atomic_store_explicit(&to->last_ms, count_now(&from->last_ms),
                              memory_order_relaxed);
    }
    for (size_t m = 0; m < MEASURE_COUNT; m++) {
        count_up(&to->of[m].count, count_now(&from->of[m].count));
        count_up(&to->of[m].sum, count_now(&from->of[m].sum));
        for (size_t i = 0; i < BUCKETS; i++) {
            count_up(&to->of[m].buckets[i], count_now(&from->of[m].buckets[i]));
        }
    }
}
