/* Calls: the function, its arguments, its frame.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/python/branch.h"
#include "frontend/torch/python/dialect.h"
#include "frontend/torch/python/piecewise.h"
#include "frontend/torch/python/walk.h"

#include <assert.h>
#include <string.h>

enum { CALL_DEPTH = 200 };

/* ---- arguments of a call ---- */

typedef struct reading {
    IG_VEC(ig_ts_value) values, keywords;
    IG_VEC(const char *) names;
} reading;

static ig_status read_positional(ig_ts_eval *eval, const ig_ast *node, reading *r) {
    ig_ts_value value;
    ig_ts_list *items;
    if (node->kind != IG_AST_STARRED) {
        IG_TRY(ig_python_evaluate(eval, node, &value));
        IG_PUSH(eval->arena, &r->values, value);
        return IG_OK;
    }
    IG_TRY(ig_python_evaluate(eval, node->as.value, &value));
    IG_TRY(ig_python_items(eval, &value, &items));
    for (size_t i = 0; i < items->count; i++) {
        IG_PUSH(eval->arena, &r->values, items->items[i]);
    }
    return IG_OK;
}

static ig_status read_keyword(ig_ts_eval *eval, const ig_ast_keyword *keyword,
                              reading *r) {
    ig_ts_value value;
    IG_TRY(ig_python_evaluate(eval, keyword->value, &value));
    if (keyword->name) {
        IG_PUSH(eval->arena, &r->keywords, value);
        IG_PUSH(eval->arena, &r->names, keyword->name);
        return IG_OK;
    }
    IG_TRY(ig_ts_use(eval, &value));
    if (value.kind != IG_TS_DICT) {
        return ig_ts_error(eval, IG_UNSUPPORTED, "'**' of %s in a call",
                           ig_ts_kind_name(&value));
    }
    IG_TRY(ig_ts_open(eval, &value));
    for (size_t i = 0; i < value.as.dict->count; i++) {
        const ig_ts_value *key = &value.as.dict->keys[i];
        if (key->kind != IG_TS_STR) {
            return ig_ts_raise(eval, "TypeError: keywords must be strings");
        }
        const char *name = ig_names_intern(&eval->code->names, key->as.str);
        IG_PUSH(eval->arena, &r->keywords, value.as.dict->values[i]);
        IG_PUSH(eval->arena, &r->names, name);
    }
    return IG_OK;
}

ig_status ig_python_read_arguments(ig_ts_eval *eval, const ig_ast *node,
                                   ig_ts_arguments *out) {
    reading r = { 0 };
    for (size_t i = 0; i < node->as.call.arguments.count; i++) {
        IG_TRY(read_positional(eval, node->as.call.arguments.items[i], &r));
    }
    for (size_t i = 0; i < node->as.call.keyword_count; i++) {
        IG_TRY(read_keyword(eval, &node->as.call.keywords[i], &r));
    }
    out->positional = (uint32_t)r.values.count;
    out->keywords = (uint32_t)r.keywords.count;
    for (size_t i = 0; i < r.keywords.count; i++) {
        IG_PUSH(eval->arena, &r.values, r.keywords.items[i]);
    }
    out->values = r.values.items;
    out->names = r.names.items;
    return IG_OK;
}

const ig_ts_value *ig_python_argument(const ig_ts_arguments *arguments,
                                      uint32_t position, const char *name) {
    if (position < arguments->positional) {
        return &arguments->values[position];
    }
    for (uint32_t i = 0; i < arguments->keywords; i++) {
        if (strcmp(arguments->names[i], name) == 0) {
            return &arguments->values[arguments->positional + i];
        }
    }
    return NULL;
}

