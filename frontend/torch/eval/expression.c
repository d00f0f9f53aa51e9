/* Expressions: names, literals, attributes, subscripts, containers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/eval/expression.h"
#include "frontend/torch/eval/stacked.h"

#include <math.h>
#include <string.h>

enum { MOST_NESTED = 1000 };

/* ---- names and literals ---- */

static ig_status evaluate_name(ig_ts_eval *eval, const ig_ast *node, ig_ts_value *out) {
    ig_ts_value *local = ig_ts_name_get(eval->frame, node->as.name);
    if (local) {
        *out = *local;
        return IG_OK;
    }
    if (strcmp(node->as.name, "inf") == 0) {
        *out = ig_ts_of_float((double)INFINITY);
    } else if (strcmp(node->as.name, "nan") == 0) {
        *out = ig_ts_of_float((double)NAN);
    } else if (strcmp(node->as.name, "infj") == 0) {
        *out = ig_ts_of_complex(0, (double)INFINITY);
    } else if (strcmp(node->as.name, "nanj") == 0) {
        *out = ig_ts_of_complex(0, (double)NAN);
    } else if (strcmp(node->as.name, "torch") == 0) {
        return ig_ts_error(
            eval, IG_UNSUPPORTED,
            "torch.autograd.grad: gradients that a model takes of itself "
            "are not computed; write their formula into the model, or "
            "leave that part to Python");
    } else {
        return ig_ts_error(eval, IG_INVALID, "name '%s' is not defined", node->as.name);
    }
    return IG_OK;
}

static ig_status negate_number(ig_ts_eval *eval, const ig_ast *node, ig_ts_value *out) {
    IG_TRY(ig_ts_evaluate(eval, node->as.value, out));
    if (out->form != IG_TS_KNOWN || !ig_ts_is_number(out)) {
        ig_ts_arguments arguments = { .values = out, .positional = 1 };
        uint32_t count = 1;
        return ig_ts_call_op(eval, "aten::neg", &arguments, out, &count);
    }
    if (out->kind == IG_TS_FLOAT) {
        out->as.f = -out->as.f;
    } else if (out->kind == IG_TS_COMPLEX) {
        out->as.complex.re = -out->as.complex.re;
        out->as.complex.im = -out->as.complex.im;
    } else {
        int64_t i = out->kind == IG_TS_BOOL ? out->as.b : out->as.i;
        *out = ig_ts_of_int((int64_t)(0 - (uint64_t)i));
    }
    return IG_OK;
}

/* `1.+2.j`: the one operator that is printed. */
static ig_status evaluate_binary(ig_ts_eval *eval, const ig_ast *node,
                                 ig_ts_value *out) {
    ig_ts_value left, right;
    double sign = node->op == IG_AST_OP_SUB ? -1 : 1;
    bool is_sum = node->op == IG_AST_OP_ADD || node->op == IG_AST_OP_SUB;
    if (!is_sum || node->as.binary.right->kind != IG_AST_IMAGINARY) {
        return ig_ts_error(eval, IG_UNSUPPORTED, "operator '%s' is not supported",
                           ig_ast_operator_text((ig_ast_operator)node->op));
    }
    IG_TRY(ig_ts_evaluate(eval, node->as.binary.left, &left));
    IG_TRY(ig_ts_evaluate(eval, node->as.binary.right, &right));
    IG_TRY(ig_ts_convert(eval, IG_TS_FLOAT, &left, &left));
    *out = ig_ts_of_complex(left.as.f, sign * right.as.complex.im);
    return IG_OK;
}

/* ---- containers ---- */

static ig_status evaluate_items(ig_ts_eval *eval, const ig_ast *node,
                                ig_ts_value *out) {
    const ig_ast_list *items = &node->as.list;
    ig_ts_list *list = ig_ts_list_create(eval, items->count);
    for (size_t i = 0; i < items->count; i++) {
        ig_ts_value item;
        IG_TRY(ig_ts_evaluate(eval, items->items[i], &item));
        ig_ts_list_add(eval, list, item);
    }
    *out = node->kind == IG_AST_TUPLE ? ig_ts_of_tuple(list) : ig_ts_of_list(list);
    return IG_OK;
}

