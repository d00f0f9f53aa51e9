/* Groups over NCCL itself, where there is a GPU: processes as ranks, which share one
 * when there are too few.
 * SPDX-License-Identifier: Apache-2.0
 *
 * NCCL refuses two ranks on one GPU of one host.  Ranks that say that they are on
 * different hosts (NCCL_HOSTID) it takes, and lets them talk over sockets.
 */
#include "tests/unit/collective/nccl_ranks.h"

/* ---- is there a GPU? ---- */

static int open_alone(void) {
    static char why[512];
    ig_group *group = NULL;
    ig_group_options how = { .size = sizeof how,
                             .world = 1,
                             .timeout_ms = 60000,
                             .message = why,
                             .message_size = sizeof why };
    ig_status status = ig_group_open("nccl:self", &how, &group);
    ig_group_close(group);
    if (status != IG_OK) {
        printf("skip a group of one rank: %s\n", why);
        fflush(stdout);
    }
    return status == IG_OK ? 0 : status == IG_UNSUPPORTED ? 1 : 2;
}

/* In a process of its own: CUDA does not go through a fork.  What is there and does not
 * open is a failure. */
static bool has_gpu(void) {
    int how = -1;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        _exit(open_alone());
    }
    CHECK(waitpid(child, &how, 0) == child && WIFEXITED(how));
    CHECK_MSG(WEXITSTATUS(how) < 2, "there is a GPU, but no group opens on it");
    if (WEXITSTATUS(how) != 0) {
        unit_skip("NCCL itself: no GPU here, or no libnccl.so.2");
    }
    return WEXITSTATUS(how) == 0;
}

/* ---- the tests ---- */

static void be_a_host(uint32_t rank) {
    char name[32];
    snprintf(name, sizeof name, "ingot-%u", rank);
    setenv("NCCL_HOSTID", name, 1);
    setenv("NCCL_SOCKET_IFNAME", "lo", 0);
    setenv("NCCL_IB_DISABLE", "1", 0);
}

static void run_ranks(rank_fn *run, int64_t timeout) {
    if (has_gpu()) {
        run_rank_processes(run, timeout, be_a_host);
    }
}

TEST(ranks_exchange_parts_between_gpus) {
    run_ranks(works, 120000);
}
END_TEST

TEST(ranks_agree_on_sizes_first) {
    run_ranks(says_other_sizes, 120000);
}
END_TEST

/* All open within the deadline, then one is missing. */
TEST(a_rank_that_does_not_come_is_named) {
    away_seconds = 25;
    run_ranks(lacks_one, 20000);
}
END_TEST

UNIT_SUITE(group_gpu, ranks_exchange_parts_between_gpus, ranks_agree_on_sizes_first,
           a_rank_that_does_not_come_is_named)
