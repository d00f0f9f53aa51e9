/* The connections of a store, and the commands that go over them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A call borrows connections ("lanes") and gives each a run of commands; a lane that is
 * done takes the next run.  A connection that fails is opened again, after a pause that
 * doubles and varies, and gets the commands whose replies have not come: all commands
 * can be sent twice.
 *
 * One thing makes sending twice unsafe.  A write that was sent over an abandoned
 * connection may still be in the server's socket, and would be executed after a later
 * write of the same cell: an acknowledged row would be replaced by an older one.  So a
 * connection that was given up with writes on their way is remembered (a ghost), and
 * before the next write, on any connection, the server is told to kill it.  A server
 * that was started anew has no ghosts: its run has another name.
 */
#include "runtime/store/redis/pool.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FIRST_PAUSE_MS = 20, LONGEST_PAUSE_MS = 1000, LOOK_NS = 20000000 };

typedef struct lane {
    connection *c;
    size_t next, end; /* commands whose replies are to come */
    bool is_sent;
} lane;

typedef struct run {
    pool *pool;
    const ig_store_call *call;
    const ig_redis_work *work;
    lane lanes[IG_REDIS_LANES];
    size_t lane_count, next; /* the first command that no lane has */
    int64_t failures;        /* in a row */
    ig_status status;        /* of the first error */
} run;

/* ---- waits ---- */

static struct timespec look_time(clockid_t clock) {
    struct timespec at;
    (void)clock_gettime(clock, &at);
    at.tv_nsec += LOOK_NS;
    at.tv_sec += at.tv_nsec / 1000000000;
    at.tv_nsec %= 1000000000;
    return at;
}

/* Between attempts: twice as long each time, from a half to the whole of it, so that
 * many clients do not come back at once. */
static ig_status pause_after(const ig_store_call *call, int64_t failures) {
    int64_t longest = LONGEST_PAUSE_MS, now = ig_store_now_ns();
    if (failures < 6) {
        longest = (int64_t)FIRST_PAUSE_MS << failures;
        longest = longest < LONGEST_PAUSE_MS ? longest : LONGEST_PAUSE_MS;
    }
    uint64_t mixed = (uint64_t)now * UINT64_C(0x9e3779b97f4a7c15) >> 33;
    int64_t until = now + (longest / 2 + (int64_t)(mixed % (uint64_t)longest) / 2) *
                              INT64_C(1000000);
    for (; now < until; now = ig_store_now_ns()) {
        IG_TRY(ig_store_check_time(call));
        int64_t left = until - now < LOOK_NS ? until - now : LOOK_NS;
        struct timespec time = { 0, (long)left };
        (void)nanosleep(&time, NULL);
    }
    return ig_store_check_time(call);
}

/* ---- ghosts ---- */

static ig_status lock_ghosts(pool *p, const ig_store_call *call) {
    struct timespec until;
    do {
        IG_TRY(ig_store_check_time(call));
        until = look_time(CLOCK_REALTIME);
    } while (pthread_mutex_timedlock(&p->writer, &until) != 0);
    return IG_OK;
}

/* Gives a connection up.  With writes on their way it is a ghost. */
static void give_up(pool *p, connection *c, bool is_write) {
    ig_redis_disconnect(c);
    if (!is_write || !c->identity.run[0]) {
        return;
    }
    (void)pthread_mutex_lock(&p->lock);
    assert(p->ghost_count < IG_REDIS_GHOSTS && "each connection leaves one ghost");
    p->ghosts[p->ghost_count++] = c->identity;
    (void)pthread_mutex_unlock(&p->lock);
    c->identity.run[0] = 0;
}

/* Has the server kill abandoned connections, before anything else is written. */
static ig_status lay_ghosts(pool *p, const ig_store_call *call, connection *c) {
    char number[24];
    const char *words[] = { "CLIENT", "KILL", "ID", number };
    ig_status status = IG_OK;
    IG_TRY(lock_ghosts(p, call));
    (void)pthread_mutex_lock(&p->lock);
    while (p->ghost_count > 0 && status == IG_OK) {
        ig_redis_identity ghost = p->ghosts[--p->ghost_count];
        redisReply *reply = NULL;
        if (strcmp(ghost.run, c->identity.run) != 0) {
            continue;
        }
        (void)pthread_mutex_unlock(&p->lock);
        (void)snprintf(number, sizeof number, "%lld", ghost.client);
        status = ig_redis_ask(c, call, 4, words, &reply);
        if (status == IG_OK && reply->type != REDIS_REPLY_INTEGER) {
            status = ig_redis_refused(c, call, reply);
        }
        if (reply) {
            freeReplyObject(reply);
        }
        (void)pthread_mutex_lock(&p->lock);
        if (status != IG_OK) {
            p->ghosts[p->ghost_count++] = ghost;
        }
    }
    (void)pthread_mutex_unlock(&p->lock);
    (void)pthread_mutex_unlock(&p->writer);
    return status;
}

