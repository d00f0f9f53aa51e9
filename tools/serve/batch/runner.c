/* Running requests.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/batch/runner.h"

#include "tools/serve/batch/bind.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct runner {
    lane *lane;
    request *first, **last;
    size_t waiting;
    ig_view *outputs; /* of a run */
    size_t output_room;
};

int64_t clock_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

bool lane_is_ready(const lane *of) {
    return !of->is_draining && repository_is_ready(of->repository);
}

runner *runner_create(lane *of) {
    runner *made = calloc(1, sizeof *made);
    if (made) {
        made->lane = of;
        made->last = &made->first;
    }
    return made;
}

void runner_destroy(runner *of) {
    if (of) {
        free(of->outputs);
        free(of);
    }
}

/* ---- what waits ---- */

static bool prepare_request(runner *of, request *what) {
    char words[WORDS];
    call_status status = CALL_OK;
    if (of->waiting >= of->lane->limits->queued) {
        return request_fail(what, CALL_FULL,
                            "%zu requests wait already: exceeds maximum "
                            "queue size",
                            of->waiting);
    }
    what->served = catalog_find(of->lane->catalog, what->model, what->version, &status,
                                words);
    if (!what->served) {
        return request_fail(what, status, "%s", words);
    }
    return bind_inputs(what, what->served) && check_outputs(what, what->served);
}

void runner_add(runner *to, request *what) {
    if (what->status == CALL_OK) {
        prepare_request(to, what);
    }
    what->next = NULL;
    *to->last = what;
    to->last = &what->next;
    to->waiting++;
}

void runner_forget(runner *from, request *what) {
    for (request **at = &from->first; *at; at = &(*at)->next) {
        if (*at != what) {
            continue;
        }
        *at = what->next;
        from->waiting--;
        if (from->last == &what->next) {
            from->last = at;
        }
        return;
    }
}

int64_t runner_due(const runner *of) {
    (void)of; /* nothing waits beyond its turn */
    return 0;
}

/* ---- runs ---- */

static ig_view *need_outputs(runner *of, size_t count) {
    if (count > of->output_room) {
        ig_view *grown = realloc(of->outputs, count * sizeof *grown);
        if (!grown) {
            return NULL;
        }
        of->outputs = grown;
        of->output_room = count;
    }
    if (count) {
        memset(of->outputs, 0, count * sizeof *of->outputs);
    }
    return of->outputs;
}

/* One run of the request's own; its outputs stand in the session until the next. */
static bool run_alone(runner *of, request *what, int64_t begin) {
    served *model = what->served;
    ig_session *session = model->sessions[of->lane->number];
    ig_view *outputs = need_outputs(of, model->output_count);
    if (model->output_count && !outputs) {
        return request_fail(what, CALL_FULL, "memory for outputs ran out");
    }
    if (what->deadline && begin >= what->deadline) {
        return request_fail(what, CALL_LATE,
                            "the deadline passed before the request "
                            "could begin");
    }
    if (ig_program_state_count(model->program)) {
        ig_session_reset(session); /* what one request left is no other's */
    }
    ig_session_set_deadline(session, what->deadline ? what->deadline - begin : 0);
    ig_status status = ig_session_run(session, what->views, model->input_count, outputs,
                                      model->output_count);
    if (status != IG_OK) {
        return request_fail(what, call_status_of_run(status), "model '%s': %s",
                            model->name, ig_session_error(session));
    }
    return give_results(what, model, outputs);
}

static void count_request(runner *of, const request *what, int64_t begin, int64_t end) {
    statistics *to = &what->served->counts[of->lane->number];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    atomic_store_explicit(&to->last_ms,
                          (uint64_t)(now.tv_sec * 1000 + now.tv_nsec / 1000000),
                          memory_order_relaxed);
    uint64_t total = (uint64_t)(end - what->begun);
    if (what->status != CALL_OK) {
        count_up(&to->failed, 1);
        count_up(&to->failed_ns, total);
        return;
    }
    count_up(&to->succeeded, 1);
    histogram_add(to, MEASURE_QUEUE, (uint64_t)(begin - what->begun));
    histogram_add(to, MEASURE_COMPUTE, (uint64_t)(end - begin));
    histogram_add(to, MEASURE_TOTAL, total);
}

static void run_request(runner *of, request *what) {
    if (what->status == CALL_OK) {
        int64_t begin = clock_now();
        run_alone(of, what, begin);
        statistics *counts = &what->served->counts[of->lane->number];
        count_up(&counts->runs, 1);
        count_up(&counts->rows, 1);
        histogram_add(counts, MEASURE_ROWS, 1);
        count_request(of, what, begin, clock_now());
    }
    what->finish(what);
}

void runner_turn(runner *of) {
    while (of->first) {
        request *what = of->first;
        of->first = what->next;
        if (!of->first) {
            of->last = &of->first;
        }
        of->waiting--;
        run_request(of, what);
    }
}
