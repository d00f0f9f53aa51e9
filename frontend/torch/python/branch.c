/* Where the run chooses.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The two sides of a branch are merged after it (eval/merge.c).  Where that does not
 * do, each side goes on by itself to the end of the function, with all that is still to
 * do (ig_python_rest), and the function's results are merged:
 *
 *     if x.mean() > 0:          if …:  return a, made on this side
 *         return a              else:  b = …; return b, made on that side
 *     b = …
 *     return b
 *
 * It does not do where a side returns, breaks or continues, and where something reads a
 * value on which the two sides disagree: such a branch is a split, noted by an earlier
 * evaluation (eval/poison.c).  A branch in the middle of a statement, or in a function
 * that a statement calls, cannot go on from there: its condition is handed to the
 * statement, whose changes are taken back, and which is run again on either side with
 * the choice made.
 */
#include "frontend/torch/python/branch.h"
#include "frontend/torch/python/walk.h"

#include <assert.h>
#include <string.h>

enum { WAYS_MAX = 256 };

/* A branch that is open where we are. */
struct ig_python_open {
    const struct ig_python_open *outer;
    const ig_ts_point *point;
    uint32_t calls;
};

/* Branches and attempts are of calls that are open; an attempt takes no more choices
 * than it has. */
static void check_branching(const ig_ts_eval *eval) {
    const struct ig_python_branching *now = eval->python->branching;
    assert((!now->open || now->open->calls <= eval->python->calls) &&
           "an open branch is in an open call");
    assert((!now->open || !now->open->outer ||
            now->open->outer->calls <= now->open->calls) &&
           "a branch in another is in its call, or in one that it makes");
    assert((!now->attempt || now->attempt->next <= now->attempt->count) &&
           "a choice is one of those made");
    assert((!now->attempt || now->attempt->calls <= eval->python->calls) &&
           "an attempt is in an open call");
    (void)now;
}

static ig_ts_point *make_point(ig_ts_eval *eval, const ig_ast *node, uint32_t level) {
    ig_ts_point *point = IG_NEW(eval->arena, ig_ts_point);
    *point = (ig_ts_point){ .module = eval->frame->scope->module->name,
                            .line = node->line,
                            .column = node->column,
                            .level = level,
                            .levels = eval->python->calls };
    return point;
}

/* Both sides in one `if`; their differing values become poison of `point`. */
static ig_status branch_at(ig_ts_eval *eval, const ig_ts_point *point,
                           const ig_ts_value *condition, ig_ts_body yes, ig_ts_body no,
                           void *user) {
    struct ig_python_branching *now = eval->python->branching;
    ig_python_open open = { now->open, point, eval->python->calls };
    now->open = &open;
    eval->point = point;
    check_branching(eval);
    ig_status status = ig_ts_branch(eval, condition, yes, no, user);
    now->open = open.outer;
    return status;
}

/* ---- to the end ---- */

/* One side of a branch, to the end of the function. */
typedef struct side {
    const ig_ast *node; /* an `if` */
    const ig_python_rest *rest;
    const ig_python_attempt *again; /* or a statement with a branch inside; else NULL */
    const char *result;             /* the name that the result is bound to */
    bool is_trip;                   /* the end is that of a trip of a loop of the run */
} side;

static ig_status run_again(ig_ts_eval *eval, const ig_python_attempt *of, bool choice) {
    bool *choices = IG_NEW_ARRAY(eval->arena, bool, of->count + 1u);
    if (of->count) {
        memcpy(choices, of->choices, of->count * sizeof *choices);
    }
    choices[of->count] = choice;
    ig_python_attempt attempt = { .node = of->node,
                                  .run = of->run,
                                  .rest = of->rest,
                                  .choices = choices,
                                  .count = of->count + 1 };
    return ig_python_attempt_run(eval, &attempt);
}

static ig_status run_side(ig_ts_eval *eval, const side *s, bool choice) {
    ig_python_scope *scope = eval->frame->scope;
    const ig_python_rest *before = scope->rest;
    if (s->again) {
        IG_TRY(run_again(eval, s->again, choice));
    } else {
        IG_TRY(ig_python_run_from(
            eval, choice ? s->node->as.branch.body : s->node->as.branch.orelse, 0,
            s->rest));
    }
    IG_TRY(ig_python_run_rest(eval, s->rest));
    bool has_left = eval->frame->has_returned || scope->flow == IG_PYTHON_BREAK;
    if (s->is_trip && has_left) {
        return ig_ts_error(
            eval, IG_UNSUPPORTED,
            "returns, breaks or continues under a run-time condition, in a loop whose number of trips is known at run time only");
    }
    ig_ts_value result = eval->frame->has_returned ? eval->frame->result : ig_ts_none();
    eval->frame->has_returned = false;
    scope->flow = IG_PYTHON_ON;
    scope->rest = before;
    ig_ts_name_set(eval, eval->frame, s->result, result);
    return IG_OK;
}