/* ---- lanes ---- */

/* An idle connection must be empty: a late reply would answer another command. */
static bool is_quiet(const connection *c) {
    struct pollfd poll_of = { .fd = c->fd, .events = POLLIN };
    return ig_redis_guard_is_between(&c->guard) && c->pending == 0 &&
           poll(&poll_of, 1, 0) == 0;
}

static ig_status open_lane(run *r, connection *c) {
    redisReply *reply = NULL;
    if (c->fd >= 0 && !is_quiet(c)) {
        ig_redis_disconnect(c);
    }
    if (c->fd < 0) {
        return ig_redis_connect(c, r->call, NULL);
    }
    if (ig_store_now_ns() - c->progress_ns < c->url->heartbeat_ns) {
        return IG_OK;
    }
    IG_TRY(ig_redis_ask(c, r->call, 1, (const char *[]){ "PING" }, &reply));
    freeReplyObject(reply);
    return IG_OK;
}

static bool put_commands(const ig_redis_work *work, const lane *l) {
    if (work->put_bundle) {
        return work->put_bundle(work->user, l->c, l->next, l->end - l->next);
    }
    for (size_t i = l->next; i < l->end; i++) {
        if (!work->put(work->user, l->c, i)) {
            return false;
        }
    }
    return true;
}

/* Sends the commands of the lane that have no reply yet. */
static ig_status start_lane(run *r, lane *l) {
    IG_TRY(open_lane(r, l->c));
    if (r->work->is_write) {
        IG_TRY(lay_ghosts(r->pool, r->call, l->c));
    }
    l->is_sent = true;
    return put_commands(r->work, l)
               ? IG_OK
               : ig_store_fail(r->call, IG_LIMIT, "%s: out of memory",
                               r->pool->url.name);
}

static bool has_work(run *r, lane *l) {
    if (r->status != IG_OK) {
        return false;
    }
    if (l->next == l->end && r->next < r->work->count) {
        size_t left = r->work->count - r->next, chunk = (size_t)r->pool->url.chunk;
        l->next = r->next;
        l->end = r->next + (left < chunk ? left : chunk);
        r->next = l->end;
    }
    return l->next < l->end;
}

/* The server will do it later: it reads its files, or moves to another. */
static bool is_passing(const redisReply *reply) {
    return strncmp(reply->str, "LOADING", 7) == 0 ||
           strncmp(reply->str, "TRYAGAIN", 8) == 0 ||
           strncmp(reply->str, "BUSY ", 5) == 0;
}

static ig_status take_reply(run *r, lane *l, const redisReply *reply) {
    ig_status status = IG_OK;
    if (reply->type == REDIS_REPLY_ERROR) {
        status = ig_redis_refused(l->c, r->call, reply);
        if (is_passing(reply)) {
            ig_redis_disconnect(l->c);
            return IG_IO;
        }
    } else if (r->status == IG_OK) {
        status = r->work->take(r->work->user, r->call, l->c, l->next, reply);
    }
    r->status = r->status == IG_OK ? status : r->status;
    r->failures = 0;
    if (reply->type == REDIS_REPLY_ERROR && r->work->put_bundle) {
        l->c->pending -= l->end - l->next - 1; /* it answers all of them */
        l->next = l->end - 1;
    }
    l->next++;
    l->is_sent = l->next < l->end;
    return IG_OK;
}

static ig_status take_replies(run *r, lane *l) {
    for (;;) {
        redisReply *reply = NULL;
        IG_TRY(ig_redis_next(l->c, r->call, &reply));
        if (!reply) {
            return IG_OK;
        }
        ig_status status = take_reply(r, l, reply);
        freeReplyObject(reply);
        IG_TRY(status);
    }
}

/* After a failure of connections: they will be opened again, unless too many failed in
 * a row. */
static ig_status recover_lanes(run *r, ig_status status) {
    bool is_broken = false;
    for (size_t i = 0; i < r->lane_count; i++) {
        lane *l = &r->lanes[i];
        if (l->c->fd < 0 && l->is_sent) {
            give_up(r->pool, l->c, r->work->is_write);
            l->is_sent = false;
        }
        is_broken |= l->c->fd < 0;
    }
    if (status != IG_IO || !is_broken || r->failures >= r->pool->url.retries) {
        return status;
    }
    return pause_after(r->call, r->failures++);
}

