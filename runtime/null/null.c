/* A device that computes nothing.  SPDX-License-Identifier: Apache-2.0 */
#include "runtime/null/null.h"

#include <stdlib.h>
#include <string.h>

/* ---- levels ---- */

static int rank_level(const ig_device *device, const char *level) {
    (void)device;
    return strcmp(level, "null") == 0;
}

static const char *list_levels(const ig_device *device) {
    (void)device;
    return "null";
}

/* ---- code ---- */

static ig_status load_image(const ig_device *device, const ig_code_source *source,
                            ig_device_code *out_image, const ig_message *message) {
    (void)device;
    *out_image = (ig_device_code){ NULL, 0, NULL };
    void *bytes = malloc(source->size + 1);
    if (!bytes) {
        return ig_message_set(message, IG_LIMIT, "out of memory for %zu bytes of code",
                              source->size);
    }
    memcpy(bytes, source->bytes, source->size);
    *out_image = (ig_device_code){ bytes, source->size, bytes };
    return IG_OK;
}

static void unload_image(const ig_device *device, ig_device_code *image) {
    (void)device;
    free(image->handle);
    *image = (ig_device_code){ NULL, 0, NULL };
}

static ig_status find_kernel(const ig_device *device, const ig_device_code *image,
                             ig_kernel_id id, ig_device_kernel *out_kernel,
                             const ig_message *message) {
    (void)device;
    if (id.entry >= image->size) {
        return ig_message_set(message, IG_INVALID,
                              "kernel '%s' is missing from the code", id.name);
    }
    out_kernel->handle = (char *)image->handle + id.entry;
    return IG_OK;
}

/* ---- queues ---- */

typedef struct null_queue {
    ig_queue base;
    ig_memory *memory;
    ig_null_work works[IG_NULL_WORKS]; /* of ticket t at (t - 1) % IG_NULL_WORKS */
} null_queue;

static null_queue *queue_of(ig_queue *queue) {
    return (null_queue *)(void *)queue;
}

static ig_status open_queue(const ig_device *device, const ig_queue_options *options,
                            ig_queue **out_queue) {
    null_queue *queue = ig_memory_take(options->memory, sizeof *queue);
    *out_queue = NULL;
    if (!queue) {
        return ig_message_set(&options->message, IG_LIMIT, "out of memory for a queue");
    }
    *queue = (null_queue){ .base = { .verbs = device->verbs,
                                     .device = device,
                                     .message = options->message,
                                     .worker_count = 1,
                                     .active_count = 1 },
                           .memory = options->memory };
    *out_queue = &queue->base;
    return IG_OK;
}

static void close_queue(ig_queue *base) {
    if (base) {
        null_queue *queue = queue_of(base);
        assert(base->done == base->last && "closing a queue with work in it");
        ig_memory_give(queue->memory, queue, sizeof *queue);
    }
}

static ig_null_work *work_at(null_queue *queue, ig_ticket ticket) {
    assert(ticket > 0 && ticket <= queue->base.last && "no such ticket");
    return &queue->works[(ticket - 1) % IG_NULL_WORKS];
}

static ig_status do_work_until(ig_queue *base, ig_ticket ticket) {
    while (base->done < ticket) {
        const ig_copy *copy = &work_at(queue_of(base), ++base->done)->copy;
        if (copy->size > 0) {
            memmove(copy->to, copy->from, copy->size);
        }
    }
    return IG_OK;
}

static ig_status remember_work(ig_queue *base, ig_null_work work) {
    bool is_full = base->last - base->done == IG_NULL_WORKS;
    if (is_full) {
        IG_TRY(do_work_until(base, base->done + 1));
    }
    base->last++;
    *work_at(queue_of(base), base->last) = work;
    return IG_OK;
}

static ig_status submit_phase(ig_queue *base, const ig_phase *phase) {
    bool is_empty = phase->launch_count == 0;
    return remember_work(
        base, (ig_null_work){ .launch_count = phase->launch_count,
                              .step = is_empty ? 0 : phase->launches->step });
}

static ig_status copy_later(ig_queue *base, const ig_copy *copy) {
    return remember_work(base, (ig_null_work){ .copy = *copy });
}

const ig_null_work *ig_null_recall(const ig_queue *queue, ig_ticket ticket) {
    bool is_known = ticket > 0 && ticket <= queue->last &&
                    queue->last - ticket < IG_NULL_WORKS;
    const null_queue *own = (const void *)queue;
    return is_known ? &own->works[(ticket - 1) % IG_NULL_WORKS] : NULL;
}

/* ---- the device ---- */

static const ig_device_verbs verbs = {
    .family = "null",
    .rank = rank_level,
    .levels = list_levels,
    .allocate = ig_memory_allocate_host,
    .release = ig_memory_release_host,
    .load = load_image,
    .unload = unload_image,
    .find = find_kernel,
    .open_queue = open_queue,
    .close_queue = close_queue,
    .submit = submit_phase,
    .copy = copy_later,
    .wait = do_work_until,
};

const ig_device ig_device_null = { &verbs, 0 };
