/* One call of a runtime's entry point, timed without Python around it.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The library that measure.py loads also holds tools/ingot/rulers.c: the calibrators
 * beside every figure.
 */
#include <time.h>

#include <ingot/runtime.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef ig_status (*session_run)(ig_session *session, const ig_view *inputs, size_t in,
                                 ig_view *outputs, size_t out);

/* Least seconds per ig_session_run over `rounds` rounds; -1 when a run fails. */
double bench_call(session_run run, ig_session *session, const ig_view *input,
                  ig_view *output, int rounds) {
    enum { CALLS = 1000 };
    double best = 1e9;
    for (int round = 0; round < rounds; round++) {
        double start = now();
        for (int i = 0; i < CALLS; i++)
            if (run(session, input, 1, output, 1) != IG_OK)
                return -1;
        double each = (now() - start) / CALLS;
        best = each < best ? each : best;
    }
    return best;
}
