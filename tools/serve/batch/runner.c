/* Running requests.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/batch/runner.h"

#include "tools/serve/batch/shared.h"
#include "tools/serve/batch/steps.h"
#include "tools/serve/model/join.h"
#include "tools/serve/model/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_JOINED = 256 }; /* requests of a run */
/* How long the runs of a turn last at least, and in multiples of what reading took: a
 * server that reads more than it runs answers nobody in time. */
enum { SLICE_NS = 1000000, RUNS_A_READ = 4 };

struct runner {
    lane *lane;
    request *first, **last;
    size_t waiting;
    int64_t backlog;  /* ns that all who wait will take, as the last runs did */
    ig_view *outputs; /* of a run, and after them those of one request of it */
    size_t output_room;
};

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

const char *refusal_words(refusal why) {
    static const char *const words[REFUSAL_COUNT] = {
        [REFUSAL_NONE] = "",
        [REFUSAL_QUEUE] = "too many requests wait already: exceeds maximum queue size "
                          "(--max-queue)",
        [REFUSAL_MODEL] = "too many requests wait for the model already: exceeds "
                          "max_queue_size",
        [REFUSAL_LATE] = "the requests that wait take longer than until the deadline",
    };
    return words[why];
}

static bool refuse_request(request *what, refusal why) {
    return request_fail(what, CALL_FULL, "%s", refusal_words(why));
}

static void let_go(served *kept) {
    if (kept) {
        atomic_fetch_sub(&kept->users, 1);
    }
}

/* The request keeps its version, which the next catalog may lack, until it is finished
 * or goes on with another one. */
static void keep_version(request *what) {
    served *before = what->kept;
    what->kept = what->served;
    atomic_fetch_add(&what->kept->users, 1);
    let_go(before);
}

/* Runs that cost less than was measured must be found out: each request that is refused
 * for its cost lets the next one look cheaper. */
static void doubt_cost(const runner *of, served *model) {
    enum { DOUBT = 64 };
    statistics *counts = &model->counts[of->lane->index];
    counts->cost_ns -= counts->cost_ns / DOUBT;
}

/* Whether the request is done by its deadline, after the others that wait, and after
 * those that are read until the turn's runs begin, as many as in the turn before.  One
 * that finds nobody before it is tried. */
static bool is_in_time(const runner *of, served *model, int64_t deadline) {
    if (deadline == 0 || of->waiting == 0) {
        return true;
    }
    int64_t cost = model ? model->counts[of->lane->index].cost_ns : 0,
            now = clock_now(), reading = of->lane->now + of->lane->read_ns - now;
    if (now + (reading > 0 ? reading : 0) + of->backlog + cost <= deadline) {
        return true;
    }
    if (model) {
        doubt_cost(of, model);
    }
    return false;
}

/* Do as many requests wait in this loop as may? */
static bool queue_is_full(const runner *of) {
    return of->waiting >= of->lane->limits->queued;
}

refusal runner_refusal(const runner *of, const char *model, const char *version,
                       int64_t deadline) {
    char words[WORDS];
    call_status status;
    served *to = model ? catalog_find(of->lane->catalog, model, version, &status, words)
                       : NULL;
    size_t max = to ? to->config.max_queue : 0;
    return queue_is_full(of)                         ? REFUSAL_QUEUE
           : max && atomic_load(&to->waiting) >= max ? REFUSAL_MODEL
           : !is_in_time(of, to, deadline)           ? REFUSAL_LATE
                                                     : REFUSAL_NONE;
}

/* Is there room among those that wait for the version, in all loops? */
static bool join_queue(request *what) {
    served *to = what->served;
    size_t max = to->config.max_queue;
    if (max == 0) {
        return true;
    }
    if (atomic_fetch_add(&to->waiting, 1) >= max) {
        atomic_fetch_sub(&to->waiting, 1);
        return refuse_request(what, REFUSAL_MODEL);
    }
    what->is_queued = true;
    return true;
}

