/* Plans: which option each table has, and which rank each shard.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_DRIVER_SHARD_PLAN_H
#define IG_DRIVER_SHARD_PLAN_H

#include "driver/shard/shard.h"

typedef enum shard_phase {
    SHARD_FWD_COMPUTE,
    SHARD_FWD_COMMS,
    SHARD_BWD_COMPUTE,
    SHARD_BWD_COMMS,
    SHARD_PHASE_COUNT
} shard_phase;

/* Bytes that are free, and milliseconds of each phase. */
typedef struct shard_rank {
    double hbm, ddr;
    double times[SHARD_PHASE_COUNT];
} shard_rank;

typedef struct shard_placement {
    const shard_option *option;
    int32_t *ranks; /* of the option's parts; room for those of any option */
} shard_placement;

/* A table with the sums of its option. */
typedef struct shard_sized {
    shard_rank sum;
    size_t table;
} shard_sized;

/* A host, with the milliseconds of its ranks. */
typedef struct shard_host_load {
    double total;
    int64_t host;
} shard_host_load;

/* One problem, its choices, and the state of its search. */
typedef struct shard_planner {
    const shard_problem *problem;
    ig_arena *arena;
    const shard_choice *choices;
    shard_rank empty;            /* a rank before anything is placed */
    shard_rank *ranks;           /* of the world, as the last placement left them */
    shard_rank *trial;           /* of one host */
    shard_rank *kept;            /* of the world: scratch */
    shard_host_load *hosts;      /* scratch */
    shard_sized *sized;          /* of the tables: scratch */
    double *totals;              /* of the world: scratch */
    shard_placement *placements; /* of the tables: the present choice */
    shard_placement *best;
    double best_worst; /* ms of the busiest rank of `best`; infinite: there is none */
    size_t proposal_count, plan_count;
    double steps_left; /* parts that may still be placed */
} shard_planner;

double shard_part_time(const shard_part *part, shard_phase phase);
/* The sum that TorchRec orders by: the same terms in the same order. */
double shard_part_total(const shard_part *part);
double shard_rank_total(const shard_rank *rank);
/* Sums over all parts. */
shard_rank shard_option_sum(const shard_option *option);

/* TorchRec's reservation: 15 % of device memory, and 20 copies of a batch's ids. */
void shard_planner_init(shard_planner *planner, ig_arena *arena,
                        const shard_problem *problem, const shard_choice *choices);
void shard_rank_add(shard_rank *rank, const shard_part *part);
/* Adds one table to `ranks`.  False: it does not fit, and ranks are spoilt. */
bool shard_place_one(shard_planner *planner, shard_placement *placement);
/* TorchRec's GreedyPerfPartitioner: gives ranks to the options of `places` and leaves
 * `ranks` accordingly.  False: something does not fit. */
bool shard_partition(shard_planner *planner);
/* Sets `ranks` and `totals` (of each rank, the sum of its parts in the order of the
 * tables) to what `places` makes of them. */
void shard_sum_ranks(shard_planner *planner, const shard_placement *placements);
/* TorchRec's objective of `places`: the busiest rank's milliseconds. */
double shard_worst_rank(shard_planner *planner, const shard_placement *placements);
/* `places` with its ranks becomes `best`. */
void shard_keep_best(shard_planner *planner, double worst);
/* TorchRec's proposers: all products of up to 10,000, two greedy walks, one type for
 * all.  The first plan of the lowest objective is `best`. */
void shard_propose(shard_planner *planner);

/* Takes `best` from a plan in the form that ig_shard_plan writes, after checks: every
 * table once, options that there are, ranks of the world, room. */
ig_status shard_read_plan(ig_context *context, const ig_location *where,
                          shard_planner *planner, const ig_json *plan);

#endif
