/* Which launches have one kernel: computes that say the same are lowered once, and
 * kernels that turn out equal are one.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_LOWER_SHARE_H
#define IG_PASSES_LOWER_SHARE_H

#include "ir/build/build_ops.h"
#include "passes/lower/lower.h"

typedef struct ig_kernel_share {
    ig_arena *arena;
    ig_map launches; /* the description of a compute -> ig_launch_attrs, without work */
    ig_map kernels;  /* hash -> the kernels that have it, newest first */
} ig_kernel_share;

/* Starts with the kernels that the module already has. */
void ig_kernel_share_init(ig_kernel_share *share, const ig_module *module,
                          ig_arena *arena);

/* All that a schedule reads of a compute, as bytes in `arena`: its family and body, and
 * types, strides and starts of its operands, but not which values they are. */
ig_str ig_compute_key(const ig_op *compute, ig_arena *arena);

/* A kernel that equals this one, or NULL, and then this one is known from now on. */
ig_graph *ig_kernel_share_find(ig_kernel_share *share, ig_graph *kernel);

/* The launch of a compute with the same key, or NULL. */
const ig_launch_attrs *ig_kernel_share_launch(const ig_kernel_share *share, ig_str key);
/* Copies the launch; `work` is each compute's own. */
void ig_kernel_share_keep(ig_kernel_share *share, ig_str key,
                          const ig_launch_attrs *launch);

#endif
