/* Which rank gets which shard, as TorchRec's GreedyPerfPartitioner decides it.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Types with a part on every rank come first, in the order of the tables; then the
 * others by memory, largest first.  A part goes to the rank with the least time that
 * has room; of equals, the lower local rank, then the lower rank.
 */
#include "driver/shard/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RESERVED_SHARE 0.15
#define ID_COPIES 20 /* two batches in flight, ten copies of each */

double shard_part_time(const shard_part *part, shard_phase phase) {
    const double times[] = { part->fwd_compute, part->fwd_comms, part->bwd_compute,
                             part->bwd_comms };
    return times[phase];
}

double shard_part_total(const shard_part *part) {
    return part->fwd_compute + part->bwd_compute + part->fwd_comms + part->bwd_comms;
}

double shard_rank_total(const shard_rank *rank) {
    return rank->times[SHARD_FWD_COMPUTE] + rank->times[SHARD_BWD_COMPUTE] +
           rank->times[SHARD_FWD_COMMS] + rank->times[SHARD_BWD_COMMS];
}

shard_rank shard_option_sum(const shard_option *option) {
    shard_rank sum = { 0 };
    for (int64_t i = 0; i < option->part_count; i++) {
        sum.hbm += option->parts[i].hbm;
        sum.ddr += option->parts[i].ddr;
        for (unsigned k = 0; k < SHARD_PHASE_COUNT; k++) {
            sum.times[k] += shard_part_time(&option->parts[i], (shard_phase)k);
        }
    }
    return sum;
}

static shard_placement *new_placements(ig_arena *arena, const shard_problem *problem,
                                       const shard_choice *choices) {
    shard_placement *placements = IG_NEW_ARRAY(arena, shard_placement,
                                               problem->table_count);
    for (size_t i = 0; i < problem->table_count; i++) {
        int64_t max = 1;
        for (size_t k = 0; k < choices[i].count; k++) {
            int64_t count = choices[i].options[k].part_count;
            max = count > max ? count : max;
        }
        placements[i].ranks = IG_NEW_ARRAY(arena, int32_t, (size_t)max);
    }
    return placements;
}

void shard_planner_init(shard_planner *planner, ig_arena *arena,
                        const shard_problem *problem, const shard_choice *choices) {
    double ids = 0;
    for (size_t i = 0; i < problem->table_count; i++) {
        ids += problem->tables[i].held_ids;
    }
    double batch = ID_COPIES * ceil(ids * SHARD_ID_BYTES);
    *planner = (shard_planner){
        .problem = problem,
        .arena = arena,
        .choices = choices,
        .empty.hbm = floor((1 - RESERVED_SHARE) * problem->hbm_cap),
        .empty.ddr = problem->ddr_cap,
        .ranks = IG_NEW_ARRAY(arena, shard_rank, (size_t)problem->world),
        .trial = IG_NEW_ARRAY(arena, shard_rank, (size_t)problem->local_world),
        .kept = IG_NEW_ARRAY(arena, shard_rank, (size_t)problem->world),
        .hosts = IG_NEW_ARRAY(arena, shard_host_load,
                              (size_t)(problem->world / problem->local_world)),
        .sized = IG_NEW_ARRAY(arena, shard_sized, problem->table_count),
        .totals = IG_NEW_ARRAY(arena, double, (size_t)problem->world),
        .placements = new_placements(arena, problem, choices),
        .best = new_placements(arena, problem, choices),
        .best_worst = INFINITY,
        .steps_left = INFINITY,
    };
    *(problem->is_cuda ? &planner->empty.hbm : &planner->empty.ddr) -= batch;
}

void shard_rank_add(shard_rank *rank, const shard_part *part) {
    rank->hbm -= part->hbm;
    rank->ddr -= part->ddr;
    for (unsigned k = 0; k < SHARD_PHASE_COUNT; k++) {
        rank->times[k] += shard_part_time(part, (shard_phase)k);
    }
}

static bool has_room(const shard_rank *rank, const shard_part *part) {
    return part->hbm <= rank->hbm && part->ddr <= rank->ddr;
}

/* ---- one table ---- */

/* A run of ranks that start at `first` in the world; `local` of them are a host. */
typedef struct rank_run {
    shard_rank *ranks;
    int64_t count, local;
    int32_t first;
} rank_run;

