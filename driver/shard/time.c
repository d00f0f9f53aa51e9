/* Time of shards, as TorchRec's EmbeddingPerfEstimator has it for training.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Bytes read and written over a bandwidth, for each of four phases.  Latencies and ids
 * that come again are not in it.  Where rows are cut TorchRec takes look-ups to be
 * spread evenly; here as a sample of them is, where there is one (shares).  Where
 * nothing is trained, two of the phases are nothing.
 */
#include "driver/shard/shard.h"

#include <assert.h>
#include <math.h>

#define COPY_FACTOR 2.455       /* of a batched copy after an exchange */
#define ELEMENTWISE_FACTOR 9.22 /* of the update of a replicated table */
#define WEIGHTED_FACTOR 1.1
#define MIN_COLUMNS 32 /* the bytes that a warp reads */

typedef struct traffic {
    double in, lookup, out; /* bytes */
    double penalty;
} traffic;

static double kernel_bandwidth(const shard_problem *p, shard_kernel kernel) {
    double memory = p->is_cuda ? p->hbm : p->ddr;
    double cached = SHARD_CACHE_SHARE * p->hbm +
                    (1 - SHARD_CACHE_SHARE) * p->hbm_to_ddr;
    if (kernel == SHARD_DENSE) { /* whose gradient is as large as the table */
        return p->is_training ? 0.5 * memory : memory;
    }
    if (kernel == SHARD_FUSED_UVM) {
        return p->hbm_to_ddr / 10;
    }
    return kernel == SHARD_FUSED_UVM_CACHING ? cached / 10 : memory;
}

/* A row that is narrower than a block leaves threads idle. */
static double narrow_penalty(int64_t columns) {
    return columns >= 128 ? 1 : columns >= 64 ? 1.15 : 1.75;
}

static double exchange_bandwidth(const shard_problem *p) {
    return p->world <= p->local_world ? p->intra_host : p->inter_host;
}

double shard_share(const shard_table *table, int64_t first, int64_t rows) {
    assert(table->shares && "an even table has no shares");
    double slice = (double)table->rows / (double)table->share_count, sum = 0;
    double begin = (double)first / slice, end = (double)(first + rows) / slice;
    for (size_t i = (size_t)begin; i < table->share_count && (double)i < end; i++) {
        double covered = fmin(end, (double)i + 1) - fmax(begin, (double)i);
        sum += table->shares[i] * covered;
    }
    return fmin(sum, 1);
}

/* Ids of one rank's batch that go to the rank with these rows. */
static double ids_of_rows(const shard_option *o, const shard_part *part, double ranks) {
    const shard_table *table = o->table;
    return table->shares
               ? table->ids * shard_share(table, part->offset[0], part->size[0])
               : table->ids / ranks;
}

static traffic traffic_of(const shard_problem *p, const shard_option *o,
                          const shard_part *part) {
    int64_t columns = part->size[1];
    double world = (double)p->world, row = shard_row_bytes(o->table, columns);
    double ids = o->table->ids, results = shard_results(o->table);
    double weights = o->table->is_weighted ? 2 : 1;
    traffic t = { .penalty = 1 };
    if (o->type == SHARD_DATA_PARALLEL) {
        world = 1;
    } else if (o->type == SHARD_ROW_WISE) {
        ids = ids_of_rows(o, part, world);
        results = o->table->is_sequence ? results / world : results;
    } else if (o->type == SHARD_TABLE_ROW_WISE || o->type == SHARD_GRID) {
        ids = ids_of_rows(o, part, (double)p->local_world);
    } else {
        t.penalty = narrow_penalty(columns);
    }
    bool is_whole = o->type == SHARD_TABLE_WISE || o->type == SHARD_COLUMN_WISE ||
                    o->type == SHARD_TABLE_COLUMN_WISE;
    t.in = ceil(ids * world * SHARD_ID_BYTES) * weights;
    t.lookup = ids * world *
               (is_whole ? fmax(row, MIN_COLUMNS * SHARD_ELEMENT_BYTES) : row);
    t.out = results * world * (double)columns * SHARD_ELEMENT_BYTES;
    return t;
}

/* Inside of a host, then between the hosts. */
static double two_level_comms(const shard_problem *p, double out) {
    double hosts = (double)(p->world / p->local_world);
    double inside = out / p->intra_host;
    double between = out / (double)p->world * hosts / p->inter_host;
    return hosts > 1 ? inside + between : inside;
}

static double replica_comms(const shard_problem *p, double bytes, double bandwidth) {
    double hosts = (double)p->world / (double)p->local_world;
    double n = hosts < 2 ? hosts : 2;
    double sum = bytes * (2 * n - 1) / n / (p->inter_host * (double)p->local_world);
    return (hosts > 2 ? 2 * sum : sum) + bytes * ELEMENTWISE_FACTOR / bandwidth;
}

static void estimate_comms(const shard_problem *p, const shard_option *o,
                           shard_part *part, double out) {
    double bandwidth = kernel_bandwidth(p, o->kernel);
    if (o->type == SHARD_DATA_PARALLEL) {
        double bytes = (double)part->size[0] * shard_row_bytes(o->table, part->size[1]);
        part->bwd_comms = replica_comms(p, bytes, bandwidth);
        return;
    }
    bool has_levels = o->type == SHARD_TABLE_ROW_WISE || o->type == SHARD_GRID;
    part->fwd_comms = has_levels ? two_level_comms(p, out)
                                 : out / exchange_bandwidth(p);
    part->bwd_comms = part->fwd_comms;
    if (shard_cuts_rows(o->type)) {
        part->bwd_comms += out * COPY_FACTOR / bandwidth;
    }
}

void shard_estimate_time(const shard_problem *problem, shard_option *option) {
    double bandwidth = kernel_bandwidth(problem, option->kernel);
    for (int64_t i = 0; i < option->part_count; i++) {
        shard_part *part = &option->parts[i];
        traffic t = traffic_of(problem, option, part);
        double once = (t.in + t.lookup + t.out) * t.penalty / bandwidth;
        part->fwd_compute = once;
        part->bwd_compute = once * problem->backward;
        if (option->table->is_weighted) {
            part->bwd_compute = part->bwd_compute * problem->weighted_backward +
                                once * WEIGHTED_FACTOR;
        }
        estimate_comms(problem, option, part, t.out);
        if (!problem->is_training) {
            part->bwd_compute = part->bwd_comms = 0;
        }
    }
}
