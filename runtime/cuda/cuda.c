/* One CUDA GPU: opening it, memory, code.  SPDX-License-Identifier: Apache-2.0 */
#include "runtime/cuda/cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CAPABILITY_MAJOR = 75, CAPABILITY_MINOR = 76 };

static const ig_message silence = { NULL, 0, NULL };

ig_status ig_cuda_enter(const ig_cuda_device *gpu, const char *subject,
                        const ig_message *message) {
    return ig_cuda_driver_check(&gpu->driver, gpu->driver.context_push(gpu->context),
                                subject, message);
}

ig_status ig_cuda_leave(const ig_cuda_device *gpu, int error, const char *subject,
                        const ig_message *message) {
    void *ours = NULL;
    gpu->driver.context_pop(&ours);
    assert(ours == gpu->context && "another context was left current");
    return ig_cuda_driver_check(&gpu->driver, error, subject, message);
}

bool ig_cuda_enter_to_give(const ig_cuda_device *gpu) {
    return ig_cuda_enter(gpu, "", &silence) == IG_OK ||
           ig_cuda_enter(gpu, "", &silence) == IG_OK;
}

void ig_cuda_leave_quietly(const ig_cuda_device *gpu, int error) {
    (void)ig_cuda_leave(gpu, error, "", &silence);
}

/* ---- levels ---- */

/* Code for sm_XY runs on GPUs of the same X and at least that Y; "a" on exactly it.
 * PTX of compute_XY is compiled by the driver of any that is not older. */
int ig_cuda_level_rank(const char *level, int major, int minor) {
    unsigned capability = 0;
    int used = 0;
    if (sscanf(level, "compute_%3u%n", &capability, &used) == 1) {
        bool is_newer = (int)capability <= 10 * major + minor && level[used] == '\0';
        return is_newer ? (int)capability : 0;
    }
    if (sscanf(level, "sm_%3u%n", &capability, &used) != 1) {
        return 0;
    }
    bool is_exact = level[used] == 'a' && level[used + 1] == '\0';
    if (level[used] != '\0' && !is_exact) {
        return 0;
    }
    enum { CODE = 1000 }; /* before any PTX */
    int x = (int)capability / 10, y = (int)capability % 10;
    bool runs = x == major && (is_exact ? y == minor : y <= minor);
    return runs ? CODE + 2 * (int)capability + is_exact : 0;
}

static int rank_level(const ig_device *device, const char *level) {
    const ig_cuda_device *gpu = ig_cuda_of(device);
    return ig_cuda_level_rank(level, gpu->major, gpu->minor);
}

static const char *list_levels(const ig_device *device) {
    return ig_cuda_of(device)->levels;
}

/* ---- memory ---- */

/* The driver aligns to 256 bytes. */
static void *allocate_memory(void *device, size_t size, size_t alignment) {
    const ig_cuda_device *gpu = ig_cuda_of(device);
    ig_cuda_address address = 0;
    assert(alignment <= IG_MAX_ALIGN && "no device aligns as much");
    (void)alignment;
    if (ig_cuda_enter(gpu, "allocating", &silence) != IG_OK) {
        return NULL;
    }
    int error = gpu->driver.memory_alloc(&address, size + (size == 0));
    return ig_cuda_leave(gpu, error, "allocating", &silence) == IG_OK
               ? (void *)(uintptr_t)address
               : NULL;
}

static void release_memory(void *device, void *memory, size_t size) {
    const ig_cuda_device *gpu = ig_cuda_of(device);
    (void)size;
    if (memory && ig_cuda_enter_to_give(gpu)) {
        int error = gpu->driver.memory_free(ig_cuda_address_of(memory));
        ig_cuda_leave_quietly(gpu, error);
    }
}

/* ---- code ---- */

/* An entry and the module in it, which is loaded when the first kernel is looked for:
 * by then somebody has checked the bytes. */
typedef struct code {
    void *module;    /* or NULL */
    uint64_t offset; /* of the module in the entry */
    char bytes[];
} code;

static void unload_image(const ig_device *device, ig_device_code *image) {
    const ig_cuda_device *gpu = ig_cuda_of(device);
    code *own = image->handle;
    if (own && own->module && ig_cuda_enter_to_give(gpu)) {
        int error = gpu->driver.module_unload(own->module);
        ig_cuda_leave_quietly(gpu, error);
    }
    free(own);
    *image = (ig_device_code){ NULL, 0, NULL };
}

static ig_status load_image(const ig_device *device, const ig_code_source *source,
                            ig_device_code *out_image, const ig_message *message) {
    size_t size = source->size;
    (void)device;
    *out_image = (ig_device_code){ NULL, 0, NULL };
    code *own = malloc(sizeof *own + size + 1);
    if (!own) {
        return ig_message_set(message, IG_LIMIT, "out of memory for %zu bytes of code",
                              size);
    }
    *own = (code){ NULL, 0 };
    memcpy(own->bytes, source->bytes, size);
    own->bytes[size] = '\0'; /* the driver is not told the size */
    *out_image = (ig_device_code){ own->bytes, size, own };
    return IG_OK;
}

