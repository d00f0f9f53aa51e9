/* The public function: a plan, as JSON.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/host.h"
#include "driver/shard/search.h"
#include "ingot/shard.h"

#include <math.h>

typedef struct plan_call {
    ig_context *context;
    const char *name, *text, *out;
    ig_shard_objective objective;
} plan_call;

static void put_list(ig_writer *out, const int64_t *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        ig_put(out, "%s%lld", i ? ", " : "[", (long long)values[i]);
    }
    ig_put(out, "]");
}

/* "rank:9/cuda:1": the shard's place, as TorchRec writes it. */
static void put_placement(ig_writer *out, const shard_problem *p, int32_t rank) {
    if (p->is_cuda) {
        ig_put(out, ", \"placement\": \"rank:%d/cuda:%d\"", (int)rank,
               (int)(rank % p->local_world));
    } else {
        ig_put(out, ", \"placement\": \"rank:%d/cpu\"", (int)rank);
    }
}

static void put_shards(ig_writer *out, const shard_problem *p,
                       const shard_placement *placement) {
    for (int64_t i = 0; i < placement->option->part_count; i++) {
        const shard_part *part = &placement->option->parts[i];
        ig_put(out, "%s{\"rank\": %d, \"size\": ", i ? ",\n    " : "\n    ",
               (int)placement->ranks[i]);
        put_list(out, part->size, 2);
        ig_put(out, ", \"offset\": ");
        put_list(out, part->offset, 2);
        put_placement(out, p, placement->ranks[i]);
        ig_put(out, ", \"hbm\": %.0f, \"ddr\": %.0f, \"ms\": %.17g}", part->hbm,
               part->ddr, shard_part_total(part));
    }
}

static void put_tables(ig_writer *out, const shard_planner *planner) {
    ig_put(out, "\"tables\": [");
    for (size_t i = 0; i < planner->problem->table_count; i++) {
        const shard_placement *placement = &planner->best[i];
        ig_put(out, "%s{\"name\": ", i ? ",\n  " : "\n  ");
        ig_put_json_string(out, ig_str_of(placement->option->table->name));
        ig_put(out,
               ", \"sharding_type\": \"%s\", \"compute_kernel\": \"%s\", "
               "\"shards\": [",
               shard_type_names[placement->option->type],
               shard_kernel_names[placement->option->kernel]);
        put_shards(out, planner->problem, placement);
        ig_put(out, "]}");
    }
    ig_put(out, "]");
}

static void put_ranks(ig_writer *out, shard_planner *planner) {
    const shard_problem *p = planner->problem;
    shard_sum_ranks(planner, planner->best);
    ig_put(out, "\"ranks\": [");
    for (int64_t i = 0; i < p->world; i++) {
        const shard_rank *rank = &planner->ranks[i];
        const double *ms = rank->times;
        ig_put(out,
               "%s{\"rank\": %lld, \"hbm\": %.0f, \"ddr\": %.0f, \"fwd_compute\": "
               "%.17g, \"fwd_comms\": %.17g, \"bwd_compute\": %.17g, \"bwd_comms\": "
               "%.17g, \"total\": %.17g}",
               i ? ",\n  " : "\n  ", (long long)i, planner->empty.hbm - rank->hbm,
               planner->empty.ddr - rank->ddr, ms[SHARD_FWD_COMPUTE],
               ms[SHARD_FWD_COMMS], ms[SHARD_BWD_COMPUTE], ms[SHARD_BWD_COMMS],
               planner->totals[i]);
    }
    ig_put(out, "]");
}

static ig_status refuse_plan(const plan_call *call, const shard_planner *planner) {
    ig_location where = { .file = call->name };
    return ig_error(
        &call->context->diag, IG_INVALID, &where,
        "none of %zu proposals fits: a rank has %.0f bytes of device and "
        "%.0f of host memory left for tables; give more ranks, more memory "
        "(\"hbm_cap\", \"ddr_cap\"), a smaller batch, fewer constraints, or let tables be cut by rows "
        "(\"sharding_types\": [\"row_wise\"])",
        planner->proposal_count, planner->empty.hbm, planner->empty.ddr);
}

/* Parts and ranks that may be looked at, so that any problem takes about a second. */
#define PROPOSER_STEPS 3e7
#define SEARCH_STEPS 8e7
#define EXACT_STEPS 3e7

static shard_search choose_plan(shard_planner *planner, ig_shard_objective objective) {
    shard_search search;
    bool is_ours = objective == IG_SHARD_CRITICAL_PATH;
    planner->steps_left = is_ours ? PROPOSER_STEPS : INFINITY;
    shard_propose(planner);
    shard_search_init(&search, planner);
    if (is_ours) {
        planner->steps_left = SEARCH_STEPS;
        shard_improve(&search);
        planner->steps_left = EXACT_STEPS;
        shard_try_all(&search);
    }
    return search;
}

static ig_status make_plan(void *arguments) {
    plan_call *call = arguments;
    ig_arena *arena = &ig_driver_of(call->context)->arena;
    ig_location where = { .file = call->name };
    shard_problem problem = { 0 };
    shard_choice *choices;
    shard_planner planner;
    IG_TRY(shard_problem_read(call->context, arena, &where, ig_str_of(call->text),
                              &problem));
    problem.is_ours = call->objective == IG_SHARD_CRITICAL_PATH;
    IG_TRY(shard_list_choices(call->context, arena, &where, &problem, &choices));
    shard_planner_init(&planner, arena, &problem, choices);
    shard_search search;
    if (problem.given_plan) {
        IG_TRY(shard_read_plan(call->context, &where, &planner, problem.given_plan));
        shard_search_init(&search, &planner);
    } else {
        search = choose_plan(&planner, call->objective);
    }
    if (isinf(planner.best_worst)) {
        return refuse_plan(call, &planner);
    }
    ig_writer out;
    ig_writer_init(&out, arena);
    ig_put(&out, "{\"module_path\": ");
    ig_put_json_string(&out, ig_str_of(problem.module_path));
    ig_put(&out, ",\n ");
    put_tables(&out, &planner);
    ig_put(&out, ",\n ");
    put_ranks(&out, &planner);
    shard_score score = shard_score_placements(&search, planner.best);
    ig_put(&out,
           ",\n \"critical_path\": %.17g, \"bound\": %.17g, \"gap\": %.17g, "
           "\"is_exact\": %s",
           score.critical, search.bound,
           search.bound > 0 ? score.critical / search.bound - 1 : 0,
           search.is_exact ? "true" : "false");
    ig_put(&out, ",\n \"worst_rank\": %.17g, \"proposals\": %zu, \"plans\": %zu}\n",
           shard_worst_rank(&planner, planner.best), planner.proposal_count,
           planner.plan_count);
    call->out = ig_writer_str(&out).data;
    return IG_OK;
}

ig_status ig_shard_plan(ig_context *context, const char *name, const char *text,
                        ig_shard_objective objective, const char **out_json) {
    plan_call call = { .context = context,
                       .name = name,
                       .text = text,
                       .out = "",
                       .objective = objective };
    ig_status status = ig_driver_guard(context, make_plan, &call);
    *out_json = call.out;
    return ig_driver_settle(context, status);
}