static ig_status run_yes_side(ig_ts_eval *eval, void *user) {
    return run_side(eval, user, true);
}

static ig_status run_no_side(ig_ts_eval *eval, void *user) {
    return run_side(eval, user, false);
}

static bool ends_with_trip(const ig_python_rest *rest) {
    while (rest && !rest->is_barrier) {
        rest = rest->outer;
    }
    return rest != NULL;
}

/* Work that goes on to the end must not be done in a branch that ends before. */
static bool split_around(ig_ts_eval *eval, const char *what) {
    bool has_grown = false;
    for (const ig_python_open *open = eval->python->branching->open; open;
         open = open->outer) {
        bool is_merged = open->calls == eval->python->calls && open->point->level == 0;
        has_grown = (is_merged && ig_ts_split_add(eval, open->point, false, what)) ||
                    has_grown;
    }
    return has_grown;
}

static ig_status go_to_the_end(ig_ts_eval *eval, side *s, const ig_ts_point *point,
                               const ig_ts_value *condition) {
    if (split_around(eval, "a branch in it is split")) {
        return IG_UNSUPPORTED;
    }
    s->result = ig_python_intern(eval, "<result>");
    s->is_trip = ends_with_trip(s->rest);
    ig_ts_name_set(eval, eval->frame, s->result, (ig_ts_value){ 0 });
    uint32_t line = eval->frame->line;
    IG_TRY(branch_at(eval, point, condition, run_yes_side, run_no_side, s));
    eval->frame->line = line;
    if (s->is_trip) {
        eval->frame->scope->flow = IG_PYTHON_DONE;
        return IG_OK;
    }
    const ig_ts_value *result = ig_ts_name_get(eval->frame, s->result);
    eval->frame->result = result ? *result : ig_ts_none();
    eval->frame->has_returned = true;
    return IG_OK;
}

/* ---- statements that are run again ---- */

static void redo_changes(ig_ts_eval *eval, const ig_ts_level *level) {
    for (size_t i = 0; i < level->changes.count; i++) {
        const ig_ts_change *change = &level->changes.items[i];
        ig_ts_set_content(eval, change->kind, change->holder, &change->after);
    }
}

ig_status ig_python_attempt_run(ig_ts_eval *eval, ig_python_attempt *attempt) {
    struct ig_python_branching *now = eval->python->branching;
    ig_ts_frame *frame = eval->frame;
    uint32_t depth = eval->depth;
    ig_ts_level level;
    attempt->outer = now->attempt;
    attempt->calls = eval->python->calls;
    attempt->block = eval->builder.block;
    attempt->open = now->open;
    attempt->module = frame->scope->module->name;
    attempt->catches = ig_ts_split_find(eval, attempt->module, attempt->node, true) !=
                       NULL;
    now->attempt = attempt;
    check_branching(eval);
    if (attempt->catches) {
        ig_ts_level_start(eval, &level);
    }
    ig_status status = attempt->run(eval, attempt->node, attempt->rest);
    now->attempt = attempt->outer;
    if (attempt->catches) {
        ig_ts_level_undo(eval, &level);
    }
    if (attempt->catches && status == IG_OK) {
        redo_changes(eval, &level);
    }
    if (now->asked.of != attempt) {
        return status;
    }
    assert(status != IG_OK && attempt->catches &&
           "a block that is run again has stopped");
    ig_ts_value condition = ig_ts_of_run(IG_TS_BOOL, now->asked.condition);
    const ig_ts_point *point = now->asked.point;
    side s = { .rest = attempt->rest, .again = attempt };
    now->asked.of = NULL;
    eval->frame = frame;
    eval->depth = depth;
    eval->python->calls = attempt->calls;
    now->open = attempt->open;
    check_branching(eval);
    return go_to_the_end(eval, &s, point, &condition);
}

/* The branches in between go on as far as the one in them, in the next evaluation. */
static bool split_open(ig_ts_eval *eval, const ig_python_attempt *of,
                       const char *what) {
    bool has_grown = false;
    for (const ig_python_open *open = eval->python->branching->open;
         open && open != of->open; open = open->outer) {
        ig_ts_point point = *open->point;
        point.level = open->calls - of->calls;
        has_grown = ig_ts_split_add(eval, &point, false, what) || has_grown;
    }
    return has_grown;
}

