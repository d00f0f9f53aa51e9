/* Plans for modules in training, whose tables are opened.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_DRIVER_SHARD_OPENED_H
#define IG_DRIVER_SHARD_OPENED_H

#include "base/arena.h"
#include "passes/shard/divided.h"

typedef struct ig_opened_plan {
    const char *name; /* for messages; NULL: "plan" */
    const char *text;
    size_t rank;
} ig_opened_plan;

/* A table that bags look up, and its parts; none: every rank has all of it. */
typedef struct ig_held_table {
    const char *name;
    int64_t rank;
    ig_divided divided;
    bool is_trained; /* by the optimizer of that index */
    uint32_t group;
} ig_held_table;

typedef struct ig_held {
    int64_t world;
    ig_held_table *tables;
    size_t count;
} ig_held;

/* Divides the tables of a module whose look-ups are bags already: ig_module_shard for
 * weights that are arguments.  A part of a table becomes an argument after all others,
 * and the table's own argument has no uses then. */
ig_status ig_opened_divide(ig_module *module, const ig_opened_plan *plan,
                           ig_arena *arena, ig_held *out);
/* The name that the rank's share of a part has; NULL: it has nothing of it. */
const char *ig_held_name(const ig_held_table *table, ig_arena *arena, uint32_t part);

#endif
