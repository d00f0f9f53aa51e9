/* mpi: ranks that a launcher of MPI has started, on one machine or many.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every exchange begins with a head to each rank, its kind and its sizes; the parcels
 * follow, packed, in messages of at most `chunk` bytes (counts are int).  All
 * of it is non-blocking and looked at until the deadline.  After one that was missed
 * messages are still under way: closing then ends the whole job, as MPI wants it.
 *
 * An exchange under way (flight.h) has all its messages posted at its start.  Messages
 * between two ranks are met in the order in which they were posted, and all ranks start
 * in one order, so that none is taken for another's.
 */
#include "base/checked.h"
#include "base/status.h"
#include "runtime/collective/flight.h"
#include "runtime/collective/mpi.h"

#include <stdlib.h>
#include <string.h>

enum { MESSAGE_MAX = 1 << 30 };
/* Beside the numbers of ig_collective. */
enum { HEAD_FAILED = 1000 };

typedef struct head {
    uint64_t what, bytes;
} head;

typedef struct requests {
    ig_mpi_handle *items;
    uint32_t *ranks;
    bool *are_done;
    size_t count, room;
} requests;

typedef struct mpi_state {
    ig_mpi mpi;
    head *sent, *came; /* of each rank */
    char *out, *in;    /* packed parcels */
    size_t out_room, in_room;
    requests open;
    int64_t deadline;
} mpi_state;

static ig_status fail_memory(ig_group *group, ig_collective what) {
    return ig_group_error(group, IG_LIMIT, "%s: no memory for parcels",
                          ig_collective_names[what]);
}

static ig_status fail_call(ig_group *group, ig_collective what, const char *call) {
    return ig_group_error(group, IG_IO, "%s: %s has failed", ig_collective_names[what],
                          call);
}

/* ---- messages under way ---- */

static bool grow_requests(requests *r) {
    size_t room = r->room ? 2 * r->room : 64;
    void *items = realloc(r->items, room * sizeof *r->items);
    r->items = items ? items : r->items;
    void *ranks = realloc(r->ranks, room * sizeof *r->ranks);
    r->ranks = ranks ? ranks : r->ranks;
    void *are_done = realloc(r->are_done, room * sizeof *r->are_done);
    r->are_done = are_done ? are_done : r->are_done;
    bool is_whole = items && ranks && are_done;
    r->room = is_whole ? room : r->room;
    return is_whole;
}

/* Room for one more; NULL: there is no memory. */
static ig_mpi_handle *add_request(requests *r, uint32_t rank) {
    if (r->count == r->room && !grow_requests(r)) {
        return NULL;
    }
    r->ranks[r->count] = rank;
    r->are_done[r->count] = false;
    return &r->items[r->count++];
}

static size_t message_bytes(const ig_group *group) {
    size_t chunk = group->options.chunk;
    return chunk && chunk < MESSAGE_MAX ? chunk : MESSAGE_MAX;
}

/* Bytes to or from a rank. */
typedef struct post {
    uint32_t rank;
    char *data;
    size_t bytes;
    bool is_sent;
} post;

/* They are cut into messages. */
static ig_status post_messages(ig_group *group, ig_collective what, requests *to,
                               post p) {
    mpi_state *s = group->state;
    const ig_mpi_family *family = s->mpi.family;
    size_t max = message_bytes(group);
    for (size_t at = 0; at < p.bytes; at += max) {
        int size = (int)(p.bytes - at < max ? p.bytes - at : max), rank = (int)p.rank;
        ig_mpi_handle *request = add_request(to, p.rank);
        if (!request) {
            return fail_memory(group, what);
        }
        int error = p.is_sent
                        ? family->send(&s->mpi, p.data + at, size, rank, request)
                        : family->receive(&s->mpi, p.data + at, size, rank, request);
        if (error) {
            to->count--;
            return fail_call(group, what, p.is_sent ? "MPI_Isend" : "MPI_Irecv");
        }
    }
    return IG_OK;
}

/* Of the exchange that is waited for at once. */
static ig_status start_messages(ig_group *group, ig_collective what, uint32_t rank,
                                char *data, size_t bytes, bool is_sent) {
    mpi_state *s = group->state;
    return post_messages(group, what, &s->open, (post){ rank, data, bytes, is_sent });
}

