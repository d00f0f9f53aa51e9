/* A plan that was made elsewhere or by hand: read and checked.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/shard/plan.h"

typedef struct plan_reader {
    ig_context *context;
    const ig_location *where;
    shard_planner *planner;
} plan_reader;

static bool is_named(const ig_json *json, const char *key, const char *name) {
    return ig_str_is(ig_str_of(ig_json_text(ig_json_get(json, key))), name);
}

static ig_status find_entry(const plan_reader *r, const ig_json *tables,
                            const char *name, const ig_json **out) {
    *out = NULL;
    for (size_t i = 0; i < ig_json_count(tables); i++) {
        const ig_json *entry = &tables->as.list.items[i];
        if (!is_named(entry, "name", name)) {
            continue;
        }
        if (*out) {
            return ig_error(&r->context->diag, IG_INVALID, r->where,
                            "plan: table '%s' has two entries", name);
        }
        *out = entry;
    }
    return *out ? IG_OK
                : ig_error(&r->context->diag, IG_INVALID, r->where,
                           "plan: there is no entry for table '%s'; is it the plan of "
                           "other tables?",
                           name);
}

static ig_status find_option(const plan_reader *r, size_t table, const ig_json *entry) {
    const shard_choice *choice = &r->planner->choices[table];
    const char *type = ig_json_text(ig_json_get(entry, "sharding_type"));
    const char *kernel = ig_json_text(ig_json_get(entry, "compute_kernel"));
    for (size_t i = 0; i < choice->count; i++) {
        const shard_option *option = &choice->options[i];
        if (ig_str_is(ig_str_of(shard_type_names[option->type]), type) &&
            ig_str_is(ig_str_of(shard_kernel_names[option->kernel]), kernel)) {
            r->planner->best[table].option = option;
            return IG_OK;
        }
    }
    return ig_error(&r->context->diag, IG_INVALID, r->where,
                    "plan: table '%s' cannot be '%s' with kernel '%s' on this topology "
                    "and by its constraints",
                    choice->options[0].table->name, type, kernel);
}

/* A pair of the entry, where it has it, is that of the option. */
static bool is_same_pair(const ig_json *shard, const char *key, const int64_t *pair) {
    const ig_json *given = ig_json_get(shard, key);
    int64_t first = -1, second = -1;
    return !given || (given->kind == IG_JSON_ARRAY && ig_json_count(given) == 2 &&
                      ig_json_int(&given->as.list.items[0], &first) &&
                      ig_json_int(&given->as.list.items[1], &second) &&
                      first == pair[0] && second == pair[1]);
}

static ig_status read_rank(const plan_reader *r, const shard_placement *placement,
                           int64_t part, const ig_json *shard) {
    const char *name = placement->option->table->name;
    int64_t rank = -1, world = r->planner->problem->world;
    if (!ig_json_int(ig_json_get(shard, "rank"), &rank) || rank < 0 || rank >= world) {
        return ig_error(&r->context->diag, IG_INVALID, r->where,
                        "plan: table '%s': \"rank\" of shard %lld must be a whole "
                        "number from 0 to %lld",
                        name, (long long)part, (long long)world - 1);
    }
    if (!is_same_pair(shard, "size", placement->option->parts[part].size) ||
        !is_same_pair(shard, "offset", placement->option->parts[part].offset)) {
        return ig_error(&r->context->diag, IG_INVALID, r->where,
                        "plan: table '%s': shard %lld has another size or offset than "
                        "this table would be cut to; make the plan for this table",
                        name, (long long)part);
    }
    placement->ranks[part] = (int32_t)rank;
    return IG_OK;
}

/* Each block of columns is on all ranks of one host, in order. */
static bool is_grid_legal(const shard_problem *p, const shard_placement *placement) {
    for (int64_t i = 0; i < placement->option->part_count; i++) {
        int64_t first = placement->ranks[i - i % p->local_world];
        if (first % p->local_world != 0 ||
            placement->ranks[i] != first + i % p->local_world) {
            return false;
        }
    }
    return true;
}

