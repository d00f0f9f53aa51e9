/* Cases of sharded collections: each rank's arguments and results.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     CASE/case.json                     tables, world_size, batch_per_rank, plan
 *     CASE/weights_before_TABLE.npy      a whole table
 *     CASE/rankR.json                    input_keys, output_keys
 *     CASE/rankR_input_{lengths,values,weights}.npy
 *     CASE/rankR_output.npy              [batch, columns of all keys]
 */
#ifndef IG_TOOLS_IGCHECK_CASES_SHARDED_H
#define IG_TOOLS_IGCHECK_CASES_SHARDED_H

#include "tools/ingot/verify/verify.h"

enum { RANK_INPUTS = 3, MAX_CASE_RANKS = 1024 }; /* values, lengths, weights */

typedef struct sharded_rank {
    json_t *json;
    ig_arguments *owners[RANK_INPUTS];
    ig_argument inputs[RANK_INPUTS];
    model m;              /* its program; the module when interpreted */
    ig_argument *outputs; /* of each feature of each table, in order */
} sharded_rank;

typedef struct sharded_case {
    verification *v;
    const char *folder;
    json_t *json;
    size_t world, input_count, output_count;
    int64_t batch;
    sharded_rank *ranks;
} sharded_case;

/* ---- sharded_model.c ---- */

/* The collection as a graph, and the plan as ig_module_shard takes it: allocated.
 * NULL: v->why tells. */
char *sharded_model_text(const sharded_case *c);
char *sharded_plan_text(const sharded_case *c);
/* The output of key "feature" or "feature@table"; output_count when there is none. */
size_t sharded_output_of(const sharded_case *c, const char *key);

/* ---- sharded_run.c ---- */

/* Runs all ranks, as threads that meet in shared memory or by the interpreter, and
 * hands the outputs to `check` while they are there.  False: v->why tells. */
bool sharded_run(sharded_case *c, bool (*check)(const sharded_case *c));

#endif
