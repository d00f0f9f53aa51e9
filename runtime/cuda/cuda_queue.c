/* A queue of a CUDA GPU is a stream.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A kernel finds its addresses and params in the GPU's memory: in the tables of a
 * session, or in an argument block, which a launch fills anew: the stream keeps the
 * order.  Each launch since the last wait has a report of its own, so the first in
 * order is known:
 *
 *     reports   [launch 0][launch 1][launch 2] … REPORTS
 *                                    ^ report_count
 */
#include "runtime/cuda/cuda_queue.h"

#include <limits.h>
#include <string.h>

enum {
    REPORTS = IG_CUDA_REPORTS,
    MIN_ARGUMENT_BYTES = 4096,
    NON_BLOCKING = 1,
    NOT_READY = 600
};

typedef ig_cuda_queue cuda_queue;

/* ---- opening ---- */

static void *allocate_memory(const cuda_queue *queue, size_t size) {
    const ig_device *device = queue->base.device;
    return device->verbs->allocate((void *)(uintptr_t)device, size, IG_MAX_ALIGN);
}

static void release_memory(const cuda_queue *queue, void *memory, size_t size) {
    const ig_device *device = queue->base.device;
    device->verbs->release((void *)(uintptr_t)device, memory, size);
}

/* Waits until the stream is empty, since `cleared` ends with this function. */
static ig_status clear_reports(cuda_queue *queue) {
    const char *subject = "clearing reports";
    const ig_cuda_device *gpu = ig_cuda_gpu_of(queue);
    ig_cuda_report cleared[REPORTS];
    for (int i = 0; i < REPORTS; i++) {
        cleared[i] = (ig_cuda_report){ .operand = -1 };
    }
    IG_TRY(ig_cuda_enter(gpu, subject, &queue->base.message));
    int error = gpu->driver.copy_in(ig_cuda_address_of(queue->reports), cleared,
                                    sizeof cleared, queue->stream);
    error = error ? error : gpu->driver.stream_sync(queue->stream);
    return ig_cuda_leave(gpu, error, subject, &queue->base.message);
}

static ig_status open_stream(cuda_queue *queue) {
    const char *subject = "a stream of the GPU";
    const ig_cuda_device *gpu = ig_cuda_gpu_of(queue);
    IG_TRY(ig_cuda_enter(gpu, subject, &queue->base.message));
    int error = gpu->driver.stream_create(&queue->stream, NON_BLOCKING);
    IG_TRY(ig_cuda_leave(gpu, error, subject, &queue->base.message));
    queue->reports = allocate_memory(queue, REPORTS * sizeof *queue->reports);
    if (!queue->reports) {
        return ig_message_set(&queue->base.message, IG_LIMIT,
                              "out of memory of the GPU for reports of kernels");
    }
    return clear_reports(queue);
}

ig_status ig_cuda_queue_open(const ig_device *device, const ig_queue_options *options,
                             ig_queue **out_queue) {
    *out_queue = NULL;
    cuda_queue *queue = ig_memory_take(options->memory, sizeof *queue);
    if (!queue) {
        return ig_message_set(&options->message, IG_LIMIT, "out of memory for a queue");
    }
    *queue = (cuda_queue){ .base = { .verbs = device->verbs,
                                     .device = device,
                                     .message = options->message,
                                     .worker_count = 1,
                                     .active_count = 1 },
                           .memory = options->memory };
    ig_status status = open_stream(queue);
    if (status != IG_OK) {
        ig_cuda_queue_close(&queue->base);
        return status;
    }
    *out_queue = &queue->base;
    return IG_OK;
}

ig_status ig_cuda_queue_take_stream(cuda_queue *queue, void *stream,
                                    const ig_message *message) {
    const char *subject = "the caller's stream";
    const ig_cuda_device *gpu = ig_cuda_gpu_of(queue);
    void *own = queue->stream;
    IG_TRY(ig_cuda_enter(gpu, subject, message));
    queue->stream = stream;
    queue->is_callers = true;
    int error = gpu->driver.stream_query(stream); /* does the driver know it? */
    int given = gpu->driver.stream_destroy(own);
    error = error == NOT_READY ? 0 : error;
    return ig_cuda_leave(gpu, error ? error : given, subject, message);
}

