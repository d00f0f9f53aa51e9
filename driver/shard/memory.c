/* Memory of shards, as TorchRec's EmbeddingStorageEstimator has it: weights without an
 * optimiser's state, and one batch in and out.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/shard/shard.h"

#include <math.h>

/* Each row of a cached table costs 4 bytes, and each cached row 16. */
#define ROW_BYTES 4
#define CACHED_ROW_BYTES 16

double shard_ids(const shard_problem *problem, const shard_table *table) {
    double ids = 0;
    for (size_t i = 0; i < table->pooling_count; i++) {
        ids += table->pooling[i] * (double)problem->batch_size;
    }
    return ids;
}

double shard_results(const shard_problem *problem, const shard_table *table) {
    return problem->is_sequence
               ? shard_ids(problem, table)
               : (double)table->pooling_count * (double)problem->batch_size;
}

/* Of the whole world's ids, the share that a shard looks up. */
static double share_of(const shard_problem *p, shard_type type) {
    if (type == SHARD_DATA_PARALLEL || type == SHARD_ROW_WISE) {
        return 1;
    }
    return (double)p->world /
           (type == SHARD_TABLE_ROW_WISE ? (double)p->local_world : 1);
}

void shard_estimate_memory(const shard_problem *problem, shard_option *option) {
    const shard_table *table = option->table;
    double share = share_of(problem, option->type);
    double ids = shard_ids(problem, table) * share;
    double results = shard_results(problem, table) *
                     (problem->is_sequence || option->type == SHARD_DATA_PARALLEL
                          ? share
                          : (double)problem->world);
    bool is_cached = option->kernel == SHARD_FUSED_UVM_CACHING;
    for (int64_t i = 0; i < option->part_count; i++) {
        shard_part *part = &option->parts[i];
        double weights = (double)part->size[0] * (double)part->size[1] *
                         SHARD_ELEMENT_BYTES;
        double batch = ceil(ids * SHARD_ID_BYTES) +
                       ceil(results * (double)part->size[1] * SHARD_ELEMENT_BYTES);
        double rows = (double)part->size[0];
        if (!problem->is_cuda) {
            part->ddr = weights + batch;
        } else if (option->kernel == SHARD_FUSED_UVM) {
            part->hbm = batch;
            part->ddr = weights;
        } else if (is_cached) {
            double row = ROW_BYTES + CACHED_ROW_BYTES * SHARD_CACHE_SHARE;
            part->hbm = ceil(SHARD_CACHE_SHARE * weights + rows * row) + batch;
            part->ddr = weights;
        } else {
            part->hbm = weights + batch;
        }
    }
}
