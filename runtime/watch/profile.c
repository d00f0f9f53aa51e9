/* A run with a clock around each kernel and each step.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Ordinary runs know nothing of this.  A profiled one has its own verbs and its own
 * functions of steps for the length of the run:
 *
 *     steps    profile_step takes the time of any step, without that of steps inside
 *     submit   profile_phase hands the real device a copy of the phase whose kernels
 *              are all run_timed, with the kernel to call instead of parameters
 *
 * A trace also keeps when each call of a kernel began and ended, and on which thread.
 *
 * That is for kernels that the host calls.  A GPU tells itself how long each launch
 * took (staging.h), one after the other: note_gpu_launch.  On several threads the
 * kernels of a phase run side by side, so each launch gets its share, by the time of
 * its kernels, of what passed between the first kernel's begin and the last one's end.
 */
#include "runtime/watch/watch.h"

#include "base/platform/clock.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A launch's kernels in one phase, summed over threads. */
typedef struct launch_time {
    atomic_llong busy_ns, calls, tiles;
} launch_time;

/* Stands in for the kernel's parameters. */
typedef struct timed {
    ig_device_kernel kernel;
    const int64_t *params;
    launch_time *time;
    struct ig_profile *profile;
    uint32_t step;
} timed;

enum { MAX_THREADS = 512 }; /* that a trace tells apart */

typedef struct trace {
    ig_step_event *events; /* room for `capacity` of them; NULL: nobody wants them */
    size_t capacity;
    atomic_size_t count;                   /* also of those without room */
    atomic_uintptr_t threads[MAX_THREADS]; /* as they came; 0: none */
} trace;

typedef struct ig_profile {
    ig_device_verbs verbs; /* first: a queue with these leads to the profile */
    ig_session *session;
    ig_step_fn *const *run_steps; /* the session's own */
    ig_step_profile *steps;
    ig_launch *launches;      /* copies */
    timed *timed;             /* two per launch: of full and of last blocks */
    launch_time *times;       /* one per launch */
    int64_t begin_ns;         /* of the run */
    int64_t inside_ns;        /* of steps inside the one at hand */
    atomic_llong first, last; /* kernels of the phase at hand: begin and end */
    trace *trace;
} ig_profile;

/* ---- events ---- */

/* The caller's thread is 0, others are numbered as they come. */
static uint32_t find_thread(trace *t) {
    uintptr_t self = (uintptr_t)pthread_self();
    uint32_t i = 0;
    for (; i < MAX_THREADS - 1; i++) {
        uintptr_t seen = atomic_load(&t->threads[i]);
        if (!seen && atomic_compare_exchange_strong(&t->threads[i], &seen, self)) {
            break;
        }
        if (seen == self) {
            break;
        }
    }
    return i;
}

static void add_event(ig_profile *profile, ig_step_event event) {
    trace *t = profile->trace;
    if (!t->events) {
        return;
    }
    size_t index = atomic_fetch_add(&t->count, 1);
    if (index < t->capacity) {
        event.begin_ns -= profile->begin_ns;
        event.end_ns -= profile->begin_ns;
        event.thread = find_thread(t);
        t->events[index] = event;
    }
}

/* ---- kernels ---- */

static void keep_first(atomic_llong *word, long long value) {
    long long old = atomic_load(word);
    while (value < old && !atomic_compare_exchange_weak(word, &old, value)) {
    }
}

static void keep_last(atomic_llong *word, long long value) {
    long long old = atomic_load(word);
    while (value > old && !atomic_compare_exchange_weak(word, &old, value)) {
    }
}

static void run_timed(const ig_kernel_call_v0 *call) {
    const timed *what = (const void *)call->params;
    ig_kernel_call_v0 own = *call;
    own.params = what->params;
    int64_t begin = ig_clock_ns();
    what->kernel.call(&own);
    int64_t end = ig_clock_ns();
    keep_first(&what->profile->first, begin);
    keep_last(&what->profile->last, end);
    atomic_fetch_add(&what->time->busy_ns, end - begin);
    atomic_fetch_add(&what->time->calls, 1);
    atomic_fetch_add(&what->time->tiles, own.tile_end - own.tile_begin);
    add_event(what->profile, (ig_step_event){ .step = what->step,
                                              .begin_ns = begin,
                                              .end_ns = end,
                                              .tiles = own.tile_end - own.tile_begin });
}

static const int64_t *disguise_timed(const timed *what) {
    return (const void *)what;
}

/* A copy of the phase's launches with timed kernels. */
static void wrap_launches(ig_profile *profile, const ig_phase *phase) {
    for (uint32_t i = 0; i < phase->launch_count; i++) {
        const ig_launch *launch = &phase->launches[i];
        timed *own = &profile->timed[2 * (size_t)i];
        own[0] = (timed){ launch->kernel, launch->params, &profile->times[i], profile,
                          launch->step };
        own[1] = own[0];
        own[1].params = launch->tail_params;
        profile->launches[i] = *launch;
        profile->launches[i].kernel.call = run_timed;
        profile->launches[i].params = disguise_timed(&own[0]);
        profile->launches[i].tail_params = disguise_timed(&own[1]);
        atomic_store(&profile->times[i].busy_ns, 0);
        atomic_store(&profile->times[i].calls, 0);
        atomic_store(&profile->times[i].tiles, 0);
    }
    atomic_store(&profile->first, INT64_MAX);
    atomic_store(&profile->last, 0);
}

