/* Values: names, types, equality.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/eval/eval.h"

#include <assert.h>
#include <math.h>

ig_ts_value ig_ts_of_dim(const ig_module *module, ig_dim dim) {
    int64_t number;
    if (ig_dim_constant(module, dim, &number)) {
        return ig_ts_of_int(number);
    }
    return (ig_ts_value){ .kind = IG_TS_INT, .form = IG_TS_DIM, .as.dim = dim };
}

ig_ts_value ig_ts_of_run(ig_ts_kind kind, ig_value *value) {
    assert((value->type->rank == 0 || kind == IG_TS_COMPLEX) &&
           "a number of the run is a scalar");
    return (ig_ts_value){ .kind = (uint8_t)kind, .form = IG_TS_RUN, .as.value = value };
}

bool ig_ts_literal(const ig_ast *node, ig_ts_value *out) {
    switch ((int)node->kind) {
    case IG_AST_NONE:
        *out = ig_ts_none();
        return true;
    case IG_AST_BOOL:
        *out = ig_ts_of_bool(node->as.b);
        return true;
    case IG_AST_INT:
        *out = ig_ts_of_int(node->as.i);
        return true;
    case IG_AST_FLOAT:
        *out = ig_ts_of_float(node->as.f);
        return true;
    case IG_AST_IMAGINARY:
        *out = ig_ts_of_complex(0, node->as.f);
        return true;
    case IG_AST_STRING:
        *out = ig_ts_of_str(node->as.text);
        return true;
    default:
        return false;
    }
}

const char *ig_ts_kind_name(const ig_ts_value *value) {
    assert(value->kind < IG_TS_KIND_COUNT && "a kind of values");
    static const char *const names[IG_TS_KIND_COUNT] = {
        [IG_TS_UNSET] = "nothing",     [IG_TS_UNDEFINED] = "an undefined value",
        [IG_TS_NONE] = "None",         [IG_TS_BOOL] = "bool",
        [IG_TS_INT] = "int",           [IG_TS_FLOAT] = "float",
        [IG_TS_COMPLEX] = "complex",   [IG_TS_STR] = "str",
        [IG_TS_DEVICE] = "Device",     [IG_TS_TENSOR] = "Tensor",
        [IG_TS_LIST] = "list",         [IG_TS_TUPLE] = "tuple",
        [IG_TS_DICT] = "dict",         [IG_TS_OBJECT] = "object",
        [IG_TS_ENUM] = "enum",         [IG_TS_FUNCTION] = "function",
        [IG_TS_POISON] = "an unknown",
    };
    return value->kind < IG_TS_KIND_COUNT ? names[value->kind] : "?";
}

bool ig_ts_as_dim(ig_module *module, const ig_ts_value *value, ig_dim *out_dim) {
    if (value->kind == IG_TS_BOOL && value->form == IG_TS_KNOWN) {
        *out_dim = ig_dim_of(value->as.b);
        return true;
    }
    if (value->kind != IG_TS_INT || value->form == IG_TS_RUN) {
        return false;
    }
    *out_dim = value->form == IG_TS_DIM ? value->as.dim
                                        : ig_dim_const(module, value->as.i);
    return true;
}

/* ---- equality ---- */

static bool known_number(const ig_ts_value *value, double *out) {
    if (!ig_ts_is_number(value) || !ig_ts_is_known(value) ||
        value->kind == IG_TS_COMPLEX) {
        return false;
    }
    *out = value->kind == IG_TS_BOOL  ? value->as.b
           : value->kind == IG_TS_INT ? (double)value->as.i
                                      : value->as.f;
    return true;
}

static bool numbers_equal(const ig_ts_value *a, const ig_ts_value *b, bool *out_known) {
    double x, y;
    if (a->form == IG_TS_DIM && b->form == IG_TS_DIM &&
        ig_dim_same(a->as.dim, b->as.dim)) {
        return true;
    }
    if (a->kind == IG_TS_COMPLEX && b->kind == IG_TS_COMPLEX && ig_ts_is_known(a) &&
        ig_ts_is_known(b)) {
        return a->as.complex.re == b->as.complex.re &&
               a->as.complex.im == b->as.complex.im;
    }
    if (a->kind == IG_TS_INT && b->kind == IG_TS_INT && ig_ts_is_known(a) &&
        ig_ts_is_known(b)) {
        return a->as.i == b->as.i;
    }
    if (known_number(a, &x) && known_number(b, &y)) {
        return x == y;
    }
    *out_known = false;
    return false;
}

static bool items_equal(const ig_ts_list *a, const ig_ts_list *b, bool *out_known) {
    *out_known = !a->poison && !b->poison;
    bool is_equal = *out_known && a->count == b->count;
    for (size_t i = 0; is_equal && i < a->count; i++) {
        is_equal = ig_ts_equal(&a->items[i], &b->items[i], out_known);
    }
    return is_equal;
}

static bool dicts_equal(const ig_ts_dict *a, const ig_ts_dict *b, bool *out_known) {
    *out_known = !a->poison && !b->poison;
    bool is_equal = *out_known && a->count == b->count;
    for (size_t i = 0; is_equal && i < a->count; i++) {
        size_t at = ig_ts_dict_find(b, &a->keys[i]);
        is_equal = at < b->count &&
                   ig_ts_equal(&a->values[i], &b->values[at], out_known);
    }
    return is_equal;
}