void ig_cuda_queue_close(ig_queue *base) {
    if (!base) {
        return;
    }
    cuda_queue *queue = ig_cuda_queue_of(base);
    const ig_cuda_device *gpu = ig_cuda_gpu_of(queue);
    assert(base->done == base->last && "closing a queue with work in it");
    if (queue->stream && !queue->is_callers && ig_cuda_enter_to_give(gpu)) {
        int error = gpu->driver.stream_destroy(queue->stream);
        ig_cuda_leave_quietly(gpu, error);
    }
    release_memory(queue, queue->reports, REPORTS * sizeof *queue->reports);
    release_memory(queue, queue->arguments, queue->argument_bytes);
    ig_memory_give(queue->memory, queue, sizeof *queue);
}

/* ---- waiting ---- */

/* Keeps the first of several reports. */
static bool take_report(cuda_queue *queue, const ig_cuda_report *reports,
                        const uint32_t *steps, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const ig_cuda_report *report = &reports[i];
        if (report->operand < 0) {
            continue;
        }
        if (!queue->base.has_report) {
            queue->base.has_report = true;
            queue->base.report = (ig_queue_report){
                .step = steps[i],
                .kernel = { report->operand, report->position, report->value }
            };
        }
        return true;
    }
    return false;
}

/* The reports that a copy has brought. */
static void take_staged(cuda_queue *queue) {
    uint32_t count = queue->staged_count;
    queue->staged_count = 0;
    (void)take_report(queue, queue->staged_reports, queue->staged_steps, count);
}

/* Empties the stream, also in the middle of a submit. */
static ig_status drain_stream(cuda_queue *queue) {
    const char *subject = "work on the GPU";
    const ig_message *message = &queue->base.message;
    const ig_cuda_device *gpu = ig_cuda_gpu_of(queue);
    ig_cuda_report reports[REPORTS];
    uint32_t count = queue->report_count;
    int error = 0;
    IG_TRY(ig_cuda_enter(gpu, subject, message));
    if (count > 0) {
        error = gpu->driver.copy_out(reports, ig_cuda_address_of(queue->reports),
                                     count * sizeof *reports, queue->stream);
    }
    int failed = gpu->driver.stream_sync(queue->stream);
    queue->report_count = 0;
    uint32_t staged = queue->staged_count;
    queue->staged_count = error || failed ? 0 : staged;
    IG_TRY(ig_cuda_leave(gpu, error ? error : failed, subject, message));
    take_staged(queue);
    return take_report(queue, reports, queue->steps, count) ? clear_reports(queue)
                                                            : IG_OK;
}

/* The stream is in order, so a wait for all its work is one for the ticket too. */
ig_status ig_cuda_queue_wait(ig_queue *base, ig_ticket ticket) {
    if (ticket <= base->done) {
        return IG_OK;
    }
    base->done = base->last;
    return drain_stream(ig_cuda_queue_of(base));
}

/* ---- launches ---- */

static ig_status reserve_arguments(cuda_queue *queue, size_t bytes) {
    if (bytes <= queue->argument_bytes) {
        return IG_OK;
    }
    IG_TRY(drain_stream(queue));
    size_t size = bytes > MIN_ARGUMENT_BYTES ? 2 * bytes : MIN_ARGUMENT_BYTES;
    release_memory(queue, queue->arguments, queue->argument_bytes);
    queue->argument_bytes = 0;
    queue->arguments = allocate_memory(queue, size);
    if (!queue->arguments) {
        return ig_message_set(&queue->base.message, IG_LIMIT,
                              "out of memory of the GPU for %zu bytes of arguments",
                              size);
    }
    queue->argument_bytes = size;
    return IG_OK;
}

static bool has_tables(const cuda_queue *queue, const ig_launch *launch) {
    return queue->tables.slots && !queue->tables.execs[launch->step].is_late;
}

