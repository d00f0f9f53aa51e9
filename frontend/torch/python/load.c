/* Pickled values: containers, objects and functions, of the dialect and of Python.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Identity is kept: one pickled list, object or storage is one of ours.
 */
#include "frontend/torch/python/inside.h"

#include <string.h>

/* ---- containers ---- */

static const ig_script_type *tag_of(ig_ts_eval *eval, const ig_py *value) {
    const ig_script_type *type = NULL;
    ig_location where = { .file = eval->file };
    bool is_tag = value->type && (strncmp(value->type, "List[", 5) == 0 ||
                                  strncmp(value->type, "Dict[", 5) == 0);
    if (!is_tag || ig_script_type_of_text(&eval->code->types, &where,
                                          ig_str_of(value->type), &type) != IG_OK) {
        return NULL;
    }
    return type;
}

static ig_status load_items(ig_ts_eval *eval, const ig_py *value, const char *path,
                            ig_ts_list *list) {
    for (size_t i = 0; i < value->as.list.count; i++) {
        ig_ts_value item;
        const char *name = ig_arena_printf(eval->arena, "%s.%zu", path, i);
        IG_TRY(ig_python_load(eval, value->as.list.items[i], name, &item));
        ig_ts_list_add(eval, list, item);
    }
    list->type = tag_of(eval, value);
    list->path = ig_module_string(eval->module, ig_str_of(path));
    return IG_OK;
}

static ig_status load_dict(ig_ts_eval *eval, const ig_py *value, const char *path,
                           ig_ts_dict *dict) {
    for (size_t i = 0; i < value->as.dict.count; i++) {
        ig_ts_value key, item;
        IG_TRY(ig_python_load(eval, value->as.dict.keys[i], path, &key));
        const char *name = key.kind == IG_TS_STR
                               ? ig_arena_printf(eval->arena, "%s.%.*s", path,
                                                 IG_STR_ARG(key.as.str))
                               : ig_arena_printf(eval->arena, "%s.%zu", path, i);
        IG_TRY(ig_python_load(eval, value->as.dict.values[i], name, &item));
        ig_ts_dict_set(eval, dict, key, item);
    }
    dict->type = tag_of(eval, value);
    dict->path = ig_module_string(eval->module, ig_str_of(path));
    return IG_OK;
}

/* ---- objects ---- */

/* `is_own` leaves out what torch.nn.Module keeps about itself. */
static ig_status load_attributes(ig_ts_eval *eval, const ig_py *state, const char *path,
                                 bool is_own, ig_ts_object *object) {
    for (size_t i = 0; i < state->as.dict.count; i++) {
        const ig_py *key = state->as.dict.keys[i];
        ig_ts_value item;
        if (key->kind != IG_PY_STR) {
            return ig_ts_error(eval, IG_INVALID,
                               "the name of an attribute is not a string");
        }
        if (is_own && ig_py_is_kept_by_torch(key->as.text)) {
            continue;
        }
        const char *name = ig_module_string(eval->module, key->as.text);
        const char *dot = path[0] ? "." : "";
        IG_TRY(ig_python_load(eval, state->as.dict.values[i],
                              ig_arena_printf(eval->arena, "%s%s%s", path, dot, name),
                              &item));
        ig_ts_object_set(eval, object, name, item);
    }
    return IG_OK;
}

/* The members of a module are attributes like all others; parameters and buffers name
 * their tensors, before others that hold the same. */
static ig_status load_module(ig_ts_eval *eval, const ig_py *value, const ig_py *state,
                             const char *path, ig_ts_object *object) {
    const ig_py *parts[] = { ig_py_get(value, "_parameters"),
                             ig_py_get(value, "_buffers"), state,
                             ig_py_get(value, "_modules") };
    for (size_t i = 0; i < IG_COUNT_OF(parts); i++) {
        IG_TRY(load_attributes(eval, parts[i], path, parts[i] == state, object));
    }
    return IG_OK;
}

