/* What ranks of NCCL's groups do in tests, each in a process of its own.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TESTS_UNIT_COLLECTIVE_NCCL_RANKS_H
#define IG_TESTS_UNIT_COLLECTIVE_NCCL_RANKS_H

#include "tests/unit/collective/rank_parts.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORLD = 3, ROUNDS = 10 };

/* ---- a rank ---- */

typedef bool rank_fn(ig_group *group, uint32_t rank, const char *why);

static inline bool works(ig_group *group, uint32_t rank, const char *why) {
    bool is_right = group != NULL;
    (void)why;
    for (int i = 0; i < ROUNDS && is_right; i++) {
        is_right = exchange_all(group, rank, WORLD, PART_BYTES) &&
                   add_all(group, rank, WORLD);
    }
    return is_right;
}

static unsigned away_seconds = 3; /* longer than the deadline */

/* Rank 2 does not come: the others name it. */
static inline bool lacks_one(ig_group *group, uint32_t rank, const char *why) {
    if (rank == 2) {
        sleep(away_seconds);
        return true;
    }
    return ig_group_barrier(group) == IG_LIMIT && strstr(why, "rank 2") != NULL;
}

static inline bool says_other_sizes(ig_group *group, uint32_t rank, const char *why) {
    char out[8] = { 0 }, in[8];
    ig_group_part send[WORLD], receive[WORLD];
    for (uint32_t r = 0; r < WORLD; r++) {
        send[r] = (ig_group_part){ out, rank == 1 ? 5 : 8 };
        receive[r] = (ig_group_part){ in, 8 };
    }
    return ig_group_all_to_all(group, send, receive) == IG_INVALID &&
           strstr(why, "all_to_all: rank 1 sends 5 bytes") != NULL;
}

/* ---- processes ---- */

static inline int run_rank(rank_fn *run, const char *name, uint32_t rank,
                           int64_t timeout) {
    static char why[512];
    ig_group *group = NULL;
    ig_group_options how = { .size = sizeof how,
                             .rank = rank,
                             .world = WORLD,
                             .timeout_ms = timeout,
                             .message = why,
                             .message_size = sizeof why };
    ig_status status = ig_group_open(name, &how, &group);
    bool is_right = run(group, rank, why);
    ig_group_close(group);
    if (!is_right) {
        fprintf(stderr, "rank %u: %d %s\n", rank, (int)status, why);
    }
    return is_right ? 0 : 1;
}

/* Forks WORLD ranks; `prepare` (may be NULL) is called in each before it opens. */
static inline void run_rank_processes(rank_fn *run, int64_t timeout,
                                      void (*prepare)(uint32_t rank)) {
    char name[128];
    pid_t children[WORLD];
    snprintf(name, sizeof name, "nccl:shm:ingot-test-nccl-%d", (int)getpid());
    for (uint32_t r = 0; r < WORLD; r++) {
        children[r] = fork();
        CHECK(children[r] >= 0);
        if (children[r] == 0) {
            if (prepare) {
                prepare(r);
            }
            _exit(run_rank(run, name, r, timeout));
        }
    }
    for (uint32_t r = 0; r < WORLD; r++) {
        int how = -1;
        CHECK(waitpid(children[r], &how, 0) == children[r]);
        CHECK_MSG(WIFEXITED(how) && WEXITSTATUS(how) == 0, "rank %u", r);
    }
}

#endif
