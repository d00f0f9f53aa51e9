/* Statements, names, calls of functions and methods.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every call is inlined: a frame, its statements one by one, its result.  Depth is
 * bounded, and so is the number of statements, for loops over known things are run.
 */
#include "frontend/torch/eval/control.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { CALL_DEPTH = 200, POLL_EVERY = 1024 };

/* Where the archive holds the module whose method runs, or who called it. */
static const char *module_of(const ig_ts_frame *frame) {
    for (; frame; frame = frame->around ? frame->around : frame->caller) {
        const ig_ts_value *self = frame->count ? &frame->values[0] : NULL;
        if (self && self->kind == IG_TS_OBJECT && self->as.object->path) {
            return self->as.object->path[0] ? self->as.object->path : NULL;
        }
    }
    return NULL;
}

ig_location ig_ts_where(const ig_ts_eval *eval) {
    assert(eval->frame && "a place is in a function");
    const ig_ts_frame *frame = eval->frame;
    if (!frame) {
        return (ig_location){ .file = eval->file };
    }
    if (frame->node) {
        return (ig_location){ .file = eval->file,
                              .node = frame->node,
                              .scope = frame->module };
    }
    return (ig_location){ .file = frame->file,
                          .graph = frame->label,
                          .line = frame->line,
                          .scope = module_of(frame) };
}

ig_status ig_ts_error(ig_ts_eval *eval, ig_status status, const char *format, ...) {
    char text[512];
    va_list args;
    ig_location where = ig_ts_where(eval);
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    eval->has_failed = true;
    return ig_error(&eval->context->diag, status, &where, "%s", text);
}

ig_status ig_ts_error_limit(ig_ts_eval *eval, ig_limit_id id, const char *what) {
    ig_location where = ig_ts_where(eval);
    eval->has_failed = true;
    return ig_error_limit(&eval->context->diag, &where, &eval->context->limits, id,
                          "%s", what);
}

ig_status ig_ts_raise(ig_ts_eval *eval, const char *message) {
    eval->has_raised = true;
    eval->raised = message;
    eval->raised_at = ig_ts_where(eval);
    return IG_INVALID;
}

ig_status ig_ts_use(ig_ts_eval *eval, const ig_ts_value *value) {
    if (value->kind == IG_TS_POISON) {
        return ig_ts_refuse_poison(eval, "uses a value that", value->as.poison);
    }
    if (value->kind == IG_TS_UNSET) {
        return ig_ts_error(eval, IG_INVALID, "uses a value that is not set");
    }
    return IG_OK;
}

/* ---- names ---- */

ig_ts_value *ig_ts_name_get(ig_ts_frame *frame, const char *name) {
    for (; frame; frame = frame->around) {
        uintptr_t at = (uintptr_t)ig_map_get_id(&frame->slots, IG_MAP_PTR(name));
        if (at && frame->values[at - 1].kind != IG_TS_UNSET) {
            return &frame->values[at - 1];
        }
    }
    return NULL;
}

void ig_ts_name_set(ig_ts_eval *eval, ig_ts_frame *frame, const char *name,
                    ig_ts_value value) {
    assert(name && "a value has a name");
    ig_ts_touch(eval, IG_TS_HOLD_FRAME, frame);
    uintptr_t at = (uintptr_t)ig_map_get_id(&frame->slots, IG_MAP_PTR(name));
    if (!at) {
        size_t count = frame->count, capacity = frame->capacity;
        ig_vec_grow(eval->arena, (void **)&frame->names, &count, &capacity,
                    sizeof(char *));
        ig_vec_grow(eval->arena, (void **)&frame->values, &frame->count,
                    &frame->capacity, sizeof(value));
        frame->names[frame->count - 1] = name;
        at = frame->count;
        ig_map_set_id(&frame->slots, IG_MAP_PTR(name), (void *)at);
    }
    frame->values[at - 1] = value;
}

/* ---- assignment ---- */

static ig_status assign_attribute(ig_ts_eval *eval, const ig_ast *target,
                                  ig_ts_value value) {
    ig_ts_value object;
    IG_TRY(ig_ts_evaluate(eval, target->as.attribute.object, &object));
    if (object.kind != IG_TS_OBJECT) {
        return ig_ts_error(eval, IG_INVALID, "sets attribute '%s' of %s",
                           target->as.attribute.name, ig_ts_kind_name(&object));
    }
    ig_ts_object_set(eval, object.as.object, target->as.attribute.name, value);
    return IG_OK;
}