static ig_status evaluate_dict(ig_ts_eval *eval, const ig_ast *node, ig_ts_value *out) {
    ig_ts_dict *dict = ig_ts_dict_create(eval);
    for (size_t i = 0; i < node->as.dict.count; i++) {
        ig_ts_value key, value;
        if (!node->as.dict.keys[i]) {
            return ig_ts_error(eval, IG_UNSUPPORTED, "'**' in a dict is not supported");
        }
        IG_TRY(ig_ts_evaluate(eval, node->as.dict.keys[i], &key));
        IG_TRY(ig_ts_evaluate(eval, node->as.dict.values[i], &value));
        ig_ts_dict_set(eval, dict, key, value);
    }
    *out = ig_ts_of_dict(dict);
    return IG_OK;
}

/* ---- attributes ---- */

static ig_status class_constant(ig_ts_eval *eval, const ig_class *class,
                                const char *name, ig_ts_value *out, bool *out_found) {
    const ig_field *field = class ? ig_class_constant(class, name) : NULL;
    *out_found = field != NULL;
    return field ? ig_ts_evaluate(eval, field->value, out) : IG_OK;
}

static ig_status tuple_field(ig_ts_eval *eval, const ig_ts_list *tuple,
                             const char *name, ig_ts_value *out) {
    for (size_t i = 0; tuple->class && i < tuple->class->attributes.count; i++) {
        if (strcmp(tuple->class->attributes.items[i].name, name) == 0 &&
            i < tuple->count) {
            *out = tuple->items[i];
            return IG_OK;
        }
    }
    return ig_ts_error(eval, IG_INVALID, "a tuple has no field '%s'", name);
}

ig_status ig_ts_attribute(ig_ts_eval *eval, const ig_ts_value *object, const char *name,
                          ig_ts_value *out) {
    bool is_found;
    IG_TRY(ig_ts_use(eval, object));
    if (object->kind == IG_TS_TUPLE) {
        return tuple_field(eval, object->as.list, name, out);
    }
    if (object->kind == IG_TS_TENSOR) {
        ig_ts_value self = *object;
        ig_ts_arguments arguments = { .values = &self, .positional = 1 };
        uint32_t count = 1;
        return ig_ts_call_op(eval, ig_arena_printf(eval->arena, "prim::%s", name),
                             &arguments, out, &count);
    }
    if (object->kind != IG_TS_OBJECT && object->kind != IG_TS_ENUM) {
        return ig_ts_error(eval, IG_INVALID, "%s has no attribute '%s'",
                           ig_ts_kind_name(object), name);
    }
    ig_ts_value *value = ig_ts_object_get(object->as.object, name);
    if (value) {
        *out = *value;
        return IG_OK;
    }
    IG_TRY(class_constant(eval, object->as.object->class, name, out, &is_found));
    return is_found ? IG_OK
                    : ig_ts_error(eval, IG_INVALID, "%s has no attribute '%s'",
                                  object->as.object->class_name, name);
}

/* ---- what dotted names mean ---- */

static ig_status constant_number(ig_ts_eval *eval, const char *name, ig_ts_value *out) {
    int64_t index;
    bool is_one = name[0] == 'c' && ig_str_to_i64(ig_str_of(name + 1), &index) &&
                  index >= 0 && eval->constants &&
                  (uint64_t)index < eval->constants->count;
    if (!is_one) {
        return ig_ts_error(eval, IG_INVALID, "CONSTANTS.%s is not in constants.pkl",
                           name);
    }
    *out = eval->constants->items[index];
    const ig_ts_tensor *tensor = out->kind == IG_TS_TENSOR ? out->as.tensor : NULL;
    if (tensor && tensor->type->rank == 0 && !tensor->dtype->is_quantised) {
        ig_ts_tensor *number = IG_NEW(eval->arena, ig_ts_tensor);
        *number = *tensor;
        number->is_constant = true;
        *out = ig_ts_of_tensor(number);
    }
    return IG_OK;
}