ig_ts_arguments ig_python_with_self(ig_ts_eval *eval, ig_ts_value self,
                                    const ig_ts_arguments *arguments) {
    uint32_t count = arguments->positional + arguments->keywords;
    ig_ts_arguments made = { .names = arguments->names,
                             .positional = arguments->positional + 1,
                             .keywords = arguments->keywords };
    made.values = IG_NEW_ARRAY(eval->arena, ig_ts_value, count + 1u);
    made.values[0] = self;
    if (count) {
        memcpy(made.values + 1, arguments->values, count * sizeof(*made.values));
    }
    return made;
}

/* ---- parameters ---- */

typedef struct binding {
    const ig_python_thing *function;
    const ig_ts_arguments *given;
    ig_ts_frame *frame;
    uint32_t used;
    bool *used_keywords;
} binding;

static const ig_ts_value *take_keyword(binding *b, const char *name) {
    for (uint32_t i = 0; i < b->given->keywords; i++) {
        if (strcmp(b->given->names[i], name) == 0) {
            b->used_keywords[i] = true;
            return &b->given->values[b->given->positional + i];
        }
    }
    return NULL;
}

/* As the function's author sees names, not the caller. */
static ig_status evaluate_default(ig_ts_eval *eval, const ig_python_thing *function,
                                  const ig_ast *node, ig_ts_value *out) {
    ig_ts_frame *caller = eval->frame;
    ig_ts_frame *home = function->around ? function->around
                                         : function->module->space.frame;
    ig_ts_frame *before = home->caller;
    uint32_t line = home->line;
    if (!before) { /* else it is running already */
        home->caller = caller;
    }
    eval->frame = home;
    ig_status status = ig_python_evaluate(eval, node, out);
    eval->frame = caller;
    home->caller = before;
    home->line = line;
    return status;
}

ig_status ig_python_default(ig_ts_eval *eval, const ig_function *function,
                            const ig_param *param, ig_ts_value *out) {
    return evaluate_default(eval, ig_python_function(eval, function), param->value,
                            out);
}

/* Does the import know all that it holds? */
static bool is_plain_data(const ig_ts_value *value) {
    bool is_list = value->kind == IG_TS_LIST || value->kind == IG_TS_TUPLE;
    size_t count = is_list                     ? value->as.list->count
                   : value->kind == IG_TS_DICT ? value->as.dict->count
                                               : 0;
    bool is_data = is_list || value->kind == IG_TS_DICT || value->kind == IG_TS_NONE ||
                   value->kind == IG_TS_STR ||
                   (ig_ts_is_number(value) && value->form == IG_TS_KNOWN);
    for (size_t i = 0; is_data && i < count; i++) {
        is_data = is_plain_data(is_list ? &value->as.list->items[i]
                                        : &value->as.dict->values[i]);
    }
    return is_data;
}

/* It was there before any call, and outlives them: changes are seen by the journal and
 * refused at the end. */
static void make_lasting(ig_ts_value *value, const char *path) {
    bool is_list = value->kind == IG_TS_LIST || value->kind == IG_TS_TUPLE;
    size_t count = is_list                     ? value->as.list->count
                   : value->kind == IG_TS_DICT ? value->as.dict->count
                                               : 0;
    if (is_list) {
        value->as.list->cell.born = 0;
        value->as.list->path = path;
    } else if (value->kind == IG_TS_DICT) {
        value->as.dict->cell.born = 0;
        value->as.dict->path = path;
    }
    for (size_t i = 0; i < count; i++) {
        make_lasting(is_list ? &value->as.list->items[i] : &value->as.dict->values[i],
                     path);
    }
}

/* A list or dict that is a default is one, whoever calls. */
static ig_status take_default(ig_ts_eval *eval, const ig_python_thing *function,
                              size_t index, ig_ts_value *out) {
    const ig_ast_def *def = function->node->as.def;
    const ig_ts_value *kept = function->defaults ? &function->defaults[index] : NULL;
    if (kept && kept->kind != IG_TS_UNSET) {
        *out = *kept;
        return IG_OK;
    }
    IG_TRY(evaluate_default(eval, function, def->params[index].value, out));
    bool is_held = out->kind == IG_TS_LIST || out->kind == IG_TS_DICT;
    if (!is_held || !is_plain_data(out) || function->module->is_dialect) {
        return IG_OK;
    }
    ig_python_thing *thing = (ig_python_thing *)(uintptr_t)function;
    if (!thing->defaults) {
        thing->defaults = IG_NEW_ARRAY(eval->arena, ig_ts_value, def->param_count);
    }
    make_lasting(out, ig_arena_printf(eval->arena, "default of %s", def->name));
    thing->defaults[index] = *out;
    return IG_OK;
}

