/* shm: ranks on one host, over a segment of shared memory.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     head │ slot of each rank │ sizes [from][to] │ boxes [from][to] of `chunk` bytes
 *
 * An exchange is a few steps.  In each a rank writes into its own boxes, says so by
 * counting its slot's `step` up, waits until all have, and reads the boxes that are for
 * it; then all step once more, so that boxes may be written again.  Sizes come with the
 * first step, and say how many there will be.
 *
 * Rank 0 makes the segment, has a lock on it as long as it lives (what a killed run
 * left is told apart by that), and takes its name away once all have come.
 */
#include "runtime/collective/transport.h"

#include "base/checked.h"
#include "base/status.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Bytes of all pairs of ranks together, and of one pair. */
enum { CHUNKS = 1 << 24, CHUNK_MAX = 1 << 16 };
enum { MAGIC = 0x49475348, LINE = 64, SPINS = 2000, NAP_MS = 20, NAME_MAX_SIZE = 200 };

typedef struct head {
    _Atomic uint32_t magic; /* set when the segment may be used */
    uint32_t world;
    uint64_t chunk;
} head;

typedef enum rank_state { ABSENT, ALIVE, FAILED, ENDED } rank_state;

typedef struct slot {
    _Atomic uint32_t step;  /* also what others sleep on */
    _Atomic uint32_t state; /* rank_state */
    _Atomic uint32_t what;  /* ig_collective, of the exchange at hand */
} slot;

typedef struct shared {
    int file;
    char name[NAME_MAX_SIZE + 2];
    bool is_maker;
    char *memory; /* NULL: not mapped */
    size_t bytes;
    slot *own;
    uint32_t step; /* of this rank */
} shared;

static slot *slot_of(const shared *s, uint32_t rank) {
    return (slot *)(s->memory + LINE + (size_t)rank * LINE);
}

static _Atomic uint64_t *size_at(const ig_group *group, uint32_t from, uint32_t to) {
    const shared *s = group->state;
    size_t world = group->options.world;
    _Atomic uint64_t *sizes = (_Atomic uint64_t *)(s->memory + LINE + world * LINE);
    return &sizes[from * world + to];
}

static char *box_at(const ig_group *group, uint32_t from, uint32_t to) {
    const shared *s = group->state;
    size_t world = group->options.world, chunk = group->options.chunk;
    size_t boxes = LINE + world * LINE + world * world * sizeof(uint64_t);
    return s->memory + boxes + (from * world + to) * chunk;
}

static bool count_bytes(const ig_group *group, size_t *out) {
    size_t world = group->options.world, pairs = world * world;
    size_t heads = LINE + world * LINE + pairs * sizeof(uint64_t);
    return ig_mul_size(pairs, group->options.chunk, out) && *out <= SIZE_MAX / 4 &&
           (*out += heads) > 0;
}

/* ---- waiting ---- */

static int64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void sleep_on(_Atomic uint32_t *word, uint32_t value) {
    struct timespec nap = { .tv_nsec = NAP_MS * 1000000L };
    (void)syscall(SYS_futex, word, FUTEX_WAIT, value, &nap, NULL, 0);
}

