/* Ingot, sharding: what placing tables on ranks would cost, and a rank's program.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef INGOT_SHARD_H
#define INGOT_SHARD_H

#include "ingot/ingot.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Every way to place each table, with memory and time of each shard, by the formulas of
 * TorchRec 1.9's planner for training (docs/sharding.md).
 *
 * `text` is JSON: {"tables": [{"name", "rows", "dim", "row_bytes", "row_factors",
 * "is_sequence"}], "topology": {"world_size",
 * "local_world_size", "compute_device"}, "batch_size", "module", "is_weighted",
 * "constraints": {table: {"sharding_types", "compute_kernels", "min_partition",
 * "pooling_factors"}}} (of a table the last three may be missing: rows of f32, pooled);
 * `name` names it in messages.  *out_json lists the options:
 * sizes and offsets in rows and columns, memory in bytes per rank, times in
 * milliseconds per iteration.  It is the context's until its next call.  Errors:
 * IG_INVALID for bad input, IG_UNSUPPORTED for options without a formula here. */
IG_API IG_MUST_USE ig_status ig_shard_options(ig_context *context, const char *name,
                                              const char *text, const char **out_json);

/* The criterion by which a plan is chosen. */
typedef enum ig_shard_objective {
    IG_SHARD_CRITICAL_PATH, /* phases' slowest ranks and latencies: docs/sharding.md */
    IG_SHARD_TORCHREC       /* as TorchRec 1.9's planner: the busiest rank's sum */
} ig_shard_objective;

/* One option for each table and a rank for each shard, for such a `text` (its topology
 * may have "hbm_cap" and "ddr_cap", bytes of a rank, and "latency_us" of an exchange).
 * *out_json: "tables" with "sharding_type", "compute_kernel" and "shards" (rank, size,
 * offset, hbm, ddr, ms); "ranks" with their sums; milliseconds of the busiest one
 * ("worst_rank"), of the "critical_path", and a "bound" that the path of no plan with
 * as idle a "worst_rank" is below, with the "gap" between as a share of it; "is_exact":
 * all plans were tried; how many "proposals" of TorchRec were tried, "plans" fitted.
 * A "plan" in the text, in the form of *out_json, is checked and rated in place of a
 * choice.  The same text always gives the same plan.  It is the context's until its
 * next call.  Errors: those of ig_shard_options, and IG_INVALID where nothing fits. */
IG_API IG_MUST_USE ig_status ig_shard_plan(ig_context *context, const char *name,
                                           const char *text,
                                           ig_shard_objective objective,
                                           const char **out_json);

/* The tables that the model looks up, as a text for ig_shard_options and ig_shard_plan,
 * which wants a "topology" beside: names of weights, rows, dim, and in "constraints" a
 * pooling factor of 1 for each look-up.  Look-ups become bags in the module; of
 * `options` (may be NULL) those about bags count.  *out_json is the module's until its
 * next call that gives a text.  Errors: IG_INVALID where there is no table,
 * IG_UNSUPPORTED where the planner has no formula for one. */
IG_API IG_MUST_USE ig_status ig_module_tables(ig_module *module,
                                              const ig_compile_options *options,
                                              const char **out_json);
/* Makes the module the program of rank `rank` by a plan in the form of
 * ig_shard_plan's *out_json: "ranks" (one entry a rank) or "world_size", and "tables",
 * each with "name", "sharding_type" and "shards" (rank, size and offset in rows and
 * columns).  A name is that of a weight, or a part of one between dots; shards cover
 * their table once, in any way; tables of "data_parallel", and those that the plan does
 * not name, every rank has whole.  "made_of", a text, is kept in the artifact.
 * Programs of all ranks meet in collectives (docs/sharding.md); "communication" "fp16",
 * "bf16" or "int8" (codes, and a step for each row): rows of f32 travel so, rounded;
 * "deduplicate" true, of the plan or of a table's entry: an id travels once, and bags
 * are pooled at home.
 * `name` names the plan in messages.  After an error the
 * module is to be closed.  Errors: IG_INVALID for a plan that is bad or of another
 * model, IG_UNSUPPORTED for a table that cannot be divided so. */
IG_API IG_MUST_USE ig_status ig_module_shard(ig_module *module, const char *name,
                                             const char *plan, size_t rank,
                                             const ig_compile_options *options);
/* Puts the artifacts of all ranks together again, which ig_module_shard and
 * ig_compile_file have made: `to` is a text of the model as it was (*.ig), and its
 * constants are in `to`.weights beside.  paths[r] is rank r's.  Tables are copied
 * by blocks of rows, whatever their size.  Errors: IG_INVALID for artifacts that are
 * none of ranks, damaged, missing, or of different models or plans; IG_UNSUPPORTED for
 * those that refer to tables in another file; IG_IO. */
IG_API IG_MUST_USE ig_status ig_artifacts_join(ig_context *context,
                                               const char *const *paths, size_t count,
                                               const char *to);
/* The record of an artifact of a rank: {"world_size", "rank", "tables" …}, and
 * "made_of" where the plan had such a text.  *out_json is the context's until its next
 * call.  Errors: IG_INVALID for a file that is not a rank's artifact; IG_IO. */
IG_API IG_MUST_USE ig_status ig_artifact_shards(ig_context *context, const char *path,
                                                const char **out_json);
/* Runs the programs of all `world` ranks, one module a rank and all of one context, by
 * the reference interpreter side by side in this process, without any transport.
 * inputs[r] are rank r's, as ig_interpret_run takes them; (*out_outputs)[r] are its
 * outputs, the first module's until its next call.  Errors: those of ig_interpret_run,
 * and IG_INVALID where ranks are not at the same collective. */
IG_API IG_MUST_USE ig_status ig_interpret_world(ig_module *const *modules, size_t world,
                                                const ig_argument *const *inputs,
                                                size_t input_count,
                                                const ig_argument *const **out_outputs,
                                                size_t *out_output_count);

#ifdef __cplusplus
}
#endif
#endif
