/* Python's builtin functions, and a few others of its library.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/python/inside.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define HOOK(name) \
    static ig_status name(ig_ts_eval *eval, const ig_ts_arguments *a, ig_ts_value *out)

/* ---- arguments ---- */

static ig_status type_error(ig_ts_eval *eval, const char *what) {
    return ig_ts_raise(eval,
                       ig_arena_printf(&eval->module->arena, "TypeError: %s", what));
}

static ig_status need_arguments(ig_ts_eval *eval, const ig_ts_arguments *a,
                                uint32_t min) {
    return a->positional >= min
               ? IG_OK
               : type_error(eval, "a builtin function lacks arguments");
}

static ig_status items_of(ig_ts_eval *eval, const ig_ts_arguments *a, uint32_t at,
                          ig_ts_list **out) {
    IG_TRY(need_arguments(eval, a, at + 1));
    return ig_python_items(eval, &a->values[at], out);
}

static ig_status call_one(ig_ts_eval *eval, const ig_ts_value *function,
                          const ig_ts_value *values, uint32_t count, ig_ts_value *out) {
    ig_ts_value *copy = IG_NEW_ARRAY(eval->arena, ig_ts_value, count + 1u);
    memcpy(copy, values, count * sizeof(*copy));
    ig_ts_arguments arguments = { .values = copy, .positional = count };
    return ig_python_call(eval, function, &arguments, out);
}

/* ---- iterables ---- */

HOOK(hook_len) {
    const char *class;
    ig_ts_list *items;
    IG_TRY(need_arguments(eval, a, 1));
    ig_ts_value value = a->values[0];
    IG_TRY(ig_ts_use(eval, &value));
    if (value.kind == IG_TS_TENSOR) {
        ig_ts_value pair[2] = { value, ig_ts_of_int(0) };
        return ig_python_op(eval, "aten::size", pair, 2, out);
    }
    if (value.kind == IG_TS_LIST && value.as.list->stack) {
        return ig_python_op(eval, "aten::len", &value, 1, out);
    }
    if (value.kind == IG_TS_OBJECT &&
        !ig_python_is_container(value.as.object, &class)) {
        ig_ts_value method;
        ig_ts_arguments none = { 0 };
        IG_TRY(ig_python_attribute(eval, &value, "__len__", &method));
        return ig_python_call(eval, &method, &none, out);
    }
    IG_TRY(ig_python_items(eval, &value, &items));
    *out = ig_ts_of_int((int64_t)items->count);
    return IG_OK;
}

HOOK(hook_range) {
    int64_t bounds[3] = { 0, 0, 1 };
    ig_ts_list *list = ig_ts_list_create(eval, 0);
    IG_TRY(need_arguments(eval, a, 1));
    for (uint32_t i = 0; i < a->positional && i < 3; i++) {
        const ig_ts_value *value = &a->values[i];
        if (value->kind != IG_TS_INT || value->form != IG_TS_KNOWN) {
            return ig_ts_error(
                eval, IG_UNSUPPORTED,
                "a range whose ends are known at run time only: only `for i in range(n)` can be a loop at run time");
        }
        bounds[a->positional == 1 ? 1 : i] = value->as.i;
    }
    if (bounds[2] == 0) {
        return ig_ts_raise(eval, "ValueError: range() arg 3 must not be zero");
    }
    int64_t i = bounds[0];
    while (bounds[2] > 0 ? i < bounds[1] : i > bounds[1]) {
        IG_TRY(ig_ts_step(eval));
        ig_ts_list_add(eval, list, ig_ts_of_int(i));
        if (__builtin_add_overflow(i, bounds[2], &i)) {
            break;
        }
    }
    *out = ig_ts_of_list(list);
    return IG_OK;
}

/* ---- containers ---- */

HOOK(hook_list) {
    ig_ts_list *items = NULL;
    if (a->positional) {
        IG_TRY(items_of(eval, a, 0, &items));
    }
    *out = ig_ts_of_list(items ? items : ig_ts_list_create(eval, 0));
    return IG_OK;
}

HOOK(hook_set) {
    IG_TRY(hook_list(eval, a, out));
    return ig_ts_unite(eval, out->as.list);
}

HOOK(hook_tuple) {
    IG_TRY(hook_list(eval, a, out));
    out->kind = IG_TS_TUPLE;
    return IG_OK;
}

