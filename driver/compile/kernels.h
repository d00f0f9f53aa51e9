/* Compiling kernels: from the cache, or by a team of threads.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_DRIVER_COMPILE_KERNELS_H
#define IG_DRIVER_COMPILE_KERNELS_H

#include "driver/artifact/write.h"
#include "driver/host.h"

/* Kernels to be compiled: one, or all of a program together where the target
 * has_modules.  `out` is filled. */
typedef struct ig_kernel_job {
    const ig_target *target;
    const ig_graph *const *kernels;
    size_t count;
    ig_artifact_kernel *out;
    ig_str key; /* private: of the cache */
} ig_kernel_job;

typedef struct ig_compile_team ig_compile_team;

/* NULL when malloc fails.  `folder` is the cache's, or NULL; code with debug
 * information (`wants_debug`) is compiled anew each time. */
ig_compile_team *ig_compile_team_create(ig_context *context, const char *folder,
                                        bool wants_debug);
/* Has other threads begin with the jobs, once a team.  The caller may read their
 * modules meanwhile. */
void ig_compile_team_start(ig_compile_team *team, ig_kernel_job *jobs, size_t count);
/* Does the rest of them on the caller's thread too, and waits for all.  Code is the
 * team's until it is destroyed.  Messages come in the order of the jobs' workers, the
 * caller's own first. */
ig_status ig_compile_team_finish(ig_compile_team *team);
/* Stops the threads of a team that was not finished. */
void ig_compile_team_destroy(ig_compile_team *team);

#endif
