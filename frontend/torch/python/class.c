/* Classes of plain Python: bases, attributes, instances.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A class is known by its node.  Its body is a space (module.c), so that unused names
 * are never evaluated.  The evaluator knows it as an ig_class whose methods are those
 * that an instance has, its own and those of bases.
 */
#include "frontend/torch/python/piecewise.h"

#include <assert.h>
#include <string.h>

/* ---- bases ---- */

/* A class comes first in its order, and no class is in it twice. */
static void check_order(const ig_python_class *class) {
    assert(class->order_count > 0 && class->order[0] == class && "a class comes first");
    for (size_t i = 1; i < class->order_count; i++) {
        assert(class->order[i] != class->order[i - 1] && class->order[i] != class &&
               "an order holds a class once");
    }
}

static void begin_order(ig_ts_eval *eval, ig_python_class *class) {
    class->order = IG_NEW_ARRAY(eval->arena, const ig_python_class *, 1);
    class->order[0] = class;
    class->order_count = 1;
    check_order(class);
}

bool ig_python_derives(const ig_python_class *class, const ig_python_class *from) {
    for (size_t i = 0; i < class->order_count; i++) {
        if (class->order[i] == from) {
            return true;
        }
    }
    return false;
}

/* The effect of a base elsewhere on the class. */
static ig_python_class_kind kind_of_base(const char *name) {
    static const struct {
        const char *name;
        ig_python_class_kind kind;
    } known[] = {
        { "typing.NamedTuple", IG_PYTHON_NAMED_TUPLE },
        { "enum.Enum", IG_PYTHON_ENUM },
        { "enum.IntEnum", IG_PYTHON_ENUM },
        { "enum.StrEnum", IG_PYTHON_ENUM },
    };
    for (size_t i = 0; i < IG_COUNT_OF(known); i++) {
        if (strcmp(known[i].name, name) == 0) {
            return known[i].kind;
        }
    }
    return strncmp(name, "torch.nn.", 9) == 0 ? IG_PYTHON_NN_MODULE : IG_PYTHON_PLAIN;
}

typedef IG_VEC(const ig_python_class *) class_list;

/* Appends bases, each at the position of its last mention. */
static void add_base(ig_ts_eval *eval, class_list *list, const ig_python_class *base) {
    for (size_t i = 0; i < base->order_count; i++) {
        size_t kept = 0;
        for (size_t k = 0; k < list->count; k++) {
            if (list->items[k] != base->order[i]) {
                list->items[kept++] = list->items[k];
            }
        }
        list->count = kept;
        IG_PUSH(eval->arena, list, base->order[i]);
    }
}

static ig_status read_base(ig_ts_eval *eval, ig_python_class *class, class_list *list,
                           const ig_ast *node) {
    ig_ts_value value;
    if (node->kind == IG_AST_SUBSCRIPT) {
        node = node->as.subscript.object; /* Generic[T] */
    }
    IG_TRY(ig_python_evaluate(eval, node, &value));
    const ig_python_thing *thing = ig_python_thing_of(&value);
    const char *name = ig_python_external_name(&value);
    if (thing && thing->kind == IG_PYTHON_CLASS) {
        const ig_python_class *base = thing->class;
        class->kind = base->kind != IG_PYTHON_PLAIN ? base->kind : class->kind;
        class->external = class->external ? class->external : base->external;
        add_base(eval, list, base);
        return IG_OK;
    }
    if (!name) {
        return ig_ts_error(eval, IG_UNSUPPORTED,
                           "class %s has a base that is not a class", class->name);
    }
    ig_python_class_kind kind = kind_of_base(name);
    class->kind = kind != IG_PYTHON_PLAIN ? kind : class->kind;
    if (kind == IG_PYTHON_NN_MODULE && !class->external) {
        class->external = name;
    }
    return IG_OK;
}

static ig_status read_bases(ig_ts_eval *eval, ig_python_class *class) {
    const ig_ast_class *node = class->node->as.class;
    class_list list = { 0 };
    IG_PUSH(eval->arena, &list, class);
    for (size_t i = 0; i < node->bases.count; i++) {
        IG_TRY(read_base(eval, class, &list, node->bases.items[i]));
    }
    class->order = list.items;
    class->order_count = list.count;
    check_order(class);
    return IG_OK;
}

