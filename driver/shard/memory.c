/* Memory of shards, as TorchRec's EmbeddingStorageEstimator has it: weights without an
 * optimiser's state, and one batch in and out.  Ours: replicas that ranks of a host
 * share.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/shard/shard.h"

#include <math.h>

/* Each row of a cached table costs 4 bytes, and each cached row 16. */
#define ROW_BYTES 4
#define CACHED_ROW_BYTES 16

double shard_results(const shard_table *table) {
    return table->is_sequence ? table->ids : table->bags;
}

double shard_row_bytes(const shard_table *table, int64_t columns) {
    double codes = (double)(table->row_bytes - table->row_factors);
    return ceil(codes * (double)columns / (double)table->dim) +
           (double)table->row_factors;
}

/* Of the whole world's ids, the share that a shard looks up. */
static double share_of(const shard_problem *p, shard_type type) {
    if (type == SHARD_DATA_PARALLEL || type == SHARD_ROW_WISE) {
        return 1;
    }
    bool is_local = type == SHARD_TABLE_ROW_WISE || type == SHARD_GRID;
    return (double)p->world / (is_local ? (double)p->local_world : 1);
}

/* A part's share of the whole table's size, in whole bytes. */
static double part_of(double bytes, const shard_table *table, const shard_part *part) {
    double size = (double)part->size[0] * (double)part->size[1];
    return ceil(bytes * size / ((double)table->rows * (double)table->dim));
}

void shard_estimate_memory(const shard_problem *problem, shard_option *option) {
    const shard_table *table = option->table;
    double share = share_of(problem, option->type);
    double ids = table->ids * share;
    double results = shard_results(table) *
                     (table->is_sequence || option->type == SHARD_DATA_PARALLEL
                          ? share
                          : (double)problem->world);
    bool is_cached = option->kernel == SHARD_FUSED_UVM_CACHING;
    double whole = (double)table->rows * shard_row_bytes(table, table->dim);
    for (int64_t i = 0; i < option->part_count; i++) {
        shard_part *part = &option->parts[i];
        double rows = (double)part->size[0];
        double weights = rows * shard_row_bytes(table, part->size[1]);
        if (problem->shares_memory && option->type == SHARD_DATA_PARALLEL) {
            weights = ceil(weights / (double)problem->local_world);
        }
        double batch = ceil(ids * SHARD_ID_BYTES) +
                       ceil(results * (double)part->size[1] * SHARD_ELEMENT_BYTES);
        batch = rows > 0 ? batch : 0; /* nothing is sent to a shard of nothing */
        if (!problem->is_cuda) {
            part->ddr = weights + batch;
        } else if (option->kernel == SHARD_FUSED_UVM) {
            part->hbm = batch;
            part->ddr = weights;
        } else if (is_cached) {
            double row = ROW_BYTES + CACHED_ROW_BYTES * SHARD_CACHE_SHARE;
            double cache = part_of(nearbyint(SHARD_CACHE_SHARE * whole), table, part);
            part->hbm = cache + ceil(rows * row) + batch;
            part->ddr = weights;
        } else {
            part->hbm = weights + batch;
        }
    }
}
