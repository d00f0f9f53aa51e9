/* Emitted text made into a library that runs on this machine.
 * SPDX-License-Identifier: Apache-2.0
 *
 * For the NVRTC that stands in (its cubins are such libraries), and for the driver
 * that does (which compiles PTX: text with the source in it).
 */
#ifndef IG_TESTS_CUDA_HOST_NVRTC_BUILD_H
#define IG_TESTS_CUDA_HOST_NVRTC_BUILD_H

#include <stdbool.h>
#include <stddef.h>

typedef struct build {
    char *bytes; /* of the library; NULL: it was not made.  malloc. */
    size_t size;
    char *log; /* what the compiler said, as NVRTC says it.  malloc. */
} build;

/* For an architecture such as "sm_80".  The compiler is $CXX, or c++.  A library of a
 * text met before is taken from $INGOT_STAND_IN_CACHE, a folder, where that is set. */
build build_library(const char *source, const char *architecture);
void build_drop(build *made);

/* Calls `take` for each kernel of a text; `max_threads` as its launch bounds have it,
 * 0 where it has none. */
typedef void build_take_kernel(void *user, const char *name, size_t length,
                               unsigned max_threads);
void build_list_kernels(const char *source, build_take_kernel *take, void *user);

#endif
