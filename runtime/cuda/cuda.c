/* One CUDA GPU as a device.  SPDX-License-Identifier: Apache-2.0 */
#include "runtime/cuda/cuda.h"

#include "runtime/cuda/driver.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

struct ig_cuda {
    ig_cuda_driver driver;
    int device;
    int major, minor; /* compute capability */
    void *context, *stream;
};

static const ig_message silence = { NULL, 0 };

enum { CAPABILITY_MAJOR = 75, CAPABILITY_MINOR = 76, NON_BLOCKING = 1 };

/* Our context is the current one only while we call the driver. */
static ig_status enter(ig_cuda *gpu, const char *what, const ig_message *message) {
    return ig_cuda_driver_check(&gpu->driver, gpu->driver.context_push(gpu->context),
                                what, message);
}

static ig_status leave(ig_cuda *gpu, int error, const char *what,
                       const ig_message *message) {
    void *ours = NULL;
    gpu->driver.context_pop(&ours);
    return ig_cuda_driver_check(&gpu->driver, error, what, message);
}

/* ---- levels ---- */

/* Code for sm_XY runs on GPUs of the same X and at least that Y; "a" on exactly it. */
int ig_cuda_level_rank(const char *level, int major, int minor) {
    unsigned number = 0;
    int used = 0;
    if (sscanf(level, "sm_%3u%n", &number, &used) != 1) {
        return 0;
    }
    bool is_exact = level[used] == 'a' && level[used + 1] == '\0';
    if (level[used] != '\0' && !is_exact) {
        return 0;
    }
    int x = (int)number / 10, y = (int)number % 10;
    bool runs = x == major && (is_exact ? y == minor : y <= minor);
    return runs ? 2 * (int)number + is_exact : 0;
}

int ig_cuda_rank(const ig_cuda *gpu, const char *level) {
    return ig_cuda_level_rank(level, gpu->major, gpu->minor);
}

/* ---- opening ---- */

static ig_status find_device(ig_cuda *gpu, int ordinal, const ig_message *message) {
    const ig_cuda_driver *d = &gpu->driver;
    int count = 0;
    IG_TRY(ig_cuda_driver_check(d, d->initialise(0), "the CUDA driver does not start",
                                message));
    IG_TRY(ig_cuda_driver_check(d, d->device_count(&count), "GPUs", message));
    if (ordinal < 0 || ordinal >= count) {
        return ig_message_set(message, IG_UNSUPPORTED,
                              "there is no GPU %d; there are %d", ordinal, count);
    }
    int error = d->device_get(&gpu->device, ordinal);
    error = error ? error
                  : d->device_attribute(&gpu->major, CAPABILITY_MAJOR, gpu->device);
    error = error ? error
                  : d->device_attribute(&gpu->minor, CAPABILITY_MINOR, gpu->device);
    return ig_cuda_driver_check(d, error, "facts of the GPU", message);
}

static ig_status open_stream(ig_cuda *gpu, const ig_message *message) {
    const char *what = "a stream";
    IG_TRY(enter(gpu, what, message));
    int error = gpu->driver.stream_create(&gpu->stream, NON_BLOCKING);
    return leave(gpu, error, what, message);
}

static ig_status open_gpu(ig_cuda *gpu, int ordinal, const ig_message *message) {
    IG_TRY(ig_cuda_driver_open(&gpu->driver, message));
    IG_TRY(find_device(gpu, ordinal, message));
    int error = gpu->driver.context_retain(&gpu->context, gpu->device);
    IG_TRY(ig_cuda_driver_check(&gpu->driver, error, "the GPU's context", message));
    return open_stream(gpu, message);
}

ig_status ig_cuda_open(int ordinal, ig_cuda **out_gpu, const ig_message *message) {
    *out_gpu = NULL;
    ig_cuda *gpu = calloc(1, sizeof *gpu);
    if (!gpu) {
        return ig_message_set(message, IG_LIMIT, "out of memory");
    }
    ig_status status = open_gpu(gpu, ordinal, message);
    if (status != IG_OK) {
        ig_cuda_close(gpu);
        return status;
    }
    *out_gpu = gpu;
    return IG_OK;
}

void ig_cuda_close(ig_cuda *gpu) {
    if (gpu && gpu->stream && enter(gpu, "closing", &silence) == IG_OK) {
        leave(gpu, gpu->driver.stream_destroy(gpu->stream), "closing", &silence);
    }
    if (gpu && gpu->context) {
        gpu->driver.context_release(gpu->device);
    }
    free(gpu);
}

