/* A device: memory, code, and queues of work that is done in order.
 * SPDX-License-Identifier: Apache-2.0
 *
 * One folder per family (cpu/, cuda/, null/) with one table of verbs.  Programs and
 * sessions know this header only; tests/unit/runtime/test_devices.c holds every device
 * to it.
 *
 *     open_queue → submit, copy, submit …  each gets the queue's next ticket
 *                  wait(ticket)            work up to that ticket is done
 *
 * A queue does its work in the order of submission, and returns as soon as it can: a
 * GPU at once, the CPU when the work is done, so that there `done` always equals `last`
 * and a wait costs one comparison.  Whoever needs a result on the host waits for its
 * ticket: a scalar that steers an `if` or a loop, the buffers of a host step, outputs.
 *
 * Streams are further queues of one device.  An exchange between ranks overlaps with
 * compute on a queue of its own: the session waits for the ticket of the exchange right
 * before the phase that reads the values.  Look-ahead submits the first phases of the
 * next call before it waits for the last ticket of this one.
 *
 * Threads: a device may be used by any number of threads, a queue by one at a time.
 */
#ifndef IG_RUNTIME_DEVICE_H
#define IG_RUNTIME_DEVICE_H

#include "ingot/kernel.h"
#include "ingot/runtime.h"
#include "runtime/memory.h"
#include "runtime/message.h"

#include <assert.h>
#include <stdatomic.h>

typedef struct ig_device_verbs ig_device_verbs;
typedef struct ig_staging ig_staging; /* runtime/plugin/staging.h */

/* The first member of a family's record of one open device. */
typedef struct ig_device {
    const ig_device_verbs *verbs;
    int ordinal; /* among those of its family */
} ig_device;

/* ---- code ---- */

/* Code to load, and where it can be mapped from. */
typedef struct ig_code_source {
    const void *bytes;
    size_t size;
    bool is_text;    /* the bytes are part of the process's text, as long as it runs */
    int file;        /* that `bytes` are mapped from, or -1 */
    uint64_t offset; /* of `bytes` in it */
} ig_code_source;

/* Loaded code. */
typedef struct ig_device_code {
    const char *bytes; /* as the device has it: the host reads these to check it */
    size_t size;
    void *handle; /* the family's */
} ig_device_code;

/* The CPU finds a kernel by the offset of its entry, a GPU by its name. */
typedef struct ig_kernel_id {
    const char *name;
    uint64_t entry; /* offset in the image's bytes */
} ig_kernel_id;

typedef union ig_device_kernel {
    ig_kernel_fn_v0 *call;
    void *handle;
} ig_device_kernel;

/* ---- work ---- */

enum {
    IG_WORKER_STRIDE = -1, /* row stride of a buffer that each worker has its own of */
    IG_MAX_ALIGN = 256,    /* that allocate must be able to give */
};

/* One launch with everything known. */
typedef struct ig_launch {
    ig_device_kernel kernel;
    void **buffers; /* in the device's memory */
    const int64_t *params;
    int64_t grid;
    int64_t *bounds; /* worker w has the tiles bounds[w] … bounds[w + 1] - 1 */
    uint32_t buffer_count, param_count, step;
    uint32_t threads; /* per tile, on a GPU */
    /* In the body of rows: per buffer, bytes to add per row; and the last, shorter
     * block. */
    const int64_t *strides, *tail_params;
    int64_t tail_grid;
    double cost; /* ns on one core; <= 0: unknown */
} ig_launch;

/* Launches that need no barrier among them. */
typedef struct ig_phase {
    const ig_launch *launches;
    uint32_t launch_count;
    bool is_parallel;    /* worth more than one thread */
    int64_t rows, block; /* of a rows step, whose body the launches are; else 0 */
    bool is_wide;        /* too few rows to share: workers share a block's tiles */
} ig_phase;

typedef enum ig_copy_kind {
    IG_COPY_IN,    /* from the host's memory */
    IG_COPY_OUT,   /* to the host's memory */
    IG_COPY_WITHIN /* the device's; the two ranges may overlap */
} ig_copy_kind;

typedef struct ig_copy {
    ig_copy_kind kind;
    void *to;
    const void *from;
    size_t size;
} ig_copy;

/* ---- queues ---- */

/* The position of a piece of work in its queue; the first one's is 1. */
typedef uint64_t ig_ticket;

/* A run that has committed is not cancelled any more. */
enum { IG_RUN_IDLE, IG_RUN_ACTIVE, IG_RUN_CANCELLED, IG_RUN_COMMITTED };

typedef struct ig_queue_options {
    ig_memory *memory; /* the host's, for the queue's own memory */
    ig_message message;
    ig_thread_pool *pool;    /* the caller's, or NULL */
    int threads;             /* else of a pool of its own; 0, 1: none */
    size_t scratch;          /* bytes that a kernel may need */
    size_t table_size;       /* buffers of a launch in rows, at most */
    const atomic_int *state; /* IG_RUN_…, read between blocks of rows */
} ig_queue_options;