/* Are the shards of a type over all ranks on different ranks, and those of a type
 * within a host on one host? */
static bool are_ranks_legal(const shard_problem *p, const shard_placement *placement) {
    shard_type type = placement->option->type;
    if (type == SHARD_GRID) {
        return is_grid_legal(p, placement);
    }
    bool is_spread = type == SHARD_DATA_PARALLEL || type == SHARD_ROW_WISE ||
                     type == SHARD_TABLE_ROW_WISE;
    bool is_on_host = type == SHARD_TABLE_ROW_WISE || type == SHARD_TABLE_COLUMN_WISE;
    int64_t host = placement->ranks[0] / p->local_world;
    int64_t first = type == SHARD_TABLE_ROW_WISE ? host * p->local_world : 0;
    for (int64_t i = 0; i < placement->option->part_count; i++) {
        if (is_spread && placement->ranks[i] != first + i) {
            return false;
        }
        if (is_on_host && placement->ranks[i] / p->local_world != host) {
            return false;
        }
    }
    return true;
}

static ig_status read_entry(const plan_reader *r, size_t table, const ig_json *entry) {
    const shard_placement *placement = &r->planner->best[table];
    const ig_json *shards = ig_json_get(entry, "shards");
    IG_TRY(find_option(r, table, entry));
    size_t count = (size_t)placement->option->part_count;
    const char *name = placement->option->table->name;
    if (!shards || shards->kind != IG_JSON_ARRAY || ig_json_count(shards) != count) {
        return ig_error(&r->context->diag, IG_INVALID, r->where,
                        "plan: table '%s': \"shards\" must be a list of %zu, as "
                        "[{\"rank\": 0}]",
                        name, count);
    }
    for (size_t i = 0; i < count; i++) {
        IG_TRY(read_rank(r, placement, (int64_t)i, &shards->as.list.items[i]));
    }
    return are_ranks_legal(r->planner->problem, placement)
               ? IG_OK
               : ig_error(
                     &r->context->diag, IG_INVALID, r->where,
                     "plan: table '%s': shards of '%s' are on ranks in their order (0, 1, …), within one host where the type says so",
                     name, shard_type_names[placement->option->type]);
}

static ig_status check_room(const plan_reader *r) {
    shard_planner *planner = r->planner;
    shard_sum_ranks(planner, planner->best);
    for (int64_t i = 0; i < planner->problem->world; i++) {
        const shard_rank *rank = &planner->ranks[i];
        if (rank->hbm < 0 || rank->ddr < 0) {
            return ig_error(&r->context->diag, IG_INVALID, r->where,
                            "plan: rank %lld lacks %.0f bytes of %s memory; move a "
                            "table elsewhere or cut it",
                            (long long)i, rank->hbm < 0 ? -rank->hbm : -rank->ddr,
                            rank->hbm < 0 ? "device" : "host");
        }
    }
    return IG_OK;
}

ig_status shard_read_plan(ig_context *context, const ig_location *where,
                          shard_planner *planner, const ig_json *plan) {
    plan_reader r = { context, where, planner };
    const ig_json *tables = ig_json_get(plan, "tables");
    size_t count = planner->problem->table_count;
    if (!tables || tables->kind != IG_JSON_ARRAY) {
        return ig_error(&context->diag, IG_INVALID, where,
                        "plan: \"tables\" must be a list of {\"name\", "
                        "\"sharding_type\", \"compute_kernel\", \"shards\"}");
    }
    for (size_t i = 0; i < count; i++) {
        const ig_json *entry;
        IG_TRY(find_entry(&r, tables, planner->problem->tables[i].name, &entry));
        IG_TRY(read_entry(&r, i, entry));
    }
    if (ig_json_count(tables) != count) {
        return ig_error(&context->diag, IG_INVALID, where,
                        "plan: it has %zu tables, and there are %zu; is it the plan of "
                        "other tables?",
                        ig_json_count(tables), count);
    }
    planner->best_worst = shard_worst_rank(planner, planner->best);
    return check_room(&r);
}