static ig_status assign_target(ig_ts_eval *eval, const ig_ast *target,
                               ig_ts_value value) {
    if (target->kind == IG_AST_NAME) {
        ig_ts_name_set(eval, eval->frame, target->as.name, value);
        return IG_OK;
    }
    if (target->kind == IG_AST_ATTRIBUTE) {
        return assign_attribute(eval, target, value);
    }
    return ig_ts_error(eval, IG_UNSUPPORTED, "assigns to a %s",
                       ig_ast_kind_words(target->kind));
}

/* `a, b, = value`. */
static ig_status unpack_values(ig_ts_eval *eval, const ig_ast_list *targets,
                               const ig_ts_value *value) {
    if (value->kind != IG_TS_TUPLE && value->kind != IG_TS_LIST) {
        IG_TRY(ig_ts_use(eval, value));
        return ig_ts_error(eval, IG_INVALID, "unpacks %s", ig_ts_kind_name(value));
    }
    const ig_ts_list *list = value->as.list;
    IG_TRY(ig_ts_open(eval, value));
    if (list->count != targets->count) {
        return ig_ts_error(eval, IG_INVALID, "unpacks %zu values into %zu names",
                           list->count, targets->count);
    }
    for (size_t i = 0; i < targets->count; i++) {
        IG_TRY(assign_target(eval, targets->items[i], list->items[i]));
    }
    return IG_OK;
}

/* `a, b = x, y`: all right sides before all left ones. */
static ig_status assign_parallel(ig_ts_eval *eval, const ig_ast_list *targets,
                                 const ig_ast_list *values) {
    ig_ts_value *got = IG_NEW_ARRAY(eval->arena, ig_ts_value, values->count);
    for (size_t i = 0; i < values->count; i++) {
        IG_TRY(ig_ts_evaluate(eval, values->items[i], &got[i]));
    }
    for (size_t i = 0; i < targets->count; i++) {
        IG_TRY(assign_target(eval, targets->items[i], got[i]));
    }
    return IG_OK;
}

/* `a, b = op(…)`: the results of an operator; of anything else the parts of a tuple. */
static ig_status assign_results(ig_ts_eval *eval, const ig_ast_list *targets,
                                const ig_ast *value) {
    ig_ts_value *results = IG_NEW_ARRAY(eval->arena, ig_ts_value, targets->count + 1);
    uint32_t count = (uint32_t)targets->count;
    IG_TRY(ig_ts_evaluate_results(eval, value, results, &count));
    if (count == 1 && targets->count != 1) {
        return unpack_values(eval, targets, &results[0]);
    }
    if (count != targets->count) {
        return ig_ts_error(eval, IG_INVALID, "takes %u results for %zu names", count,
                           targets->count);
    }
    for (size_t i = 0; i < targets->count; i++) {
        IG_TRY(assign_target(eval, targets->items[i], results[i]));
    }
    return IG_OK;
}

static ig_status run_assign(ig_ts_eval *eval, const ig_ast *node) {
    const ig_ast *value = node->as.assign.value;
    const ig_ast *target = node->as.assign.targets.items[0];
    ig_ts_value got;
    if (node->as.assign.targets.count == 1 && target->kind == IG_AST_TUPLE) {
        const ig_ast_list *targets = &target->as.list;
        bool is_parallel = value->kind == IG_AST_TUPLE &&
                           !(target->flags & IG_AST_COMMA) &&
                           value->as.list.count == targets->count;
        if (is_parallel) {
            return assign_parallel(eval, targets, &value->as.list);
        }
        if (!(target->flags & IG_AST_COMMA)) {
            return assign_results(eval, targets, value);
        }
        eval->names = value->kind == IG_AST_CALL ? (uint32_t)targets->count : 0;
        IG_TRY(ig_ts_evaluate(eval, value, &got));
        return unpack_values(eval, targets, &got);
    }
    IG_TRY(ig_ts_evaluate(eval, value, &got));
    for (size_t i = 0; i < node->as.assign.targets.count; i++) {
        IG_TRY(assign_target(eval, node->as.assign.targets.items[i], got));
    }
    return IG_OK;
}

static ig_status run_annotated(ig_ts_eval *eval, const ig_ast *node) {
    ig_ts_value value = { .kind = IG_TS_UNDEFINED };
    if (node->as.annotated.value) {
        IG_TRY(ig_ts_evaluate(eval, node->as.annotated.value, &value));
    }
    return assign_target(eval, node->as.annotated.target, value);
}

/* ---- statements ---- */

static ig_status run_expression(ig_ts_eval *eval, const ig_ast *node) {
    ig_ts_value results[8];
    uint32_t count = IG_COUNT_OF(results);
    return ig_ts_evaluate_results(eval, node->as.value, results, &count);
}

static ig_status run_yes(ig_ts_eval *eval, void *user) {
    const ig_ast *node = user;
    return ig_ts_run_block(eval, node->as.branch.body);
}

