/* Constants of a program on a GPU: one block, shared by its sessions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/cuda/cuda_stage.h"

#include "base/checked.h"

#include <stdlib.h>

/* Gives each constant its place in a block and returns the block's size. */
static size_t place_constants(ig_program *program, const char *block) {
    size_t size = 0;
    for (uint32_t i = 0; i < program->plan.constants_count; i++) {
        program->resident[i] = block ? block + size : NULL;
        size += ig_align_up((size_t)program->plan.constants[i].bytes, IG_CUDA_ALIGN);
    }
    return size + IG_CUDA_ALIGN; /* an empty one wants an address too */
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
                                "%zu of its %zu bytes left",
                                size, gpu->base.ordinal, gpu->name, room, total);
}

/* In our context; the driver's error. */
static int copy_constants(const ig_program *program, const ig_cuda_device *gpu) {
    void *stream = NULL;
    int error = gpu->driver.stream_create(&stream, 0);
    if (error) {
        return error;
    }
    for (uint32_t i = 0; i < program->plan.constants_count && !error; i++) {
        size_t bytes = (size_t)program->plan.constants[i].bytes;
        error = bytes ? gpu->driver.copy_in(ig_cuda_address_of(program->resident[i]),
                                            program->constants[i], bytes, stream)
                      : 0;
    }
    int waited = gpu->driver.stream_sync(stream);
    int closed = gpu->driver.stream_destroy(stream);
    return error ? error : waited ? waited : closed;
}

ig_status ig_cuda_load_constants(ig_program *program, const ig_message *message) {
    const ig_cuda_device *gpu = ig_cuda_of(program->device);
    const ig_device_verbs *verbs = program->device->verbs;
    program->resident = calloc((size_t)program->plan.constants_count + 1,
                               sizeof *program->resident);
    if (!program->resident) {
        return ig_message_set(message, IG_LIMIT, "out of memory");
    }
    size_t size = place_constants(program, NULL);
    IG_TRY(check_room(gpu, size, message));
    program->resident_block = verbs->allocate((void *)(uintptr_t)gpu, size,
                                              IG_CUDA_ALIGN);
    if (!program->resident_block) {
        return ig_message_set(message, IG_LIMIT,
                              "out of memory of the GPU for %zu bytes of weights",
                              size);
    }
    (void)place_constants(program, program->resident_block);
    IG_TRY(ig_cuda_enter(gpu, "copying weights to the GPU", message));
    return ig_cuda_leave(gpu, copy_constants(program, gpu),
                         "copying weights to the GPU", message);
}

void ig_cuda_unload_constants(ig_program *program) {
    const ig_device *gpu = program->device;
    if (program->resident != program->constants) {
        gpu->verbs->release((void *)(uintptr_t)gpu, program->resident_block, 0);
        free(program->resident);
    }
}
