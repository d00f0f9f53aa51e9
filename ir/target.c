/* The machines that Ingot makes code for, one row a level.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A level is a fixed list of features, part of every cache key, so these numbers steer
 * schedules in the same way on every host.  Caches are documented defaults, not the
 * host's: 32 KiB and 512 KiB a core for v2 and v3, 48 KiB and 1 MiB for v4.
 */
#include "ir/target.h"

#define KIB(n) ((n)*1024u)
#define MIB(n) ((n)*1024u * 1024u)

#define ANY_PROCESSOR                                                            \
    .line_bytes = 64, .has_packed_products = true, .has_integer_products = true, \
    .has_channels_last = true, .has_row_blocks = true, .has_checked_kernels = true
#define ANY_CPU .family = IG_FAMILY_CPU, ANY_PROCESSOR
#define ANY_GPU                                                                  \
    .family = IG_FAMILY_GPU, .line_bytes = 128, .warp = 32, .has_threads = true, \
    .has_modules = true

static const ig_target cpu_v2 = {
    .name = "cpu:v2",
    .level = "v2",
    ANY_CPU,
    .vector_bytes = 16,
    .vector_registers = 16,
    .l1_bytes = KIB(32),
    .l2_bytes = KIB(512),
    .l3_bytes = MIB(2),
};

static const ig_target cpu_v3 = {
    .name = "cpu:v3",
    .level = "v3",
    ANY_CPU,
    .vector_bytes = 32,
    .vector_registers = 16,
    .has_fma = true,
    .has_f16c = true,
    .l1_bytes = KIB(32),
    .l2_bytes = KIB(512),
    .l3_bytes = MIB(2),
};

static const ig_target cpu_v4 = {
    .name = "cpu:v4",
    .level = "v4",
    ANY_CPU,
    .vector_bytes = 64,
    .vector_registers = 32,
    .has_fma = true,
    .has_f16c = true,
    .l1_bytes = KIB(48),
    .l2_bytes = MIB(1),
    .l3_bytes = MIB(2),
};

static const ig_target cpu_v4_vnni = {
    .name = "cpu:v4-vnni",
    .level = "v4-vnni",
    ANY_CPU,
    .vector_bytes = 64,
    .vector_registers = 32,
    .has_fma = true,
    .has_f16c = true,
    .has_vnni = true,
    .l1_bytes = KIB(48),
    .l2_bytes = MIB(1),
    .l3_bytes = MIB(2),
};

static const ig_target cpu_v4_amx = {
    .name = "cpu:v4-amx",
    .level = "v4-amx",
    ANY_CPU,
    .vector_bytes = 64,
    .vector_registers = 32,
    .has_fma = true,
    .has_f16c = true,
    .has_vnni = true,
    .has_blocks = true,
    .l1_bytes = KIB(48),
    .l2_bytes = MIB(1),
    .l3_bytes = MIB(2),
};

/* ARMv8.2 with dot products and f16, as servers have since Neoverse N1: 64 KiB and
 * 512 KiB a core. */
static const ig_target arm64_neon = {
    .name = "cpu-arm64:neon",
    .level = "neon",
    .family = IG_FAMILY_ARM64,
    ANY_PROCESSOR,
    .vector_bytes = 16,
    .vector_registers = 32,
    .has_fma = true,
    .has_f16c = true,
    .l1_bytes = KIB(64),
    .l2_bytes = KIB(512),
    .l3_bytes = MIB(1),
};

/* CUDA(level, PTX that newer GPUs compile, KiB of a multiprocessor's L1 and shared
 * memory, MiB of L2, KiB of shared memory that a block may have, whether `mma` takes
 * f16, bf16 and tf32 at the shapes of kernel form), from the CUDA C++
 * programming guide, "Technical Specifications per Compute Capability", and NVIDIA's
 * papers on T4, A100, L4, H100, B200 and RTX 5090.  What "90a" has beyond 90 is not in
 * its PTX. */
#define CUDA_LEVELS(CUDA)                          \
    CUDA(sm_75, compute_75, 96, 4, 64, false)      \
    CUDA(sm_80, compute_80, 192, 40, 163, true)    \
    CUDA(sm_89, compute_89, 128, 48, 99, true)     \
    CUDA(sm_90a, compute_90, 256, 50, 227, true)   \
    CUDA(sm_100, compute_100, 256, 126, 227, true) \
    CUDA(sm_120, compute_120, 128, 96, 99, true)

#define CUDA_FACTS(l1, l2, shared, mma)                                   \
    ANY_GPU, .vector_bytes = 16, .vector_registers = 64, .has_fma = true, \
             .has_f16c = true, .l1_bytes = KIB(l1), .l2_bytes = MIB(l2),  \
             .shared_bytes = KIB(shared), .has_fragments = (mma)

#define CUDA_CODE(sm, ptx, l1, l2, shared, mma) \
    static const ig_target cuda_##sm = {        \
        .name = "cuda:" #sm,                    \
        .level = #sm,                           \
        .tail = "cuda:" #ptx,                   \
        CUDA_FACTS(l1, l2, shared, mma),        \
    };
#define CUDA_TAIL(sm, ptx, l1, l2, shared, mma) \
    static const ig_target cuda_##ptx = {       \
        .name = "cuda:" #ptx,                   \
        .level = #ptx,                          \
        .is_tail = true,                        \
        CUDA_FACTS(l1, l2, shared, mma),        \
    };
CUDA_LEVELS(CUDA_CODE)
CUDA_LEVELS(CUDA_TAIL)

#define CODE_ROW(sm, ptx, l1, l2, shared, mma) &cuda_##sm,
#define TAIL_ROW(sm, ptx, l1, l2, shared, mma) &cuda_##ptx,
const ig_target *const ig_targets[] = {
    &cpu_v2,
    &cpu_v3,
    &cpu_v4,
    &cpu_v4_vnni,
    &cpu_v4_amx,
    &arm64_neon,
    CUDA_LEVELS(CODE_ROW) CUDA_LEVELS(TAIL_ROW) NULL,
};

/* CPU levels may be written without their family: "v3". */
const ig_target *ig_target_find(ig_str name) {
    for (const ig_target *const *target = ig_targets; *target; target++) {
        bool is_short = (*target)->family == IG_FAMILY_CPU &&
                        ig_str_is(name, (*target)->level);
        if (is_short || ig_str_is(name, (*target)->name)) {
            return *target;
        }
    }
    return NULL;
}