static ig_status read_decorators(ig_ts_eval *eval, ig_python_class *class) {
    const ig_ast_list *list = &class->node->as.class->decorators;
    for (size_t i = 0; i < list->count; i++) {
        const ig_ast *node = list->items[i];
        ig_ts_value value;
        node = node->kind == IG_AST_CALL ? node->as.call.function : node;
        IG_TRY(ig_python_evaluate(eval, node, &value));
        const char *name = ig_python_known_name(&value);
        if (name && strcmp(name, "dataclasses.dataclass") == 0) {
            class->kind = IG_PYTHON_DATACLASS;
        } else if (!name || strncmp(name, "torch.jit.", 10) != 0) {
            return ig_ts_error(eval, IG_UNSUPPORTED,
                               "class %s has a decorator that is not known",
                               class->name);
        }
    }
    return IG_OK;
}

/* ---- as the evaluator sees it ---- */

static bool has_method(const ig_class *class, const char *name) {
    return ig_class_method(class, name) != NULL;
}

/* Parameters that a call by the host may give: *args and **kwargs are empty there. */
static void set_params(ig_ts_eval *eval, const ig_ast_def *def, ig_function *function) {
    function->params = IG_NEW_ARRAY(eval->code->arena, ig_param, def->param_count + 1);
    for (size_t i = 0; i < def->param_count; i++) {
        const ig_ast_param *param = &def->params[i];
        if (param->kind == IG_AST_PARAM_STAR || param->kind == IG_AST_PARAM_STARS) {
            continue;
        }
        function->params[function->param_count++] =
            (ig_param){ .name = param->name,
                        .type = eval->code->types.simple[IG_SCRIPT_TENSOR],
                        .value = param->value,
                        .kind = param->kind };
    }
}

/* In the frame of the body: methods know whose they are. */
static ig_status add_methods(ig_ts_eval *eval, ig_class *class,
                             const ig_python_class *from) {
    const ig_ast_list *body = from->space.body;
    for (size_t i = 0; i < body->count; i++) {
        const ig_ast *node = body->items[i];
        ig_ts_value value;
        if (node->kind != IG_AST_DEF || has_method(class, node->as.def->name)) {
            continue;
        }
        IG_TRY(ig_python_def(eval, node, &value));
        ig_function *method = &class->methods[class->method_count];
        *method = (ig_function){ .file = from->module->file, .class = class };
        method->name = ig_arena_printf(eval->arena, "%s.%s", from->name,
                                       node->as.def->name);
        method->node = node;
        method->plain = value.as.function->plain;
        set_params(eval, node->as.def, method);
        class->method_count++;
    }
    return IG_OK;
}

static ig_status add_all_methods(ig_ts_eval *eval, ig_python_class *class) {
    size_t max = 0;
    for (size_t i = 0; i < class->order_count; i++) {
        max += class->order[i]->space.body->count;
    }
    class->class->methods = IG_NEW_ARRAY(eval->code->arena, ig_function, max + 1);
    ig_ts_frame *caller = eval->frame;
    ig_status status = IG_OK;
    for (size_t i = 0; status == IG_OK && i < class->order_count; i++) {
        eval->frame = class->order[i]->space.frame;
        status = add_methods(eval, class->class, class->order[i]);
    }
    eval->frame = caller;
    return status;
}

/* NamedTuples and dataclasses: annotated names, those of bases first. */
static void add_fields(ig_ts_eval *eval, ig_python_class *class) {
    IG_VEC(ig_field) fields = { 0 };
    for (size_t i = class->order_count; i-- > 0;) {
        const ig_ast_list *body = class->order[i]->space.body;
        for (size_t k = 0; k < body->count; k++) {
            const ig_ast *node = body->items[k];
            bool is_field = node->kind == IG_AST_ANNOTATED &&
                            node->as.annotated.target->kind == IG_AST_NAME;
            if (is_field) {
                ig_field field = { .name = node->as.annotated.target->as.name,
                                   .value = node->as.annotated.value,
                                   .node = node };
                IG_PUSH(eval->code->arena, &fields, field);
            }
        }
    }
    class->class->attributes = (ig_field_list){ fields.items, fields.count };
}

