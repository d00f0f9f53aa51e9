/* Which operators the sources call that have no row.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Functions are looked through with the module whose method they are, so that a call
 * through an attribute is followed to the class found there.  Types are those that the
 * sources say or that rows give.  An unknown value fits every overload: a call is
 * reported only when nothing that it may be given has a row.
 */
#include "frontend/torch/python/survey.h"
#include "frontend/torch/eval/table.h"

#include <assert.h>
#include <string.h>

enum { NODES_MAX = 1 << 20 };

typedef ig_python_look survey;

/* Known facts about a value without running anything; all NULL: nothing. */
typedef struct known {
    ig_ts_object *object;
    const ig_script_type *type;
    const ig_ts_value *value; /* a module's own truth value */
} known;

static known survey_node(survey *s, const ig_ast *node);

static const ig_script_type *simple_type(const survey *s, ig_script_kind kind) {
    return s->eval->code->types.simple[kind];
}

static known of_type(const ig_script_type *type) {
    return (known){ .type = type };
}

static known of_kind(const survey *s, ig_script_kind kind) {
    return of_type(simple_type(s, kind));
}

/* A type that values have as the program runs; those of an Optional or Any may have
 * others. */
static bool is_certain(const ig_script_type *type) {
    switch ((int)type->kind) {
    case IG_SCRIPT_TENSOR:
    case IG_SCRIPT_INT:
    case IG_SCRIPT_FLOAT:
    case IG_SCRIPT_BOOL:
    case IG_SCRIPT_STR:
    case IG_SCRIPT_NONE:
    case IG_SCRIPT_DEVICE:
        return true;
    case IG_SCRIPT_LIST:
        return is_certain(type->items[0]);
    default:
        return false;
    }
}

static const ig_script_type *certain_type(const known *value) {
    return value->type && is_certain(value->type) ? value->type : NULL;
}

/* ---- calls of functions ---- */

static void queue_function(survey *s, const ig_function *function, ig_ts_object *self) {
    ig_python_visit_of next = { .function = function, .self = self };
    bool is_seen = function && (function->node || function->native);
    if (is_seen && !function->plain) { /* whose names tell nothing before it is run */
        ig_python_queue(s, function, self, next);
    }
}

static known call_function(survey *s, const ig_function *function, ig_ts_object *self) {
    queue_function(s, function, self);
    return of_type(function ? function->returns : NULL);
}

static const ig_class *class_of(survey *s, const known *value) {
    const ig_class *class = NULL;
    const ig_function *function = NULL;
    if (value->object) {
        return value->object->class;
    }
    if (value->type && value->type->kind == IG_SCRIPT_CLASS && s->status == IG_OK) {
        s->status = ig_code_find(s->eval->code, value->type->name, &class, &function);
    }
    return class;
}

/* A qualified name that is called. */
static known call_qualified(survey *s, const char *name) {
    const ig_class *class = NULL;
    const ig_function *function = NULL;
    if (s->status != IG_OK) {
        return (known){ 0 };
    }
    s->status = ig_code_find(s->eval->code, name, &class, &function);
    if (function) {
        return call_function(s, function, NULL);
    }
    if (class) {
        queue_function(s, ig_class_method(class, "__init__"), NULL);
        return of_type(class->type);
    }
    return (known){ 0 };
}

/* ---- calls of operators ---- */

static void note_lack(survey *s, const char *label, bool is_overload) {
    ig_ts_eval *eval = s->eval;
    ig_python_lack *lack = ig_map_get(&s->lacks->by_label, ig_str_of(label));
    if (!lack) {
        lack = IG_NEW(eval->arena, ig_python_lack);
        lack->label = ig_arena_copy(eval->arena, label, strlen(label));
        lack->is_overload = is_overload;
        lack->first = (ig_location){ .file = s->now.function->file,
                                     .graph = ig_code_plain_name(eval->code,
                                                                 s->now.function->name),
                                     .line = s->line };
        lack->module = s->now.self ? s->now.self->path : NULL;
        if (s->where) {
            lack->first = *s->where;
            lack->module = s->where->scope;
        }
        ig_map_set(&s->lacks->by_label, ig_str_of(lack->label), lack);
    }
    lack->count++;
}

