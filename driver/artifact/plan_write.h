/* A lowered plan graph as the records of an artifact.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_DRIVER_ARTIFACT_PLAN_WRITE_H
#define IG_DRIVER_ARTIFACT_PLAN_WRITE_H

#include "driver/artifact/write.h"
#include "ir/interpret/interpret.h"

/* One level's lowering of the same plan: equal but for its launches. */
typedef struct ig_plan_level {
    const char *name; /* "v3" */
    const ig_graph *graph;
} ig_plan_level;

typedef IG_VEC(ig_origins) ig_origins_vec;

typedef struct ig_plan_input {
    const ig_plan_level *levels;
    uint32_t level_count;
    const ig_tensor *recipes;  /* results of @weights, or NULL */
    bool refers;               /* weights in files stay there */
    const char *artifact_path; /* files are named relative to it, or NULL */
    /* The hash of bytes that stay in a file. */
    ig_hash128 (*hash_of)(void *user, const void *bytes, size_t size);
    void *hash_user;
    ig_origins_vec *step_origins; /* out: of each step of the plan */
} ig_plan_input;

/* Fills symbols, ports, guards, buffers, constants, kernels and steps.  Kernel numbers
 * are positions in w->kernels, whose names are graphs of the modules of those levels
 * that have them. */
ig_status ig_plan_write(ig_artifact_writer *w, const ig_plan_input *input);

/* Name of kernel number `number` for level `level`, or NULL when it is another's. */
const char *ig_plan_kernel_name(const ig_artifact_writer *w, const ig_plan_level *level,
                                uint32_t index);

#endif
