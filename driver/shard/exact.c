/* All plans of a small problem, by depth first and bounds.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Ranks that hold the same are one choice, not many, as long as memory cannot run out
 * (the last part of a table may be smaller than the others).  A branch ends where the
 * path so far, or all work shared out evenly, is not below the best plan.
 */
#include "driver/shard/search.h"

#include <math.h>
#include <string.h>

/* Each level of the recursion is a part. */
enum { MAX_DEPTH = 256 };

typedef struct descent {
    shard_search *search;
    shard_planner *planner;
    shard_rank *saved; /* of the world, for each table of the order */
    bool is_roomy;     /* all tables fit one rank */
    double *work_left; /* ms of all ranks and phases, from a table of the order on */
    shard_score best;
} descent;

static double placed_work(const shard_planner *planner) {
    double work = 0;
    for (int64_t i = 0; i < planner->problem->world; i++) {
        work += shard_rank_total(&planner->ranks[i]);
    }
    return work;
}

static bool may_be_better(const descent *d, size_t depth) {
    const shard_planner *planner = d->planner;
    shard_score score = shard_score_now(d->search);
    double even = (placed_work(planner) + d->work_left[depth]) /
                  (double)planner->problem->world;
    double latency = 0;
    for (unsigned type = 0; type < SHARD_TYPE_COUNT; type++) {
        latency += d->search->type_tables[type] > 0
                       ? shard_latency(planner->problem, (shard_type)type)
                       : 0;
    }
    score.critical = fmax(score.critical, even + latency);
    score.worst = fmax(score.worst, even);
    return shard_is_better(d->search, score, d->best);
}

static bool is_same_rank(const shard_rank *a, const shard_rank *b) {
    bool is_same = a->hbm == b->hbm && a->ddr == b->ddr;
    for (unsigned k = 0; k < SHARD_PHASE_COUNT; k++) {
        is_same = is_same && a->times[k] == b->times[k];
    }
    return is_same;
}

/* An earlier rank of the same host holds the same. */
static bool is_repeated(const shard_planner *planner, int64_t rank) {
    int64_t local = planner->problem->local_world;
    for (int64_t i = rank - rank % local; i < rank; i++) {
        if (is_same_rank(&planner->ranks[i], &planner->ranks[rank])) {
            return true;
        }
    }
    return false;
}

static bool add_part(descent *d, shard_placement *placement, int64_t part,
                     int64_t rank) {
    shard_rank *to = &d->planner->ranks[rank];
    const shard_part *what = &placement->option->parts[part];
    placement->ranks[part] = (int32_t)rank;
    d->planner->steps_left -= 1;
    if (what->hbm > to->hbm || what->ddr > to->ddr) {
        return false;
    }
    shard_rank_add(to, what);
    return true;
}

static void try_table(descent *d, size_t depth);

/* One part on each of the ranks from `first` on. */
static void try_run(descent *d, size_t depth, shard_placement *placement,
                    int64_t first) {
    int64_t count = placement->option->part_count;
    shard_rank *ranks = d->planner->ranks + first;
    size_t bytes = (size_t)count * sizeof *ranks;
    shard_rank *saved = d->saved + depth * (size_t)d->planner->problem->world;
    memcpy(saved, ranks, bytes);
    int64_t i = 0;
    while (i < count && add_part(d, placement, i, first + i)) {
        i++;
    }
    if (i == count) {
        try_table(d, depth + 1);
    }
    memcpy(ranks, saved, bytes);
}

typedef struct rank_range {
    int64_t first, end;
} rank_range;

/* Every rank of the range for `part`, and so on for those after it. */
static void try_parts(descent *d, size_t depth, shard_placement *placement,
                      rank_range range, int64_t part) {
    if (part == placement->option->part_count) {
        try_table(d, depth + 1);
        return;
    }
    for (int64_t i = range.first; i < range.end && d->planner->steps_left > 0; i++) {
        shard_rank saved = d->planner->ranks[i];
        bool is_needless = d->is_roomy && is_repeated(d->planner, i);
        if (!is_needless && add_part(d, placement, part, i)) {
            try_parts(d, depth, placement, range, part + 1);
        }
        d->planner->ranks[i] = saved;
    }
}

