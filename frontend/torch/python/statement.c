/* Statements.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every call is inlined: a frame, its statements one by one, its result.  Depth is
 * bounded, and so is the number of statements, for loops over known things are run.
 */
#include "frontend/torch/python/branch.h"
#include "frontend/torch/python/dialect.h"
#include "frontend/torch/python/walk.h"

#include <string.h>

static ig_status run_statement(ig_ts_eval *eval, const ig_ast *node);

/* Is nothing more to be run where we are? */
static bool has_left(ig_ts_eval *eval) {
    return eval->frame->has_returned || eval->frame->scope->flow != IG_PYTHON_ON;
}

/* ---- bodies ---- */

static ig_status run_one(ig_ts_eval *eval, const ig_ast *node,
                         const ig_python_rest *rest) {
    eval->frame->scope->rest = rest;
    eval->frame->line = node->line;
    IG_TRY(ig_ts_step(eval));
    return run_statement(eval, node);
}

ig_status ig_python_run_from(ig_ts_eval *eval, ig_ast_list body, size_t next,
                             const ig_python_rest *outer) {
    ig_python_scope *scope = eval->frame->scope;
    const ig_python_rest *before = scope->rest;
    ig_status status = IG_OK;
    for (size_t i = next; status == IG_OK && i < body.count && !has_left(eval); i++) {
        ig_python_rest rest = { .body = body, .next = i + 1, .outer = outer };
        ig_python_attempt attempt = { .node = body.items[i],
                                      .run = run_one,
                                      .rest = &rest };
        status = ig_python_attempt_run(eval, &attempt);
    }
    scope->rest = before;
    return status;
}

ig_status ig_python_run_block(ig_ts_eval *eval, ig_ast_list body) {
    ig_python_scope *scope = eval->frame->scope;
    const ig_python_rest *rest = scope->rest;
    IG_TRY(ig_python_run_from(eval, body, 0, rest));
    if (rest && rest->is_barrier && scope->flow == IG_PYTHON_DONE) {
        scope->flow = IG_PYTHON_ON; /* the next trip begins */
    }
    return IG_OK;
}

/* ---- loops over known values ---- */

/* Did the loop's body leave the loop? */
static bool leaves_loop(ig_ts_eval *eval) {
    ig_python_scope *scope = eval->frame->scope;
    bool is_broken = scope->flow == IG_PYTHON_BREAK || scope->flow == IG_PYTHON_DONE;
    scope->flow = scope->flow == IG_PYTHON_DONE ? IG_PYTHON_DONE : IG_PYTHON_ON;
    return is_broken || eval->frame->has_returned;
}

static ig_status run_trips(ig_ts_eval *eval, const ig_ast *node,
                           const ig_ts_list *items, size_t next,
                           const ig_python_rest *outer) {
    ig_ast_list body = node->as.loop.body;
    for (size_t i = next; i < items->count; i++) {
        ig_python_rest rest = {
            .loop = node, .items = items, .next = i + 1, .outer = outer
        };
        eval->frame->line = node->line;
        IG_TRY(ig_python_assign(eval, node->as.loop.target, items->items[i]));
        IG_TRY(ig_python_run_from(eval, body, 0, &rest));
        if (leaves_loop(eval)) {
            return IG_OK;
        }
    }
    return ig_python_run_from(eval, node->as.loop.orelse, 0, outer);
}

/* A body of which the run makes as many trips as it likes. */
static ig_status run_loop(ig_ts_eval *eval, ig_ts_loop *loop,
                          const ig_ts_value *trips) {
    ig_python_scope *scope = eval->frame->scope;
    const ig_python_rest *before = scope->rest;
    ig_python_rest barrier = { .is_barrier = true };
    if (ig_python_may_leave(&loop->body)) {
        return ig_ts_error(
            eval, IG_UNSUPPORTED,
            "returns, breaks or continues in a loop whose number of trips is known at run time only");
    }
    scope->rest = &barrier;
    ig_status status = trips ? ig_ts_run_trips(eval, *trips, loop)
                             : ig_ts_loop_build(eval, loop);
    scope->rest = before;
    return status;
}