/* Tests all once; the first that is not done, or the count. */
static ig_status test_requests(ig_group *group, ig_collective what, requests *of,
                               size_t *out_open) {
    mpi_state *s = group->state;
    *out_open = of->count;
    for (size_t i = of->count; i-- > 0;) {
        int done = of->are_done[i];
        if (!done && s->mpi.family->test(&s->mpi, &of->items[i], &done) != 0) {
            return fail_call(group, what, "MPI_Test");
        }
        of->are_done[i] = done != 0;
        *out_open = done ? *out_open : i;
    }
    return IG_OK;
}

static ig_status wait_requests(ig_group *group, ig_collective what, requests *of) {
    mpi_state *s = group->state;
    for (uint32_t spins = 0;; spins++) {
        size_t open;
        IG_TRY(test_requests(group, what, of, &open));
        if (open == of->count) {
            of->count = 0;
            return IG_OK;
        }
        if (!ig_group_may_wait(spins, s->deadline)) {
            return ig_group_error(
                group, IG_LIMIT, "%s: rank %u of %u did not arrive within %lld ms",
                ig_collective_names[what], of->ranks[open], group->options.world,
                (long long)group->options.timeout_ms);
        }
    }
}

/* ---- the exchange ---- */

static ig_status exchange_heads(ig_group *group, ig_collective what) {
    mpi_state *s = group->state;
    for (uint32_t r = 0; r < group->options.world; r++) {
        if (r == group->options.rank) {
            s->came[r] = s->sent[r];
            continue;
        }
        IG_TRY(start_messages(group, what, r, (char *)&s->came[r], sizeof *s->came,
                              false));
        IG_TRY(
            start_messages(group, what, r, (char *)&s->sent[r], sizeof *s->sent, true));
    }
    return wait_requests(group, what, &s->open);
}

/* Does rank `rank` make this call, and send the expected parts? */
static ig_status check_head(ig_group *group, ig_collective what, const head *came,
                            uint32_t rank, size_t expected) {
    if (came->what == HEAD_FAILED) {
        return ig_group_error(group, IG_INVALID, "%s: rank %u has failed",
                              ig_collective_names[what], rank);
    }
    if (came->what != (uint64_t)what) {
        return ig_group_error(group, IG_INVALID, "rank %u calls %s, and rank %u %s",
                              group->options.rank, ig_collective_names[what], rank,
                              came->what < IG_COLLECTIVE_COUNT
                                  ? ig_collective_names[came->what]
                                  : "something else");
    }
    return came->bytes == expected
               ? IG_OK
               : ig_group_error(group, IG_INVALID,
                                "%s: rank %u sends %llu bytes, and rank %u expects %zu",
                                ig_collective_names[what], rank,
                                (unsigned long long)came->bytes, group->options.rank,
                                expected);
}

static ig_status check_heads(ig_group *group, ig_collective what,
                             const ig_parcels *all) {
    const mpi_state *s = group->state;
    for (uint32_t r = 0; r < group->options.world; r++) {
        size_t expected = ig_parcel_bytes(all->receive + r * all->pieces, all->pieces);
        IG_TRY(check_head(group, what, &s->came[r], r, expected));
    }
    return IG_OK;
}

static bool reserve_bytes(char **bytes, size_t *room, size_t wanted) {
    if (*bytes && wanted <= *room) {
        return true;
    }
    free(*bytes);
    *bytes = malloc(wanted ? wanted : 1);
    *room = *bytes ? wanted : 0;
    return *bytes != NULL;
}

/* All parcels of `parts`, one after the other. */
static bool count_parcels(const ig_group *group, const ig_group_part *parts,
                          uint32_t pieces, size_t *out) {
    *out = 0;
    for (uint32_t r = 0; r < group->options.world; r++) {
        if (!ig_add_size(*out, ig_parcel_bytes(parts + r * pieces, pieces), out)) {
            return false;
        }
    }
    return true;
}

