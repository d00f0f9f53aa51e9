/* Exchanges under way: threads as ranks that start, wait and end them, in shared memory
 * and over a function of the host.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/collective/flight.h"
#include "runtime/collective/ranks.h"
#include "tests/unit/unit.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WORLD_MAX = 4, PIECES = 2, MAX = 40000, LATE_MS = 300 };

typedef struct rank_run rank_run;
typedef bool rank_fn(rank_run *r);

struct rank_run {
    uint32_t rank, world;
    int64_t timeout_ms;
    size_t chunk; /* not 0: ranks do not read each other's memory */
    rank_fn *run;
    ig_group *group;
    ig_status status; /* of opening */
    bool is_right;
    char message[256];
};

/* ---- parcels ---- */

/* Small ones, large ones, and some of nothing. */
static size_t bytes_of(uint32_t from, uint32_t to, uint32_t piece, uint32_t flight) {
    uint32_t drawn = (from * 7919 + to * 104729 + piece * 31 + flight * 1299709) % 11;
    return drawn < 3 ? 0 : drawn < 9 ? drawn * 100 + piece : MAX - drawn;
}

static char byte_of(uint32_t from, uint32_t to, uint32_t flight, size_t i) {
    return (char)(from * 16 + to * 4 + flight * 5 + i * 3);
}

typedef struct parcels {
    uint32_t flight;
    char out[WORLD_MAX][PIECES][MAX], in[WORLD_MAX][PIECES][MAX];
} parcels;

static ig_flight *start_flight(rank_run *r, parcels *p, uint32_t index) {
    ig_flight *flight = NULL;
    p->flight = index;
    if (ig_flight_open(r->group, IG_COLLECTIVE_ALL_TO_ALL, PIECES, &flight) != IG_OK) {
        return NULL;
    }
    for (uint32_t other = 0; other < r->world; other++) {
        flight->coming[other] = 0;
        for (uint32_t k = 0; k < PIECES; k++) {
            size_t bytes = bytes_of(r->rank, other, k, index);
            for (size_t i = 0; i < bytes; i++) {
                p->out[other][k][i] = byte_of(r->rank, other, index, i);
            }
            flight->send[other * PIECES + k] = (ig_group_part){ p->out[other][k],
                                                                bytes };
            flight->coming[other] += bytes_of(other, r->rank, k, index);
        }
    }
    return ig_flight_start(r->group, flight) == IG_OK ? flight : NULL;
}

static bool wait_flight(rank_run *r, parcels *p, ig_flight *flight) {
    ig_group_part receive[WORLD_MAX * PIECES];
    memset(p->in, 0, sizeof p->in);
    for (uint32_t other = 0; other < r->world; other++) {
        for (uint32_t k = 0; k < PIECES; k++) {
            size_t bytes = bytes_of(other, r->rank, k, p->flight);
            receive[other * PIECES + k] = (ig_group_part){ p->in[other][k], bytes };
        }
    }
    bool is_right = ig_flight_wait(r->group, flight, receive) == IG_OK;
    for (uint32_t other = 0; other < r->world; other++) {
        for (uint32_t k = 0; k < PIECES; k++) {
            for (size_t i = 0; i < bytes_of(other, r->rank, k, p->flight); i++) {
                is_right = is_right &&
                           p->in[other][k][i] == byte_of(other, r->rank, p->flight, i);
            }
        }
    }
    return is_right;
}

/* What was sent may change: whoever reads it later gets something else. */
static bool end_flight(rank_run *r, parcels *p, ig_flight *flight) {
    bool is_right = ig_flight_end(r->group, flight) == IG_OK;
    memset(p->out, 99, sizeof p->out);
    return is_right;
}

/* ---- ranks ---- */

static void *run_rank(void *argument) {
    rank_run *r = argument;
    char name[64];
    ig_group_options how = { .size = sizeof how,
                             .rank = r->rank,
                             .world = r->world,
                             .chunk = r->chunk,
                             .timeout_ms = r->timeout_ms,
                             .message = r->message,
                             .message_size = sizeof r->message };
    snprintf(name, sizeof name, "shm:ingot-flights-%d", (int)getpid());
    r->status = ig_group_open(name, &how, &r->group);
    r->is_right = r->status == IG_OK && r->run(r);
    ig_group_close(r->group);
    return NULL;
}