/* In our context; the driver's error. */
static int find_function(const ig_cuda_device *gpu, code *own, ig_kernel_id id,
                         void **out_function) {
    if (!own->module) {
        own->offset = id.entry;
        int error = gpu->driver.module_load(&own->module, own->bytes + id.entry);
        if (error) {
            own->module = NULL;
            return error;
        }
    }
    return gpu->driver.module_function(out_function, own->module, id.name);
}

static ig_status find_kernel(const ig_device *device, const ig_device_code *image,
                             ig_kernel_id id, ig_device_kernel *out_kernel,
                             const ig_message *message) {
    const ig_cuda_device *gpu = ig_cuda_of(device);
    code *own = image->handle;
    char subject[128];
    out_kernel->handle = NULL;
    if (id.entry >= image->size || (own->module && own->offset != id.entry)) {
        return ig_message_set(message, IG_INVALID,
                              "the code is damaged: kernel '%s' is in no module of it",
                              id.name);
    }
    (void)snprintf(subject, sizeof subject, "kernel '%s' of the GPU", id.name);
    IG_TRY(ig_cuda_enter(gpu, subject, message));
    return ig_cuda_leave(gpu, find_function(gpu, own, id, &out_kernel->handle), subject,
                         message);
}

/* ---- the device ---- */

static const ig_device_verbs verbs = {
    .family = IG_FAMILY_NAME_CUDA,
    .staging = &ig_cuda_staging,
    .close = ig_cuda_close,
    .rank = rank_level,
    .levels = list_levels,
    .allocate = allocate_memory,
    .release = release_memory,
    .load = load_image,
    .unload = unload_image,
    .find = find_kernel,
    .open_queue = ig_cuda_queue_open,
    .close_queue = ig_cuda_queue_close,
    .submit = ig_cuda_queue_submit,
    .copy = ig_cuda_queue_copy,
    .wait = ig_cuda_queue_wait,
};

static ig_status find_device(ig_cuda_device *gpu, int ordinal,
                             const ig_message *message) {
    const ig_cuda_driver *d = &gpu->driver;
    int count = 0;
    IG_TRY(ig_cuda_driver_check(d, d->initialise(0), "the CUDA driver does not start",
                                message));
    IG_TRY(ig_cuda_driver_check(d, d->device_count(&count), "GPUs", message));
    if (ordinal < 0 || ordinal >= count) {
        return ig_message_set(message, IG_UNSUPPORTED,
                              "there is no GPU %d; this machine has %d", ordinal,
                              count);
    }
    int error = d->device_get(&gpu->device, ordinal);
    error = error ? error
                  : d->device_attribute(&gpu->major, CAPABILITY_MAJOR, gpu->device);
    error = error ? error
                  : d->device_attribute(&gpu->minor, CAPABILITY_MINOR, gpu->device);
    error = error ? error : d->device_name(gpu->name, sizeof gpu->name, gpu->device);
    gpu->base.ordinal = ordinal;
    (void)snprintf(gpu->levels, sizeof gpu->levels, "sm_%d%d", gpu->major, gpu->minor);
    return ig_cuda_driver_check(d, error, "facts of the GPU", message);
}

static ig_status open_gpu(ig_cuda_device *gpu, int ordinal, const ig_message *message) {
    IG_TRY(ig_cuda_driver_open(&gpu->driver, message));
    IG_TRY(find_device(gpu, ordinal, message));
    int error = gpu->driver.context_retain(&gpu->context, gpu->device);
    return ig_cuda_driver_check(&gpu->driver, error, "the GPU's context", message);
}

ig_status ig_cuda_open(int ordinal, const ig_device **out_gpu,
                       const ig_message *message) {
    *out_gpu = NULL;
    ig_cuda_device *gpu = calloc(1, sizeof *gpu);
    if (!gpu) {
        return ig_message_set(message, IG_LIMIT, "out of memory");
    }
    gpu->base.verbs = &verbs;
    ig_status status = open_gpu(gpu, ordinal, message);
    if (status != IG_OK) {
        ig_cuda_close(&gpu->base);
        return status;
    }
    *out_gpu = &gpu->base;
    return IG_OK;
}

void ig_cuda_close(const ig_device *device) {
    if (device) {
        const ig_cuda_device *gpu = ig_cuda_of(device);
        if (gpu->context) {
            gpu->driver.context_release(gpu->device);
        }
        free((void *)(uintptr_t)gpu);
    }
}

ig_status ig_cuda_start(const ig_staging_request *request, const ig_device **out_device,
                        const ig_message *message) {
    if (request->program_size != sizeof(ig_program) ||
        strcmp(request->version, INGOT_VERSION) != 0) {
        return ig_message_set(message, IG_INVALID, IG_CUDA_OTHER_BUILD);
    }
    return ig_cuda_open(request->ordinal, out_device, message);
}
