/* Python functions served by several threads: N interpreters with N locks, one process.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     cc -O2 interpreters.c $(pkg-config --cflags --libs ingot-runtime) \
 *         -lingot-interp -lpthread -o interpreters
 *     ./interpreters 2 200      threads (and interpreters), calls a thread
 */
#include <ingot/interp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Enough work to hold the lock of an interpreter for some milliseconds. */
static const char source[] = "def score(x):\n"
                             "    total = 0.0\n"
                             "    for _ in range(2000):\n"
                             "        for value in x.tolist():\n"
                             "            total += value * 0.5\n"
                             "    return total\n";

typedef struct worker {
    ig_interp_manager *manager;
    int calls;
    double sum;
} worker;

static ig_status call_once(worker *w, const ig_interp_call *how) {
    float features[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    ig_interp_value x = {
        .kind = IG_INTERP_TENSOR,
        .as.tensor = { .data = features, .dtype = IG_F32, .rank = 1, .dims = { 8 } }
    };
    ig_interp_arguments arguments = { .values = &x, .count = 1 };
    ig_interp *interp = NULL;
    ig_interp_object *score = NULL;
    ig_interp_result *result = NULL;
    ig_status status = ig_interp_acquire(w->manager, how, -1, &interp);
    if (status == IG_OK) {
        status = ig_interp_global(interp, how, "scorer", "score", &score);
    }
    if (status == IG_OK) {
        status = ig_interp_invoke(interp, how, score, &arguments, &result);
    }
    if (status == IG_OK) {
        w->sum += ig_interp_result_value(result)->as.real;
    }
    ig_interp_result_free(result);
    ig_interp_object_free(score);
    ig_interp_release(interp);
    return status;
}

static void *work(void *opaque) {
    worker *w = opaque;
    char why[2048];
    ig_interp_call how = { .size = sizeof how,
                           .message = why,
                           .message_size = sizeof why };
    for (int i = 0; i < w->calls; i++) {
        if (call_once(w, &how) != IG_OK) {
            fprintf(stderr, "%s\n", why);
            return NULL;
        }
    }
    return w;
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(int count, char **arguments) {
    enum { MAX = 15 };
    pthread_t threads[MAX];
    worker workers[MAX];
    char why[2048];
    int n = count > 1 ? atoi(arguments[1]) : 2;
    int calls = count > 2 ? atoi(arguments[2]) : 200, failed = 0;
    n = n < 1 ? 1 : n > MAX ? MAX : n;
    ig_interp_call how = { .size = sizeof how,
                           .message = why,
                           .message_size = sizeof why };
    ig_interp_options options = { .size = sizeof options, .count = (uint32_t)n };
    ig_interp_manager *manager = NULL;
    if (ig_interp_create(&options, &how, &manager) != IG_OK ||
        ig_interp_register_source(manager, &how, "scorer", source) != IG_OK) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    double begin = seconds(), sum = 0;
    for (int i = 0; i < n; i++) {
        workers[i] = (worker){ .manager = manager, .calls = calls };
        failed |= pthread_create(&threads[i], NULL, work, &workers[i]);
    }
    for (int i = 0; i < n; i++) {
        void *ended = NULL;
        failed |= pthread_join(threads[i], &ended) || !ended;
        sum += workers[i].sum;
    }
    printf("%d threads, %d calls: sum %.0f, %.0f calls/s\n", n, n * calls, sum,
           n * calls / (seconds() - begin));
    ig_interp_destroy(manager);
    return failed;
}
