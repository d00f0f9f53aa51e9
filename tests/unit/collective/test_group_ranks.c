/* Groups: threads and processes as ranks; ranks that are late, killed, or elsewhere.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ingot/group.h"
#include "tests/unit/unit.h"
#include "tests/unit/watch.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

enum { WORLD = 4, CHUNK = 100, MAX = 1000 };

typedef struct rank_run {
    const char *name;
    ig_group_options options;
    char message[256];
    bool (*run)(ig_group *group, uint32_t rank, uint32_t world);
    ig_status status; /* of opening */
    bool is_right;
} rank_run;

/* A name that no other run has. */
static const char *name_run(char *room, size_t size, const char *what) {
    snprintf(room, size, "shm:ingot-test-%s-%d", what, (int)getpid());
    return room;
}

static bool is_left_after(const char *name) {
    char path[256];
    snprintf(path, sizeof path, "/dev/shm/%s", strchr(name, ':') + 1);
    return access(path, F_OK) == 0;
}

/* ---- what every rank does ---- */

static size_t bytes_between(uint32_t from, uint32_t to) {
    return from == to ? 7 : (from * 131 + to * 57) % MAX;
}

static bool exchange_all(ig_group *group, uint32_t rank, uint32_t world) {
    ig_group_part send[WORLD] = { { 0 } }, receive[WORLD] = { { 0 } };
    char out[WORLD][MAX], in[WORLD][MAX];
    for (uint32_t r = 0; r < world; r++) {
        send[r] = (ig_group_part){ out[r], bytes_between(rank, r) };
        receive[r] = (ig_group_part){ in[r], bytes_between(r, rank) };
        memset(out[r], (int)(rank * 16 + r), MAX);
    }
    bool is_right = ig_group_all_to_all(group, send, receive) == IG_OK;
    for (uint32_t r = 0; r < world; r++) {
        for (size_t i = 0; i < receive[r].bytes; i++) {
            is_right = is_right && in[r][i] == (char)(r * 16 + rank);
        }
    }
    return is_right;
}

static bool gather_all(ig_group *group, uint32_t rank, uint32_t world) {
    uint32_t all[WORLD] = { 0 }, word = rank == world - 1 ? 77 : 0;
    bool is_right = ig_group_all_gather(group, &rank, sizeof rank, all) == IG_OK &&
                    ig_group_broadcast(group, world - 1, &word, sizeof word) == IG_OK &&
                    ig_group_barrier(group) == IG_OK && word == 77;
    for (uint32_t r = 0; r < world; r++) {
        is_right = is_right && all[r] == r;
    }
    return is_right;
}

static bool add_all(ig_group *group, uint32_t rank, uint32_t world) {
    enum { COUNT = 333 };
    float data[COUNT], sums[COUNT];
    double doubles[COUNT];
    size_t counts[WORLD] = { 0 }, first = 0;
    for (size_t i = 0; i < COUNT; i++) {
        data[i] = (float)(rank + 1) * (float)i;
        doubles[i] = data[i];
        counts[i % world == 0 && i < 300 ? 0 : i % world]++; /* unlike each other */
    }
    for (uint32_t r = 0; r < rank; r++) {
        first += counts[r];
    }
    bool is_right = ig_group_reduce_scatter(group, IG_GROUP_F32, data, counts, sums) ==
                        IG_OK &&
                    ig_group_all_reduce(group, IG_GROUP_F64, doubles, COUNT) == IG_OK;
    double factor = world * (world + 1) / 2.0;
    for (size_t i = 0; i < counts[rank]; i++) {
        is_right = is_right && (double)sums[i] == factor * (double)(first + i);
    }
    for (size_t i = 0; i < COUNT; i++) {
        is_right = is_right && doubles[i] == factor * (double)i;
    }
    return is_right;
}

/* Around the size from which parcels are read where they lie; nothing, and a lot. */
static size_t large_between(uint32_t from, uint32_t to, int round) {
    static const size_t sizes[] = { 16384, 16385, 0, 1, 300001, 65536, 16383 };
    return sizes[(from * 3 + to + (uint32_t)round) % IG_COUNT_OF(sizes)];
}

static unsigned char large_byte(uint32_t from, uint32_t to, size_t i) {
    return (unsigned char)(i * 31 + i / 4096 + from * 16 + to);
}