/* A nested function's defaults are evaluated where it is made. */
static ig_status make_defaults(ig_ts_eval *eval, ig_python_thing *thing) {
    const ig_ast_def *def = thing->node->as.def;
    thing->defaults = IG_NEW_ARRAY(eval->arena, ig_ts_value, def->param_count + 1);
    for (size_t i = 0; i < def->param_count; i++) {
        if (def->params[i].value) {
            IG_TRY(ig_python_evaluate(eval, def->params[i].value, &thing->defaults[i]));
        }
    }
    return IG_OK;
}

static ig_status type_error(ig_ts_eval *eval, const binding *b, const char *what,
                            const char *name) {
    return ig_ts_raise(
        eval,
        ig_module_string(eval->module,
                         ig_str_of(ig_arena_printf(eval->arena, "TypeError: %s() %s%s",
                                                   b->function->name, what, name))));
}

static void bind_rest(ig_ts_eval *eval, binding *b, const ig_ast_param *param) {
    ig_ts_list *rest = ig_ts_list_create(eval, 0);
    for (; b->used < b->given->positional; b->used++) {
        ig_ts_list_add(eval, rest, b->given->values[b->used]);
    }
    ig_ts_name_set(eval, b->frame, param->name, ig_ts_of_tuple(rest));
}

static void bind_keywords(ig_ts_eval *eval, binding *b, const ig_ast_param *param) {
    ig_ts_dict *dict = ig_ts_dict_create(eval);
    for (uint32_t i = 0; i < b->given->keywords; i++) {
        if (!b->used_keywords[i]) {
            b->used_keywords[i] = true;
            ig_ts_dict_set(eval, dict, ig_ts_of_str(ig_str_of(b->given->names[i])),
                           b->given->values[b->given->positional + i]);
        }
    }
    ig_ts_name_set(eval, b->frame, param->name, ig_ts_of_dict(dict));
}

static ig_status bind_parameter(ig_ts_eval *eval, binding *b,
                                const ig_ast_param *param) {
    const ig_ts_value *given = NULL;
    ig_ts_value value;
    if (param->kind == IG_AST_PARAM_STAR) {
        if (param->name) {
            bind_rest(eval, b, param);
        }
        return IG_OK;
    }
    if (param->kind == IG_AST_PARAM_STARS) {
        bind_keywords(eval, b, param);
        return IG_OK;
    }
    if (param->kind != IG_AST_PARAM_KEYWORD && b->used < b->given->positional) {
        given = &b->given->values[b->used++];
    } else if (param->kind != IG_AST_PARAM_POSITIONAL) {
        given = take_keyword(b, param->name);
    }
    if (given) {
        value = *given;
    } else if (param->value) {
        size_t index = (size_t)(param - b->function->node->as.def->params);
        IG_TRY(take_default(eval, b->function, index, &value));
    } else {
        return type_error(eval, b, "is called without argument ", param->name);
    }
    ig_ts_name_set(eval, b->frame, param->name, value);
    return IG_OK;
}

static ig_status bind_parameters(ig_ts_eval *eval, const ig_python_thing *function,
                                 const ig_ts_arguments *given, ig_ts_frame *frame) {
    const ig_ast_def *def = function->node->as.def;
    binding b = { .function = function, .given = given, .frame = frame };
    b.used_keywords = IG_NEW_ARRAY(eval->arena, bool, given->keywords + 1u);
    for (size_t i = 0; i < def->param_count; i++) {
        IG_TRY(bind_parameter(eval, &b, &def->params[i]));
    }
    if (b.used < given->positional) {
        return type_error(eval, &b, "takes fewer positional arguments", "");
    }
    for (uint32_t i = 0; i < given->keywords; i++) {
        if (!b.used_keywords[i]) {
            return type_error(eval, &b, "got an unexpected argument ", given->names[i]);
        }
    }
    return IG_OK;
}

