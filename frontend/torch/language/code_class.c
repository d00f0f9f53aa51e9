/* The code of an archive: the declarations of a class or a function.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/language/code_inside.h"

#include "base/vec.h"

#include <assert.h>
#include <string.h>

static ig_status report_at(ig_code *code, const char *file, const ig_ast *node,
                           const char *words) {
    ig_location where = ig_code_where(file, node);
    return ig_error(&code->context->diag, IG_INVALID, &where, "%s", words);
}

/* ---- functions ---- */

static ig_status build_param(ig_code *code, const ig_function *function,
                             const ig_ast_param *node, bool is_self, ig_param *param) {
    assert((!is_self || function->class) && "only methods have self");
    *param = (ig_param){ .name = node->name, .value = node->value, .kind = node->kind };
    if (node->annotation) {
        return ig_script_type_of_ast(&code->types, function->file, node->annotation,
                                     &param->type);
    }
    param->type = is_self ? function->class->type
                          : code->types.simple[IG_SCRIPT_TENSOR];
    return IG_OK;
}

static ig_status build_function(ig_code *code, const ig_ast *node,
                                ig_function *function) {
    assert(node->kind == IG_AST_DEF && "the caller checked the kind");
    const ig_ast_def *def = node->as.def;
    function->node = node;
    function->param_count = def->param_count;
    function->params = IG_NEW_ARRAY(code->arena, ig_param, def->param_count);
    for (size_t i = 0; i < def->param_count; i++) {
        bool is_self = i == 0 && function->class;
        IG_TRY(build_param(code, function, &def->params[i], is_self,
                           &function->params[i]));
    }
    if (!def->returns) {
        return IG_OK;
    }
    return ig_script_type_of_ast(&code->types, function->file, def->returns,
                                 &function->returns);
}

/* ---- classes ---- */

/* A class under construction. */
typedef struct class_builder {
    ig_code *code;
    ig_class *class;
    IG_VEC(ig_field) attributes, constants, members;
    IG_VEC(ig_function) methods;
} class_builder;

static ig_status read_type(const class_builder *builder, const ig_ast *node,
                           const ig_script_type **out_type) {
    return ig_script_type_of_ast(&builder->code->types, builder->class->file, node,
                                 out_type);
}

static bool is_final(const ig_ast *type) {
    return type->kind == IG_AST_SUBSCRIPT &&
           type->as.subscript.object->kind == IG_AST_NAME &&
           strcmp(type->as.subscript.object->as.name, "Final") == 0;
}

/* NAME : type, NAME : Final[type] = value */
static ig_status add_annotated(class_builder *builder, const ig_ast *node) {
    const ig_ast *target = node->as.annotated.target;
    if (target->kind != IG_AST_NAME) {
        return report_at(builder->code, builder->class->file, target,
                         "expected a name");
    }
    ig_field field = { .name = target->as.name,
                       .value = node->as.annotated.value,
                       .node = node };
    IG_TRY(read_type(builder, node->as.annotated.type, &field.type));
    if (is_final(node->as.annotated.type)) {
        IG_PUSH(builder->code->arena, &builder->constants, field);
    } else {
        IG_PUSH(builder->code->arena, &builder->attributes, field);
    }
    return IG_OK;
}

/* ["weight", "bias", ] */
static ig_status read_names(class_builder *builder, const ig_ast *node,
                            const char ***out_names, size_t *out_count) {
    if (node->kind != IG_AST_LIST) {
        return report_at(builder->code, builder->class->file, node,
                         "expected a list of strings");
    }
    size_t count = node->as.list.count;
    const char **names = IG_NEW_ARRAY(builder->code->arena, const char *, count);
    for (size_t i = 0; i < count; i++) {
        if (node->as.list.items[i]->kind != IG_AST_STRING) {
            return report_at(builder->code, builder->class->file, node,
                             "expected a list of strings");
        }
        names[i] = ig_names_intern(&builder->code->names,
                                   node->as.list.items[i]->as.text);
    }
    *out_names = names;
    *out_count = count;
    return IG_OK;
}