static const char *call_label(survey *s, const char *name, const ig_call_shape *shape) {
    ig_writer w;
    ig_writer_init(&w, s->eval->arena);
    ig_put(&w, "%s", name);
    ig_call_shape_print(shape, &w);
    return w.data;
}

/* The result that all overloads have, or NULL. */
static const ig_script_type *common_result(const ig_ts_overloads *rows) {
    const ig_script_type *type = NULL;
    for (size_t i = 0; i < rows->count; i++) {
        const ig_schema *schema = rows->schemas[i];
        bool fits = schema->result_count == 1 && !schema->results[0].type->has_variable;
        if (!fits || (type && type != schema->results[0].type)) {
            return NULL;
        }
        type = schema->results[0].type;
    }
    return type;
}

static bool is_all_known(const ig_call_shape *shape) {
    size_t count = shape->positional_count + shape->keyword_count;
    for (size_t i = 0; i < count; i++) {
        if (!shape->positional[i]) { /* keywords' types follow */
            return false;
        }
    }
    return true;
}

/* Where the name tells the overload, a number may be given for a tensor: such a type is
 * taken for unknown. */
static ig_call_shape forget_numbers(survey *s, const ig_call_shape *shape) {
    size_t count = shape->positional_count + shape->keyword_count;
    const ig_script_type **types = IG_NEW_ARRAY(s->eval->arena, const ig_script_type *,
                                                count + 1);
    for (size_t i = 0; i < count; i++) {
        const ig_script_type *type = shape->positional[i]; /* keywords' follow */
        bool is_number = type == simple_type(s, IG_SCRIPT_INT) ||
                         type == simple_type(s, IG_SCRIPT_FLOAT) ||
                         type == simple_type(s, IG_SCRIPT_BOOL);
        types[i] = is_number ? NULL : type;
    }
    ig_call_shape out = *shape;
    out.positional = types;
    out.keyword_types = types + shape->positional_count;
    return out;
}

/* f(**values): evaluation refuses it. */
static bool unpacks_keywords(const ig_call_shape *shape) {
    for (size_t i = 0; i < shape->keyword_count; i++) {
        if (!shape->keywords[i]) {
            return true;
        }
    }
    return false;
}

static known call_operator(survey *s, const char *name, const ig_call_shape *given) {
    ig_ts_candidates from = { 0 };
    ig_overload_match match;
    if (s->status == IG_OK) {
        s->status = ig_ts_candidates_find(s->eval, name, &from);
    }
    if (s->status != IG_OK || unpacks_keywords(given)) {
        return (known){ 0 };
    }
    ig_call_shape shape = from.is_given ? forget_numbers(s, given) : *given;
    uint32_t at = ig_ts_candidates_match(s->eval, &from, &shape, &match);
    if (at < IG_TS_CANDIDATES) {
        const ig_script_type *common = common_result(from.own[at]);
        bool is_one = match.schema->result_count == 1 && is_all_known(&shape);
        return of_type(common ? common : is_one ? match.result_types[0] : NULL);
    }
    note_lack(s, from.is_any ? call_label(s, name, given) : name, from.is_any);
    return (known){ 0 };
}

void ig_python_survey_call(ig_python_look *look, const char *name,
                           const ig_call_shape *shape, const ig_location *where) {
    look->where = where;
    look->nodes++;
    call_operator(look, name, shape);
    look->where = NULL;
}

/* Looks through the arguments; `self` (or NULL) comes before them. */
static ig_call_shape read_shape(survey *s, const ig_ast *call, const known *self) {
    size_t before = self ? 1 : 0;
    size_t count = call->as.call.arguments.count,
           keywords = call->as.call.keyword_count;
    const ig_script_type **types = IG_NEW_ARRAY(s->eval->arena, const ig_script_type *,
                                                before + count + keywords + 1);
    const char **names = IG_NEW_ARRAY(s->eval->arena, const char *, keywords + 1);
    if (self) {
        types[0] = certain_type(self);
    }
    for (size_t i = 0; i < count; i++) {
        known value = survey_node(s, call->as.call.arguments.items[i]);
        types[before + i] = certain_type(&value);
    }
    for (size_t i = 0; i < keywords; i++) {
        known value = survey_node(s, call->as.call.keywords[i].value);
        types[before + count + i] = certain_type(&value);
        names[i] = call->as.call.keywords[i].name;
    }
    return (ig_call_shape){ .positional = types,
                            .positional_count = before + count,
                            .keywords = names,
                            .keyword_types = types + before + count,
                            .keyword_count = keywords };
}

