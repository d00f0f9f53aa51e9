/* Names of torch, math and others that no source tells.
 * SPDX-License-Identifier: Apache-2.0
 *
 * torch's functions are its operators under Python's names of arguments, or are in its
 * own Python (stock/).
 */
#include "frontend/torch/eval/table.h"
#include "frontend/torch/python/piecewise.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static bool has_prefix(const char *name, const char *prefix) {
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* ---- constants ---- */

static bool number_constant(const char *name, ig_ts_value *out) {
    static const struct {
        const char *name;
        double value;
    } numbers[] = {
        { "math.pi", 3.14159265358979323846 },
        { "math.e", 2.71828182845904523536 },
        { "math.tau", 6.28318530717958647692 },
        { "math.inf", HUGE_VAL },
        { "torch.pi", 3.14159265358979323846 },
        { "torch.e", 2.71828182845904523536 },
        { "torch.inf", HUGE_VAL },
    };
    for (size_t i = 0; i < IG_COUNT_OF(numbers); i++) {
        if (strcmp(numbers[i].name, name) == 0) {
            *out = ig_ts_of_float(numbers[i].value);
            return true;
        }
    }
    if (strcmp(name, "math.nan") == 0 || strcmp(name, "torch.nan") == 0) {
        *out = ig_ts_of_float((double)NAN);
        return true;
    }
    return false;
}

bool ig_python_constant(const char *name, ig_ts_value *out) {
    static const struct {
        const char *name;
        int64_t value;
    } codes[] = {
        { "torch.contiguous_format", 0 }, { "torch.preserve_format", 1 },
        { "torch.channels_last", 2 },     { "torch.channels_last_3d", 3 },
        { "torch.strided", 0 },           { "sys.maxsize", INT64_MAX },
    };
    for (size_t i = 0; i < IG_COUNT_OF(codes); i++) {
        if (strcmp(codes[i].name, name) == 0) {
            *out = ig_ts_of_int(codes[i].value);
            return true;
        }
    }
    if (strcmp(name, "typing.TYPE_CHECKING") == 0) {
        *out = ig_ts_of_bool(false);
        return true;
    }
    const ig_torch_dtype_info *dtype = has_prefix(name, "torch.")
                                           ? ig_torch_dtype_of_name(ig_str_of(name + 6))
                                           : NULL;
    if (dtype) {
        *out = ig_ts_of_int(dtype->code);
        out->is_dtype = true;
        return true;
    }
    return number_constant(name, out);
}

/* ---- functions that torch writes in Python ---- */

static ig_status find_function(ig_ts_eval *eval, const char *name, ig_ts_value *out,
                               bool *out_found) {
    const char *dot = strrchr(name, '.');
    const char *module = "torch.functional";
    if (has_prefix(name, "Tensor.")) {
        module = "torch._methods";
    } else if (has_prefix(name, "torch.nn.functional.")) {
        module = "torch.nn.functional";
    }
    return ig_python_stock(eval, module, dot + 1, out, out_found);
}

/* ---- operators under Python's names ---- */

static bool has_argument(const ig_ts_candidates *from, const char *name) {
    for (uint32_t i = 0; i < IG_TS_CANDIDATES; i++) {
        const ig_ts_overloads *rows = from->own[i];
        for (size_t k = 0; rows && k < rows->count; k++) {
            if (ig_schema_argument_index(rows->schemas[k], name) >= 0) {
                return true;
            }
        }
    }
    return false;
}

/* NULL: the keyword does not affect the computation. */
static const char *schema_name(const ig_ts_candidates *from, const char *name) {
    static const char *const others[][2] = {
        { "input", "self" },   { "axis", "dim" },      { "keepdims", "keepdim" },
        { "dims", "dim" },     { "x1", "self" },       { "x2", "other" },
        { "tensor", "self" },  { "out", NULL },        { "requires_grad", NULL },
        { "generator", NULL }, { "pin_memory", NULL }, { "_stacklevel", NULL },
        { "x", "self" },       { "size", "shape" },    { "shape", "size" },
        { "data", "t" },       { "mask", "mask" },
    };
    if (has_argument(from, name)) {
        return name;
    }
    for (size_t i = 0; i < IG_COUNT_OF(others); i++) {
        bool is_it = strcmp(others[i][0], name) == 0;
        if (is_it && (!others[i][1] || has_argument(from, others[i][1]))) {
            return others[i][1];
        }
    }
    return name;
}

