/* The CPU's queue: work is done by the caller's thread and the threads of a pool before
 * submit returns.  SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_RUNTIME_CPU_QUEUE_H
#define IG_RUNTIME_CPU_QUEUE_H

#include "runtime/device.h"

/* State of one worker; a cache line pair of its own. */
typedef struct ig_cpu_worker {
    _Alignas(128) ig_queue_report report; /* the phase's first; operand -1: none */
    void *scratch;
    void **table; /* room for the buffers of a launch */
} ig_cpu_worker;

typedef struct ig_cpu_queue {
    ig_queue base;
    ig_memory *memory; /* that this is in, with `bytes` of it */
    size_t bytes;
    ig_thread_pool *pool; /* or NULL */
    const atomic_int *state;
    ig_cpu_worker *workers;
} ig_cpu_queue;

ig_status ig_cpu_queue_open(const ig_device *device, const ig_queue_options *options,
                            ig_queue **out_queue);
void ig_cpu_queue_close(ig_queue *queue);
void ig_cpu_queue_claim(ig_queue *queue, double ns);
void ig_cpu_queue_unclaim(ig_queue *queue);
ig_status ig_cpu_queue_copy(ig_queue *queue, const ig_copy *copy);
ig_status ig_cpu_queue_wait(ig_queue *queue, ig_ticket ticket);

/* phase.c */
ig_status ig_cpu_queue_submit(ig_queue *queue, const ig_phase *phase);

static inline ig_cpu_queue *ig_cpu_queue_of(ig_queue *queue) {
    return (ig_cpu_queue *)(void *)queue;
}

/* Work is done as soon as it has a ticket. */
static inline void ig_cpu_queue_pass(ig_queue *queue) {
    assert(queue->done == queue->last && "the CPU leaves no work undone");
    queue->done = ++queue->last;
}

#endif