static ig_class *make_class(ig_ts_eval *eval, ig_python_class *class) {
    ig_class *made = IG_NEW(eval->code->arena, ig_class);
    made->name = class->name;
    made->file = class->module->file;
    made->kind = class->kind == IG_PYTHON_NN_MODULE     ? IG_CLASS_MODULE
                 : class->kind == IG_PYTHON_NAMED_TUPLE ? IG_CLASS_NAMED_TUPLE
                 : class->kind == IG_PYTHON_ENUM        ? IG_CLASS_ENUM
                                                        : IG_CLASS_PLAIN;
    made->type = ig_script_type_class(&eval->code->types, class->name);
    made->node = class->node;
    made->plain = class;
    return made;
}

/* ---- making them ---- */

static ig_python_class *open_class(ig_ts_eval *eval, ig_python_module *module,
                                   const char *name, const ig_ast_list *body) {
    ig_python_class *class = IG_NEW(eval->arena, ig_python_class);
    class->name = ig_arena_printf(eval->arena, "%s.%s", module->name, name);
    class->module = module;
    class->thing = (ig_python_thing){ .kind = IG_PYTHON_CLASS,
                                      .name = class->name,
                                      .class = class };
    class->thing.value.plain = &class->thing;
    ig_python_space_open(eval, &class->space, module, class->name, body);
    class->space.frame->scope->class = class;
    return class;
}

ig_status ig_python_class_of(ig_ts_eval *eval, const ig_ast *node, ig_ts_value *out) {
    ig_map *things = &eval->python->things;
    ig_python_thing *known = ig_map_get_id(things, IG_MAP_PTR(node));
    ig_python_module *module = eval->frame->scope->module;
    if (known) {
        *out = ig_python_value(known);
        return IG_OK;
    }
    ig_python_class *class = open_class(eval, module, node->as.class->name,
                                        &node->as.class->body);
    class->node = node;
    begin_order(eval, class);
    ig_map_set_id(things, IG_MAP_PTR(node), &class->thing);
    *out = ig_python_value(&class->thing);
    if (node->as.class->keyword_count) {
        return ig_ts_error(eval, IG_UNSUPPORTED, "class %s has a metaclass",
                           class->name);
    }
    IG_TRY(read_bases(eval, class));
    class->external = module->is_stock ? class->name : class->external;
    IG_TRY(read_decorators(eval, class));
    class->class = make_class(eval, class);
    IG_TRY(add_all_methods(eval, class));
    add_fields(eval, class);
    return IG_OK;
}

ig_python_class *ig_python_tuple_class(ig_ts_eval *eval, const char *name,
                                       const char *const *fields, size_t count) {
    static const ig_ast_list nothing = { 0 };
    ig_python_class *class = open_class(eval, eval->frame->scope->module, name,
                                        &nothing);
    ig_field *items = IG_NEW_ARRAY(eval->code->arena, ig_field, count + 1);
    for (size_t i = 0; i < count; i++) {
        items[i].name = ig_python_intern(eval, fields[i]);
    }
    class->kind = IG_PYTHON_NAMED_TUPLE;
    begin_order(eval, class);
    class->class = make_class(eval, class);
    class->class->attributes = (ig_field_list){ items, count };
    return class;
}

/* The functions of a generated module are the methods of its GraphModule. */
static ig_status graph_module_class(ig_ts_eval *eval, ig_python_module *module,
                                    const ig_class **out_class) {
    ig_python_thing *known = ig_map_get_id(&eval->python->things, IG_MAP_PTR(module));
    if (known) {
        *out_class = known->class->class;
        return IG_OK;
    }
    ig_python_class *class = open_class(eval, module, "GraphModule", &module->body);
    class->kind = IG_PYTHON_NN_MODULE;
    class->external = "torch.nn.Module";
    begin_order(eval, class);
    class->class = make_class(eval, class);
    ig_map_set_id(&eval->python->things, IG_MAP_PTR(module), &class->thing);
    *out_class = class->class;
    return add_all_methods(eval, class);
}