HOOK(hook_dict) {
    ig_ts_dict *dict = ig_ts_dict_create(eval);
    ig_ts_value made = ig_ts_of_dict(dict), nothing;
    *out = made;
    bool is_dict = a->positional && a->values[0].kind == IG_TS_DICT;
    if (is_dict || !a->positional) {
        return ig_python_method(eval, &made, "update", a, &nothing);
    }
    ig_ts_list *items;
    IG_TRY(items_of(eval, a, 0, &items));
    for (size_t i = 0; i < items->count; i++) {
        ig_ts_list *row;
        IG_TRY(ig_python_items(eval, &items->items[i], &row));
        if (row->count != 2) {
            return type_error(eval, "a dict must be made of pairs");
        }
        ig_ts_dict_set(eval, dict, row->items[0], row->items[1]);
    }
    ig_ts_arguments keywords = { .values = a->values + a->positional,
                                 .names = a->names,
                                 .keywords = a->keywords };
    return ig_python_method(eval, &made, "update", &keywords, &nothing);
}

HOOK(hook_sorted) {
    ig_ts_list *items;
    const ig_ts_value *key = ig_python_argument(a, UINT32_MAX, "key");
    const ig_ts_value *reverse = ig_python_argument(a, UINT32_MAX, "reverse");
    IG_TRY(items_of(eval, a, 0, &items));
    ig_ts_value *keys = items->items;
    if (key && key->kind != IG_TS_NONE) {
        keys = IG_NEW_ARRAY(eval->arena, ig_ts_value, items->count + 1);
        for (size_t i = 0; i < items->count; i++) {
            IG_TRY(call_one(eval, key, &items->items[i], 1, &keys[i]));
        }
    }
    *out = ig_ts_of_list(items);
    return ig_ts_sort(eval, items->items, keys, items->count, reverse && reverse->as.b);
}

/* ---- numbers ---- */

/* int() and float() of a value that is one number. */
static ig_status to_number(ig_ts_eval *eval, ig_ts_kind kind, const ig_ts_value *value,
                           ig_ts_value *out) {
    double f;
    int64_t i;
    IG_TRY(ig_ts_use(eval, value));
    if (value->kind == IG_TS_TENSOR) {
        ig_value *content;
        IG_TRY(ig_ts_tensor_read(eval, value->as.tensor, &content));
        return ig_ts_number_of(eval, kind, content, out);
    }
    if (value->kind == IG_TS_UNDEFINED) {
        *out = *value;
        return IG_OK;
    }
    if (value->kind == IG_TS_STR && kind == IG_TS_INT &&
        ig_str_to_i64(value->as.str, &i)) {
        *out = ig_ts_of_int(i);
        return IG_OK;
    }
    if (value->kind == IG_TS_STR && kind == IG_TS_FLOAT &&
        ig_str_to_f64(value->as.str, &f)) {
        *out = ig_ts_of_float(f);
        return IG_OK;
    }
    if (!ig_ts_is_number(value)) {
        return type_error(eval, "expected a number, got a value that is not one");
    }
    return ig_ts_convert(eval, kind, value, out);
}

HOOK(hook_int) {
    *out = ig_ts_of_int(0);
    return a->positional ? to_number(eval, IG_TS_INT, a->values, out) : IG_OK;
}

HOOK(hook_float) {
    *out = ig_ts_of_float(0);
    return a->positional ? to_number(eval, IG_TS_FLOAT, a->values, out) : IG_OK;
}

HOOK(hook_bool) {
    *out = ig_ts_of_bool(false);
    return a->positional ? ig_python_truth(eval, &a->values[0], out) : IG_OK;
}

HOOK(hook_str) {
    ig_writer writer;
    bool is_known = true;
    ig_writer_init(&writer, &eval->module->arena);
    if (a->positional) {
        IG_TRY(ig_python_put(eval, &a->values[0], &writer, &is_known));
    }
    *out = is_known
               ? ig_ts_of_str(ig_writer_str(&writer))
               : ig_python_poison(
                     eval, "is the text of a value that is known at run time only");
    return IG_OK;
}

HOOK(hook_abs) {
    IG_TRY(need_arguments(eval, a, 1));
    bool is_tensor = a->values[0].kind == IG_TS_TENSOR;
    return ig_python_op(eval, is_tensor ? "aten::abs" : "prim::abs", a->values, 1, out);
}