/* Contents change at once when the call returns: the others must have read them. */
static bool exchange_large(ig_group *group, uint32_t rank, uint32_t world) {
    enum { ROOM = 300001 };
    bool is_right = true;
    unsigned char *memory = calloc(2 * WORLD, ROOM);
    for (int round = 0; round < 14 && is_right; round++) {
        ig_group_part send[WORLD] = { { 0 } }, receive[WORLD] = { { 0 } };
        for (uint32_t r = 0; r < world; r++) {
            unsigned char *out = memory + (size_t)r * ROOM, *in = out + WORLD * ROOM;
            send[r] = (ig_group_part){ out, large_between(rank, r, round) };
            receive[r] = (ig_group_part){ in, large_between(r, rank, round) };
            for (size_t i = 0; i < send[r].bytes; i++) {
                out[i] = large_byte(rank, r, i);
            }
            memset(in, 0, ROOM);
        }
        is_right = ig_group_all_to_all(group, send, receive) == IG_OK;
        memset(memory, 0xee, (size_t)WORLD * ROOM);
        for (uint32_t r = 0; r < world; r++) {
            const unsigned char *in = receive[r].data;
            for (size_t i = 0; i < receive[r].bytes; i++) {
                is_right = is_right && in[i] == large_byte(r, rank, i);
            }
            is_right = is_right && (receive[r].bytes == ROOM || !in[receive[r].bytes]);
        }
    }
    free(memory);
    return is_right;
}

static bool run_all(ig_group *group, uint32_t rank, uint32_t world) {
    bool is_right = true;
    for (int round = 0; round < 20; round++) {
        is_right = is_right && exchange_all(group, rank, world) &&
                   gather_all(group, rank, world) && add_all(group, rank, world);
    }
    return is_right;
}

static void *run_rank(void *argument) {
    rank_run *r = argument;
    ig_group *group = NULL;
    r->options.message = r->message;
    r->options.message_size = sizeof r->message;
    r->status = ig_group_open(r->name, &r->options, &group);
    r->is_right = r->status == IG_OK &&
                  r->run(group, r->options.rank, r->options.world);
    ig_group_close(group);
    return NULL;
}

static ig_group_options options_of(uint32_t rank, uint32_t world) {
    return (ig_group_options){ .size = sizeof(ig_group_options),
                               .rank = rank,
                               .world = world,
                               .timeout_ms = 20000,
                               .chunk = CHUNK };
}

/* ---- ranks that agree ---- */

typedef bool rank_work(ig_group *group, uint32_t rank, uint32_t world);

static void run_threads(const char *name, uint32_t world, rank_work *run,
                        size_t chunk) {
    rank_run ranks[WORLD];
    pthread_t threads[WORLD];
    for (uint32_t r = 0; r < world; r++) {
        ranks[r] =
            (rank_run){ .name = name, .options = options_of(r, world), .run = run };
        ranks[r].options.chunk = chunk;
        CHECK_INT(pthread_create(&threads[r], NULL, run_rank, &ranks[r]), 0);
    }
    for (uint32_t r = 0; r < world; r++) {
        pthread_join(threads[r], NULL);
        CHECK_MSG(ranks[r].is_right, "%s: rank %u of %u: %s", name, r, world,
                  ranks[r].message);
    }
}

TEST(threads_are_ranks) {
    char name[64];
    run_threads("self", 1, run_all, CHUNK);
    for (uint32_t world = 1; world <= WORLD; world++) {
        run_threads(name_run(name, sizeof name, "threads"), world, run_all, CHUNK);
        run_threads(name_run(name, sizeof name, "threads"), world, run_all, 0);
        run_threads(name_run(name, sizeof name, "threads"), world, exchange_large, 0);
        CHECK(!is_left_after(name));
    }
    run_threads(name_run(name, sizeof name, "threads"), 3, exchange_large, 4096);
}

static pid_t fork_rank(const char *name, uint32_t rank, uint32_t world, rank_work *run,
                       size_t chunk) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        rank_run r = { .name = name, .options = options_of(rank, world), .run = run };
        r.options.chunk = chunk;
        run_rank(&r);
        _exit(r.is_right ? 0 : 1);
    }
    return child;
}

static void run_processes(rank_work *run, size_t chunk) {
    char name[64];
    pid_t children[WORLD];
    name_run(name, sizeof name, "processes");
    for (uint32_t r = 0; r < WORLD; r++) {
        children[r] = fork_rank(name, r, WORLD, run, chunk);
    }
    for (uint32_t r = 0; r < WORLD; r++) {
        int status = -1;
        CHECK_INT(waitpid(children[r], &status, 0), children[r]);
        CHECK_INT(status, 0);
    }
    CHECK(!is_left_after(name));
}