static ig_status run_no(ig_ts_eval *eval, void *user) {
    const ig_ast *node = user;
    return ig_ts_run_block(eval, node->as.branch.orelse);
}

static ig_status run_if(ig_ts_eval *eval, const ig_ast *node) {
    ig_ts_value value, condition;
    IG_TRY(ig_ts_evaluate(eval, node->as.branch.test, &value));
    IG_TRY(ig_ts_use(eval, &value));
    if (value.kind == IG_TS_UNDEFINED) {
        condition = ig_ts_of_bool(false); /* on a path that is never gone */
    } else {
        IG_TRY(ig_ts_truth(eval, &value, &condition));
    }
    return ig_ts_branch(eval, &condition, run_yes, run_no, (void *)(uintptr_t)node);
}

static ig_status run_return(ig_ts_eval *eval, const ig_ast *node) {
    eval->frame->result = ig_ts_none();
    if (node->as.value) {
        IG_TRY(ig_ts_evaluate(eval, node->as.value, &eval->frame->result));
    }
    eval->frame->has_returned = true;
    return IG_OK;
}

static ig_status run_def(ig_ts_eval *eval, const ig_ast *node) {
    ig_ts_function *function = IG_NEW(eval->arena, ig_ts_function);
    function->node = node;
    function->around = eval->frame;
    ig_ts_value value = { .kind = IG_TS_FUNCTION, .as.function = function };
    ig_ts_name_set(eval, eval->frame, node->as.def->name, value);
    return IG_OK;
}

static ig_status call_if_there(ig_ts_eval *eval, const ig_ts_value *object,
                               const char *method, uint32_t nones,
                               ig_ts_value *out_value) {
    ig_ts_value none[3] = { ig_ts_none(), ig_ts_none(), ig_ts_none() };
    ig_ts_arguments arguments = { .values = none, .positional = nones };
    *out_value = *object;
    if (object->kind != IG_TS_OBJECT ||
        !ig_ts_has_method(eval, object->as.object, method)) {
        return IG_OK;
    }
    return ig_ts_call_method(eval, object->as.object, method, &arguments, out_value);
}

static ig_status run_with(ig_ts_eval *eval, const ig_ast *node) {
    size_t count = node->as.with.count;
    ig_ts_value *contexts = IG_NEW_ARRAY(eval->arena, ig_ts_value, count), entered;
    for (size_t i = 0; i < count; i++) {
        IG_TRY(ig_ts_evaluate(eval, node->as.with.contexts[i], &contexts[i]));
        IG_TRY(call_if_there(eval, &contexts[i], "__enter__", 0, &entered));
        if (node->as.with.targets[i]) {
            IG_TRY(assign_target(eval, node->as.with.targets[i], entered));
        }
    }
    IG_TRY(ig_ts_run_block(eval, node->as.with.body));
    for (size_t i = count; i-- > 0;) {
        IG_TRY(call_if_there(eval, &contexts[i], "__exit__", 3, &entered));
    }
    return IG_OK;
}

static ig_status run_statement(ig_ts_eval *eval, const ig_ast *node) {
    switch ((int)node->kind) {
    case IG_AST_EXPRESSION:
        return run_expression(eval, node);
    case IG_AST_ASSIGN:
        return run_assign(eval, node);
    case IG_AST_ANNOTATED:
        return run_annotated(eval, node);
    case IG_AST_IF:
        return run_if(eval, node);
    case IG_AST_WHILE:
        return ig_ts_run_while(eval, node);
    case IG_AST_FOR:
        return ig_ts_run_for(eval, node);
    case IG_AST_WITH:
        return run_with(eval, node);
    case IG_AST_RETURN:
        return run_return(eval, node);
    case IG_AST_DEF:
        return run_def(eval, node);
    case IG_AST_PASS:
        return IG_OK;
    default:
        return ig_ts_error(eval, IG_UNSUPPORTED, "a %s statement is not supported",
                           ig_ast_kind_words(node->kind));
    }
}

ig_status ig_ts_step(ig_ts_eval *eval) {
    if (++eval->steps % POLL_EVERY == 0) {
        IG_TRY(ig_context_poll(eval->context));
    }
    return eval->steps <= (uint64_t)eval->context->limits.script_steps
               ? IG_OK
               : ig_ts_error_limit(eval, IG_LIMIT_script_steps,
                                   "the number of steps at import");
}

ig_status ig_ts_run_block(ig_ts_eval *eval, ig_ast_list body) {
    if (eval->frame->plain) {
        return eval->plain->run_block(eval, body);
    }
    for (size_t i = 0; i < body.count && !eval->frame->has_returned; i++) {
        eval->frame->line = body.items[i]->line;
        IG_TRY(ig_ts_step(eval));
        IG_TRY(run_statement(eval, body.items[i]));
    }
    return IG_OK;
}