static void try_option(descent *d, size_t depth, shard_placement *placement) {
    const shard_problem *p = d->planner->problem;
    shard_type type = placement->option->type;
    if (type == SHARD_DATA_PARALLEL || type == SHARD_ROW_WISE) {
        try_run(d, depth, placement, 0);
        return;
    }
    if (type == SHARD_TABLE_WISE || type == SHARD_COLUMN_WISE) {
        try_parts(d, depth, placement, (rank_range){ 0, p->world }, 0);
        return;
    }
    for (int64_t first = 0; first < p->world; first += p->local_world) {
        if (type == SHARD_TABLE_ROW_WISE) {
            try_run(d, depth, placement, first);
        } else {
            try_parts(d, depth, placement,
                      (rank_range){ first, first + p->local_world }, 0);
        }
    }
}

static void try_table(descent *d, size_t depth) {
    shard_planner *planner = d->planner;
    planner->steps_left -= (double)planner->problem->world;
    if (planner->steps_left <= 0 || !may_be_better(d, depth)) {
        return;
    }
    if (depth == planner->problem->table_count) {
        d->best = shard_score_now(d->search);
        shard_keep_best(planner, d->best.worst);
        return;
    }
    size_t table = planner->sized[depth].table;
    shard_placement *placement = &planner->placements[table];
    for (size_t i = 0; i < planner->choices[table].count; i++) {
        placement->option = &planner->choices[table].options[i];
        d->search->type_tables[placement->option->type]++;
        try_option(d, depth, placement);
        d->search->type_tables[placement->option->type]--;
    }
}

/* Positions of grids are not tried: they are left to the search before. */
static bool is_shallow(const shard_planner *planner) {
    int64_t depth = 0;
    for (size_t i = 0; i < planner->problem->table_count; i++) {
        int64_t max = 1;
        for (size_t k = 0; k < planner->choices[i].count; k++) {
            int64_t count = planner->choices[i].options[k].part_count;
            max = count > max ? count : max;
            if (planner->choices[i].options[k].type == SHARD_GRID) {
                return false;
            }
        }
        depth += max + 1;
    }
    return depth <= MAX_DEPTH;
}

static bool is_roomy(const shard_planner *planner) {
    double hbm = 0, ddr = 0;
    for (size_t i = 0; i < planner->problem->table_count; i++) {
        double max_hbm = 0, max_ddr = 0;
        for (size_t k = 0; k < planner->choices[i].count; k++) {
            shard_rank sum = shard_option_sum(&planner->choices[i].options[k]);
            max_hbm = fmax(max_hbm, sum.hbm);
            max_ddr = fmax(max_ddr, sum.ddr);
        }
        hbm += max_hbm;
        ddr += max_ddr;
    }
    return hbm <= planner->empty.hbm && ddr <= planner->empty.ddr;
}

void shard_try_all(shard_search *search) {
    shard_planner *planner = search->planner;
    size_t count = planner->problem->table_count;
    descent d = { .search = search, .planner = planner, .best = search->score };
    if (!is_shallow(planner)) {
        return;
    }
    d.work_left = IG_NEW_ARRAY(planner->arena, double, count + 1);
    d.is_roomy = is_roomy(planner);
    d.saved = IG_NEW_ARRAY(planner->arena, shard_rank,
                           count * (size_t)planner->problem->world);
    shard_order_by_work(planner);
    for (size_t i = count; i-- > 0;) {
        d.work_left[i] = d.work_left[i + 1] + planner->sized[i].sum.times[0];
    }
    for (int64_t i = 0; i < planner->problem->world; i++) {
        planner->ranks[i] = planner->empty;
    }
    memset(search->type_tables, 0, sizeof search->type_tables);
    try_table(&d, 0);
    search->score = d.best;
    search->is_exact = planner->steps_left > 0;
    if (search->is_exact) {
        search->bound = d.best.critical;
    }
}
