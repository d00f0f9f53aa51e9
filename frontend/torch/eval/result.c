/* Results of operators, and writes to arguments: the givers of op.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/eval/eval.h"
#include "frontend/torch/eval/table.h"

#include <assert.h>

ig_status ig_ts_give_value(ig_ts_call *call, uint32_t result, ig_ts_value value) {
    assert(result < call->result_count && "the schema has no such result");
    assert(value.kind != IG_TS_UNSET && "a result is something");
    call->results[result] = value;
    return IG_OK;
}

/* Did building come to nothing?  A formula without a case for its operands ends in NULL
 * without a failure. */
static bool has_failed(ig_ts_call *call, const ig_value *value) {
    if (!value) {
        ig_expr_fail(call->e, IG_UNSUPPORTED,
                     "is not supported for arguments like these");
    }
    return call->e->status != IG_OK;
}

ig_status ig_ts_give(ig_ts_call *call, uint32_t result, ig_value *value) {
    return has_failed(call, value)
               ? call->e->status
               : ig_ts_give_value(call, result, ig_ts_tensor_value(call, value));
}

ig_status ig_ts_give_arg(ig_ts_call *call, uint32_t result, uint32_t arg) {
    assert(arg < call->arg_count && "the schema has no such argument");
    ig_ts_value value = call->args[arg];
    if (value.kind == IG_TS_TENSOR && value.as.tensor->is_constant) {
        ig_ts_tensor *same = IG_NEW(call->arena, ig_ts_tensor);
        *same = *value.as.tensor;
        same->is_constant = false;
        value = ig_ts_of_tensor(same);
    }
    return ig_ts_give_value(call, result, value);
}

static ig_status view_of(ig_ts_call *call, uint32_t arg, ig_value *value,
                         ig_ts_value *out_value) {
    const ig_ts_tensor *base = arg == IG_TS_NO_ARG ? NULL : ig_ts_peek(call, arg);
    if (has_failed(call, value)) {
        return call->e->status;
    }
    if (!base) {
        *out_value = ig_ts_tensor_value(call, value);
        return IG_OK;
    }
    *out_value = ig_ts_of_tensor(ig_ts_view_create(call->eval, base, value));
    return IG_OK;
}

ig_status ig_ts_give_view(ig_ts_call *call, uint32_t result, uint32_t arg,
                          ig_value *value) {
    ig_ts_value view;
    IG_TRY(view_of(call, arg, value, &view));
    return ig_ts_give_value(call, result, view);
}

ig_status ig_ts_give_list(ig_ts_call *call, uint32_t result, uint32_t arg,
                          ig_value *const *values, uint32_t count) {
    ig_ts_list *list = ig_ts_list_create(call->eval, count);
    for (uint32_t i = 0; i < count; i++) {
        ig_ts_value view;
        IG_TRY(view_of(call, arg, values[i], &view));
        ig_ts_list_add(call->eval, list, view);
    }
    return ig_ts_give_value(call, result, ig_ts_of_list(list));
}

ig_status ig_ts_give_complex(ig_ts_call *call, uint32_t result, ig_value *value,
                             const ig_torch_dtype_info *dtype) {
    assert(dtype->is_complex && "the dtype of a complex result");
    if (has_failed(call, value)) {
        return call->e->status;
    }
    return ig_ts_give_value(
        call, result, ig_ts_of_tensor(ig_ts_tensor_create(call->eval, value, dtype)));
}

ig_status ig_ts_give_quantised(ig_ts_call *call, uint32_t result, ig_value *value,
                               const ig_torch_dtype_info *dtype,
                               const ig_ts_quant *quant) {
    assert(dtype->is_quantised && quant && "a quantised result has a scale");
    if (has_failed(call, value)) {
        return call->e->status;
    }
    ig_ts_tensor *tensor = ig_ts_tensor_create(call->eval, value, dtype);
    ig_ts_quant *copy = IG_NEW(call->arena, ig_ts_quant);
    *copy = *quant;
    tensor->quant = copy;
    return ig_ts_give_value(call, result, ig_ts_of_tensor(tensor));
}

ig_status ig_ts_give_int(ig_ts_call *call, uint32_t result, int64_t value) {
    return ig_ts_give_value(call, result, ig_ts_of_int(value));
}

ig_status ig_ts_give_dim(ig_ts_call *call, uint32_t result, ig_dim dim) {
    return ig_ts_give_value(call, result, ig_ts_of_dim(call->module, dim));
}

ig_status ig_ts_give_dims(ig_ts_call *call, uint32_t result, const ig_dim *dims,
                          uint32_t count) {
    ig_ts_list *list = ig_ts_list_create(call->eval, count);
    for (uint32_t i = 0; i < count; i++) {
        ig_ts_list_add(call->eval, list, ig_ts_of_dim(call->module, dims[i]));
    }
    ig_script_types *types = &call->eval->code->types;
    list->type = ig_script_type_list(types, types->simple[IG_SCRIPT_INT]);
    return ig_ts_give_value(call, result, ig_ts_of_list(list));
}

ig_status ig_ts_give_float(ig_ts_call *call, uint32_t result, double value) {
    return ig_ts_give_value(call, result, ig_ts_of_float(value));
}

ig_status ig_ts_give_bool(ig_ts_call *call, uint32_t result, bool value) {
    return ig_ts_give_value(call, result, ig_ts_of_bool(value));
}

ig_status ig_ts_give_str(ig_ts_call *call, uint32_t result, ig_str text) {
    return ig_ts_give_value(call, result, ig_ts_of_str(text));
}

ig_status ig_ts_give_number(ig_ts_call *call, uint32_t result, ig_ts_kind kind,
                            ig_value *value) {
    ig_ts_value number;
    IG_TRY(ig_ts_number_of(call->eval, kind, value, &number));
    return ig_ts_give_value(call, result, number);
}

ig_status ig_ts_write(ig_ts_call *call, uint32_t arg, ig_value *value) {
    assert(arg < call->arg_count && "the call has no such argument");
    const ig_ts_tensor *tensor = ig_ts_peek(call, arg);
    if (!tensor) {
        return ig_ts_fail(call, IG_INVALID, "writes to %s, expected a tensor",
                          ig_ts_kind_name(&call->args[arg]));
    }
    if (has_failed(call, value)) {
        return call->e->status;
    }
    const ig_type *type = tensor->type;
    if (value->type->dtype != type->dtype) {
        value = ig_expr_cast(call->e, value, (ig_dtype)type->dtype);
        IG_TRY(call->e->status);
    }
    if (value->type->rank > type->rank) {
        return ig_ts_fail(call, IG_INVALID,
                          "writes a tensor of rank %u to one of rank %u",
                          value->type->rank, type->rank);
    }
    ig_module *module = call->module;
    for (uint32_t i = 1; i <= value->type->rank; i++) {
        ig_dim from = value->type->dims[value->type->rank - i];
        ig_dim to = type->dims[type->rank - i];
        if (!ig_dim_is(from, 1) && ig_dim_equal(module, from, to) != IG_YES) {
            ig_expr_guard_equal(
                call->e, ig_dim_bcast(module, from, to), to,
                "the value written does not broadcast to the tensor's shape");
            IG_TRY(call->e->status);
        }
    }
    value = ig_expr_expand(call->e, value, type->rank, type->dims);
    IG_TRY(call->e->status);
    return ig_ts_tensor_write(call->eval, tensor, value);
}
