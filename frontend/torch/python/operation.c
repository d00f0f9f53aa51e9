/* Operators of the language: which of torch's they are depends on their operands.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/python/inside.h"

#include <assert.h>
#include <string.h>

/* ---- calls of operators ---- */

/* Lists of tensors that torch.chunk and its kin give are tuples in Python. */
static ig_ts_value as_python_has_it(ig_ts_value value) {
    bool is_whole = value.kind == IG_TS_LIST && !value.as.list->stack &&
                    !value.as.list->poison && value.as.list->count &&
                    value.as.list->items[0].kind == IG_TS_TENSOR;
    return is_whole ? ig_ts_of_tuple(value.as.list) : value;
}

static ig_status pack_results(ig_ts_eval *eval, const ig_ts_value *results,
                              uint32_t count, ig_ts_value *out) {
    bool is_dialect = eval->frame->is_dialect;
    *out = !count       ? ig_ts_none()
           : is_dialect ? results[0]
                        : as_python_has_it(results[0]);
    if (count < 2) {
        return IG_OK;
    }
    ig_ts_list *tuple = ig_ts_list_create(eval, count);
    for (uint32_t i = 0; i < count; i++) {
        ig_ts_list_add(eval, tuple, results[i]);
    }
    *out = ig_ts_of_tuple(tuple);
    return IG_OK;
}

ig_status ig_python_op_with(ig_ts_eval *eval, const char *name,
                            const ig_ts_arguments *arguments, ig_ts_value *out) {
    ig_ts_value results[8];
    uint32_t count = IG_COUNT_OF(results);
    for (uint32_t i = 0; i < arguments->positional + arguments->keywords; i++) {
        const ig_ts_value *value = &arguments->values[i];
        bool is_stack = value->kind == IG_TS_LIST && value->as.list->stack;
        IG_TRY(ig_ts_use(eval, value));
        IG_TRY(is_stack || eval->frame->is_dialect ? IG_OK : ig_ts_open(eval, value));
    }
    IG_TRY(ig_ts_call_op(eval, name, arguments, results, &count));
    assert(count <= IG_COUNT_OF(results) && "operators have a few results");
    return pack_results(eval, results, count, out);
}

ig_status ig_python_op(ig_ts_eval *eval, const char *name, const ig_ts_value *values,
                       uint32_t count, ig_ts_value *out) {
    ig_ts_value *copy = IG_NEW_ARRAY(eval->arena, ig_ts_value, count + 1u);
    memcpy(copy, values, count * sizeof(*copy));
    ig_ts_arguments arguments = { .values = copy, .positional = count };
    return ig_python_op_with(eval, name, &arguments, out);
}

/* ---- truth ---- */

ig_status ig_python_truth(ig_ts_eval *eval, const ig_ts_value *value,
                          ig_ts_value *out) {
    const char *class;
    ig_ts_list *items;
    IG_TRY(ig_ts_use(eval, value));
    switch ((int)value->kind) {
    case IG_TS_UNDEFINED: /* on a path that is never gone */
        *out = ig_ts_of_bool(false);
        return IG_OK;
    case IG_TS_STR:
        *out = ig_ts_of_bool(value->as.str.size > 0);
        return IG_OK;
    case IG_TS_LIST:
    case IG_TS_TUPLE:
        IG_TRY(ig_ts_open(eval, value));
        *out = ig_ts_of_bool(value->as.list->count > 0);
        return IG_OK;
    case IG_TS_DICT:
        IG_TRY(ig_ts_open(eval, value));
        *out = ig_ts_of_bool(value->as.dict->count > 0);
        return IG_OK;
    case IG_TS_FUNCTION:
    case IG_TS_ENUM:
    case IG_TS_DEVICE:
        *out = ig_ts_of_bool(true);
        return IG_OK;
    case IG_TS_OBJECT:
        *out = ig_ts_of_bool(true);
        if (ig_python_is_container(value->as.object, &class)) {
            IG_TRY(ig_python_items(eval, value, &items));
            *out = ig_ts_of_bool(items->count > 0);
        }
        return IG_OK;
    default:
        return ig_ts_truth(eval, value, out);
    }
}

/* ---- methods of the author's classes ---- */

static ig_status call_special(ig_ts_eval *eval, const ig_ts_value *self,
                              const char *name, const ig_ts_value *other,
                              ig_ts_value *out, bool *out_found) {
    const ig_class *class = self->kind == IG_TS_OBJECT ? self->as.object->class : NULL;
    ig_ts_value method;
    *out_found = false;
    if (!class || !class->plain) {
        return IG_OK;
    }
    IG_TRY(ig_python_class_get(eval, class->plain, NULL, ig_python_intern(eval, name),
                               &method, out_found));
    if (!*out_found) {
        return IG_OK;
    }
    ig_ts_value pair[2] = { *self, *other };
    ig_ts_arguments arguments = { .values = pair, .positional = 2 };
    return ig_python_call(eval, &method, &arguments, out);
}

