/* A local search from TorchRec's plan, and from none.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/shard/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Differences below are rounding. */
#define ROUNDING 1e-12

/* ---- the objective ---- */

double shard_latency(const shard_problem *problem, shard_type type) {
    bool is_two_level = (type == SHARD_TABLE_ROW_WISE || type == SHARD_GRID) &&
                        problem->world > problem->local_world;
    int replicas = problem->is_training ? 1 : 0; /* their gradients are exchanged */
    int exchanges = type == SHARD_DATA_PARALLEL ? replicas : is_two_level ? 5 : 3;
    return problem->world > 1 ? exchanges * problem->latency : 0;
}

static double worst_total(const shard_planner *planner) {
    double worst = 0;
    for (int64_t i = 0; i < planner->problem->world; i++) {
        double total = shard_rank_total(&planner->ranks[i]);
        worst = total > worst ? total : worst;
    }
    return worst;
}

shard_score shard_score_now(const shard_search *search) {
    const shard_planner *planner = search->planner;
    shard_score score = { 0, worst_total(planner) };
    for (unsigned k = 0; k < SHARD_PHASE_COUNT; k++) {
        double slowest = 0;
        for (int64_t i = 0; i < planner->problem->world; i++) {
            double ms = planner->ranks[i].times[k];
            slowest = ms > slowest ? ms : slowest;
        }
        score.critical += slowest;
    }
    for (unsigned type = 0; type < SHARD_TYPE_COUNT; type++) {
        if (search->type_tables[type] > 0) {
            score.critical += shard_latency(planner->problem, (shard_type)type);
        }
    }
    return score;
}

static bool is_less(double a, double b) {
    return isinf(b) ? a < b : a < b - ROUNDING * fabs(b);
}

bool shard_is_better(const shard_search *search, shard_score a, shard_score b) {
    double limit = search->worst_limit;
    if (is_less(limit, a.worst) || is_less(limit, b.worst)) {
        return is_less(fmax(a.worst, limit), fmax(b.worst, limit));
    }
    return is_less(a.critical, b.critical) ||
           (!is_less(b.critical, a.critical) && is_less(a.worst, b.worst));
}

double shard_min_work(const shard_choice *choice) {
    double min = INFINITY;
    for (size_t i = 0; i < choice->count; i++) {
        shard_rank sum = shard_option_sum(&choice->options[i]);
        min = fmin(min, shard_rank_total(&sum));
    }
    return min;
}

/* The part that takes longest, phase by phase: its rank takes no less. */
static double min_part(const shard_choice *choice) {
    double min = INFINITY;
    for (size_t i = 0; i < choice->count; i++) {
        double longest = 0;
        for (int64_t k = 0; k < choice->options[i].part_count; k++) {
            longest = fmax(longest, shard_part_total(&choice->options[i].parts[k]));
        }
        min = fmin(min, longest);
    }
    return min;
}

static double bound_of(const shard_planner *planner) {
    const shard_problem *p = planner->problem;
    double work = 0, part = 0, latency = INFINITY;
    for (unsigned type = 0; type < SHARD_TYPE_COUNT; type++) {
        latency = fmin(latency, shard_latency(p, (shard_type)type));
    }
    for (size_t i = 0; i < p->table_count; i++) {
        work += shard_min_work(&planner->choices[i]);
        part = fmax(part, min_part(&planner->choices[i]));
    }
    return fmax(work / (double)p->world, part) + latency;
}

/* ---- moving one table ---- */

void shard_search_init(shard_search *search, shard_planner *planner) {
    const shard_problem *p = planner->problem;
    int64_t max = p->world;
    for (size_t i = 0; i < p->table_count; i++) {
        for (size_t k = 0; k < planner->choices[i].count; k++) {
            int64_t count = planner->choices[i].options[k].part_count;
            max = count > max ? count : max;
        }
    }
    *search = (shard_search){
        .planner = planner,
        .saved = IG_NEW_ARRAY(planner->arena, shard_rank, (size_t)p->world),
        .saved_ranks = IG_NEW_ARRAY(planner->arena, int32_t, (size_t)max),
        .worst_limit = planner->best_worst,
        .bound = bound_of(planner),
    };
}

static void remove_table(shard_search *search, const shard_placement *placement) {
    shard_planner *planner = search->planner;
    search->type_tables[placement->option->type]--;
    for (int64_t i = 0; i < placement->option->part_count; i++) {
        const shard_part *part = &placement->option->parts[i];
        shard_rank *rank = &planner->ranks[placement->ranks[i]];
        rank->hbm += part->hbm;
        rank->ddr += part->ddr;
        for (unsigned k = 0; k < SHARD_PHASE_COUNT; k++) {
            rank->times[k] -= shard_part_time(part, (shard_phase)k);
        }
    }
}

/* Adds the table by one option and scores that.  False: it does not fit. */
static bool add_table(shard_search *search, shard_placement *placement,
                      shard_score *out) {
    shard_planner *planner = search->planner;
    if (!shard_place_one(planner, placement)) {
        return false;
    }
    planner->steps_left -= (double)planner->problem->world * 2;
    search->type_tables[placement->option->type]++;
    *out = shard_score_now(search);
    search->type_tables[placement->option->type]--;
    return true;
}

/* The best option for a table that `ranks` are without; `score` is of the plan that it
 * has now, infinite where it has none.  False: none is better. */
