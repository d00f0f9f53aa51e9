/* The interface between the files of shm, and the layout of a segment.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     head │ slot of each rank │ notices of each │ twice: sizes [from][to], boxes
 */
#ifndef IG_RUNTIME_COLLECTIVE_SHM_H
#define IG_RUNTIME_COLLECTIVE_SHM_H

#include "base/platform/platform_tsan.h"
#include "runtime/collective/flight.h"

#include <stdatomic.h>

enum { IG_SHM_LINE = 64, IG_SHM_NAME_SIZE = 200, IG_SHM_SETS = 2 };

typedef enum ig_shm_state {
    IG_SHM_ABSENT,
    IG_SHM_ALIVE,
    IG_SHM_FAILED,
    IG_SHM_ENDED
} ig_shm_state;

/* One line a rank.  Others sleep on step, started and taken. */
typedef struct ig_shm_slot {
    _Atomic uint32_t step;
    _Atomic uint32_t sleepers;          /* that are to be woken */
    _Atomic uint32_t state;             /* ig_shm_state */
    _Atomic uint32_t what[IG_SHM_SETS]; /* ig_collective, of the exchange at hand */
    _Atomic int32_t process;
    _Atomic uint64_t parts[IG_SHM_SETS]; /* its ig_parcels.send, in its own memory */
    _Atomic uint32_t started, taken;     /* flights; taken: from all ranks */
    _Atomic uint32_t reads;              /* 1 + the rank whose memory it reads, or 0 */
} ig_shm_slot;

/* Of a flight: the addresses of its parts in the rank's own memory. */
typedef struct ig_shm_notice {
    _Atomic uint32_t what, pieces;
    _Atomic uint64_t parts;
} ig_shm_notice;

typedef struct ig_shm {
    int file;
    char name[IG_SHM_NAME_SIZE + 2];
    bool is_maker;
    char *memory; /* NULL: not mapped */
    size_t bytes;
    ig_shm_slot *own;
    uint32_t step; /* of this rank */
    bool may_read;
    int64_t spin_ns;
    uint32_t turn;        /* its last bit is the set in use */
    bool is_direct;       /* ranks read each other's memory */
    uint32_t probe;       /* others try to read this first */
    ig_group_part *found; /* another's pieces */
    uint32_t found_room;
} ig_shm;

static inline ig_shm_slot *ig_shm_slot_of(const ig_shm *s, uint32_t rank) {
    return (ig_shm_slot *)(void *)(s->memory + IG_SHM_LINE +
                                   (size_t)rank * IG_SHM_LINE);
}

static inline ig_shm_notice *ig_shm_notice_of(const ig_group *group, uint32_t rank,
                                              uint32_t flight) {
    const ig_shm *s = group->state;
    char *all = s->memory + IG_SHM_LINE + group->options.world * (size_t)IG_SHM_LINE;
    return (ig_shm_notice *)(void *)all + (size_t)rank * IG_FLIGHTS +
           flight % IG_FLIGHTS;
}

/* Bytes in front of the sets. */
static inline size_t ig_shm_head_bytes(size_t world) {
    return IG_SHM_LINE + world * (IG_SHM_LINE + IG_FLIGHTS * sizeof(ig_shm_notice));
}

/* ---- shm.c ---- */

/* By rank, for ThreadSanitizer: threads have the segment at addresses of their own. */
extern const char ig_shm_seen[1024];
/* One of the words of this rank's slot that others sleep on. */
void ig_shm_tell(ig_shm *s, uint32_t rank, _Atomic uint32_t *word, uint32_t value);
/* Until the word, of the slot of rank `rank`, has come to `value`. */
ig_status ig_shm_wait(ig_group *group, ig_collective what, uint32_t rank,
                      _Atomic uint32_t *word, uint32_t value, int64_t deadline);
int64_t ig_shm_deadline(const ig_group *group);

/* ---- shm_read.c: parts are read from the sender's memory ---- */

/* Between these a rank may read the memory of another, which stays there: one that
 * fails waits until those threads have done with it. */
ig_status ig_shm_begin_read(ig_group *group, ig_collective what, uint32_t rank);
ig_status ig_shm_end_read(ig_group *group, ig_collective what, uint32_t rank);
void ig_shm_wait_for_readers(const ig_group *group);

bool ig_shm_read(const ig_shm *s, uint32_t rank, const void *from, void *to,
                 size_t bytes);
/* `pieces` parts for this rank among those of rank `from`, whose array is at `parts`
 * in its memory: the group's until the next call.  NULL: they cannot be read. */
const ig_group_part *ig_shm_find_parts(ig_group *group, uint32_t from, uint64_t parts,
                                       uint32_t pieces);
/* Both lists have `bytes` bytes; they may be cut otherwise. */
bool ig_shm_copy_parts(const ig_shm *s, uint32_t rank, const ig_group_part *from,
                       const ig_group_part *to, size_t bytes);
ig_status ig_shm_fail_read(ig_group *group, ig_collective what, uint32_t rank);

/* ---- shm_flight.c: the transport's part of flight.h ---- */

ig_status ig_shm_start(ig_group *group, ig_flight *flight);
ig_status ig_shm_take(ig_group *group, ig_flight *flight, const ig_group_part *receive);
ig_status ig_shm_end(ig_group *group, ig_flight *flight);

#endif