/* A member of an enum class, one object each. */
ig_status ig_ts_enum_member(ig_ts_eval *eval, const ig_class *class, const char *name,
                            ig_ts_value *out) {
    const ig_field *field = ig_class_member(class, name);
    if (!field) {
        return ig_ts_error(eval, IG_INVALID, "%s has no member '%s'", class->name,
                           name);
    }
    const char *key = ig_arena_printf(eval->arena, "%s.%s", class->name, name);
    ig_ts_object *member = ig_map_get(&eval->enums, ig_str_of(key));
    if (!member) {
        ig_ts_value value;
        IG_TRY(ig_ts_evaluate(eval, field->value, &value));
        member = ig_ts_object_create(eval, class->name);
        member->class = class;
        ig_ts_object_set(eval, member, "name", ig_ts_of_str(ig_str_of(field->name)));
        ig_ts_object_set(eval, member, "value", value);
        ig_map_set(&eval->enums, ig_str_of(key), member);
    }
    *out = (ig_ts_value){ .kind = IG_TS_ENUM, .as.object = member };
    return IG_OK;
}

static ig_ts_value function_value(ig_ts_eval *eval, const ig_function *function,
                                  const ig_class *class) {
    ig_ts_function *value = IG_NEW(eval->arena, ig_ts_function);
    value->function = function;
    value->class = class;
    return (ig_ts_value){ .kind = IG_TS_FUNCTION, .as.function = value };
}

/* A qualified name: function, class, member of an enum, method of a class. */
static ig_status qualified_name(ig_ts_eval *eval, const char *name, ig_ts_value *out) {
    const ig_class *class = NULL;
    const ig_function *function = NULL;
    IG_TRY(ig_code_find(eval->code, name, &class, &function));
    if (class || function) {
        *out = function_value(eval, function, class);
        return IG_OK;
    }
    const char *dot = strrchr(name, '.');
    const char *owner = ig_arena_copy(eval->arena, name, (size_t)(dot - name));
    IG_TRY(ig_code_find(eval->code, owner, &class, &function));
    if (class && class->kind == IG_CLASS_ENUM) {
        return ig_ts_enum_member(eval, class, dot + 1, out);
    }
    function = class ? ig_class_method(class, dot + 1) : NULL;
    if (!function) {
        return ig_ts_error(eval, IG_INVALID, "'%s' is not in the archive", name);
    }
    *out = function_value(eval, function, NULL);
    return IG_OK;
}

static ig_status evaluate_attribute(ig_ts_eval *eval, const ig_ast *node,
                                    ig_ts_value *out) {
    const char *dotted = ig_ast_dotted(node, eval->arena);
    if (dotted && strncmp(dotted, "__torch__.", 10) == 0) {
        return qualified_name(eval, dotted, out);
    }
    if (dotted && strncmp(dotted, "CONSTANTS.", 10) == 0) {
        return constant_number(eval, dotted + 10, out);
    }
    ig_ts_value object;
    IG_TRY(ig_ts_evaluate(eval, node->as.attribute.object, &object));
    return ig_ts_attribute(eval, &object, node->as.attribute.name, out);
}

/* ---- subscripts ---- */

