/* Groups: the public calls, made of exchanges.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/collective/ranks.h"

#include "base/platform/clock.h"
#include "base/sized.h"
#include "runtime/collective/env.h"
#include "runtime/collective/flight.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WORLD_MAX = 1024, TIMEOUT_MS = 60000 };

const char *const ig_collective_names[IG_COLLECTIVE_COUNT] = {
    "open",      "barrier",        "all_to_all", "all_gather",
    "broadcast", "reduce_scatter", "all_reduce",
};

static const ig_transport *const transports[] = { &ig_transport_self, &ig_transport_shm,
                                                  &ig_transport_mpi, &ig_transport_nccl,
                                                  &ig_transport_host };

ig_status ig_group_error(ig_group *group, ig_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(group->text, sizeof group->text, format, arguments);
    va_end(arguments);
    if (group->options.message && group->options.message_size) {
        (void)snprintf(group->options.message, group->options.message_size, "%s",
                       group->text);
    }
    return status;
}

/* ---- waiting ---- */

enum { SPINS = 2000, NAP_NS = 50000 };

int64_t ig_group_now_ms(void) {
    return ig_clock_ns() / 1000000;
}

bool ig_group_may_wait(uint32_t spins, int64_t deadline) {
    if (spins < SPINS) {
        return true;
    }
    if (ig_group_now_ms() >= deadline) {
        return false;
    }
    struct timespec nap = { .tv_nsec = NAP_NS };
    (void)nanosleep(&nap, NULL);
    return true;
}

/* ---- opening ---- */

static ig_status check_options(ig_group *group) {
    ig_group_options *o = &group->options;
    o->world = o->world ? o->world : 1;
    o->timeout_ms = o->timeout_ms ? o->timeout_ms : TIMEOUT_MS;
    if (o->world > WORLD_MAX || o->rank >= o->world) {
        return ig_group_error(group, IG_INVALID,
                              "there is no rank %u in a world of %u (at most %d)",
                              o->rank, o->world, WORLD_MAX);
    }
    return o->timeout_ms > 0
               ? IG_OK
               : ig_group_error(group, IG_INVALID, "timeout_ms is negative");
}

static ig_status find_transport(ig_group *group, const char *name,
                                const char **out_rest) {
    size_t size = strcspn(name, ":");
    for (size_t i = 0; i < sizeof transports / sizeof *transports; i++) {
        if (strncmp(transports[i]->name, name, size) == 0 &&
            !transports[i]->name[size]) {
            group->transport = transports[i];
        }
    }
    *out_rest = name[size] ? name + size + 1 : "";
    return group->transport
               ? IG_OK
               : ig_group_error(
                     group, IG_INVALID,
                     "'%s' is not a group: self, shm:NAME, mpi, env, nccl:NAME or host",
                     name);
}

static ig_status open_group(ig_group *group, const char *name) {
    const char *rest;
    char segment[sizeof "nccl:" + IG_GROUP_ENV_BYTES] = "nccl:";
    size_t before = strcmp(name, "nccl:env") == 0 ? strlen("nccl:") : 0;
    if (strcmp(name + before, "env") == 0) {
        IG_TRY(ig_group_read_env(group, segment + before, IG_GROUP_ENV_BYTES));
        name = segment;
    }
    IG_TRY(check_options(group));
    IG_TRY(ig_group_reserve(group, IG_COLLECTIVE_OPEN, 1));
    IG_TRY(find_transport(group, name, &rest));
    return group->transport->open(group, rest);
}

ig_status ig_group_open(const char *name, const ig_group_options *options,
                        ig_group **out_group) {
    *out_group = NULL;
    ig_group *group = calloc(1, sizeof *group);
    if (!group) {
        return IG_LIMIT;
    }
    ig_status status = IG_OK;
    if (!ig_sized_take(&group->options, sizeof group->options, options)) {
        group->options.message = options->message;
        group->options.message_size = options->message_size;
        status = ig_group_error(group, IG_INVALID, IG_UNSIZED_WORDS,
                                "ig_group_options");
    }
    status = status == IG_OK ? open_group(group, name) : status;
    if (status != IG_OK) {
        ig_group_close(group);
        return status;
    }
    group->caller = (ig_group_caller){
        { IG_RANKS_VERSION, ig_rank_call, ig_rank_agree, ig_rank_fail }, group
    };
    *out_group = group;
    return IG_OK;
}

ig_ranks *ig_group_ranks(ig_group *group) {
    return &group->caller.ranks;
}

