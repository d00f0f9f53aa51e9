/* Which options are tried together, as TorchRec's default proposers do it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/shard/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PRODUCT = 10000, MAX_OPTIONS = SHARD_TYPE_COUNT * SHARD_KERNEL_COUNT };

/* The options of one table from the fastest on, by their place in the choice. */
typedef struct ranking {
    uint8_t options[MAX_OPTIONS];
} ranking;

/* Proposals that were tried: one byte a table, the option's place. */
typedef struct proposal_set {
    const uint8_t **slots; /* a power of two */
    size_t capacity, count;
} proposal_set;

typedef struct proposer {
    shard_planner *planner;
    proposal_set tried;
    uint8_t *proposal;
    ranking *rankings;  /* of the tables */
    uint8_t *positions; /* in the rankings */
} proposer;

/* ---- proposals that were tried ---- */

static const uint8_t **find_slot(const proposal_set *set, const uint8_t *proposal,
                                 size_t bytes) {
    size_t i = (size_t)ig_hash_bytes(proposal, bytes, 0) & (set->capacity - 1);
    while (set->slots[i] && memcmp(set->slots[i], proposal, bytes) != 0) {
        i = (i + 1) & (set->capacity - 1);
    }
    return &set->slots[i];
}

static void grow_set(ig_arena *arena, proposal_set *set, size_t bytes) {
    proposal_set old = *set;
    set->capacity = old.capacity ? old.capacity * 2 : 1024;
    set->slots = IG_NEW_ARRAY(arena, const uint8_t *, set->capacity);
    for (size_t i = 0; i < old.capacity; i++) {
        if (old.slots[i]) {
            *find_slot(set, old.slots[i], bytes) = old.slots[i];
        }
    }
}

/* False: it was tried before. */
static bool is_new(proposer *p) {
    size_t bytes = p->planner->problem->table_count;
    ig_arena *arena = p->planner->arena;
    if (p->tried.count * 2 >= p->tried.capacity) {
        grow_set(arena, &p->tried, bytes);
    }
    const uint8_t **slot = find_slot(&p->tried, p->proposal, bytes);
    if (*slot) {
        return false;
    }
    uint8_t *copy = ig_arena_alloc(arena, bytes);
    memcpy(copy, p->proposal, bytes);
    *slot = copy;
    p->tried.count++;
    return true;
}

void shard_keep_best(shard_planner *planner, double worst) {
    planner->best_worst = worst;
    for (size_t i = 0; i < planner->problem->table_count; i++) {
        const shard_placement *placement = &planner->placements[i];
        planner->best[i].option = placement->option;
        memcpy(planner->best[i].ranks, placement->ranks,
               (size_t)placement->option->part_count * sizeof *placement->ranks);
    }
}

static void try_proposal(proposer *p) {
    shard_planner *planner = p->planner;
    if (!is_new(p)) {
        return;
    }
    for (size_t i = 0; i < planner->problem->table_count; i++) {
        planner->placements[i].option = &planner->choices[i].options[p->proposal[i]];
    }
    planner->proposal_count++;
    if (!shard_partition(planner)) {
        return;
    }
    planner->plan_count++;
    double worst = shard_worst_rank(planner, planner->placements);
    planner->steps_left -= (double)planner->problem->world;
    if (worst < planner->best_worst) {
        shard_keep_best(planner, worst);
    }
}

/* ---- the order of a table's options ---- */

static double longest_part(const shard_option *option) {
    double longest = 0;
    for (int64_t i = 0; i < option->part_count; i++) {
        double total = shard_part_total(&option->parts[i]);
        longest = total > longest ? total : longest;
    }
    return longest;
}

static double all_parts(const shard_option *option) {
    double sum = 0;
    for (int64_t i = 0; i < option->part_count; i++) {
        sum += shard_part_total(&option->parts[i]);
    }
    return sum;
}

typedef double (*option_score)(const shard_option *option);

static ranking rank_options(const shard_choice *choice, option_score score) {
    ranking out = { { 0 } };
    double scores[MAX_OPTIONS] = { 0 };
    for (size_t i = 0; i < choice->count; i++) {
        double own = score(&choice->options[i]);
        size_t at = i;
        while (at > 0 && scores[at - 1] > own) {
            scores[at] = scores[at - 1];
            out.options[at] = out.options[at - 1];
            at--;
        }
        scores[at] = own;
        out.options[at] = (uint8_t)i;
    }
    return out;
}

static void rank_tables(proposer *p, option_score score) {
    for (size_t i = 0; i < p->planner->problem->table_count; i++) {
        p->rankings[i] = rank_options(&p->planner->choices[i], score);
        p->positions[i] = 0;
        p->proposal[i] = p->rankings[i].options[0];
    }
}

