/* x.name, of anything.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/language/schema.h"
#include "frontend/torch/python/dialect.h"
#include "frontend/torch/python/piecewise.h"

#include <assert.h>
#include <string.h>

/* ---- things ---- */

const ig_python_thing *ig_python_thing_of(const ig_ts_value *value) {
    return value->kind == IG_TS_FUNCTION ? value->as.function->plain : NULL;
}

ig_python_thing *ig_python_thing_make(ig_ts_eval *eval, ig_python_kind kind,
                                      const char *name) {
    ig_python_thing *thing = IG_NEW(eval->arena, ig_python_thing);
    thing->kind = kind;
    thing->name = name;
    thing->value.plain = thing;
    return thing;
}

/* One name is one value, so that `is` and branches agree about it. */
ig_ts_value ig_python_external(ig_ts_eval *eval, const char *name) {
    ig_python_thing *thing = ig_map_get(&eval->python->externals, ig_str_of(name));
    if (!thing) {
        thing = ig_python_thing_make(eval, IG_PYTHON_EXTERNAL,
                                     ig_arena_strdup(eval->arena, name));
        ig_map_set(&eval->python->externals, ig_str_of(thing->name), thing);
    }
    return ig_python_value(thing);
}

const char *ig_python_external_name(const ig_ts_value *value) {
    const ig_python_thing *thing = ig_python_thing_of(value);
    return thing && thing->kind == IG_PYTHON_EXTERNAL ? thing->name : NULL;
}

static ig_ts_value bind_self(ig_ts_eval *eval, ig_ts_value self, ig_ts_value function,
                             const char *name) {
    ig_python_thing *thing = ig_python_thing_make(eval, IG_PYTHON_BOUND, name);
    thing->self = self;
    thing->function = function;
    return ig_python_value(thing);
}

ig_ts_value ig_python_poison(ig_ts_eval *eval, const char *what) {
    ig_ts_poison *poison = IG_NEW(eval->arena, ig_ts_poison);
    poison->what = what;
    poison->where = ig_ts_where(eval);
    return (ig_ts_value){ .kind = IG_TS_POISON, .as.poison = poison };
}

/* ---- classes and their instances ---- */

/* An instance's view of a class's attribute. */
static ig_status bind_member(ig_ts_eval *eval, const ig_ts_value *self,
                             ig_ts_value class, ig_ts_value member, ig_ts_value *out) {
    const ig_python_thing *thing = ig_python_thing_of(&member);
    const ig_ast_list none = { 0 };
    bool is_def = thing && thing->kind == IG_PYTHON_DEF &&
                  thing->node->kind == IG_AST_DEF;
    const ig_ast_list *decorators = is_def ? &thing->node->as.def->decorators : &none;
    for (size_t i = 0; i < decorators->count; i++) {
        const char *name = ig_ast_dotted(decorators->items[i], eval->arena);
        if (name && strcmp(name, "staticmethod") == 0) {
            *out = member;
            return IG_OK;
        }
        if (name && strcmp(name, "classmethod") == 0) {
            *out = bind_self(eval, class, member, thing->name);
            return IG_OK;
        }
        bool is_property = name && (strcmp(name, "property") == 0 ||
                                    strcmp(name, "functools.cached_property") == 0 ||
                                    strcmp(name, "cached_property") == 0);
        if (is_property && self) {
            ig_ts_value given = *self;
            ig_ts_arguments arguments = { .values = &given, .positional = 1 };
            return ig_python_call(eval, &member, &arguments, out);
        }
    }
    bool is_function = thing && thing->kind == IG_PYTHON_DEF;
    *out = is_function && self ? bind_self(eval, *self, member, thing->name) : member;
    return IG_OK;
}

