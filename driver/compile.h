/* From a module to the parts of an artifact.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_DRIVER_COMPILE_H
#define IG_DRIVER_COMPILE_H

#include "driver/host.h"
#include "driver/plan_write.h"
#include "passes/pass.h"

enum { IG_LEVELS = 8 };

/* The levels that a target text such as "cpu:v3,v4" names; NULL: the host's best. */
typedef struct ig_target_list {
    const ig_target *targets[IG_LEVELS];
    uint32_t         count;
} ig_target_list;

ig_status ig_targets_parse(ig_context *context, const char *text, ig_target_list *out);

/* One module lowered for each target, and the plan they share. */
typedef struct ig_lowered {
    ig_module     *modules[IG_LEVELS]; /* destroyed by ig_lowered_fini */
    uint32_t       count;
    ig_target_list targets;
} ig_lowered;

/* Clones `module` and takes the clone through the default pipeline as far as `stage`:
 * "tensor", "plan" or "kernel". */
ig_status ig_lower_module(const ig_module *module, const ig_compile_options *options,
                          const char *stage, ig_lowered *out);
void      ig_lowered_fini(ig_lowered *lowered);

/* The finished container, in `arena`. */
ig_status ig_compile_parts(const ig_module *module, const ig_compile_options *options,
                           ig_arena *arena, ig_file_part **out_parts,
                           size_t *out_count);

#endif
