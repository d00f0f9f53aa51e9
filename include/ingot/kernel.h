/* The ABI between generated code and whoever calls it.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A kernel is one function over a grid of independent tiles.  It sees this struct and
 * nothing else: no symbol, no allocation, no lock.  Structs are versioned; a field
 * never changes its meaning.
 *
 *     static void run_all(ig_kernel_fn_v0 *kernel, void **buffers, int64_t *params,
 *                         int64_t tiles) {
 *         ig_kernel_report_v0 report = { .operand = -1 };
 *         ig_kernel_call_v0 call = { .buffers = buffers, .params = params,
 *                                    .tile_end = tiles, .report = &report };
 *         kernel(&call);
 *     }
 */
#ifndef INGOT_KERNEL_H
#define INGOT_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The first thing that a kernel could not do, by (operand, position), of this
 * worker's tiles.  The caller sets operand to -1 before the first call. */
typedef struct ig_kernel_report_v0 {
    int64_t operand;  /* which operand of the launch; -1: nothing to report */
    int64_t position; /* row-major index of the element in it */
    int64_t value;    /* the offending value */
} ig_kernel_report_v0;

typedef struct ig_kernel_call_v0 {
    void *const *buffers;  /* one per buffer argument, in order */
    const int64_t *params; /* one per i64 argument, in order */
    int64_t tile_begin;    /* tiles of this call: begin <= t < end */
    int64_t tile_end;
    void *scratch;               /* this worker's, 64-byte aligned; size in the plan */
    ig_kernel_report_v0 *report; /* this worker's; never NULL */
} ig_kernel_call_v0;

/* Floating-point environment on entry: round to nearest, denormals kept, all masked. */
typedef void ig_kernel_fn_v0(const ig_kernel_call_v0 *call);

#ifdef __cplusplus
static_assert(sizeof(ig_kernel_report_v0) == 24, "ABI");
static_assert(sizeof(ig_kernel_call_v0) == 48, "ABI");
#elif defined(__STDC_VERSION__)
_Static_assert(sizeof(ig_kernel_report_v0) == 24, "ABI");
_Static_assert(sizeof(ig_kernel_call_v0) == 48, "ABI");
_Static_assert(offsetof(ig_kernel_call_v0, report) == 40, "ABI");
#endif

#ifdef __cplusplus
}
#endif
#endif
