/* Shadows.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/model/shadow.h"

#include "tools/serve/model/log.h"
#include "tools/serve/model/served.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { LARGEST = 64 << 20, NICE = 10, SECOND = 1000000000 };

/* A run, copied: views and their bytes in one block. */
typedef struct shadow_run {
    struct served *with;
    char name[128];
    int64_t version;
    ig_view *inputs, *outputs;
    size_t input_count, output_count;
} shadow_run;

struct shadow {
    pthread_t thread;
    _Atomic uint64_t owed; /* runs of the share so far, in parts of 2^-32 */
    atomic_bool is_busy;   /* a run is being given, or compared */
    _Atomic uint64_t passed_over;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t given;
    shadow_run run; /* with NULL: the thread is free */
    bool is_ending;
    shadow_counts counts;
};

/* ---- comparing ---- */

static double element_at(const ig_view *of, size_t i) {
    return of->dtype == IG_F32 ? (double)((const float *)of->data)[i]
                               : ((const double *)of->data)[i];
}

/* 0: the same bits; infinite: of other shapes, or no numbers on one side alone. */
static double view_difference(const ig_view *a, const ig_view *b) {
    int64_t size = ig_view_bytes(a);
    if (a->dtype != b->dtype || a->rank != b->rank ||
        memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) != 0) {
        return INFINITY;
    }
    if (size <= 0 || memcmp(a->data, b->data, (size_t)size) == 0) {
        return 0;
    }
    if (a->dtype != IG_F32 && a->dtype != IG_F64) {
        return INFINITY;
    }
    double largest = 0;
    size_t count = (size_t)size / (a->dtype == IG_F32 ? sizeof(float) : sizeof(double));
    for (size_t i = 0; i < count; i++) {
        double x = element_at(a, i), y = element_at(b, i);
        bool is_same = x == y || (isnan(x) && isnan(y));
        double gap = is_same ? 0 : fabs(x - y) / fmax(1, fabs(y));
        largest = isnan(gap) ? INFINITY : fmax(largest, gap);
    }
    return largest;
}

static void note_result(shadow *of, const shadow_run *run, bool has_run,
                        double largest) {
    char words[WORDS];
    pthread_mutex_lock(&of->lock);
    bool is_first = largest > 0 && of->counts.different == 0;
    of->counts.compared += has_run;
    of->counts.failed += !has_run;
    of->counts.different += largest > 0;
    of->counts.max_gap = fmax(of->counts.max_gap, largest);
    pthread_mutex_unlock(&of->lock);
    if (is_first) {
        snprintf(words, sizeof words, "version %lld answers otherwise, by up to %.3g",
                 (long long)run->with->version, largest);
        log_event(IG_LOG_WARNING, "shadow", run->name, run->version, words);
    }
}

static void compare_run(shadow *of, const shadow_run *run) {
    ig_session_options options = { .size = sizeof options, .threads = 1 };
    ig_session *session = NULL;
    ig_view *outputs = calloc(run->output_count + 1, sizeof *outputs);
    bool is_good = outputs &&
                   ig_session_create(run->with->program, &options, &session) == IG_OK;
    if (is_good) {
        ig_session_set_deadline(session, 60 * (int64_t)SECOND);
        is_good = ig_session_run(session, run->inputs, run->input_count, outputs,
                                 run->output_count) == IG_OK;
    }
    double largest = 0;
    for (size_t i = 0; is_good && i < run->output_count; i++) {
        largest = fmax(largest, view_difference(&outputs[i], &run->outputs[i]));
    }
    note_result(of, run, is_good, largest);
    ig_session_destroy(session);
    free(outputs);
}

static void *compare_runs(void *user) {
    shadow *of = user;
    setpriority(PRIO_PROCESS, 0, NICE); /* of this thread, on Linux */
    pthread_mutex_lock(&of->lock);
    for (;;) {
        while (!of->run.with && !of->is_ending) {
            pthread_cond_wait(&of->given, &of->lock);
        }
        if (!of->run.with) {
            pthread_mutex_unlock(&of->lock);
            return NULL;
        }
        pthread_mutex_unlock(&of->lock);
        compare_run(of, &of->run); /* nobody else touches a run that was given */
        free(of->run.inputs);
        atomic_fetch_sub(&of->run.with->users, 1);
        pthread_mutex_lock(&of->lock);
        of->run = (shadow_run){ 0 };
        atomic_store(&of->is_busy, false);
    }
}