/* ---- binary ---- */

typedef struct operation {
    const char *numbers, *tensors; /* the operators; NULL: there is none */
    const char *reflected;         /* number op tensor, as op(tensor, number) */
    const char *method;            /* "__add__" */
} operation;

static const operation operations[IG_AST_OPERATOR_COUNT] = {
    [IG_AST_OP_ADD] = { "aten::add", "aten::add", "aten::add", "__add__" },
    [IG_AST_OP_SUB] = { "aten::sub", "aten::sub", "aten::rsub", "__sub__" },
    [IG_AST_OP_MUL] = { "aten::mul", "aten::mul", "aten::mul", "__mul__" },
    [IG_AST_OP_DIV] = { "aten::div", "aten::div", NULL, "__truediv__" },
    [IG_AST_OP_FLOOR_DIV] = { "aten::floordiv", "aten::floor_divide", NULL,
                              "__floordiv__" },
    [IG_AST_OP_MOD] = { "aten::remainder", "aten::remainder", NULL, "__mod__" },
    [IG_AST_OP_POW] = { "aten::pow", "aten::pow", NULL, "__pow__" },
    [IG_AST_OP_MATMUL] = { NULL, "aten::matmul", NULL, "__matmul__" },
    [IG_AST_OP_BIT_AND] = { "aten::__and__", "aten::bitwise_and", "aten::bitwise_and",
                            "__and__" },
    [IG_AST_OP_BIT_OR] = { "aten::__or__", "aten::bitwise_or", "aten::bitwise_or",
                           "__or__" },
    [IG_AST_OP_BIT_XOR] = { "aten::__xor__", "aten::bitwise_xor", "aten::bitwise_xor",
                            "__xor__" },
    [IG_AST_OP_LEFT] = { "aten::__lshift__", "aten::bitwise_left_shift", NULL,
                         "__lshift__" },
    [IG_AST_OP_RIGHT] = { "aten::__rshift__", "aten::bitwise_right_shift", NULL,
                          "__rshift__" },
    [IG_AST_OP_LT] = { "aten::lt", "aten::lt", "aten::gt", "__lt__" },
    [IG_AST_OP_LE] = { "aten::le", "aten::le", "aten::ge", "__le__" },
    [IG_AST_OP_GT] = { "aten::gt", "aten::gt", "aten::lt", "__gt__" },
    [IG_AST_OP_GE] = { "aten::ge", "aten::ge", "aten::le", "__ge__" },
    [IG_AST_OP_EQ] = { "aten::eq", "aten::eq", "aten::eq", "__eq__" },
    [IG_AST_OP_NE] = { "aten::ne", "aten::ne", "aten::ne", "__ne__" },
};

static bool is_sequence(const ig_ts_value *value) {
    return (value->kind == IG_TS_LIST && !ig_ts_is_set(value)) ||
           value->kind == IG_TS_TUPLE;
}

/* a + b, a * n of lists and tuples: of the kind of the first. */
static ig_status combine_lists(ig_ts_eval *eval, ig_ast_operator op,
                               const ig_ts_value *a, const ig_ts_value *b,
                               ig_ts_value *out) {
    ig_ts_value pair[2] = { *a, *b };
    bool is_sum = op == IG_AST_OP_ADD;
    uint8_t kind = is_sequence(a) ? a->kind : b->kind;
    IG_TRY(ig_ts_container_run(eval, is_sum ? "+" : "*",
                               is_sum ? ig_ts_op_list_concat : ig_ts_op_list_repeat,
                               pair, 2, out));
    out->kind = kind;
    return IG_OK;
}

static bool is_known_int(const ig_ts_value *value) {
    return value->kind == IG_TS_INT && value->form == IG_TS_KNOWN;
}

/* a | b of dicts: what b has counts. */
static ig_status join_dicts(ig_ts_eval *eval, const ig_ts_value *a,
                            const ig_ts_value *b, ig_ts_value *out) {
    ig_ts_value made, other = *b, nothing;
    ig_ts_arguments none = { 0 }, given = { .values = &other, .positional = 1 };
    IG_TRY(ig_python_method(eval, a, "copy", &none, &made));
    IG_TRY(ig_python_method(eval, &made, "update", &given, &nothing));
    *out = made;
    return IG_OK;
}