/* ---- memory ---- */

ig_status ig_cuda_alloc(ig_cuda *gpu, size_t size, ig_cuda_address *out_address,
                        const ig_message *message) {
    const char *what = "memory of the GPU";
    *out_address = 0;
    if (size == 0) {
        return IG_OK;
    }
    IG_TRY(enter(gpu, what, message));
    return leave(gpu, gpu->driver.memory_alloc(out_address, size), what, message);
}

void ig_cuda_free(ig_cuda *gpu, ig_cuda_address address) {
    if (address && enter(gpu, "freeing", &silence) == IG_OK) {
        leave(gpu, gpu->driver.memory_free(address), "freeing", &silence);
    }
}

ig_status ig_cuda_copy_in(ig_cuda *gpu, ig_cuda_address to, const void *from,
                          size_t size, const ig_message *message) {
    const char *what = "a copy to the GPU";
    if (size == 0) {
        return IG_OK;
    }
    IG_TRY(enter(gpu, what, message));
    int error = gpu->driver.copy_in(to, from, size, gpu->stream);
    return leave(gpu, error, what, message);
}

ig_status ig_cuda_copy_out(ig_cuda *gpu, void *to, ig_cuda_address from, size_t size,
                           const ig_message *message) {
    const char *what = "a copy from the GPU";
    if (size == 0) {
        return IG_OK;
    }
    IG_TRY(enter(gpu, what, message));
    int error = gpu->driver.copy_out(to, from, size, gpu->stream);
    return leave(gpu, error, what, message);
}

ig_status ig_cuda_copy(ig_cuda *gpu, ig_cuda_address to, ig_cuda_address from,
                       size_t size, const ig_message *message) {
    const char *what = "a copy on the GPU";
    if (size == 0) {
        return IG_OK;
    }
    IG_TRY(enter(gpu, what, message));
    int error = gpu->driver.copy_within(to, from, size, gpu->stream);
    return leave(gpu, error, what, message);
}

/* ---- code ---- */

ig_status ig_cuda_load(ig_cuda *gpu, const void *cubin, ig_cuda_image *out_image,
                       const ig_message *message) {
    const char *what = "code for the GPU";
    *out_image = (ig_cuda_image){ NULL };
    IG_TRY(enter(gpu, what, message));
    int error = gpu->driver.module_load(&out_image->module, cubin);
    return leave(gpu, error, what, message);
}

void ig_cuda_unload(ig_cuda *gpu, ig_cuda_image *image) {
    if (image->module && enter(gpu, "unloading", &silence) == IG_OK) {
        leave(gpu, gpu->driver.module_unload(image->module), "unloading", &silence);
    }
    image->module = NULL;
}

ig_status ig_cuda_find(ig_cuda *gpu, const ig_cuda_image *image, const char *name,
                       ig_cuda_kernel *out_kernel, const ig_message *message) {
    *out_kernel = (ig_cuda_kernel){ NULL };
    IG_TRY(enter(gpu, name, message));
    int error = gpu->driver.module_function(&out_kernel->function, image->module, name);
    return leave(gpu, error, name, message);
}

/* ---- launches ---- */

ig_status ig_cuda_launch_kernel(ig_cuda *gpu, const ig_cuda_launch *launch,
                                const ig_message *message) {
    const char *what = "a launch";
    ig_cuda_address arguments[3] = { launch->buffers, launch->params, launch->report };
    void *parameters[] = { &arguments[0], &arguments[1], &arguments[2] };
    if (launch->grid <= 0) {
        return IG_OK;
    }
    if (launch->grid > INT_MAX) {
        return ig_message_set(message, IG_LIMIT,
                              "a launch of %lld blocks; the GPU takes %d",
                              (long long)launch->grid, INT_MAX);
    }
    IG_TRY(enter(gpu, what, message));
    int error = gpu->driver.launch(launch->kernel.function, (unsigned)launch->grid, 1,
                                   1, launch->threads, 1, 1, 0, gpu->stream, parameters,
                                   NULL);
    return leave(gpu, error, what, message);
}

ig_status ig_cuda_sync(ig_cuda *gpu, const ig_message *message) {
    const char *what = "work on the GPU";
    IG_TRY(enter(gpu, what, message));
    return leave(gpu, gpu->driver.stream_sync(gpu->stream), what, message);
}