/* ---- functions ---- */

/* Decorators that do not change the computation. */
static bool is_idle_decorator(const char *name) {
    static const char *const idle[] = {
        "staticmethod",
        "classmethod",
        "property",
        "torch.no_grad",
        "torch.inference_mode",
        "torch.jit.export",
        "torch.jit.script",
        "torch.jit.unused",
        "torch.jit.ignore",
        "torch.compile",
        "functools.lru_cache",
        "functools.cache",
        "torch.fx.wrap",
        "functools.cached_property",
        "typing.overload",
        "abc.abstractmethod",
        "torch.jit.script_if_tracing",
        "typing.final",
        "builtins.staticmethod",
        "builtins.classmethod",
        "builtins.property",
    };
    for (size_t i = 0; i < IG_COUNT_OF(idle); i++) {
        if (strcmp(name, idle[i]) == 0) {
            return true;
        }
    }
    return false;
}

static ig_status check_decorators(ig_ts_eval *eval, const ig_python_thing *function) {
    const ig_ast_list *list = &function->node->as.def->decorators;
    for (size_t i = 0; i < list->count; i++) {
        const ig_ast *node = list->items[i];
        ig_ts_value value = { 0 };
        node = node->kind == IG_AST_CALL ? node->as.call.function : node;
        const char *name = ig_ast_dotted(node, eval->arena);
        if (name && is_idle_decorator(name)) {
            continue;
        }
        IG_TRY(evaluate_default(eval, function, node, &value));
        name = ig_python_known_name(&value);
        if (!name || !is_idle_decorator(name)) {
            return ig_ts_error(eval, IG_UNSUPPORTED,
                               "calls %s, whose decorator in line %u is not known",
                               function->name, node->line);
        }
    }
    return IG_OK;
}

static ig_ts_frame *open_frame(ig_ts_eval *eval, const ig_python_thing *function) {
    ig_ts_frame *frame = ig_python_frame(eval, function->module, function->name);
    frame->caller = eval->frame;
    frame->around = function->around;
    frame->scope->function = function;
    frame->line = function->node->line;
    return frame;
}

static ig_status run_function(ig_ts_eval *eval, const ig_python_thing *function,
                              ig_ts_frame *frame, ig_ts_value *out) {
    ig_ts_frame *caller = eval->frame;
    bool is_plain = !frame->is_dialect;
    eval->frame = frame;
    eval->depth++;
    eval->python->calls++;
    if (is_plain) {
        ig_python_declare(eval, frame, &function->node->as.def->body);
    }
    ig_status status = ig_python_run_block(eval, function->node->as.def->body);
    eval->depth--;
    eval->python->calls--;
    eval->frame = caller;
    *out = frame->result;
    bool has_failed = is_plain && !function->module->is_stock && status != IG_OK &&
                      !eval->has_raised && !eval->python->branching->asked.of;
    if (has_failed && !eval->python->failed) {
        eval->python->failed = function;
    }
    if (function->owner) {
        ig_map_set_id(&eval->python->called, IG_MAP_PTR(function->owner),
                      (void *)(uintptr_t)function->owner);
    }
    return status;
}

