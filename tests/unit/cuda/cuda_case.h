/* A tensor graph run twice: by the interpreter, and through the passes and the GPU's
 * schedules; the test compares.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The plan is resolved by the plainest means (a buffer an alloc, launches in order).
 * What runs a launch - the interpreter of kernel form, a GPU, the stand-ins - is the
 * test's choice.
 */
#ifndef IG_TESTS_UNIT_CUDA_CUDA_CASE_H
#define IG_TESTS_UNIT_CUDA_CUDA_CASE_H

#include "codegen/cuda/cuda.h"
#include "ingot/kernel.h"
#include "ir/interpret/interpret.h"
#include "ir/interpret/kernel.h"
#include "passes/engine/pass.h"
#include "tests/unit/cuda/cuda_library.h"
#include "tests/unit/unit.h"

enum { CUDA_CASE_BUFFERS = 256, CUDA_CASE_PARAMS = 2048, CUDA_CASE_LAUNCHES = 1024 };

/* One launch with everything known. */
typedef struct cuda_launch {
    const ig_graph *kernel;
    ig_kernel_buffer buffers[CUDA_CASE_BUFFERS];
    int64_t params[CUDA_CASE_PARAMS];
    uint32_t buffer_count, param_count, threads;
    int64_t grid;
} cuda_launch;

typedef struct cuda_case {
    ig_context context;
    char last[65536]; /* the last diagnostic */
    ig_arena arena;
    const ig_target *target;
    bool tf32; /* f32 products may be of tf32 */
    ig_module *module;
    ig_graph *graph;
    ig_tensor inputs[64], expected[16], got[16];
    int64_t symbols[256];
    ig_map memory;                    /* root value -> ig_kernel_buffer */
    IG_VEC(ig_kernel_buffer *) roots; /* the same, in order */
    const ig_tensor *recipes;
    cuda_launch *launches;
    uint32_t launch_count;
    ig_kernel_report_v0 report; /* the least of all launches; operand -1: none */
} cuda_case;

/* Runs all launches of the case in order; a failure's words are in c->last. */
typedef ig_status cuda_run(cuda_case *c);

/* A context that keeps its last diagnostic; no module yet. */
void cuda_case_init(cuda_case *c, const char *target);
/* Reads `text`; symbol i gets the value extents[i].  Inputs are floats in [-1, 1) and
 * integers below `bound`. */
void cuda_case_open(cuda_case *c, const char *target, const char *text,
                    const int64_t *extents, int64_t bound);
/* The same on inputs of the caller, whose extents the symbols have. */
ig_status cuda_case_take(cuda_case *c, const char *text, const ig_tensor *inputs);
void cuda_case_close(cuda_case *c);
/* Runs a pipeline and verifies. */
void cuda_case_passes(cuda_case *c, const char *pipeline);
/* Interprets the graph, lowers it and resolves its launches. */
void cuda_case_lower(cuda_case *c);
/* The plan of a module that is lowered: its launches and where results will be.
 * IG_UNSUPPORTED, with words, where something else is in the plan. */
ig_status cuda_case_resolve(cuda_case *c);
/* The text of all kernels, in the case's arena; NULL, with words in c->last. */
const char *cuda_case_source(cuda_case *c);
/* Runs; any failure ends the test. */
void cuda_case_run(cuda_case *c, cuda_run *run);
/* Relative RMS of floats within `bound`; everything else equal; nothing reported. */
void cuda_case_compare(cuda_case *c, double bound);

/* All of it on one text; `prepare` (may be NULL) sets inputs first. */
typedef struct cuda_text {
    const char *text;
    const int64_t *extents;
    int64_t bound;
    void (*prepare)(cuda_case *c);
    bool tf32;
} cuda_text;
void cuda_case_check(const cuda_text *text, cuda_run *run);

/* By the interpreter of kernel form, in lockstep, races checked: one launch, or all. */
ig_status cuda_interpret_launch(cuda_case *c, const cuda_launch *l);
cuda_run cuda_run_interpreter;

/* ---- texts that several tests run ---- */

/* relu(x w + b), or another epilogue in %1 and %r. */
void cuda_check_gemm(cuda_run *run, const int64_t sizes[3], const char *epilogue);
/* The same where both factors are of `dtype` (f32: tf32), with sums in f32. */
void cuda_check_fragments(cuda_run *run, const int64_t sizes[3], const char *dtype);
typedef struct cuda_bag {
    int64_t rows, dim, ids, bags;
    const char *attributes;
} cuda_bag;
void cuda_check_bag(cuda_run *run, cuda_bag bag);
/* Bags over tables of every format that has a kernel. */
void cuda_check_tables(cuda_run *run);
/* The lower triangle of `rows` rows of `depth`. */
void cuda_check_interaction(cuda_run *run, int64_t samples, int64_t rows,
                            int64_t depth);
/* A whole model, tests/models/NAME.ig, with random weights; its first symbol is
 * `extent`. */
void cuda_check_model(cuda_run *run, const char *name, int64_t extent);
/* Inputs in pairs: ids, offsets, some bags empty. */
void cuda_set_offsets(cuda_case *c);

#endif
