/* Operators that the user gives as graphs, as rows of the op tables.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The schema is made of the first form's arguments: i64[] takes an int, f64[] a float,
 * bool[] a bool, as a call of torch has them; all else is a tensor.
 */
#include "frontend/torch/eval/custom.h"

#include "compose/custom.h"

#include <string.h>

/* The value that a call gives for an argument of this type. */
static const char *word_of(const ig_type *type) {
    return type->rank                  ? "Tensor"
           : type->dtype == IG_DT_i64  ? "int"
           : type->dtype == IG_DT_f64  ? "float"
           : type->dtype == IG_DT_bool ? "bool"
                                       : "Tensor";
}

static ig_status read_arguments(ig_ts_call *call, const ig_graph *function,
                                ig_value **out_args) {
    for (uint32_t i = 0; i < function->body.arg_count; i++) {
        const ig_type *type = function->body.args[i]->type;
        IG_TRY(strcmp(word_of(type), "Tensor") == 0
                   ? ig_ts_tensor_arg(call, i, &out_args[i])
                   : ig_ts_operand(call, i, (ig_dtype)type->dtype, &out_args[i]));
    }
    return IG_OK;
}

static ig_status call_custom(ig_ts_call *call) {
    const ig_custom_functions *functions = call->eval->functions;
    ig_str schema = ig_str_of(call->row->schema);
    const char *name = ig_arena_copy(call->arena, schema.data,
                                     strcspn(schema.data, "("));
    const ig_graph *function = ig_custom_next(functions, name, NULL);
    ig_value **args = IG_NEW_ARRAY(call->arena, ig_value *, call->arg_count + 1);
    IG_TRY(read_arguments(call, function, args));
    while (function && !ig_custom_fits(function, args, call->arg_count)) {
        function = ig_custom_next(functions, name, function);
    }
    if (!function) {
        return ig_ts_fail(call, IG_INVALID,
                          "none of its forms in --ops has the dtypes and ranks of this "
                          "call");
    }
    uint32_t count = ig_custom_result_count(function);
    ig_value **results = IG_NEW_ARRAY(call->arena, ig_value *, count + 1);
    ig_custom_inline(call->e, function, args, results);
    for (uint32_t i = 0; i < count; i++) {
        IG_TRY(ig_ts_give(call, i, results[i]));
    }
    return IG_OK;
}

static void put_types(ig_writer *w, const ig_graph *function) {
    uint32_t count = ig_custom_result_count(function);
    for (uint32_t i = 0; i < function->body.arg_count; i++) {
        ig_put(w, "%s%s a%u", i ? ", " : "", word_of(function->body.args[i]->type), i);
    }
    ig_put(w, count == 1 ? ") -> " : ") -> (");
    for (uint32_t i = 0; i < count; i++) {
        ig_put(w, i ? ", Tensor" : "Tensor");
    }
    ig_put(w, count == 1 ? "" : ")");
}

const ig_ts_row *ig_ts_custom_row(ig_ts_eval *eval, const char *name) {
    const ig_graph *function = ig_custom_next(eval->functions, name, NULL);
    if (!function) {
        return NULL;
    }
    ig_writer w;
    ig_writer_init(&w, eval->arena);
    ig_put(&w, "%s(", name);
    put_types(&w, function);
    ig_put_char(&w, '\0');
    ig_ts_row *row = IG_NEW(eval->arena, ig_ts_row);
    *row = (ig_ts_row){ .schema = w.data, .hook = call_custom };
    return row;
}