static void leave_queue(request *what) {
    if (what->is_queued) {
        what->is_queued = false;
        atomic_fetch_sub(&what->served->waiting, 1);
    }
}

static bool prepare_request(runner *of, request *what) {
    char words[WORDS];
    call_status status = CALL_OK;
    if (queue_is_full(of)) {
        return refuse_request(what, REFUSAL_QUEUE);
    }
    what->served = catalog_find(of->lane->catalog, what->model, what->version, &status,
                                words);
    if (!what->served) {
        return request_fail(what, status, "%s", words);
    }
    keep_version(what);
    int64_t timeout = what->served->config.queue_timeout;
    if (timeout && (!what->deadline || what->begun + timeout < what->deadline)) {
        what->deadline = what->begun + timeout;
    }
    what->cost = what->served->counts[of->lane->index].cost_ns;
    if (!what->is_urgent && !is_in_time(of, what->served, what->deadline)) {
        return refuse_request(what, REFUSAL_LATE);
    }
    return join_queue(what) && read_shared_inputs(what, of->lane->regions) &&
           step_begin(what, of->lane);
}

/* After all urgent ones, and after those to be finished before it. */
static request **find_urgent_slot(runner *of, const request *what) {
    request **slot = &of->first;
    for (request **at = &of->first; *at; at = &(*at)->next) {
        bool is_before = (*at)->is_urgent ||
                         (what->order && (*at)->order == what->order);
        slot = is_before ? &(*at)->next : slot;
    }
    return slot;
}

void runner_add(runner *to, request *what) {
    what->served = NULL;
    if (what->status == CALL_OK) {
        prepare_request(to, what);
    }
    request **at = what->is_urgent ? find_urgent_slot(to, what) : to->last;
    what->next = *at;
    *at = what;
    if (!what->next) {
        to->last = &what->next;
    }
    to->waiting++;
    to->backlog += what->cost;
}

/* Takes off the request that *at points to. */
static void take_off(runner *from, request **at) {
    request *what = *at;
    *at = what->next;
    from->waiting--;
    from->backlog -= what->cost;
    leave_queue(what);
    if (from->last == &what->next) {
        from->last = at;
    }
}

void runner_forget(runner *from, request *what) {
    for (request **at = &from->first; *at; at = &(*at)->next) {
        if (*at == what) {
            take_off(from, at);
            let_go(what->kept);
            return;
        }
    }
}

/* ---- due requests ---- */

/* When a request runs at the latest: at once, or after its model's delay. */
static int64_t due_time(const runner *of, const request *what) {
    bool waits = what->status == CALL_OK && what->rows >= 0 && !of->lane->is_draining;
    return waits ? what->begun + what->served->config.queue_delay : what->begun;
}

/* Rows that wait for the model of a request fill a run. */
static bool is_full(const runner *of, const request *what) {
    int64_t rows = 0;
    for (const request *each = of->first; each; each = each->next) {
        rows += each->served == what->served && each->rows > 0 ? each->rows : 0;
    }
    return rows >= what->served->max_batch_size;
}

/* The first that waits of those that are finished in the same order. */
static request *first_in_order(const runner *of, request *what) {
    request *each = of->first;
    while (what->order && each != what && each->order != what->order) {
        each = each->next;
    }
    return what->order ? each : what;
}

/* One that is due takes those with it that are to be finished before it.  One that has
 * failed is due, also when it came after `now`: it has no model to wait for. */
static request *find_due(const runner *of, int64_t now) {
    for (request *each = of->first; each; each = each->next) {
        if (each->status != CALL_OK || due_time(of, each) <= now || is_full(of, each)) {
            return first_in_order(of, each);
        }
    }
    return NULL;
}

int64_t runner_due(const runner *of) {
    int64_t min = 0;
    for (const request *each = of->first; each; each = each->next) {
        int64_t due = due_time(of, each);
        min = !min || due < min ? due : min;
    }
    return min;
}

/* ---- batches ---- */