static void wake_all(_Atomic uint32_t *word) {
    (void)syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static ig_status fail_late(ig_group *group, ig_collective what, uint32_t rank) {
    return ig_group_error(group, IG_LIMIT,
                          "%s: rank %u of %u has not come within %lld ms",
                          ig_collective_names[what], rank, group->options.world,
                          (long long)group->options.timeout_ms);
}

/* Until rank `rank` has made this rank's step. */
static ig_status wait_for(ig_group *group, ig_collective what, uint32_t rank,
                          int64_t deadline) {
    const shared *s = group->state;
    slot *other = slot_of(s, rank);
    for (uint32_t spins = 0;; spins++) {
        uint32_t state = atomic_load(&other->state); /* before its last step */
        uint32_t step = atomic_load(&other->step);
        if ((int32_t)(step - s->step) >= 0) {
            return IG_OK;
        }
        if (state == FAILED || state == ENDED) {
            return ig_group_error(group, IG_INVALID, "%s: rank %u has %s",
                                  ig_collective_names[what], rank,
                                  state == FAILED ? "failed" : "ended");
        }
        if (spins < SPINS) {
            continue;
        }
        if (now_ms() >= deadline) {
            return fail_late(group, what, rank);
        }
        sleep_on(&other->step, step);
    }
}

/* This rank's next step, when all have made it. */
static ig_status make_step(ig_group *group, ig_collective what) {
    shared *s = group->state;
    int64_t deadline = now_ms() + group->options.timeout_ms;
    atomic_store(&s->own->step, ++s->step);
    wake_all(&s->own->step);
    for (uint32_t r = 0; r < group->options.world; r++) {
        ig_status status = r == group->options.rank
                               ? IG_OK
                               : wait_for(group, what, r, deadline);
        if (status != IG_OK) {
            return status;
        }
    }
    return IG_OK;
}

/* ---- the exchange ---- */

static void write_boxes(ig_group *group, const ig_parcels *all, size_t at) {
    for (uint32_t to = 0; to < group->options.world; to++) {
        ig_parcel_read(all->send + to * all->pieces, all->pieces, at,
                       group->options.chunk, box_at(group, group->options.rank, to));
    }
}

static void read_boxes(ig_group *group, const ig_parcels *all, size_t at) {
    for (uint32_t from = 0; from < group->options.world; from++) {
        ig_parcel_write(all->receive + from * all->pieces, all->pieces, at,
                        group->options.chunk, box_at(group, from, group->options.rank));
    }
}

/* Does every rank make this call, and send what is expected? */
static ig_status check_others(ig_group *group, ig_collective what,
                              const ig_parcels *all) {
    for (uint32_t r = 0; r < group->options.world; r++) {
        uint32_t other = atomic_load(&slot_of(group->state, r)->what);
        if (other != (uint32_t)what) {
            return ig_group_error(group, IG_INVALID, "rank %u calls %s, and rank %u %s",
                                  group->options.rank, ig_collective_names[what], r,
                                  other < IG_COLLECTIVE_COUNT
                                      ? ig_collective_names[other]
                                      : "something else");
        }
        uint64_t bytes = atomic_load(size_at(group, r, group->options.rank));
        size_t expected = ig_parcel_bytes(all->receive + r * all->pieces, all->pieces);
        if (bytes != expected) {
            return ig_group_error(
                group, IG_INVALID,
                "%s: rank %u sends %llu bytes, and rank %u expects %zu",
                ig_collective_names[what], r, (unsigned long long)bytes,
                group->options.rank, expected);
        }
    }
    return IG_OK;
}

/* The most that goes from any rank to any. */
static size_t most_bytes(const ig_group *group) {
    uint64_t most = 0;
    for (uint32_t from = 0; from < group->options.world; from++) {
        for (uint32_t to = 0; to < group->options.world; to++) {
            uint64_t bytes = atomic_load(size_at(group, from, to));
            most = bytes > most ? bytes : most;
        }
    }
    return (size_t)most;
}

static ig_status run_steps(ig_group *group, ig_collective what, const ig_parcels *all) {
    shared *s = group->state;
    size_t at = 0, most = 0;
    atomic_store(&s->own->what, (uint32_t)what);
    for (uint32_t to = 0; to < group->options.world; to++) {
        atomic_store(size_at(group, group->options.rank, to),
                     ig_parcel_bytes(all->send + to * all->pieces, all->pieces));
    }
    do {
        write_boxes(group, all, at);
        IG_TRY(make_step(group, what));
        if (at == 0) {
            IG_TRY(check_others(group, what, all));
            most = most_bytes(group);
        }
        read_boxes(group, all, at);
        at += group->options.chunk;
        IG_TRY(make_step(group, what));
    } while (at < most);
    return IG_OK;
}

static void leave_others(shared *s, rank_state state) {
    if (s->own) {
        atomic_store(&s->own->state, (uint32_t)state);
        wake_all(&s->own->step);
    }
}

static ig_status exchange_shm(ig_group *group, ig_collective what,
                              const ig_parcels *all) {
    ig_status status = run_steps(group, what, all);
    if (status != IG_OK) {
        leave_others(group->state, FAILED);
    }
    return status;
}

/* ---- the segment ---- */

static ig_status fail_call(ig_group *group, const char *call) {
    const shared *s = group->state;
    return ig_group_error(group, IG_IO, "shm:%s: %s: %s", s->name + 1, call,
                          strerror(errno));
}

static ig_status map_segment(ig_group *group) {
    shared *s = group->state;
    void *memory = mmap(NULL, s->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, s->file, 0);
    if (memory == MAP_FAILED) {
        return fail_call(group, "mmap");
    }
    s->memory = memory;
    return IG_OK;
}

static ig_status make_segment(ig_group *group) {
    shared *s = group->state;
    (void)shm_unlink(s->name); /* of a run that was killed */
    s->file = shm_open(s->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (s->file < 0) {
        return fail_call(group, "shm_open");
    }
    s->is_maker = true;
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    if (fcntl(s->file, F_OFD_SETLK, &lock) != 0) {
        return fail_call(group, "fcntl");
    }
    errno = posix_fallocate(s->file, 0, (off_t)s->bytes);
    if (errno) {
        return fail_call(group,
                         "no room in shared memory (a smaller chunk needs less)");
    }
    IG_TRY(map_segment(group));
    head *h = (head *)s->memory;
    h->world = group->options.world;
    h->chunk = group->options.chunk;
    atomic_store(&h->magic, MAGIC);
    return IG_OK;
}

/* Whether it is there, its maker lives, and it is ready. */
static bool try_join(shared *s) {
    struct stat info;
    s->file = shm_open(s->name, O_RDWR | O_CLOEXEC, 0);
    if (s->file < 0) {
        return false;
    }
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    bool is_held = fcntl(s->file, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    if (is_held && fstat(s->file, &info) == 0 && info.st_size >= LINE) {
        void *memory = mmap(NULL, LINE, PROT_READ, MAP_SHARED, s->file, 0);
        bool is_ready = memory != MAP_FAILED &&
                        atomic_load(&((head *)memory)->magic) == MAGIC;
        if (memory != MAP_FAILED) {
            (void)munmap(memory, LINE);
        }
        if (is_ready) {
            return true;
        }
    }
    (void)close(s->file);
    s->file = -1;
    return false;
}

static ig_status join_segment(ig_group *group) {
    shared *s = group->state;
    int64_t deadline = now_ms() + group->options.timeout_ms;
    while (!try_join(s)) {
        struct timespec nap = { .tv_nsec = 1000000 };
        if (now_ms() >= deadline) {
            return fail_late(group, IG_COLLECTIVE_OPEN, 0);
        }
        (void)nanosleep(&nap, NULL);
    }
    struct stat info;
    if (fstat(s->file, &info) != 0) {
        return fail_call(group, "fstat");
    }
    if ((size_t)info.st_size != s->bytes) {
        return ig_group_error(group, IG_INVALID,
                              "shm:%s: rank 0 has another world or chunk", s->name + 1);
    }
    IG_TRY(map_segment(group));
    const head *h = (const head *)s->memory;
    return h->world == group->options.world && h->chunk == group->options.chunk
               ? IG_OK
               : ig_group_error(group, IG_INVALID,
                                "shm:%s: rank 0 has another world or chunk",
                                s->name + 1);
}

static ig_status meet_others(ig_group *group) {
    shared *s = group->state;
    slot *own = slot_of(s, group->options.rank);
    uint32_t none = ABSENT;
    if (!atomic_compare_exchange_strong(&own->state, &none, (uint32_t)ALIVE)) {
        return ig_group_error(group, IG_INVALID, "shm:%s: there is a rank %u already",
                              s->name + 1, group->options.rank);
    }
    s->own = own;
    ig_status status = make_step(group, IG_COLLECTIVE_OPEN);
    if (status != IG_OK) {
        leave_others(s, FAILED);
    } else if (s->is_maker) {
        (void)shm_unlink(s->name);
        s->is_maker = false;
    }
    return status;
}

static void choose_chunk(ig_group_options *o) {
    size_t chunk = (size_t)CHUNKS / o->world / o->world;
    o->chunk = o->chunk ? o->chunk : chunk < CHUNK_MAX ? chunk : CHUNK_MAX;
}

static ig_status open_shm(ig_group *group, const char *name) {
    shared *s = calloc(1, sizeof *s);
    size_t length = strlen(name);
    if (!s) {
        return ig_group_error(group, IG_LIMIT, "no memory for a group");
    }
    s->file = -1;
    group->state = s;
    choose_chunk(&group->options);
    if (length == 0 || length > NAME_MAX_SIZE || strchr(name, '/') ||
        !count_bytes(group, &s->bytes)) {
        return ig_group_error(
            group, IG_INVALID,
            "shm:%s: a name of 1 to %d characters without / is wanted", name,
            NAME_MAX_SIZE);
    }
    (void)snprintf(s->name, sizeof s->name, "/%s", name);
    IG_TRY(group->options.rank == 0 ? make_segment(group) : join_segment(group));
    return meet_others(group);
}

static void close_shm(ig_group *group) {
    shared *s = group->state;
    if (!s) {
        return;
    }
    if (s->own && atomic_load(&s->own->state) == ALIVE) {
        leave_others(s, ENDED);
    }
    if (s->memory) {
        (void)munmap(s->memory, s->bytes);
    }
    if (s->is_maker) {
        (void)shm_unlink(s->name);
    }
    if (s->file >= 0) {
        (void)close(s->file);
    }
    free(s);
}

static void fail_shm(ig_group *group) {
    leave_others(group->state, FAILED);
}

const ig_transport ig_transport_shm = { .name = "shm",
                                        .open = open_shm,
                                        .close = close_shm,
                                        .exchange = exchange_shm,
                                        .fail = fail_shm };