/* ---- calls of methods ---- */

static known call_method(survey *s, const ig_ast *call) {
    const ig_ast *function = call->as.call.function;
    known self = survey_node(s, function->as.attribute.object);
    const ig_class *class = class_of(s, &self);
    ig_call_shape shape = read_shape(s, call, &self);
    const char *custom = "__torch__.torch.classes.";
    if (class && class->kind != IG_CLASS_CUSTOM) {
        return call_function(s, ig_class_method(class, function->as.attribute.name),
                             self.object);
    }
    if (class && strncmp(class->name, custom, strlen(custom)) == 0) {
        return call_operator(s,
                             ig_arena_printf(s->eval->arena, "%s::%s",
                                             class->name + strlen(custom),
                                             function->as.attribute.name),
                             &shape);
    }
    return (known){ 0 };
}

/* ---- attributes ---- */

static known attribute_of(survey *s, const known *object, const char *name) {
    const ig_class *class = class_of(s, object);
    const ig_field *field = class ? ig_class_attribute(class, name) : NULL;
    const ig_ts_value *held = object->object ? ig_ts_object_get(object->object, name)
                                             : NULL;
    known found = { .type = field ? field->type : NULL };
    if (held && held->kind == IG_TS_OBJECT) {
        found.object = held->as.object;
    }
    if (held && held->kind == IG_TS_BOOL && held->form == IG_TS_KNOWN) {
        found.value = held;
    }
    if (object->type == simple_type(s, IG_SCRIPT_TENSOR)) {
        ig_call_shape shape = { .positional = &object->type, .positional_count = 1 };
        return call_operator(s, ig_arena_printf(s->eval->arena, "prim::%s", name),
                             &shape);
    }
    return found;
}

/* getattr(modules, "0"). */
static known call_getattr(survey *s, const ig_ast_list *arguments) {
    if (arguments->count != 2 || arguments->items[1]->kind != IG_AST_STRING) {
        return (known){ 0 };
    }
    ig_str name = arguments->items[1]->as.text;
    known object = survey_node(s, arguments->items[0]);
    return attribute_of(s, &object,
                        ig_arena_copy(s->eval->arena, name.data, name.size));
}

/* ---- calls ---- */

/* annotate, isinstance, int …: types among their arguments are no values. */
static known call_special(survey *s, const ig_ast *call, const ig_special *special) {
    const ig_ast_list *arguments = &call->as.call.arguments;
    if (strcmp(special->name, "getattr") == 0) {
        return call_getattr(s, arguments);
    }
    size_t end = strcmp(special->name, "isinstance") == 0 ? 1 : arguments->count;
    for (size_t i = special->takes_type; i < end && i < arguments->count; i++) {
        survey_node(s, arguments->items[i]);
    }
    if (special->takes_type && arguments->count > 0 && s->status == IG_OK) {
        const ig_script_type *type = NULL;
        s->status = ig_script_type_of_ast(&s->eval->code->types, s->now.function->file,
                                          arguments->items[0], &type);
        return of_type(type);
    }
    return special->gives ? of_kind(s, (ig_script_kind)(special->gives - 1))
                          : (known){ 0 };
}