/* One more way: are they few enough, by the limits of an import? */
static bool has_way(ig_ts_eval *eval) {
    const ig_budget *budget = &eval->context->budget;
    bool has_room = budget->limit == 0 || budget->used < budget->limit / 4 * 3;
    uint32_t *ways = &eval->python->branching->ways;
    *ways = has_room ? *ways + 1 : WAYS_MAX + 1;
    return *ways <= WAYS_MAX;
}

static ig_status refuse_split(ig_ts_eval *eval, const ig_ts_split *split) {
    if (eval->python->branching->ways > WAYS_MAX) {
        return ig_ts_error(eval, IG_UNSUPPORTED,
                           "%s: there are too many paths to follow separately",
                           split->what);
    }
    return ig_ts_error(eval, IG_UNSUPPORTED,
                       "%s: its two sides cannot be followed separately here",
                       split->what);
}

/* The side that is chosen where the statement is run again; else asks for that. */
static ig_status take_apart(ig_ts_eval *eval, const ig_ast *node,
                            const ig_ts_split *split, const ig_ts_value *condition,
                            bool *out_choice) {
    struct ig_python_branching *now = eval->python->branching;
    ig_python_attempt *of = now->attempt;
    while (of && of->calls + split->level > eval->python->calls) {
        of = of->outer;
    }
    if (of && of->next < of->count) {
        *out_choice = of->choices[of->next++];
        check_branching(eval);
        return IG_OK;
    }
    bool fits = of && of->calls + split->level == eval->python->calls && has_way(eval);
    if (!fits) {
        return refuse_split(eval, split);
    }
    if (!of->catches || of->block != eval->builder.block) {
        ig_ts_point point = { .module = of->module,
                              .line = of->node->line,
                              .column = of->node->column,
                              .levels = 1 };
        bool is_noted = of->catches ? split_open(eval, of, split->what)
                                    : ig_ts_split_add(eval, &point, true, split->what);
        return is_noted ? IG_UNSUPPORTED : refuse_split(eval, split);
    }
    IG_TRY(ig_ts_number_read(eval, condition, &now->asked.condition));
    now->asked.of = of;
    now->asked.point = make_point(eval, node, split->level + 1);
    return IG_UNSUPPORTED;
}

/* ---- the whole ---- */

ig_status ig_python_branch(ig_ts_eval *eval, const ig_ast *node,
                           const ig_ts_value *condition, ig_ts_body yes, ig_ts_body no,
                           void *user) {
    bool choice = condition->form == IG_TS_KNOWN && condition->as.b;
    if (condition->form != IG_TS_KNOWN) {
        const ig_ts_split *split =
            ig_ts_split_find(eval, eval->frame->scope->module->name, node, false);
        if (!split) {
            return branch_at(eval, make_point(eval, node, 0), condition, yes, no, user);
        }
        IG_TRY(take_apart(eval, node, split, condition, &choice));
    }
    return (choice ? yes : no)(eval, user);
}

static ig_status run_yes(ig_ts_eval *eval, void *user) {
    return ig_python_run_block(eval, ((const ig_ast *)user)->as.branch.body);
}

static ig_status run_no(ig_ts_eval *eval, void *user) {
    return ig_python_run_block(eval, ((const ig_ast *)user)->as.branch.orelse);
}

ig_status ig_python_run_if(ig_ts_eval *eval, const ig_ast *node) {
    ig_ts_value condition;
    IG_TRY(ig_python_condition(eval, node->as.branch.test, &condition));
    if (condition.form == IG_TS_KNOWN) {
        return ig_python_branch(eval, node, &condition, run_yes, run_no,
                                (void *)(uintptr_t)node);
    }
    bool may_leave = ig_python_may_leave(&node->as.branch.body) ||
                     ig_python_may_leave(&node->as.branch.orelse);
    const ig_ts_split *split = ig_ts_split_find(eval, eval->frame->scope->module->name,
                                                node, false);
    bool goes_on = split ? split->level == 0 : may_leave;
    if (!goes_on) {
        return ig_python_branch(eval, node, &condition, run_yes, run_no,
                                (void *)(uintptr_t)node);
    }
    if (split && !has_way(eval)) {
        return refuse_split(eval, split);
    }
    side s = { .node = node, .rest = eval->frame->scope->rest };
    return go_to_the_end(eval, &s, make_point(eval, node, 1), &condition);
}
