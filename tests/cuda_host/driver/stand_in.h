/* What tests ask of the driver that stands in, by dlsym in libcuda.so.1.
 * SPDX-License-Identifier: Apache-2.0
 *
 * For programs that are started, the same by environment variables:
 *
 *     INGOT_STAND_IN_SEED=N          the order of work; even: as late as may be; by
 *                                    threes of N / 2: any stream, or the newest or
 *                                    the oldest one that can go on
 *     INGOT_STAND_IN_MEMORY=BYTES    the device's memory (4 GiB)
 *     INGOT_STAND_IN_CAPABILITY=8.0  9.0 where it is not set
 *     INGOT_STAND_IN_DEVICES=N       1 where it is not set; 0: no device
 *     INGOT_STAND_IN_FAIL=[CALL:]N[:ERROR]  the Nth call (of CALL) fails, from 1, by
 *                                    OUT_OF_MEMORY where ERROR is not said
 *     INGOT_STAND_IN_TRACE=1         who made the call that failed, on stderr
 *     INGOT_STAND_IN_COUNTS=FILE     counts are added to it at the end of the process
 *     INGOT_STAND_IN_CACHE=FOLDER    compiled texts are kept there
 */
#ifndef IG_TESTS_CUDA_HOST_STAND_IN_H
#define IG_TESTS_CUDA_HOST_STAND_IN_H

#include <stdbool.h>
#include <stdint.h>

/* COUNT(name): since the driver was opened, or stand_in_counts_clear. */
#define STAND_IN_COUNTS(COUNT)                                             \
    COUNT(calls)     /* of the driver, that this process made */           \
    COUNT(copies_in) /* to the device, asked for; graphs' when launched */ \
    COUNT(copies_out)                                                      \
    COUNT(copies_within)                                                   \
    COUNT(sets) /* of memory */                                            \
    COUNT(bytes_in)                                                        \
    COUNT(bytes_out)                                                       \
    COUNT(launches) /* of kernels, without those in graphs */              \
    COUNT(graph_launches)                                                  \
    COUNT(graph_kernels) /* that graph launches ran */                     \
    COUNT(captures)                                                        \
    COUNT(instantiations)                                                  \
    COUNT(waits) /* for streams, events, contexts, and by plain copies */  \
    COUNT(queries)                                                         \
    COUNT(allocations) /* of the device, pools included */                 \
    COUNT(pinned_allocations)                                              \
    COUNT(frees)                                                           \
    COUNT(faults) /* of kernels and copies */                              \
    COUNT(left)   /* objects that were there when their context went */

typedef struct stand_in_counts {
#define COUNT(name) uint64_t name;
    STAND_IN_COUNTS(COUNT)
#undef COUNT
} stand_in_counts;

typedef void stand_in_get_counts_fn(stand_in_counts *out); /* stand_in_get_counts */
typedef void stand_in_clear_counts_fn(void);               /* stand_in_clear_counts */
/* The nth call from now fails once; of all calls where `call` is NULL.  0: none. */
typedef void stand_in_fail_fn(const char *call, unsigned nth, int error);
/* Did the call that was to fail come? */
typedef bool stand_in_has_failed_fn(void);
typedef void stand_in_seed_fn(uint64_t seed); /* stand_in_seed */
/* Objects that are left when their context goes end the process, unless so told. */
typedef void stand_in_allow_left_fn(bool allowed); /* stand_in_allow_left */
typedef uint64_t stand_in_memory_fn(void); /* stand_in_memory: bytes that are held */
/* Where the host sees memory of the device. */
typedef void *stand_in_see_fn(uint64_t address); /* stand_in_see */
/* For the NCCL that stands in: all that is queued is done; nothing is begun while
 * others hold the device. */
typedef void stand_in_drain_fn(void);      /* stand_in_drain */
typedef void stand_in_hold_fn(int change); /* stand_in_hold */

#endif
