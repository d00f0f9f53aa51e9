/* A plan as text and as a picture.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_SHARD_SHARD_REPORT_H
#define IG_TOOLS_INGOT_SHARD_SHARD_REPORT_H

#include "tools/ingot/cli/console.h"

#include <jansson.h>

/* Prints the JSON of ig_shard_plan as tables: ranks, then parameters (and shards, where
 * TorchRec's own tables are wanted), then sums. */
void shard_print_plan(const json_t *plan, bool is_torchrec);
/* Draws a bar of memory and one of time, by phases, for each rank (SVG). */
void shard_draw_ranks(FILE *to, const json_t *plan);

#endif