/* Custom classes keep their state as attribute "state"; what reads it knows it. */
static ig_status load_state(ig_ts_eval *eval, const ig_py *state, const char *path,
                            ig_ts_object *object) {
    ig_ts_value value, nothing;
    IG_TRY(ig_python_load(eval, (ig_py *)(uintptr_t)state, path, &value));
    if (!object->class || !ig_python_has_method(object, "__setstate__")) {
        ig_ts_object_set(eval, object, "state", value);
        return IG_OK;
    }
    ig_ts_arguments arguments = { .values = &value, .positional = 1 };
    return ig_python_call_method(eval, object, "__setstate__", &arguments, &nothing);
}

/* TorchScript pickles parameters as plain tensors; the class says which they are. */
static void mark_parameters(const ig_class *class, const ig_py *value) {
    for (size_t i = 0; i < class->parameter_count; i++) {
        const ig_py *held = ig_py_get(value, class->parameters[i]);
        if (held && held->kind == IG_PY_TENSOR) {
            held->as.tensor->is_parameter = true;
        }
    }
}

static ig_status load_object(ig_ts_eval *eval, const ig_py *value, const char *path,
                             ig_ts_object *object) {
    const ig_py *state = value->as.object.state;
    const char *name = ig_py_path(value, eval->arena);
    ig_location where = { .file = eval->file, .node = path };
    object->class_name = ig_module_string(eval->module, ig_str_of(name));
    object->path = ig_module_string(eval->module, ig_str_of(path));
    IG_TRY(ig_code_class(eval->code, name, &where, &object->class));
    mark_parameters(object->class, value);
    if (object->class->kind == IG_CLASS_CUSTOM) {
        object->class = NULL;
    }
    if (!state) {
        return IG_OK;
    }
    bool has_setstate = ig_python_has_method(object, "__setstate__") &&
                        ig_python_has_method(object, "__getstate__");
    return state->kind == IG_PY_DICT && !has_setstate && object->class
               ? load_attributes(eval, state, path, false, object)
               : load_state(eval, state, path, object);
}

static ig_status no_member(ig_ts_eval *eval, const char *path) {
    return ig_ts_error(eval, IG_INVALID, "'%s' is not a member of its enum", path);
}

static bool has_value(const ig_ts_value *member, const ig_ts_value *wanted) {
    bool is_known;
    const ig_ts_value *own = ig_ts_object_get(member->as.object, "value");
    return ig_ts_equal(own, wanted, &is_known) && is_known;
}

static ig_status load_enum(ig_ts_eval *eval, const ig_py *value, const char *path,
                           ig_ts_value *out_value) {
    const ig_class *class = NULL;
    ig_location where = { .file = eval->file, .node = path };
    ig_ts_value wanted;
    IG_TRY(ig_code_class(eval->code, ig_py_path(value, eval->arena), &where, &class));
    IG_TRY(ig_python_load(eval, value->as.enumeration.value, path, &wanted));
    for (size_t i = 0; i < class->members.count; i++) {
        IG_TRY(ig_dialect_enum_member(eval, class, class->members.items[i].name,
                                      out_value));
        if (has_value(out_value, &wanted)) {
            return IG_OK;
        }
    }
    return no_member(eval, path);
}

/* ---- plain Python alone ---- */

/* A function or class by its name: of the sources, or elsewhere. */
static ig_status load_global(ig_ts_eval *eval, const ig_py *value, ig_ts_value *out) {
    const char *module = ig_arena_copy(eval->arena, value->as.global.module.data,
                                       value->as.global.module.size);
    const char *name = ig_arena_copy(eval->arena, value->as.global.name.data,
                                     value->as.global.name.size);
    return ig_python_import_from(eval, module, name, out);
}

static ig_status load_list(ig_ts_eval *eval, const ig_py *value, const char *path,
                           ig_ts_list **out) {
    *out = ig_ts_list_create(eval, value->as.list.count);
    return load_items(eval, value, path, *out);
}

