/* A queue of a CUDA GPU: a stream.  SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_RUNTIME_CUDA_CUDA_QUEUE_H
#define IG_RUNTIME_CUDA_CUDA_QUEUE_H

#include "runtime/cuda/cuda.h"

enum { IG_CUDA_REPORTS = 64 };

/* A session writes the slots and params of its shape to the GPU's memory when it is
 * bound, so that launches need not. */
typedef struct ig_cuda_tables {
    ig_cuda_address slots, params; /* 0: there are none */
    const char *host_slots, *host_params;
    const ig_exec *execs; /* those of late steps are not among them */
} ig_cuda_tables;

typedef struct ig_cuda_queue {
    ig_queue base;
    ig_memory *memory; /* that this is in */
    void *stream;
    bool is_callers; /* the stream */
    char *arguments; /* in the GPU's memory, like reports */
    size_t argument_bytes;
    ig_cuda_report *reports;
    uint32_t report_count;
    uint32_t steps[IG_CUDA_REPORTS]; /* of the launches that have a report */
    ig_cuda_tables tables;
    ig_staging_notify *notify; /* of each launch, or NULL */
    void *notify_user;
    void *begins, *ends; /* events around it */
    /* Reports that a copy brings to the host before the next wait is over, and the step
     * of each of them; count 0: none. */
    const ig_cuda_report *staged_reports;
    const uint32_t *staged_steps;
    uint32_t staged_count;
} ig_cuda_queue;

static inline ig_cuda_queue *ig_cuda_queue_of(ig_queue *queue) {
    return (ig_cuda_queue *)(void *)queue;
}

static inline const ig_cuda_device *ig_cuda_gpu_of(const ig_cuda_queue *queue) {
    return ig_cuda_of(queue->base.device);
}

/* Launches with the session's tables, in our context; the driver's error. */
int ig_cuda_launch(const ig_cuda_queue *queue, const ig_launch *launch,
                   ig_cuda_address report);
/* Of a profile: whom to tell of launches; NULL: nobody any more. */
ig_status ig_cuda_queue_profile(ig_cuda_queue *queue, ig_staging_notify *notify,
                                void *user);
/* The caller's stream instead of the queue's own, which is given back. */
ig_status ig_cuda_queue_take_stream(ig_cuda_queue *queue, void *stream,
                                    const ig_message *message);
/* IG_LIMIT, with words, where a grid has more blocks than a GPU takes. */
ig_status ig_cuda_check_grid(const ig_cuda_queue *queue, const ig_launch *launch);

#endif