/* A number that only the run has; that of a trip is known when the trips are. */
static ig_status refuse_index(ig_ts_eval *eval, const ig_ts_value *index) {
    ig_dim dim = index->form == IG_TS_DIM ? index->as.dim : ig_dim_of(0);
    bool is_trip = index->form == IG_TS_RUN && ig_ts_is_trip(index->as.value, &dim);
    if (index->kind != IG_TS_INT || (index->form != IG_TS_DIM && !is_trip)) {
        return ig_ts_error(eval, IG_UNSUPPORTED,
                           "indexes a list by a number that is computed at run time");
    }
    return ig_ts_error(eval, IG_UNSUPPORTED, "indexes a list by %s%s",
                       is_trip ? "the number of a trip, and trips are an extent, " : "",
                       ig_ts_open_dim(eval->module, eval->arena, dim));
}

static ig_status index_items(ig_ts_eval *eval, const ig_ts_list *list,
                             const ig_ts_value *index, ig_ts_value *out) {
    int64_t i = index->as.i;
    if (list->stack) {
        return ig_ts_stacked_item(eval, list, index, out);
    }
    if (list->poison) {
        return ig_ts_refuse_poison(eval, "uses a list that", list->poison);
    }
    if (index->kind != IG_TS_INT || index->form != IG_TS_KNOWN) {
        return refuse_index(eval, index);
    }
    i = i < 0 ? i + (int64_t)list->count : i;
    if (i < 0 || (uint64_t)i >= list->count) {
        return ig_ts_raise(eval, "list index out of range");
    }
    *out = list->items[i];
    return IG_OK;
}

static int64_t bound_of(const ig_ts_value *value, int64_t absent, int64_t count) {
    int64_t i = value->kind == IG_TS_INT ? value->as.i : absent;
    i = i < 0 ? i + count : i;
    return i < 0 ? 0 : i > count ? count : i;
}

static ig_status slice_tuple(ig_ts_eval *eval, const ig_ts_list *tuple,
                             const ig_ast *slice, ig_ts_value *out) {
    ig_ts_value ends[2] = { { 0 }, { 0 } };
    ig_ast *nodes[2] = { slice->as.slice.start, slice->as.slice.stop };
    for (int i = 0; i < 2; i++) {
        if (nodes[i]) {
            IG_TRY(ig_ts_evaluate(eval, nodes[i], &ends[i]));
        }
    }
    int64_t count = (int64_t)tuple->count;
    ig_ts_list *part = ig_ts_list_create(eval, tuple->count);
    for (int64_t i = bound_of(&ends[0], 0, count); i < bound_of(&ends[1], count, count);
         i++) {
        ig_ts_list_add(eval, part, tuple->items[i]);
    }
    *out = ig_ts_of_tuple(part);
    return IG_OK;
}

/* ModuleList[i], ModuleDict[key]: the module of that name. */
static ig_status index_module(ig_ts_eval *eval, const ig_ts_object *modules,
                              const ig_ts_value *index, ig_ts_value *out) {
    bool is_text = index->kind == IG_TS_STR;
    if ((!is_text && index->kind != IG_TS_INT) || index->form != IG_TS_KNOWN) {
        return ig_ts_error(eval, IG_UNSUPPORTED,
                           "calls a module that is chosen at run time");
    }
    int64_t i = is_text ? 0 : index->as.i, count = 0;
    while (i < 0 && ig_ts_object_get(modules, ig_arena_printf(eval->arena, "%lld",
                                                              (long long)count))) {
        count++;
    }
    i = i < 0 ? i + count : i;
    const char *name = ig_arena_printf(eval->arena, "%lld", (long long)i);
    if (is_text) {
        name = ig_arena_copy(eval->arena, index->as.str.data, index->as.str.size);
    }
    const ig_ts_value *module = ig_ts_object_get(modules, name);
    if (!module || module->kind != IG_TS_OBJECT) {
        return ig_ts_raise(eval, is_text ? "KeyError" : "index out of range");
    }
    *out = *module;
    return IG_OK;
}