static ig_ts_arguments rename_keywords(ig_ts_eval *eval, const ig_ts_candidates *from,
                                       const ig_ts_arguments *given) {
    uint32_t count = given->positional + given->keywords;
    ig_ts_arguments made = { .positional = given->positional };
    made.values = IG_NEW_ARRAY(eval->arena, ig_ts_value, count + 1u);
    made.names = IG_NEW_ARRAY(eval->arena, const char *, given->keywords + 1u);
    if (given->positional) {
        memcpy(made.values, given->values, given->positional * sizeof(*made.values));
    }
    for (uint32_t i = 0; i < given->keywords; i++) {
        const ig_ts_value *value = &given->values[given->positional + i];
        const char *name = schema_name(from, given->names[i]);
        bool is_idle = !name ||
                       (value->kind == IG_TS_NONE && !has_argument(from, name));
        if (!is_idle) {
            made.values[made.positional + made.keywords] = *value;
            made.names[made.keywords++] = name;
        }
    }
    return made;
}

/* Python names the results of torch.max and its kin. */
static void note_results(ig_ts_eval *eval, const ig_ts_candidates *from,
                         const ig_ts_value *value) {
    if (value->kind != IG_TS_TUPLE) {
        return;
    }
    for (uint32_t i = 0; i < IG_TS_CANDIDATES; i++) {
        const ig_ts_overloads *rows = from->own[i];
        for (size_t k = 0; rows && k < rows->count; k++) {
            const ig_schema *schema = rows->schemas[k];
            bool is_it = schema->result_count > 1 && schema->results[0].name &&
                         schema->result_count == value->as.list->count;
            if (is_it) {
                ig_map_set_id(&eval->python->results, IG_MAP_PTR(value->as.list),
                              (void *)(uintptr_t)schema);
                return;
            }
        }
    }
}

static ig_status call_operator(ig_ts_eval *eval, const char *name,
                               const ig_ts_arguments *given, ig_ts_value *out) {
    ig_ts_candidates from;
    IG_TRY(ig_ts_candidates_find(eval, name, &from));
    ig_ts_arguments arguments = rename_keywords(eval, &from, given);
    IG_TRY(ig_python_op_with(eval, name, &arguments, out));
    note_results(eval, &from, out);
    return IG_OK;
}

/* relu(x, inplace=True) is relu_(x). */
static ig_status call_in_place(ig_ts_eval *eval, const char *name,
                               const ig_ts_arguments *given, ig_ts_value *out) {
    ig_ts_arguments kept = { .positional = given->positional };
    uint32_t count = given->positional + given->keywords;
    bool is_in_place = false;
    kept.values = IG_NEW_ARRAY(eval->arena, ig_ts_value, count + 1u);
    kept.names = IG_NEW_ARRAY(eval->arena, const char *, given->keywords + 1u);
    if (given->positional) {
        memcpy(kept.values, given->values, given->positional * sizeof(*kept.values));
    }
    for (uint32_t i = 0; i < given->keywords; i++) {
        const ig_ts_value *value = &given->values[given->positional + i];
        if (strcmp(given->names[i], "inplace") == 0) {
            is_in_place = value->kind == IG_TS_BOOL && value->as.b;
            continue;
        }
        kept.values[kept.positional + kept.keywords] = *value;
        kept.names[kept.keywords++] = given->names[i];
    }
    const char *op = ig_arena_printf(eval->arena, "aten::%s%s", name,
                                     is_in_place ? "_" : "");
    return call_operator(eval, op, &kept, out);
}

/* ---- methods of tensors ---- */

/* x.float(): to that dtype. */
static ig_status cast_tensor(ig_ts_eval *eval, const ig_torch_dtype_info *dtype,
                             const ig_ts_arguments *given, ig_ts_value *out) {
    ig_ts_value pair[2] = { given->values[0], ig_ts_of_int(dtype->code) };
    return ig_python_op(eval, "aten::to", pair, 2, out);
}

