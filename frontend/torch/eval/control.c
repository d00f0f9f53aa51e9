/* Branches: known ones are run, others become `if`.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/eval/control.h"

#include <assert.h>

/* A body whose changes will be taken back: it must not return from the function. */
static ig_status try_body(ig_ts_eval *eval, ig_ts_body body, void *user) {
    ig_status status = body(eval, user);
    if (status == IG_OK && eval->frame->has_returned) {
        return ig_ts_error(
            eval, IG_UNSUPPORTED,
            "returns from within a branch that a run-time condition chooses");
    }
    return status;
}

static ig_op *make_trial(ig_ts_eval *eval, ig_value *condition) {
    ig_location where = ig_ts_where(eval);
    eval->builder.loc = ig_module_location(eval->module, &where);
    ig_op_spec spec = { .operands = &condition, .operand_count = 1 };
    return ig_make_op(&eval->builder, IG_OP_if, &spec);
}

/* The only side that does not raise: its ops and changes, as if there were no
 * branch. */
static void take_side(ig_ts_eval *eval, ig_op *trial, uint32_t index,
                      const ig_ts_level *level) {
    assert(index < 2 && "a branch has two sides");
    ig_ts_move_ops(trial->bodies[index], trial->block, trial);
    ig_op_erase(trial);
    for (size_t i = 0; i < level->changes.count; i++) {
        const ig_ts_change *change = &level->changes.items[i];
        ig_ts_set_content(eval, change->kind, change->holder, &change->after);
    }
}

static ig_status branch_at_run_time(ig_ts_eval *eval, ig_value *condition,
                                    ig_ts_body bodies[2], void *user) {
    ig_op *trial = make_trial(eval, condition);
    const ig_ts_point *point = eval->point;
    ig_ts_level levels[2];
    ig_ts_side sides[2];
    ig_builder outside = eval->builder;
    bool has_raised[2];
    uint32_t first_symbol = ig_symbol_count(eval->module);
    eval->point = NULL; /* of this branch, not of those in it */
    for (uint32_t k = 0; k < 2; k++) {
        ig_ts_frame *frame = eval->frame;
        uint32_t depth = eval->depth;
        ig_ts_level_start(eval, &levels[k]);
        eval->builder = ig_builder_at_end(trial->bodies[k]);
        eval->builder.loc = outside.loc;
        ig_status status = try_body(eval, bodies[k], user);
        has_raised[k] = status != IG_OK && eval->has_raised;
        eval->has_raised = false;
        sides[k] = (ig_ts_side){ eval->builder, &levels[k] };
        eval->builder = outside;
        eval->frame = frame;
        eval->depth = depth;
        ig_ts_level_undo(eval, &levels[k]);
        if (status != IG_OK && !has_raised[k]) {
            return status;
        }
    }
    if (has_raised[0] && has_raised[1]) {
        ig_op_erase(trial);
        eval->has_raised = true;
        return IG_INVALID;
    }
    if (has_raised[0] || has_raised[1]) {
        ig_ts_guard_truth(eval, condition, has_raised[1], eval->raised);
        take_side(eval, trial, has_raised[0] ? 1 : 0, &levels[has_raised[0] ? 1 : 0]);
        return IG_OK;
    }
    return ig_ts_merge(eval, trial, sides, first_symbol, point);
}

ig_status ig_ts_branch(ig_ts_eval *eval, const ig_ts_value *condition, ig_ts_body yes,
                       ig_ts_body no, void *user) {
    if (condition->form == IG_TS_KNOWN) {
        eval->point = NULL;
        return (condition->as.b ? yes : no)(eval, user);
    }
    ig_value *value;
    IG_TRY(ig_ts_number_read(eval, condition, &value));
    return branch_at_run_time(eval, value, (ig_ts_body[]){ yes, no }, user);
}

/* ---- for, so many times ---- */

static ig_status run_known_trips(ig_ts_eval *eval, const ig_ts_loop *loop,
                                 int64_t trips) {
    ig_ts_value test;
    for (int64_t i = 0; i < trips && !eval->frame->has_returned; i++) {
        ig_ts_name_set(eval, eval->frame, loop->target->as.name, ig_ts_of_int(i));
        IG_TRY(loop->run ? loop->run(eval, loop->user, &test)
                         : eval->language->run_block(eval, loop->body));
    }
    return IG_OK;
}

/* A negative count, which to `loop` says that there is none, is no trip. */
static ig_status read_trips(ig_ts_eval *eval, ig_ts_value *trips, ig_value **out) {
    if (trips->form == IG_TS_DIM) {
        ig_dim none = ig_dim_const(eval->module, 0);
        *trips = ig_ts_of_dim(eval->module,
                              ig_dim_max(eval->module, trips->as.dim, none));
    }
    IG_TRY(ig_ts_number_read(eval, trips, out));
    if (trips->form == IG_TS_RUN) {
        ig_expr e = ig_expr_of(&eval->builder);
        *out = ig_expr_with_integer(&e, IG_OP_max, *out, 0);
    }
    return IG_OK;
}

ig_status ig_ts_run_trips(ig_ts_eval *eval, ig_ts_value trips, ig_ts_loop *loop) {
    if (trips.form == IG_TS_KNOWN && trips.as.i <= IG_TS_UNROLL_MAX) {
        return run_known_trips(eval, loop, trips.as.i);
    }
    if (trips.form == IG_TS_KNOWN && trips.as.i > eval->context->limits.loop_trips) {
        return ig_ts_error_limit(eval, IG_LIMIT_loop_trips, "the number of trips");
    }
    if (loop->target->kind != IG_AST_NAME) {
        return ig_ts_error(eval, IG_UNSUPPORTED, "a loop over a %s is not supported",
                           ig_ast_kind_words(loop->target->kind));
    }
    IG_TRY(read_trips(eval, &trips, &loop->trips));
    return ig_ts_loop_build(eval, loop);
}
