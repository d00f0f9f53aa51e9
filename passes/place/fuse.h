/* The interface between the files of fuse.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_PLACE_FUSE_H
#define IG_PASSES_PLACE_FUSE_H

#include "ir/families.h"
#include "passes/engine/pass.h"

enum { IG_REGION_OPS = 64 };

typedef struct ig_fuse_region {
    ig_kernel_family family;
    struct ig_fuse_region *merged_into; /* its ops are that region's now */
    const ig_op *tried;  /* the root from which it could not go on as one */
    IG_VEC(ig_op *) ops; /* in order; the last is the root */
} ig_fuse_region;

typedef struct ig_fuser {
    ig_pass_run *run;
    ig_map region_of; /* op -> region */
    IG_VEC(ig_fuse_region *) regions;
} ig_fuser;

/* The region that has `op` now, or NULL. */
ig_fuse_region *ig_fuse_region_of(ig_fuser *f, const ig_op *op);

/* The ops of `from` become the last ones of `into`. */
void ig_fuse_draw_in(ig_fuser *f, ig_fuse_region *into, ig_fuse_region *from);

/* fuse_attention.c */
void ig_fuse_attention(ig_fuser *f, const ig_block *block);

#endif