HOOK(hook_round) {
    IG_TRY(need_arguments(eval, a, 1));
    bool is_tensor = a->values[0].kind == IG_TS_TENSOR;
    if (a->positional > 1 && !is_tensor) {
        return ig_ts_error(eval, IG_UNSUPPORTED, "round() to digits is not supported");
    }
    if (a->values[0].kind == IG_TS_INT) {
        *out = a->values[0];
        return IG_OK;
    }
    IG_TRY(ig_python_op(eval, "aten::round", a->values, 1, out));
    return is_tensor ? IG_OK : ig_ts_convert(eval, IG_TS_INT, out, out);
}

/* The least or greatest of the arguments, or of the items of one. */
static ig_status find_extreme(ig_ts_eval *eval, const ig_ts_arguments *a,
                              const char *op, ig_ts_value *out) {
    ig_ts_list *items = NULL;
    const ig_ts_value *absent = ig_python_argument(a, UINT32_MAX, "default");
    IG_TRY(need_arguments(eval, a, 1));
    if (ig_python_argument(a, UINT32_MAX, "key")) {
        return ig_ts_error(eval, IG_UNSUPPORTED, "min and max do not take a key here");
    }
    if (a->positional == 1) {
        IG_TRY(items_of(eval, a, 0, &items));
    }
    size_t count = items ? items->count : a->positional;
    const ig_ts_value *values = items ? items->items : a->values;
    if (!count && !absent) {
        return ig_ts_raise(eval, "ValueError: min() or max() of an empty sequence");
    }
    *out = count ? values[0] : *absent;
    for (size_t i = 1; i < count; i++) {
        ig_ts_value pair[2] = { *out, values[i] };
        bool is_tensor = pair[0].kind == IG_TS_TENSOR || pair[1].kind == IG_TS_TENSOR;
        if (is_tensor) {
            return ig_ts_error(eval, IG_UNSUPPORTED,
                               "Python's min and max of tensors: use torch.minimum and "
                               "torch.maximum");
        }
        IG_TRY(ig_python_op(eval, op, pair, 2, out));
    }
    return IG_OK;
}

HOOK(hook_min) {
    return find_extreme(eval, a, "prim::min", out);
}

HOOK(hook_max) {
    return find_extreme(eval, a, "prim::max", out);
}

static ig_status fold_items(ig_ts_eval *eval, const ig_ts_arguments *a,
                            ig_ast_operator op, ig_ts_value start, ig_ts_value *out) {
    ig_ts_list *items;
    const ig_ts_value *given = ig_python_argument(a, 1, "start");
    IG_TRY(items_of(eval, a, 0, &items));
    *out = given ? *given : start;
    for (size_t i = 0; i < items->count; i++) {
        IG_TRY(ig_python_binary(eval, op, out, &items->items[i], out));
    }
    return IG_OK;
}

HOOK(hook_sum) {
    return fold_items(eval, a, IG_AST_OP_ADD, ig_ts_of_int(0), out);
}

HOOK(hook_prod) {
    return fold_items(eval, a, IG_AST_OP_MUL, ig_ts_of_int(1), out);
}

static ig_status fold_truths(ig_ts_eval *eval, const ig_ts_arguments *a, bool is_any,
                             ig_ts_value *out) {
    ig_ts_list *items;
    IG_TRY(items_of(eval, a, 0, &items));
    *out = ig_ts_of_bool(!is_any);
    for (size_t i = 0; i < items->count; i++) {
        ig_ts_value pair[2] = { *out };
        IG_TRY(ig_python_truth(eval, &items->items[i], &pair[1]));
        if (pair[1].form == IG_TS_KNOWN && pair[1].as.b == is_any) {
            *out = pair[1];
            return IG_OK;
        }
        if (pair[1].form != IG_TS_KNOWN) {
            IG_TRY(ig_python_op(eval, is_any ? "aten::__or__" : "aten::__and__", pair,
                                2, out));
        }
    }
    return IG_OK;
}

HOOK(hook_any) {
    return fold_truths(eval, a, true, out);
}

HOOK(hook_all) {
    return fold_truths(eval, a, false, out);
}