static ig_status run_while_from(ig_ts_eval *eval, const ig_ast *node,
                                const ig_python_rest *outer) {
    ig_python_rest rest = { .loop = node, .outer = outer };
    for (;;) {
        ig_ts_value condition;
        eval->frame->line = node->line;
        IG_TRY(ig_ts_step(eval));
        IG_TRY(ig_python_condition(eval, node->as.branch.test, &condition));
        if (condition.form != IG_TS_KNOWN) {
            ig_value *value;
            IG_TRY(ig_ts_number_read(eval, &condition, &value));
            ig_ts_loop loop = { .node = node,
                                .test = node->as.branch.test,
                                .body = node->as.branch.body,
                                .condition = value };
            IG_TRY(run_loop(eval, &loop, NULL));
            return ig_python_run_from(eval, node->as.branch.orelse, 0, outer);
        }
        if (!condition.as.b) {
            return ig_python_run_from(eval, node->as.branch.orelse, 0, outer);
        }
        IG_TRY(ig_python_run_from(eval, node->as.branch.body, 0, &rest));
        if (leaves_loop(eval)) {
            return IG_OK;
        }
    }
}

/* The n of `range(n)`, where the name means Python's. */
static const ig_ast *range_count(ig_ts_eval *eval, const ig_ast *iterable) {
    bool is_call = iterable->kind == IG_AST_CALL &&
                   iterable->as.call.function->kind == IG_AST_NAME &&
                   strcmp(iterable->as.call.function->as.name, "range") == 0 &&
                   iterable->as.call.arguments.count == 1 &&
                   iterable->as.call.keyword_count == 0;
    bool is_own = is_call &&
                  ig_ts_name_get(eval->frame, iterable->as.call.function->as.name);
    return is_call && !is_own ? iterable->as.call.arguments.items[0] : NULL;
}

static ig_ts_list *count_up(ig_ts_eval *eval, int64_t trips) {
    ig_ts_list *items = ig_ts_list_create(eval, trips > 0 ? (size_t)trips : 0);
    for (int64_t i = 0; i < trips; i++) {
        ig_ts_list_add(eval, items, ig_ts_of_int(i));
    }
    return items;
}

/* `for i in range(n)`: trips that the run counts become a `loop`. */
static ig_status run_counted(ig_ts_eval *eval, const ig_ast *node, const ig_ast *count,
                             const ig_python_rest *outer) {
    const ig_ast *target = node->as.loop.target;
    ig_ts_value trips;
    IG_TRY(ig_python_evaluate(eval, count, &trips));
    IG_TRY(ig_ts_use(eval, &trips));
    if (trips.kind != IG_TS_INT) {
        return ig_ts_error(eval, IG_INVALID, "range takes %s", ig_ts_kind_name(&trips));
    }
    if (trips.form == IG_TS_KNOWN && trips.as.i <= IG_TS_UNROLL_MAX) {
        return run_trips(eval, node, count_up(eval, trips.as.i), 0, outer);
    }
    ig_ts_loop loop = { .node = node, .target = target, .body = node->as.loop.body };
    IG_TRY(run_loop(eval, &loop, &trips));
    return ig_python_run_from(eval, node->as.loop.orelse, 0, outer);
}

static ig_status run_for(ig_ts_eval *eval, const ig_ast *node) {
    const ig_python_rest *outer = eval->frame->scope->rest;
    const ig_ast *count = range_count(eval, node->as.loop.iterable);
    ig_ts_value iterable;
    ig_ts_list *items;
    if (node->flags & IG_AST_ASYNC) {
        return ig_ts_error(eval, IG_UNSUPPORTED, "async is not supported");
    }
    if (count) {
        return run_counted(eval, node, count, outer);
    }
    IG_TRY(ig_python_evaluate(eval, node->as.loop.iterable, &iterable));
    IG_TRY(ig_python_items(eval, &iterable, &items));
    return run_trips(eval, node, items, 0, outer);
}

/* ---- work left ---- */

ig_status ig_python_run_rest(ig_ts_eval *eval, const ig_python_rest *rest) {
    ig_python_scope *scope = eval->frame->scope;
    for (; rest && !eval->frame->has_returned && scope->flow != IG_PYTHON_DONE;
         rest = rest->outer) {
        if (!rest->loop) {
            IG_TRY(ig_python_run_from(eval, rest->body, rest->next, rest->outer));
            continue;
        }
        bool is_broken = scope->flow == IG_PYTHON_BREAK;
        ig_python_attempt left = { .node = rest->loop,
                                   .run = run_while_from,
                                   .rest = rest->outer };
        scope->flow = IG_PYTHON_ON;
        if (is_broken) {
            continue;
        }
        IG_TRY(rest->items
                   ? run_trips(eval, rest->loop, rest->items, rest->next, rest->outer)
                   : ig_python_attempt_run(eval, &left));
    }
    return IG_OK;
}

