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

const char ig_pipeline_clean[] = "add_guards,(infer,guards,canonicalise,fold,cse,dce)*";
const char ig_pipeline_understand[] =
    "fold_flow,unify,(infer,guards,canonicalise,fold,cse,dce)*,jagged_insert,dce,"
    "bounds,bag_whole,fold,cse,dce,bag_shards,dce,"
    "bag_loop,bag_sequence,bag_unrolled,bag_fixed,"
    "(unroll,infer,guards,canonicalise,fold,cse,dce)*,"
    "bag_gather,bag_offsets,dce,bag_merge,interaction,"
    "recognise_gelu,recognise_norm,recognise_attention,recognise_dequantise,"
    "recognise_integer,"
    "unify,(infer,guards,canonicalise,fold,cse,dce)*,roles";
const char ig_pipeline_branches[] =
    "(branch_extents,infer,guards,canonicalise,fold,cse,dce)*";
const char ig_pipeline_grad[] = "unify,(infer,guards,canonicalise,fold,cse,dce)*";
const char ig_pipeline_place[] =
    "(flatten_sequences,infer,guards,canonicalise,fold,cse,dce)*,"
    "(decompose,infer,guards,canonicalise,fold,cse,dce)*,"
    "(channels_last,infer,guards,canonicalise,fold,cse,dce)*,pack,"
    "(dequantise,infer,guards,canonicalise,fold,cse,dce)*,"
    "whole_bytes,resolve_shapes,sink,fuse,bufferise,copies,order,tile_rows,prepare";
const char ig_pipeline_lower[] = "lower";
const char ig_pipeline_sanitize[] = "sanitize";
