/* Values that can be looped over; modules that hold others.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/python/inside.h"

#include <string.h>

/* ---- modules that hold others ---- */

static const char *container_name(const char *name) {
    static const char *const names[] = { "Sequential", "ModuleList", "ModuleDict",
                                         "ParameterList", "ParameterDict" };
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; i < IG_COUNT_OF(names); i++) {
        if (strcmp(dot ? dot + 1 : name, names[i]) == 0) {
            return names[i];
        }
    }
    return NULL;
}

bool ig_python_is_container(const ig_ts_object *object, const char **out_class) {
    const ig_class *class = object->class;
    bool is_plain = class && class->plain;
    const char *name = is_plain ? class->plain->external : object->class_name;
    *out_class = name ? container_name(name) : NULL;
    return *out_class != NULL;
}

static bool is_member(const ig_ts_value *value) {
    return value->kind == IG_TS_OBJECT || value->kind == IG_TS_TENSOR;
}

ig_ts_list *ig_python_members(ig_ts_eval *eval, const ig_ts_object *object,
                              ig_ts_list **out_names) {
    ig_ts_list *list = ig_ts_list_create(eval, object->count);
    *out_names = ig_ts_list_create(eval, object->count);
    for (size_t i = 0; i < object->count; i++) {
        if (is_member(&object->values[i])) {
            ig_ts_list_add(eval, list, object->values[i]);
            ig_ts_list_add(eval, *out_names, ig_ts_of_str(ig_str_of(object->names[i])));
        }
    }
    return list;
}

static bool is_keyed(const char *class) {
    return strcmp(class, "ModuleDict") == 0 || strcmp(class, "ParameterDict") == 0;
}

/* ---- items ---- */

static ig_status tensor_items(ig_ts_eval *eval, const ig_ts_value *tensor,
                              ig_ts_list **out) {
    ig_ts_value parts;
    IG_TRY(ig_python_op(eval, "aten::unbind", tensor, 1, &parts));
    if (parts.as.list->stack || parts.as.list->poison) {
        return ig_ts_error(eval, IG_UNSUPPORTED,
                           "loops over an extent of a tensor that is open: give a "
                           "number for it with --input, or loop over range(x.size(0))");
    }
    *out = parts.as.list;
    return IG_OK;
}

static ig_status text_items(ig_ts_eval *eval, ig_str text, ig_ts_list **out) {
    *out = ig_ts_list_create(eval, text.size);
    for (size_t i = 0; i < text.size;) {
        size_t size = 1;
        while (i + size < text.size &&
               ((unsigned char)text.data[i + size] & 0xc0) == 0x80) {
            size++;
        }
        ig_ts_list_add(eval, *out, ig_ts_of_str((ig_str){ text.data + i, size }));
        i += size;
    }
    return IG_OK;
}

static ig_status object_items(ig_ts_eval *eval, const ig_ts_value *value,
                              ig_ts_list **out) {
    const char *class;
    ig_ts_list *names;
    if (!ig_python_is_container(value->as.object, &class)) {
        return ig_ts_error(eval, IG_UNSUPPORTED, "loops over an object of class %s",
                           value->as.object->class_name);
    }
    *out = ig_python_members(eval, value->as.object, &names);
    *out = is_keyed(class) ? names : *out;
    return IG_OK;
}

/* The members of an enum, in order. */
static ig_status class_items(ig_ts_eval *eval, const ig_python_class *class,
                             ig_ts_list **out) {
    const ig_ast_list *body = class->space.body;
    ig_ts_value whole = ig_python_value(&class->thing);
    *out = ig_ts_list_create(eval, body->count);
    for (size_t i = 0; i < body->count; i++) {
        const ig_ast *node = body->items[i];
        bool is_member_of = node->kind == IG_AST_ASSIGN &&
                            node->as.assign.targets.items[0]->kind == IG_AST_NAME;
        ig_ts_value value;
        if (is_member_of) {
            const char *name = node->as.assign.targets.items[0]->as.name;
            IG_TRY(ig_python_attribute(eval, &whole, name, &value));
            ig_ts_list_add(eval, *out, value);
        }
    }
    return IG_OK;
}

ig_status ig_python_items(ig_ts_eval *eval, const ig_ts_value *value,
                          ig_ts_list **out) {
    const ig_python_thing *thing = ig_python_thing_of(value);
    IG_TRY(ig_ts_use(eval, value));
    switch ((int)value->kind) {
    case IG_TS_LIST:
    case IG_TS_TUPLE:
        IG_TRY(ig_ts_open(eval, value));
        *out = ig_ts_list_of(eval, value->as.list->items, value->as.list->count);
        return IG_OK;
    case IG_TS_DICT:
        IG_TRY(ig_ts_open(eval, value));
        *out = ig_ts_list_of(eval, value->as.dict->keys, value->as.dict->count);
        return IG_OK;
    case IG_TS_STR:
        return text_items(eval, value->as.str, out);
    case IG_TS_TENSOR:
        return tensor_items(eval, value, out);
    case IG_TS_OBJECT:
        return object_items(eval, value, out);
    default:
        if (thing && thing->kind == IG_PYTHON_CLASS &&
            thing->class->kind == IG_PYTHON_ENUM) {
            return class_items(eval, thing->class, out);
        }
        return ig_ts_error(eval, IG_UNSUPPORTED, "loops over %s",
                           ig_ts_kind_name(value));
    }
}