/* ---- calls ---- */

static ig_ts_frame *open_frame(ig_ts_eval *eval, const ig_ts_function *function) {
    ig_ts_frame *frame = IG_NEW(eval->arena, ig_ts_frame);
    frame->cell.born = ++eval->clock;
    frame->caller = eval->frame;
    frame->around = function->around;
    frame->file = function->function ? function->function->file : eval->frame->file;
    frame->label = function->function
                       ? ig_code_plain_name(eval->code, function->function->name)
                       : eval->frame->label;
    ig_map_init(&frame->slots, eval->arena);
    frame->result = ig_ts_none();
    return frame;
}

ig_status ig_ts_default(ig_ts_eval *eval, const ig_function *function,
                        const ig_param *param, ig_ts_value *out_value) {
    return function->plain
               ? eval->plain->default_value(eval, function, param->value, out_value)
               : ig_ts_evaluate(eval, param->value, out_value);
}

static int find_keyword(const ig_ts_arguments *arguments, const char *name) {
    for (uint32_t i = 0; i < arguments->keywords; i++) {
        if (strcmp(arguments->names[i], name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

/* Parameters of `function` in the frame (which is not the present one yet). */
static ig_status bind_parameters(ig_ts_eval *eval, const ig_function *function,
                                 const ig_ts_arguments *arguments, ig_ts_frame *frame) {
    for (size_t i = 0; i < function->param_count; i++) {
        const ig_param *param = &function->params[i];
        int keyword = find_keyword(arguments, param->name);
        ig_ts_value value;
        if (i < arguments->positional) {
            value = arguments->values[i];
        } else if (keyword >= 0) {
            value = arguments->values[arguments->positional + (uint32_t)keyword];
        } else if (param->value) {
            IG_TRY(ig_ts_evaluate(eval, param->value, &value));
        } else {
            return ig_ts_error(eval, IG_INVALID, "calls %s without argument '%s'",
                               frame->label, param->name);
        }
        ig_ts_name_set(eval, frame, param->name, value);
    }
    return arguments->positional <= function->param_count
               ? IG_OK
               : ig_ts_error(eval, IG_INVALID, "calls %s with %u arguments, not %zu",
                             frame->label, arguments->positional,
                             function->param_count);
}

ig_status ig_ts_call_function(ig_ts_eval *eval, const ig_ts_function *function,
                              const ig_ts_arguments *arguments,
                              ig_ts_value *out_value) {
    const ig_ast *node = function->function ? function->function->node : function->node;
    if (function->plain || (function->function && function->function->plain)) {
        return eval->plain->call(eval, function, arguments, out_value);
    }
    const ig_ts_native *native = function->function ? function->function->native : NULL;
    if (!node && !native) {
        return ig_ts_error(eval, IG_UNSUPPORTED, "calls a value that is no function");
    }
    if (eval->depth >= CALL_DEPTH) {
        return ig_ts_error(eval, IG_LIMIT, "calls are nested more than %d deep",
                           CALL_DEPTH);
    }
    ig_ts_frame *frame = open_frame(eval, function);
    if (function->function) {
        IG_TRY(bind_parameters(eval, function->function, arguments, frame));
    }
    eval->frame = frame;
    eval->depth++;
    ig_status status = native ? native->run(eval, native->user)
                              : ig_ts_run_block(eval, node->as.def->body);
    eval->depth--;
    eval->frame = frame->caller;
    *out_value = frame->result;
    return status;
}

bool ig_ts_has_method(ig_ts_eval *eval, const ig_ts_object *self, const char *name) {
    (void)eval;
    return self->class && ig_class_method(self->class, name);
}

ig_status ig_ts_call_method(ig_ts_eval *eval, ig_ts_object *self, const char *name,
                            const ig_ts_arguments *arguments, ig_ts_value *out_value) {
    const ig_function *method = self->class ? ig_class_method(self->class, name) : NULL;
    if (!method) {
        return ig_ts_error(eval, self->class ? IG_INVALID : IG_UNSUPPORTED,
                           "calls method '%s', which %s has not", name,
                           self->class_name);
    }
    uint32_t count = arguments->positional + arguments->keywords;
    ig_ts_value *values = IG_NEW_ARRAY(eval->arena, ig_ts_value, count + 1u);
    ig_ts_arguments with_self = { .values = values,
                                  .names = arguments->names,
                                  .positional = arguments->positional + 1,
                                  .keywords = arguments->keywords };
    values[0] = ig_ts_of_object(self);
    if (count) {
        memcpy(values + 1, arguments->values, count * sizeof(*values));
    }
    ig_ts_function function = { .function = method };
    return ig_ts_call_function(eval, &function, &with_self, out_value);
}