/* Requests of a run, in the order in which they came. */
typedef struct batch {
    request *all[MAX_JOINED];
    size_t count;
    int64_t rows;
} batch;

static bool may_join(const batch *to, const request *lead, const request *next) {
    return lead->status == CALL_OK && next->status == CALL_OK &&
           lead->served == next->served && lead->rows >= 0 && next->rows >= 0 &&
           to->count < MAX_JOINED &&
           to->rows + next->rows <= lead->served->max_batch_size &&
           join_fits(lead->served, lead, next);
}

/* Takes `lead` off the queue, and after it the requests that may run with it.  Ordered
 * requests do not pass each other. */
static void collect_batch(runner *of, request *lead, batch *out) {
    bool has_passed = false;
    out->count = 0;
    out->rows = 0;
    for (request **at = &of->first; *at;) {
        request *each = *at;
        bool is_lead = each == lead;
        bool is_after = out->count > 0;
        if (is_lead ||
            (is_after && !(each->order && has_passed) && may_join(out, lead, each))) {
            take_off(of, at);
            out->all[out->count++] = each;
            out->rows += each->rows > 0 ? each->rows : 0;
        } else {
            has_passed = has_passed || (is_after && each->order);
            at = &each->next;
        }
    }
}

/* ---- runs ---- */

static const char deadline_passed[] =
    "the deadline passed before the request could begin";

static ig_view *need_outputs(runner *of, size_t count) {
    if (2 * count > of->output_room) {
        ig_view *grown = realloc(of->outputs, 2 * count * sizeof *grown);
        if (!grown) {
            return NULL;
        }
        of->outputs = grown;
        of->output_room = 2 * count;
    }
    if (count) {
        memset(of->outputs, 0, count * sizeof *of->outputs);
    }
    return of->outputs;
}

/* `took` ns of a run of so many requests; one that was cancelled would have taken
 * more. */
static void learn_cost(statistics *to, int64_t took, size_t requests, bool is_whole) {
    enum { WEIGHT = 8 };
    int64_t each = took / (int64_t)requests, gap = each - to->cost_ns;
    if (to->cost_ns == 0 && is_whole) {
        to->cost_ns = each;
    } else if (is_whole || gap > 0) {
        to->cost_ns += gap / WEIGHT;
    }
}

static void count_run(runner *of, const served *model, int64_t rows) {
    statistics *to = &model->counts[of->lane->index];
    rows = rows > 0 ? rows : 1;
    count_up(&to->runs, 1);
    count_up(&to->rows, (uint64_t)rows);
    histogram_add(to, MEASURE_ROWS, (uint64_t)rows);
}

