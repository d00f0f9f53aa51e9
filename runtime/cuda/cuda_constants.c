/* Constants of a program on a GPU: one block, shared by its sessions; and one of pinned
 * memory of the host for the largest, where they are not to be on the GPU.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/cuda/cuda_stage.h"

#include "base/checked.h"

#include <stdlib.h>
#include <string.h>

static size_t room_of(const ig_program *program, uint32_t index) {
    return ig_align_up((size_t)program->plan.constants[index].bytes, IG_CUDA_ALIGN);
}

/* Bytes on the GPU, and in pinned memory, when constants of `limit` bytes and more are
 * there.  An empty one wants an address too. */
typedef struct division {
    size_t limit, near, far;
    size_t next; /* the largest constant on the GPU */
} division;

static division divide_constants(const ig_program *program, size_t limit) {
    division d = { .limit = limit, .near = IG_CUDA_ALIGN };
    for (uint32_t i = 0; i < program->plan.constants_count; i++) {
        size_t room = room_of(program, i);
        bool is_near = room < limit;
        *(is_near ? &d.near : &d.far) += room;
        d.next = is_near && room > d.next ? room : d.next;
    }
    return d;
}

/* The largest go, until the others fit in `memory` (0: any) bytes. */
static division choose_division(const ig_program *program, size_t memory) {
    division d = divide_constants(program, SIZE_MAX);
    while (memory && d.near > memory && d.next) {
        d = divide_constants(program, d.next);
    }
    return d;
}

/* Gives each constant its place. */
static void place_constants(ig_program *program, const division *d) {
    const char *near = program->resident_block, *far = program->resident_pinned;
    for (uint32_t i = 0; i < program->plan.constants_count; i++) {
        const char **at = room_of(program, i) < d->limit ? &near : &far;
        program->resident[i] = *at;
        *at += room_of(program, i);
    }
}

static ig_status check_room(const ig_cuda_device *gpu, size_t size,
                            const ig_message *message) {
    size_t room = 0, total = 0;
    const char *subject = "the GPU's memory";
    IG_TRY(ig_cuda_enter(gpu, subject, message));
    IG_TRY(
        ig_cuda_leave(gpu, gpu->driver.memory_info(&room, &total), subject, message));
    return size <= room
               ? IG_OK
               : ig_message_set(message, IG_LIMIT,
                                "the model's weights take %zu bytes; GPU %d, %s, has "
                                "%zu of its %zu bytes left (device_memory keeps the "
                                "largest weights in the host's)",
                                size, gpu->base.ordinal, gpu->name, room, total);
}

/* In our context; the driver's error.  Pinned ones are the host's to write. */
static int copy_constants(const ig_program *program, const ig_cuda_device *gpu,
                          const division *d) {
    void *stream = NULL;
    int error = gpu->driver.stream_create(&stream, 0);
    if (error) {
        return error;
    }
    for (uint32_t i = 0; i < program->plan.constants_count && !error; i++) {
        size_t bytes = (size_t)program->plan.constants[i].bytes;
        bool is_near = room_of(program, i) < d->limit;
        if (bytes && is_near) {
            error = gpu->driver.copy_in(ig_cuda_address_of(program->resident[i]),
                                        program->constants[i], bytes, stream);
        } else if (bytes) {
            memcpy((void *)(uintptr_t)program->resident[i], program->constants[i],
                   bytes);
        }
    }
    int waited = gpu->driver.stream_sync(stream);
    int closed = gpu->driver.stream_destroy(stream);
    return error ? error : waited ? waited : closed;
}

static ig_status allocate_constants(ig_program *program, const division *d,
                                    const ig_message *message) {
    const ig_cuda_device *gpu = ig_cuda_of(program->device);
    const char *subject = "pinned memory for weights";
    program->resident_block = gpu->base.verbs->allocate((void *)(uintptr_t)gpu, d->near,
                                                        IG_CUDA_ALIGN);
    if (!program->resident_block) {
        return ig_message_set(message, IG_LIMIT,
                              "out of memory of the GPU for %zu bytes of weights",
                              d->near);
    }
    if (!d->far) {
        return IG_OK;
    }
    IG_TRY(ig_cuda_enter(gpu, subject, message));
    int error = gpu->driver.pinned_alloc(&program->resident_pinned, d->far);
    program->resident_pinned = error ? NULL : program->resident_pinned;
    return ig_cuda_leave(gpu, error, subject, message);
}

ig_status ig_cuda_load_constants(ig_program *program, const ig_program_options *options,
                                 const ig_message *message) {
    const ig_cuda_device *gpu = ig_cuda_of(program->device);
    program->resident = calloc((size_t)program->plan.constants_count + 1,
                               sizeof *program->resident);
    if (!program->resident) {
        return ig_message_set(message, IG_LIMIT, "out of memory");
    }
    division d = choose_division(program, options->device_memory);
    IG_TRY(check_room(gpu, d.near, message));
    IG_TRY(allocate_constants(program, &d, message));
    place_constants(program, &d);
    IG_TRY(ig_cuda_enter(gpu, "copying weights to the GPU", message));
    return ig_cuda_leave(gpu, copy_constants(program, gpu, &d),
                         "copying weights to the GPU", message);
}

void ig_cuda_unload_constants(ig_program *program) {
    const ig_device *device = program->device;
    const ig_cuda_device *gpu = ig_cuda_of(device);
    if (program->resident == program->constants) {
        return;
    }
    device->verbs->release((void *)(uintptr_t)device, program->resident_block, 0);
    if (program->resident_pinned && ig_cuda_enter_to_give(gpu)) {
        int error = gpu->driver.pinned_free(program->resident_pinned);
        ig_cuda_leave_quietly(gpu, error);
    }
    free(program->resident);
}