/* functools.partial(f, …), as pickle makes it: its state is (f, args, kwargs, dict). */
static ig_status load_partial(ig_ts_eval *eval, const ig_py *state, const char *path,
                              ig_ts_value *out) {
    ig_ts_list *positional;
    IG_TRY(load_list(eval, state->as.list.items[1], path, &positional));
    const ig_py *keywords = state->as.list.items[2];
    ig_python_thing *thing = ig_python_thing_make(eval, IG_PYTHON_PARTIAL, "partial");
    ig_ts_arguments *given = IG_NEW(eval->arena, ig_ts_arguments);
    size_t count = keywords->kind == IG_PY_DICT ? keywords->as.dict.count : 0;
    given->values = IG_NEW_ARRAY(eval->arena, ig_ts_value,
                                 positional->count + count + 1);
    given->names = IG_NEW_ARRAY(eval->arena, const char *, count + 1);
    given->positional = (uint32_t)positional->count;
    memcpy(given->values, positional->items,
           positional->count * sizeof(*given->values));
    for (size_t i = 0; i < count; i++) {
        const ig_py *key = keywords->as.dict.keys[i];
        if (key->kind != IG_PY_STR) {
            return ig_ts_error(eval, IG_INVALID,
                               "the name of a keyword argument is not a string");
        }
        given->names[i] = ig_names_intern(&eval->code->names, key->as.text);
        IG_TRY(ig_python_load(eval, keywords->as.dict.values[i], path,
                              &given->values[positional->count + i]));
        given->keywords++;
    }
    IG_TRY(ig_python_load(eval, state->as.list.items[0], path, &thing->function));
    thing->given = given;
    *out = ig_python_value(thing);
    return IG_OK;
}

static bool is_partial(const ig_py *value) {
    const ig_py *state = value->as.call.state;
    return value->kind == IG_PY_CALL &&
           ig_py_is_global(value->as.call.function, "functools", "partial") && state &&
           state->kind == IG_PY_TUPLE && state->as.list.count >= 3 &&
           (state->as.list.items[1]->kind == IG_PY_TUPLE ||
            state->as.list.items[1]->kind == IG_PY_LIST);
}

/* ---- objects ---- */

/* A named tuple was pickled as the arguments of its class. */
static ig_status load_tuple(ig_ts_eval *eval, const ig_py *value, const char *path,
                            const ig_class *class, ig_ts_value *out) {
    const ig_py *args = value->as.object.args;
    ig_ts_list *list;
    if (!args || args->kind != IG_PY_TUPLE ||
        args->as.list.count != class->attributes.count) {
        return ig_ts_error(eval, IG_INVALID, "'%s' is not a %s", path, class->name);
    }
    IG_TRY(load_list(eval, args, path, &list));
    list->class = class;
    *out = ig_ts_of_tuple(list);
    return IG_OK;
}

static ig_status load_instance(ig_ts_eval *eval, const ig_py *value, const char *path,
                               const ig_class *class, ig_ts_value *out) {
    const ig_py *state = value->as.object.state;
    ig_ts_object *object = ig_ts_object_create(eval, class->name);
    ig_ts_value hook;
    bool has_hook;
    object->class = class;
    object->path = ig_module_string(eval->module, ig_str_of(path));
    *out = ig_ts_of_object(object);
    IG_TRY(ig_python_class_get(eval, class->plain, NULL,
                               ig_python_intern(eval, "__setstate__"), &hook,
                               &has_hook));
    if (has_hook) {
        return ig_ts_error(eval, IG_UNSUPPORTED,
                           "class %s sets its state by a function of its own "
                           "(__setstate__)",
                           class->name);
    }
    if (!state) {
        return IG_OK;
    }
    bool is_module = ig_py_is_module(value);
    if (is_module && state->kind == IG_PY_TUPLE) { /* beside the values of slots */
        state = state->as.list.items[0];
    }
    if (state->kind != IG_PY_DICT) {
        return ig_ts_error(eval, IG_UNSUPPORTED, "the state of '%s' is not a dict",
                           path);
    }
    return is_module ? load_module(eval, value, state, path, object)
                     : load_attributes(eval, state, path, false, object);
}

