/* Which x86-64 levels this machine runs.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A level is a fixed list of features (the psABI's; VNNI, AMX on top).  Having them
 * takes two things: the processor's bit, and that the system saves the registers.  The
 * C library asks for both when the process starts, and remembers: each question to the
 * processor itself leaves a virtual machine, which takes longer than opening a program.
 *
 * AMX takes a third: its registers are so large that the system saves them only for
 * processes that asked.  It refuses where a thread's stack for signals is too small for
 * them; then the level before is the best.
 */
#include "runtime/cpu/level.h"

#include "base/status.h"

#include <assert.h>
#include <string.h>
#include <sys/platform/x86.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAX_FEATURES = 12 };

const char ig_host_family[] = "cpu";

typedef struct level_row {
    const char *name;
    uint32_t count;
    uint32_t adds[MAX_FEATURES]; /* to the level before */
} level_row;

/* From the worst to the best. */
static const level_row rows[] = {
    { "v2",
      7,
      { x86_cpu_SSE3, x86_cpu_SSSE3, x86_cpu_CMPXCHG16B, x86_cpu_SSE4_1, x86_cpu_SSE4_2,
        x86_cpu_POPCNT, x86_cpu_LAHF64_SAHF64 } },
    { "v3",
      8,
      { x86_cpu_FMA, x86_cpu_MOVBE, x86_cpu_AVX, x86_cpu_F16C, x86_cpu_BMI1,
        x86_cpu_AVX2, x86_cpu_BMI2, x86_cpu_LZCNT } },
    { "v4",
      5,
      { x86_cpu_AVX512F, x86_cpu_AVX512DQ, x86_cpu_AVX512CD, x86_cpu_AVX512BW,
        x86_cpu_AVX512VL } },
    { "v4-vnni", 1, { x86_cpu_AVX512_VNNI } },
    { "v4-amx", 2, { x86_cpu_AMX_TILE, x86_cpu_AMX_INT8 } },
};

/* Whether the system saves tiles' registers for this process, from now on. */
static bool may_use_tiles(void) {
    enum { ASK = 0x1023, TILES = 18 }; /* ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA */
    return syscall(SYS_arch_prctl, ASK, TILES) == 0;
}

/* x86_cpu_active of the C library, whose `1 << 31` is undefined. */
static bool is_active(uint32_t feature) {
    enum { LEAF_BITS = 4 * 32 };
    const struct cpuid_feature *leaf =
        __x86_get_cpuid_feature_leaf(feature / LEAF_BITS);
    uint32_t bits = leaf->active_array[feature % LEAF_BITS / 32];
    return (bits >> feature % 32 & 1) != 0;
}

static bool has_features(const level_row *row) {
    for (uint32_t i = 0; i < row->count; i++) {
        if (!is_active(row->adds[i])) {
            return false;
        }
    }
    return row->adds[0] != x86_cpu_AMX_TILE || may_use_tiles();
}

/* How many levels this machine has. */
static uint32_t count_levels(void) {
    uint32_t count = 0;
    while (count < IG_COUNT_OF(rows) && has_features(&rows[count])) {
        count++;
    }
    return count;
}

int ig_host_level_rank(const char *level) {
    uint32_t count = count_levels();
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(rows[i].name, level) == 0) {
            return (int)i + 1;
        }
    }
    return 0;
}

const char *ig_host_level_best(void) {
    uint32_t count = count_levels();
    return count > 0 ? rows[count - 1].name : "";
}

const char *ig_host_level_list(void) {
    static const char *const lists[] = { "none that Ingot knows",
                                         "v2",
                                         "v2, v3",
                                         "v2, v3, v4",
                                         "v2, v3, v4, v4-vnni",
                                         "v2, v3, v4, v4-vnni, v4-amx" };
    uint32_t count = count_levels();
    assert(count < IG_COUNT_OF(lists) && "a level without a list");
    return lists[count];
}
