/* A program's questions about its environment.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/builtin/builtin.h"
#include "frontend/torch/eval/control.h"

#include <string.h>

ig_status ig_ts_op_raise(ig_ts_call *call) {
    ig_str message = { "", 0 }, class = { "", 0 };
    if (call->args[0].kind == IG_TS_STR) {
        message = call->args[0].as.str;
    }
    if (!ig_ts_is_none(call, 1) && call->args[1].kind == IG_TS_STR) {
        class = call->args[1].as.str;
    }
    const char *dot = class.size ? memrchr(class.data, '.', class.size) : NULL;
    if (dot) {
        class.size -= (size_t)(dot + 1 - class.data);
        class.data = dot + 1;
    }
    return ig_ts_raise(call->eval,
                       ig_arena_printf(call->arena, "%.*s%s%.*s", IG_STR_ARG(class),
                                       class.size ? ": " : "", IG_STR_ARG(message)));
}

/* What argument 1 says that the data break. */
static const char *broken_claim(const ig_ts_call *call) {
    bool has_text = call->arg_count > 1 && call->args[1].kind == IG_TS_STR;
    return has_text
               ? ig_arena_printf(call->arena, "%.*s", IG_STR_ARG(call->args[1].as.str))
               : "a claim of the model about its data does not hold";
}

ig_status ig_ts_op_assert_tensor(ig_ts_call *call) {
    ig_value *claim;
    IG_TRY(ig_ts_tensor_arg(call, 0, &claim));
    claim = ig_expr_cast(call->e, claim, IG_DT_bool);
    claim = ig_expr_reshape(call->e, claim, 0, NULL); /* torch takes one element too */
    ig_ts_guard_truth(call->eval, claim, true, broken_claim(call));
    return call->e->status;
}

ig_status ig_ts_op_assert_number(ig_ts_call *call) {
    const ig_ts_value *claim = &call->args[0];
    ig_value *value;
    if (claim->form != IG_TS_KNOWN) {
        IG_TRY(ig_ts_number_read(call->eval, claim, &value));
        value = ig_expr_cast(call->e, value, IG_DT_bool);
        ig_ts_guard_truth(call->eval, value, true, broken_claim(call));
        return call->e->status;
    }
    bool holds = claim->kind == IG_TS_BOOL ? claim->as.b : claim->as.i != 0;
    return holds ? IG_OK : ig_ts_raise(call->eval, broken_claim(call));
}

ig_status ig_ts_op_nothing(ig_ts_call *call) {
    (void)call;
    return IG_OK;
}

ig_status ig_ts_op_known_false(ig_ts_call *call) {
    return ig_ts_give_bool(call, 0, false);
}
ig_status ig_ts_op_known_true(ig_ts_call *call) {
    return ig_ts_give_bool(call, 0, true);
}

ig_status ig_ts_op_unwrap(ig_ts_call *call) {
    if (call->args[0].kind == IG_TS_NONE) {
        return ig_ts_raise(call->eval, "AssertionError: Unwrapping null optional");
    }
    return ig_ts_give_arg(call, 0, 0);
}

/* "cuda" and 1 of "cuda:1". */
static ig_str device_name(const ig_ts_value *device, int64_t *out_index) {
    ig_str text = device->as.str;
    const char *colon = text.size ? memchr(text.data, ':', text.size) : NULL;
    *out_index = -1;
    if (colon) {
        ig_str number = { colon + 1, (size_t)(text.data + text.size - colon - 1) };
        if (!ig_str_to_i64(number, out_index)) {
            *out_index = -1;
        }
        text.size = (size_t)(colon - text.data);
    }
    return text;
}

ig_status ig_ts_op_device_type(ig_ts_call *call) {
    int64_t index = 0;
    ig_str text = { "", 0 };
    IG_TRY(ig_ts_str(call, 0, &text));
    return ig_ts_give_str(call, 0, device_name(&call->args[0], &index));
}

ig_status ig_ts_op_device_index(ig_ts_call *call) {
    int64_t index = 0;
    ig_str text = { "", 0 };
    IG_TRY(ig_ts_str(call, 0, &text));
    (void)device_name(&call->args[0], &index);
    return index < 0 ? ig_ts_give_value(call, 0, ig_ts_none())
                     : ig_ts_give_int(call, 0, index);
}

/* Every tensor is where the program runs: programs are not told apart by devices. */
static ig_status give_device(ig_ts_call *call, ig_str name) {
    ig_ts_value device = { .kind = IG_TS_DEVICE, .as.str = name };
    return ig_ts_give_value(call, 0, device);
}

ig_status ig_ts_op_tensor_device(ig_ts_call *call) {
    return give_device(call, IG_STR("cpu"));
}

ig_status ig_ts_op_device_of(ig_ts_call *call) {
    ig_str name = { "", 0 };
    IG_TRY(ig_ts_str(call, 0, &name));
    return give_device(call, name);
}