static known survey_call(survey *s, const ig_ast *node) {
    const ig_ast *function = node->as.call.function;
    const char *dotted = ig_ast_dotted(function, s->eval->arena);
    const char *name = dotted ? ig_dialect_operator(s->eval, dotted) : NULL;
    bool is_bound = function->kind == IG_AST_NAME &&
                    ig_map_get_id(&s->names, IG_MAP_PTR(function->as.name));
    const ig_special *special = dotted && !is_bound ? ig_special_of(dotted) : NULL;
    if (special) {
        return call_special(s, node, special);
    }
    if (name && function->kind == IG_AST_ATTRIBUTE) {
        ig_call_shape shape = read_shape(s, node, NULL);
        return call_operator(s, name, &shape);
    }
    bool is_qualified = dotted && strncmp(dotted, "__torch__.", 10) == 0;
    if (function->kind == IG_AST_ATTRIBUTE && !is_qualified) {
        return call_method(s, node);
    }
    read_shape(s, node, NULL);
    return is_qualified ? call_qualified(s, dotted) : (known){ 0 };
}

/* ---- expressions ---- */

static known survey_attribute(survey *s, const ig_ast *node) {
    const char *dotted = ig_ast_dotted(node, s->eval->arena);
    if (dotted && strncmp(dotted, "CONSTANTS.", 10) == 0) {
        return (known){ 0 };
    }
    if (dotted && strncmp(dotted, "__torch__.", 10) == 0) {
        call_qualified(s, dotted); /* it may be called later on */
        return (known){ 0 };
    }
    known object = survey_node(s, node->as.attribute.object);
    return attribute_of(s, &object, node->as.attribute.name);
}

static known survey_subscript(survey *s, const ig_ast *node) {
    known object = survey_node(s, node->as.subscript.object);
    survey_node(s, node->as.subscript.index);
    const ig_script_type *type = object.type;
    if (type && type->kind == IG_SCRIPT_LIST) {
        return of_type(type->items[0]);
    }
    return of_type(type && type->kind == IG_SCRIPT_DICT ? type->items[1] : NULL);
}

static known survey_items(survey *s, const ig_ast *node) {
    const ig_ast_list *items = &node->as.list;
    const ig_script_type *type = NULL;
    bool is_same = items->count > 0 && node->kind == IG_AST_LIST;
    for (size_t i = 0; i < items->count; i++) {
        known item = survey_node(s, items->items[i]);
        is_same = is_same && item.type && (!type || type == item.type);
        type = item.type;
    }
    return of_type(is_same ? ig_script_type_list(&s->eval->code->types, type) : NULL);
}

/* ---- names ---- */

static void set_name(survey *s, const char *name, known value) {
    known *kept = IG_NEW(s->eval->arena, known);
    *kept = value;
    ig_map_set_id(&s->names, IG_MAP_PTR(name), kept);
}

/* A name that is bound anew keeps what both values are. */
static void assign_name(survey *s, const char *name, known value) {
    const known *old = ig_map_get_id(&s->names, IG_MAP_PTR(name));
    if (old && (old->type != value.type || old->object != value.object)) {
        value = of_type(old->type == value.type ? value.type : NULL);
    }
    if (old) {
        value.value = NULL;
    }
    set_name(s, name, value);
}

static void assign_targets(survey *s, const ig_ast *target, known value) {
    if (target->kind == IG_AST_NAME) {
        assign_name(s, target->as.name, value);
    } else if (target->kind == IG_AST_TUPLE) {
        const ig_script_type *type = value.type;
        bool is_list = type && type->kind == IG_SCRIPT_LIST;
        bool is_tuple = type && type->kind == IG_SCRIPT_TUPLE &&
                        type->count == target->as.list.count;
        for (size_t i = 0; i < target->as.list.count; i++) {
            assign_targets(s, target->as.list.items[i],
                           of_type(is_list    ? type->items[0]
                                   : is_tuple ? type->items[i]
                                              : NULL));
        }
    }
}

static known survey_assign(survey *s, const ig_ast *node) {
    const ig_ast *value = node->as.assign.value;
    const ig_ast *target = node->as.assign.targets.items[0];
    bool is_parallel = target->kind == IG_AST_TUPLE && value->kind == IG_AST_TUPLE &&
                       target->as.list.count == value->as.list.count;
    if (is_parallel) {
        for (size_t i = 0; i < value->as.list.count; i++) {
            assign_targets(s, target->as.list.items[i],
                           survey_node(s, value->as.list.items[i]));
        }
        return (known){ 0 };
    }
    known got = survey_node(s, value);
    for (size_t i = 0; i < node->as.assign.targets.count; i++) {
        assign_targets(s, node->as.assign.targets.items[i], got);
    }
    return (known){ 0 };
}