/* Attributes that every torch.nn.Module has. */
static bool is_module_method(const char *name) {
    static const char *const names[] = {
        "named_children",   "children", "modules",
        "named_modules",    "eval",     "parameters",
        "named_parameters", "buffers",  "train",
        "requires_grad_",   "to",
    };
    for (size_t i = 0; i < IG_COUNT_OF(names); i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static ig_status instance_attribute(ig_ts_eval *eval, const ig_ts_value *self,
                                    const char *name, ig_ts_value *out,
                                    bool *out_found) {
    ig_ts_object *object = self->as.object;
    const ig_class *class = object->class;
    const ig_ts_value *own = ig_ts_object_get(object, name);
    ig_ts_value member;
    const char *container;
    *out_found = true;
    if (own) {
        *out = *own;
        return IG_OK;
    }
    if (class && class->plain) {
        const ig_python_class *plain = class->plain;
        IG_TRY(ig_python_class_get(eval, plain, NULL, ig_python_intern(eval, name),
                                   &member, out_found));
        if (*out_found) {
            return bind_member(eval, self, ig_python_value(&plain->thing), member, out);
        }
        if (strcmp(name, "__class__") == 0) {
            *out = ig_python_value(&plain->thing);
            *out_found = true;
            return IG_OK;
        }
        if (strcmp(name, "__module__") == 0) {
            *out = ig_ts_of_str(ig_str_of(plain->module->name));
            *out_found = true;
            return IG_OK;
        }
    }
    const ig_field *constant = class && !class->plain ? ig_class_constant(class, name)
                                                      : NULL;
    if (constant) {
        return ig_python_evaluate(eval, constant->value, out);
    }
    bool is_known = (class && ig_class_method(class, name)) || is_module_method(name) ||
                    ig_python_is_container(object, &container) ||
                    (class && class->plain && class->plain->external &&
                     strcmp(name, "forward") == 0);
    *out_found = is_known;
    *out = bind_self(eval, *self, ig_ts_none(), name);
    return IG_OK;
}

ig_ts_value ig_python_enum_member(ig_ts_eval *eval, const ig_class *class,
                                  const char *name, ig_ts_value value) {
    const char *key = ig_arena_printf(eval->arena, "%s.%s", class->name, name);
    ig_ts_object *member = ig_map_get(&eval->enums, ig_str_of(key));
    if (!member) {
        member = ig_ts_object_create(eval, class->name);
        member->class = class;
        member->cell.born = 0;
        ig_ts_object_set(eval, member, "name", ig_ts_of_str(ig_str_of(name)));
        ig_ts_object_set(eval, member, "value", value);
        ig_map_set(&eval->enums, ig_str_of(key), member);
    }
    return (ig_ts_value){ .kind = IG_TS_ENUM, .as.object = member };
}

static ig_status class_attribute(ig_ts_eval *eval, const ig_python_class *class,
                                 const char *name, ig_ts_value *out, bool *out_found) {
    ig_ts_value member;
    name = ig_python_intern(eval, name);
    IG_TRY(ig_python_class_get(eval, class, NULL, name, &member, out_found));
    if (!*out_found) {
        const char *dot = strrchr(class->name, '.');
        bool is_module = strcmp(name, "__module__") == 0;
        *out_found = is_module || strcmp(name, "__name__") == 0;
        *out = ig_ts_of_str(ig_str_of(is_module ? class->module->name : dot + 1));
        return IG_OK;
    }
    const ig_python_thing *thing = ig_python_thing_of(&member);
    if (class->kind == IG_PYTHON_ENUM && !(thing && thing->kind == IG_PYTHON_DEF)) {
        *out = ig_python_enum_member(eval, class->class, name, member);
        return IG_OK;
    }
    return bind_member(eval, NULL, ig_python_value(&class->thing), member, out);
}

/* super().name: after the class whose method asks. */
static ig_status super_attribute(ig_ts_eval *eval, const ig_python_thing *super,
                                 const char *name, ig_ts_value *out, bool *out_found) {
    const ig_class *class =
        super->self.kind == IG_TS_OBJECT ? super->self.as.object->class : NULL;
    ig_ts_value member;
    assert(super->owner && "super() is in a method");
    const ig_python_class *plain = class && class->plain ? class->plain : super->owner;
    IG_TRY(ig_python_class_get(eval, plain, super->owner, ig_python_intern(eval, name),
                               &member, out_found));
    if (*out_found) {
        return bind_member(eval, &super->self, ig_python_value(&plain->thing), member,
                           out);
    }
    *out_found = true; /* of a base elsewhere */
    *out = bind_self(eval, super->self, ig_ts_none(),
                     ig_arena_printf(eval->arena, "super.%s", name));
    return IG_OK;
}

/* ---- the others ---- */

static ig_status function_attribute(ig_ts_eval *eval, const ig_python_thing *thing,
                                    const char *name, ig_ts_value *out,
                                    bool *out_found) {
    if (strcmp(name, "__name__") == 0) {
        *out = ig_ts_of_str(ig_str_of(thing->node->as.def->name));
    } else if (strcmp(name, "__module__") == 0) {
        *out = ig_ts_of_str(ig_str_of(thing->module->name));
    } else if (strcmp(name, "__class__") == 0) {
        *out = ig_python_external(eval, "types.FunctionType");
    } else {
        *out_found = false;
    }
    return IG_OK;
}

static ig_status thing_attribute(ig_ts_eval *eval, const ig_python_thing *thing,
                                 const char *name, ig_ts_value *out, bool *out_found) {
    *out_found = true;
    switch (thing->kind) {
    case IG_PYTHON_MODULE:
        return ig_python_import_from(eval, thing->name, name, out);
    case IG_PYTHON_EXTERNAL:
        return ig_python_elsewhere(
            eval, ig_arena_printf(eval->arena, "%s.%s", thing->name, name), out);
    case IG_PYTHON_CLASS:
        return class_attribute(eval, thing->class, name, out, out_found);
    case IG_PYTHON_SUPER:
        return super_attribute(eval, thing, name, out, out_found);
    case IG_PYTHON_DEF:
        return function_attribute(eval, thing, name, out, out_found);
    case IG_PYTHON_BOUND: {
        const ig_python_thing *of = ig_python_thing_of(&thing->function);
        if (of) {
            return thing_attribute(eval, of, name, out, out_found);
        }
        break;
    }
    case IG_PYTHON_NATIVE:
    case IG_PYTHON_PARTIAL:
        break;
    }
    *out_found = false;
    return IG_OK;
}

/* Attributes of tensors that are not calls; others are methods. */
static ig_status tensor_attribute(ig_ts_eval *eval, const ig_ts_value *tensor,
                                  const char *name, ig_ts_value *out) {
    static const char *const operators[][2] = {
        { "dtype", "prim::dtype" },
        { "device", "prim::device" },
        { "data", "prim::data" },
        { "ndim", "aten::dim" },
        { "T", "aten::numpy_T" },
        { "mT", "aten::mT" },
        { "H", "aten::adjoint" },
        { "real", "aten::real" },
        { "imag", "aten::imag" },
        { "is_cuda", "prim::is_cuda" },
        { "is_sparse", "prim::is_sparse" },
        { "layout", "prim::layout" },
        { "is_quantized", "prim::is_quantized" },
        { "itemsize", "prim::itemsize" },
        { "requires_grad", "prim::requires_grad" },
        { "is_cpu", "prim::is_cpu" },
    };
    if (eval->frame->is_dialect) {
        return ig_python_op(eval, ig_arena_printf(eval->arena, "prim::%s", name),
                            tensor, 1, out);
    }
    for (size_t i = 0; i < IG_COUNT_OF(operators); i++) {
        if (strcmp(operators[i][0], name) == 0) {
            IG_TRY(ig_python_op(eval, operators[i][1], tensor, 1, out));
            out->is_dtype = strcmp(name, "dtype") == 0;
            return IG_OK;
        }
    }
    if (strcmp(name, "shape") == 0) {
        IG_TRY(ig_python_op(eval, "aten::size", tensor, 1, out));
        *out = ig_ts_of_tuple(out->as.list);
        return IG_OK;
    }
    if (strcmp(name, "grad") == 0) {
        *out = ig_ts_none();
        return IG_OK;
    }
    *out = bind_self(eval, *tensor, ig_ts_none(), name);
    return IG_OK;
}

static ig_status device_attribute(ig_ts_eval *eval, const ig_ts_value *device,
                                  const char *name, ig_ts_value *out, bool *out_found) {
    *out_found = strcmp(name, "type") == 0 || strcmp(name, "index") == 0;
    return *out_found
               ? ig_python_op(eval, ig_arena_printf(eval->arena, "prim::%s", name),
                              device, 1, out)
               : IG_OK;
}

/* A field of a named tuple, or the name of an operator's result. */
static bool tuple_attribute(ig_ts_eval *eval, const ig_ts_list *tuple, const char *name,
                            ig_ts_value *out) {
    const ig_schema *schema = ig_map_get_id(&eval->python->results, IG_MAP_PTR(tuple));
    size_t count = tuple->class ? tuple->class->attributes.count
                   : schema     ? schema->result_count
                                : 0;
    for (size_t i = 0; i < count && i < tuple->count; i++) {
        const char *field = tuple->class ? tuple->class->attributes.items[i].name
                                         : schema->results[i].name;
        if (field && strcmp(field, name) == 0) {
            *out = tuple->items[i];
            return true;
        }
    }
    return false;
}

ig_status ig_python_attribute_find(ig_ts_eval *eval, const ig_ts_value *object,
                                   const char *name, ig_ts_value *out,
                                   bool *out_found) {
    IG_TRY(ig_ts_use(eval, object));
    const ig_python_thing *thing = ig_python_thing_of(object);
    *out_found = true;
    if (thing) {
        return thing_attribute(eval, thing, name, out, out_found);
    }
    switch ((int)object->kind) {
    case IG_TS_OBJECT:
        return instance_attribute(eval, object, name, out, out_found);
    case IG_TS_ENUM: {
        const ig_ts_value *own = ig_ts_object_get(object->as.object, name);
        *out_found = own != NULL;
        *out = own ? *own : ig_ts_none();
        return IG_OK;
    }
    case IG_TS_TENSOR:
        return tensor_attribute(eval, object, name, out);
    case IG_TS_DEVICE:
        return device_attribute(eval, object, name, out, out_found);
    case IG_TS_TUPLE:
        if (tuple_attribute(eval, object->as.list, name, out)) {
            return IG_OK;
        }
        break;
    case IG_TS_LIST:
    case IG_TS_DICT:
    case IG_TS_STR:
        break;
    default:
        *out_found = false;
        return IG_OK;
    }
    *out = bind_self(eval, *object, ig_ts_none(), name);
    return IG_OK;
}

static const char *name_of_value(const ig_ts_value *object) {
    const ig_python_thing *thing = ig_python_thing_of(object);
    return object->kind == IG_TS_OBJECT ? object->as.object->class_name
           : thing                      ? thing->name
                                        : ig_ts_kind_name(object);
}

ig_status ig_python_attribute(ig_ts_eval *eval, const ig_ts_value *object,
                              const char *name, ig_ts_value *out) {
    bool is_found;
    IG_TRY(ig_python_attribute_find(eval, object, name, out, &is_found));
    return is_found ? IG_OK
                    : ig_ts_error(eval, IG_INVALID, "%s has no attribute '%s'",
                                  name_of_value(object), name);
}