/* Only of classes of the sources; *out_done false: of another. */
static ig_status load_own(ig_ts_eval *eval, ig_py *value, const char *path,
                          ig_ts_value *out, bool *out_done) {
    const ig_class *class = NULL;
    const ig_py *global = value->as.object.class;
    ig_python_module *module = NULL;
    *out_done = false;
    if (global->kind != IG_PY_GLOBAL) {
        return IG_OK;
    }
    const char *name = ig_arena_copy(eval->arena, global->as.global.module.data,
                                     global->as.global.module.size);
    IG_TRY(ig_python_module_find(eval, name, &module));
    if (!module) {
        return IG_OK;
    }
    *out_done = true;
    IG_TRY(ig_python_find_class(eval, ig_py_path(value, eval->arena), &class));
    return class->kind == IG_CLASS_NAMED_TUPLE
               ? load_tuple(eval, value, path, class, out)
               : load_instance(eval, value, path, class, out);
}

/* ---- enums ---- */

/* A member was pickled as the call of its class with its value. */
static ig_status load_member(ig_ts_eval *eval, const ig_py *value, const char *path,
                             ig_ts_value *out, bool *out_done) {
    const ig_py *function = value->as.call.function, *args = value->as.call.args;
    ig_ts_value class, wanted;
    ig_ts_list *members;
    *out_done = false;
    if (function->kind != IG_PY_GLOBAL || !args || args->kind != IG_PY_TUPLE ||
        args->as.list.count != 1) {
        return IG_OK;
    }
    IG_TRY(load_global(eval, function, &class));
    const ig_python_thing *thing = ig_python_thing_of(&class);
    if (!thing || thing->kind != IG_PYTHON_CLASS ||
        thing->class->kind != IG_PYTHON_ENUM) {
        return IG_OK;
    }
    IG_TRY(ig_python_load(eval, args->as.list.items[0], path, &wanted));
    IG_TRY(ig_python_items(eval, &class, &members));
    for (size_t i = 0; i < members->count && !*out_done; i++) {
        *out_done = has_value(&members->items[i], &wanted);
        *out = members->items[i];
    }
    return *out_done ? IG_OK : no_member(eval, path);
}

/* getattr(class, "name"), as methods of C are pickled; *out_done false: no such. */
static ig_status load_attribute(ig_ts_eval *eval, const ig_py *value, ig_ts_value *out,
                                bool *out_done) {
    const ig_py *args = value->as.call.args;
    ig_ts_value object;
    *out_done = ig_py_is_global(value->as.call.function, "builtins", "getattr") &&
                args && args->kind == IG_PY_TUPLE && args->as.list.count == 2 &&
                args->as.list.items[0]->kind == IG_PY_GLOBAL &&
                args->as.list.items[1]->kind == IG_PY_STR;
    if (!*out_done) {
        return IG_OK;
    }
    ig_str name = args->as.list.items[1]->as.text;
    IG_TRY(load_global(eval, args->as.list.items[0], &object));
    return ig_python_attribute(eval, &object, ig_module_string(eval->module, name),
                               out);
}

/* Absent from the dialect: an object of a class of the sources, a function, a set.
 * An unknown value is poison: only its use is an error. */
static ig_status load_plain(ig_ts_eval *eval, ig_py *value, const char *path,
                            ig_ts_value *out) {
    ig_ts_list *list;
    ig_py *graph;
    bool is_done;
    if (ig_py_has_hooks(value)) {
        *out = ig_python_poison(eval,
                                ig_arena_printf(eval->arena,
                                                "has forward hooks (%s, %s), which are "
                                                "Python functions",
                                                path, ig_py_path(value, eval->arena)));
        return IG_OK;
    }
    switch ((int)value->kind) {
    case IG_PY_OBJECT:
        IG_TRY(load_own(eval, value, path, out, &is_done));
        if (is_done) {
            return IG_OK;
        }
        break;
    case IG_PY_GLOBAL:
        return load_global(eval, value, out);
    case IG_PY_SET:
        IG_TRY(load_list(eval, value, path, &list));
        list->is_set = true;
        *out = ig_ts_of_list(list);
        return IG_OK;
    case IG_PY_CALL:
        if (is_partial(value)) {
            return load_partial(eval, value->as.call.state, path, out);
        }
        graph = ig_py_graph_module(value, eval->arena);
        if (graph) {
            IG_TRY(load_own(eval, graph, path, out, &is_done));
            if (is_done) {
                return IG_OK;
            }
        }
        IG_TRY(load_member(eval, value, path, out, &is_done));
        if (is_done) {
            return IG_OK;
        }
        IG_TRY(load_attribute(eval, value, out, &is_done));
        if (is_done) {
            return IG_OK;
        }
        break;
    default:
        break;
    }
    const char *name = ig_py_path(value, eval->arena);
    *out = ig_python_poison(
        eval, ig_arena_printf(eval->arena,
                              "the package holds as %s (%s), which is "
                              "not known here",
                              name ? name : ig_py_kind_name(value->kind), path));
    return IG_OK;
}