/* ---- work ---- */

static double evaluate_work(const ig_session *session, uint32_t expr) {
    int64_t value = 0;
    bool is_known = ig_plan_evaluate(session->plan, expr, session->symbols, &value);
    return is_known && value > 0 ? (double)value : 0;
}

/* Adds the work of a launch, `times` over, for the symbols as they are. */
static void add_work(const ig_session *session, uint32_t index, int64_t times,
                     ig_step_profile *to) {
    ig_plan_range work = session->program->execs[index].variant->work;
    const uint32_t *exprs = session->plan->lists + work.first;
    if (work.count == IG_WORK_COUNT && times > 0) {
        to->flops += (double)times * evaluate_work(session, exprs[IG_WORK_FLOPS]);
        to->bytes += (double)times * evaluate_work(session, exprs[IG_WORK_BYTES]);
        to->lines += (double)times * evaluate_work(session, exprs[IG_WORK_LINES]);
    }
}

/* In rows: once for the full blocks, once for the last one when it is shorter. */
static void add_block_work(ig_session *session, const ig_phase *phase, uint32_t index,
                           ig_step_profile *to) {
    uint32_t rows = session->program->execs[index].rows;
    int64_t *symbol = &session->symbols[session->plan->steps[rows].symbol];
    int64_t before = *symbol;
    *symbol = phase->block;
    add_work(session, index, phase->rows / phase->block, to);
    *symbol = phase->rows % phase->block;
    add_work(session, index, *symbol > 0, to);
    *symbol = before;
}

/* ---- phases ---- */

static void divide_time(const ig_profile *profile, const ig_phase *phase,
                        int64_t span) {
    int64_t busy = 0;
    for (uint32_t i = 0; i < phase->launch_count; i++) {
        busy += atomic_load(&profile->times[i].busy_ns);
    }
    for (uint32_t i = 0; i < phase->launch_count; i++) {
        ig_step_profile *step = &profile->steps[phase->launches[i].step];
        double own = (double)atomic_load(&profile->times[i].busy_ns);
        step->ns += busy > 0 ? (int64_t)((double)span * own / (double)busy) : 0;
    }
}

static ig_status profile_phase(ig_queue *queue, const ig_phase *phase);

static void note_launches(ig_profile *profile, const ig_phase *phase, int threads) {
    ig_session *session = profile->session;
    for (uint32_t i = 0; i < phase->launch_count; i++) {
        uint32_t index = phase->launches[i].step;
        ig_step_profile *step = &profile->steps[index];
        if (step->calls == 0) {
            step->begin_ns = atomic_load(&profile->first) - profile->begin_ns;
        }
        step->calls += atomic_load(&profile->times[i].calls);
        step->tiles += atomic_load(&profile->times[i].tiles);
        step->threads = threads > step->threads ? threads : step->threads;
        if (phase->block > 0) {
            add_block_work(session, phase, index, step);
        } else {
            add_work(session, index, 1, step);
        }
    }
}

/* Of a GPU, which has done nothing else meanwhile. */
static void note_gpu_launch(void *user, const ig_launch *launch, int64_t ns) {
    ig_profile *profile = user;
    ig_step_profile *step = &profile->steps[launch->step];
    int64_t end = ig_clock_ns();
    step->begin_ns = step->calls ? step->begin_ns : end - ns - profile->begin_ns;
    step->ns += ns;
    step->calls++;
    step->tiles += launch->grid;
    step->threads = 1;
    add_work(profile->session, launch->step, 1, step);
    add_event(profile, (ig_step_event){ .step = launch->step,
                                        .begin_ns = end - ns,
                                        .end_ns = end,
                                        .tiles = launch->grid });
}

static ig_profile *profile_of(const ig_queue *queue) {
    assert(queue->verbs != queue->device->verbs && "the run is not profiled");
    return (ig_profile *)(uintptr_t)queue->verbs;
}

static ig_status profile_phase(ig_queue *queue, const ig_phase *phase) {
    ig_profile *profile = profile_of(queue);
    ig_phase copy = *phase;
    copy.launches = profile->launches;
    wrap_launches(profile, phase);
    IG_TRY(queue->device->verbs->submit(queue, &copy));
    IG_TRY(ig_queue_finish(queue));
    int64_t span = atomic_load(&profile->last) - atomic_load(&profile->first);
    if (atomic_load(&profile->last) > 0) {
        note_launches(profile, phase, phase->is_parallel ? queue->active_count : 1);
        divide_time(profile, phase, span);
    }
    return IG_OK;
}

