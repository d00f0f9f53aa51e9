/* From a module to the parts of an artifact.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     lower.c        the pipeline as far as a stage
 *     compilation.c  a lowered module: kernels, recipes, plan, container
 *     compile.c      the public functions: caches, files, programs in memory
 */
#ifndef IG_DRIVER_COMPILE_COMPILE_H
#define IG_DRIVER_COMPILE_COMPILE_H

#include "driver/host.h"
#include "driver/targets.h"
#include "driver/compile/kernels.h"
#include "driver/cache/payload.h"
#include "driver/artifact/plan_write.h"
#include "passes/engine/pass.h"

/* One module lowered for each target. */
typedef struct ig_lowered {
    ig_module *modules[IG_LEVELS];
    uint32_t count;
    ig_target_list targets;
    bool is_stopped; /* by options->stop_after */
    /* Called after each pass, where the caller sets it. */
    void (*watch)(void *user, const char *pass, uint32_t index,
                  const ig_module *module);
    void *watch_user;
} ig_lowered;

/* Clones `module` for each target and takes the clones through the pipeline as far as
 * `stage`: "tensor", "plan" or "kernel".  `out` must be zero but for `watch`; its
 * content after a failure, or after memory ran out, is still to be finished. */
ig_status ig_module_lower(const ig_module *module, const ig_compile_options *options,
                          const char *stage, ig_lowered *out);
void ig_lowered_fini(ig_lowered *lowered);

/* The first op of this code in the block and the bodies in it, or NULL.  Bodies nest at
 * most limits.graph_depth deep. */
const ig_op *ig_contained_op(const ig_block *block, ig_opcode code);

/* One compilation.  It is outside of the recovery point and owns everything. */
typedef struct ig_compilation {
    const ig_module *module;
    ig_compile_options options; /* whole, whatever the caller's version */
    const char *path;           /* of the artifact; NULL: a program in memory */
    const char *folder;         /* of the cache, or NULL */
    ig_arena arena;
    ig_payloads payloads;
    ig_lowered lowered;
    ig_compile_team *team;
    const ig_artifact_entry *extra; /* of the container, beside its own */
    size_t extra_count;
    ig_file_part *parts; /* the container: in arena, modules and team */
    size_t part_count;
    bool refers;        /* the container leaves constants in files */
    int64_t kernel_ops; /* the limit as it was; 0: not touched */
} ig_compilation;

void ig_compilation_init(ig_compilation *build, const ig_module *module,
                         const ig_compile_options *options);
ig_status ig_compilation_run(ig_compilation *build);
void ig_compilation_fini(ig_compilation *build);

/* INVALID, with words, when `path` is a file that the module reads: writing it would
 * lose the model. */
ig_status ig_check_output_path(const ig_module *module, const char *path);

#endif
