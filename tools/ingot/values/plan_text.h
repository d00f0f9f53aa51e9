/* Plans as the tables that users of TorchRec know.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_VALUES_PLAN_TEXT_H
#define IG_TOOLS_INGOT_VALUES_PLAN_TEXT_H

#include <jansson.h>
#include <stdio.h>

/* Prints the JSON of ig_shard_plan as TorchRec prints a ShardingPlan: "module: PATH",
 * a table of parameters, and one of shards, without those of replicas. */
void put_plan_text(FILE *to, const json_t *plan);

#endif