ig_status ig_python_find_class(ig_ts_eval *eval, const char *name,
                               const ig_class **out_class) {
    const char *dot = strrchr(name, '.');
    ig_python_module *module = NULL;
    ig_ts_value value;
    bool is_found = false;
    const char *owner = dot ? ig_arena_copy(eval->arena, name, (size_t)(dot - name))
                            : "";
    IG_TRY(ig_python_module_find(eval, owner, &module));
    if (module) {
        IG_TRY(ig_python_global(eval, module, ig_python_intern(eval, dot + 1), &value,
                                &is_found));
    }
    const ig_python_thing *thing = is_found ? ig_python_thing_of(&value) : NULL;
    if (thing && thing->kind == IG_PYTHON_CLASS) {
        *out_class = thing->class->class;
        return IG_OK;
    }
    if (module && !is_found && strcmp(dot + 1, "GraphModule") == 0) {
        return graph_module_class(eval, module, out_class);
    }
    return ig_ts_error(eval, IG_INVALID, "the package has no class '%s'", name);
}

/* ---- attributes ---- */

ig_status ig_python_class_get(ig_ts_eval *eval, const ig_python_class *class,
                              const ig_python_class *after, const char *name,
                              ig_ts_value *out, bool *out_found) {
    bool is_after = !after;
    *out_found = false;
    for (size_t i = 0; i < class->order_count; i++) {
        ig_python_class *at = (ig_python_class *)(uintptr_t) class->order[i];
        if (is_after) {
            IG_TRY(ig_python_space_get(eval, &at->space, name, out, out_found));
        }
        if (*out_found) {
            return IG_OK;
        }
        is_after = is_after || at == after;
    }
    return IG_OK;
}

/* ---- instances ---- */

ig_status ig_python_make_tuple(ig_ts_eval *eval, const ig_class *class,
                               const ig_ts_arguments *arguments, ig_ts_value *out) {
    const ig_field_list *fields = &class->attributes;
    ig_ts_list *tuple = ig_ts_list_create(eval, fields->count);
    tuple->class = class;
    for (size_t i = 0; i < fields->count; i++) {
        const ig_ts_value *given = ig_python_argument(arguments, (uint32_t)i,
                                                      fields->items[i].name);
        ig_ts_value value;
        if (given) {
            value = *given;
        } else if (fields->items[i].value) {
            IG_TRY(ig_python_evaluate(eval, fields->items[i].value, &value));
        } else {
            return ig_ts_error(eval, IG_INVALID, "%s is made without '%s'", class->name,
                               fields->items[i].name);
        }
        ig_ts_list_add(eval, tuple, value);
    }
    *out = ig_ts_of_tuple(tuple);
    return IG_OK;
}

/* What @dataclass writes as __init__. */
static ig_status fill_dataclass(ig_ts_eval *eval, ig_python_class *class,
                                const ig_ts_arguments *arguments, ig_ts_value *self) {
    ig_ts_value tuple;
    IG_TRY(ig_python_make_tuple(eval, class->class, arguments, &tuple));
    const ig_field_list *fields = &class->class->attributes;
    for (size_t i = 0; i < fields->count; i++) {
        ig_ts_object_set(eval, self->as.object, fields->items[i].name,
                         tuple.as.list->items[i]);
    }
    return IG_OK;
}

ig_status ig_python_construct(ig_ts_eval *eval, ig_python_class *class,
                              const ig_ts_arguments *arguments, ig_ts_value *out) {
    ig_ts_value init, nothing;
    bool has_init;
    if (class->kind == IG_PYTHON_NAMED_TUPLE) {
        return ig_python_make_tuple(eval, class->class, arguments, out);
    }
    if (class->kind == IG_PYTHON_NN_MODULE || class->kind == IG_PYTHON_ENUM) {
        return ig_ts_error(eval, IG_UNSUPPORTED,
                           "makes a %s of class %s, which a package holds and does not "
                           "make",
                           class->kind == IG_PYTHON_ENUM ? "member" : "module",
                           class->name);
    }
    ig_ts_object *object = ig_ts_object_create(eval, class->name);
    object->class = class->class;
    *out = ig_ts_of_object(object);
    IG_TRY(ig_python_class_get(eval, class, NULL, ig_python_intern(eval, "__init__"),
                               &init, &has_init));
    if (!has_init) {
        return class->kind == IG_PYTHON_DATACLASS
                   ? fill_dataclass(eval, class, arguments, out)
                   : IG_OK;
    }
    ig_ts_arguments with_self = ig_python_with_self(eval, *out, arguments);
    return ig_python_call(eval, &init, &with_self, &nothing);
}
