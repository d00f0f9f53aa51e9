/* Groups over NCCL, on one that needs no GPU (tests/cuda_host/nccl.cc): processes as
 * ranks.  SPDX-License-Identifier: Apache-2.0 */
#include "ingot/group.h"
#include "tests/unit/cuda/cuda_library.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORLD = 3, MOST = 100000, ROUNDS = 10 };

static cuda_library nccl; /* path "" without a C++ compiler */

/* In the process that makes those of the tests. */
static void build_libraries(void) {
    if (cuda_find_compiler()) {
        nccl = cuda_library_build(
            "#include \"" INGOT_SOURCE_DIR "/tests/cuda_host/nccl.cc\"\n", "-ldl");
        (void)cuda_open_driver();
        setenv("INGOT_NCCL_LIBRARY", nccl.path, 1);
    }
}

static void remove_libraries(void) {
    if (nccl.path[0]) {
        cuda_library_remove(&nccl);
    }
}

/* ---- a rank ---- */

static size_t bytes_between(uint32_t from, uint32_t to) {
    return from == 0 && to == 1 ? 0 : (from * 31013 + to * 5701 + 1) % MOST;
}

static char byte_at(uint32_t from, uint32_t to, size_t i) {
    return (char)(from * 64 + to * 16 + i * 7);
}

static bool exchange_all(ig_group *group, uint32_t rank) {
    static char out[WORLD][MOST], in[WORLD][MOST];
    ig_group_part send[WORLD], receive[WORLD];
    for (uint32_t r = 0; r < WORLD; r++) {
        send[r] = (ig_group_part){ out[r], bytes_between(rank, r) };
        receive[r] = (ig_group_part){ in[r], bytes_between(r, rank) };
        memset(in[r], 99, MOST);
        for (size_t i = 0; i < send[r].bytes; i++) {
            out[r][i] = byte_at(rank, r, i);
        }
    }
    bool is_right = ig_group_all_to_all(group, send, receive) == IG_OK;
    for (uint32_t r = 0; r < WORLD; r++) {
        for (size_t i = 0; i < receive[r].bytes; i++) {
            is_right = is_right && in[r][i] == byte_at(r, rank, i);
        }
    }
    return is_right;
}

static bool add_all(ig_group *group, uint32_t rank) {
    enum { COUNT = 333 };
    float data[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        data[i] = (float)((rank + 1) * i);
    }
    bool is_right = ig_group_all_reduce(group, IG_GROUP_F32, data, COUNT) == IG_OK;
    for (size_t i = 0; i < COUNT; i++) {
        is_right = is_right && data[i] == (float)(WORLD * (WORLD + 1) / 2 * i);
    }
    return is_right && ig_group_barrier(group) == IG_OK;
}

typedef bool rank_fn(ig_group *group, uint32_t rank, const char *why);

static bool works(ig_group *group, uint32_t rank, const char *why) {
    bool is_right = group != NULL;
    (void)why;
    for (int i = 0; i < ROUNDS && is_right; i++) {
        is_right = exchange_all(group, rank) && add_all(group, rank);
    }
    return is_right;
}

/* Rank 2 does not come: the others name it. */
static bool lacks_one(ig_group *group, uint32_t rank, const char *why) {
    if (rank == 2) {
        sleep(3);
        return true;
    }
    return ig_group_barrier(group) == IG_LIMIT && strstr(why, "rank 2") != NULL;
}

static bool stalls(ig_group *group, uint32_t rank, const char *why) {
    return !exchange_all(group, rank) &&
           strstr(why, "all_to_all: NCCL has not moved all parts within 500 ms");
}

static bool fails(ig_group *group, uint32_t rank, const char *why) {
    (void)rank;
    return !group && strstr(why, "NCCL: unhandled system error") != NULL;
}

static bool says_other_sizes(ig_group *group, uint32_t rank, const char *why) {
    char out[8] = { 0 }, in[8];
    ig_group_part send[WORLD], receive[WORLD];
    for (uint32_t r = 0; r < WORLD; r++) {
        send[r] = (ig_group_part){ out, rank == 1 ? 5 : 8 };
        receive[r] = (ig_group_part){ in, 8 };
    }
    return ig_group_all_to_all(group, send, receive) == IG_INVALID &&
           strstr(why, "all_to_all: rank 1 sends 5 bytes") != NULL;
}

static int run_rank(rank_fn *run, const char *name, uint32_t rank, int64_t timeout) {
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

static void run_ranks(rank_fn *run, int64_t timeout) {
    char name[128];
    pid_t children[WORLD];
    if (!nccl.path[0]) {
        unit_skip("NCCL without GPUs: no C++ compiler");
        return;
    }
    snprintf(name, sizeof name, "nccl:shm:ingot-test-nccl-%d", (int)getpid());
    for (uint32_t r = 0; r < WORLD; r++) {
        children[r] = fork();
        CHECK(children[r] >= 0);
        if (children[r] == 0) {
            _exit(run_rank(run, name, r, timeout));
        }
    }
    for (uint32_t r = 0; r < WORLD; r++) {
        int how = -1;
        CHECK(waitpid(children[r], &how, 0) == children[r]);
        CHECK_MSG(WIFEXITED(how) && WEXITSTATUS(how) == 0, "rank %u", r);
    }
}

/* ---- the tests ---- */

TEST(ranks_exchange_parts_between_gpus) {
    run_ranks(works, 60000);
}
END_TEST

TEST(a_rank_that_does_not_come_is_named) {
    run_ranks(lacks_one, 500);
}
END_TEST

TEST(what_nccl_does_not_move_ends_at_the_deadline) {
    setenv("INGOT_TEST_NCCL", "stall", 1);
    run_ranks(stalls, 500);
}
END_TEST

TEST(errors_of_nccl_are_words) {
    setenv("INGOT_TEST_NCCL", "fail", 1);
    run_ranks(fails, 5000);
}
END_TEST

TEST(ranks_agree_on_sizes_first) {
    run_ranks(says_other_sizes, 5000);
}
END_TEST

TEST(what_cannot_be_opened_is_named) {
    char why[512] = "";
    ig_group *group = NULL;
    ig_group_options how = {
        .size = sizeof how, .world = 1, .message = why, .message_size = sizeof why
    };
    setenv("INGOT_NCCL_LIBRARY", "/nowhere/libnccl.so", 1);
    CHECK_STATUS(ig_group_open("nccl:self", &how, &group), IG_UNSUPPORTED);
    CHECK(strstr(why, "/nowhere/libnccl.so cannot be opened"));
    setenv("INGOT_NCCL_LIBRARY", "libm.so.6", 1);
    CHECK_STATUS(ig_group_open("nccl:self", &how, &group), IG_UNSUPPORTED);
    CHECK(strstr(why, "the library has no ncclGetErrorString"));
    CHECK_STATUS(ig_group_open("nccl:nccl:self", &how, &group), IG_INVALID);
    CHECK(strstr(why, "the ranks are to meet somewhere"));
}
END_TEST

static void add_libraries(TCase *tcase) {
    tcase_add_unchecked_fixture(tcase, build_libraries, remove_libraries);
}

UNIT_SUITE_WITH(group_nccl, add_libraries, ranks_exchange_parts_between_gpus,
                a_rank_that_does_not_come_is_named,
                what_nccl_does_not_move_ends_at_the_deadline, errors_of_nccl_are_words,
                ranks_agree_on_sizes_first, what_cannot_be_opened_is_named)