static bool choose_option(shard_search *search, size_t table, shard_score *score) {
    shard_planner *planner = search->planner;
    const shard_choice *choice = &planner->choices[table];
    size_t bytes = (size_t)planner->problem->world * sizeof *planner->ranks;
    shard_placement *placement = &planner->placements[table];
    const shard_option *found = NULL;
    memcpy(search->saved, planner->ranks, bytes);
    for (size_t i = 0; i < choice->count; i++) {
        shard_score own;
        placement->option = &choice->options[i];
        if (add_table(search, placement, &own) &&
            shard_is_better(search, own, *score)) {
            *score = own;
            found = placement->option;
        }
        memcpy(planner->ranks, search->saved, bytes);
    }
    placement->option = found;
    return found != NULL;
}

static void take_option(shard_search *search, shard_placement *placement) {
    bool is_placed = shard_place_one(search->planner, placement);
    search->type_tables[placement->option->type]++;
    (void)is_placed; /* it had room a moment ago */
    search->score = shard_score_now(search);
}

/* Moves a table where the plan gets better.  False: nowhere. */
static bool move_table(shard_search *search, size_t table) {
    shard_planner *planner = search->planner;
    shard_placement *placement = &planner->placements[table];
    const shard_option *option = placement->option;
    size_t ranks_bytes = (size_t)option->part_count * sizeof *placement->ranks;
    shard_score score = search->score;
    memcpy(search->saved_ranks, placement->ranks, ranks_bytes);
    remove_table(search, placement);
    if (choose_option(search, table, &score)) {
        take_option(search, placement);
        return true;
    }
    placement->option = option;
    memcpy(placement->ranks, search->saved_ranks, ranks_bytes);
    search->type_tables[option->type]++;
    for (int64_t i = 0; i < option->part_count; i++) {
        shard_rank_add(&planner->ranks[placement->ranks[i]], &option->parts[i]);
    }
    return false;
}

/* ---- the search ---- */

shard_score shard_score_placements(shard_search *search,
                                   const shard_placement *placements) {
    shard_planner *planner = search->planner;
    shard_sum_ranks(planner, placements);
    memset(search->type_tables, 0, sizeof search->type_tables);
    for (size_t i = 0; i < planner->problem->table_count; i++) {
        search->type_tables[placements[i].option->type]++;
    }
    return shard_score_now(search);
}

static void begin_at_placements(shard_search *search) {
    search->score = shard_score_placements(search, search->planner->placements);
}

static void move_tables(shard_search *search) {
    shard_planner *planner = search->planner;
    bool has_moved = true;
    while (has_moved && planner->steps_left > 0) {
        has_moved = false;
        for (size_t i = 0; i < planner->problem->table_count; i++) {
            has_moved |= planner->steps_left > 0 && move_table(search, i);
        }
        begin_at_placements(search);
    }
}

static int more_work_first(const void *a, const void *b) {
    const shard_sized *x = a, *y = b;
    double work = shard_rank_total(&x->sum), other = shard_rank_total(&y->sum);
    if (work != other) {
        return work > other ? -1 : 1;
    }
    return x->table < y->table ? -1 : 1;
}

void shard_order_by_work(shard_planner *planner) {
    size_t count = planner->problem->table_count;
    for (size_t i = 0; i < count; i++) {
        planner->sized[i] = (shard_sized){ { .hbm = 0 }, i };
        planner->sized[i].sum.times[0] = shard_min_work(&planner->choices[i]);
    }
    qsort(planner->sized, count, sizeof *planner->sized, more_work_first);
}

/* Places tables by falling work, each by the best option so far. */
static bool build_plan(shard_search *search) {
    shard_planner *planner = search->planner;
    size_t count = planner->problem->table_count;
    for (int64_t i = 0; i < planner->problem->world; i++) {
        planner->ranks[i] = planner->empty;
    }
    memset(search->type_tables, 0, sizeof search->type_tables);
    shard_order_by_work(planner);
    for (size_t i = 0; i < count; i++) {
        size_t table = planner->sized[i].table;
        shard_score score = { INFINITY, INFINITY };
        if (!choose_option(search, table, &score)) {
            return false;
        }
        take_option(search, &planner->placements[table]);
    }
    return true;
}

static void copy_placements(const shard_planner *planner, const shard_placement *from,
                            shard_placement *to) {
    for (size_t i = 0; i < planner->problem->table_count; i++) {
        to[i].option = from[i].option;
        memcpy(to[i].ranks, from[i].ranks,
               (size_t)from[i].option->part_count * sizeof *to[i].ranks);
    }
}

void shard_improve(shard_search *search) {
    shard_planner *planner = search->planner;
    shard_score best = { INFINITY, INFINITY };
    double steps = planner->steps_left;
    if (!isinf(planner->best_worst)) {
        copy_placements(planner, planner->best, planner->placements);
        planner->steps_left = steps / 2;
        begin_at_placements(search);
        move_tables(search);
        best = search->score;
        shard_keep_best(planner, best.worst);
    }
    planner->steps_left = steps / 2;
    if (build_plan(search)) {
        begin_at_placements(search);
        move_tables(search);
        if (shard_is_better(search, search->score, best)) {
            best = search->score;
            shard_keep_best(planner, best.worst);
        }
    }
    search->score = best;
}