static void count_request(runner *of, const request *what, int64_t begin, int64_t end) {
    statistics *to = &what->served->counts[of->lane->index];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    atomic_store_explicit(&to->last_ms,
                          (uint64_t)(now.tv_sec * 1000 + now.tv_nsec / 1000000),
                          memory_order_relaxed);
    uint64_t total = (uint64_t)(end - what->begun);
    if (what->trace.is_sampled) {
        log_request(&(log_span){ .model = what->served->name,
                                 .trace = what->trace.id,
                                 .parent = what->trace.parent,
                                 .version = what->served->version,
                                 .queue_ns = begin - what->begun,
                                 .run_ns = end - begin,
                                 .all_ns = end - what->begun,
                                 .status = (int)what->status });
    }
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

/* Tells a request's results, which are in the memory of the version that `ran` until
 * then; NULL: none did, or others of the run are still to be told. */
static void finish_request(request *what, served *ran) {
    served *kept = what->kept;
    what->finish(what);
    if (ran) {
        served_release(ran);
    }
    let_go(kept);
}

void runner_end(runner *of) {
    while (of->first) {
        request *what = of->first;
        take_off(of, &of->first);
        if (what->status == CALL_OK) {
            request_fail(what, CALL_UNAVAILABLE, "the server ends");
        }
        finish_request(what, NULL);
    }
}

/* Has a share of the runs compared with another version's, beside. */
static void give_shadow(const runner *of, served *from, const ig_view *inputs,
                        const ig_view *outputs) {
    char words[WORDS], version[24];
    call_status status;
    if (!from->shadow || !shadow_wants(from->shadow, from->config.shadow_share)) {
        return;
    }
    snprintf(version, sizeof version, "%lld", (long long)from->config.shadow);
    served *with = catalog_find(of->lane->catalog, from->name, version, &status, words);
    shadow_give(from->shadow, from, with, inputs, outputs);
}

static void tell_rows(request *what, const served *from) {
    if (from->stored) {
        what->stored = stored_counts(from->stored);
    }
}

/* One run of the request's own; its outputs are in the session until the next. */
static bool run_alone(runner *of, request *what, int64_t begin, served **out_ran) {
    served *model = what->served;
    ig_view *outputs = need_outputs(of, model->output_count);
    if (model->output_count && !outputs) {
        return request_fail(what, CALL_FULL, "memory for outputs ran out");
    }
    if (what->deadline && begin >= what->deadline) {
        return request_fail(what, CALL_LATE, "%s", deadline_passed);
    }
    ig_status status = served_run(model, of->lane->index, what->views, outputs,
                                  what->deadline ? what->deadline - begin : 0);
    *out_ran = model;
    tell_rows(what, model);
    count_run(of, model, what->rows);
    learn_cost(&model->counts[of->lane->index], clock_now() - begin, 1,
               status == IG_OK);
    if (status != IG_OK) {
        return request_fail(what, call_status_of_run(status), "model '%s': %s",
                            model->name, served_error(model, of->lane->index));
    }
    give_shadow(of, model, what->views, outputs);
    return step_end(what, of->lane, outputs);
}

/* A run's results are there until the next run, so each is finished before it, unless
 * another model goes on with copies of them. */
static void run_each(runner *of, const batch *all, bool goes_on) {
    for (size_t i = 0; i < all->count; i++) {
        request *what = all->all[i];
        served *ran = NULL;
        if (what->status == CALL_OK) {
            int64_t begin = clock_now();
            run_alone(of, what, begin, &ran);
            count_request(of, what, begin, clock_now());
        }
        if (!goes_on) {
            finish_request(what, ran);
        } else if (ran) {
            served_release(ran);
        }
    }
}

/* Gives each request its rows of a run of all; none is finished yet. */
static void take_apart(runner *of, const batch *all, int64_t begin) {
    const served *model = all->all[0]->served;
    ig_view *parts = of->outputs + model->output_count;
    int64_t first = 0, end = clock_now();
    for (size_t i = 0; i < all->count; i++) {
        request *what = all->all[i];
        for (size_t k = 0; k < model->output_count; k++) {
            parts[k] = join_part(&model->outputs[k], &of->outputs[k], first,
                                 what->rows);
        }
        first += what->rows;
        tell_rows(what, model);
        step_end(what, of->lane, parts);
        count_request(of, what, begin, end);
    }
}

/* The time that is left until the first deadline; 0: none has one.  Negative: it
 * passed. */
static int64_t time_left(const batch *all, int64_t now) {
    int64_t min = 0;
    for (size_t i = 0; i < all->count; i++) {
        int64_t deadline = all->all[i]->deadline;
        min = deadline && (!min || deadline < min) ? deadline : min;
    }
    return !min ? 0 : min > now ? min - now : -1;
}

/* Whether all of them were run as one: every result a row of the request that it is
 * for. */
static bool run_joined(runner *of, const batch *all) {
    served *model = all->all[0]->served;
    pool memory = { .limit = SIZE_MAX / 2, .from = &of->lane->memory };
    ig_view *inputs = join_inputs(model, all->all, all->count, all->rows, &memory);
    ig_view *outputs = need_outputs(of, model->output_count);
    int64_t begin = clock_now(), left = time_left(all, begin);
    bool may_run = inputs && outputs && left >= 0;
    bool is_good = may_run &&
                   served_run(model, of->lane->index, inputs, outputs, left) == IG_OK;
    for (size_t k = 0; is_good && k < model->output_count; k++) {
        is_good = model->outputs[k].role != IG_ROLE_ROWS ||
                  outputs[k].dims[0] == all->rows;
    }
    if (is_good) {
        count_run(of, model, all->rows);
        learn_cost(&model->counts[of->lane->index], clock_now() - begin, all->count,
                   true);
        give_shadow(of, model, inputs, outputs);
        take_apart(of, all, begin);
    } else if (may_run) {
        served_release(model);
    }
    pool_free(&memory);
    return is_good;
}

/* Whether the deadline has passed, or will before a run ends, which others could have
 * instead. */
static bool is_late(const runner *of, const request *what, int64_t now) {
    int64_t cost = of->waiting ? what->served->counts[of->lane->index].cost_ns : 0;
    return what->deadline && (now >= what->deadline || now + cost > what->deadline);
}

/* Nothing begins after its deadline, or for a client that has left: leaves those in
 * `out` that still want to run. */
static void leave_out_late(runner *of, const batch *all, batch *out) {
    int64_t now = clock_now();
    out->count = 0;
    out->rows = 0;
    for (size_t i = 0; i < all->count; i++) {
        request *what = all->all[i];
        bool has_waited = what->status == CALL_OK && now - what->begun > SLICE_NS;
        if (what->status == CALL_OK && is_late(of, what, now)) {
            request_fail(what, CALL_LATE, "%s", deadline_passed);
        } else if (has_waited && what->has_left && what->has_left(what)) {
            request_fail(what, CALL_CANCELLED, "the client left");
        }
        if (what->status == CALL_OK) {
            out->all[out->count++] = what;
            out->rows += what->rows > 0 ? what->rows : 0;
        } else if (what->served && has_waited) {
            count_request(of, what, now, now);
        }
    }
}

static void run_next(runner *of, const batch *all);

static void run_batch(runner *of, const batch *all) {
    batch good;
    leave_out_late(of, all, &good);
    served *ran = good.count ? good.all[0]->served : NULL;
    bool goes_on = ran && ran->config.then;
    /* Where one of them makes the run fail, the others are not to suffer. */
    bool is_joined = good.count >= 2 && run_joined(of, &good);
    if (!is_joined) {
        run_each(of, all, goes_on);
    }
    if (goes_on) {
        if (is_joined) {
            served_release(ran);
        }
        run_next(of, all);
    }
    if (goes_on || !is_joined) {
        return;
    }
    for (size_t i = 0; i < all->count; i++) {
        finish_request(all->all[i], i + 1 == all->count ? ran : NULL);
    }
}

/* Gives the next model of a chain the requests of a batch, in their order, so that
 * those of one stream stay in order; those that fit are a batch again. */
static void run_next(runner *of, const batch *all) {
    batch group = { .count = 0 };
    for (size_t i = 0; i < all->count; i++) {
        request *what = all->all[i];
        if (what->status == CALL_OK) {
            step_next(what, of->lane);
            keep_version(what);
        }
        if (group.count && !may_join(&group, group.all[0], what)) {
            run_batch(of, &group);
            group = (batch){ .count = 0 };
        }
        group.all[group.count++] = what;
        group.rows += what->rows > 0 ? what->rows : 0;
    }
    run_batch(of, &group);
}

void runner_turn(runner *of) {
    batch next;
    int64_t now = clock_now(), slice = RUNS_A_READ * (now - of->lane->now),
            end = now + (slice > SLICE_NS ? slice : SLICE_NS);
    bool has_time = true;
    for (request *lead; has_time && (lead = find_due(of, now));) {
        collect_batch(of, lead, &next);
        run_batch(of, &next);
        has_time = !of->first || clock_now() < end || of->lane->is_draining;
    }
}