static bool parts_equal(const ig_ts_value *a, const ig_ts_value *b, bool *out_known) {
    switch ((int)a->kind) {
    case IG_TS_NONE:
        return true;
    case IG_TS_STR:
    case IG_TS_DEVICE:
        return ig_str_equal(a->as.str, b->as.str);
    case IG_TS_LIST:
    case IG_TS_TUPLE:
        return items_equal(a->as.list, b->as.list, out_known);
    case IG_TS_DICT:
        return dicts_equal(a->as.dict, b->as.dict, out_known);
    default:
        return ig_ts_is_same(a, b);
    }
}

bool ig_ts_equal(const ig_ts_value *a, const ig_ts_value *b, bool *out_known) {
    *out_known = a->kind != IG_TS_POISON && b->kind != IG_TS_POISON;
    if (!*out_known) {
        return false;
    }
    if (ig_ts_is_number(a) && ig_ts_is_number(b)) {
        return numbers_equal(a, b, out_known);
    }
    return a->kind == b->kind && parts_equal(a, b, out_known);
}

bool ig_ts_is_same(const ig_ts_value *a, const ig_ts_value *b) {
    if (a->kind != b->kind || a->form != b->form) {
        return false;
    }
    switch ((int)a->kind) {
    case IG_TS_UNSET:
    case IG_TS_UNDEFINED:
    case IG_TS_NONE:
        return true;
    case IG_TS_BOOL:
        return a->form == IG_TS_KNOWN ? a->as.b == b->as.b : a->as.value == b->as.value;
    case IG_TS_INT:
        return a->as.i == b->as.i; /* also dims and run-time values: the same bits */
    case IG_TS_FLOAT:
        return a->as.i == b->as.i ||
               (a->form == IG_TS_KNOWN && isnan(a->as.f) && isnan(b->as.f));
    case IG_TS_COMPLEX:
        return a->form == IG_TS_KNOWN ? a->as.complex.re == b->as.complex.re &&
                                            a->as.complex.im == b->as.complex.im
                                      : a->as.value == b->as.value;
    case IG_TS_STR:
    case IG_TS_DEVICE:
        return ig_str_equal(a->as.str, b->as.str);
    default:
        return a->as.list == b->as.list; /* every other kind is a pointer */
    }
}

/* ---- types ---- */

static const ig_script_type *type_of_items(ig_ts_eval *eval, const ig_ts_value *items,
                                           size_t count) {
    const ig_script_type *type = NULL;
    for (size_t i = 0; i < count; i++) {
        const ig_script_type *item = ig_ts_type_of(eval, &items[i]);
        type = type ? ig_script_type_unify(&eval->code->types, type, item) : item;
        if (!type) {
            return eval->code->types.simple[IG_SCRIPT_ANY];
        }
    }
    return type ? type : eval->code->types.simple[IG_SCRIPT_TENSOR];
}

static const ig_script_type *type_of_tuple(ig_ts_eval *eval, const ig_ts_list *tuple) {
    ig_script_types *types = &eval->code->types;
    if (tuple->class) {
        return tuple->class->type;
    }
    const ig_script_type **items = IG_NEW_ARRAY(eval->arena, const ig_script_type *,
                                                tuple->count);
    for (size_t i = 0; i < tuple->count; i++) {
        items[i] = ig_ts_type_of(eval, &tuple->items[i]);
    }
    return ig_script_type_tuple(types, items, tuple->count);
}

static const ig_script_type *type_of_container(ig_ts_eval *eval,
                                               const ig_ts_value *value) {
    ig_script_types *types = &eval->code->types;
    if (value->kind == IG_TS_LIST) {
        const ig_ts_list *list = value->as.list;
        return list->type ? list->type
                          : ig_script_type_list(
                                types, type_of_items(eval, list->items, list->count));
    }
    const ig_ts_dict *dict = value->as.dict;
    return dict->type
               ? dict->type
               : ig_script_type_dict(types,
                                     type_of_items(eval, dict->keys, dict->count),
                                     type_of_items(eval, dict->values, dict->count));
}

static const ig_script_type *type_of_function(ig_ts_eval *eval,
                                              const ig_ts_function *function) {
    ig_script_types *types = &eval->code->types;
    if (!function->is_done) {
        return types->simple[IG_SCRIPT_ANY];
    }
    return ig_script_type_future(types, ig_ts_type_of(eval, &function->value));
}

const ig_script_type *ig_ts_type_of(ig_ts_eval *eval, const ig_ts_value *value) {
    static const ig_script_kind simple[IG_TS_KIND_COUNT] = {
        [IG_TS_UNSET] = IG_SCRIPT_ANY,       [IG_TS_UNDEFINED] = IG_SCRIPT_ANY,
        [IG_TS_NONE] = IG_SCRIPT_NONE,       [IG_TS_BOOL] = IG_SCRIPT_BOOL,
        [IG_TS_INT] = IG_SCRIPT_INT,         [IG_TS_FLOAT] = IG_SCRIPT_FLOAT,
        [IG_TS_COMPLEX] = IG_SCRIPT_COMPLEX, [IG_TS_STR] = IG_SCRIPT_STR,
        [IG_TS_DEVICE] = IG_SCRIPT_DEVICE,   [IG_TS_TENSOR] = IG_SCRIPT_TENSOR,
        [IG_TS_POISON] = IG_SCRIPT_ANY,
    };
    switch ((int)value->kind) {
    case IG_TS_LIST:
    case IG_TS_DICT:
        return type_of_container(eval, value);
    case IG_TS_TUPLE:
        return type_of_tuple(eval, value->as.list);
    case IG_TS_OBJECT:
    case IG_TS_ENUM:
        return ig_script_type_class(&eval->code->types, value->as.object->class_name);
    case IG_TS_FUNCTION:
        return type_of_function(eval, value->as.function);
    default:
        return eval->code->types.simple[simple[value->kind]];
    }
}
