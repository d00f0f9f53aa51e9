/* Operators on one number, and between kinds of numbers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/builtin/builtin.h"

#include "ir/semantics/scalar_special.h"

#include <assert.h>
#include <math.h>

bool ig_ts_gives_int(const ig_ts_call *call) {
    assert(call->schema && "a call has a schema");
    return call->schema->result_count == 1 &&
           call->schema->results[0].type->kind == IG_SCRIPT_INT;
}

static ig_ts_value of_real(const ig_ts_call *call, double value) {
    bool has_int = value >= -0x1p63 && value < 0x1p63;
    int64_t whole = has_int ? (int64_t)value : INT64_MIN; /* as the machine has it */
    return ig_ts_gives_int(call) ? ig_ts_of_int(whole) : ig_ts_of_float(value);
}

static ig_ts_value compute_float(const ig_ts_call *call, double x) {
    switch (call->row->variant) {
    case IG_TS_NEG:
        return ig_ts_of_float(-x);
    case IG_TS_ABS:
        return ig_ts_of_float(fabs(x));
    case IG_TS_FLOOR:
        return of_real(call, floor(x));
    case IG_TS_CEIL:
        return of_real(call, ceil(x));
    case IG_TS_ROUND:
        return of_real(call, nearbyint(x));
    case IG_TS_SQRT:
        return ig_ts_of_float(sqrt(x));
    case IG_TS_EXP:
        return ig_ts_of_float(exp(x));
    case IG_TS_LOG:
        return ig_ts_of_float(log(x));
    default:
        return ig_ts_of_bool(x == 0);
    }
}

static bool keeps_ints(int variant) {
    return variant == IG_TS_NEG || variant == IG_TS_ABS || variant == IG_TS_FLOOR ||
           variant == IG_TS_CEIL;
}

static ig_status compute_known(ig_ts_call *call, ig_ts_value x, ig_ts_value *out) {
    int variant = call->row->variant;
    if (variant == IG_TS_NOT) {
        IG_TRY(ig_ts_convert(call->eval, IG_TS_BOOL, &x, &x));
        *out = ig_ts_of_bool(!x.as.b);
        return IG_OK;
    }
    if (x.kind == IG_TS_COMPLEX) {
        double re = x.as.complex.re, im = x.as.complex.im;
        *out = variant == IG_TS_ABS ? ig_ts_of_float(ig_real_hypot(re, im))
                                    : ig_ts_of_complex(-re, -im);
        return variant == IG_TS_ABS || variant == IG_TS_NEG
                   ? IG_OK
                   : ig_ts_fail(call, IG_UNSUPPORTED,
                                "a complex number is not supported here");
    }
    if (x.kind != IG_TS_FLOAT && keeps_ints(variant)) {
        int64_t i = x.kind == IG_TS_BOOL ? x.as.b : x.as.i;
        bool flips = variant == IG_TS_NEG || (variant == IG_TS_ABS && i < 0);
        *out = ig_ts_of_int(flips ? (int64_t)(0 - (uint64_t)i) : i);
        return IG_OK;
    }
    IG_TRY(ig_ts_convert(call->eval, IG_TS_FLOAT, &x, &x));
    *out = compute_float(call, x.as.f);
    return IG_OK;
}

static ig_status at_run_time(ig_ts_call *call, ig_ts_value x, ig_ts_value *out) {
    static const ig_opcode codes[] = {
        [IG_TS_NEG] = IG_OP_neg,     [IG_TS_ABS] = IG_OP_abs,
        [IG_TS_FLOOR] = IG_OP_floor, [IG_TS_CEIL] = IG_OP_ceil,
        [IG_TS_ROUND] = IG_OP_round, [IG_TS_SQRT] = IG_OP_sqrt,
        [IG_TS_EXP] = IG_OP_exp,     [IG_TS_LOG] = IG_OP_log,
        [IG_TS_NOT] = IG_OP_not,
    };
    int variant = call->row->variant;
    ig_value *value;
    ig_dim dim = ig_dim_of(0);
    bool rounds = variant == IG_TS_FLOOR || variant == IG_TS_CEIL ||
                  variant == IG_TS_ROUND;
    if (variant == IG_TS_NEG && ig_ts_as_dim(call->module, &x, &dim)) {
        *out = ig_ts_of_dim(call->module, ig_dim_sub(call->module, ig_dim_of(0), dim));
        return IG_OK;
    }
    if (x.kind == IG_TS_INT && rounds) {
        *out = x;
        return IG_OK;
    }
    ig_ts_kind kind = variant == IG_TS_NOT                           ? IG_TS_BOOL
                      : keeps_ints(variant) && x.kind != IG_TS_FLOAT ? IG_TS_INT
                                                                     : IG_TS_FLOAT;
    IG_TRY(ig_ts_convert(call->eval, kind, &x, &x));
    IG_TRY(ig_ts_number_read(call->eval, &x, &value));
    value = ig_expr_map1(call->e, codes[variant], value);
    IG_TRY(call->e->status);
    *out = ig_ts_of_run(kind, value);
    return ig_ts_gives_int(call) ? ig_ts_convert(call->eval, IG_TS_INT, out, out)
                                 : IG_OK;
}