HOOK(hook_divmod) {
    ig_ts_value parts[2];
    IG_TRY(need_arguments(eval, a, 2));
    IG_TRY(ig_python_binary(eval, IG_AST_OP_FLOOR_DIV, &a->values[0], &a->values[1],
                            &parts[0]));
    IG_TRY(
        ig_python_binary(eval, IG_AST_OP_MOD, &a->values[0], &a->values[1], &parts[1]));
    *out = ig_ts_pair_of(eval, parts[0], parts[1]);
    return IG_OK;
}

/* ---- types ---- */

/* Does a name elsewhere mean the value's type? */
static bool is_of_external(const ig_ts_value *value, const char *name) {
    static const struct {
        const char *name;
        ig_ts_kind kinds[2];
    } types[] = {
        { "builtins.int", { IG_TS_INT, IG_TS_BOOL } },
        { "builtins.float", { IG_TS_FLOAT, IG_TS_FLOAT } },
        { "builtins.bool", { IG_TS_BOOL, IG_TS_BOOL } },
        { "builtins.str", { IG_TS_STR, IG_TS_STR } },
        { "builtins.list", { IG_TS_LIST, IG_TS_LIST } },
        { "builtins.tuple", { IG_TS_TUPLE, IG_TS_TUPLE } },
        { "builtins.dict", { IG_TS_DICT, IG_TS_DICT } },
        { "collections.OrderedDict", { IG_TS_DICT, IG_TS_DICT } },
        { "collections.abc.Mapping", { IG_TS_DICT, IG_TS_DICT } },
        { "collections.abc.Sequence", { IG_TS_LIST, IG_TS_TUPLE } },
        { "torch.Tensor", { IG_TS_TENSOR, IG_TS_TENSOR } },
        { "torch.nn.Parameter", { IG_TS_TENSOR, IG_TS_TENSOR } },
        { "torch.Size", { IG_TS_TUPLE, IG_TS_TUPLE } },
        { "torch.device", { IG_TS_DEVICE, IG_TS_DEVICE } },
        { "builtins.NoneType", { IG_TS_NONE, IG_TS_NONE } },
        { "numbers.Number", { IG_TS_INT, IG_TS_FLOAT } },
        { "torch.nn.Module", { IG_TS_OBJECT, IG_TS_OBJECT } },
        { "types.FunctionType", { IG_TS_FUNCTION, IG_TS_FUNCTION } },
    };
    if (value->kind == IG_TS_LIST && value->as.list->is_set) {
        return strcmp(name, "builtins.set") == 0;
    }
    for (size_t i = 0; i < IG_COUNT_OF(types); i++) {
        if (strcmp(types[i].name, name) == 0) {
            return value->kind == types[i].kinds[0] || value->kind == types[i].kinds[1];
        }
    }
    return false;
}

static ig_status is_of_type(ig_ts_eval *eval, const ig_ts_value *value,
                            const ig_ts_value *type, bool *out) {
    const ig_python_thing *thing = ig_python_thing_of(type);
    const char *name = ig_python_external_name(type);
    *out = false;
    if (type->kind == IG_TS_TUPLE) {
        for (size_t i = 0; i < type->as.list->count && !*out; i++) {
            IG_TRY(is_of_type(eval, value, &type->as.list->items[i], out));
        }
        return IG_OK;
    }
    if (type->kind == IG_TS_NONE) {
        *out = value->kind == IG_TS_NONE;
        return IG_OK;
    }
    if (thing && thing->kind == IG_PYTHON_CLASS) {
        const ig_class *class = value->kind == IG_TS_OBJECT || value->kind == IG_TS_ENUM
                                    ? value->as.object->class
                                : value->kind == IG_TS_TUPLE ? value->as.list->class
                                                             : NULL;
        *out = class && class->plain && ig_python_derives(class->plain, thing->class);
        return IG_OK;
    }
    if (!name) {
        return ig_ts_error(eval, IG_UNSUPPORTED, "isinstance expects a class");
    }
    *out = is_of_external(value, name);
    return IG_OK;
}

HOOK(hook_isinstance) {
    bool is_one;
    IG_TRY(need_arguments(eval, a, 2));
    IG_TRY(ig_ts_use(eval, &a->values[0]));
    IG_TRY(is_of_type(eval, &a->values[0], &a->values[1], &is_one));
    *out = ig_ts_of_bool(is_one);
    return IG_OK;
}

HOOK(hook_callable) {
    IG_TRY(need_arguments(eval, a, 1));
    *out = ig_ts_of_bool(a->values[0].kind == IG_TS_FUNCTION ||
                         a->values[0].kind == IG_TS_OBJECT);
    return IG_OK;
}