static ig_status call_def(ig_ts_eval *eval, const ig_python_thing *function,
                          const ig_ts_arguments *arguments, ig_ts_value *out) {
    const ig_ast *node = function->node;
    if (eval->depth >= CALL_DEPTH) {
        return ig_ts_error(eval, IG_LIMIT, "calls are nested more than %d deep",
                           CALL_DEPTH);
    }
    bool is_dialect = function->module->is_dialect;
    if (!is_dialect &&
        (node->as.def->is_async || ig_python_yields(&node->as.def->body))) {
        return ig_ts_error(eval, IG_UNSUPPORTED,
                           "calls %s, a generator or coroutine, which is not supported",
                           function->name);
    }
    IG_TRY(check_decorators(eval, function));
    ig_ts_frame *frame = open_frame(eval, function);
    IG_TRY(bind_parameters(eval, function, arguments, frame));
    return run_function(eval, function, frame, out);
}

static ig_status call_native(ig_ts_eval *eval, const ig_python_thing *thing,
                             const ig_ts_arguments *arguments, ig_ts_value *out) {
    const ig_function *function = thing->native;
    ig_ts_frame *frame = ig_python_frame(eval, thing->module, thing->name);
    frame->caller = eval->frame;
    for (size_t i = 0; i < function->param_count; i++) {
        const char *name = function->params[i].name;
        const ig_ts_value *given = ig_python_argument(arguments, (uint32_t)i, name);
        if (!given) {
            return ig_ts_error(eval, IG_INVALID, "calls %s without argument '%s'",
                               thing->name, name);
        }
        ig_ts_name_set(eval, frame, name, *given);
    }
    eval->frame = frame;
    ig_status status = function->native->run(eval, function->native->user);
    eval->frame = frame->caller;
    *out = frame->result;
    return status;
}

/* A function of the dialect is in a module of its own, which knows its file. */
const ig_python_thing *ig_python_function(ig_ts_eval *eval,
                                          const ig_function *function) {
    uint64_t key = IG_MAP_PTR(function);
    ig_python_thing *thing = ig_map_get_id(&eval->python->things, key);
    if (function->plain || thing) {
        return function->plain ? function->plain : thing;
    }
    ig_python_module *module = IG_NEW(eval->arena, ig_python_module);
    module->file = module->name = function->file;
    module->is_dialect = true;
    module->space.frame = eval->python->top;
    thing = ig_python_thing_make(eval,
                                 function->native ? IG_PYTHON_NATIVE : IG_PYTHON_DEF,
                                 ig_code_plain_name(eval->code, function->name));
    thing->native = function->native ? function : NULL;
    thing->node = function->node;
    thing->module = module;
    ig_map_set_id(&eval->python->things, key, thing);
    return thing;
}

ig_status ig_python_def(ig_ts_eval *eval, const ig_ast *node, ig_ts_value *out) {
    ig_python_module *module = eval->frame->scope->module;
    bool is_nested = eval->frame->scope->function || eval->frame->around;
    ig_python_thing *known =
        is_nested ? NULL : ig_map_get_id(&eval->python->things, IG_MAP_PTR(node));
    if (known) {
        *out = ig_python_value(known);
        return IG_OK;
    }
    const char *around = eval->frame->label ? eval->frame->label : module->name;
    ig_python_thing *thing = ig_python_thing_make(
        eval, IG_PYTHON_DEF,
        ig_arena_printf(eval->arena, "%s.%s", around, node->as.def->name));
    thing->node = node;
    thing->module = module;
    thing->around = is_nested ? eval->frame : NULL;
    thing->owner = eval->frame->scope->class;
    *out = ig_python_value(thing);
    if (is_nested) {
        return make_defaults(eval, thing);
    }
    ig_map_set_id(&eval->python->things, IG_MAP_PTR(node), thing);
    return IG_OK;
}

/* ---- modules ---- */

/* forward of an object whose class, with its bases that are known, writes none. */
static ig_status refuse_forward(ig_ts_eval *eval, const ig_ts_value *self) {
    const ig_class *class = self->as.object->class;
    const char *base = class && class->plain ? class->plain->external : NULL;
    return ig_ts_error(eval, IG_UNSUPPORTED, "calls forward of %s, which is not known",
                       base ? base : "torch.nn.Module");
}

