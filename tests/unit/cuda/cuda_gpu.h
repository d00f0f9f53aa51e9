/* Launches of a case through NVRTC and runtime/cuda, on a GPU or on the stand-ins.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TESTS_UNIT_CUDA_CUDA_GPU_H
#define IG_TESTS_UNIT_CUDA_CUDA_GPU_H

#include "tests/unit/cuda/cuda_case.h"

/* False, counted as a skip with the reason, where there is no GPU or no NVRTC.  True
 * behind cuda_open_stand_ins. */
bool cuda_has_gpu(void);
/* The level of GPU 0; only where there is one. */
const ig_target *cuda_gpu_target(void);

/* Cubins on GPU 0. */
cuda_run cuda_run_gpu;
/* The same, and after each launch all memory has the bits that the interpreter of
 * kernel form leaves there.  Not on a GPU, whose own functions round in their own
 * way. */
cuda_run cuda_run_checked;

#endif