/* __annotations__["0"] = type */
static ig_status add_indexed(class_builder *builder, const ig_ast *node,
                             const ig_ast *target) {
    const ig_ast *object = target->as.subscript.object;
    const ig_ast *index = target->as.subscript.index;
    if (object->kind != IG_AST_NAME ||
        strcmp(object->as.name, "__annotations__") != 0 ||
        index->kind != IG_AST_STRING) {
        return report_at(builder->code, builder->class->file, target,
                         "expected __annotations__[name]");
    }
    ig_field field = { .name = ig_names_intern(&builder->code->names, index->as.text),
                       .node = node };
    IG_TRY(read_type(builder, node->as.assign.value, &field.type));
    IG_PUSH(builder->code->arena, &builder->attributes, field);
    return IG_OK;
}

static ig_status add_assign(class_builder *builder, const ig_ast *node) {
    assert(node->as.assign.targets.count > 0 &&
           "the parser makes no assignment without a target");
    ig_class *class = builder->class;
    const ig_ast *target = node->as.assign.targets.items[0];
    const ig_ast *value = node->as.assign.value;
    if (target->kind == IG_AST_SUBSCRIPT) {
        return add_indexed(builder, node, target);
    }
    if (target->kind != IG_AST_NAME || node->as.assign.targets.count != 1) {
        return report_at(builder->code, class->file, target, "expected a name");
    }
    const struct {
        const char *name;
        const char ***names;
        size_t *count;
    } lists[] = {
        { "__parameters__", &class->parameters, &class->parameter_count },
        { "__buffers__", &class->buffers, &class->buffer_count },
        { "__forward_pre_hooks__", &class->forward_pre_hooks, &class->pre_hook_count },
        { "__forward_hooks__", &class->forward_hooks, &class->hook_count },
    };
    for (size_t i = 0; i < IG_COUNT_OF(lists); i++) {
        if (strcmp(target->as.name, lists[i].name) == 0) {
            return read_names(builder, value, lists[i].names, lists[i].count);
        }
    }
    if (strcmp(target->as.name, "__annotations__") == 0) {
        return IG_OK; /* marks where they begin */
    }
    ig_field field = { .name = target->as.name, .value = value, .node = node };
    if (class->kind == IG_CLASS_ENUM) {
        IG_PUSH(builder->code->arena, &builder->members, field);
    } else {
        field.type = builder->code->types.simple[IG_SCRIPT_ANY];
        IG_PUSH(builder->code->arena, &builder->constants, field);
    }
    return IG_OK;
}

static ig_status add_method(class_builder *builder, const ig_ast *node) {
    ig_function method = { .file = builder->class->file, .class = builder->class };
    method.name = ig_arena_printf(builder->code->arena, "%s.%s", builder->class->name,
                                  node->as.def->name);
    IG_TRY(build_function(builder->code, node, &method));
    IG_PUSH(builder->code->arena, &builder->methods, method);
    return IG_OK;
}

static ig_status add_part(class_builder *builder, const ig_ast *node) {
    switch ((int)node->kind) {
    case IG_AST_ANNOTATED:
        return add_annotated(builder, node);
    case IG_AST_ASSIGN:
        return add_assign(builder, node);
    case IG_AST_DEF:
        return add_method(builder, node);
    case IG_AST_PASS:
    case IG_AST_EXPRESSION:
        return IG_OK; /* a docstring */
    default:
        return report_at(builder->code, builder->class->file, node,
                         "expected an attribute or a method of the class");
    }
}

