/* Names that are called and are no variables: annotate, isinstance, int, fork …
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/python/dialect.h"

#include <string.h>

static ig_status read_argument(ig_ts_eval *eval, const ig_ast *call, size_t index,
                               ig_ts_value *out) {
    if (index >= call->as.call.arguments.count) {
        return ig_ts_error(eval, IG_INVALID, "a call lacks argument %zu", index + 1);
    }
    return ig_python_evaluate(eval, call->as.call.arguments.items[index], out);
}

static ig_status type_argument(ig_ts_eval *eval, const ig_ast *call, size_t index,
                               const ig_script_type **out_type) {
    if (index >= call->as.call.arguments.count) {
        return ig_ts_error(eval, IG_INVALID, "a call lacks argument %zu", index + 1);
    }
    return ig_script_type_of_ast(&eval->code->types, eval->frame->file,
                                 call->as.call.arguments.items[index], out_type);
}

/* ---- types ---- */

static ig_ts_kind number_kind(const ig_script_type *type) {
    return type->kind == IG_SCRIPT_INT     ? IG_TS_INT
           : type->kind == IG_SCRIPT_FLOAT ? IG_TS_FLOAT
           : type->kind == IG_SCRIPT_BOOL  ? IG_TS_BOOL
                                           : IG_TS_UNSET;
}

/* annotate(number, tensor) is how ScalarImplicit is printed. */
static ig_status annotate_tensor(ig_ts_eval *eval, const ig_script_type *type,
                                 ig_ts_value *value) {
    const ig_ts_tensor *tensor = value->as.tensor;
    ig_ts_kind kind = number_kind(type);
    if (kind == IG_TS_UNSET && type->kind != IG_SCRIPT_NUMBER) {
        return IG_OK;
    }
    if (kind == IG_TS_UNSET) {
        kind = ig_dtype_is_float((ig_dtype)tensor->type->dtype) ? IG_TS_FLOAT
               : tensor->type->dtype == IG_DT_bool              ? IG_TS_BOOL
                                                                : IG_TS_INT;
    }
    ig_value *content;
    IG_TRY(ig_ts_tensor_read(eval, tensor, &content));
    return ig_ts_number_of(eval, kind, content, value);
}

static ig_status special_annotate(ig_ts_eval *eval, const ig_ast *call,
                                  ig_ts_value *out) {
    const ig_script_type *type = NULL;
    IG_TRY(type_argument(eval, call, 0, &type));
    IG_TRY(read_argument(eval, call, 1, out));
    const ig_script_type *bare = ig_script_type_without_none(&eval->code->types, type);
    if (out->kind == IG_TS_TENSOR) {
        return annotate_tensor(eval, bare, out);
    }
    if (out->kind == IG_TS_INT && bare->kind == IG_SCRIPT_FLOAT) {
        return ig_ts_convert(eval, IG_TS_FLOAT, out, out);
    }
    if (out->kind == IG_TS_LIST && bare->kind == IG_SCRIPT_LIST) {
        out->as.list->type = bare;
    } else if (out->kind == IG_TS_DICT && bare->kind == IG_SCRIPT_DICT) {
        out->as.dict->type = bare;
    }
    return IG_OK;
}

static ig_status special_cast(ig_ts_eval *eval, const ig_ast *call, ig_ts_value *out) {
    return read_argument(eval, call, 1, out);
}

static ig_status special_uninitialized(ig_ts_eval *eval, const ig_ast *call,
                                       ig_ts_value *out) {
    (void)eval;
    (void)call;
    *out = (ig_ts_value){ .kind = IG_TS_UNDEFINED };
    return IG_OK;
}

static ig_status special_isinstance(ig_ts_eval *eval, const ig_ast *call,
                                    ig_ts_value *out) {
    ig_ts_value value;
    IG_TRY(read_argument(eval, call, 0, &value));
    IG_TRY(ig_ts_use(eval, &value));
    if (call->as.call.arguments.count < 2) {
        return ig_ts_error(eval, IG_INVALID, "isinstance lacks a type");
    }
    const ig_ast *given = call->as.call.arguments.items[1];
    const ig_script_type *of = ig_ts_type_of(eval, &value), *type = NULL;
    bool is_many = given->kind == IG_AST_TUPLE;
    size_t count = is_many ? given->as.list.count : 1;
    bool is_one = false;
    for (size_t i = 0; i < count && !is_one; i++) {
        const ig_ast *item = is_many ? given->as.list.items[i] : given;
        IG_TRY(
            ig_script_type_of_ast(&eval->code->types, eval->frame->file, item, &type));
        is_one = ig_script_type_is_subtype(&eval->code->types, of, type);
    }
    *out = ig_ts_of_bool(is_one);
    return IG_OK;
}

