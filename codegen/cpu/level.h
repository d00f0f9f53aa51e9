/* The levels of x86-64 and aarch64: what LLVM may use, as fixed lists.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A level is part of every cache key and name, so its list never changes its meaning
 * and never depends on the machine that compiles.
 */
#ifndef IG_CODEGEN_CPU_LEVEL_H
#define IG_CODEGEN_CPU_LEVEL_H

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum ig_cpu_mask {
    IG_MASK_NONE, /* tails go element by element */
    IG_MASK_32,   /* masked loads and stores of 32- and 64-bit elements */
    IG_MASK_ALL,  /* of any element */
} ig_cpu_mask;

typedef struct ig_cpu_level {
    const char *name;     /* "v3", as in ig_target.level */
    const char *cpu;      /* LLVM's name of the machine */
    const char *features; /* beyond it */
    const char *width;    /* prefer-vector-width, bits */
    ig_cpu_mask mask;
    bool has_fma, has_f16c, has_vnni, has_tiles;
    bool is_arm64; /* with its dot products of signed bytes; else x86-64 */
} ig_cpu_level;

/* NULL when there is no such level. */
const ig_cpu_level *ig_cpu_level_find(const char *name);

#endif
