/* The CPU's queue: opening it, runs, copies.  SPDX-License-Identifier: Apache-2.0 */
#include "runtime/cpu/queue.h"

#include "base/checked.h"
#include "runtime/cpu/pool.h"

#include <string.h>

/* ---- opening ---- */

static ig_status find_pool(const ig_queue_options *options, ig_thread_pool **out_pool) {
    *out_pool = options->pool;
    if (options->pool) {
        ig_thread_pool_retain(options->pool);
        return IG_OK;
    }
    if (options->threads == 0 || options->threads == 1) {
        return IG_OK;
    }
    return ig_thread_pool_create(
        &(ig_thread_pool_options){ .size = sizeof(ig_thread_pool_options),
                                   .threads = options->threads,
                                   .message = options->message.text,
                                   .message_size = options->message.size },
        out_pool);
}

/* The queue, its workers, and each worker's scratch and table. */
static ig_cpu_queue *cut_queue(ig_cutter *c, const ig_queue_options *options,
                               size_t workers) {
    ig_cpu_queue *queue = ig_cut(c, 1, sizeof *queue);
    ig_cpu_worker *all = ig_cut(c, workers, sizeof *all);
    for (size_t i = 0; i < workers; i++) {
        ig_cpu_worker worker = { .report.kernel.operand = -1,
                                 .scratch = ig_cut(c, options->scratch, 1),
                                 .table = ig_cut(c, options->table_size,
                                                 sizeof(void *)) };
        if (all) {
            all[i] = worker;
        }
    }
    if (queue) {
        *queue = (ig_cpu_queue){ .workers = all };
    }
    return queue;
}

static ig_cpu_queue *allocate_queue(const ig_queue_options *options, size_t workers) {
    ig_cutter c = { NULL, 0 };
    (void)cut_queue(&c, options, workers);
    size_t bytes = c.used;
    c = (ig_cutter){ ig_memory_take(options->memory, bytes), 0 };
    if (!c.memory) {
        return NULL;
    }
    ig_cpu_queue *queue = cut_queue(&c, options, workers);
    assert(c.used == bytes && "counting and cutting disagree");
    queue->memory = options->memory;
    queue->bytes = bytes;
    return queue;
}

ig_status ig_cpu_queue_open(const ig_device *device, const ig_queue_options *options,
                            ig_queue **out_queue) {
    ig_thread_pool *pool;
    *out_queue = NULL;
    IG_TRY(find_pool(options, &pool));
    int workers = pool ? ig_thread_pool_threads(pool) : 1;
    ig_cpu_queue *queue = allocate_queue(options, (size_t)workers);
    if (!queue) {
        ig_thread_pool_destroy(pool);
        return ig_message_set(&options->message, IG_LIMIT,
                              "out of memory for the workers of a session");
    }
    queue->base = (ig_queue){ .verbs = device->verbs,
                              .device = device,
                              .message = options->message,
                              .worker_count = workers,
                              .active_count = 1 };
    queue->pool = pool;
    queue->state = options->state;
    *out_queue = &queue->base;
    return IG_OK;
}

void ig_cpu_queue_close(ig_queue *base) {
    if (base) {
        ig_cpu_queue *queue = ig_cpu_queue_of(base);
        assert(base->active_count == 1 && "closing a queue in the middle of a run");
        ig_thread_pool_destroy(queue->pool);
        ig_memory_give(queue->memory, queue, queue->bytes);
    }
}

/* ---- runs ---- */

void ig_cpu_queue_claim(ig_queue *base, double ns) {
    ig_cpu_queue *queue = ig_cpu_queue_of(base);
    assert(base->active_count == 1 && "claimed twice");
    if (ig_thread_pool_claim(queue->pool, ns)) {
        base->active_count = base->worker_count;
    }
}

void ig_cpu_queue_unclaim(ig_queue *base) {
    ig_thread_pool_release(ig_cpu_queue_of(base)->pool);
    base->active_count = 1;
}

ig_status ig_cpu_queue_copy(ig_queue *queue, const ig_copy *copy) {
    if (copy->size == 1) { /* scalars steer loops: without a call */
        *(char *)copy->to = *(const char *)copy->from;
    } else if (copy->size == sizeof(int64_t)) {
        int64_t value;
        memcpy(&value, copy->from, sizeof value);
        memcpy(copy->to, &value, sizeof value);
    } else if (copy->size > 0) {
        memmove(copy->to, copy->from, copy->size);
    }
    ig_cpu_queue_pass(queue);
    return IG_OK;
}

ig_status ig_cpu_queue_wait(ig_queue *queue, ig_ticket ticket) {
    assert(ticket <= queue->done && "the CPU leaves no work undone");
    (void)queue;
    (void)ticket;
    return IG_OK;
}