void ig_group_close(ig_group *group) {
    if (!group) {
        return;
    }
    if (group->transport) {
        group->transport->close(group);
        ig_flights_close(group);
    }
    free(group->send);
    free(group->receive);
    free(group->seen);
    free(group);
}

/* ---- parcels ---- */

/* The group has room for parts to and from each rank, as much of the one as of the
 * other, or none. */
static void check_room(const ig_group *group) {
    assert((group->room == 0 || (group->send && group->receive)) &&
           "there are parts where there is room");
    assert((!group->send || group->send != group->receive) &&
           "sent and received parts are apart");
    (void)group;
}

ig_status ig_group_reserve(ig_group *group, ig_collective what, uint32_t pieces) {
    if (pieces <= group->room) {
        return IG_OK;
    }
    size_t count = (size_t)pieces * group->options.world;
    free(group->send);
    free(group->receive);
    group->room = 0;
    group->send = calloc(count, sizeof *group->send);
    group->receive = calloc(count, sizeof *group->receive);
    if (!group->send || !group->receive) {
        return ig_group_error(group, IG_LIMIT, "%s: no memory for %zu parts",
                              ig_collective_names[what], count);
    }
    group->room = pieces;
    check_room(group);
    return IG_OK;
}

size_t ig_parcel_bytes(const ig_group_part *parts, uint32_t pieces) {
    size_t bytes = 0;
    for (uint32_t i = 0; i < pieces; i++) {
        bytes += parts[i].bytes;
    }
    return bytes;
}

typedef void copy_fn(char *piece, char *box, size_t bytes);

static void copy_out(char *piece, char *box, size_t bytes) {
    memcpy(box, piece, bytes);
}

static void copy_in(char *piece, char *box, size_t bytes) {
    memcpy(piece, box, bytes);
}

static void copy_range(const ig_group_part *parts, uint32_t pieces, size_t at,
                       size_t count, char *box, copy_fn *copy) {
    for (uint32_t i = 0; i < pieces && count; i++) {
        if (at >= parts[i].bytes) {
            at -= parts[i].bytes;
            continue;
        }
        size_t left = parts[i].bytes - at, bytes = left < count ? left : count;
        copy((char *)parts[i].data + at, box, bytes);
        box += bytes;
        count -= bytes;
        at = 0;
    }
}

void ig_parcel_read(const ig_group_part *parts, uint32_t pieces, size_t at,
                    size_t count, char *box) {
    copy_range(parts, pieces, at, count, box, copy_out);
}

void ig_parcel_write(const ig_group_part *parts, uint32_t pieces, size_t at,
                     size_t count, const char *box) {
    copy_range(parts, pieces, at, count, (char *)(uintptr_t)box, copy_in);
}

/* ---- collectives ---- */

static ig_status exchange_parts(ig_group *group, ig_collective what,
                                const ig_parcels *all) {
    if (group->has_failed) {
        return ig_group_error(group, IG_INVALID, "%s: the group has failed before",
                              ig_collective_names[what]);
    }
    check_room(group);
    ig_status status = group->transport->exchange(group, what, all);
    group->has_failed = status != IG_OK;
    return status;
}

ig_status ig_group_exchange_own(ig_group *group, ig_collective what, uint32_t pieces) {
    ig_parcels all = { pieces, group->send, group->receive };
    return exchange_parts(group, what, &all);
}

static ig_status exchange_own(ig_group *group, ig_collective what) {
    return ig_group_exchange_own(group, what, 1);
}

/* The same to everyone. */
static void send_all(ig_group *group, const void *data, size_t bytes) {
    for (uint32_t r = 0; r < group->options.world; r++) {
        group->send[r] = (ig_group_part){ (void *)(uintptr_t)data, bytes };
    }
}

static void receive_rows(ig_group *group, void *data, size_t bytes) {
    for (uint32_t r = 0; r < group->options.world; r++) {
        void *row = bytes ? (char *)data + r * bytes : NULL;
        group->receive[r] = (ig_group_part){ row, bytes };
    }
}

ig_status ig_group_barrier(ig_group *group) {
    send_all(group, NULL, 0);
    receive_rows(group, NULL, 0);
    return exchange_own(group, IG_COLLECTIVE_BARRIER);
}

ig_status ig_group_all_to_all(ig_group *group, const ig_group_part *send,
                              const ig_group_part *receive) {
    ig_parcels all = { 1, send, receive };
    return exchange_parts(group, IG_COLLECTIVE_ALL_TO_ALL, &all);
}