/* The first thing that a kernel could not do: min by launch, operand, row, position. */
typedef struct ig_queue_report {
    uint32_t step;
    int64_t row; /* first one of its block */
    ig_kernel_report_v0 kernel;
} ig_queue_report;

/* The first member of a family's queue. */
typedef struct ig_queue {
    const ig_device_verbs *verbs; /* the device's, or those of a profile */
    const ig_device *device;
    ig_message message; /* for whoever submits */
    ig_ticket last;     /* of the work submitted last */
    ig_ticket done;     /* work up to here is complete */
    int worker_count;   /* that the tiles of a parallel phase are divided among */
    int active_count;   /* of these, claimed for the current run; else 1 */
    bool has_report;    /* known by the last wait; whoever reads it clears it */
    ig_queue_report report;
    char *worker_memory; /* of worker buffers: `worker_bytes` for each worker */
    int64_t worker_bytes;
} ig_queue;

struct ig_device_verbs {
    const char *family; /* "cpu": the entries "code/cpu-…" */
    /* Of a device whose memory is not the host's, else NULL. */
    const ig_staging *staging;
    void (*close)(const ig_device *device); /* of one that was opened, else NULL */
    /* How good a level is on this device: higher is better, 0: it cannot run. */
    int (*rank)(const ig_device *device, const char *level);
    /* The levels that this device runs, for messages: "v2, v3". */
    const char *(*levels)(const ig_device *device);

    /* Memory with any content, a size of 0 being as good as 1; NULL: none left.
     * `device` is an ig_device; an ig_memory calls these. */
    void *(*allocate)(void *device, size_t size, size_t alignment);
    void (*release)(void *device, void *memory, size_t size);

    ig_status (*load)(const ig_device *device, const ig_code_source *source,
                      ig_device_code *out_image, const ig_message *message);
    /* No kernel of it may be in a queue.  An image of zeros is allowed. */
    void (*unload)(const ig_device *device, ig_device_code *image);
    ig_status (*find)(const ig_device *device, const ig_device_code *image,
                      ig_kernel_id id, ig_device_kernel *out_kernel,
                      const ig_message *message);

    ig_status (*open_queue)(const ig_device *device, const ig_queue_options *options,
                            ig_queue **out_queue);
    /* The queue must be idle.  NULL is allowed. */
    void (*close_queue)(ig_queue *queue);
    /* Of a device with several workers, else NULL: has as many of them as are free take
     * part in the following phases, whose parallel work takes `ns` on one core. */
    void (*claim)(ig_queue *queue, double ns);
    void (*unclaim)(ig_queue *queue);
    /* Both take a ticket, also when they fail.  The memory that they name must stay
     * until that is done; the phase, its addresses and params are read at once. */
    ig_status (*submit)(ig_queue *queue, const ig_phase *phase);
    ig_status (*copy)(ig_queue *queue, const ig_copy *copy);
    /* Errors of earlier work come out here too; the work counts as done then. */
    ig_status (*wait)(ig_queue *queue, ig_ticket ticket);
};

/* ---- for those who submit ---- */

static inline ig_status ig_queue_wait(ig_queue *queue, ig_ticket ticket) {
    assert(ticket <= queue->last && "waiting for work that was never submitted");
    return ticket <= queue->done ? IG_OK : queue->verbs->wait(queue, ticket);
}

static inline ig_status ig_queue_finish(ig_queue *queue) {
    return ig_queue_wait(queue, queue->last);
}

static inline void ig_queue_claim(ig_queue *queue, double ns) {
    assert((queue->worker_count > 1 || !(ns > 0)) && "one worker has no parallel work");
    if (ns > 0) {
        queue->verbs->claim(queue, ns);
    }
}

static inline void ig_queue_release(ig_queue *queue) {
    if (queue->active_count > 1) {
        queue->verbs->unclaim(queue);
    }
}

static inline ig_status ig_queue_copy(ig_queue *queue, ig_copy_kind kind, void *to,
                                      const void *from, int64_t size) {
    assert(size >= 0 && "a copy's size was not checked");
    return queue->verbs->copy(queue, &(ig_copy){ kind, to, from, (size_t)size });
}

/* A few bytes of the device, once all that was submitted before is done. */
static inline ig_status ig_queue_read(ig_queue *queue, void *to, const void *from,
                                      int64_t size) {
    IG_TRY(ig_queue_copy(queue, IG_COPY_OUT, to, from, size));
    return ig_queue_finish(queue);
}

/* The memory of a device, for regions. */
static inline ig_memory ig_device_memory(const ig_device *device) {
    return (ig_memory){ .allocate = device->verbs->allocate,
                        .release = device->verbs->release,
                        .user = (void *)(uintptr_t)device };
}

#endif