HOOK(hook_type) {
    static const char *const names[IG_TS_KIND_COUNT] = {
        [IG_TS_NONE] = "builtins.NoneType", [IG_TS_BOOL] = "builtins.bool",
        [IG_TS_INT] = "builtins.int",       [IG_TS_FLOAT] = "builtins.float",
        [IG_TS_STR] = "builtins.str",       [IG_TS_TENSOR] = "torch.Tensor",
        [IG_TS_LIST] = "builtins.list",     [IG_TS_TUPLE] = "builtins.tuple",
        [IG_TS_DICT] = "builtins.dict",
    };
    IG_TRY(need_arguments(eval, a, 1));
    const ig_ts_value *value = &a->values[0];
    const ig_class *class =
        value->kind == IG_TS_OBJECT ? value->as.object->class : NULL;
    if (class && class->plain) {
        *out = ig_python_value(&class->plain->thing);
        return IG_OK;
    }
    if (!names[value->kind]) {
        return ig_ts_error(eval, IG_UNSUPPORTED, "type() of %s is not known",
                           ig_ts_kind_name(value));
    }
    *out = ig_python_external(eval, names[value->kind]);
    return IG_OK;
}

HOOK(hook_is_tensor) {
    IG_TRY(need_arguments(eval, a, 1));
    *out = ig_ts_of_bool(a->values[0].kind == IG_TS_TENSOR);
    return IG_OK;
}

/* ---- attributes ---- */

static ig_status name_argument(ig_ts_eval *eval, const ig_ts_arguments *a,
                               const char **out) {
    IG_TRY(need_arguments(eval, a, 2));
    IG_TRY(ig_ts_use(eval, &a->values[1]));
    if (a->values[1].kind != IG_TS_STR) {
        return type_error(eval, "the name of an attribute must be a string");
    }
    *out = ig_module_string(eval->module, a->values[1].as.str);
    return IG_OK;
}

HOOK(hook_getattr) {
    const char *name;
    bool is_found;
    IG_TRY(name_argument(eval, a, &name));
    if (a->positional < 3) {
        return ig_python_attribute(eval, &a->values[0], name, out);
    }
    IG_TRY(ig_python_attribute_find(eval, &a->values[0], name, out, &is_found));
    *out = is_found ? *out : a->values[2];
    return IG_OK;
}

HOOK(hook_hasattr) {
    const char *name;
    ig_ts_value nothing;
    bool is_found;
    IG_TRY(name_argument(eval, a, &name));
    IG_TRY(ig_python_attribute_find(eval, &a->values[0], name, &nothing, &is_found));
    *out = ig_ts_of_bool(is_found);
    return is_found ? ig_ts_use(eval, &nothing) : IG_OK;
}

HOOK(hook_setattr) {
    const char *name;
    IG_TRY(name_argument(eval, a, &name));
    IG_TRY(need_arguments(eval, a, 3));
    *out = ig_ts_none();
    if (a->values[0].kind != IG_TS_OBJECT) {
        return type_error(eval, "setattr expects an object");
    }
    ig_ts_object_set(eval, a->values[0].as.object, name, a->values[2]);
    return IG_OK;
}

HOOK(hook_getitem) {
    IG_TRY(need_arguments(eval, a, 2));
    return ig_python_item(eval, &a->values[0], &a->values[1], out);
}

/* ---- the others ---- */

HOOK(hook_nothing) {
    (void)eval;
    (void)a;
    *out = ig_ts_none();
    return IG_OK;
}

HOOK(hook_no) {
    (void)eval;
    (void)a;
    *out = ig_ts_of_bool(false);
    return IG_OK;
}

HOOK(hook_first) {
    IG_TRY(need_arguments(eval, a, 1));
    *out = a->values[0];
    return IG_OK;
}

HOOK(hook_second) {
    IG_TRY(need_arguments(eval, a, 2));
    *out = a->values[1];
    return IG_OK;
}

HOOK(hook_device) {
    IG_TRY(need_arguments(eval, a, 1));
    *out = a->values[0];
    out->kind = out->kind == IG_TS_STR ? IG_TS_DEVICE : out->kind;
    return out->kind == IG_TS_DEVICE ? IG_OK
                                     : type_error(eval, "torch.device takes a text");
}

