/* One CUDA GPU as a device.  SPDX-License-Identifier: Apache-2.0
 *
 * The driver's library is opened at run time: nothing of CUDA is needed to build or to
 * link.  A queue is a stream; copies and launches return before they are done.  The
 * caller's own current context is left as it is.
 *
 *     const ig_device *gpu = NULL;
 *     IG_TRY(ig_cuda_open(0, &gpu, message));
 *     ... the verbs of device.h ...
 *     ig_cuda_close(gpu);
 */
#ifndef IG_RUNTIME_CUDA_CUDA_H
#define IG_RUNTIME_CUDA_CUDA_H

#include "runtime/cuda/driver.h"
#include "runtime/session/session.h"

/* IG_UNSUPPORTED where there is no driver or no such GPU. */
ig_status ig_cuda_open(int ordinal, const ig_device **out_gpu,
                       const ig_message *message);
/* The one symbol that the runtime looks for. */
IG_API ig_staging_start_fn ig_cuda_start;
/* Memory, images and queues must be given back before.  NULL is allowed. */
void ig_cuda_close(const ig_device *gpu);

/* How good a level such as "sm_90a" is on a GPU of compute capability major.minor:
 * higher is better, 0: it cannot run. */
int ig_cuda_level_rank(const char *level, int major, int minor);

/* ---- for the files of this folder ---- */

#define IG_CUDA_OTHER_BUILD "libingot-cuda is of another build than the runtime"

typedef uint64_t ig_cuda_address; /* in the GPU's memory; 0: none */

typedef struct ig_cuda_device {
    ig_device base;
    ig_cuda_driver driver;
    int device;
    int major, minor; /* compute capability */
    char levels[16];  /* "sm_90" */
    char name[64];    /* "NVIDIA H200" */
    void *context;
} ig_cuda_device;

/* A kernel's report in the GPU's memory.  Cleared: operand -1, the rest 0. */
typedef struct ig_cuda_report {
    int64_t operand, position, value;
    int32_t lock, unused;
} ig_cuda_report;

static inline const ig_cuda_device *ig_cuda_of(const ig_device *device) {
    return (const ig_cuda_device *)(const void *)device;
}

static inline ig_cuda_address ig_cuda_address_of(const void *memory) {
    return (uintptr_t)memory;
}

/* Our context is the current one only between these two; `error` is the driver's for
 * the calls in between, and `subject` begins the message. */
ig_status ig_cuda_enter(const ig_cuda_device *gpu, const char *subject,
                        const ig_message *message);
ig_status ig_cuda_leave(const ig_cuda_device *gpu, int error, const char *subject,
                        const ig_message *message);

/* The same to give something back, where nobody can be told of an error: a push that
 * fails is tried again. */
bool ig_cuda_enter_to_give(const ig_cuda_device *gpu);
void ig_cuda_leave_quietly(const ig_cuda_device *gpu, int error);

/* cuda_stage.c, cuda_constants.c, cuda_host.c, cuda_graph.c: what sessions do
 * besides. */
extern const ig_staging ig_cuda_staging;
ig_status ig_cuda_load_constants(ig_program *program, const ig_program_options *options,
                                 const ig_message *message);
void ig_cuda_unload_constants(ig_program *program);

/* cuda_queue.c */
ig_status ig_cuda_queue_open(const ig_device *device, const ig_queue_options *options,
                             ig_queue **out_queue);
void ig_cuda_queue_close(ig_queue *queue);
ig_status ig_cuda_queue_submit(ig_queue *queue, const ig_phase *phase);
ig_status ig_cuda_queue_copy(ig_queue *queue, const ig_copy *copy);
ig_status ig_cuda_queue_wait(ig_queue *queue, ig_ticket ticket);

#endif