static ig_status call_object(ig_ts_eval *eval, const ig_ts_value *self,
                             const ig_ts_arguments *arguments, ig_ts_value *out) {
    ig_ts_object *object = self->as.object;
    ig_ts_value method;
    bool is_found = false;
    if (object->class && !object->class->plain) {
        return ig_python_call_method(eval, object, "forward", arguments, out);
    }
    static const char *const names[] = { "__call__", "forward" };
    for (size_t i = 0; i < IG_COUNT_OF(names) && object->class && !is_found; i++) {
        IG_TRY(ig_python_class_get(eval, object->class->plain, NULL,
                                   ig_python_intern(eval, names[i]), &method,
                                   &is_found));
    }
    if (!is_found) {
        return refuse_forward(eval, self);
    }
    ig_ts_arguments with_self = ig_python_with_self(eval, *self, arguments);
    return ig_python_call(eval, &method, &with_self, out);
}

/* ---- bound methods ---- */

static ig_status call_super(ig_ts_eval *eval, const ig_python_thing *bound,
                            const char *name, ig_ts_value *out) {
    *out = ig_ts_none();
    if (strcmp(name, "__init__") == 0) {
        return IG_OK; /* of object or torch.nn.Module */
    }
    if (strcmp(name, "forward") == 0 || strcmp(name, "__call__") == 0) {
        return refuse_forward(eval, &bound->self);
    }
    return ig_ts_error(eval, IG_UNSUPPORTED, "calls super().%s, which is not known",
                       name);
}

static ig_status call_bound(ig_ts_eval *eval, const ig_python_thing *bound,
                            const ig_ts_arguments *arguments, ig_ts_value *out) {
    if (bound->function.kind != IG_TS_NONE) {
        ig_ts_arguments with_self = ig_python_with_self(eval, bound->self, arguments);
        return ig_python_call(eval, &bound->function, &with_self, out);
    }
    if (strncmp(bound->name, "super.", 6) == 0) {
        return call_super(eval, bound, bound->name + 6, out);
    }
    const ig_ts_value *self = &bound->self;
    const ig_class *class = self->kind == IG_TS_OBJECT ? self->as.object->class : NULL;
    if (class && !class->plain && ig_class_method(class, bound->name)) {
        return ig_python_call_method(eval, self->as.object, bound->name, arguments,
                                     out);
    }
    if (self->kind == IG_TS_OBJECT && strcmp(bound->name, "forward") == 0) {
        return refuse_forward(eval, self);
    }
    return ig_python_method(eval, self, bound->name, arguments, out);
}

static ig_status call_partial(ig_ts_eval *eval, const ig_python_thing *partial,
                              const ig_ts_arguments *arguments, ig_ts_value *out) {
    const ig_ts_arguments *parts[2] = { partial->given, arguments };
    IG_VEC(ig_ts_value) values = { 0 };
    IG_VEC(const char *) names = { 0 };
    for (int k = 0; k < 2; k++) {
        for (uint32_t i = 0; i < parts[k]->positional; i++) {
            IG_PUSH(eval->arena, &values, parts[k]->values[i]);
        }
    }
    ig_ts_arguments all = { .positional = (uint32_t)values.count };
    for (int k = 1; k >= 0; k--) { /* the first of a name counts */
        for (uint32_t i = 0; i < parts[k]->keywords; i++) {
            IG_PUSH(eval->arena, &values, parts[k]->values[parts[k]->positional + i]);
            IG_PUSH(eval->arena, &names, parts[k]->names[i]);
        }
    }
    all.keywords = (uint32_t)names.count;
    all.values = values.items;
    all.names = names.items;
    return ig_python_call(eval, &partial->function, &all, out);
}

/* ---- the whole ---- */

