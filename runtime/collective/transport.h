/* Transports: how parts get from rank to rank.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A transport is one table.  It knows one collective, the exchange of parts between all
 * ranks; group.c makes the others of it.
 */
#ifndef IG_RUNTIME_COLLECTIVE_TRANSPORT_H
#define IG_RUNTIME_COLLECTIVE_TRANSPORT_H

#include "ingot/group.h"

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

typedef struct ig_transport {
    const char *name; /* "shm", what stands before the colon */
    /* Sets group->state; what it leaves after a failure is closed too. */
    ig_status (*open)(ig_group *group, const char *name);
    void (*close)(ig_group *group);
    /* `what` is for the check that all ranks make the same call, and for messages. */
    ig_status (*exchange)(ig_group *group, ig_collective what,
                          const ig_group_part *send, const ig_group_part *receive);
} ig_transport;

extern const ig_transport ig_transport_self, ig_transport_shm;

struct ig_group {
    const ig_transport *transport;
    ig_group_options options;
    void *state;
    bool has_failed;
    ig_group_part *send, *receive; /* world parts each, for what group.c makes */
};

/* Writes the group's message; returns `status`. */
ig_status ig_group_error(ig_group *group, ig_status status, const char *format, ...)
    IG_PRINTF(3, 4);

#endif