/* ---- copies ---- */

static size_t sum_bytes(const ig_view *views, size_t count) {
    size_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t size = ig_view_bytes(&views[i]);
        if (size < 0 || size > LARGEST || views[i].dtype == IG_STR8) {
            return SIZE_MAX / 4;
        }
        sum += ((size_t)size + 63) / 64 * 64;
    }
    return sum;
}

static uint8_t *copy_views(const ig_view *from, size_t count, ig_view *to,
                           uint8_t *at) {
    for (size_t i = 0; i < count; i++) {
        size_t size = (size_t)ig_view_bytes(&from[i]);
        to[i] = from[i];
        to[i].data = at;
        if (size) {
            memcpy(at, from[i].data, size);
        }
        at += (size + 63) / 64 * 64;
    }
    return at;
}

/* False: it is too large, or memory ran out. */
static bool copy_run(shadow_run *to, const ig_view *inputs, const ig_view *outputs) {
    size_t count = to->input_count + to->output_count,
           head = (count * sizeof(ig_view) + 63) / 64 * 64,
           size = sum_bytes(inputs, to->input_count) +
                  sum_bytes(outputs, to->output_count);
    uint8_t *block = size <= LARGEST ? aligned_alloc(64, head + size + 64) : NULL;
    if (!block) {
        return false;
    }
    to->inputs = (ig_view *)(void *)block;
    to->outputs = to->inputs + to->input_count;
    uint8_t *at = copy_views(inputs, to->input_count, to->inputs, block + head);
    copy_views(outputs, to->output_count, to->outputs, at);
    return true;
}

/* ---- calls of the loops ---- */

shadow *shadow_open(void) {
    shadow *made = calloc(1, sizeof *made);
    if (!made) {
        return NULL;
    }
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->given, NULL);
    if (pthread_create(&made->thread, NULL, compare_runs, made) != 0) {
        free(made);
        return NULL;
    }
    return made;
}

void shadow_close(shadow *of) {
    if (of) {
        pthread_mutex_lock(&of->lock);
        of->is_ending = true;
        pthread_cond_signal(&of->given);
        pthread_mutex_unlock(&of->lock);
        pthread_join(of->thread, NULL);
        pthread_cond_destroy(&of->given);
        pthread_mutex_destroy(&of->lock);
        free(of);
    }
}

bool shadow_wants(shadow *of, double share) {
    uint64_t part = (uint64_t)(share * 0x1p32),
             before = atomic_fetch_add(&of->owed, part);
    if ((before + part) >> 32 == before >> 32) {
        return false;
    }
    bool is_free = !atomic_exchange(&of->is_busy, true);
    atomic_fetch_add(&of->passed_over, is_free ? 0 : 1);
    return is_free;
}

void shadow_give(shadow *of, struct served *from, struct served *with,
                 const ig_view *inputs, const ig_view *outputs) {
    bool is_alike = with && with != from && with->sessions &&
                    with->input_count == from->input_count &&
                    with->output_count == from->output_count;
    shadow_run run = { .with = with,
                       .version = from->version,
                       .input_count = from->input_count,
                       .output_count = from->output_count };
    snprintf(run.name, sizeof run.name, "%s", from->name);
    if (!is_alike || !copy_run(&run, inputs, outputs)) {
        atomic_store(&of->is_busy, false);
        return;
    }
    atomic_fetch_add(&with->users, 1);
    pthread_mutex_lock(&of->lock);
    of->run = run;
    pthread_cond_signal(&of->given);
    pthread_mutex_unlock(&of->lock);
}

shadow_counts shadow_count(shadow *of) {
    pthread_mutex_lock(&of->lock);
    shadow_counts counts = of->counts;
    counts.passed_over = atomic_load(&of->passed_over);
    pthread_mutex_unlock(&of->lock);
    return counts;
}
