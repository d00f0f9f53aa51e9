/* Groups over MPI: this test, started once more by each mpirun that there is.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/collective/rank_parts.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Set for the processes that are ranks: the bytes of a message. */
#define AS_RANK "INGOT_TEST_MPI_CHUNK"

enum { MAX = 5000 };

static int run_as_rank(const char *chunk) {
    const char *rank = getenv("OMPI_COMM_WORLD_RANK"),
               *world = getenv("OMPI_COMM_WORLD_SIZE");
    rank = rank ? rank : getenv("PMI_RANK");
    world = world ? world : getenv("PMI_SIZE");
    char why[512] = "no rank";
    ig_group *group = NULL;
    ig_group_options how = { .size = sizeof how,
                             .rank = (uint32_t)atoi(rank ? rank : "0"),
                             .world = (uint32_t)atoi(world ? world : "0"),
                             .timeout_ms = 60000,
                             .chunk = (size_t)atoi(chunk),
                             .message = why,
                             .message_size = sizeof why };
    bool is_right = how.world > 1 && how.world <= PART_RANKS &&
                    ig_group_open("mpi", &how, &group) == IG_OK;
    for (int i = 0; i < 10 && is_right; i++) {
        is_right = exchange_all(group, how.rank, how.world, MAX) &&
                   add_all(group, how.rank, how.world);
    }
    ig_group_close(group);
    if (!is_right) {
        fprintf(stderr, "rank %u of %u: %s\n", how.rank, how.world, why);
    }
    return is_right ? 0 : 1;
}

/* Before the tests: a rank of mpirun's runs none of them. */
__attribute__((constructor)) static void begin_as_rank(void) {
    const char *chunk = getenv(AS_RANK);
    if (chunk) {
        _exit(run_as_rank(chunk));
    }
}

/* The exit status of a command line, or -1. */
static int run_line(const char *line) {
    int how = system(line);
    return WIFEXITED(how) ? WEXITSTATUS(how) : -1;
}

TEST(ranks_of_mpirun_exchange_parts) {
    static const char *const launchers[] = { "mpirun.openmpi --oversubscribe",
                                             "mpirun.mpich" };
    static const int chunks[] = { 0, 100 };
    char self[512] = "", line[1024];
    int launched = 0;
    CHECK(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    /* What the libraries keep until the process ends is theirs. */
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    for (size_t l = 0; l < sizeof launchers / sizeof *launchers; l++) {
        snprintf(line, sizeof line, "command -v %.*s >/dev/null",
                 (int)strcspn(launchers[l], " "), launchers[l]);
        if (run_line(line) != 0) {
            continue;
        }
        launched++;
        for (int world = 2; world <= PART_RANKS; world += 2) {
            for (size_t c = 0; c < sizeof chunks / sizeof *chunks; c++) {
                snprintf(line, sizeof line, "%s=%d timeout 300 %s -n %d %s", AS_RANK,
                         chunks[c], launchers[l], world, self);
                CHECK_MSG(run_line(line) == 0, "%s", line);
            }
        }
    }
    if (!launched) {
        unit_skip("no mpirun");
    }
}

TEST(a_communicator_is_a_number) {
    char why[256] = "";
    ig_group *group = NULL;
    ig_group_options how = {
        .size = sizeof how, .world = 1, .message = why, .message_size = sizeof why
    };
    CHECK_STATUS(ig_group_open("mpi:world", &how, &group), IG_INVALID);
    CHECK_TEXT(why, "mpi:world: expected a number of MPI_Comm_c2f, or nothing");
    setenv("INGOT_MPI_LIBRARY", "/nowhere/libmpi.so", 1);
    CHECK_STATUS(ig_group_open("mpi", &how, &group), IG_IO);
    CHECK(strstr(why, "no library of MPI can be opened"));
}

UNIT_SUITE(group_mpi, ranks_of_mpirun_exchange_parts, a_communicator_is_a_number)
