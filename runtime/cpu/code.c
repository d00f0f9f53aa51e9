/* Machine code where it can be run: in the program's own text, mapped from the
 * artifact's file, or in a file in memory that is sealed before it is mapped.
 * SPDX-License-Identifier: Apache-2.0
 *
 * No page is ever writable and executable, nor was one writable before it became
 * executable, so that all this works where the system forbids such pages
 * (PR_SET_MDWE, systemd's MemoryDenyWriteExecute).
 */
#include "runtime/cpu/code.h"

#include "base/platform/platform_errno.h"
#include "base/platform/platform_open.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SEALS = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE };

/* True where it is mapped into the image; else errno tells why not. */
static bool map_code(int file, uint64_t offset, size_t size,
                     ig_device_code *out_image) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, file,
                        (off_t)offset);
    if (memory == MAP_FAILED) {
        return false;
    }
    *out_image = (ig_device_code){ memory, size, memory };
    return true;
}

static bool write_code(int file, const ig_code_source *source) {
    for (size_t done = 0; done < source->size;) {
        ssize_t wrote = write(file, (const char *)source->bytes + done,
                              source->size - done);
        if (wrote < 0 && errno != EINTR) {
            return false;
        }
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    return true;
}

/* What could not be done, with errno, or NULL. */
static const char *load_sealed(const ig_code_source *source,
                               ig_device_code *out_image) {
    int file = memfd_create("ingot-code", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    const char *failed = NULL;
    if (file < 0) {
        return "memfd_create";
    }
    if (!write_code(file, source) || fcntl(file, F_ADD_SEALS, SEALS) != 0) {
        failed = "sealing a memfd";
    } else if (!map_code(file, 0, source->size, out_image)) {
        failed = "mmap of a memfd with PROT_EXEC";
    }
    int reason = errno;
    (void)ig_close(file);
    errno = reason;
    return failed;
}

static bool lacks_memory(void) {
    return errno == ENOMEM || errno == ENOSPC || errno == EMFILE || errno == ENFILE;
}

ig_status ig_cpu_code_load(const ig_device *device, const ig_code_source *source,
                           ig_device_code *out_image, const ig_message *message) {
    char why[IG_WHY_SIZE];
    (void)device;
    *out_image = (ig_device_code){ NULL, 0, NULL };
    if (source->size == 0) {
        return IG_OK;
    }
    if (source->is_text) {
        *out_image = (ig_device_code){ source->bytes, source->size, NULL };
        return IG_OK;
    }
    bool is_paged = source->offset % (uint64_t)sysconf(_SC_PAGESIZE) == 0;
    const char *failed = "mmap";
    if (source->file >= 0 && is_paged &&
        map_code(source->file, source->offset, source->size, out_image)) {
        return IG_OK;
    }
    if (source->file < 0 || !is_paged || !lacks_memory()) {
        failed = load_sealed(source, out_image);
    }
    if (!failed) {
        return IG_OK;
    }
    if (lacks_memory()) {
        return ig_message_set(message, IG_LIMIT, "out of memory for %zu bytes of code",
                              source->size);
    }
    ig_errno_explain(errno, why);
    return ig_message_set(
        message, IG_UNSUPPORTED,
        "this system forbids code from memory (%s: %s); open an artifact in a file "
        "that may be mapped executable, or link the model into the program",
        failed, why);
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