/* ---- exceptions ---- */

/* "name: text", as far as the source gives the text. */
static ig_status raise_with(ig_ts_eval *eval, const char *name, const ig_ast *text) {
    bool is_text = text &&
                   (text->kind == IG_AST_STRING || text->kind == IG_AST_FORMATTED);
    ig_str words = is_text ? text->as.text : IG_STR("");
    const char *whole = ig_arena_printf(eval->arena, "%s%s%.*s", name,
                                        words.size ? ": " : "", IG_STR_ARG(words));
    return ig_ts_raise(eval, ig_module_string(eval->module, ig_str_of(whole)));
}

static ig_status run_raise(ig_ts_eval *eval, const ig_ast *node) {
    const ig_ast *what = node->as.pair.first;
    bool is_call = what && what->kind == IG_AST_CALL;
    const ig_ast_list none = { 0 };
    const ig_ast_list *arguments = is_call ? &what->as.call.arguments : &none;
    const ig_ast *class = is_call ? what->as.call.function : what;
    const char *name = class ? ig_ast_dotted(class, eval->arena) : NULL;
    return raise_with(eval, name ? name : "an exception",
                      arguments->count ? arguments->items[0] : NULL);
}

static ig_status assert_holds(ig_ts_eval *eval, void *user) {
    (void)eval;
    (void)user;
    return IG_OK;
}

static ig_status assert_fails(ig_ts_eval *eval, void *user) {
    return raise_with(eval, "AssertionError", ((const ig_ast *)user)->as.pair.second);
}

static ig_status run_assert(ig_ts_eval *eval, const ig_ast *node) {
    ig_ts_value condition;
    IG_TRY(ig_python_condition(eval, node->as.pair.first, &condition));
    return ig_ts_branch(eval, &condition, assert_holds, assert_fails,
                        (void *)(uintptr_t)node);
}

/* Imports that may fail in Python: here they do not. */
static ig_status run_try(ig_ts_eval *eval, const ig_ast *node) {
    const ig_ast_list *body = &node->as.try->body;
    for (size_t i = 0; i < body->count; i++) {
        if (body->items[i]->kind != IG_AST_IMPORT) {
            return ig_ts_error(eval, IG_UNSUPPORTED,
                               "a try statement is not supported: exceptions end the "
                               "call");
        }
    }
    return ig_python_run_block(eval, *body);
}

/* ---- with ---- */

bool ig_python_is_idle_context(const char *name) {
    static const char *const idle[] = {
        "torch.no_grad",
        "torch.inference_mode",
        "torch.enable_grad",
        "torch.set_grad_enabled",
        "contextlib.nullcontext",
        "torch.profiler.record_function",
        "torch.autograd.profiler.record_function",
        "torch.autograd.set_detect_anomaly",
    };
    for (size_t i = 0; i < IG_COUNT_OF(idle); i++) {
        if (strcmp(name, idle[i]) == 0) {
            return true;
        }
    }
    return false;
}

static ig_status run_with(ig_ts_eval *eval, const ig_ast *node) {
    if (eval->frame->is_dialect) {
        return ig_dialect_with(eval, node);
    }
    for (size_t i = 0; i < node->as.with.count; i++) {
        const ig_ast *context = node->as.with.contexts[i];
        ig_ts_value value;
        context = context->kind == IG_AST_CALL ? context->as.call.function : context;
        IG_TRY(ig_python_evaluate(eval, context, &value));
        const char *name = ig_python_external_name(&value);
        if (!name || !ig_python_is_idle_context(name)) {
            return ig_ts_error(eval, IG_UNSUPPORTED,
                               "a with statement over %s is not supported",
                               name ? name : "an object");
        }
        if (node->as.with.targets[i]) {
            IG_TRY(ig_python_assign(eval, node->as.with.targets[i], ig_ts_none()));
        }
    }
    return ig_python_run_block(eval, node->as.with.body);
}

/* ---- the others ---- */