/* Of sequences, dicts and strings; *out_done false: of neither. */
static ig_status combine_sequences(ig_ts_eval *eval, ig_ast_operator op,
                                   const ig_ts_value *a, const ig_ts_value *b,
                                   ig_ts_value *out, bool *out_done) {
    *out_done = true;
    bool adds = op == IG_AST_OP_ADD && is_sequence(a) && a->kind == b->kind;
    bool repeats = op == IG_AST_OP_MUL && ((is_sequence(a) && is_known_int(b)) ||
                                           (is_known_int(a) && is_sequence(b)));
    if (adds || repeats) {
        return combine_lists(eval, op, a, b, out);
    }
    bool joins_sets = op == IG_AST_OP_BIT_OR || op == IG_AST_OP_BIT_AND ||
                      op == IG_AST_OP_SUB;
    if (joins_sets && ig_ts_is_set(a) && ig_ts_is_set(b)) {
        return ig_ts_join_sets(eval, op, a, b, out);
    }
    if (op == IG_AST_OP_BIT_OR && a->kind == IG_TS_DICT && b->kind == IG_TS_DICT) {
        return join_dicts(eval, a, b, out);
    }
    if (op == IG_AST_OP_MOD && a->kind == IG_TS_STR) {
        *out = ig_python_poison(eval, "is a formatted text");
        return IG_OK;
    }
    *out_done = false;
    return IG_OK;
}

/* number op tensor, where no operator takes the number first. */
static ig_status reflect_number(ig_ts_eval *eval, ig_ast_operator op,
                                const ig_ts_value *a, const ig_ts_value *b,
                                ig_ts_value *out) {
    ig_ts_value pair[2] = { *b, *a };
    if (operations[op].reflected) {
        return ig_python_op(eval, operations[op].reflected, pair, 2, out);
    }
    if (op == IG_AST_OP_DIV) { /* as torch has it */
        IG_TRY(ig_python_op(eval, "aten::reciprocal", b, 1, &pair[0]));
        return ig_python_op(eval, "aten::mul", pair, 2, out);
    }
    pair[0] = *a;
    pair[1] = *b;
    bool takes_number = op == IG_AST_OP_POW || op == IG_AST_OP_MOD;
    if (!takes_number) {
        IG_TRY(ig_python_op(eval, "aten::tensor", a, 1, &pair[0]));
        pair[0].as.tensor->is_number = true;
    }
    return ig_python_op(eval, operations[op].tensors, pair, 2, out);
}

static ig_status refuse_operands(ig_ts_eval *eval, ig_ast_operator op,
                                 const ig_ts_value *a, const ig_ts_value *b) {
    return ig_ts_error(eval, IG_UNSUPPORTED, "operator '%s' of %s and %s is not known",
                       ig_ast_operator_text(op), ig_ts_kind_name(a),
                       ig_ts_kind_name(b));
}

ig_status ig_python_binary(ig_ts_eval *eval, ig_ast_operator op, const ig_ts_value *a,
                           const ig_ts_value *b, ig_ts_value *out) {
    const operation *of = &operations[op];
    bool is_done;
    IG_TRY(ig_ts_use(eval, a));
    IG_TRY(ig_ts_use(eval, b));
    IG_TRY(call_special(eval, a, of->method ? of->method : "", b, out, &is_done));
    if (is_done) {
        return IG_OK;
    }
    IG_TRY(combine_sequences(eval, op, a, b, out, &is_done));
    if (is_done) {
        return IG_OK;
    }
    ig_ts_value pair[2] = { *a, *b };
    bool is_tensor = a->kind == IG_TS_TENSOR || b->kind == IG_TS_TENSOR;
    const char *name = is_tensor ? of->tensors : of->numbers;
    bool is_text = a->kind == IG_TS_STR && b->kind == IG_TS_STR && op == IG_AST_OP_ADD;
    bool fits = is_tensor || is_text || (ig_ts_is_number(a) && ig_ts_is_number(b));
    if (!name || !fits) {
        return refuse_operands(eval, op, a, b);
    }
    if (is_tensor && a->kind != IG_TS_TENSOR) {
        return reflect_number(eval, op, a, b, out);
    }
    return ig_python_op(eval, name, pair, 2, out);
}

