/* Ops whose CUDA text is more than a format.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_CODEGEN_CUDA_PRINT_H
#define IG_CODEGEN_CUDA_PRINT_H

#include "codegen/cuda/emit.h"

#define TEXT(name, format)
#define INTS(name, format)
#define LINE(name, format)
#define CALL(name) ig_status ig_cuda_print_##name(ig_cuda_emitter *e, const ig_op *op);
#include "codegen/cuda/emit.def"
#undef TEXT
#undef INTS
#undef LINE
#undef CALL

#endif