static ig_status read_base(ig_code *code, const ig_ast *node, ig_class *class) {
    static const struct {
        const char *name;
        ig_class_kind kind;
    } bases[] = {
        { "Module", IG_CLASS_MODULE },
        { "NamedTuple", IG_CLASS_NAMED_TUPLE },
        { "Enum", IG_CLASS_ENUM },
        { "Interface", IG_CLASS_INTERFACE },
        { "ModuleInterface", IG_CLASS_MODULE_INTERFACE },
    };
    const ig_ast_list *list = &node->as.class->bases;
    const ig_ast *base = list->count ? list->items[0] : NULL;
    if (!base) {
        return IG_OK;
    }
    for (size_t i = 0; i < IG_COUNT_OF(bases); i++) {
        if (list->count == 1 && base->kind == IG_AST_NAME &&
            strcmp(base->as.name, bases[i].name) == 0) {
            class->kind = bases[i].kind;
            return IG_OK;
        }
    }
    return report_at(
        code, class->file, base,
        "expected one of the bases Module, NamedTuple, Enum, Interface, ModuleInterface");
}

/* Every class that a type names must be there, though nothing may ever use it. */
static ig_status check_classes(ig_code *code, const char *file, const ig_field *field,
                               const ig_script_type *type) {
    if (type->kind == IG_SCRIPT_CLASS) {
        ig_definition *definition;
        ig_location where = ig_code_where(file, field->node);
        IG_TRY(ig_code_define(code, type->name, &definition));
        return definition ? IG_OK
                          : ig_error(&code->context->diag, IG_INVALID, &where,
                                     "the archive has no source of the class '%s'",
                                     type->name);
    }
    for (size_t i = 0; i < type->count; i++) { /* at most source_depth deep */
        IG_TRY(check_classes(code, file, field, type->items[i]));
    }
    return IG_OK;
}

static ig_status build_class(ig_code *code, const ig_definition *definition,
                             ig_class *class) {
    class_builder builder = { .code = code, .class = class };
    class->name = definition->name;
    class->file = definition->file;
    class->node = definition->node;
    class->type = ig_script_type_class(&code->types, class->name);
    IG_TRY(read_base(code, class->node, class));
    const ig_ast_list *body = &class->node->as.class->body;
    for (size_t i = 0; i < body->count; i++) {
        IG_TRY(add_part(&builder, body->items[i]));
    }
    class->attributes = (ig_field_list){ builder.attributes.items,
                                         builder.attributes.count };
    class->constants = (ig_field_list){ builder.constants.items,
                                        builder.constants.count };
    class->members = (ig_field_list){ builder.members.items, builder.members.count };
    class->methods = builder.methods.items;
    class->method_count = builder.methods.count;
    for (size_t i = 0; i < class->attributes.count; i++) {
        const ig_field *field = &class->attributes.items[i];
        IG_TRY(check_classes(code, class->file, field, field->type));
    }
    return IG_OK;
}

ig_status ig_code_build(ig_code *code, ig_definition *definition) {
    assert(definition->node && !definition->class && !definition->function &&
           "a definition is built once, and classes without source never");
    if (definition->node->kind == IG_AST_CLASS) {
        ig_class *class = IG_NEW(code->arena, ig_class);
        IG_TRY(build_class(code, definition, class));
        definition->class = class;
        return IG_OK;
    }
    ig_function *function = IG_NEW(code->arena, ig_function);
    function->name = definition->name;
    function->file = definition->file;
    IG_TRY(build_function(code, definition->node, function));
    definition->function = function;
    return IG_OK;
}

/* ---- looking ---- */

const ig_function *ig_class_method(const ig_class *class, const char *name) {
    for (size_t i = 0; i < class->method_count; i++) {
        const char *dot = strrchr(class->methods[i].name, '.');
        if (dot && strcmp(dot + 1, name) == 0) {
            return &class->methods[i];
        }
    }
    return NULL;
}

static const ig_field *find_field(const ig_field_list *list, const char *name) {
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->items[i].name, name) == 0) {
            return &list->items[i];
        }
    }
    return NULL;
}

const ig_field *ig_class_attribute(const ig_class *class, const char *name) {
    return find_field(&class->attributes, name);
}

const ig_field *ig_class_constant(const ig_class *class, const char *name) {
    return find_field(&class->constants, name);
}

const ig_field *ig_class_member(const ig_class *class, const char *name) {
    return find_field(&class->members, name);
}