static ig_status exchange_parcels(ig_group *group, ig_collective what,
                                  const ig_parcels *all) {
    mpi_state *s = group->state;
    size_t out_bytes, in_bytes, out = 0, in = 0;
    if (!count_parcels(group, all->send, all->pieces, &out_bytes) ||
        !count_parcels(group, all->receive, all->pieces, &in_bytes) ||
        !reserve_bytes(&s->out, &s->out_room, out_bytes) ||
        !reserve_bytes(&s->in, &s->in_room, in_bytes)) {
        return fail_memory(group, what);
    }
    for (uint32_t r = 0; r < group->options.world; r++) {
        const ig_group_part *send = all->send + r * all->pieces;
        size_t coming = (size_t)s->came[r].bytes, going = (size_t)s->sent[r].bytes;
        bool is_self = r == group->options.rank;
        if (going) {
            ig_parcel_read(send, all->pieces, 0, going,
                           is_self ? s->in + in : s->out + out);
        }
        if (!is_self) {
            IG_TRY(start_messages(group, what, r, s->in + in, coming, false));
            IG_TRY(start_messages(group, what, r, s->out + out, going, true));
        }
        in += coming;
        out += is_self ? 0 : going;
    }
    IG_TRY(wait_requests(group, what, &s->open));
    in = 0;
    for (uint32_t r = 0; r < group->options.world; r++) {
        size_t coming = (size_t)s->came[r].bytes;
        if (coming) {
            ig_parcel_write(all->receive + r * all->pieces, all->pieces, 0, coming,
                            s->in + in);
        }
        in += coming;
    }
    return IG_OK;
}

static ig_status run_exchange(ig_group *group, ig_collective what,
                              const ig_parcels *all) {
    mpi_state *s = group->state;
    s->deadline = ig_group_now_ms() + group->options.timeout_ms;
    for (uint32_t r = 0; r < group->options.world; r++) {
        const ig_group_part *send = all->send + r * all->pieces;
        s->sent[r] = (head){ (uint64_t)what, ig_parcel_bytes(send, all->pieces) };
    }
    IG_TRY(exchange_heads(group, what));
    IG_TRY(check_heads(group, what, all));
    return exchange_parcels(group, what, all);
}

static ig_status exchange_mpi(ig_group *group, ig_collective what,
                              const ig_parcels *all) {
    mpi_state *s = group->state;
    ig_status status = run_exchange(group, what, all);
    s->mpi.is_broken |= status != IG_OK;
    return status;
}

/* ---- exchanges under way ---- */

typedef struct mpi_flight {
    head *sent, *came; /* of each rank */
    char *out;         /* sent parts, packed */
    size_t out_room;
    requests heads, coming, going;
} mpi_flight;

static mpi_flight *state_of(const ig_group *group, ig_flight *flight) {
    mpi_flight *f = flight->state;
    if (f) {
        return f;
    }
    f = flight->state = calloc(1, sizeof *f);
    if (f) {
        f->sent = calloc(group->options.world, sizeof *f->sent);
        f->came = calloc(group->options.world, sizeof *f->came);
    }
    return f && f->sent && f->came ? f : NULL;
}

/* Head and parcel of each way between this rank and another. */
static ig_status post_parcels(ig_group *group, const ig_flight *flight, uint32_t rank,
                              char *in, char *out) {
    mpi_flight *f = flight->state;
    head *sent = &f->sent[rank], *came = &f->came[rank];
    const post posts[] = { { rank, (char *)came, sizeof *came, false },
                           { rank, in, flight->coming[rank], false },
                           { rank, (char *)sent, sizeof *sent, true },
                           { rank, out, (size_t)sent->bytes, true } };
    requests *const to[] = { &f->heads, &f->coming, &f->going, &f->going };
    for (size_t i = 0; i < IG_COUNT_OF(posts); i++) {
        IG_TRY(post_messages(group, flight->what, to[i], posts[i]));
    }
    return IG_OK;
}

static ig_status post_flight(ig_group *group, ig_flight *flight) {
    mpi_flight *f = state_of(group, flight);
    uint32_t pieces = flight->pieces;
    size_t out_bytes;
    if (!f || !count_parcels(group, flight->send, pieces, &out_bytes) ||
        !reserve_bytes(&f->out, &f->out_room, out_bytes)) {
        return fail_memory(group, flight->what);
    }
    IG_TRY(ig_flight_make_box(group, flight));
    char *in = flight->box, *out = f->out;
    for (uint32_t r = 0; r < group->options.world; r++) {
        const ig_group_part *send = flight->send + r * pieces;
        size_t going = ig_parcel_bytes(send, pieces);
        bool is_self = r == group->options.rank;
        f->sent[r] = (head){ (uint64_t)flight->what, going };
        if (is_self && going != flight->coming[r]) {
            return check_head(group, flight->what, &f->sent[r], r, flight->coming[r]);
        }
        ig_parcel_read(send, pieces, 0, going, is_self ? in : out);
        if (!is_self) {
            IG_TRY(post_parcels(group, flight, r, in, out));
        }
        in += flight->coming[r];
        out += is_self ? 0 : going;
    }
    return IG_OK;
}

