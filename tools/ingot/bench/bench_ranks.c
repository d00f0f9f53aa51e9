/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/bench/bench_ranks.h"

#include "tools/ingot/measure/clock.h"
#include "tools/ingot/model/ranks.h"

#include <stdlib.h>
#include <sys/resource.h>

enum { FIRST_CALLS = 5, MIN_CALLS = 10, MAX_CALLS = 10000000 };

typedef struct rank_bench {
    const model *m;
    ig_session *session;
    results outputs;
    message *why;
} rank_bench;

/* `seconds` gets the time of each call, unless it is NULL. */
static ig_status call_often(const rank_bench *b, int64_t count, double *seconds) {
    double begin = clock_seconds();
    for (int64_t i = 0; i < count; i++) {
        ig_status status = ig_session_run_bound(b->session);
        if (status != IG_OK) {
            message_of_session(b->m, b->session, status, b->why);
            return status;
        }
        double after = clock_seconds();
        if (seconds) {
            seconds[i] = after - begin;
        }
        begin = after;
    }
    return IG_OK;
}

static double cpu_seconds(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)used.ru_utime.tv_sec + (double)used.ru_stime.tv_sec +
           1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

/* How many calls take that long, as rank 0 sees it. */
static ig_status agree_on_count(const rank_bench *b, double seconds, int64_t *count) {
    ig_status status = call_often(b, FIRST_CALLS, NULL);
    double begin = clock_seconds();
    if (status == IG_OK) {
        status = call_often(b, FIRST_CALLS, NULL);
    }
    double calls = seconds * FIRST_CALLS / (clock_seconds() - begin);
    *count = calls < MIN_CALLS   ? MIN_CALLS
             : calls > MAX_CALLS ? MAX_CALLS
                                 : (int64_t)calls;
    return status == IG_OK ? ranks_agree(count) : status;
}

static ig_status time_calls(const rank_bench *b, double limit, bench_point *out) {
    load_caller caller = { 0 };
    int64_t count = 0;
    ig_status status = agree_on_count(b, limit, &count);
    if (status == IG_OK) {
        status = call_often(b, count / 10, NULL);
    }
    if (status != IG_OK) {
        return status;
    }
    caller.seconds = need(calloc((size_t)count, sizeof *caller.seconds));
    caller.count = (size_t)count;
    double begin = clock_seconds(), cpu = cpu_seconds();
    status = call_often(b, count, caller.seconds);
    out->cpu_share = (cpu_seconds() - cpu) / (clock_seconds() - begin);
    if (status == IG_OK && !load_summarise(&caller, 1, &out->took)) {
        need(NULL);
    }
    free(caller.seconds);
    return status;
}

ig_status bench_ranks(const settings *given, const model *m, const call *with,
                      bench_point *out, message *why) {
    rank_bench b = { .m = m, .why = why };
    settings own = *given;
    own.threads = out->threads;
    out->ranks = (size_t)given->world;
    ig_status status = session_open(&own, m, &b.session, why);
    if (status == IG_OK) {
        status = call_bind(m, b.session, with, &b.outputs, why);
    }
    if (status == IG_OK) {
        status = time_calls(&b, given->has_seconds ? given->seconds : 2, out);
    }
    ig_session_destroy(b.session);
    results_fini(&b.outputs);
    return status;
}
