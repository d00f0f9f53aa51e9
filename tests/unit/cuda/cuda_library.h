/* The stand-ins for CUDA (tests/cuda_host), and C++ compiled on this machine.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TESTS_UNIT_CUDA_CUDA_LIBRARY_H
#define IG_TESTS_UNIT_CUDA_CUDA_LIBRARY_H

#include <stdbool.h>

/* A shared object in a folder of its own. */
typedef struct cuda_library {
    char folder[40], path[64];
} cuda_library;

bool cuda_find_compiler(void);
/* False, counted as a skip, where there is no C++ compiler. */
bool cuda_has_compiler(void);
/* Compiles `text` with further `flags`. */
cuda_library cuda_library_build(const char *text, const char *flags);
void cuda_library_remove(const cuda_library *library);

/* Makes the stand-ins of tests/cuda_host the CUDA driver and the NVRTC of this process:
 * a library that is open is found by its soname.  False, counted as a skip, where there
 * is no C++ compiler. */
bool cuda_open_stand_ins(void);
/* A function of stand_in.h in the driver. */
void *cuda_stand_in(const char *name);

#endif
