/* Machine code in memory: written first, then made read-only and executable.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/cpu/code.h"

#include "base/checked.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

ig_status ig_code_load(const void *code, size_t size, ig_image *out_image,
                       const ig_message *message) {
    *out_image = (ig_image){ NULL, 0 };
    if (size == 0) {
        return IG_OK;
    }
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t mapped = ig_align_up(size, page);
    void *memory = mmap(NULL, mapped, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return ig_message_set(message, IG_LIMIT, "out of memory for %zu bytes of code",
                              size);
    }
    memcpy(memory, code, size);
    if (mprotect(memory, mapped, PROT_READ | PROT_EXEC) != 0) {
        munmap(memory, mapped);
        return ig_message_set(
            message, IG_UNSUPPORTED,
            "this system does not let a process run code that it loads");
    }
    *out_image = (ig_image){ memory, mapped };
    return IG_OK;
}

void ig_code_unload(ig_image *image) {
    if (image->memory) {
        munmap(image->memory, image->size);
    }
    *image = (ig_image){ NULL, 0 };
}
