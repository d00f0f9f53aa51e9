/* Timed loops over rotated inputs, without Python between the calls.
 * SPDX-License-Identifier: Apache-2.0 */
#include <ingot/runtime.h>

#include <time.h>

static double seconds_of(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static clockid_t clock_for(int threads) {
    return threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
}

typedef struct loop_range {
    long first, count, sets;
    int threads;
} loop_range;

/* Seconds a call of run(peer, inputs[i], outputs[i]). */
double loop_peer(void (*run)(void *peer, const void *in, void *out), void *peer,
                 const void *const *inputs, void *const *outputs,
                 const loop_range *range) {
    clockid_t clock = clock_for(range->threads);
    double start = seconds_of(clock);
    for (long i = range->first; i < range->first + range->count; i++)
        run(peer, inputs[i % range->sets], outputs[i % range->sets]);
    return (seconds_of(clock) - start) / (double)range->count;
}

typedef ig_status (*session_run)(ig_session *session, const ig_view *inputs, size_t in,
                                 ig_view *outputs, size_t out);

/* The same for a session with views of its inputs, then of its outputs, which are the
 * same in every set but for their addresses.  -1: a run failed. */
double loop_session(session_run run, ig_session *session, ig_view *views,
                    void *const *const *addresses, const size_t counts[2],
                    const loop_range *range) {
    clockid_t clock = clock_for(range->threads);
    size_t in = counts[0], out = counts[1];
    double start = seconds_of(clock);
    for (long i = range->first; i < range->first + range->count; i++) {
        void *const *set = addresses[i % range->sets];
        for (size_t v = 0; v < in + out; v++)
            views[v].data = set[v];
        if (run(session, views, in, views + in, out) != IG_OK)
            return -1;
    }
    return (seconds_of(clock) - start) / (double)range->count;
}