static void run_world(rank_run *ranks, uint32_t world) {
    pthread_t threads[WORLD_MAX];
    for (uint32_t r = 0; r < world; r++) {
        ranks[r].rank = r;
        ranks[r].world = world;
        CHECK_INT(pthread_create(&threads[r], NULL, run_rank, &ranks[r]), 0);
    }
    for (uint32_t r = 0; r < world; r++) {
        pthread_join(threads[r], NULL);
    }
}

static void expect_right(rank_fn *run, uint32_t world, size_t chunk) {
    rank_run ranks[WORLD_MAX] = { { 0 } };
    for (uint32_t r = 0; r < world; r++) {
        ranks[r].run = run;
        ranks[r].chunk = chunk;
        ranks[r].timeout_ms = 20000;
    }
    run_world(ranks, world);
    for (uint32_t r = 0; r < world; r++) {
        CHECK_MSG(ranks[r].is_right, "rank %u of %u: %s", r, world, ranks[r].message);
    }
}

/* ---- what is right ---- */

/* Three under way, others between them, waited for in an order that ranks do not share,
 * so often that places are taken again. */
static bool run_many(rank_run *r) {
    static _Thread_local parcels p[3];
    bool is_right = true;
    for (uint32_t round = 0; is_right && round < 2 * IG_FLIGHTS / 3; round++) {
        ig_flight *flights[3];
        uint32_t all[WORLD_MAX];
        for (uint32_t i = 0; i < 3; i++) {
            flights[i] = start_flight(r, &p[i], 3 * round + i);
            is_right = is_right && flights[i];
            if (is_right && i == 1) {
                is_right = ig_group_all_gather(r->group, &round, sizeof round, all) ==
                               IG_OK &&
                           all[r->world - 1] == round;
            }
        }
        for (uint32_t i = 0; is_right && i < 3; i++) {
            uint32_t k = (i + r->rank + round) % 3;
            is_right = wait_flight(r, &p[k], flights[k]);
        }
        for (uint32_t i = 0; is_right && i < 3; i++) {
            is_right = end_flight(r, &p[i], flights[i]);
        }
    }
    return is_right;
}

TEST(what_was_started_comes) {
    for (uint32_t world = 1; world <= WORLD_MAX; world++) {
        expect_right(run_many, world, 0);
    }
    expect_right(run_many, 3, 1000);
}

static sem_t has_started, has_come;

/* Rank 0 starts, and computes, before rank 1 has come to the exchange at all. */
static bool run_apart(rank_run *r) {
    static _Thread_local parcels p;
    if (r->rank == 1) {
        sem_wait(&has_started);
    }
    ig_flight *flight = start_flight(r, &p, 8);
    if (r->rank == 0) {
        sem_post(&has_started);
        sem_wait(&has_come); /* what came of rank 0 needs nothing of rank 0 any more */
    }
    bool is_right = flight && wait_flight(r, &p, flight);
    if (r->rank == 1) {
        sem_post(&has_come);
    }
    return is_right && end_flight(r, &p, flight);
}

TEST(nobody_waits_at_a_start) {
    sem_init(&has_started, 0, 0);
    sem_init(&has_come, 0, 0);
    expect_right(run_apart, 2, 0);
}

static bool run_too_many(rank_run *r) {
    static _Thread_local parcels p;
    bool is_right = true;
    for (uint32_t i = 0; i < IG_FLIGHTS; i++) {
        is_right = is_right && start_flight(r, &p, 0);
    }
    return is_right && !start_flight(r, &p, 0) &&
           strstr(r->message, "128 exchanges are under way, no more are possible");
}

TEST(there_are_so_many_at_once) {
    expect_right(run_too_many, 1, 0);
}

static bool run_unknown(rank_run *r) {
    static _Thread_local parcels p;
    bool is_right = !ig_flight_at(r->group, 0, PIECES);
    ig_flight *flight = start_flight(r, &p, 0);
    is_right = is_right && flight && ig_flight_at(r->group, 0, PIECES) == flight &&
               !ig_flight_at(r->group, 0, PIECES + 1) &&
               !ig_flight_at(r->group, IG_FLIGHTS, PIECES) &&
               !ig_flight_at(r->group, -1, PIECES) &&
               !ig_flight_at(r->group, INT64_MAX, PIECES);
    is_right = is_right && wait_flight(r, &p, flight) && end_flight(r, &p, flight);
    return is_right && !ig_flight_at(r->group, 0, PIECES);
}

TEST(a_flight_is_found_while_it_is_one) {
    expect_right(run_unknown, 2, 0);
}

