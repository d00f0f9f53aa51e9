/* The state that a loop shares with its fronts.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_SERVE_BATCH_LANE_H
#define IG_TOOLS_SERVE_BATCH_LANE_H

#include "tools/serve/call/keys.h"
#include "tools/serve/call/request.h"
#include "tools/serve/model/regions.h"
#include "tools/serve/model/repository.h"

/* Of the server; they never change. */
typedef struct limits {
    size_t body_bytes;   /* of one request, also when it is unpacked */
    size_t memory_bytes; /* that the requests of a loop hold together */
    size_t header_bytes; /* of one request */
    size_t connections;  /* of a loop and front */
    size_t streams;      /* at once, of a connection */
    size_t queued;       /* requests that wait in a loop */
    int64_t idle_ns;     /* after which a connection without a request is closed */
} limits;

typedef struct lane {
    size_t index; /* of the loop */
    const limits *limits;
    budget memory;
    repository *repository; /* NULL: it has ended */
    catalog *catalog;       /* what lane_follow took last; NULL: nothing yet */
    unsigned generation;    /* its */
    mailbox *box;
    struct runner *runner;
    const key_ring *ring; /* certificates and tokens */
    int64_t now;          /* ns of the monotonic clock, when this turn began */
    int64_t read_ns;      /* that reading took in the turn before */
    bool is_draining;     /* no new work: the server ends */
    regions *regions;     /* of shared memory, of all loops; NULL: none is used */
    const struct service *beside; /* methods of gRPC beside the protocol's, or NULL */
    struct profiler *profiler;    /* whose they are */
} lane;

/* The newest catalog is the lane's from here on.  Each turn begins so, and each request
 * too, however late in its turn it is read: another loop may have told its client that
 * a model was loaded.  Nobody who calls it looks at an older catalog any more; what was
 * found in one is gone, but for requests, which keep their versions.  False: the server
 * has ended, and there is none. */
bool lane_follow(lane *of);
/* Gives the catalog back for good: the repository is about to end. */
void lane_end(lane *of);
/* Live, and will take requests. */
bool lane_is_ready(const lane *of);

#endif
