/* mpi: ranks that a launcher of MPI has started, on one machine or many.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every exchange begins with a head to each rank, what it is and how much comes; the
 * parcels follow, packed, in messages of at most `chunk` bytes (counts are int).  All
 * of it is non-blocking and looked at until the deadline.  After one that was missed
 * messages are still under way: closing then ends the whole job, as MPI wants it.
 */
#include "base/checked.h"
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

/* `bytes` at `data`, cut into messages, to or from a rank. */
static ig_status start_messages(ig_group *group, ig_collective what, uint32_t rank,
                                char *data, size_t bytes, bool is_sent) {
    mpi_state *s = group->state;
    const ig_mpi_family *family = s->mpi.family;
    size_t most = message_bytes(group);
    for (size_t at = 0; at < bytes; at += most) {
        int size = (int)(bytes - at < most ? bytes - at : most);
        ig_mpi_handle *request = add_request(&s->open, rank);
        if (!request) {
            return fail_memory(group, what);
        }
        int error = is_sent
                        ? family->send(&s->mpi, data + at, size, (int)rank, request)
                        : family->receive(&s->mpi, data + at, size, (int)rank, request);
        if (error) {
            s->open.count--;
            return fail_call(group, what, is_sent ? "MPI_Isend" : "MPI_Irecv");
        }
    }
    return IG_OK;
}

/* Tests all once; the first that is not done, or the count. */
static ig_status test_requests(ig_group *group, ig_collective what, size_t *out_open) {
    mpi_state *s = group->state;
    *out_open = s->open.count;
    for (size_t i = s->open.count; i-- > 0;) {
        int done = s->open.are_done[i];
        if (!done && s->mpi.family->test(&s->mpi, &s->open.items[i], &done) != 0) {
            return fail_call(group, what, "MPI_Test");
        }
        s->open.are_done[i] = done != 0;
        *out_open = done ? *out_open : i;
    }
    return IG_OK;
}

static ig_status wait_requests(ig_group *group, ig_collective what) {
    mpi_state *s = group->state;
    for (uint32_t spins = 0;; spins++) {
        size_t open;
        IG_TRY(test_requests(group, what, &open));
        if (open == s->open.count) {
            s->open.count = 0;
            return IG_OK;
        }
        if (!ig_group_may_wait(spins, s->deadline)) {
            return ig_group_error(
                group, IG_LIMIT, "%s: rank %u of %u has not come within %lld ms",
                ig_collective_names[what], s->open.ranks[open], group->options.world,
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
    return wait_requests(group, what);
}

static ig_status check_heads(ig_group *group, ig_collective what,
                             const ig_parcels *all) {
    const mpi_state *s = group->state;
    for (uint32_t r = 0; r < group->options.world; r++) {
        const head *came = &s->came[r];
        size_t expected = ig_parcel_bytes(all->receive + r * all->pieces, all->pieces);
        if (came->what == HEAD_FAILED) {
            return ig_group_error(group, IG_INVALID, "%s: rank %u has failed",
                                  ig_collective_names[what], r);
        }
        if (came->what != (uint64_t)what) {
            return ig_group_error(group, IG_INVALID, "rank %u calls %s, and rank %u %s",
                                  group->options.rank, ig_collective_names[what], r,
                                  came->what < IG_COLLECTIVE_COUNT
                                      ? ig_collective_names[came->what]
                                      : "something else");
        }
        if (came->bytes != expected) {
            return ig_group_error(
                group, IG_INVALID,
                "%s: rank %u sends %llu bytes, and rank %u expects %zu",
                ig_collective_names[what], r, (unsigned long long)came->bytes,
                group->options.rank, expected);
        }
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

/* All parcels of `parts`, one behind the other. */
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
    IG_TRY(wait_requests(group, what));
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
    (void)test_requests(group, IG_COLLECTIVE_BARRIER, &open);
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
    free(s->open.items);
    free(s->open.ranks);
    free(s->open.are_done);
    free(s);
}

const ig_transport ig_transport_mpi = { .name = "mpi",
                                        .open = open_mpi,
                                        .close = close_mpi,
                                        .exchange = exchange_mpi,
                                        .fail = fail_mpi };
