/* Which x86-64 levels this machine runs.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A level is a fixed list of features (the psABI's, and VNNI on top).  Having them
 * takes two things: the processor's bit, and that the system saves the registers
 * (XCR0).
 */
#include "runtime/cpu/level.h"

#include <cpuid.h>
#include <string.h>

/* The leaves of cpuid that hold the features we ask for. */
enum { LEAF_1_ECX, LEAF_7_EBX, LEAF_7_ECX, LEAF_EXT_ECX, LEAF_COUNT };

enum {
    STATE_AVX = 0x6,     /* XMM and YMM registers */
    STATE_AVX512 = 0xe6, /* and masks, ZMM and the upper sixteen */
};

typedef struct level_row {
    const char *name;
    uint32_t    state; /* bits of XCR0 */
    uint32_t    needs[LEAF_COUNT];
} level_row;

enum {
    /* leaf 1, ECX */
    SSE3 = 1 << 0,
    SSSE3 = 1 << 9,
    FMA = 1 << 12,
    CX16 = 1 << 13,
    SSE41 = 1 << 19,
    SSE42 = 1 << 20,
    MOVBE = 1 << 22,
    POPCNT = 1 << 23,
    OSXSAVE = 1 << 27,
    AVX = 1 << 28,
    F16C = 1 << 29,
    /* leaf 7, EBX */
    BMI1 = 1 << 3,
    AVX2 = 1 << 5,
    BMI2 = 1 << 8,
    AVX512F = 1 << 16,
    AVX512DQ = 1 << 17,
    AVX512CD = 1 << 28,
    AVX512BW = 1 << 30,
    /* leaf 7, ECX */
    AVX512VNNI = 1 << 11,
    /* leaf 0x80000001, ECX */
    LAHF = 1 << 0,
    LZCNT = 1 << 5,
};
#define AVX512VL (1u << 31)

#define V2_1C (SSE3 | SSSE3 | CX16 | SSE41 | SSE42 | POPCNT)
#define V3_1C (V2_1C | FMA | MOVBE | OSXSAVE | AVX | F16C)
#define V3_7B (BMI1 | AVX2 | BMI2)
#define V4_7B (V3_7B | AVX512F | AVX512DQ | AVX512CD | AVX512BW | AVX512VL)
#define V3_XC (LAHF | LZCNT)

/* From the least to the best. */
static const level_row rows[] = {
    { "v2", 0, { V2_1C, 0, 0, LAHF } },
    { "v3", STATE_AVX, { V3_1C, V3_7B, 0, V3_XC } },
    { "v4", STATE_AVX512, { V3_1C, V4_7B, 0, V3_XC } },
    { "v4-vnni", STATE_AVX512, { V3_1C, V4_7B, AVX512VNNI, V3_XC } },
};

/* What of XCR0 the system has switched on; 0 without OSXSAVE. */
static uint32_t read_state(uint32_t leaf_1_ecx) {
    if (!(leaf_1_ecx & OSXSAVE)) {
        return 0;
    }
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static void read_features(uint32_t has[LEAF_COUNT]) {
    uint32_t a, b, c, d;
    memset(has, 0, LEAF_COUNT * sizeof *has);
    if (__get_cpuid(1, &a, &b, &c, &d)) {
        has[LEAF_1_ECX] = c;
    }
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
        has[LEAF_7_EBX] = b;
        has[LEAF_7_ECX] = c;
    }
    if (__get_cpuid(0x80000001u, &a, &b, &c, &d)) {
        has[LEAF_EXT_ECX] = c;
    }
}

static bool has_level(const level_row *row) {
    uint32_t has[LEAF_COUNT];
    read_features(has);
    for (size_t i = 0; i < LEAF_COUNT; i++) {
        if ((has[i] & row->needs[i]) != row->needs[i]) {
            return false;
        }
    }
    return (read_state(has[LEAF_1_ECX]) & row->state) == row->state;
}

int ig_host_level_rank(const char *level) {
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        if (strcmp(rows[i].name, level) == 0) {
            return has_level(&rows[i]) ? (int)i + 1 : 0;
        }
    }
    return 0;
}

const char *ig_host_level_best(void) {
    for (size_t i = IG_COUNT_OF(rows); i-- > 0;) {
        if (has_level(&rows[i])) {
            return rows[i].name;
        }
    }
    return "";
}

const char *ig_host_level_list(void) {
    /* Each level contains the one before it. */
    static const char *const lists[] = { "none that Ingot knows", "v2", "v2, v3",
                                         "v2, v3, v4", "v2, v3, v4, v4-vnni" };
    return lists[ig_host_level_rank(ig_host_level_best())];
}
