/* Launches of a case through runtime/cuda, on a GPU or on the driver that has none.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TESTS_UNIT_CUDA_CUDA_GPU_H
#define IG_TESTS_UNIT_CUDA_CUDA_GPU_H

#include "tests/unit/cuda/cuda_case.h"

/* False, counted as a skip with the reason, where there is no GPU or no NVRTC. */
bool cuda_has_gpu(void);
/* The level of GPU 0; only where there is one. */
const ig_target *cuda_gpu_target(void);

cuda_run cuda_run_gpu;    /* cubins on GPU 0 */
cuda_run cuda_run_driver; /* libraries on tests/cuda_host/driver.cc */

#endif