/* Moves the bytes that can be moved, once. */
static ig_status move_lanes(run *r, lane *const *lanes, size_t count) {
    connection *connections[IG_REDIS_LANES];
    struct pollfd polls[IG_REDIS_LANES];
    for (size_t i = 0; i < count; i++) {
        connections[i] = lanes[i]->c;
    }
    IG_TRY(ig_redis_wait(r->call, connections, count, polls));
    for (size_t i = 0; i < count; i++) {
        IG_TRY(ig_redis_move(lanes[i]->c, r->call, polls[i].revents));
        IG_TRY(take_replies(r, lanes[i]));
    }
    return IG_OK;
}

static ig_status drive_lanes(run *r) {
    for (;;) {
        lane *busy[IG_REDIS_LANES];
        size_t count = 0;
        ig_status status = IG_OK;
        bool is_over = true;
        for (size_t i = 0; i < r->lane_count && status == IG_OK; i++) {
            lane *l = &r->lanes[i];
            if (!l->is_sent && has_work(r, l)) {
                status = start_lane(r, l);
            }
            if (l->is_sent) {
                busy[count++] = l;
            }
            is_over = is_over && !l->is_sent && status == IG_OK;
        }
        if (is_over) {
            return IG_OK;
        }
        if (status == IG_OK) {
            status = move_lanes(r, busy, count);
        }
        if (status != IG_OK) {
            IG_TRY(recover_lanes(r, status));
        }
    }
}

/* ---- borrowing ---- */

static ig_status borrow_lanes(run *r) {
    pool *p = r->pool;
    size_t chunk = (size_t)p->url.chunk;
    size_t wanted = r->work->count / chunk + (r->work->count % chunk != 0);
    ig_status status = IG_OK;
    (void)pthread_mutex_lock(&p->lock);
    while (status == IG_OK && r->lane_count == 0) {
        for (size_t i = 0; i < (size_t)p->url.lanes && r->lane_count < wanted; i++) {
            if (!p->is_taken[i]) {
                p->is_taken[i] = true;
                r->lanes[r->lane_count++] = (lane){ .c = &p->connections[i] };
            }
        }
        if (r->lane_count == 0) {
            struct timespec until = look_time(CLOCK_REALTIME);
            (void)pthread_cond_timedwait(&p->freed, &p->lock, &until);
            status = ig_store_check_time(r->call);
        }
    }
    (void)pthread_mutex_unlock(&p->lock);
    return status;
}

static void give_back(run *r) {
    pool *p = r->pool;
    for (size_t i = 0; i < r->lane_count; i++) {
        lane *l = &r->lanes[i];
        if (l->is_sent) {
            give_up(p, l->c, r->work->is_write);
        } else if (l->c->pending > 0) {
            ig_redis_disconnect(l->c);
        }
    }
    (void)pthread_mutex_lock(&p->lock);
    for (size_t i = 0; i < r->lane_count; i++) {
        p->is_taken[r->lanes[i].c - p->connections] = false;
    }
    (void)pthread_cond_broadcast(&p->freed);
    (void)pthread_mutex_unlock(&p->lock);
}

ig_status ig_redis_pool_run(pool *p, const ig_store_call *call,
                            const ig_redis_work *work) {
    run r = { .pool = p, .call = call, .work = work };
    if (work->count == 0) {
        return IG_OK;
    }
    IG_TRY(borrow_lanes(&r));
    ig_status status = drive_lanes(&r);
    give_back(&r);
    status = status == IG_OK ? r.status : status;
    if (status == IG_OK && call->message && call->message_size > 0) {
        call->message[0] = 0; /* of failures that did not matter */
    }
    return status;
}

/* ---- life cycle ---- */

ig_status ig_redis_pool_init(pool *p, const ig_store_call *call,
                             ig_redis_advice *advice) {
    (void)pthread_mutex_init(&p->lock, NULL);
    (void)pthread_mutex_init(&p->writer, NULL);
    (void)pthread_cond_init(&p->freed, NULL);
    for (size_t i = 0; i < IG_REDIS_LANES; i++) {
        p->connections[i] = (connection){ .url = &p->url, .fd = -1 };
    }
    return ig_redis_connect(&p->connections[0], call, advice);
}

void ig_redis_pool_fini(pool *p) {
    for (size_t i = 0; i < IG_REDIS_LANES; i++) {
        ig_redis_disconnect(&p->connections[i]);
    }
    (void)pthread_cond_destroy(&p->freed);
    (void)pthread_mutex_destroy(&p->writer);
    (void)pthread_mutex_destroy(&p->lock);
}