/* ---- steps ---- */

/* Launches and rows are noted by their kernels; what else passes is the runtime's. */
static ig_status profile_step(ig_session *session, uint32_t index) {
    ig_profile *profile = profile_of(session->queue);
    ig_step_profile *step = &profile->steps[index];
    uint32_t kind = session->plan->steps[index].kind;
    bool has_kernels = kind == IG_STEP_launch || kind == IG_STEP_rows;
    int64_t outer_ns = profile->inside_ns;
    profile->inside_ns = 0;
    int64_t begin = ig_clock_ns();
    ig_status status = profile->run_steps[kind](session, index);
    int64_t end = ig_clock_ns(), spent = end - begin;
    if (!has_kernels) {
        add_event(profile,
                  (ig_step_event){ .step = index, .begin_ns = begin, .end_ns = end });
        step->begin_ns = step->calls ? step->begin_ns : begin - profile->begin_ns;
        step->calls++;
        step->ns += spent - profile->inside_ns;
        step->threads = 1;
    }
    profile->inside_ns = outer_ns + spent;
    return status;
}

static ig_step_fn *const profile_steps[IG_STEP_COUNT] = {
#define PROFILE_STEP(name, meaning) [IG_STEP_##name] = profile_step,
    IG_PLAN_STEPS(PROFILE_STEP)
#undef PROFILE_STEP
};

static const char *const kind_names[IG_STEP_COUNT] = {
#define KIND_NAME(name, meaning) [IG_STEP_##name] = #name,
    IG_PLAN_STEPS(KIND_NAME)
#undef KIND_NAME
};

static void name_steps(const ig_session *session, ig_step_profile *steps) {
    const ig_plan *plan = session->plan;
    for (uint32_t i = 0; i < plan->steps_count; i++) {
        steps[i] = (ig_step_profile){ .name = ig_plan_string(plan, plan->steps[i].name),
                                      .kind = kind_names[plan->steps[i].kind] };
    }
    for (uint32_t i = 0; i < plan->steps_count; i++) {
        for (uint32_t k = i + 1; k < session->program->execs[i].end; k++) {
            steps[k].depth++;
        }
    }
}

/* ---- the run ---- */

static ig_status run_profiled(ig_session *session, ig_profile *profile,
                              int64_t *out_ns) {
    const ig_device_verbs *verbs = session->queue->verbs;
    const ig_staging *staging = session->staging;
    profile->verbs = *verbs;
    profile->verbs.submit = staging ? verbs->submit : profile_phase;
    session->queue->verbs = &profile->verbs;
    profile->run_steps = session->run_steps;
    session->run_steps = profile_steps;
    (void)find_thread(profile->trace); /* the caller's is the first */
    ig_status status = staging ? staging->profile(session, note_gpu_launch, profile)
                               : IG_OK;
    profile->begin_ns = ig_clock_ns();
    status = status == IG_OK ? session->watched->run_bound(session) : status;
    *out_ns = ig_clock_ns() - profile->begin_ns;
    if (staging) {
        (void)staging->profile(session, NULL, NULL);
    }
    session->queue->verbs = verbs;
    session->run_steps = profile->run_steps;
    return status;
}

static ig_status profile_run(ig_session *session, ig_step_profile *steps, size_t count,
                             trace *events, int64_t *out_ns) {
    size_t launches = session->program->launch_count;
    ig_profile profile = { .session = session, .steps = steps, .trace = events };
    ig_cutter c = { NULL, 0 };
    *out_ns = 0;
    if (count != session->plan->steps_count) {
        return ig_message_set(&session->message, IG_INVALID,
                              "the program has %u steps, not %zu",
                              (unsigned)session->plan->steps_count, count);
    }
    for (int is_real = 0; is_real < 2; is_real++) {
        size_t size = c.used;
        c = (ig_cutter){ is_real ? ig_memory_take(&session->host, size) : NULL, 0 };
        if (is_real && !c.memory) {
            return ig_message_set(&session->message, IG_LIMIT,
                                  "out of memory for a profile");
        }
        profile.launches = ig_cut(&c, launches, sizeof *profile.launches);
        profile.timed = ig_cut(&c, 2 * launches, sizeof *profile.timed);
        profile.times = ig_cut(&c, launches, sizeof *profile.times);
    }
    name_steps(session, steps);
    ig_status status = run_profiled(session, &profile, out_ns);
    ig_memory_give(&session->host, c.memory, c.used);
    return status;
}

ig_status ig_watch_profile(ig_session *session, ig_step_profile *steps, size_t count,
                           ig_step_events *events, int64_t *out_ns) {
    trace kept = { .events = NULL };
    if (events) {
        kept = (trace){ .events = events->items, .capacity = events->capacity };
    }
    ig_status status = profile_run(session, steps, count, &kept, out_ns);
    if (events) {
        events->count = atomic_load(&kept.count);
    }
    return status;
}
