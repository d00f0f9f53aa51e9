/* Plans by our own objective: the critical path of a training step.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Ranks wait for each other at every exchange, so each phase lasts as long as on its
 * slowest rank; and each exchange costs a latency, once for all tables of a type.
 */
#ifndef IG_DRIVER_SHARD_SEARCH_H
#define IG_DRIVER_SHARD_SEARCH_H

#include "driver/shard/plan.h"

typedef struct shard_score {
    double critical; /* ms: the sum of the phases' slowest ranks, and latencies */
    double worst;    /* ms: TorchRec's objective */
} shard_score;

typedef struct shard_search {
    shard_planner *planner;
    size_t type_tables[SHARD_TYPE_COUNT]; /* tables that have a type */
    shard_rank *saved;                    /* of the world: scratch */
    int32_t *saved_ranks;                 /* of one table's parts: scratch */
    double worst_limit;                   /* no plan may have a busier rank */
    shard_score score;                    /* of the planner's `ranks` */
    double bound; /* ms: no plan under the limit has a shorter critical path */
    bool is_exact;
} shard_search;

void shard_search_init(shard_search *search, shard_planner *planner);
/* Of the planner's `ranks` and the tables' types. */
shard_score shard_score_now(const shard_search *search);
/* Sets the planner's `ranks` and the types to what `places` make of them. */
shard_score shard_score_placements(shard_search *search,
                                   const shard_placement *placements);
/* Milliseconds of latency of the exchanges that the type needs. */
double shard_latency(const shard_problem *problem, shard_type type);
/* By the critical path, then TorchRec's; a plan under the limit is better than one
 * above it.  Differences of 1e-12 are rounding. */
bool shard_is_better(const shard_search *search, shard_score a, shard_score b);
/* Milliseconds that a table takes at least, summed over ranks and phases. */
double shard_min_work(const shard_choice *choice);
/* Sets the planner's `sized` to the tables, the one with most work first. */
void shard_order_by_work(shard_planner *planner);
/* Makes the planner's `best` one that is better or as good by both objectives. */
void shard_improve(shard_search *search);
/* Tries all plans, as long as steps are left; then the bound is the best plan's. */
void shard_try_all(shard_search *search);

#endif
