/* shm: ranks on one host, over a segment of shared memory.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     head │ slot of each rank │ notices of each │ twice: sizes [from][to], boxes of
 *     `chunk`
 *
 * An exchange is a few steps.  In each a rank writes into its own boxes, says so by
 * counting its slot's `step` up, waits until all have, and reads the boxes that are for
 * it.  Steps take the two sets of boxes in turn: who writes a set again has seen all
 * others step since they read it.  Sizes come with the first step, and say how many
 * there will be.
 *
 * A large parcel needs no box: who receives it reads it from the sender's memory (of
 * another process by process_vm_readv, where the system lets all of them), one copy in
 * all; then all step once more, so that the sender may go on.
 *
 * Rank 0 makes the segment, holds a lock on it as long as it lives (so a segment of a
 * killed run is told apart), and takes its name away once all have come.
 */
#include "runtime/collective/shm.h"

#include "base/checked.h"
#include "base/platform/clock.h"
#include "base/status.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
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
enum { MAGIC = 0x49475348, LINE = IG_SHM_LINE, NAP_MS = 20 };
/* How long a rank looks for another before it sleeps: a wake-up takes about as long.
 * Where there are more ranks than processors it would only be in the way. */
enum { SPIN_NS = 300000, CROWDED_SPIN_NS = 5000, POLLS_PER_CLOCK = 64 };
/* Parcels above are read from the sender's memory. */
enum { DIRECT_BYTES = 1 << 14 };

typedef struct head {
    _Atomic uint32_t magic; /* set when the segment may be used */
    uint32_t world;
    uint64_t chunk;
    _Atomic uint32_t is_closed; /* a rank cannot read another's memory */
} head;

typedef ig_shm shared;

/* Of one set: a multiple of a line, so that sizes are aligned. */
static size_t set_bytes(const ig_group *group) {
    size_t world = group->options.world;
    size_t bytes = world * world * (sizeof(uint64_t) + group->options.chunk);
    return (bytes + LINE - 1) / LINE * LINE;
}

static _Atomic uint64_t *size_at(const ig_group *group, uint32_t from, uint32_t to) {
    const shared *s = group->state;
    size_t world = group->options.world;
    char *sizes = s->memory + ig_shm_head_bytes(world) +
                  (s->turn & 1) * set_bytes(group);
    return &((_Atomic uint64_t *)(void *)sizes)[from * world + to];
}

static char *box_at(const ig_group *group, uint32_t from, uint32_t to) {
    const shared *s = group->state;
    size_t world = group->options.world, chunk = group->options.chunk;
    size_t boxes = ig_shm_head_bytes(world) + (s->turn & 1) * set_bytes(group) +
                   world * world * sizeof(uint64_t);
    return s->memory + boxes + (from * world + to) * chunk;
}

static bool count_bytes(const ig_group *group, size_t *out) {
    size_t world = group->options.world;
    if (!ig_mul_size(world * world, group->options.chunk, out) || *out > SIZE_MAX / 8) {
        return false;
    }
    *out = ig_shm_head_bytes(world) + IG_SHM_SETS * set_bytes(group);
    return true;
}

/* ---- waiting ---- */

/* Of the machine: each rank may be bound to a processor of its own. */
static int64_t choose_spin(uint32_t world) {
    return sysconf(_SC_NPROCESSORS_ONLN) >= (long)world ? SPIN_NS : CROWDED_SPIN_NS;
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
                          "%s: rank %u of %u did not arrive within %lld ms",
                          ig_collective_names[what], rank, group->options.world,
                          (long long)group->options.timeout_ms);
}

const char ig_shm_seen[1024];