/* ---- the whole ---- */

static bool is_of_dialect(const ig_py *object) {
    const ig_py *class = object->as.object.class;
    return class->kind == IG_PY_GLOBAL &&
           ig_str_starts(class->as.global.module, "__torch__");
}

/* Containers are registered by their pickled value before their items are loaded: the
 * graph of a pickle has no cycle, but reaches one object by several ways. */
static ig_status load_container(ig_ts_eval *eval, ig_py *value, const char *path,
                                ig_ts_value *memo) {
    switch ((int)value->kind) {
    case IG_PY_LIST:
        *memo = ig_ts_of_list(ig_ts_list_create(eval, value->as.list.count));
        return load_items(eval, value, path, memo->as.list);
    case IG_PY_TUPLE:
        *memo = ig_ts_of_tuple(ig_ts_list_create(eval, value->as.list.count));
        return load_items(eval, value, path, memo->as.list);
    case IG_PY_DICT:
        *memo = ig_ts_of_dict(ig_ts_dict_create(eval));
        return load_dict(eval, value, path, memo->as.dict);
    case IG_PY_OBJECT:
        if (eval->python->sources && !is_of_dialect(value)) {
            return load_plain(eval, value, path, memo);
        }
        *memo = ig_ts_of_object(ig_ts_object_create(eval, "?"));
        return load_object(eval, value, path, memo->as.object);
    case IG_PY_ENUM:
        return load_enum(eval, value, path, memo);
    case IG_PY_TENSOR:
        return ig_ts_tensor_load(eval, value, path, memo);
    default:
        if (eval->python->sources) {
            return load_plain(eval, value, path, memo);
        }
        return ig_ts_error(eval, IG_UNSUPPORTED, "'%s' is %s, which is not supported",
                           path, ig_py_kind_name(value->kind));
    }
}

ig_status ig_python_load(ig_ts_eval *eval, ig_py *value, const char *path,
                         ig_ts_value *out_value) {
    switch ((int)value->kind) {
    case IG_PY_NONE:
        *out_value = ig_ts_none();
        return IG_OK;
    case IG_PY_BOOL:
        *out_value = ig_ts_of_bool(value->as.b);
        return IG_OK;
    case IG_PY_INT:
        *out_value = ig_ts_of_int(value->as.i);
        return IG_OK;
    case IG_PY_FLOAT:
        *out_value = ig_ts_of_float(value->as.f);
        return IG_OK;
    case IG_PY_COMPLEX:
        *out_value = ig_ts_of_complex(value->as.complex.re, value->as.complex.im);
        return IG_OK;
    case IG_PY_STR:
    case IG_PY_BYTES: /* a custom class's state may be one */
        *out_value = ig_ts_of_str(value->as.text);
        return IG_OK;
    case IG_PY_DEVICE:
        *out_value = (ig_ts_value){ .kind = IG_TS_DEVICE, .as.str = value->as.text };
        return IG_OK;
    case IG_PY_DTYPE:
        *out_value = ig_ts_of_int(value->as.dtype->code);
        return IG_OK;
    default:
        break;
    }
    ig_ts_value *memo = ig_map_get_id(&eval->loaded, IG_MAP_PTR(value));
    if (!memo) {
        memo = IG_NEW(eval->arena, ig_ts_value);
        ig_map_set_id(&eval->loaded, IG_MAP_PTR(value), memo);
        IG_TRY(load_container(eval, value, path, memo));
    }
    *out_value = *memo;
    return IG_OK;
}
