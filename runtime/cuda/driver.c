/* The CUDA driver, opened at run time.  SPDX-License-Identifier: Apache-2.0 */
#include "runtime/cuda/driver.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

typedef struct driver_symbol {
    const char *name;
    size_t offset;
} driver_symbol;

static const driver_symbol symbols[] = {
#define DRIVER(name, symbol, parameters) { #symbol, offsetof(ig_cuda_driver, name) },
#include "runtime/cuda/driver.def"
#undef DRIVER
};

ig_status ig_cuda_driver_open(ig_cuda_driver *out_driver, const ig_message *message) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        return ig_message_set(
            message, IG_UNSUPPORTED,
            "there is no CUDA driver here (libcuda.so.1 was not found)");
    }
    out_driver->library = library;
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *address = dlsym(library, symbols[i].name);
        if (!address) {
            dlclose(library);
            return ig_message_set(message, IG_UNSUPPORTED,
                                  "the CUDA driver has no %s: it is too old",
                                  symbols[i].name);
        }
        memcpy((char *)out_driver + symbols[i].offset, &address, sizeof address);
    }
    return IG_OK;
}

enum {
    OUT_OF_MEMORY = 2,      /* CUDA_ERROR_OUT_OF_MEMORY */
    NO_DEVICE = 100,        /* CUDA_ERROR_NO_DEVICE */
    NO_BINARY_FOR_GPU = 209 /* CUDA_ERROR_NO_BINARY_FOR_GPU */
};

static ig_status status_of(int error) {
    if (error == OUT_OF_MEMORY) {
        return IG_LIMIT;
    }
    bool is_missing = error == NO_DEVICE || error == NO_BINARY_FOR_GPU;
    return is_missing ? IG_UNSUPPORTED : IG_INTERNAL;
}

ig_status ig_cuda_driver_check(const ig_cuda_driver *driver, int error,
                               const char *what, const ig_message *message) {
    if (error == 0) {
        return IG_OK;
    }
    const char *words = NULL;
    if (driver->error_string(error, &words) != 0 || !words) {
        words = "an unknown error";
    }
    return ig_message_set(message, status_of(error), "%s: %s (CUDA error %d)", what,
                          words, error);
}