ig_status ig_python_augment(ig_ts_eval *eval, ig_ast_operator op, const ig_ts_value *a,
                            const ig_ts_value *b, ig_ts_value *out) {
    IG_TRY(ig_ts_use(eval, a));
    bool extends = op == IG_AST_OP_ADD && is_sequence(a) && a->kind == IG_TS_LIST;
    bool updates = op == IG_AST_OP_BIT_OR && (a->kind == IG_TS_DICT || ig_ts_is_set(a));
    if (extends || updates) {
        ig_ts_value self = *a, other = *b, nothing;
        ig_ts_arguments arguments = { .values = &other, .positional = 1 };
        *out = self;
        return ig_python_method(eval, &self, extends ? "extend" : "update", &arguments,
                                &nothing);
    }
    const char *name = operations[op].tensors;
    if (a->kind != IG_TS_TENSOR || !name || op == IG_AST_OP_MATMUL) {
        return ig_python_binary(eval, op, a, b, out);
    }
    ig_ts_value pair[2] = { *a, *b };
    return ig_python_op(eval, ig_arena_printf(eval->arena, "%s_", name), pair, 2, out);
}

ig_status ig_python_unary(ig_ts_eval *eval, ig_ast_operator op, const ig_ts_value *a,
                          ig_ts_value *out) {
    IG_TRY(ig_ts_use(eval, a));
    if (a->kind != IG_TS_TENSOR && !ig_ts_is_number(a)) {
        return ig_ts_error(eval, IG_UNSUPPORTED, "operator '%s' of %s is not known",
                           ig_ast_operator_text(op), ig_ts_kind_name(a));
    }
    if (op == IG_AST_OP_PLUS) {
        *out = *a;
        return IG_OK;
    }
    if (op == IG_AST_OP_NEG) {
        ig_ts_value value = *a;
        if (a->kind == IG_TS_BOOL) {
            IG_TRY(ig_ts_convert(eval, IG_TS_INT, a, &value));
        }
        return ig_python_op(eval, "aten::neg", &value, 1, out);
    }
    if (a->kind == IG_TS_INT && a->form == IG_TS_KNOWN) {
        *out = ig_ts_of_int(~a->as.i);
        return IG_OK;
    }
    return ig_python_op(eval, "aten::bitwise_not", a, 1, out);
}

/* ---- comparisons ---- */

/* `a in b`. */
static ig_status find_in(ig_ts_eval *eval, const ig_ts_value *a, const ig_ts_value *b,
                         ig_ts_value *out) {
    const char *class;
    ig_ts_list *items;
    bool is_module = b->kind == IG_TS_OBJECT &&
                     ig_python_is_container(b->as.object, &class);
    if (is_module && a->kind == IG_TS_STR) {
        const char *name = ig_arena_copy(eval->arena, a->as.str.data, a->as.str.size);
        const ig_ts_value *member = ig_ts_object_get(b->as.object, name);
        *out = ig_ts_of_bool(member != NULL);
        return member ? ig_ts_use(eval, member) : IG_OK;
    }
    if (b->kind != IG_TS_OBJECT && b->kind != IG_TS_FUNCTION) {
        return ig_ts_contains(eval, a, b, out);
    }
    IG_TRY(ig_python_items(eval, b, &items)); /* members of an enum, say */
    ig_ts_value list = ig_ts_of_list(items);
    return ig_ts_contains(eval, a, &list, out);
}

static ig_status is_same_value(ig_ts_eval *eval, const ig_ts_value *a,
                               const ig_ts_value *b, ig_ts_value *out) {
    bool is_open = a->form != IG_TS_KNOWN || b->form != IG_TS_KNOWN;
    if (is_open && a->kind == b->kind) {
        return ig_ts_values_equal(eval, a, b, out);
    }
    *out = ig_ts_of_bool(ig_ts_is_same(a, b));
    return IG_OK;
}

ig_status ig_python_compare(ig_ts_eval *eval, ig_ast_operator op, const ig_ts_value *a,
                            const ig_ts_value *b, ig_ts_value *out) {
    bool is_done = false;
    IG_TRY(ig_ts_use(eval, a));
    IG_TRY(ig_ts_use(eval, b));
    switch ((int)op) {
    case IG_AST_OP_IS:
        return is_same_value(eval, a, b, out);
    case IG_AST_OP_IS_NOT:
        IG_TRY(is_same_value(eval, a, b, out));
        return ig_ts_negate(eval, out);
    case IG_AST_OP_IN:
        return find_in(eval, a, b, out);
    case IG_AST_OP_NOT_IN:
        IG_TRY(find_in(eval, a, b, out));
        return ig_ts_negate(eval, out);
    case IG_AST_OP_EQ:
    case IG_AST_OP_NE:
        IG_TRY(call_special(eval, a, "__eq__", b, out, &is_done));
        if (!is_done) {
            IG_TRY(ig_ts_values_equal(eval, a, b, out));
        }
        return op == IG_AST_OP_NE ? ig_ts_negate(eval, out) : IG_OK;
    default:
        return ig_python_binary(eval, op, a, b, out);
    }
}
