/* One CUDA GPU as a device: memory, code, launches.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The driver's library is opened at run time: nothing of CUDA is needed to build or to
 * link.  All work goes through one stream, so it happens in the order of the calls;
 * copies and launches return before they are done, ig_cuda_sync waits.  The caller's
 * own current context is left as it is.
 *
 *     ig_cuda *gpu = NULL;
 *     IG_TRY(ig_cuda_open(0, &gpu, message));
 *     IG_TRY(ig_cuda_load(gpu, cubin, &image, message));
 *     ... ig_cuda_alloc, ig_cuda_copy_in, ig_cuda_launch, ig_cuda_copy_out ...
 *     IG_TRY(ig_cuda_sync(gpu, message));
 *
 * Threads: one thread at a time per ig_cuda.
 */
#ifndef IG_RUNTIME_CUDA_CUDA_H
#define IG_RUNTIME_CUDA_CUDA_H

#include "ingot/runtime.h"
#include "runtime/message.h"

typedef struct ig_cuda ig_cuda;
typedef uint64_t ig_cuda_address; /* in the GPU's memory; 0: none */

/* IG_UNSUPPORTED where there is no driver or no such GPU. */
ig_status ig_cuda_open(int ordinal, ig_cuda **out_gpu, const ig_message *message);
/* Memory and images must be given back before.  NULL is allowed. */
void ig_cuda_close(ig_cuda *gpu);

/* How good a level such as "sm_90a" is on this GPU: higher is better, 0: it cannot
 * run. */
int ig_cuda_rank(const ig_cuda *gpu, const char *level);
/* The same for a GPU of compute capability major.minor. */
int ig_cuda_level_rank(const char *level, int major, int minor);

/* ---- memory; a size of 0 is address 0 ---- */

ig_status ig_cuda_alloc(ig_cuda *gpu, size_t size, ig_cuda_address *out_address,
                        const ig_message *message);
void ig_cuda_free(ig_cuda *gpu, ig_cuda_address address);
/* The host's memory must stay until ig_cuda_sync. */
ig_status ig_cuda_copy_in(ig_cuda *gpu, ig_cuda_address to, const void *from,
                          size_t size, const ig_message *message);
ig_status ig_cuda_copy_out(ig_cuda *gpu, void *to, ig_cuda_address from, size_t size,
                           const ig_message *message);
ig_status ig_cuda_copy(ig_cuda *gpu, ig_cuda_address to, ig_cuda_address from,
                       size_t size, const ig_message *message);

/* ---- code ---- */

typedef struct ig_cuda_image {
    void *module;
} ig_cuda_image;

typedef struct ig_cuda_kernel {
    void *function; /* lives as long as its image */
} ig_cuda_kernel;

/* `cubin` is a whole ELF file. */
ig_status ig_cuda_load(ig_cuda *gpu, const void *cubin, ig_cuda_image *out_image,
                       const ig_message *message);
void ig_cuda_unload(ig_cuda *gpu, ig_cuda_image *image);
ig_status ig_cuda_find(ig_cuda *gpu, const ig_cuda_image *image, const char *name,
                       ig_cuda_kernel *out_kernel, const ig_message *message);

/* What a kernel's report is in the GPU's memory.  Cleared: operand -1, the rest 0. */
typedef struct ig_cuda_report {
    int64_t operand, position, value;
    int32_t lock, unused;
} ig_cuda_report;

typedef struct ig_cuda_launch {
    ig_cuda_kernel kernel;
    int64_t grid; /* tiles: one block of threads each */
    uint32_t threads;
    ig_cuda_address buffers; /* of an array of addresses, one a buffer argument */
    ig_cuda_address params;  /* of an array of i64s */
    ig_cuda_address report;  /* of an ig_cuda_report */
} ig_cuda_launch;

ig_status ig_cuda_launch_kernel(ig_cuda *gpu, const ig_cuda_launch *launch,
                                const ig_message *message);
/* Waits for everything; errors of earlier work come out here. */
ig_status ig_cuda_sync(ig_cuda *gpu, const ig_message *message);

#endif
