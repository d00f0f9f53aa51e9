/* Facts about a machine that schedules need, as one plain struct.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_IR_TARGET_H
#define IG_IR_TARGET_H

#include "base/str.h"

/* Whose plan a target's is: an artifact has one for each family. */
typedef enum ig_family {
    IG_FAMILY_CPU,   /* x86-64 */
    IG_FAMILY_ARM64, /* aarch64 */
    IG_FAMILY_GPU,
} ig_family;

enum { IG_BLOCK_THREADS = 256 }; /* of one tile of a GPU, at most */

typedef struct ig_target {
    const char *name;  /* "cpu:v4-vnni", "cpu-arm64:neon", "cuda:sm_90a" */
    const char *level; /* "v4-vnni", "sm_90a" */
    ig_family family;
    uint32_t vector_bytes;     /* 16, 32, 64 */
    uint32_t vector_registers; /* 16, 32 */
    bool has_fma, has_f16c, has_vnni;
    bool has_blocks;                       /* dot4_block is faster than dot4 */
    uint32_t l1_bytes, l2_bytes, l3_bytes; /* a core's share */
    uint32_t line_bytes;
    const char *tail;      /* the target whose code newer machines compile, or NULL */
    bool is_tail;          /* its code is text that the machine's driver compiles */
    bool has_modules;      /* the kernels of a program are compiled together */
    uint32_t warp;         /* GPU: threads of a warp */
    uint32_t shared_bytes; /* GPU: shared memory of a block */
    /* What passes may count on; a pass asks for the fact and never for the family. */
    bool has_threads;         /* kernels are written for one of many threads: scalars */
    bool has_packed_products; /* products whose constant factor was packed before */
    bool has_integer_products; /* matmul_integer, conv_integer, windows */
    bool has_channels_last;    /* windows over pictures whose channels are last */
    bool has_row_blocks;       /* runs chains of launches by blocks of rows */
    bool has_checked_kernels;  /* kernels may check each load and store */
    bool has_fragments;        /* warps multiply fragments of f16, bf16 and tf32 */
} ig_target;

/* NULL-terminated tables; each level's features are a fixed list. */
extern const ig_target *const ig_targets[];
const ig_target *ig_target_find(ig_str name); /* "cpu:v3"; NULL when unknown */

#endif