static ig_status run_assign(ig_ts_eval *eval, const ig_ast *node) {
    const ig_ast *value = node->as.assign.value;
    const ig_ast *target = node->as.assign.targets.items[0];
    ig_ts_value got;
    bool is_unpacked = target->kind == IG_AST_TUPLE && value->kind == IG_AST_CALL;
    eval->names = is_unpacked ? (uint32_t)target->as.list.count : 0;
    IG_TRY(ig_python_evaluate(eval, value, &got));
    eval->names = 0;
    for (size_t i = 0; i < node->as.assign.targets.count; i++) {
        IG_TRY(ig_python_assign(eval, node->as.assign.targets.items[i], got));
    }
    return IG_OK;
}

static ig_status run_augmented(ig_ts_eval *eval, const ig_ast *node) {
    ig_ts_value before, value, after;
    IG_TRY(ig_python_evaluate(eval, node->as.binary.left, &before));
    IG_TRY(ig_python_evaluate(eval, node->as.binary.right, &value));
    IG_TRY(ig_python_augment(eval, (ig_ast_operator)node->op, &before, &value, &after));
    return ig_python_assign(eval, node->as.binary.left, after);
}

static ig_status run_annotated(ig_ts_eval *eval, const ig_ast *node) {
    ig_ts_value value = { .kind = IG_TS_UNDEFINED };
    if (!node->as.annotated.value && !eval->frame->is_dialect) {
        return IG_OK;
    }
    if (node->as.annotated.value) {
        IG_TRY(ig_python_evaluate(eval, node->as.annotated.value, &value));
    }
    return ig_python_assign(eval, node->as.annotated.target, value);
}

static ig_status run_return(ig_ts_eval *eval, const ig_ast *node) {
    ig_ts_value value = ig_ts_none();
    if (node->as.value) {
        IG_TRY(ig_python_evaluate(eval, node->as.value, &value));
    }
    eval->frame->result = value;
    eval->frame->has_returned = true;
    return IG_OK;
}

static ig_status run_definition(ig_ts_eval *eval, const ig_ast *node) {
    ig_ts_value value;
    bool is_def = node->kind == IG_AST_DEF;
    IG_TRY(is_def ? ig_python_def(eval, node, &value)
                  : ig_python_class_of(eval, node, &value));
    ig_ts_name_set(eval, eval->frame,
                   is_def ? node->as.def->name : node->as.class->name, value);
    return IG_OK;
}

static ig_status run_delete(ig_ts_eval *eval, const ig_ast *node) {
    for (size_t i = 0; i < node->as.list.count; i++) {
        IG_TRY(ig_python_delete(eval, node->as.list.items[i]));
    }
    return IG_OK;
}

static ig_status run_simple(ig_ts_eval *eval, const ig_ast *node) {
    ig_ts_value nothing;
    switch ((int)node->kind) {
    case IG_AST_EXPRESSION:
        return node->as.value->kind == IG_AST_STRING
                   ? IG_OK
                   : ig_python_evaluate(eval, node->as.value, &nothing);
    case IG_AST_ASSIGN:
        return run_assign(eval, node);
    case IG_AST_ANNOTATED:
        return run_annotated(eval, node);
    case IG_AST_AUGMENTED:
        return run_augmented(eval, node);
    case IG_AST_RETURN:
        return run_return(eval, node);
    case IG_AST_RAISE:
        return run_raise(eval, node);
    case IG_AST_ASSERT:
        return run_assert(eval, node);
    case IG_AST_DELETE:
        return run_delete(eval, node);
    case IG_AST_IMPORT:
        return ig_python_run_import(eval, node);
    case IG_AST_PASS:
        return IG_OK;
    case IG_AST_BREAK:
        eval->frame->scope->flow = IG_PYTHON_BREAK;
        return IG_OK;
    case IG_AST_CONTINUE:
        eval->frame->scope->flow = IG_PYTHON_CONTINUE;
        return IG_OK;
    default:
        return ig_ts_error(eval, IG_UNSUPPORTED, "a %s statement is not supported",
                           ig_ast_kind_words(node->kind));
    }
}

static ig_status run_statement(ig_ts_eval *eval, const ig_ast *node) {
    switch ((int)node->kind) {
    case IG_AST_IF:
        return ig_python_run_if(eval, node);
    case IG_AST_WHILE:
        return run_while_from(eval, node, eval->frame->scope->rest);
    case IG_AST_FOR:
        return run_for(eval, node);
    case IG_AST_WITH:
        return run_with(eval, node);
    case IG_AST_TRY:
        return run_try(eval, node);
    case IG_AST_DEF:
    case IG_AST_CLASS:
        return run_definition(eval, node);
    default:
        return run_simple(eval, node);
    }
}