ig_status ig_shm_wait(ig_group *group, ig_collective what, uint32_t rank,
                      _Atomic uint32_t *word, uint32_t value, int64_t deadline) {
    const shared *s = group->state;
    ig_shm_slot *other = ig_shm_slot_of(s, rank);
    int64_t asleep_from = 0; /* ns; looked up after the first looks */
    for (uint32_t polls = 0;; polls++) {
        uint32_t state = atomic_load(&other->state); /* before its last step */
        uint32_t now_is = atomic_load(word);
        if ((int32_t)(now_is - value) >= 0) {
            IG_TSAN_ACQUIRE(&ig_shm_seen[rank]);
            return IG_OK;
        }
        if (state == IG_SHM_FAILED || state == IG_SHM_ENDED) {
            return ig_group_error(group, IG_INVALID, "%s: rank %u has %s",
                                  ig_collective_names[what], rank,
                                  state == IG_SHM_FAILED ? "failed" : "ended");
        }
        if (polls % POLLS_PER_CLOCK != POLLS_PER_CLOCK - 1) {
            continue;
        }
        int64_t now = ig_clock_ns();
        asleep_from = asleep_from ? asleep_from : now + s->spin_ns;
        if (now < asleep_from) {
            continue;
        }
        if (now / 1000000 >= deadline) {
            return fail_late(group, what, rank);
        }
        atomic_fetch_add(&other->sleepers, 1);
        sleep_on(word, now_is);
        atomic_fetch_sub(&other->sleepers, 1);
    }
}

void ig_shm_tell(shared *s, uint32_t rank, _Atomic uint32_t *word, uint32_t value) {
    IG_TSAN_RELEASE(&ig_shm_seen[rank]);
    atomic_store(word, value);
    if (atomic_load(&s->own->sleepers)) {
        wake_all(word); /* who comes later sees the value, and does not sleep */
    }
}

int64_t ig_shm_deadline(const ig_group *group) {
    return ig_group_now_ms() + group->options.timeout_ms;
}

/* This rank's next step, when all have made it. */
static ig_status make_step(ig_group *group, ig_collective what) {
    shared *s = group->state;
    int64_t deadline = ig_shm_deadline(group);
    ig_shm_tell(s, group->options.rank, &s->own->step, ++s->step);
    for (uint32_t r = 0; r < group->options.world; r++) {
        ig_status status = r == group->options.rank
                               ? IG_OK
                               : ig_shm_wait(group, what, r,
                                             &ig_shm_slot_of(s, r)->step, s->step,
                                             deadline);
        if (status != IG_OK) {
            return status;
        }
    }
    return IG_OK;
}

/* ---- the exchange ---- */

/* Are parcels read from the sender's memory? */
static bool is_direct(const ig_group *group, uint32_t from, uint32_t to, size_t bytes) {
    const shared *s = group->state;
    return from == to || (s->is_direct && bytes > DIRECT_BYTES);
}

static void write_boxes(ig_group *group, const ig_parcels *all, size_t at) {
    uint32_t own = group->options.rank;
    for (uint32_t to = 0; to < group->options.world; to++) {
        const ig_group_part *parts = all->send + to * all->pieces;
        if (!is_direct(group, own, to, ig_parcel_bytes(parts, all->pieces))) {
            ig_parcel_read(parts, all->pieces, at, group->options.chunk,
                           box_at(group, own, to));
        }
    }
}

static void read_boxes(ig_group *group, const ig_parcels *all, size_t at) {
    uint32_t own = group->options.rank;
    for (uint32_t from = 0; from < group->options.world; from++) {
        const ig_group_part *parts = all->receive + from * all->pieces;
        if (!is_direct(group, from, own, ig_parcel_bytes(parts, all->pieces))) {
            ig_parcel_write(parts, all->pieces, at, group->options.chunk,
                            box_at(group, from, own));
        }
    }
}

/* The parcel from rank `from` to this one, from the sender's memory. */
static ig_status read_parcel(ig_group *group, ig_collective what, const ig_parcels *all,
                             uint32_t from) {
    const shared *s = group->state;
    uint32_t own = group->options.rank, pieces = all->pieces;
    const ig_group_part *to = all->receive + from * pieces;
    uint64_t there = atomic_load(&ig_shm_slot_of(s, from)->parts[s->turn & 1]);
    const ig_group_part *parts = from == own
                                     ? all->send + own * pieces
                                     : ig_shm_find_parts(group, from, there, pieces);
    bool is_read = parts &&
                   ig_shm_copy_parts(s, from, parts, to, ig_parcel_bytes(to, pieces));
    return is_read ? IG_OK : ig_shm_fail_read(group, what, from);
}