/* ---- the proposers ---- */

static bool is_done(const proposer *p) {
    return p->planner->steps_left <= 0;
}

/* The next of all products, the last table's position changing fastest. */
static bool advance_product(proposer *p) {
    for (size_t i = p->planner->problem->table_count; i-- > 0;) {
        if (++p->positions[i] < p->planner->choices[i].count) {
            p->proposal[i] = p->rankings[i].options[p->positions[i]];
            return true;
        }
        p->positions[i] = 0;
        p->proposal[i] = p->rankings[i].options[0];
    }
    return false;
}

static void propose_all_products(proposer *p) {
    double products = 1;
    for (size_t i = 0; i < p->planner->problem->table_count; i++) {
        products *= (double)p->planner->choices[i].count;
    }
    if (products > MAX_PRODUCT) {
        return;
    }
    rank_tables(p, longest_part);
    do {
        try_proposal(p);
    } while (!is_done(p) && advance_product(p));
}

typedef struct footprint {
    double keys[4]; /* device and host memory: of the largest part, of all */
} footprint;

static footprint footprint_of(const shard_option *option) {
    footprint out = { { 0 } };
    for (int64_t i = 0; i < option->part_count; i++) {
        const shard_part *part = &option->parts[i];
        out.keys[0] = fmax(out.keys[0], part->hbm);
        out.keys[1] += part->hbm;
        out.keys[2] = fmax(out.keys[2], part->ddr);
        out.keys[3] += part->ddr;
    }
    return out;
}

static bool is_larger(const footprint *a, const footprint *b) {
    size_t i = 0;
    while (i < IG_COUNT_OF(a->keys) - 1 && a->keys[i] == b->keys[i]) {
        i++;
    }
    return a->keys[i] > b->keys[i];
}

/* The table that takes most memory goes on to its next option.  `footprints` are those
 * of the proposal. */
static bool advance_largest(proposer *p, footprint *footprints) {
    const shard_problem *problem = p->planner->problem;
    footprint largest = { { 0 } };
    size_t found = problem->table_count;
    for (size_t i = 0; i < problem->table_count; i++) {
        bool is_last = p->positions[i] + 1u >= p->planner->choices[i].count;
        if (!is_last && is_larger(&footprints[i], &largest)) {
            largest = footprints[i];
            found = i;
        }
    }
    p->planner->steps_left -= (double)problem->table_count;
    if (found == problem->table_count) {
        return false;
    }
    uint8_t option = p->rankings[found].options[++p->positions[found]];
    p->proposal[found] = option;
    footprints[found] = footprint_of(&p->planner->choices[found].options[option]);
    return true;
}

static void propose_greedily(proposer *p, option_score score) {
    size_t count = p->planner->problem->table_count;
    footprint *footprints = IG_NEW_ARRAY(p->planner->arena, footprint, count);
    rank_tables(p, score);
    for (size_t i = 0; i < count; i++) {
        footprints[i] = footprint_of(&p->planner->choices[i].options[p->proposal[i]]);
    }
    do {
        try_proposal(p);
    } while (!is_done(p) && advance_largest(p, footprints));
}

/* The fastest option of the type for each table.  False: a table has none. */
static bool take_type(proposer *p, shard_type type) {
    for (size_t i = 0; i < p->planner->problem->table_count; i++) {
        const shard_choice *choice = &p->planner->choices[i];
        size_t k = 0;
        while (k < choice->count &&
               choice->options[p->rankings[i].options[k]].type != type) {
            k++;
        }
        if (k == choice->count) {
            return false;
        }
        p->proposal[i] = p->rankings[i].options[k];
    }
    return true;
}

static void propose_one_type(proposer *p) {
    rank_tables(p, longest_part);
    for (unsigned type = 0; type < SHARD_TYPE_COUNT && !is_done(p); type++) {
        if (take_type(p, (shard_type)type)) {
            try_proposal(p);
        }
    }
}

void shard_propose(shard_planner *planner) {
    size_t count = planner->problem->table_count;
    proposer p = {
        .planner = planner,
        .proposal = IG_NEW_ARRAY(planner->arena, uint8_t, count),
        .rankings = IG_NEW_ARRAY(planner->arena, ranking, count),
        .positions = IG_NEW_ARRAY(planner->arena, uint8_t, count),
    };
    propose_all_products(&p);
    propose_greedily(&p, longest_part);
    propose_greedily(&p, all_parts);
    propose_one_type(&p);
}
