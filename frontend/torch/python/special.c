/* Names that are called and are no variables: annotate, isinstance, int, fork …
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/python/dialect.h"

#include <string.h>

static ig_status argument_at(ig_ts_eval *eval, const ig_ast *call, size_t index,
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
    IG_TRY(argument_at(eval, call, 1, out));
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
    return argument_at(eval, call, 1, out);
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
    IG_TRY(argument_at(eval, call, 0, &value));
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

/* ---- numbers ---- */

static ig_status to_number(ig_ts_eval *eval, const ig_ast *call, ig_ts_kind kind,
                           ig_ts_value *out) {
    ig_ts_value value;
    IG_TRY(argument_at(eval, call, 0, &value));
    return ig_python_number(eval, kind, &value, out);
}

static ig_status special_int(ig_ts_eval *eval, const ig_ast *call, ig_ts_value *out) {
    return to_number(eval, call, IG_TS_INT, out);
}
static ig_status special_float(ig_ts_eval *eval, const ig_ast *call, ig_ts_value *out) {
    return to_number(eval, call, IG_TS_FLOAT, out);
}
static ig_status special_bool(ig_ts_eval *eval, const ig_ast *call, ig_ts_value *out) {
    return to_number(eval, call, IG_TS_BOOL, out);
}

/* Builtins that are operators under another name. */
static ig_status as_operator(ig_ts_eval *eval, const ig_ast *call, const char *name,
                             ig_ts_value *out) {
    size_t count = call->as.call.arguments.count;
    ig_ts_value *values = IG_NEW_ARRAY(eval->arena, ig_ts_value, count + 1);
    for (size_t i = 0; i < count; i++) {
        IG_TRY(argument_at(eval, call, i, &values[i]));
    }
    ig_ts_arguments arguments = { .values = values, .positional = (uint32_t)count };
    return ig_python_op_with(eval, name, &arguments, out);
}

static ig_status special_str(ig_ts_eval *eval, const ig_ast *call, ig_ts_value *out) {
    return as_operator(eval, call, "aten::str", out);
}
static ig_status special_sorted(ig_ts_eval *eval, const ig_ast *call,
                                ig_ts_value *out) {
    return as_operator(eval, call, "aten::sorted", out);
}
static ig_status special_complex(ig_ts_eval *eval, const ig_ast *call,
                                 ig_ts_value *out) {
    return as_operator(eval, call, "aten::Complex", out);
}

/* Text for people: nothing that the model computes. */
static ig_status special_print(ig_ts_eval *eval, const ig_ast *call, ig_ts_value *out) {
    (void)eval;
    (void)call;
    *out = ig_ts_none();
    return IG_OK;
}

/* ---- objects ---- */

static ig_status special_getattr(ig_ts_eval *eval, const ig_ast *call,
                                 ig_ts_value *out) {
    ig_ts_value object, name;
    IG_TRY(argument_at(eval, call, 0, &object));
    IG_TRY(argument_at(eval, call, 1, &name));
    if (name.kind != IG_TS_STR) {
        return ig_ts_error(eval, IG_INVALID, "getattr takes the name of an attribute");
    }
    return ig_python_attribute(eval, &object,
                               ig_module_string(eval->module, name.as.str), out);
}

static ig_status special_device(ig_ts_eval *eval, const ig_ast *call,
                                ig_ts_value *out) {
    IG_TRY(argument_at(eval, call, 0, out));
    if (out->kind == IG_TS_STR) {
        out->kind = IG_TS_DEVICE;
    }
    return IG_OK;
}

/* ---- futures ---- */

/* A forked function is run at once: what it gives is all that can be seen of it. */
static ig_status special_fork(ig_ts_eval *eval, const ig_ast *call, ig_ts_value *out) {
    ig_ts_value function, value;
    IG_TRY(argument_at(eval, call, 0, &function));
    if (function.kind != IG_TS_FUNCTION) {
        return ig_ts_error(eval, IG_INVALID, "forks %s", ig_ts_kind_name(&function));
    }
    size_t count = call->as.call.arguments.count - 1;
    ig_ts_arguments arguments = { .positional = (uint32_t)count };
    arguments.values = IG_NEW_ARRAY(eval->arena, ig_ts_value, count + 1);
    for (size_t i = 0; i < count; i++) {
        IG_TRY(argument_at(eval, call, i + 1, &arguments.values[i]));
    }
    IG_TRY(ig_python_call(eval, &function, &arguments, &value));
    ig_ts_function *future = IG_NEW(eval->arena, ig_ts_function);
    future->value = value;
    future->is_done = true;
    *out = (ig_ts_value){ .kind = IG_TS_FUNCTION, .as.function = future };
    return IG_OK;
}

static ig_status special_wait(ig_ts_eval *eval, const ig_ast *call, ig_ts_value *out) {
    IG_TRY(argument_at(eval, call, 0, out));
    IG_TRY(ig_ts_use(eval, out));
    if (out->kind != IG_TS_FUNCTION || !out->as.function->is_done) {
        return ig_ts_error(eval, IG_INVALID, "waits for %s", ig_ts_kind_name(out));
    }
    *out = out->as.function->value;
    return IG_OK;
}

/* ---- the table ---- */

ig_special_hook ig_special_of(const char *name) {
    static const struct {
        const char *name;
        ig_special_hook hook;
    } specials[] = {
        { "annotate", special_annotate },
        { "unchecked_cast", special_cast },
        { "uninitialized", special_uninitialized },
        { "isinstance", special_isinstance },
        { "int", special_int },
        { "float", special_float },
        { "bool", special_bool },
        { "str", special_str },
        { "complex", special_complex },
        { "sorted", special_sorted },
        { "print", special_print },
        { "getattr", special_getattr },
        { "torch.device", special_device },
        { "fork", special_fork },
        { "awaitable", special_fork },
        { "torch.wait", special_wait },
        { "torch.awaitable_wait", special_wait },
        { "ops.prim.awaitable_wait", special_wait },
    };
    for (size_t i = 0; i < IG_COUNT_OF(specials); i++) {
        if (strcmp(specials[i].name, name) == 0) {
            return specials[i].hook;
        }
    }
    return NULL;
}