/* Between two events, which are waited for. */
static int launch_timed(const cuda_queue *queue, const ig_launch *launch,
                        void **parameters) {
    const ig_cuda_driver *driver = &ig_cuda_gpu_of(queue)->driver;
    float milliseconds = 0;
    int error = driver->event_record(queue->begins, queue->stream);
    error = error ? error
                  : driver->launch(launch->kernel.handle, (unsigned)launch->grid, 1, 1,
                                   launch->threads, 1, 1, 0, queue->stream, parameters,
                                   NULL);
    error = error ? error : driver->event_record(queue->ends, queue->stream);
    error = error ? error : driver->stream_sync(queue->stream);
    error = error ? error
                  : driver->event_time(&milliseconds, queue->begins, queue->ends);
    if (!error) {
        queue->notify(queue->notify_user, launch,
                      (int64_t)((double)milliseconds * 1e6));
    }
    return error;
}

static int launch_at(const cuda_queue *queue, const ig_launch *launch,
                     ig_cuda_address table, ig_cuda_address params,
                     ig_cuda_address report) {
    void *parameters[] = { &table, &params, &report };
    if (queue->notify) {
        return launch_timed(queue, launch, parameters);
    }
    return ig_cuda_gpu_of(queue)->driver.launch(
        launch->kernel.handle, (unsigned)launch->grid, 1, 1, launch->threads, 1, 1, 0,
        queue->stream, parameters, NULL);
}

static void drop_events(cuda_queue *queue) {
    const ig_cuda_driver *driver = &ig_cuda_gpu_of(queue)->driver;
    void **const events[] = { &queue->begins, &queue->ends };
    for (size_t i = 0; i < 2; i++) {
        if (*events[i]) {
            driver->event_destroy(*events[i]);
            *events[i] = NULL;
        }
    }
}

ig_status ig_cuda_queue_profile(cuda_queue *queue, ig_staging_notify *notify,
                                void *user) {
    const char *subject = "events of a profile";
    const ig_cuda_device *gpu = ig_cuda_gpu_of(queue);
    const ig_message *message = &queue->base.message;
    int error = 0;
    queue->notify = notify;
    queue->notify_user = user;
    if (!notify) {
        if (ig_cuda_enter_to_give(gpu)) {
            drop_events(queue);
            ig_cuda_leave_quietly(gpu, 0);
        }
        return IG_OK;
    }
    IG_TRY(ig_cuda_enter(gpu, subject, message));
    error = gpu->driver.event_create(&queue->begins, 0);
    error = error ? error : gpu->driver.event_create(&queue->ends, 0);
    return ig_cuda_leave(gpu, error, subject, message);
}

int ig_cuda_launch(const ig_cuda_queue *queue, const ig_launch *launch,
                   ig_cuda_address report) {
    const ig_cuda_tables *tables = &queue->tables;
    assert(has_tables(queue, launch) && "no tables with these arguments");
    size_t slots = (size_t)((const char *)launch->buffers - tables->host_slots);
    size_t params = (size_t)((const char *)launch->params - tables->host_params);
    return launch_at(queue, launch, tables->slots + slots, tables->params + params,
                     report);
}

/* Fills the argument block. */
static int copy_arguments(const cuda_queue *queue, const ig_launch *launch,
                          size_t table, size_t params) {
    const ig_cuda_driver *driver = &ig_cuda_gpu_of(queue)->driver;
    ig_cuda_address to = ig_cuda_address_of(queue->arguments);
    assert(table + params <= queue->argument_bytes && "arguments were not reserved");
    int error = table ? driver->copy_in(to, launch->buffers, table, queue->stream) : 0;
    return error || !params
               ? error
               : driver->copy_in(to + table, launch->params, params, queue->stream);
}

/* In our context; the driver's error. */
static int launch_kernel(cuda_queue *queue, const ig_launch *launch) {
    assert(queue->report_count < REPORTS && "a launch without a report");
    size_t table = launch->buffer_count * sizeof *launch->buffers;
    size_t params = launch->param_count * sizeof *launch->params;
    ig_cuda_address report = ig_cuda_address_of(queue->reports + queue->report_count);
    queue->steps[queue->report_count++] = launch->step;
    if (has_tables(queue, launch)) {
        return ig_cuda_launch(queue, launch, report);
    }
    ig_cuda_address arguments = ig_cuda_address_of(queue->arguments);
    int error = copy_arguments(queue, launch, table, params);
    return error ? error
                 : launch_at(queue, launch, arguments, arguments + table, report);
}

