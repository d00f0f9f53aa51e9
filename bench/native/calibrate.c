/* Calls of the runtime's entry points, timed without Python around them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The library that measure.py loads also holds tools/ingot/measure/roofline.c, the
 * calibrators beside every figure.
 */
#include <dlfcn.h>
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

typedef struct bench_views {
    const ig_view *inputs;
    size_t input_count;
    ig_view *outputs;
    size_t output_count;
} bench_views;

/* Seconds from opening the artifact to its first answer, by a runtime that is already
 * in the process (`library`, of dlopen); -1 when something fails. */
double bench_open(void *library, const char *path, const bench_views *views) {
    __typeof__(&ig_program_open) open = dlsym(library, "ig_program_open");
    __typeof__(&ig_session_create) create = dlsym(library, "ig_session_create");
    __typeof__(&ig_session_run) run = dlsym(library, "ig_session_run");
    __typeof__(&ig_session_destroy) destroy = dlsym(library, "ig_session_destroy");
    __typeof__(&ig_program_close) close = dlsym(library, "ig_program_close");
    ig_program_options opened = { .size = sizeof opened };
    ig_session_options created = { .size = sizeof created, .threads = 1 };
    ig_program *program = NULL;
    ig_session *session = NULL;

    double start = now();
    ig_status status = open(path, &opened, &program);
    if (status == IG_OK) {
        status = create(program, &created, &session);
    }
    if (status == IG_OK) {
        status = run(session, views->inputs, views->input_count, views->outputs,
                     views->output_count);
    }
    double spent = now() - start;
    if (session) {
        destroy(session);
    }
    if (program) {
        close(program);
    }
    return status == IG_OK ? spent : -1;
}
