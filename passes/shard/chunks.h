/* The batch in chunks: rows of one travel while another's are computed with.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_SHARD_CHUNKS_H
#define IG_PASSES_SHARD_CHUNKS_H

#include "passes/engine/pass.h"

/* Makes each bag over a divided table (`divided`: shard op -> anything) whose results
 * have a row a sample, and the ops after these sample by sample, `count` times, for so
 * many parts of the batch.  out_chunk_of: such a bag -> 1 + number of its chunk. */
void ig_split_batch(ig_pass_run *run, ig_graph *graph, const ig_map *divided,
                    int64_t count, ig_map *out_chunk_of);
/* 1 + the number; 0: of all of the batch. */
uint32_t ig_chunk_of(const ig_map *chunk_of, const ig_op *bag);

#endif
