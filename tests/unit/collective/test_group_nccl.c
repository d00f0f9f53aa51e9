/* Groups over NCCL, on one that needs no GPU (tests/cuda_host/nccl.cc): processes as
 * ranks.  SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/collective/nccl_ranks.h"
#include "tests/unit/cuda/cuda_library.h"

static cuda_library nccl; /* path "" without a C++ compiler */

/* In the process that makes those of the tests. */
static void build_libraries(void) {
    if (cuda_find_compiler()) {
        nccl = cuda_library_build(
            "#include \"" INGOT_SOURCE_DIR "/tests/cuda_host/nccl.cc\"\n", "-ldl");
        (void)cuda_open_stand_ins();
        setenv("INGOT_NCCL_LIBRARY", nccl.path, 1);
    }
}

static void remove_libraries(void) {
    if (nccl.path[0]) {
        cuda_library_remove(&nccl);
    }
}

static bool stalls(ig_group *group, uint32_t rank, const char *why) {
    return !exchange_all(group, rank, WORLD, PART_BYTES) &&
           strstr(why, "all_to_all: NCCL did not move all parts within 500 ms");
}

static bool fails(ig_group *group, uint32_t rank, const char *why) {
    (void)rank;
    return !group && strstr(why, "NCCL: unhandled system error") != NULL;
}

static void run_ranks(rank_fn *run, int64_t timeout) {
    if (nccl.path[0]) {
        run_rank_processes(run, timeout, NULL);
    } else {
        unit_skip("NCCL without GPUs: no C++ compiler");
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
    CHECK(strstr(why, "the ranks must meet somewhere"));
}
END_TEST

static void add_libraries(TCase *tcase) {
    tcase_add_unchecked_fixture(tcase, build_libraries, remove_libraries);
}

UNIT_SUITE_WITH(group_nccl, add_libraries, ranks_exchange_parts_between_gpus,
                a_rank_that_does_not_come_is_named,
                what_nccl_does_not_move_ends_at_the_deadline, errors_of_nccl_are_words,
                ranks_agree_on_sizes_first, what_cannot_be_opened_is_named)
