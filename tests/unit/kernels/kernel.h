/* Kernels for tests of the runtime: plain C in place of generated code.
 * SPDX-License-Identifier: Apache-2.0
 *
 * One function a file, named `kernel`.  kernels.cmake takes its .text as an image with
 * the entry at 0, so a kernel must not need read-only data, other functions or
 * relocations; the build fails when it does. */
#ifndef IG_TESTS_UNIT_KERNELS_KERNEL_H
#define IG_TESTS_UNIT_KERNELS_KERNEL_H

#include "ingot/kernel.h"

ig_kernel_fn_v0 kernel;

#endif