static ig_status read_direct(ig_group *group, ig_collective what,
                             const ig_parcels *all) {
    uint32_t own = group->options.rank;
    for (uint32_t from = 0; from < group->options.world; from++) {
        const ig_group_part *to = all->receive + from * all->pieces;
        if (!is_direct(group, from, own, ig_parcel_bytes(to, all->pieces))) {
            continue;
        }
        IG_TRY(ig_shm_begin_read(group, what, from));
        ig_status status = read_parcel(group, what, all, from);
        ig_status end = ig_shm_end_read(group, what, from);
        IG_TRY(status);
        IG_TRY(end);
    }
    return IG_OK;
}

/* Does every rank make this call, and send the expected parts? */
static ig_status check_others(ig_group *group, ig_collective what,
                              const ig_parcels *all) {
    const shared *s = group->state;
    for (uint32_t r = 0; r < group->options.world; r++) {
        uint32_t other = atomic_load(&ig_shm_slot_of(s, r)->what[s->turn & 1]);
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

/* The needs of all current exchanges; every rank computes the same. */
typedef struct needs {
    size_t boxed;   /* bytes of the largest parcel that goes by boxes */
    bool is_direct; /* a rank reads another's memory */
} needs;

static needs needs_of(const ig_group *group) {
    needs n = { 0, false };
    for (uint32_t from = 0; from < group->options.world; from++) {
        for (uint32_t to = 0; to < group->options.world; to++) {
            size_t bytes = (size_t)atomic_load(size_at(group, from, to));
            if (!is_direct(group, from, to, bytes)) {
                n.boxed = bytes > n.boxed ? bytes : n.boxed;
            } else if (from != to) {
                n.is_direct = true;
            }
        }
    }
    return n;
}

static void announce_call(ig_group *group, ig_collective what, const ig_parcels *all) {
    shared *s = group->state;
    uint32_t set = s->turn & 1;
    atomic_store(&s->own->what[set], (uint32_t)what);
    atomic_store(&s->own->parts[set], (uint64_t)(uintptr_t)all->send);
    for (uint32_t to = 0; to < group->options.world; to++) {
        atomic_store(size_at(group, group->options.rank, to),
                     ig_parcel_bytes(all->send + to * all->pieces, all->pieces));
    }
}

/* The rest of parcels that are larger than a box. */
static ig_status send_rest(ig_group *group, ig_collective what, const ig_parcels *all,
                           size_t boxed) {
    shared *s = group->state;
    for (size_t at = group->options.chunk; at < boxed; at += group->options.chunk) {
        s->turn++;
        write_boxes(group, all, at);
        IG_TRY(make_step(group, what));
        read_boxes(group, all, at);
    }
    return IG_OK;
}

static ig_status run_steps(ig_group *group, ig_collective what, const ig_parcels *all) {
    shared *s = group->state;
    s->turn++;
    announce_call(group, what, all);
    write_boxes(group, all, 0);
    IG_TRY(make_step(group, what));
    IG_TRY(check_others(group, what, all));
    needs n = needs_of(group);
    read_boxes(group, all, 0);
    IG_TRY(read_direct(group, what, all));
    IG_TRY(send_rest(group, what, all, n.boxed));
    return n.is_direct ? make_step(group, what) : IG_OK;
}

static void leave_others(const ig_group *group, ig_shm_state state) {
    shared *s = group->state;
    if (s->own) {
        atomic_store(&s->own->state, (uint32_t)state);
        wake_all(&s->own->step);
        wake_all(&s->own->started);
        wake_all(&s->own->taken);
        ig_shm_wait_for_readers(group);
    }
}

static ig_status exchange_shm(ig_group *group, ig_collective what,
                              const ig_parcels *all) {
    ig_status status = run_steps(group, what, all);
    if (status != IG_OK) {
        leave_others(group, IG_SHM_FAILED);
    }
    return status;
}

/* ---- exchanges under way ---- */

static ig_status note_failure(ig_group *group, ig_status status) {
    if (status != IG_OK) {
        leave_others(group, IG_SHM_FAILED);
    }
    return status;
}

static ig_status start_shm(ig_group *group, ig_flight *flight) {
    return note_failure(group, ig_shm_start(group, flight));
}

static ig_status wait_shm(ig_group *group, ig_flight *flight,
                          const ig_group_part *receive) {
    return note_failure(group, ig_shm_take(group, flight, receive));
}

static ig_status end_shm(ig_group *group, ig_flight *flight) {
    return note_failure(group, ig_shm_end(group, flight));
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
    int64_t deadline = ig_group_now_ms() + group->options.timeout_ms;
    while (!try_join(s)) {
        struct timespec nap = { .tv_nsec = 1000000 };
        if (ig_group_now_ms() >= deadline) {
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

/* All read from all others, or none does. */
static ig_status find_whether_direct(ig_group *group) {
    shared *s = group->state;
    head *h = (head *)(void *)s->memory;
    if (!s->may_read) {
        atomic_store(&h->is_closed, 1);
    }
    for (uint32_t r = 0; r < group->options.world; r++) {
        uint32_t word = 0;
        uint64_t address = atomic_load(&ig_shm_slot_of(s, r)->parts[0]);
        if (!ig_shm_read(s, r, (void *)(uintptr_t)address, &word, sizeof word) ||
            word != MAGIC) {
            atomic_store(&h->is_closed, 1);
        }
    }
    IG_TRY(make_step(group, IG_COLLECTIVE_OPEN));
    s->is_direct = !atomic_load(&h->is_closed);
    return IG_OK;
}

static ig_status meet_others(ig_group *group) {
    shared *s = group->state;
    ig_shm_slot *own = ig_shm_slot_of(s, group->options.rank);
    uint32_t none = IG_SHM_ABSENT;
    if (!atomic_compare_exchange_strong(&own->state, &none, (uint32_t)IG_SHM_ALIVE)) {
        return ig_group_error(group, IG_INVALID, "shm:%s: there is a rank %u already",
                              s->name + 1, group->options.rank);
    }
    s->own = own;
    s->probe = MAGIC;
    atomic_store(&own->process, (int32_t)getpid());
    atomic_store(&own->parts[0], (uint64_t)(uintptr_t)&s->probe);
    ig_status status = make_step(group, IG_COLLECTIVE_OPEN);
    if (status == IG_OK) {
        status = find_whether_direct(group);
    }
    if (status != IG_OK) {
        leave_others(group, IG_SHM_FAILED);
    } else if (s->is_maker) {
        (void)shm_unlink(s->name);
        s->is_maker = false;
    }
    return status;
}

/* Who says how much may be under way at once wants all of it to go by boxes. */
static void choose_chunk(shared *s, ig_group_options *o) {
    size_t chunk = (size_t)CHUNKS / o->world / o->world;
    s->may_read = !o->chunk;
    s->spin_ns = choose_spin(o->world);
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
    choose_chunk(s, &group->options);
    if (length == 0 || length > IG_SHM_NAME_SIZE || strchr(name, '/') ||
        !count_bytes(group, &s->bytes)) {
        return ig_group_error(group, IG_INVALID,
                              "shm:%s: expected a name of 1 to %d characters without /",
                              name, IG_SHM_NAME_SIZE);
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
    if (s->own && atomic_load(&s->own->state) == IG_SHM_ALIVE) {
        leave_others(group, IG_SHM_ENDED);
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
    free(s->found);
    free(s);
}

static void fail_shm(ig_group *group) {
    leave_others(group, IG_SHM_FAILED);
}

const ig_transport ig_transport_shm = { .name = "shm",
                                        .open = open_shm,
                                        .close = close_shm,
                                        .exchange = exchange_shm,
                                        .fail = fail_shm,
                                        .start = start_shm,
                                        .wait = wait_shm,
                                        .end = end_shm };