/* ---- the walk ---- */

static void survey_child(void *user, const ig_ast *node) {
    survey_node(user, node);
}

static void survey_list(survey *s, const ig_ast_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        survey_node(s, list->items[i]);
    }
}

static known survey_if(survey *s, const ig_ast *node) {
    known test = survey_node(s, node->as.branch.test);
    if (!test.value || test.value->as.b) {
        survey_list(s, &node->as.branch.body);
    }
    if (!test.value || !test.value->as.b) {
        survey_list(s, &node->as.branch.orelse);
    }
    return (known){ 0 };
}

/* The names that a loop binds are known after its body: names of the body fit
 * everything. */
static known survey_for(survey *s, const ig_ast *node) {
    known items = survey_node(s, node->as.loop.iterable);
    bool is_list = items.type && items.type->kind == IG_SCRIPT_LIST;
    assign_targets(s, node->as.loop.target,
                   of_type(is_list ? items.type->items[0] : NULL));
    survey_list(s, &node->as.loop.body);
    return (known){ 0 };
}

static known survey_annotated(survey *s, const ig_ast *node) {
    const ig_ast *value = node->as.annotated.value;
    assign_targets(s, node->as.annotated.target,
                   value ? survey_node(s, value) : (known){ 0 });
    return (known){ 0 };
}

/* A statement or an expression; known facts about its value. */
static known survey_node(survey *s, const ig_ast *node) {
    static const uint8_t literals[IG_AST_KIND_COUNT] = {
        [IG_AST_NONE] = 1 + IG_SCRIPT_NONE,  [IG_AST_BOOL] = 1 + IG_SCRIPT_BOOL,
        [IG_AST_INT] = 1 + IG_SCRIPT_INT,    [IG_AST_FLOAT] = 1 + IG_SCRIPT_FLOAT,
        [IG_AST_STRING] = 1 + IG_SCRIPT_STR,
    };
    const known *named;
    if (++s->nodes > NODES_MAX || s->status != IG_OK) {
        return (known){ 0 };
    }
    if (literals[node->kind]) {
        return of_kind(s, (ig_script_kind)(literals[node->kind] - 1));
    }
    s->line = node->kind >= IG_AST_EXPRESSION ? node->line : s->line;
    switch ((int)node->kind) {
    case IG_AST_NAME:
        named = ig_map_get_id(&s->names, IG_MAP_PTR(node->as.name));
        return named ? *named : (known){ 0 };
    case IG_AST_UNARY:
        return survey_node(s, node->as.value);
    case IG_AST_TUPLE:
    case IG_AST_LIST:
        return survey_items(s, node);
    case IG_AST_ATTRIBUTE:
        return survey_attribute(s, node);
    case IG_AST_SUBSCRIPT:
        return survey_subscript(s, node);
    case IG_AST_CALL:
        return survey_call(s, node);
    case IG_AST_ASSIGN:
        return survey_assign(s, node);
    case IG_AST_ANNOTATED:
        return survey_annotated(s, node);
    case IG_AST_IF:
        return survey_if(s, node);
    case IG_AST_FOR:
        return survey_for(s, node);
    case IG_AST_DEF:
        survey_list(s, &node->as.def->body);
        return (known){ 0 };
    default:
        ig_ast_each_child(node, survey_child, s);
        return (known){ 0 };
    }
}

void ig_python_look_at_dialect(ig_python_look *s) {
    const ig_function *function = s->now.function;
    ig_map_init(&s->names, s->eval->arena);
    for (size_t i = 0; i < function->param_count; i++) {
        known value = of_type(function->params[i].type);
        if (i == 0 && function->class) {
            value.object = s->now.self;
        }
        set_name(s, function->params[i].name, value);
    }
    if (function->native) {
        function->native->survey(s->eval, function->native->user, s);
        return;
    }
    survey_list(s, &function->node->as.def->body);
}