ig_status ig_ts_op_number1(ig_ts_call *call) {
    ig_ts_value result;
    if (!ig_ts_is_number(&call->args[0])) {
        return ig_ts_fail(call, IG_INVALID, "takes a number, got %s",
                          ig_ts_kind_name(&call->args[0]));
    }
    if (call->arg_count > 1) {
        double x = 0, base = 0;
        IG_TRY(ig_ts_float(call, 0, &x));
        IG_TRY(ig_ts_float(call, 1, &base));
        return ig_ts_give_float(call, 0, log(x) / log(base));
    }
    if (ig_ts_is_known(&call->args[0])) {
        IG_TRY(compute_known(call, call->args[0], &result));
    } else {
        IG_TRY(at_run_time(call, call->args[0], &result));
    }
    return ig_ts_give_value(call, 0, result);
}

ig_status ig_ts_op_to_number(ig_ts_call *call) {
    const ig_ts_value *x = &call->args[0];
    ig_ts_kind kind = call->row->variant == IG_TS_TO_INT     ? IG_TS_INT
                      : call->row->variant == IG_TS_TO_FLOAT ? IG_TS_FLOAT
                                                             : IG_TS_BOOL;
    ig_ts_value result;
    if (x->kind == IG_TS_STR) {
        int64_t i;
        double f;
        if (kind == IG_TS_INT && ig_str_to_i64(x->as.str, &i)) {
            return ig_ts_give_int(call, 0, i);
        }
        if (kind == IG_TS_FLOAT && ig_str_to_f64(x->as.str, &f)) {
            return ig_ts_give_float(call, 0, f);
        }
        return ig_ts_raise(call->eval, "ValueError: a string is not a number");
    }
    IG_TRY(ig_ts_convert(call->eval, kind, x, &result));
    return ig_ts_give_value(call, 0, result);
}

ig_status ig_ts_op_make_complex(ig_ts_call *call) {
    ig_ts_value parts[2] = { ig_ts_of_float(0), ig_ts_of_float(0) };
    for (uint32_t i = 0; i < 2 && i < call->arg_count; i++) {
        if (call->args[i].kind == IG_TS_COMPLEX) {
            return ig_ts_give_arg(call, 0, i);
        }
        IG_TRY(ig_ts_float(call, i, &parts[i].as.f));
    }
    return ig_ts_give_value(call, 0, ig_ts_of_complex(parts[0].as.f, parts[1].as.f));
}

/* ---- ranges ---- */

ig_status ig_ts_op_derive_index(ig_ts_call *call) {
    ig_ts_value *a = call->args, step;
    IG_TRY(ig_ts_number_op(call, IG_TS_MUL, &a[0], &a[2], &step));
    IG_TRY(ig_ts_number_op(call, IG_TS_ADD, &a[1], &step, &step));
    return ig_ts_give_value(call, 0, step);
}

/* How many numbers range(lo, hi, step) has. */
ig_status ig_ts_op_range_length(ig_ts_call *call) {
    ig_dim lo = ig_dim_of(0), hi = ig_dim_of(0);
    int64_t step = 0, n = 0;
    ig_module *m = call->module;
    IG_TRY(ig_ts_int(call, 2, &step));
    if (step == 0) {
        return ig_ts_raise(call->eval, "ValueError: range() arg 3 must not be zero");
    }
    IG_TRY(ig_ts_dim(call, 0, &lo));
    IG_TRY(ig_ts_dim(call, 1, &hi));
    ig_dim span = step > 0 ? ig_dim_sub(m, hi, lo) : ig_dim_sub(m, lo, hi);
    ig_dim by = ig_dim_const(m, step > 0 ? step : (int64_t)(0 - (uint64_t)step));
    span = ig_dim_max(m, span, ig_dim_of(0));
    if (ig_dim_constant(m, span, &n)) {
        int64_t width = step > 0 ? step : (int64_t)(0 - (uint64_t)step);
        return ig_ts_give_int(call, 0, n / width + (n % width != 0));
    }
    return ig_ts_give_dim(call, 0, ig_dim_ceil_div(m, span, by));
}

ig_status ig_ts_op_divmod(ig_ts_call *call) {
    ig_ts_value *a = call->args, quotient, rest;
    IG_TRY(ig_ts_number_op(call, IG_TS_FLOORDIV, &a[0], &a[1], &quotient));
    IG_TRY(ig_ts_number_op(call, IG_TS_REMAINDER, &a[0], &a[1], &rest));
    IG_TRY(ig_ts_give_value(call, 0, quotient));
    return ig_ts_give_value(call, 1, rest);
}
