/* Opening code generators.
 * SPDX-License-Identifier: Apache-2.0
 *
 * libLLVM costs 13 ms and 49 MB before main, so what links it is a library of its own,
 * opened when something must really be compiled.  It stays open until the process ends:
 * LLVM's own statics do not survive being closed.
 */
#include "codegen/cuda/cuda.h"
#include "codegen/null/null.h"
#include "driver/host.h"
#include "ingot_build_id.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROVIDER "libingot-llvm.so"

static void *open_beside_us(char *tried, size_t size) {
    Dl_info here;
    if (!dladdr((const void *)&ig_backend_null, &here) || !here.dli_fname) {
        return NULL;
    }
    const char *slash = strrchr(here.dli_fname, '/');
    int length = slash ? (int)(slash - here.dli_fname) : 1;
    snprintf(tried, size, "%.*s/" PROVIDER, length, slash ? here.dli_fname : ".");
    return dlopen(tried, RTLD_NOW | RTLD_LOCAL);
}

static void *open_provider(char *tried, size_t size) {
    void *library = open_beside_us(tried, size);
    const char *folder = secure_getenv("INGOT_PROVIDER_DIR");
    if (!library && folder) {
        snprintf(tried, size, "%s/" PROVIDER, folder);
        library = dlopen(tried, RTLD_NOW | RTLD_LOCAL);
    }
    return library;
}

static ig_status open_llvm(ig_context *context, const ig_backend **out_backend) {
    char tried[4096] = PROVIDER;
    errno = 0;
    void *library = open_provider(tried, sizeof tried);
    if (!library) {
        bool is_memory = errno == ENOMEM;
        const char *why = dlerror();
        if (is_memory) {
            return ig_error(&context->diag, IG_LIMIT, NULL,
                            "no memory for the code generator: %s", why ? why : tried);
        }
        return ig_error_hint(&context->diag, IG_UNSUPPORTED, NULL,
                             "install the package with " PROVIDER
                             " (it needs LLVM 19), or set INGOT_PROVIDER_DIR",
                             "cannot open the code generator: %s", why ? why : tried);
    }
    ig_provider_fn *entry = NULL;
    *(void **)&entry = dlsym(library, IG_PROVIDER_ENTRY);
    *out_backend = entry ? entry(INGOT_BUILD_ID) : NULL;
    if (!*out_backend) {
        return ig_error_hint(&context->diag, IG_UNSUPPORTED, NULL,
                             "install both libraries from one build",
                             "%s is of another build than this compiler", tried);
    }
    return IG_OK;
}

ig_status ig_driver_backend(ig_context *context, const ig_target *target,
                            const ig_backend **out_backend) {
    if (target->family != IG_FAMILY_GPU) {
        return open_llvm(context, out_backend);
    }
    *out_backend = &ig_backend_cuda;
    return IG_OK;
}