static bool is_idle_method(const char *name) {
    static const char *const idle[] = { "requires_grad_", "share_memory_",
                                        "retain_grad", "resolve_conj", "resolve_neg" };
    for (size_t i = 0; i < IG_COUNT_OF(idle); i++) {
        if (strcmp(name, idle[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* x.view(torch.int32): a type, where x.view(3) is a shape. */
static const char *named_overload(const char *name, const ig_ts_arguments *given) {
    bool is_type = given->keywords == 1 && strcmp(given->names[0], "dtype") == 0;
    for (uint32_t i = 0; i < given->positional; i++) {
        is_type = is_type || given->values[i].is_dtype;
    }
    return is_type && strcmp(name, "view") == 0 ? ".dtype" : "";
}

static ig_status call_method(ig_ts_eval *eval, const char *name,
                             const ig_ts_arguments *given, ig_ts_value *out) {
    const ig_torch_dtype_info *dtype = ig_torch_dtype_of_name(ig_str_of(name));
    if (dtype) {
        return cast_tensor(eval, dtype, given, out);
    }
    if (is_idle_method(name)) {
        *out = given->values[0];
        return IG_OK;
    }
    const char *op = ig_arena_printf(eval->arena, "aten::%s%s", name,
                                     named_overload(name, given));
    IG_TRY(call_operator(eval, op, given, out));
    if (strcmp(name, "size") == 0 && out->kind == IG_TS_LIST) {
        *out = ig_ts_of_tuple(out->as.list);
    }
    return IG_OK;
}

/* ---- by the place of the name ---- */

ig_status ig_python_call_torch(ig_ts_eval *eval, const char *name,
                               const ig_ts_arguments *arguments, ig_ts_value *out) {
    ig_ts_value function;
    bool is_found;
    const char *dot = strrchr(name, '.');
    IG_TRY(find_function(eval, name, &function, &is_found));
    if (is_found) {
        return ig_python_call(eval, &function, arguments, out);
    }
    if (has_prefix(name, "Tensor.")) {
        return call_method(eval, dot + 1, arguments, out);
    }
    return call_in_place(eval, dot + 1, arguments, out);
}

static ig_status call_math(ig_ts_eval *eval, const char *name,
                           const ig_ts_arguments *arguments, ig_ts_value *out) {
    ig_ts_arguments numbers = *arguments;
    numbers.values = IG_NEW_ARRAY(eval->arena, ig_ts_value, numbers.positional + 1u);
    for (uint32_t i = 0; i < numbers.positional; i++) {
        numbers.values[i] = arguments->values[i];
        if (numbers.values[i].kind == IG_TS_TENSOR) {
            ig_value *content;
            IG_TRY(ig_ts_tensor_read(eval, numbers.values[i].as.tensor, &content));
            IG_TRY(ig_ts_number_of(eval, IG_TS_FLOAT, content, &numbers.values[i]));
        }
    }
    return ig_python_op_with(eval, ig_arena_printf(eval->arena, "aten::%s", name),
                             &numbers, out);
}

/* operator.add(a, b), as torch.fx writes it. */
static ig_status call_operation(ig_ts_eval *eval, const char *name,
                                const ig_ts_arguments *arguments, ig_ts_value *out) {
    static const struct {
        const char *name;
        ig_ast_operator op;
        bool is_in_place;
    } rows[] = {
        { "add", IG_AST_OP_ADD, false },
        { "sub", IG_AST_OP_SUB, false },
        { "mul", IG_AST_OP_MUL, false },
        { "truediv", IG_AST_OP_DIV, false },
        { "floordiv", IG_AST_OP_FLOOR_DIV, false },
        { "mod", IG_AST_OP_MOD, false },
        { "pow", IG_AST_OP_POW, false },
        { "matmul", IG_AST_OP_MATMUL, false },
        { "and_", IG_AST_OP_BIT_AND, false },
        { "or_", IG_AST_OP_BIT_OR, false },
        { "xor", IG_AST_OP_BIT_XOR, false },
        { "iadd", IG_AST_OP_ADD, true },
        { "isub", IG_AST_OP_SUB, true },
        { "imul", IG_AST_OP_MUL, true },
        { "itruediv", IG_AST_OP_DIV, true },
        { "eq", IG_AST_OP_EQ, false },
        { "ne", IG_AST_OP_NE, false },
        { "lt", IG_AST_OP_LT, false },
        { "le", IG_AST_OP_LE, false },
        { "gt", IG_AST_OP_GT, false },
        { "ge", IG_AST_OP_GE, false },
    };
    const ig_ts_value *values = arguments->values;
    if (arguments->positional == 1) {
        ig_ast_operator op = strcmp(name, "neg") == 0      ? IG_AST_OP_NEG
                             : strcmp(name, "invert") == 0 ? IG_AST_OP_INVERT
                                                           : IG_AST_OPERATOR_COUNT;
        if (op != IG_AST_OPERATOR_COUNT) {
            return ig_python_unary(eval, op, &values[0], out);
        }
    }
    for (size_t i = 0; arguments->positional == 2 && i < IG_COUNT_OF(rows); i++) {
        if (strcmp(rows[i].name, name) != 0) {
            continue;
        }
        bool compares = rows[i].op >= IG_AST_OP_LT && rows[i].op <= IG_AST_OP_EQ;
        return compares
                   ? ig_python_compare(eval, rows[i].op, &values[0], &values[1], out)
               : rows[i].is_in_place
                   ? ig_python_augment(eval, rows[i].op, &values[0], &values[1], out)
                   : ig_python_binary(eval, rows[i].op, &values[0], &values[1], out);
    }
    return ig_ts_error(eval, IG_UNSUPPORTED, "calls operator.%s, which is not known",
                       name);
}

/* "torch.linalg.norm" is aten::linalg_norm. */
static const char *family_operator(ig_ts_eval *eval, const char *name) {
    static const char *const families[] = { "linalg", "fft", "special" };
    for (size_t i = 0; i < IG_COUNT_OF(families); i++) {
        size_t size = strlen(families[i]);
        if (strncmp(name, families[i], size) == 0 && name[size] == '.') {
            return ig_arena_printf(eval->arena, "aten::%s_%s", families[i],
                                   name + size + 1);
        }
    }
    return NULL;
}

/* torch.ops.aten.add.Tensor is aten::add.Tensor. */
static const char *registered_operator(ig_ts_eval *eval, const char *name) {
    const char *dot = strchr(name, '.');
    const char *rest = dot ? dot + 1 : "";
    const char *end = strstr(rest, ".default");
    int size = end ? (int)(end - rest) : (int)strlen(rest);
    return dot ? ig_arena_printf(eval->arena, "%.*s::%.*s", (int)(dot - name), name,
                                 size, rest)
               : NULL;
}

static ig_status call_torch_name(ig_ts_eval *eval, const char *name,
                                 const ig_ts_arguments *arguments, ig_ts_value *out) {
    static const char *const aliases[][2] = {
        { "torch._C._nn.", "torch.nn.functional." },
        { "torch._C._VariableFunctions.", "torch." },
        { "torch._C._VariableFunctionsClass.", "torch." },
        { "torch._VF.", "torch." },
        { "torch._C.TensorBase.", "Tensor." },
        { "torch._C._TensorBase.", "Tensor." },
        { "torch.functional.", "torch." },
        { "torch.Tensor.", "Tensor." },
        { "torch._tensor.Tensor.", "Tensor." },
    };
    for (size_t i = 0; i < IG_COUNT_OF(aliases); i++) {
        if (has_prefix(name, aliases[i][0])) {
            name = ig_arena_printf(eval->arena, "%s%s", aliases[i][1],
                                   name + strlen(aliases[i][0]));
        }
    }
    bool is_plain = has_prefix(name, "Tensor.") ||
                    has_prefix(name, "torch.nn.functional.") || !strchr(name + 6, '.');
    const char *op = NULL;
    if (!is_plain) {
        op = has_prefix(name, "torch.ops.") ? registered_operator(eval, name + 10)
                                            : family_operator(eval, name + 6);
    }
    if (op) {
        return call_operator(eval, op, arguments, out);
    }
    return is_plain ? ig_python_call_torch(eval, name, arguments, out)
                    : ig_ts_error(eval, IG_UNSUPPORTED,
                                  "calls %s, which is not known here", name);
}

static ig_status call_written(ig_ts_eval *eval, const char *name,
                              const ig_ts_arguments *arguments, ig_ts_value *out) {
    ig_ts_value function = { 0 };
    bool is_found;
    IG_TRY(ig_python_stock(eval, "torch._library", strrchr(name, '.') + 1, &function,
                           &is_found));
    assert(is_found && "a row says that it is written");
    return ig_python_call(eval, &function, arguments, out);
}

ig_status ig_python_call_external(ig_ts_eval *eval, const char *name,
                                  const ig_ts_arguments *arguments, ig_ts_value *out) {
    ig_python_hook hook = ig_python_builtin(name);
    uint32_t count = arguments->positional + arguments->keywords;
    count = hook ? ig_python_builtin_uses(hook, count) : count;
    for (uint32_t i = 0; i < count; i++) {
        IG_TRY(ig_ts_use(eval, &arguments->values[i]));
    }
    if (hook) {
        return hook == ig_python_written ? call_written(eval, name, arguments, out)
                                         : hook(eval, arguments, out);
    }
    if (has_prefix(name, "math.")) {
        return call_math(eval, name + 5, arguments, out);
    }
    if (has_prefix(name, "operator.") || has_prefix(name, "_operator.")) {
        return call_operation(eval, strchr(name, '.') + 1, arguments, out);
    }
    if (has_prefix(name, "logging.") || has_prefix(name, "warnings.")) {
        *out = ig_python_external(eval, "logging.logger"); /* its text is for people */
        return IG_OK;
    }
    if (has_prefix(name, "torch.") || has_prefix(name, "Tensor.")) {
        return call_torch_name(eval, name, arguments, out);
    }
    return ig_ts_error(eval, IG_UNSUPPORTED,
                       "calls %s, which is neither in the package nor known here",
                       name);
}
