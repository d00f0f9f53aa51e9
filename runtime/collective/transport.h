/* Transports: how parts get from rank to rank.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A transport is one table.  It knows one collective, the exchange of parts between all
 * ranks; group.c makes the others of it.
 */
#ifndef IG_RUNTIME_COLLECTIVE_TRANSPORT_H
#define IG_RUNTIME_COLLECTIVE_TRANSPORT_H

#include "ingot/group.h"
#include "runtime/host/ranks.h"

#include <stdbool.h>

typedef enum ig_collective {
    IG_COLLECTIVE_OPEN,
    IG_COLLECTIVE_BARRIER,
    IG_COLLECTIVE_ALL_TO_ALL,
    IG_COLLECTIVE_ALL_GATHER,
    IG_COLLECTIVE_BROADCAST,
    IG_COLLECTIVE_REDUCE_SCATTER,
    IG_COLLECTIVE_ALL_REDUCE,
    IG_COLLECTIVE_COUNT
} ig_collective;

extern const char *const ig_collective_names[IG_COLLECTIVE_COUNT];

/* The parts that a rank sends and receives: to and from each rank several pieces, which
 * travel one after the other.  Those of rank r are send[r * pieces …]. */
typedef struct ig_parcels {
    uint32_t pieces;
    const ig_group_part *send, *receive;
} ig_parcels;

size_t ig_parcel_bytes(const ig_group_part *parts, uint32_t pieces);
/* Copies bytes `at` … of pieces that follow one another, at most `count` of them, to
 * `box`, or from there. */
void ig_parcel_read(const ig_group_part *parts, uint32_t pieces, size_t at,
                    size_t count, char *box);
void ig_parcel_write(const ig_group_part *parts, uint32_t pieces, size_t at,
                     size_t count, const char *box);

typedef struct ig_flight ig_flight;

typedef struct ig_transport {
    const char *name; /* "shm", the name before the colon */
    /* Sets group->state; the caller closes it after a failure, too. */
    ig_status (*open)(ig_group *group, const char *name);
    void (*close)(ig_group *group);
    /* `what` is for the check that all ranks make the same call, and for messages. */
    ig_status (*exchange)(ig_group *group, ig_collective what, const ig_parcels *all);
    /* This rank will not come again: the others are to know.  NULL: they find out. */
    void (*fail)(ig_group *group);
    /* Exchanges under way (flight.h); NULL, all of them: exchanged at their start. */
    ig_status (*start)(ig_group *group, ig_flight *flight);
    ig_status (*wait)(ig_group *group, ig_flight *flight, const ig_group_part *receive);
    ig_status (*end)(ig_group *group, ig_flight *flight);
    void (*forget)(ig_flight *flight); /* flight->state */
} ig_transport;

extern const ig_transport ig_transport_self, ig_transport_shm, ig_transport_mpi,
    ig_transport_nccl, ig_transport_host;

/* What ig_group_ranks hands out. */
typedef struct ig_group_caller {
    ig_ranks ranks; /* first: the group is found from it */
    ig_group *group;
} ig_group_caller;

struct ig_group {
    const ig_transport *transport;
    ig_group_options options;
    void *state;
    bool has_failed;
    ig_group_part *send, *receive; /* world * room parts each, for parts made here */
    uint32_t room;
    ig_flight *flights; /* by number, modulo IG_FLIGHTS */
    uint32_t flight_count;
    struct ig_seen_id *seen; /* a table of ids, of deal; grows */
    size_t seen_room;
    ig_group_caller caller;
    char text[IG_HOST_REASON_BYTES]; /* of the last error */
};

/* Room for so many pieces a rank in group->send and group->receive. */
ig_status ig_group_reserve(ig_group *group, ig_collective what, uint32_t pieces);
/* Exchanges the parts of group->send and group->receive. */
ig_status ig_group_exchange_own(ig_group *group, ig_collective what, uint32_t pieces);

/* rows: world times `count` elements; their sums, in the order of ranks, in double. */
void ig_group_add_rows(ig_group_dtype dtype, const void *rows, uint32_t world,
                       size_t count, void *out);
int64_t ig_group_now_ms(void); /* monotonic */
/* Between two looks at the others' progress, after so many: a spin, later a nap.
 * False: the deadline has passed. */
bool ig_group_may_wait(uint32_t spins, int64_t deadline);
/* Writes the group's message; returns `status`. */
ig_status ig_group_error(ig_group *group, ig_status status, const char *format, ...)
    IG_PRINTF(3, 4);

#endif