static ig_status evaluate_subscript(ig_ts_eval *eval, const ig_ast *node,
                                    ig_ts_value *out) {
    const ig_ast *at = node->as.subscript.index;
    ig_ts_value pair[2];
    IG_TRY(ig_ts_evaluate(eval, node->as.subscript.object, &pair[0]));
    IG_TRY(ig_ts_use(eval, &pair[0]));
    if (pair[0].kind == IG_TS_TUPLE && at->kind == IG_AST_SLICE) {
        return slice_tuple(eval, pair[0].as.list, at, out);
    }
    IG_TRY(ig_ts_evaluate(eval, at, &pair[1]));
    if (pair[0].kind == IG_TS_TUPLE || pair[0].kind == IG_TS_LIST) {
        return index_items(eval, pair[0].as.list, &pair[1], out);
    }
    if (pair[0].kind == IG_TS_DICT) {
        const ig_ts_dict *dict = pair[0].as.dict;
        IG_TRY(ig_ts_open(eval, &pair[0]));
        size_t i = ig_ts_dict_find(dict, &pair[1]);
        if (i == dict->count) {
            return ig_ts_raise(eval, "KeyError: a dict has no such key");
        }
        *out = dict->values[i];
        return IG_OK;
    }
    if (pair[0].kind == IG_TS_OBJECT) {
        return index_module(eval, pair[0].as.object, &pair[1], out);
    }
    ig_ts_arguments arguments = { .values = pair, .positional = 2 };
    uint32_t count = 1;
    return ig_ts_call_op(eval, "aten::__getitem__", &arguments, out, &count);
}

/* ---- the whole ---- */

static ig_status evaluate_node(ig_ts_eval *eval, const ig_ast *node,
                               ig_ts_value *out_value) {
    uint32_t count = 1;
    switch ((int)node->kind) {
    case IG_AST_NAME:
        return evaluate_name(eval, node, out_value);
    case IG_AST_NONE:
        *out_value = ig_ts_none();
        return IG_OK;
    case IG_AST_BOOL:
        *out_value = ig_ts_of_bool(node->as.b);
        return IG_OK;
    case IG_AST_INT:
        *out_value = ig_ts_of_int(node->as.i);
        return IG_OK;
    case IG_AST_FLOAT:
        *out_value = ig_ts_of_float(node->as.f);
        return IG_OK;
    case IG_AST_IMAGINARY:
        *out_value = ig_ts_of_complex(0, node->as.f);
        return IG_OK;
    case IG_AST_STRING:
        *out_value = ig_ts_of_str(node->as.text);
        return IG_OK;
    case IG_AST_UNARY:
        if (node->op == IG_AST_OP_NEG) {
            return negate_number(eval, node, out_value);
        }
        break;
    case IG_AST_BINARY:
        return evaluate_binary(eval, node, out_value);
    case IG_AST_TUPLE:
    case IG_AST_LIST:
        return evaluate_items(eval, node, out_value);
    case IG_AST_DICT:
        return evaluate_dict(eval, node, out_value);
    case IG_AST_ATTRIBUTE:
        return evaluate_attribute(eval, node, out_value);
    case IG_AST_SUBSCRIPT:
        return evaluate_subscript(eval, node, out_value);
    case IG_AST_CALL:
        *out_value = ig_ts_none();
        return ig_ts_evaluate_results(eval, node, out_value, &count);
    default:
        break;
    }
    return ig_ts_error(eval, IG_UNSUPPORTED, "a %s is not supported here",
                       ig_ast_kind_words(node->kind));
}

/* Calls inside of brackets inside of calls: the C stack is what bounds this. */
ig_status ig_ts_evaluate(ig_ts_eval *eval, const ig_ast *node, ig_ts_value *out_value) {
    IG_TRY(ig_ts_step(eval));
    if (eval->nesting >= MOST_NESTED) {
        return ig_ts_error(eval, IG_LIMIT,
                           "calls and expressions are nested more than %d deep",
                           MOST_NESTED);
    }
    eval->nesting++;
    ig_status status = eval->frame->plain ? eval->plain->evaluate(eval, node, out_value)
                                          : evaluate_node(eval, node, out_value);
    eval->nesting--;
    return status;
}
