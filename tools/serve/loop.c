/* Loops.  SPDX-License-Identifier: Apache-2.0
 *
 * A turn: wait; read what came, of all connections; run it; write the answers.  The
 * requests of one turn can be run together, so batches need neither a queue nor a
 * timer: the more there is to do, the more a turn brings.
 */
#include "tools/serve/loop.h"

#include "tools/serve/batch/runner.h"
#include "tools/serve/grpc/door.h"
#include "tools/serve/http/door.h"

#include <semaphore.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { EVENTS = 64, SWEEP_MS = 1000 };

struct loop {
    lane lane;
    pthread_t thread;
    int poll;
    http_door *http;
    profiler *profiler; /* or NULL */
    grpc_door *grpc;
    int64_t swept;
    _Atomic int64_t drain_deadline; /* 0: not draining */
    sem_t has_drained, may_end;
};

static bool watch_descriptor(const loop *of, int descriptor, void *data) {
    struct epoll_event event = { EPOLLIN, { .ptr = data } };
    return epoll_ctl(of->poll, EPOLL_CTL_ADD, descriptor, &event) == 0;
}

loop *loop_open(size_t index, const limits *max, mailbox *box, const key_ring *ring,
                int http, int grpc) {
    loop *of = calloc(1, sizeof *of);
    if (!of) {
        return NULL;
    }
    of->lane = (lane){ .index = index,
                       .limits = max,
                       .box = box,
                       .ring = ring,
                       .memory = { .limit = max->memory_bytes },
                       .now = clock_now() };
    sem_init(&of->has_drained, 0, 0);
    sem_init(&of->may_end, 0, 0);
    of->poll = epoll_create1(EPOLL_CLOEXEC);
    of->lane.runner = runner_create(&of->lane);
    of->http = http >= 0 ? http_door_open(&of->lane, http) : NULL;
    of->grpc = grpc >= 0 ? grpc_door_open(&of->lane, grpc, of->poll) : NULL;
    bool is_good = of->poll >= 0 && of->lane.runner && (of->http || http < 0) &&
                   (of->grpc || grpc < 0) && watch_descriptor(of, box->event, box) &&
                   (!of->http ||
                    watch_descriptor(of, http_door_event(of->http), &of->http));
    if (!is_good) {
        loop_close(of);
        of = NULL;
    }
    return of;
}

/* ---- a turn ---- */

static int choose_wait(const loop *of) {
    int64_t due = runner_due(of->lane.runner);
    if (of->grpc && grpc_door_is_unpacking(of->grpc)) {
        return 0;
    }
    int wait = of->http ? http_door_wait(of->http) : -1;
    int max = SWEEP_MS;
    if (due) {
        int64_t left = due - clock_now();
        max = left <= 0 ? 0 : left < SWEEP_MS * 1000000LL ? (int)(left / 1000000) : max;
    }
    return wait >= 0 && wait < max ? wait : max;
}

static void take_events(loop *of, const struct epoll_event *events, int count) {
    bool has_http = false;
    for (int i = 0; i < count; i++) {
        void *data = events[i].data.ptr;
        if (data == &of->http) {
            has_http = true;
        } else if (data == &of->profiler) {
            profiler_turn(of->profiler);
        } else if (data == of->lane.box) {
            mailbox_empty(of->lane.box);
        } else {
            grpc_door_take(of->grpc, data, events[i].events);
        }
    }
    if (of->http && (has_http || count == 0 || http_door_wait(of->http) == 0)) {
        http_door_turn(of->http);
    }
    if (of->grpc) {
        grpc_door_unpack(of->grpc);
    }
}

static void answer_all(loop *of) {
    runner_turn(of->lane.runner);
    if (of->http) {
        http_door_resume(of->http);
    }
    if (of->grpc) {
        grpc_door_push(of->grpc);
    }
}

/* Whether nothing is left to do, or no time for it. */
static bool has_drained(loop *of) {
    int64_t deadline = atomic_load(&of->drain_deadline);
    if (deadline == 0) {
        return false;
    }
    of->lane.is_draining = true;
    size_t left = of->http ? http_door_drain(of->http) : 0;
    left += of->grpc ? grpc_door_drain(of->grpc) : 0;
    answer_all(of);
    return left == 0 || of->lane.now >= deadline;
}

static void run_turns(loop *of) {
    struct epoll_event events[EVENTS];
    for (;;) {
        int count = epoll_wait(of->poll, events, EVENTS, choose_wait(of));
        of->lane.now = clock_now();
        lane_follow(&of->lane);
        take_events(of, events, count < 0 ? 0 : count);
        of->lane.read_ns = clock_now() - of->lane.now;
        answer_all(of);
        if (of->grpc && of->lane.now - of->swept > SWEEP_MS * 1000000LL) {
            of->swept = of->lane.now;
            grpc_door_sweep(of->grpc);
            if (of->profiler) {
                profiler_sweep(of->profiler);
                grpc_door_push(of->grpc);
            }
        }
        if (has_drained(of)) {
            return;
        }
    }
}

/* The thread stays until all loops have drained: processes of models, which others may
 * still need, end with the thread that started them. */
static void *serve(void *user) {
    loop *of = user;
    keys_use(of->lane.ring);
    run_turns(of);
    sem_post(&of->has_drained);
    sem_wait(&of->may_end);
    return NULL;
}

/* ---- life ---- */

bool loop_profile(loop *of, profiler *with) {
    of->profiler = with;
    of->lane.beside = profiler_service();
    profiler_attach(with, &of->lane);
    return watch_descriptor(of, profiler_event(with), &of->profiler);
}

bool loop_start(loop *of, repository *from, regions *shared) {
    of->lane.repository = from;
    of->lane.regions = shared;
    return pthread_create(&of->thread, NULL, serve, of) == 0;
}

void loop_drain(loop *of, int64_t deadline) {
    atomic_store(&of->drain_deadline, deadline);
    mailbox_wake(of->lane.box);
}

void loop_await(loop *of) {
    while (sem_wait(&of->has_drained) != 0) {
    }
}

void loop_join(loop *of) {
    sem_post(&of->may_end);
    pthread_join(of->thread, NULL);
    lane_end(&of->lane);
    runner_end(of->lane.runner);
}

void loop_close(loop *of) {
    profiler_close(of->profiler);
    mailbox_empty(of->lane.box); /* errands whose clients still wait */
    if (of->http) {
        http_door_resume(of->http);
    }
    if (of->grpc) {
        grpc_door_push(of->grpc);
    }
    http_door_close(of->http);
    grpc_door_close(of->grpc);
    runner_destroy(of->lane.runner);
    if (of->poll >= 0) {
        close(of->poll);
    }
    sem_destroy(&of->has_drained);
    sem_destroy(&of->may_end);
    free(of);
}