HOOK(hook_partial) {
    IG_TRY(need_arguments(eval, a, 1));
    ig_python_thing *thing = ig_python_thing_make(eval, IG_PYTHON_PARTIAL, "partial");
    ig_ts_arguments *given = IG_NEW(eval->arena, ig_ts_arguments);
    *given = *a;
    given->values++;
    given->positional--;
    thing->function = a->values[0];
    thing->given = given;
    *out = ig_python_value(thing);
    return IG_OK;
}

static ig_status pass_assertion(ig_ts_eval *eval, void *user) {
    (void)eval;
    (void)user;
    return IG_OK;
}

static ig_status fail_assertion(ig_ts_eval *eval, void *user) {
    const ig_ts_value *text = user;
    bool is_text = text && text->kind == IG_TS_STR;
    return ig_ts_raise(eval, is_text ? ig_module_string(eval->module, text->as.str)
                                     : "AssertionError");
}

HOOK(hook_assert) {
    ig_ts_value truth;
    IG_TRY(need_arguments(eval, a, 1));
    IG_TRY(ig_python_truth(eval, &a->values[0], &truth));
    *out = ig_ts_none();
    const ig_ts_value *text = ig_python_argument(a, 1, "message");
    return ig_ts_branch(eval, &truth, pass_assertion, fail_assertion,
                        (void *)(uintptr_t)text);
}

HOOK(hook_assert_none) {
    IG_TRY(need_arguments(eval, a, 1));
    *out = ig_ts_none();
    return a->values[0].kind == IG_TS_NONE
               ? IG_OK
               : fail_assertion(eval, a->positional > 1 ? (void *)&a->values[1] : NULL);
}

/* namedtuple("P", "x y") or ("P", ["x", "y"]) */
HOOK(hook_namedtuple) {
    IG_VEC(const char *) fields = { 0 };
    IG_TRY(need_arguments(eval, a, 2));
    if (a->values[0].kind != IG_TS_STR) {
        return type_error(eval, "a namedtuple needs a name");
    }
    ig_str text = a->values[1].kind == IG_TS_STR ? a->values[1].as.str : IG_STR("");
    for (size_t i = 0; i < text.size;) {
        size_t size = 0;
        while (i + size < text.size && text.data[i + size] != ' ' &&
               text.data[i + size] != ',') {
            size++;
        }
        if (size) {
            IG_PUSH(eval->arena, &fields,
                    ig_arena_copy(eval->arena, text.data + i, size));
        }
        i += size + 1;
    }
    ig_ts_list *items = NULL;
    if (a->values[1].kind != IG_TS_STR) {
        IG_TRY(items_of(eval, a, 1, &items));
    }
    for (size_t i = 0; items && i < items->count; i++) {
        if (items->items[i].kind != IG_TS_STR) {
            return type_error(eval, "fields of a namedtuple are texts");
        }
        IG_PUSH(eval->arena, &fields,
                ig_arena_copy(eval->arena, items->items[i].as.str.data,
                              items->items[i].as.str.size));
    }
    const char *name = ig_arena_copy(eval->arena, a->values[0].as.str.data,
                                     a->values[0].as.str.size);
    *out = ig_python_value(
        &ig_python_tuple_class(eval, name, fields.items, fields.count)->thing);
    return IG_OK;
}

/* ---- the table ---- */

ig_status ig_python_written(ig_ts_eval *eval, const ig_ts_arguments *a,
                            ig_ts_value *out) {
    (void)a;
    *out = ig_ts_none();
    return ig_ts_error(eval, IG_INTERNAL, "calls a function of Python as one of C");
}

ig_python_hook ig_python_builtin(const char *name) {
    static const struct {
        const char *name;
        ig_python_hook hook;
    } rows[] = {
#define BUILTIN(name, hook) { name, hook_##hook },
#define WRITTEN(name) { name, ig_python_written },
#include "frontend/torch/python/builtin.def"
#undef BUILTIN
#undef WRITTEN
    };
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        if (strcmp(rows[i].name, name) == 0) {
            return rows[i].hook;
        }
    }
    return NULL;
}

uint32_t ig_python_builtin_uses(ig_python_hook hook, uint32_t count) {
    uint32_t max = hook == hook_nothing ? 0 : hook == hook_assert ? 1 : count;
    return count < max ? count : max;
}
