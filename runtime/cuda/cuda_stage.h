/* The state of a session on a GPU.  SPDX-License-Identifier: Apache-2.0
 *
 * One block in the GPU's memory and one of the same bytes in pinned memory of the host:
 *
 *     [weights | outputs | reports | slots and params | inputs]
 *      when they          <----------------------------------  one copy, before a run
 *      change     <----------------->                          one copy, after it
 *
 * Graphs name the reports and the tables, which do not move when inputs of another
 * size are bound, as long as the block is large enough.
 */
#ifndef IG_RUNTIME_CUDA_CUDA_STAGE_H
#define IG_RUNTIME_CUDA_CUDA_STAGE_H

#include "runtime/cuda/cuda_queue.h"

/* The launches of a shape, captured. */
typedef struct ig_cuda_graph {
    void *exec;       /* the driver's, or NULL */
    uint64_t planned; /* the shape's; 0: none has run */
    const char *reports;
} ig_cuda_graph;

struct ig_staged {
    char *block, *pinned;
    size_t size;                                  /* of each */
    size_t outputs, reports, tables, inputs, end; /* where they begin in a block */
    size_t *input_at, *output_at;                 /* SIZE_MAX: not in the block */
    uint32_t *steps;                              /* of launches, in order */
    uint32_t launch_count;
    bool is_stale;    /* the tables are not those of the shape */
    bool is_straight; /* all steps are launches that are known before the run */
    ig_region host;   /* operands of host steps */
    ig_cuda_graph graphs[IG_SHAPES];
    size_t self_bytes;
};

enum { IG_CUDA_ALIGN = 256 }; /* of the parts of a block */
#define IG_CUDA_NOWHERE SIZE_MAX

static inline ig_cuda_queue *ig_cuda_session_queue(const ig_session *session) {
    return ig_cuda_queue_of(session->queue);
}

/* cuda_graph.c: all launches of a straight plan, in our context; the driver's error. */
int ig_cuda_launch_all(ig_session *session);
void ig_cuda_drop_graphs(ig_session *session);

/* cuda_host.c */
ig_status ig_cuda_fetch(ig_session *session, uint32_t index, ig_host_call *call);
ig_status ig_cuda_store(ig_session *session, uint32_t index, const ig_host_call *call);

#endif
