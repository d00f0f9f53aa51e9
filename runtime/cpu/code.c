/* Machine code in memory: written first, then made read-only and executable.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/cpu/code.h"

#include "base/checked.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static ig_status refuse_memory(const ig_message *message, size_t size) {
    return ig_message_set(message, IG_LIMIT, "out of memory for %zu bytes of code",
                          size);
}

ig_status ig_cpu_code_load(const ig_device *device, const void *code, size_t size,
                           ig_device_code *out_image, const ig_message *message) {
    (void)device;
    *out_image = (ig_device_code){ NULL, 0, NULL };
    if (size == 0) {
        return IG_OK;
    }
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t mapped = ig_align_up(size, page);
    void *memory = mmap(NULL, mapped, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return refuse_memory(message, size);
    }
    memcpy(memory, code, size);
    if (mprotect(memory, mapped, PROT_READ | PROT_EXEC) != 0) {
        bool is_memory = errno == ENOMEM;
        munmap(memory, mapped);
        if (is_memory) {
            return refuse_memory(message, size);
        }
        return ig_message_set(
            message, IG_UNSUPPORTED,
            "this system does not let a process run code that it loads");
    }
    *out_image = (ig_device_code){ memory, mapped, memory };
    return IG_OK;
}

void ig_cpu_code_unload(const ig_device *device, ig_device_code *image) {
    (void)device;
    if (image->handle) {
        munmap(image->handle, image->size);
    }
    *image = (ig_device_code){ NULL, 0, NULL };
}

ig_status ig_cpu_code_find(const ig_device *device, const ig_device_code *image,
                           ig_kernel_id id, ig_device_kernel *out_kernel,
                           const ig_message *message) {
    (void)device;
    if (id.entry >= image->size) {
        return ig_message_set(message, IG_INVALID,
                              "kernel '%s' is missing from the code", id.name);
    }
    out_kernel->call = (ig_kernel_fn_v0 *)((uintptr_t)image->bytes + id.entry);
    return IG_OK;
}