static ig_status take_flight(ig_group *group, ig_flight *flight) {
    mpi_state *s = group->state;
    mpi_flight *f = flight->state;
    s->deadline = ig_group_now_ms() + group->options.timeout_ms;
    IG_TRY(wait_requests(group, flight->what, &f->heads));
    for (uint32_t r = 0; r < group->options.world; r++) {
        if (r != group->options.rank) {
            IG_TRY(check_head(group, flight->what, &f->came[r], r, flight->coming[r]));
        }
    }
    IG_TRY(wait_requests(group, flight->what, &f->coming));
    flight->is_there = true;
    return IG_OK;
}

static ig_status note_failure(ig_group *group, ig_status status) {
    mpi_state *s = group->state;
    s->mpi.is_broken |= status != IG_OK;
    return status;
}

static ig_status start_mpi(ig_group *group, ig_flight *flight) {
    return note_failure(group, post_flight(group, flight));
}

static ig_status wait_mpi(ig_group *group, ig_flight *flight,
                          const ig_group_part *receive) {
    (void)receive; /* from the box, by the caller */
    return note_failure(group, take_flight(group, flight));
}

static ig_status end_mpi(ig_group *group, ig_flight *flight) {
    mpi_state *s = group->state;
    mpi_flight *f = flight->state;
    s->deadline = ig_group_now_ms() + group->options.timeout_ms;
    return note_failure(group, wait_requests(group, flight->what, &f->going));
}

static void forget_requests(requests *r) {
    free(r->items);
    free(r->ranks);
    free(r->are_done);
}

/* Memory of messages that are under way is left to them. */
static void forget_mpi(ig_flight *flight) {
    mpi_flight *f = flight->state;
    if (f->heads.count || f->coming.count || f->going.count) {
        flight->box = NULL;
        return;
    }
    forget_requests(&f->heads);
    forget_requests(&f->coming);
    forget_requests(&f->going);
    free(f->sent);
    free(f->came);
    free(f->out);
    free(f);
}

/* A head that says so, for whoever waits; it is small, and leaves at once. */
static void fail_mpi(ig_group *group) {
    mpi_state *s = group->state;
    size_t open;
    if (s->mpi.is_broken) {
        return;
    }
    s->mpi.is_broken = true;
    for (uint32_t r = 0; r < group->options.world; r++) {
        s->sent[r] = (head){ HEAD_FAILED, 0 };
        if (r != group->options.rank) {
            (void)start_messages(group, IG_COLLECTIVE_BARRIER, r, (char *)&s->sent[r],
                                 sizeof *s->sent, true);
        }
    }
    (void)test_requests(group, IG_COLLECTIVE_BARRIER, &s->open, &open);
}

/* ---- opening and closing ---- */

static ig_status open_mpi(ig_group *group, const char *name) {
    uint32_t world = group->options.world;
    mpi_state *s = calloc(1, sizeof *s);
    group->state = s;
    if (s) {
        s->sent = calloc(world, sizeof *s->sent);
        s->came = calloc(world, sizeof *s->came);
    }
    if (!s || !s->sent || !s->came) {
        return ig_group_error(group, IG_LIMIT, "no memory for a group");
    }
    return ig_mpi_open(group, &s->mpi, name);
}

/* Memory of messages that are under way is left to them. */
static void close_mpi(ig_group *group) {
    mpi_state *s = group->state;
    if (!s) {
        return;
    }
    bool is_free = s->open.count == 0;
    ig_mpi_close(&s->mpi);
    if (is_free) {
        free(s->out);
        free(s->in);
        free(s->sent);
        free(s->came);
    }
    forget_requests(&s->open);
    free(s);
}

const ig_transport ig_transport_mpi = { .name = "mpi",
                                        .open = open_mpi,
                                        .close = close_mpi,
                                        .exchange = exchange_mpi,
                                        .fail = fail_mpi,
                                        .start = start_mpi,
                                        .wait = wait_mpi,
                                        .end = end_mpi,
                                        .forget = forget_mpi };
