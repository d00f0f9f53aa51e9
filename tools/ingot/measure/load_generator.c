/* Calls at once from several threads.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/measure/load_generator.h"

#include "tools/ingot/measure/clock.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { MIN_CALLS = 3 };

/* ---- calling ---- */

static bool keep_seconds(load_caller *c, double seconds) {
    if (c->count == c->capacity) {
        size_t capacity = c->capacity ? 2 * c->capacity : 1024;
        double *grown = realloc(c->seconds, capacity * sizeof *grown);
        if (!grown) {
            return false;
        }
        c->seconds = grown;
        c->capacity = capacity;
    }
    c->seconds[c->count++] = seconds;
    return true;
}

/* A call that is enough ends its phase. */
static void call_for(load_caller *c, double seconds, bool counts) {
    double begin = clock_seconds(), end = begin + seconds;
    for (size_t calls = 0; begin < end || calls < MIN_CALLS; calls++) {
        c->answer = c->call(c->user, c->next++);
        double after = clock_seconds();
        if (c->answer != LOAD_FAILED && counts && !keep_seconds(c, after - begin)) {
            c->answer = LOAD_FAILED;
        }
        if (c->answer != LOAD_GOOD) {
            return;
        }
        begin = after;
    }
}

static void *run_caller(void *user) {
    load_caller own = *(load_caller *)user; /* in no cache line of another thread */
    if (own.cpu >= 0) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET((size_t)own.cpu, &one);
        (void)sched_setaffinity(0, sizeof one, &one); /* only to be steady */
    }
    call_for(&own, own.limit / 10, false);
    if (own.answer != LOAD_FAILED) {
        call_for(&own, own.limit, true);
    }
    *(load_caller *)user = own;
    return NULL;
}

bool load_generate(load_caller *callers, size_t count, double seconds) {
    pthread_t *threads = calloc(count, sizeof *threads);
    size_t started = 0;
    for (size_t i = 0; i < count; i++) {
        callers[i].limit = seconds;
    }
    while (threads && started < count &&
           pthread_create(&threads[started], NULL, run_caller, &callers[started]) ==
               0) {
        started++;
    }
    for (size_t i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
    }
    free(threads);
    return started == count;
}

/* ---- statistics ---- */

static int compare_seconds(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double take_quantile(const double *sorted, size_t count, double q) {
    size_t at = (size_t)ceil(q * (double)count);
    return sorted[at ? at - 1 : 0];
}

/* Of a copy in `room`. */
static double median_of(const double *values, size_t count, double *room) {
    memcpy(room, values, count * sizeof *values);
    qsort(room, count, sizeof *room, compare_seconds);
    return take_quantile(room, count, 0.5);
}

static double drift_of(const load_caller *c, double *room) {
    size_t half = c->count / 2;
    if (half < MIN_CALLS) {
        return 0;
    }
    double a = median_of(c->seconds, half, room);
    double b = median_of(c->seconds + half, half, room);
    return fabs(a - b) / fmin(a, b);
}

/* The seconds of all callers into `room`; returns their sum. */
static double gather_seconds(const load_caller *callers, size_t count, double *room) {
    double total = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < callers[i].count; k++) {
            total += callers[i].seconds[k];
            *room++ = callers[i].seconds[k];
        }
    }
    return total;
}

static double rate_of(const load_caller *c, double *room) {
    return c->count ? (double)c->count / gather_seconds(c, 1, room) : 0;
}

bool load_summarise(const load_caller *callers, size_t count, load_facts *out) {
    *out = (load_facts){ 0 };
    for (size_t i = 0; i < count; i++) {
        out->calls += callers[i].count;
    }
    double *all = malloc((out->calls + 1) * sizeof *all);
    if (!all) {
        return false;
    }
    if (out->calls == 0) {
        free(all);
        return true;
    }
    for (size_t i = 0; i < count; i++) {
        out->drift = fmax(out->drift, drift_of(&callers[i], all));
        out->per_second += rate_of(&callers[i], all);
    }
    out->mean = gather_seconds(callers, count, all) / (double)out->calls;
    qsort(all, out->calls, sizeof *all, compare_seconds);
    out->min = all[0];
    out->p25 = take_quantile(all, out->calls, 0.25);
    out->p50 = take_quantile(all, out->calls, 0.5);
    out->p90 = take_quantile(all, out->calls, 0.9);
    out->p95 = take_quantile(all, out->calls, 0.95);
    out->p99 = take_quantile(all, out->calls, 0.99);
    free(all);
    return true;
}