TEST(processes_are_ranks) {
    run_processes(run_all, CHUNK);
    run_processes(run_all, 0);
}

TEST(large_parcels_are_read_where_they_lie_or_go_by_boxes) {
    run_processes(exchange_large, 0);
    run_processes(exchange_large, 5000);
}

/* One rank that wants boxes is enough: all go by boxes. */
TEST(ranks_agree_on_how_parcels_travel) {
    char name[64];
    name_run(name, sizeof name, "mixed");
    pid_t child = fork_rank(name, 0, 2, exchange_large, 65536);
    rank_run own = { .name = name, .options = options_of(1, 2), .run = exchange_large };
    own.options.chunk = 0;
    run_rank(&own);
    int status = -1;
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
    CHECK_MSG(own.is_right, "%s", own.message);
}

/* ---- a transport of the caller's ---- */

/* Over a group of shared memory, so that what is packed can be seen to arrive. */
static ig_status pass_on(void *user, const ig_group_part *send,
                         const ig_group_part *receive) {
    return ig_group_all_to_all(user, send, receive);
}

static bool run_in_host(ig_group *group, uint32_t rank, uint32_t world) {
    char why[256] = "";
    ig_group_host host = { .user = group, .all_to_all = pass_on };
    ig_group_options options = options_of(rank, world);
    ig_group *outer = NULL;
    options.message = why;
    options.message_size = sizeof why;
    options.host = &host;
    bool is_right = ig_group_open("host", &options, &outer) == IG_OK &&
                    run_all(outer, rank, world);
    ig_group_close(outer);
    return is_right && !why[0];
}

TEST(parts_may_travel_by_the_callers_function) {
    char name[64];
    run_threads(name_run(name, sizeof name, "host"), 3, run_in_host, CHUNK);
}

TEST(a_host_without_a_function_is_refused) {
    char why[256] = "";
    ig_group *group = NULL;
    ig_group_options options = { .size = sizeof options,
                                 .message = why,
                                 .message_size = sizeof why };
    CHECK_INT(ig_group_open("host", &options, &group), IG_INVALID);
    CHECK_MSG(strstr(why, "no all_to_all"), "%s", why);
}

/* ---- ranks that do not ---- */

enum { SHORT_MS = 300, LATE_MS = 1000 };

static atomic_int meetings; /* of rank 0's process */

static bool call_barrier(ig_group *group, uint32_t rank, uint32_t world) {
    (void)rank;
    (void)world;
    while (ig_group_barrier(group) == IG_OK) {
        meetings++;
    }
    return false;
}

/* Rank 1 is a process that is killed while rank 0 meets it again and again. */
TEST(a_killed_rank_is_named_at_the_deadline) {
    char name[64];
    name_run(name, sizeof name, "killed");
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        rank_run r = { .name = name, .options = options_of(1, 2), .run = call_barrier };
        run_rank(&r);
        _exit(0);
    }
    rank_run r = { .name = name, .options = options_of(0, 2), .run = call_barrier };
    r.options.timeout_ms = LATE_MS;
    pthread_t thread;
    CHECK_INT(pthread_create(&thread, NULL, run_rank, &r), 0);
    while (meetings < 3) {
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    }
    unit_watch watch = unit_watch_start();
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    pthread_join(thread, NULL);
    CHECK(unit_watch_ms(&watch) < LATE_MS + 2000);
    CHECK_INT(r.status, IG_OK);
    CHECK_TEXT(r.message, "barrier: rank 1 of 2 did not arrive within 1000 ms");
    CHECK(!is_left_after(name));
}

TEST(a_rank_that_never_comes_is_named) {
    char name[64];
    rank_run r = { .name = name_run(name, sizeof name, "never"),
                   .options = options_of(0, 3),
                   .run = run_all };
    r.options.timeout_ms = SHORT_MS;
    run_rank(&r);
    CHECK_INT(r.status, IG_LIMIT);
    CHECK_TEXT(r.message, "open: rank 1 of 3 did not arrive within 300 ms");
    CHECK(!is_left_after(name));
    r.options.rank = 2; /* nobody makes the segment */
    run_rank(&r);
    CHECK_TEXT(r.message, "open: rank 0 of 3 did not arrive within 300 ms");
}