ig_status ig_cuda_check_grid(const ig_cuda_queue *queue, const ig_launch *launch) {
    return launch->grid <= INT_MAX
               ? IG_OK
               : ig_message_set(&queue->base.message, IG_LIMIT,
                                "a launch of %lld blocks; the GPU takes at most %d",
                                (long long)launch->grid, INT_MAX);
}

static ig_status submit_launch(cuda_queue *queue, const ig_launch *launch) {
    const char *subject = "a launch on the GPU";
    const ig_message *message = &queue->base.message;
    if (launch->grid <= 0) {
        return IG_OK;
    }
    IG_TRY(ig_cuda_check_grid(queue, launch));
    if (!has_tables(queue, launch)) {
        IG_TRY(reserve_arguments(queue,
                                 ((size_t)launch->buffer_count + launch->param_count) *
                                     sizeof(int64_t)));
    }
    if (queue->report_count == REPORTS) {
        IG_TRY(drain_stream(queue));
    }
    IG_TRY(ig_cuda_enter(ig_cuda_gpu_of(queue), subject, message));
    return ig_cuda_leave(ig_cuda_gpu_of(queue), launch_kernel(queue, launch), subject,
                         message);
}

ig_status ig_cuda_queue_submit(ig_queue *base, const ig_phase *phase) {
    base->last++;
    if (phase->block > 0) {
        return ig_message_set(&base->message, IG_UNSUPPORTED,
                              "blocks of rows run on the CPU only, not on a GPU");
    }
    for (uint32_t i = 0; i < phase->launch_count; i++) {
        IG_TRY(submit_launch(ig_cuda_queue_of(base), &phase->launches[i]));
    }
    return IG_OK;
}

/* ---- copies ---- */

static ig_status copy_plainly(cuda_queue *queue, const ig_copy *copy) {
    static const char *const subjects[] = { [IG_COPY_IN] = "a copy to the GPU",
                                            [IG_COPY_OUT] = "a copy from the GPU",
                                            [IG_COPY_WITHIN] = "a copy on the GPU" };
    const ig_cuda_device *gpu = ig_cuda_gpu_of(queue);
    ig_cuda_address to = ig_cuda_address_of(copy->to);
    ig_cuda_address from = ig_cuda_address_of(copy->from);
    int error;
    IG_TRY(ig_cuda_enter(gpu, subjects[copy->kind], &queue->base.message));
    if (copy->kind == IG_COPY_IN) {
        error = gpu->driver.copy_in(to, copy->from, copy->size, queue->stream);
    } else if (copy->kind == IG_COPY_OUT) {
        error = gpu->driver.copy_out(copy->to, from, copy->size, queue->stream);
    } else {
        error = gpu->driver.copy_within(to, from, copy->size, queue->stream);
    }
    return ig_cuda_leave(gpu, error, subjects[copy->kind], &queue->base.message);
}

/* The driver leaves open how bytes move between ranges that overlap: they go through a
 * block of their own. */
static ig_status copy_overlapping(cuda_queue *queue, const ig_copy *copy) {
    char *between = allocate_memory(queue, copy->size);
    if (!between) {
        return ig_message_set(&queue->base.message, IG_LIMIT,
                              "out of memory of the GPU for a copy of %zu bytes",
                              copy->size);
    }
    ig_copy first = *copy, second = *copy;
    first.to = between;
    second.from = between;
    ig_status status = copy_plainly(queue, &first);
    status = status == IG_OK ? copy_plainly(queue, &second) : status;
    ig_status done = drain_stream(queue);
    release_memory(queue, between, copy->size);
    return status == IG_OK ? done : status;
}

ig_status ig_cuda_queue_copy(ig_queue *base, const ig_copy *copy) {
    uintptr_t to = (uintptr_t)copy->to, from = (uintptr_t)copy->from;
    base->last++;
    if (copy->size == 0) {
        return IG_OK;
    }
    bool overlaps = to < from + copy->size && from < to + copy->size;
    return copy->kind == IG_COPY_WITHIN && overlaps
               ? copy_overlapping(ig_cuda_queue_of(base), copy)
               : copy_plainly(ig_cuda_queue_of(base), copy);
}
