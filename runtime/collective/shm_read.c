/* shm: parts of other ranks are read from their memory.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Of another process by process_vm_readv; of a thread of this one they are copied.
 * Memory of a failed rank of this process is freed soon after: a reader says first
 * whom it reads, looks then whether that one still lives, and who fails or ends says so
 * first and waits then for its readers.
 */
#include "runtime/collective/shm.h"

#include "base/status.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>

ig_status ig_shm_fail_read(ig_group *group, ig_collective what, uint32_t rank) {
    return ig_group_error(group, IG_INVALID, "%s: the memory of rank %u is gone (%s)",
                          ig_collective_names[what], rank, strerror(errno));
}

/* ---- who reads whom ---- */

/* One whose parts others still take has not ended as it should. */
static ig_status check_alive(ig_group *group, ig_collective what, uint32_t rank) {
    uint32_t state = atomic_load(&ig_shm_slot_of(group->state, rank)->state);
    return state == IG_SHM_ALIVE
               ? IG_OK
               : ig_group_error(group, IG_INVALID, "%s: rank %u has %s",
                                ig_collective_names[what], rank,
                                state == IG_SHM_FAILED ? "failed" : "ended");
}

ig_status ig_shm_begin_read(ig_group *group, ig_collective what, uint32_t rank) {
    const ig_shm *s = group->state;
    atomic_store(&s->own->reads, rank + 1);
    ig_status status = check_alive(group, what, rank);
    if (status != IG_OK) {
        atomic_store(&s->own->reads, 0);
    }
    return status;
}

/* Bytes read from a rank that failed meanwhile may be anything. */
ig_status ig_shm_end_read(ig_group *group, ig_collective what, uint32_t rank) {
    const ig_shm *s = group->state;
    IG_TSAN_RELEASE(&ig_shm_seen[group->options.rank]);
    atomic_store(&s->own->reads, 0);
    return check_alive(group, what, rank);
}

void ig_shm_wait_for_readers(const ig_group *group) {
    const ig_shm *s = group->state;
    uint32_t own = group->options.rank;
    struct timespec nap = { .tv_nsec = 100000 };
    for (uint32_t r = 0; r < group->options.world; r++) {
        ig_shm_slot *other = ig_shm_slot_of(s, r);
        bool is_near = r != own &&
                       atomic_load(&other->process) == atomic_load(&s->own->process);
        while (is_near && atomic_load(&other->reads) == own + 1) {
            (void)nanosleep(&nap, NULL);
        }
        IG_TSAN_ACQUIRE(&ig_shm_seen[r]);
    }
}

/* ---- reading ---- */

bool ig_shm_read(const ig_shm *s, uint32_t rank, const void *from, void *to,
                 size_t bytes) {
    int32_t process = atomic_load(&ig_shm_slot_of(s, rank)->process);
    if (process == atomic_load(&s->own->process)) {
        memcpy(to, from, bytes);
        return true;
    }
    while (bytes > 0) {
        struct iovec local = { to, bytes };
        struct iovec remote = { (void *)(uintptr_t)from, bytes };
        ssize_t got = process_vm_readv(process, &local, 1, &remote, 1, 0);
        if (got <= 0) {
            return false;
        }
        to = (char *)to + got;
        from = (const char *)from + got;
        bytes -= (size_t)got;
    }
    return true;
}

/* Bytes of a list of parts that are read one after the other. */
typedef struct part_walk {
    const ig_group_part *parts;
    uint32_t piece;
    size_t at; /* in the piece */
} part_walk;

/* The next run of bytes; *left of them at most. */
static char *next_run(part_walk *w, size_t *left) {
    while (w->parts[w->piece].bytes == w->at) {
        w->piece++;
        w->at = 0;
    }
    size_t there = w->parts[w->piece].bytes - w->at;
    *left = *left < there ? *left : there;
    return (char *)w->parts[w->piece].data + w->at;
}

bool ig_shm_copy_parts(const ig_shm *s, uint32_t rank, const ig_group_part *from,
                       const ig_group_part *to, size_t bytes) {
    part_walk source = { from, 0, 0 }, target = { to, 0, 0 };
    while (bytes > 0) {
        size_t run = bytes;
        const char *begin = next_run(&source, &run);
        char *end = next_run(&target, &run);
        if (!ig_shm_read(s, rank, begin, end, run)) {
            return false;
        }
        source.at += run;
        target.at += run;
        bytes -= run;
    }
    return true;
}

const ig_group_part *ig_shm_find_parts(ig_group *group, uint32_t from, uint64_t parts,
                                       uint32_t pieces) {
    ig_shm *s = group->state;
    size_t size = pieces * sizeof *s->found;
    if (pieces > s->found_room) {
        free(s->found);
        s->found = malloc(size);
        s->found_room = s->found ? pieces : 0;
    }
    const char *own = (const char *)(uintptr_t)parts + group->options.rank * size;
    return s->found && ig_shm_read(s, from, own, s->found, size) ? s->found : NULL;
}