ig_status ig_python_call(ig_ts_eval *eval, const ig_ts_value *function,
                         const ig_ts_arguments *arguments, ig_ts_value *out) {
    const ig_python_thing *thing = ig_python_thing_of(function);
    IG_TRY(ig_ts_use(eval, function));
    if (function->kind == IG_TS_OBJECT) {
        return call_object(eval, function, arguments, out);
    }
    if (function->kind != IG_TS_FUNCTION) {
        return ig_ts_error(eval, IG_INVALID, "calls %s", ig_ts_kind_name(function));
    }
    if (!thing) {
        const ig_class *class = function->as.function->class;
        return class ? ig_dialect_construct(eval, class, arguments, out)
                     : ig_ts_error(eval, IG_UNSUPPORTED,
                                   "calls a value that is not a function");
    }
    switch (thing->kind) {
    case IG_PYTHON_DEF:
        return call_def(eval, thing, arguments, out);
    case IG_PYTHON_NATIVE:
        return call_native(eval, thing, arguments, out);
    case IG_PYTHON_BOUND:
        return call_bound(eval, thing, arguments, out);
    case IG_PYTHON_CLASS:
        return ig_python_construct(eval, thing->class, arguments, out);
    case IG_PYTHON_EXTERNAL:
        return ig_python_call_external(eval, thing->name, arguments, out);
    case IG_PYTHON_PARTIAL:
        return call_partial(eval, thing, arguments, out);
    case IG_PYTHON_MODULE:
    case IG_PYTHON_SUPER:
        break;
    }
    return ig_ts_error(eval, IG_INVALID, "calls a module");
}

bool ig_python_has_method(const ig_ts_object *self, const char *name) {
    return self->class && ig_class_method(self->class, name);
}

ig_status ig_python_call_method(ig_ts_eval *eval, ig_ts_object *self, const char *name,
                                const ig_ts_arguments *arguments, ig_ts_value *out) {
    const ig_function *method = self->class ? ig_class_method(self->class, name) : NULL;
    if (!method) {
        return ig_ts_error(eval, self->class ? IG_INVALID : IG_UNSUPPORTED,
                           "calls method '%s', which %s does not have", name,
                           self->class_name);
    }
    ig_ts_value function = ig_python_value(ig_python_function(eval, method));
    ig_ts_arguments with_self = ig_python_with_self(eval, ig_ts_of_object(self),
                                                    arguments);
    return ig_python_call(eval, &function, &with_self, out);
}

/* super() of a method: the class whose method it is, and its first argument. */
static ig_status make_super(ig_ts_eval *eval, ig_ts_value *out) {
    ig_ts_frame *frame = eval->frame;
    while (frame && frame->scope && frame->scope->function &&
           !frame->scope->function->owner) {
        frame = frame->around;
    }
    const ig_python_thing *function = frame && frame->scope ? frame->scope->function
                                                            : NULL;
    if (!function || !function->owner || !frame->count) {
        return ig_ts_error(eval, IG_UNSUPPORTED,
                           "super() is called outside of a method");
    }
    ig_python_thing *super = ig_python_thing_make(eval, IG_PYTHON_SUPER, "super");
    super->owner = function->owner;
    super->self = frame->values[0];
    *out = ig_python_value(super);
    return IG_OK;
}

ig_status ig_python_call_node(ig_ts_eval *eval, const ig_ast *node, ig_ts_value *out) {
    uint32_t names = eval->names; /* for this call, and not for those inside of it */
    ig_ts_value function;
    ig_ts_arguments arguments = { 0 };
    bool is_done = false;
    eval->names = 0;
    if (eval->frame->is_dialect) {
        IG_TRY(ig_dialect_call(eval, node, names, out, &is_done));
    }
    if (is_done) {
        return IG_OK;
    }
    IG_TRY(ig_python_evaluate(eval, node->as.call.function, &function));
    const char *external = ig_python_external_name(&function);
    if (external && strcmp(external, "builtins.super") == 0) {
        return make_super(eval, out);
    }
    IG_TRY(ig_python_read_arguments(eval, node, &arguments));
    eval->names = names;
    ig_status status = ig_python_call(eval, &function, &arguments, out);
    eval->names = 0;
    return status;
}