/* ---- what goes wrong ---- */

/* Rank 1 does something else. */
static void expect_wrong(rank_fn *run, size_t chunk, const char *words) {
    rank_run ranks[2] = { { 0 } };
    for (uint32_t r = 0; r < 2; r++) {
        ranks[r].run = run;
        ranks[r].chunk = chunk;
        ranks[r].timeout_ms = LATE_MS;
    }
    run_world(ranks, 2);
    CHECK(!ranks[0].is_right);
    CHECK_MSG(strstr(ranks[0].message, words), "%s", ranks[0].message);
}

static bool run_late(rank_run *r) {
    static _Thread_local parcels p;
    struct timespec late = { .tv_nsec = 3L * LATE_MS * 1000000 };
    if (r->rank == 1) {
        nanosleep(&late, NULL);
        return false;
    }
    ig_flight *flight = start_flight(r, &p, 0);
    return flight && wait_flight(r, &p, flight);
}

static bool run_gone(rank_run *r) {
    static _Thread_local parcels p;
    ig_flight *flight = r->rank == 0 ? start_flight(r, &p, 0) : NULL;
    return flight && wait_flight(r, &p, flight);
}

static bool run_failing(rank_run *r) {
    static _Thread_local parcels p;
    ig_flight *flight = start_flight(r, &p, 0);
    if (r->rank == 1) {
        ig_rank_fail(ig_group_ranks(r->group));
        sem_post(&has_started);
        return false;
    }
    sem_wait(&has_started);
    return flight && wait_flight(r, &p, flight);
}

/* Rank 0 expects nothing of rank 1, which sends something. */
static bool run_other(rank_run *r) {
    static _Thread_local parcels p;
    ig_group_part none[2 * PIECES] = { { NULL, 0 } };
    ig_flight *flight = NULL;
    if (ig_flight_open(r->group, IG_COLLECTIVE_ALL_TO_ALL, PIECES, &flight) != IG_OK) {
        return false;
    }
    for (uint32_t i = 0; i < 2 * PIECES; i++) {
        flight->send[i] = (ig_group_part){ p.out[0][0], r->rank * (i == 1) };
        flight->coming[i / PIECES] = 0;
    }
    bool is_right = ig_flight_start(r->group, flight) == IG_OK;
    if (r->rank == 1) {
        sem_wait(&has_come);
        return is_right;
    }
    is_right = is_right && ig_flight_wait(r->group, flight, none) == IG_OK;
    sem_post(&has_come);
    return is_right;
}

/* Rank 1 goes, and what it has sent with it. */
static bool run_ending(rank_run *r) {
    static _Thread_local parcels p;
    ig_flight *flight = start_flight(r, &p, 0);
    if (r->rank == 0) {
        struct timespec late = { .tv_nsec = LATE_MS / 3 * 1000000L };
        nanosleep(&late, NULL);
        return flight && wait_flight(r, &p, flight);
    }
    return true;
}

static bool run_call(rank_run *r) {
    static _Thread_local parcels p;
    ig_flight *flight = NULL;
    if (r->rank == 0) {
        flight = start_flight(r, &p, 0);
        return flight && wait_flight(r, &p, flight);
    }
    bool is_open = ig_flight_open(r->group, IG_COLLECTIVE_REDUCE_SCATTER, PIECES,
                                  &flight) == IG_OK;
    return is_open && ig_flight_start(r->group, flight) == IG_OK &&
           ig_group_barrier(r->group) == IG_OK;
}

TEST(who_is_late_or_gone_is_named) {
    sem_init(&has_started, 0, 0);
    sem_init(&has_come, 0, 0);
    expect_wrong(run_ending, 0, "all_to_all: rank 1 has ended");
    expect_wrong(run_late, 0, "all_to_all: rank 1 of 2 did not arrive within 300 ms");
    expect_wrong(run_gone, 0, "all_to_all: rank 1 has ended");
    expect_wrong(run_failing, 0, "all_to_all: rank 1 has failed");
    expect_wrong(run_other, 0,
                 "all_to_all: rank 1 sends 1 bytes, and rank 0 expects 0");
    expect_wrong(run_call, 0,
                 "rank 0 calls all_to_all of 2 lists, and rank 1 "
                 "reduce_scatter of 2");
}

UNIT_SUITE(flights, what_was_started_comes, nobody_waits_at_a_start,
           there_are_so_many_at_once, a_flight_is_found_while_it_is_one,
           who_is_late_or_gone_is_named)