static bool place_one_on_each(const rank_run *run, shard_placement *placement) {
    const shard_option *option = placement->option;
    if (option->part_count != run->count) {
        return false;
    }
    for (int64_t i = 0; i < run->count; i++) {
        if (!has_room(&run->ranks[i], &option->parts[i])) {
            return false;
        }
        shard_rank_add(&run->ranks[i], &option->parts[i]);
        placement->ranks[i] = run->first + (int32_t)i;
    }
    return true;
}

/* The rank that a part goes to; -1: no rank has room. */
static int64_t idlest_rank(const rank_run *run, const shard_part *part) {
    int64_t found = -1;
    double min = INFINITY;
    for (int64_t local = 0; local < run->local; local++) {
        for (int64_t i = local; i < run->count; i += run->local) {
            double total = shard_rank_total(&run->ranks[i]);
            if (total < min && has_room(&run->ranks[i], part)) {
                min = total;
                found = i;
            }
        }
    }
    return found;
}

static bool place_on_idlest(const rank_run *run, shard_placement *placement) {
    for (int64_t i = 0; i < placement->option->part_count; i++) {
        const shard_part *part = &placement->option->parts[i];
        int64_t rank = idlest_rank(run, part);
        if (rank < 0) {
            return false;
        }
        shard_rank_add(&run->ranks[rank], part);
        placement->ranks[i] = run->first + (int32_t)rank;
    }
    return true;
}

static bool place_in_host(shard_planner *planner, int64_t host,
                          shard_placement *placement) {
    int64_t local = planner->problem->local_world;
    shard_rank *ranks = planner->ranks + host * local;
    shard_rank sum = shard_option_sum(placement->option), room = { 0 };
    for (int64_t i = 0; i < local; i++) {
        room.hbm += ranks[i].hbm;
        room.ddr += ranks[i].ddr;
        planner->trial[i] = ranks[i];
    }
    rank_run run = { planner->trial, local, local, (int32_t)(host * local) };
    bool is_whole = placement->option->type == SHARD_TABLE_ROW_WISE;
    if (sum.hbm > room.hbm || sum.ddr > room.ddr ||
        !(is_whole ? place_one_on_each(&run, placement)
                   : place_on_idlest(&run, placement))) {
        return false;
    }
    memcpy(ranks, planner->trial, (size_t)local * sizeof *ranks);
    return true;
}

static double host_total(const shard_planner *planner, int64_t host) {
    int64_t local = planner->problem->local_world;
    double total = 0;
    for (int64_t i = 0; i < local; i++) {
        total += shard_rank_total(&planner->ranks[host * local + i]);
    }
    return total;
}

/* Hosts are tried from the idlest on, equals in their order. */
static bool place_on_a_host(shard_planner *planner, shard_placement *placement) {
    int64_t count = planner->problem->world / planner->problem->local_world;
    double last = -1;
    int64_t last_host = -1;
    for (int64_t tried = 0; tried < count; tried++) {
        int64_t next = -1;
        double min = INFINITY;
        for (int64_t host = 0; host < count; host++) {
            double total = host_total(planner, host);
            bool is_left = total > last || (total == last && host > last_host);
            if (is_left && total < min) {
                min = total;
                next = host;
            }
        }
        if (next < 0 || place_in_host(planner, next, placement)) {
            return next >= 0;
        }
        last = min;
        last_host = next;
    }
    return false;
}

/* ---- blocks of columns, one a host ---- */

static int idler_first(const void *a, const void *b) {
    const shard_host_load *x = a, *y = b;
    if (x->total != y->total) {
        return x->total < y->total ? -1 : 1;
    }
    return x->host < y->host ? -1 : 1;
}

/* Block `i` on the host hosts[(first + i) % count].  False: a rank lacks room, and the
 * ranks are as they were. */
static bool place_blocks(shard_planner *planner, shard_placement *placement,
                         const shard_host_load *hosts, int64_t count, int64_t first) {
    int64_t local = planner->problem->local_world;
    size_t bytes = (size_t)planner->problem->world * sizeof *planner->ranks;
    memcpy(planner->kept, planner->ranks, bytes);
    for (int64_t i = 0; i < placement->option->part_count; i++) {
        const shard_part *part = &placement->option->parts[i];
        int64_t rank = hosts[(first + i / local) % count].host * local + i % local;
        if (!has_room(&planner->ranks[rank], part)) {
            memcpy(planner->ranks, planner->kept, bytes);
            return false;
        }
        shard_rank_add(&planner->ranks[rank], part);
        placement->ranks[i] = (int32_t)rank;
    }
    return true;
}

