/* The backend of NVIDIA GPUs.  SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_CODEGEN_CUDA_CUDA_H
#define IG_CODEGEN_CUDA_CUDA_H

#include "codegen/backend.h"

extern const ig_backend ig_backend_cuda;

#endif