static bool call_unlike(ig_group *group, uint32_t rank, uint32_t world) {
    double x[2] = { 0 };
    (void)world;
    return (rank ? ig_group_barrier(group)
                 : ig_group_all_reduce(group, IG_GROUP_F64, x, 2)) == IG_OK;
}

static bool call_longer(ig_group *group, uint32_t rank, uint32_t world) {
    char all[2 * WORLD] = { 0 }, mine[2] = { 1, 2 };
    (void)world;
    return ig_group_all_gather(group, mine, 1 + rank, all) == IG_OK;
}

static void run_pair(const char *what, rank_run *ranks,
                     bool (*run)(ig_group *group, uint32_t rank, uint32_t world)) {
    char name[64];
    pthread_t threads[2];
    name_run(name, sizeof name, what);
    for (uint32_t r = 0; r < 2; r++) {
        ranks[r] = (rank_run){ .name = name, .options = options_of(r, 2), .run = run };
        CHECK_INT(pthread_create(&threads[r], NULL, run_rank, &ranks[r]), 0);
    }
    for (uint32_t r = 0; r < 2; r++) {
        pthread_join(threads[r], NULL);
        CHECK(!ranks[r].is_right);
    }
}

/* One of them may learn of it by the other's failure. */
TEST(ranks_that_call_something_else_are_given) {
    rank_run ranks[2];
    run_pair("unlike", ranks, call_unlike);
    CHECK(strcmp(ranks[0].message, "rank 0 calls all_reduce, and rank 1 barrier") ==
              0 ||
          strcmp(ranks[1].message, "rank 1 calls barrier, and rank 0 all_reduce") == 0);
    run_pair("longer", ranks, call_longer);
    CHECK(strcmp(ranks[0].message,
                 "all_gather: rank 1 sends 2 bytes, and rank 0 expects 1") == 0 ||
          strcmp(ranks[1].message,
                 "all_gather: rank 0 sends 1 bytes, and rank 1 expects 2") == 0);
}

static bool leave_soon(ig_group *group, uint32_t rank, uint32_t world) {
    (void)world;
    return rank == 0 && ig_group_barrier(group) == IG_OK;
}

TEST(a_rank_that_has_ended_is_not_waited_for) {
    rank_run ranks[2];
    unit_watch watch = unit_watch_start();
    run_pair("ended", ranks, leave_soon);
    CHECK_TEXT(ranks[0].message, "barrier: rank 1 has ended");
    CHECK(unit_watch_ms(&watch) < 15000); /* the deadline is 20 s */
}

TEST(bad_options_are_refused) {
    rank_run r = { .name = "self", .options = options_of(0, 2), .run = run_all };
    run_rank(&r);
    CHECK_TEXT(r.message, "self: a world of 2; ranks of one host meet in shm:NAME");
    r.name = "tcp:here";
    run_rank(&r);
    CHECK_TEXT(
        r.message,
        "'tcp:here' is not a group: self, shm:NAME, mpi, env, nccl:NAME or host");
    r.name = "shm:a/b";
    run_rank(&r);
    CHECK_TEXT(r.message, "shm:a/b: expected a name of 1 to 200 characters without /");
    r.options.rank = 2;
    run_rank(&r);
    CHECK_TEXT(r.message, "there is no rank 2 in a world of 2 (at most 1024)");
    CHECK_INT(r.status, IG_INVALID);
}

/* What is left where all ranks were killed before they met. */
TEST(a_segment_that_was_left_is_made_anew) {
    char name[64];
    name_run(name, sizeof name, "left");
    pid_t child = fork_rank(name, 0, 2, run_all, CHUNK);
    while (!is_left_after(name)) {
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    }
    nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    CHECK(is_left_after(name));
    run_threads(name, 2, run_all, CHUNK);
    CHECK(!is_left_after(name));
}

UNIT_SUITE(group_ranks, threads_are_ranks, processes_are_ranks,
           large_parcels_are_read_where_they_lie_or_go_by_boxes,
           ranks_agree_on_how_parcels_travel, parts_may_travel_by_the_callers_function,
           a_host_without_a_function_is_refused, a_killed_rank_is_named_at_the_deadline,
           a_rank_that_never_comes_is_named, ranks_that_call_something_else_are_given,
           a_rank_that_has_ended_is_not_waited_for, bad_options_are_refused,
           a_segment_that_was_left_is_made_anew)
