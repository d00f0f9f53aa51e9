/* Printing kernel form as CUDA C++.
 * SPDX-License-Identifier: Apache-2.0
 *
 * One kernel graph becomes one function, all of one type:
 *
 *     extern "C" __global__ void gemm_relu(void *const *buffers,
 *                                          const long long *params,
 *                                          ig_kernel_report *report)
 *
 * Both arrays are in device memory, so their length has no limit.  Every value is a C++
 * variable v<id>.  A block of threads works on one tile: `tiles` is [blockIdx.x,
 * blockIdx.x + 1).  A value of several lanes is an ig_vec, loaded and stored as one and
 * computed lane by lane.
 *
 * The text needs nothing but the preamble (preamble.c), which compiles under NVRTC and,
 * with a few macros before it, as C++ on a CPU (tests/cuda_host/).
 */
#ifndef IG_CODEGEN_CUDA_EMIT_H
#define IG_CODEGEN_CUDA_EMIT_H

#include "base/writer.h"
#include "ir/ops.h"

typedef struct ig_cuda_emitter {
    const ig_graph *kernel;
    ig_writer *out;
    ig_arena *arena;
    int depth;
    ig_str *names; /* by value id */
    uint32_t lane; /* that is printed, from 1; 0: whole values */
} ig_cuda_emitter;

/* Helper functions and types that every kernel's text may use; no includes.  Texts of
 * several kernels may be in one file, each after its preamble. */
void ig_cuda_emit_preamble(ig_writer *out);

/* Appends the function of `kernel` (without the preamble). */
ig_status ig_cuda_emit_kernel(const ig_graph *kernel, ig_writer *out);

/* ---- for the rows of emit.def ---- */

ig_status ig_cuda_emit_block(ig_cuda_emitter *e, const ig_block *block);
ig_str ig_cuda_name(const ig_cuda_emitter *e, const ig_value *value);
/* Of one lane; NULL where CUDA has none. */
const char *ig_cuda_type(const ig_type *type);
/* Of all lanes. */
const char *ig_cuda_whole_type(const ig_value *value);
/* Starts a line. */
void ig_cuda_indent(ig_cuda_emitter *e);
/* Starts one with "T const v = ". */
void ig_cuda_declare(ig_cuda_emitter *e, const ig_value *value);
/* "INTERNAL: kernel, op: what". */
ig_status ig_cuda_fail(const ig_cuda_emitter *e, const ig_op *op, const char *what);

#endif
