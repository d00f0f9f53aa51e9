/* Lists whose length is known at run time only.  SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/eval/stacked.h"

#include <assert.h>

const ig_ts_poison ig_ts_stacked = { .what = "has as many items as an extent says" };
const ig_ts_poison ig_ts_grows = {
    .what = "grows in this loop, so that its items are not known"
};

ig_ts_content ig_ts_stacked_content(ig_ts_tensor *stack) {
    return (ig_ts_content){ .poison = &ig_ts_stacked, .stack = stack };
}

ig_ts_content ig_ts_growing_content(void) {
    return (ig_ts_content){ .poison = &ig_ts_grows };
}

ig_ts_list *ig_ts_stacked_list(ig_ts_eval *eval, ig_ts_tensor *stack) {
    ig_ts_list *list = ig_ts_list_create(eval, 0);
    ig_script_types *types = &eval->code->types;
    list->type = ig_script_type_list(types, types->simple[IG_SCRIPT_TENSOR]);
    list->poison = &ig_ts_stacked;
    list->stack = stack;
    return list;
}

ig_dim ig_ts_stacked_length(const ig_ts_list *list) {
    assert(list->stack && "a stacked list has a stack");
    return list->stack->type->dims[0];
}

/* Negative indices count from the end, as gather has it too; others fail in the run. */
ig_status ig_ts_stacked_item(ig_ts_eval *eval, const ig_ts_list *list,
                             const ig_ts_value *index, ig_ts_value *out_item) {
    assert(list->stack && "a stacked list has a stack");
    ig_value *stack, *at;
    if (index->kind != IG_TS_INT) {
        return ig_ts_error(eval, IG_INVALID, "indexes a list by %s",
                           ig_ts_kind_name(index));
    }
    IG_TRY(ig_ts_tensor_read(eval, list->stack, &stack));
    IG_TRY(ig_ts_number_read(eval, index, &at));
    ig_expr e = ig_expr_of(&eval->builder);
    ig_value *value = ig_expr_gather(&e, stack, at, 0, IG_NEGATIVE_wrap);
    IG_TRY(e.status);
    *out_item = ig_ts_of_tensor(ig_ts_view_create(eval, list->stack, value));
    return IG_OK;
}

ig_status ig_ts_stacked_arg(ig_ts_call *call, uint32_t index, ig_value **out_stack) {
    const ig_ts_value *value = &call->args[index];
    bool is_stacked = value->kind == IG_TS_LIST && value->as.list->stack;
    *out_stack = NULL;
    return is_stacked ? ig_ts_tensor_read(call->eval, value->as.list->stack, out_stack)
                      : IG_OK;
}