/* Hosts next to each other in the order of their load; all of them in turn where there
 * are no more hosts than blocks. */
static bool place_on_hosts(shard_planner *planner, shard_placement *placement) {
    int64_t count = planner->problem->world / planner->problem->local_world;
    int64_t blocks = placement->option->part_count / planner->problem->local_world;
    shard_host_load *hosts = planner->hosts;
    for (int64_t i = 0; i < count; i++) {
        hosts[i] = (shard_host_load){ host_total(planner, i), i };
    }
    qsort(hosts, (size_t)count, sizeof *hosts, idler_first);
    int64_t tries = blocks < count ? count - blocks + 1 : 1;
    for (int64_t first = 0; first < tries; first++) {
        if (place_blocks(planner, placement, hosts, count, first)) {
            return true;
        }
    }
    return false;
}

/* ---- all tables ---- */

static bool is_on_every_rank(const shard_option *option) {
    return option->type == SHARD_DATA_PARALLEL || option->type == SHARD_ROW_WISE;
}

static bool is_on_one_host(const shard_option *option) {
    return option->type == SHARD_TABLE_ROW_WISE ||
           option->type == SHARD_TABLE_COLUMN_WISE;
}

bool shard_place_one(shard_planner *planner, shard_placement *placement) {
    const shard_problem *p = planner->problem;
    rank_run world = { planner->ranks, p->world, p->local_world, 0 };
    double visits = (double)(is_on_every_rank(placement->option) ? 1 : p->world);
    planner->steps_left -= (double)placement->option->part_count * visits;
    if (is_on_every_rank(placement->option)) {
        return place_one_on_each(&world, placement);
    }
    if (placement->option->type == SHARD_GRID) {
        return place_on_hosts(planner, placement);
    }
    return is_on_one_host(placement->option) ? place_on_a_host(planner, placement)
                                             : place_on_idlest(&world, placement);
}

static int larger_first(const void *a, const void *b) {
    const shard_sized *x = a, *y = b;
    if (x->sum.hbm != y->sum.hbm) {
        return x->sum.hbm > y->sum.hbm ? -1 : 1;
    }
    if (x->sum.ddr != y->sum.ddr) {
        return x->sum.ddr > y->sum.ddr ? -1 : 1;
    }
    return x->table < y->table ? -1 : 1;
}

bool shard_partition(shard_planner *planner) {
    const shard_problem *p = planner->problem;
    shard_sized *sized = planner->sized;
    size_t count = 0;
    for (int64_t i = 0; i < p->world; i++) {
        planner->ranks[i] = planner->empty;
    }
    for (size_t i = 0; i < p->table_count; i++) {
        shard_placement *placement = &planner->placements[i];
        if (!is_on_every_rank(placement->option)) {
            sized[count++] = (shard_sized){ shard_option_sum(placement->option), i };
        } else if (!shard_place_one(planner, placement)) {
            return false;
        }
    }
    qsort(sized, count, sizeof *sized, larger_first);
    for (size_t i = 0; i < count; i++) {
        if (!shard_place_one(planner, &planner->placements[sized[i].table])) {
            return false;
        }
    }
    return true;
}

void shard_sum_ranks(shard_planner *planner, const shard_placement *placements) {
    const shard_problem *p = planner->problem;
    for (int64_t i = 0; i < p->world; i++) {
        planner->ranks[i] = planner->empty;
        planner->totals[i] = 0;
    }
    for (size_t i = 0; i < p->table_count; i++) {
        const shard_option *option = placements[i].option;
        for (int64_t k = 0; k < option->part_count; k++) {
            shard_rank_add(&planner->ranks[placements[i].ranks[k]], &option->parts[k]);
            planner->totals[placements[i].ranks[k]] +=
                shard_part_total(&option->parts[k]);
        }
    }
}

double shard_worst_rank(shard_planner *planner, const shard_placement *placements) {
    double worst = 0;
    shard_sum_ranks(planner, placements);
    for (int64_t i = 0; i < planner->problem->world; i++) {
        worst = planner->totals[i] > worst ? planner->totals[i] : worst;
    }
    return worst;
}
