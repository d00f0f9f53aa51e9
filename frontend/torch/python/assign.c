/* Targets of assignments.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/python/inside.h"

static ig_status refuse_count(ig_ts_eval *eval, size_t count, size_t names) {
    return ig_ts_raise(eval, ig_arena_printf(&eval->module->arena,
                                             "ValueError: unpacks %zu values into %zu "
                                             "names",
                                             count, names));
}

/* a, *b, c = values: the starred one takes the rest. */
static ig_status unpack_items(ig_ts_eval *eval, const ig_ast_list *targets,
                              ig_ts_value value) {
    ig_ts_list *items;
    size_t star = targets->count;
    IG_TRY(ig_python_items(eval, &value, &items));
    for (size_t i = 0; i < targets->count; i++) {
        star = targets->items[i]->kind == IG_AST_STARRED ? i : star;
    }
    bool has_star = star < targets->count;
    size_t fixed = targets->count - has_star;
    if (items->count < fixed || (!has_star && items->count != fixed)) {
        return refuse_count(eval, items->count, targets->count);
    }
    size_t taken = items->count - fixed, at = 0;
    for (size_t i = 0; i < targets->count; i++) {
        if (i != star) {
            IG_TRY(ig_python_assign(eval, targets->items[i], items->items[at++]));
            continue;
        }
        ig_ts_list *rest = ig_ts_list_create(eval, taken);
        for (size_t k = 0; k < taken; k++) {
            ig_ts_list_add(eval, rest, items->items[at++]);
        }
        IG_TRY(
            ig_python_assign(eval, targets->items[i]->as.value, ig_ts_of_list(rest)));
    }
    return IG_OK;
}

static ig_status assign_attribute(ig_ts_eval *eval, const ig_ast *target,
                                  ig_ts_value value) {
    ig_ts_value object, setter;
    const char *name = target->as.attribute.name;
    bool has_setter = false;
    IG_TRY(ig_python_evaluate(eval, target->as.attribute.object, &object));
    IG_TRY(ig_ts_use(eval, &object));
    if (object.kind != IG_TS_OBJECT) {
        return ig_ts_error(eval, IG_UNSUPPORTED, "sets attribute '%s' of %s", name,
                           ig_ts_kind_name(&object));
    }
    const ig_class *class = object.as.object->class;
    if (class && class->plain) {
        const char *hook = ig_python_intern(eval, "__setattr__");
        IG_TRY(
            ig_python_class_get(eval, class->plain, NULL, hook, &setter, &has_setter));
        if (!has_setter) {
            IG_TRY(ig_python_class_get(eval, class->plain, NULL, name, &setter,
                                       &has_setter));
            has_setter = has_setter && ig_python_thing_of(&setter);
        }
    }
    if (has_setter) {
        return ig_ts_error(eval, IG_UNSUPPORTED,
                           "sets attribute '%s', which its class defines or watches",
                           name);
    }
    ig_ts_object_set(eval, object.as.object,
                     ig_module_string(eval->module, ig_str_of(name)), value);
    return IG_OK;
}

ig_status ig_python_assign(ig_ts_eval *eval, const ig_ast *target, ig_ts_value value) {
    switch ((int)target->kind) {
    case IG_AST_NAME:
        ig_ts_name_set(eval, eval->frame, target->as.name, value);
        return IG_OK;
    case IG_AST_TUPLE:
    case IG_AST_LIST:
        return unpack_items(eval, &target->as.list, value);
    case IG_AST_ATTRIBUTE:
        return assign_attribute(eval, target, value);
    case IG_AST_SUBSCRIPT:
        return ig_python_assign_item(eval, target, value);
    default:
        return ig_ts_error(eval, IG_UNSUPPORTED, "assigns to a %s",
                           ig_ast_kind_words(target->kind));
    }
}

static ig_status delete_item(ig_ts_eval *eval, const ig_ast *target) {
    ig_ts_value object, index, nothing;
    IG_TRY(ig_python_evaluate(eval, target->as.subscript.object, &object));
    IG_TRY(ig_python_evaluate(eval, target->as.subscript.index, &index));
    ig_ts_arguments arguments = { .values = &index, .positional = 1 };
    return ig_python_method(eval, &object, "pop", &arguments, &nothing);
}

ig_status ig_python_delete(ig_ts_eval *eval, const ig_ast *target) {
    switch ((int)target->kind) {
    case IG_AST_NAME:
        ig_ts_name_set(eval, eval->frame, target->as.name, (ig_ts_value){ 0 });
        return IG_OK;
    case IG_AST_TUPLE:
        for (size_t i = 0; i < target->as.list.count; i++) {
            IG_TRY(ig_python_delete(eval, target->as.list.items[i]));
        }
        return IG_OK;
    case IG_AST_SUBSCRIPT:
        return delete_item(eval, target);
    default:
        return ig_ts_error(eval, IG_UNSUPPORTED, "deletes a %s",
                           ig_ast_kind_words(target->kind));
    }
}