/* ---- others ---- */

/* Text for people: nothing that the model computes. */
static ig_status special_print(ig_ts_eval *eval, const ig_ast *call, ig_ts_value *out) {
    (void)eval;
    (void)call;
    *out = ig_ts_none();
    return IG_OK;
}

/* ---- futures ---- */

/* A forked function is run at once: only its result can be seen. */
static ig_status special_fork(ig_ts_eval *eval, const ig_ast *call, ig_ts_value *out) {
    ig_ts_value function, value;
    IG_TRY(read_argument(eval, call, 0, &function));
    if (function.kind != IG_TS_FUNCTION) {
        return ig_ts_error(eval, IG_INVALID, "forks %s", ig_ts_kind_name(&function));
    }
    size_t count = call->as.call.arguments.count - 1;
    ig_ts_arguments arguments = { .positional = (uint32_t)count };
    arguments.values = IG_NEW_ARRAY(eval->arena, ig_ts_value, count + 1);
    for (size_t i = 0; i < count; i++) {
        IG_TRY(read_argument(eval, call, i + 1, &arguments.values[i]));
    }
    IG_TRY(ig_python_call(eval, &function, &arguments, &value));
    ig_ts_function *future = IG_NEW(eval->arena, ig_ts_function);
    future->value = value;
    future->is_done = true;
    *out = (ig_ts_value){ .kind = IG_TS_FUNCTION, .as.function = future };
    return IG_OK;
}

static ig_status special_wait(ig_ts_eval *eval, const ig_ast *call, ig_ts_value *out) {
    IG_TRY(read_argument(eval, call, 0, out));
    IG_TRY(ig_ts_use(eval, out));
    if (out->kind != IG_TS_FUNCTION || !out->as.function->is_done) {
        return ig_ts_error(eval, IG_INVALID, "waits for %s", ig_ts_kind_name(out));
    }
    *out = out->as.function->value;
    return IG_OK;
}

/* ---- the table ---- */

const ig_special *ig_special_of(const char *name) {
    static const ig_special specials[] = {
        { "annotate", .hook = special_annotate, .takes_type = true },
        { "unchecked_cast", .hook = special_cast, .takes_type = true },
        { "uninitialized", .hook = special_uninitialized, .takes_type = true },
        { "isinstance", .hook = special_isinstance, .gives = 1 + IG_SCRIPT_BOOL },
        { "int", .builtin = "builtins.int", .gives = 1 + IG_SCRIPT_INT },
        { "float", .builtin = "builtins.float", .gives = 1 + IG_SCRIPT_FLOAT },
        { "bool", .builtin = "builtins.bool", .gives = 1 + IG_SCRIPT_BOOL },
        { "str", .op = "aten::str", .gives = 1 + IG_SCRIPT_STR },
        { "complex", .op = "aten::Complex" },
        { "sorted", .op = "aten::sorted" },
        { "print", .hook = special_print },
        { "getattr", .builtin = "builtins.getattr" },
        { "torch.device", .builtin = "torch.device", .gives = 1 + IG_SCRIPT_DEVICE },
        { "fork", .hook = special_fork },
        { "awaitable", .hook = special_fork },
        { "torch.wait", .hook = special_wait },
        { "torch.awaitable_wait", .hook = special_wait },
        { "ops.prim.awaitable_wait", .hook = special_wait },
    };
    for (size_t i = 0; i < IG_COUNT_OF(specials); i++) {
        if (strcmp(specials[i].name, name) == 0) {
            return &specials[i];
        }
    }
    return NULL;
}

ig_status ig_special_call(ig_ts_eval *eval, const ig_special *special,
                          const ig_ast *call, ig_ts_value *out) {
    ig_ts_arguments arguments;
    if (special->hook) {
        return special->hook(eval, call, out);
    }
    IG_TRY(ig_python_read_arguments(eval, call, &arguments));
    return special->op ? ig_python_op_with(eval, special->op, &arguments, out)
                       : ig_python_builtin(special->builtin)(eval, &arguments, out);
}