ig_status ig_group_all_gather(ig_group *group, const void *mine, size_t bytes,
                              void *all) {
    send_all(group, mine, bytes);
    receive_rows(group, all, bytes);
    return exchange_own(group, IG_COLLECTIVE_ALL_GATHER);
}

ig_status ig_group_broadcast(ig_group *group, uint32_t root, void *data, size_t bytes) {
    if (root >= group->options.world) {
        return ig_group_error(group, IG_INVALID, "broadcast: there is no rank %u",
                              root);
    }
    bool is_root = group->options.rank == root;
    send_all(group, data, is_root ? bytes : 0);
    receive_rows(group, NULL, 0);
    group->send[group->options.rank].bytes = 0; /* it has it */
    if (!is_root) {
        group->receive[root] = (ig_group_part){ data, bytes };
    }
    return exchange_own(group, IG_COLLECTIVE_BROADCAST);
}

/* ---- sums ---- */

static size_t size_of(ig_group_dtype dtype) {
    return dtype == IG_GROUP_F64 ? sizeof(double) : sizeof(float);
}

/* rows: world times `count` elements; their sums, in the order of ranks. */
void ig_group_add_rows(ig_group_dtype dtype, const void *rows, uint32_t world,
                       size_t count, void *out) {
    for (size_t i = 0; i < count; i++) {
        double total = 0;
        for (uint32_t r = 0; r < world; r++) {
            size_t at = r * count + i;
            total += dtype == IG_GROUP_F64 ? ((const double *)rows)[at]
                                           : (double)((const float *)rows)[at];
        }
        if (dtype == IG_GROUP_F64) {
            ((double *)out)[i] = total;
        } else {
            ((float *)out)[i] = (float)total;
        }
    }
}

/* Sends each its part of `data`; `out` gets the sums of this rank's. */
static ig_status reduce_parts(ig_group *group, ig_collective what, ig_group_dtype dtype,
                              const void *data, const size_t *counts, void *out) {
    size_t size = size_of(dtype), own = counts[group->options.rank];
    uint32_t world = group->options.world;
    char *from = (char *)(uintptr_t)data;
    void *rows = calloc(world * (own ? own : 1), size);
    if (!rows) {
        return ig_group_error(group, IG_LIMIT, "%s: no memory for %u parts",
                              ig_collective_names[what], world);
    }
    for (uint32_t r = 0; r < world; r++) {
        group->send[r] = (ig_group_part){ from, counts[r] * size };
        from += counts[r] ? counts[r] * size : 0;
    }
    receive_rows(group, rows, own * size);
    ig_status status = exchange_own(group, what);
    if (status == IG_OK) {
        ig_group_add_rows(dtype, rows, world, own, out);
    }
    free(rows);
    return status;
}

ig_status ig_group_reduce_scatter(ig_group *group, ig_group_dtype dtype,
                                  const void *data, const size_t *counts, void *out) {
    return reduce_parts(group, IG_COLLECTIVE_REDUCE_SCATTER, dtype, data, counts, out);
}

/* Each rank adds up a part, and gives it to all. */
ig_status ig_group_all_reduce(ig_group *group, ig_group_dtype dtype, void *data,
                              size_t count) {
    uint32_t world = group->options.world, rank = group->options.rank;
    size_t size = size_of(dtype), first = 0, own = 0;
    size_t *counts = calloc(world, sizeof *counts);
    if (!counts) {
        return ig_group_error(group, IG_LIMIT, "all_reduce: no memory");
    }
    for (uint32_t r = 0; r < world; r++) {
        counts[r] = count / world + (r < count % world);
        first += r < rank ? counts[r] : 0;
    }
    own = counts[rank];
    char *mine = own ? (char *)data + first * size : NULL;
    ig_status status = reduce_parts(group, IG_COLLECTIVE_ALL_REDUCE, dtype, data,
                                    counts, mine);
    char *row = data;
    send_all(group, mine, own * size);
    group->send[rank].bytes = 0; /* it is there */
    for (uint32_t r = 0; r < world; r++) {
        group->receive[r] = (ig_group_part){ row, r == rank ? 0 : counts[r] * size };
        row += counts[r] ? counts[r] * size : 0;
    }
    free(counts);
    return status == IG_OK ? exchange_own(group, IG_COLLECTIVE_ALL_REDUCE) : status;
}
