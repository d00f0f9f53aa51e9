/* Host steps of a program that is one rank's of several: functions named rank_…, which
 * libingot-group has and a session calls.
 * SPDX-License-Identifier: Apache-2.0
 *
 * This is all that the two libraries know of each other; runtime/collective/ranks.h
 * lists the operands of the functions.
 */
#ifndef IG_RUNTIME_HOST_RANKS_H
#define IG_RUNTIME_HOST_RANKS_H

#include "ingot/runtime.h"
#include "runtime/host/host.h"

/* Grows with this struct, and with ig_host_call. */
enum { IG_RANKS_VERSION = 2 };
#define IG_RANKS_PREFIX "rank_"
#define IG_RANKS_LIBRARY "group" /* as plans name it */

struct ig_ranks {
    uint32_t version;
    /* As an ig_host_fn; sets *call->status where a refusal is not IG_INVALID. */
    bool (*call)(ig_ranks *ranks, const char *function, const ig_host_call *call);
    /* IG_OK once every rank has come this far and none can fail any more; else why, and
     * none gets IG_OK. */
    ig_status (*agree)(ig_ranks *ranks, char reason[IG_HOST_REASON_BYTES]);
    /* This rank's run has failed: who waits for it is told. */
    void (*leave)(ig_ranks *ranks);
};

#endif
