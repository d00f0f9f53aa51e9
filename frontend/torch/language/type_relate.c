/* Which type covers which.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/language/code.h"

#include "base/vec.h"

#include <assert.h>

/* ---- classes ---- */

/* The definition of a CLASS; NULL when nothing is known of it. */
static const ig_class *definition_of(ig_script_types *types,
                                     const ig_script_type *type) {
    const ig_class *class = NULL;
    const ig_function *function;
    if (types->code && type->kind == IG_SCRIPT_CLASS &&
        ig_code_find(types->code, type->name, &class, &function) != IG_OK) {
        return NULL; /* reported */
    }
    return class;
}

static bool implements_interface(const ig_class *class, const ig_class *interface) {
    assert((interface->kind == IG_CLASS_INTERFACE ||
            interface->kind == IG_CLASS_MODULE_INTERFACE) &&
           "only an interface is implemented");
    for (size_t i = 0; i < interface->method_count; i++) {
        const ig_function *wanted = &interface->methods[i];
        const ig_function *method = ig_class_method(class, wanted->node->as.def->name);
        if (!method || method->param_count < wanted->param_count) {
            return false;
        }
    }
    return true;
}

/* The tuple that a NamedTuple is; else NULL. */
static const ig_script_type *tuple_of(ig_script_types *types,
                                      const ig_script_type *type) {
    const ig_class *class = definition_of(types, type);
    if (!class || class->kind != IG_CLASS_NAMED_TUPLE) {
        return NULL;
    }
    IG_VEC(const ig_script_type *) items = { 0 };
    for (size_t i = 0; i < class->attributes.count; i++) {
        IG_PUSH(types->arena, &items, class->attributes.items[i].type);
    }
    return ig_script_type_tuple(types, items.items, items.count);
}

static bool class_is_subtype(ig_script_types *types, const ig_script_type *type,
                             const ig_script_type *of) {
    assert(type->kind == IG_SCRIPT_CLASS && "the caller checked the kind");
    if (of->kind == IG_SCRIPT_TUPLE || of->kind == IG_SCRIPT_ANY_TUPLE) {
        const ig_script_type *tuple = tuple_of(types, type);
        return tuple && ig_script_type_is_subtype(types, tuple, of);
    }
    const ig_class *class = definition_of(types, type);
    bool is_enum = class && class->kind == IG_CLASS_ENUM;
    if (of->kind == IG_SCRIPT_ANY_ENUM) {
        return is_enum;
    }
    if (of->kind == IG_SCRIPT_ANY_CLASS) {
        return !is_enum;
    }
    const ig_class *other = class ? definition_of(types, of) : NULL;
    bool is_interface = other && (other->kind == IG_CLASS_INTERFACE ||
                                  other->kind == IG_CLASS_MODULE_INTERFACE);
    return is_interface && implements_interface(class, other);
}

/* ---- all ---- */

static bool is_subtype_of_any_of(ig_script_types *types, const ig_script_type *type,
                                 const ig_script_type *of) {
    for (size_t i = 0; i < of->count; i++) {
        if (ig_script_type_is_subtype(types, type, of->items[i])) {
            return true;
        }
    }
    return false;
}

static bool all_are_subtypes(ig_script_types *types, const ig_script_type *type,
                             const ig_script_type *of) {
    for (size_t i = 0; i < type->count; i++) {
        if (!ig_script_type_is_subtype(types, type->items[i], of)) {
            return false;
        }
    }
    return true;
}

static bool items_are_subtypes(ig_script_types *types, const ig_script_type *type,
                               const ig_script_type *of) {
    if (type->kind != of->kind || type->count != of->count) {
        return false;
    }
    for (size_t i = 0; i < type->count; i++) {
        if (!ig_script_type_is_subtype(types, type->items[i], of->items[i])) {
            return false;
        }
    }
    return true;
}

/* An Optional or a Union is covered when all its members are. */
static bool choice_is_subtype(ig_script_types *types, const ig_script_type *type,
                              const ig_script_type *of) {
    if (type->kind == IG_SCRIPT_OPTIONAL && !ig_script_type_admits_none(of)) {
        return false;
    }
    return all_are_subtypes(types, type, of);
}

bool ig_script_type_is_subtype(ig_script_types *types, const ig_script_type *type,
                               const ig_script_type *of) {
    if (type == of || of->kind == IG_SCRIPT_ANY) {
        return true;
    }
    if (type->kind == IG_SCRIPT_OPTIONAL || type->kind == IG_SCRIPT_UNION) {
        return choice_is_subtype(types, type, of);
    }
    switch ((int)of->kind) {
    case IG_SCRIPT_OPTIONAL:
        return type->kind == IG_SCRIPT_NONE ||
               ig_script_type_is_subtype(types, type, of->items[0]);
    case IG_SCRIPT_UNION:
        return is_subtype_of_any_of(types, type, of);
    case IG_SCRIPT_NUMBER:
        return type->kind == IG_SCRIPT_INT || type->kind == IG_SCRIPT_FLOAT ||
               type->kind == IG_SCRIPT_COMPLEX;
    case IG_SCRIPT_ANY_LIST:
        return type->kind == IG_SCRIPT_LIST;
    case IG_SCRIPT_ANY_TUPLE:
        if (type->kind == IG_SCRIPT_TUPLE) {
            return true;
        }
        break;
    case IG_SCRIPT_TUPLE:
    case IG_SCRIPT_FUTURE:
    case IG_SCRIPT_AWAIT:
    case IG_SCRIPT_RREF:
        if (type->kind != IG_SCRIPT_CLASS) {
            return items_are_subtypes(types, type, of);
        }
        break;
    default:
        break;
    }
    return type->kind == IG_SCRIPT_CLASS && class_is_subtype(types, type, of);
}

static const ig_script_type *unify_items(ig_script_types *types,
                                         const ig_script_type *a,
                                         const ig_script_type *b) {
    if (a->kind != b->kind || a->count != b->count || a->count == 0) {
        return NULL;
    }
    const ig_script_type **items = IG_NEW_ARRAY(types->arena, const ig_script_type *,
                                                a->count);
    for (size_t i = 0; i < a->count; i++) {
        items[i] = ig_script_type_unify(types, a->items[i], b->items[i]);
        if (!items[i]) {
            return NULL;
        }
    }
    return ig_script_type_make(types, a->kind, items, a->count);
}

const ig_script_type *ig_script_type_unify(ig_script_types *types,
                                           const ig_script_type *a,
                                           const ig_script_type *b) {
    if (ig_script_type_is_subtype(types, a, b)) {
        return b;
    }
    if (ig_script_type_is_subtype(types, b, a)) {
        return a;
    }
    if (a->kind == IG_SCRIPT_NONE) {
        return ig_script_type_optional(types, b);
    }
    if (b->kind == IG_SCRIPT_NONE) {
        return ig_script_type_optional(types, a);
    }
    if (a->kind == IG_SCRIPT_OPTIONAL || b->kind == IG_SCRIPT_OPTIONAL) {
        const ig_script_type *inner =
            ig_script_type_unify(types, ig_script_type_without_none(types, a),
                                 ig_script_type_without_none(types, b));
        return inner ? ig_script_type_optional(types, inner) : NULL;
    }
    return a->kind == IG_SCRIPT_UNION ? NULL : unify_items(types, a, b);
}
