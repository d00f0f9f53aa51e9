/* The table of passes and the default pipelines.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/engine/pass.h"

enum { TENSOR = IG_STAGE_TENSOR, PLAN = IG_STAGE_PLAN, KERNEL = IG_STAGE_KERNEL };

const ig_pass ig_passes[] = {
#define PASS(name, stages, stage_after, help) \
    { #name, help, stages, (ig_stage)(stage_after), ig_pass_##name },
#include "passes/engine/passes.def"
#undef PASS
    { NULL, NULL, 0, (ig_stage)0, NULL },
};

/* The passes that every group repeats until none of them changes anything. */
#define SIMPLIFY "infer,guards,canonicalise,fold,cse,dce"

const char ig_pipeline_clean[] = "add_guards,(" SIMPLIFY ")*";
const char ig_pipeline_understand[] =
    "fold_flow,unify,(" SIMPLIFY ")*,jagged_insert,dce,"
    "bounds,bag_whole,fold,cse,dce,bag_shards,dce,"
    "bag_loop,bag_sequence,bag_unrolled,bag_fixed,"
    "(unroll," SIMPLIFY ")*,"
    "bag_gather,bag_offsets,dce,bag_merge,interaction,"
    "recognise_gelu,recognise_norm,recognise_attention,recognise_dequantise,"
    "recognise_integer,"
    "unify,(" SIMPLIFY ")*,roles";
const char ig_pipeline_branches[] = "(branch_extents," SIMPLIFY ")*";
const char ig_pipeline_grad[] = "unify,(" SIMPLIFY ")*";
const char ig_pipeline_place[] =
    "(flatten_sequences," SIMPLIFY ")*,"
    "(decompose," SIMPLIFY ")*,"
    "(channels_last," SIMPLIFY ")*,pack,"
    "(dequantise," SIMPLIFY ")*,"
    "whole_bytes,resolve_shapes,sink,fuse,bufferise,copies,order,tile_rows,prepare";
const char ig_pipeline_lower[] = "lower";
const char ig_pipeline_sanitize[] = "sanitize";
