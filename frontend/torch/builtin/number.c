/* Operators on numbers: known ones are computed, extents are dim expressions, the rest
 * becomes ops on tensors of rank 0.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compose/activation.h"
#include "frontend/torch/builtin/builtin.h"

#include <assert.h>
#include <math.h>

/* ---- known ---- */

/* Python's floor division and remainder. */
static int64_t floor_div(int64_t a, int64_t b) {
    assert(b != 0 && "the caller raises ZeroDivisionError");
    if (b == -1) {
        return (int64_t)(0 - (uint64_t)a);
    }
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static double float_mod(double a, double b) {
    double r = fmod(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static int64_t int_power(int64_t a, int64_t b) {
    uint64_t power = 1, base = (uint64_t)a;
    for (; b > 0; b >>= 1) {
        power = b & 1 ? power * base : power;
        base *= base;
    }
    return (int64_t)power;
}

/* Sums and products wrap around, as torch's do. */
static int64_t compute_ints(int variant, int64_t a, int64_t b) {
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    switch (variant) {
    case IG_TS_ADD:
        return (int64_t)(x + y);
    case IG_TS_SUB:
        return (int64_t)(x - y);
    case IG_TS_MUL:
        return (int64_t)(x * y);
    case IG_TS_FLOORDIV:
        return floor_div(a, b);
    case IG_TS_REMAINDER:
        return (int64_t)(x - (uint64_t)floor_div(a, b) * y);
    case IG_TS_AND:
        return (int64_t)(x & y);
    case IG_TS_OR:
        return (int64_t)(x | y);
    case IG_TS_XOR:
        return (int64_t)(x ^ y);
    case IG_TS_LSHIFT:
        return y < 64 ? (int64_t)(x << y) : 0;
    case IG_TS_RSHIFT:
        return a >> (y < 64 ? y : 63);
    default:
        return int_power(a, b);
    }
}

static double compute_floats(int variant, double a, double b) {
    switch (variant) {
    case IG_TS_ADD:
        return a + b;
    case IG_TS_SUB:
        return a - b;
    case IG_TS_MUL:
        return a * b;
    case IG_TS_DIV:
        return a / b;
    case IG_TS_FLOORDIV:
        return floor(a / b);
    case IG_TS_REMAINDER:
        return float_mod(a, b);
    default:
        return pow(a, b);
    }
}

static ig_status compute_complex(ig_ts_call *call, const ig_ts_value *a,
                                 const ig_ts_value *b, ig_ts_value *out) {
    double ar = a->as.complex.re, ai = a->as.complex.im;
    double br = b->as.complex.re, bi = b->as.complex.im;
    switch (call->row->variant) {
    case IG_TS_ADD:
        *out = ig_ts_of_complex(ar + br, ai + bi);
        return IG_OK;
    case IG_TS_SUB:
        *out = ig_ts_of_complex(ar - br, ai - bi);
        return IG_OK;
    case IG_TS_MUL:
        *out = ig_ts_of_complex(ar * br - ai * bi, ar * bi + ai * br);
        return IG_OK;
    default:
        return ig_ts_fail(call, IG_UNSUPPORTED,
                          "complex numbers are not supported here");
    }
}

static bool is_division(int variant) {
    return variant == IG_TS_DIV || variant == IG_TS_FLOORDIV ||
           variant == IG_TS_REMAINDER;
}

static bool compare_order(int test, double order) {
    assert(ig_ts_is_comparison(test) && "the row's variant is a comparison");
    switch (test) {
    case IG_TS_EQ:
        return order == 0;
    case IG_TS_NE:
        return order != 0;
    case IG_TS_LT:
        return order < 0;
    case IG_TS_LE:
        return order <= 0;
    case IG_TS_GT:
        return order > 0;
    default:
        return order >= 0;
    }
}

static bool compare_floats(int test, double a, double b) {
    if (isnan(a) || isnan(b)) {
        return test == IG_TS_NE;
    }
    return compare_order(test, a < b ? -1 : a > b);
}

bool ig_ts_is_comparison(int variant) {
    return variant >= IG_TS_EQ && variant <= IG_TS_GE;
}

bool ig_ts_compare_order(int test, int order) {
    return compare_order(test, order);
}

static ig_status compute_known(ig_ts_call *call, ig_ts_value a, ig_ts_value b,
                               ig_ts_value *out) {
    int test = call->row->variant;
    ig_ts_eval *eval = call->eval;
    ig_ts_kind kind = (ig_ts_kind)(a.kind > b.kind ? a.kind : b.kind);
    bool is_logic = test == IG_TS_AND || test == IG_TS_OR || test == IG_TS_XOR;
    bool is_bool = kind == IG_TS_BOOL && is_logic;
    kind = kind == IG_TS_BOOL ? IG_TS_INT : kind;
    if (test == IG_TS_DIV && kind == IG_TS_INT) {
        kind = IG_TS_FLOAT;
    }
    if (test == IG_TS_POW && kind == IG_TS_INT && !ig_ts_gives_int(call)) {
        kind = IG_TS_FLOAT;
    }
    IG_TRY(ig_ts_convert(eval, kind, &a, &a));
    IG_TRY(ig_ts_convert(eval, kind, &b, &b));
    if (kind == IG_TS_COMPLEX) {
        bool is_equal = a.as.complex.re == b.as.complex.re &&
                        a.as.complex.im == b.as.complex.im;
        *out = ig_ts_of_bool(is_equal == (test == IG_TS_EQ));
        return ig_ts_is_comparison(test) ? IG_OK : compute_complex(call, &a, &b, out);
    }
    if (ig_ts_is_comparison(test)) {
        *out = ig_ts_of_bool(
            kind == IG_TS_FLOAT
                ? compare_floats(test, a.as.f, b.as.f)
                : compare_order(test, a.as.i < b.as.i ? -1 : a.as.i > b.as.i));
        return IG_OK;
    }
    if (is_division(test) && (kind == IG_TS_FLOAT ? b.as.f == 0 : b.as.i == 0)) {
        return ig_ts_raise(eval, "ZeroDivisionError: division by zero");
    }
    if (kind == IG_TS_FLOAT) {
        *out = ig_ts_of_float(compute_floats(test, a.as.f, b.as.f));
        return IG_OK;
    }
    *out = ig_ts_of_int(compute_ints(test, a.as.i, b.as.i));
    return is_bool ? ig_ts_convert(eval, IG_TS_BOOL, out, out) : IG_OK;
}

/* ---- dims ---- */

static bool truth_value(ig_truth truth, bool yes, ig_ts_value *out) {
    *out = ig_ts_of_bool((truth == IG_YES) == yes);
    return truth != IG_MAYBE;
}

static bool compare_dims(const ig_ts_call *call, ig_dim a, ig_dim b, ig_ts_value *out) {
    ig_module *m = call->module;
    switch (call->row->variant) {
    case IG_TS_EQ:
        return truth_value(ig_dim_equal(m, a, b), true, out);
    case IG_TS_NE:
        return truth_value(ig_dim_equal(m, a, b), false, out);
    case IG_TS_LE:
        return truth_value(ig_dim_less_equal(m, a, b), true, out);
    case IG_TS_GT:
        return truth_value(ig_dim_less_equal(m, a, b), false, out);
    case IG_TS_GE:
        return truth_value(ig_dim_less_equal(m, b, a), true, out);
    case IG_TS_LT:
        return truth_value(ig_dim_less_equal(m, b, a), false, out);
    default:
        return false;
    }
}

/* False when dims cannot say it: the run computes it. */
static bool with_dims(const ig_ts_call *call, const ig_ts_value *x,
                      const ig_ts_value *y, ig_ts_value *out) {
    ig_module *m = call->module;
    ig_dim a = ig_dim_of(0), b = ig_dim_of(0), dim = ig_dim_of(0);
    int64_t divisor = 0;
    if (!ig_ts_as_dim(m, x, &a) || !ig_ts_as_dim(m, y, &b)) {
        return false;
    }
    if (ig_ts_is_comparison(call->row->variant)) {
        return compare_dims(call, a, b, out);
    }
    if (is_division(call->row->variant) &&
        !(ig_dim_constant(m, b, &divisor) && divisor > 0)) {
        return false;
    }
    switch (call->row->variant) {
    case IG_TS_ADD:
        dim = ig_dim_add(m, a, b);
        break;
    case IG_TS_SUB:
        dim = ig_dim_sub(m, a, b);
        break;
    case IG_TS_MUL:
        dim = ig_dim_mul(m, a, b);
        break;
    case IG_TS_FLOORDIV:
        dim = ig_dim_floor_div(m, a, b);
        break;
    case IG_TS_REMAINDER:
        dim = ig_dim_sub(m, a, ig_dim_mul(m, b, ig_dim_floor_div(m, a, b)));
        break;
    case IG_TS_MIN:
        dim = ig_dim_min(m, a, b);
        break;
    case IG_TS_MAX:
        dim = ig_dim_max(m, a, b);
        break;
    default:
        return false;
    }
    *out = ig_ts_of_dim(m, dim);
    return true;
}

/* ---- run time ---- */

static ig_status build_floor_div(ig_expr *e, ig_value *a, ig_value *b, ig_value **out) {
    if (ig_dtype_is_float((ig_dtype)a->type->dtype)) {
        *out = ig_build_div(e, a, b);
        *out = ig_build_floor(e, *out);
        return e->status;
    }
    *out = ig_compose_floor_divide(e, a, b);
    return e->status;
}

static ig_status at_run_time(ig_ts_call *call, ig_ts_value a, ig_ts_value b,
                             ig_ts_value *out) {
    static const ig_opcode codes[] = {
        [IG_TS_ADD] = IG_OP_add,    [IG_TS_SUB] = IG_OP_sub,
        [IG_TS_MUL] = IG_OP_mul,    [IG_TS_DIV] = IG_OP_div,
        [IG_TS_POW] = IG_OP_pow,    [IG_TS_REMAINDER] = IG_OP_mod,
        [IG_TS_EQ] = IG_OP_eq,      [IG_TS_NE] = IG_OP_ne,
        [IG_TS_LT] = IG_OP_lt,      [IG_TS_LE] = IG_OP_le,
        [IG_TS_GT] = IG_OP_gt,      [IG_TS_GE] = IG_OP_ge,
        [IG_TS_AND] = IG_OP_and,    [IG_TS_OR] = IG_OP_or,
        [IG_TS_XOR] = IG_OP_xor,    [IG_TS_LSHIFT] = IG_OP_shl,
        [IG_TS_RSHIFT] = IG_OP_shr, [IG_TS_MIN] = IG_OP_min,
        [IG_TS_MAX] = IG_OP_max,
    };
    int variant = call->row->variant;
    ig_ts_kind kind = (ig_ts_kind)(a.kind > b.kind ? a.kind : b.kind);
    bool is_logic = variant >= IG_TS_AND && variant <= IG_TS_XOR;
    ig_value *x, *y, *value;
    if (kind == IG_TS_COMPLEX) {
        return ig_ts_fail(call, IG_UNSUPPORTED,
                          "complex numbers that are computed at run time");
    }
    if ((kind == IG_TS_BOOL && !is_logic)) {
        kind = IG_TS_INT;
    }
    bool is_power = variant == IG_TS_POW && !ig_ts_gives_int(call);
    if (variant == IG_TS_DIV || is_power) {
        kind = IG_TS_FLOAT;
    }
    IG_TRY(ig_ts_convert(call->eval, kind, &a, &a));
    IG_TRY(ig_ts_convert(call->eval, kind, &b, &b));
    IG_TRY(ig_ts_number_read(call->eval, &a, &x));
    IG_TRY(ig_ts_number_read(call->eval, &b, &y));
    if (variant == IG_TS_FLOORDIV) {
        IG_TRY(build_floor_div(call->e, x, y, &value));
    } else {
        value = ig_expr_map2(call->e, codes[variant], x, y);
        IG_TRY(call->e->status);
    }
    *out = ig_ts_of_run(ig_ts_is_comparison(variant) ? IG_TS_BOOL : kind, value);
    return IG_OK;
}

ig_status ig_ts_number_op(ig_ts_call *call, int variant, const ig_ts_value *a,
                          const ig_ts_value *b, ig_ts_value *out) {
    ig_ts_row row = { .variant = variant };
    ig_ts_call inner = *call;
    inner.row = &row;
    if (!ig_ts_is_number(a) || !ig_ts_is_number(b)) {
        return ig_ts_fail(call, IG_INVALID, "takes two numbers, got %s and %s",
                          ig_ts_kind_name(a), ig_ts_kind_name(b));
    }
    if (ig_ts_is_known(a) && ig_ts_is_known(b)) {
        return compute_known(&inner, *a, *b, out);
    }
    return with_dims(&inner, a, b, out) ? IG_OK : at_run_time(&inner, *a, *b, out);
}

ig_status ig_ts_op_number2(ig_ts_call *call) {
    assert(call->arg_count == 2 && "two numbers");
    ig_ts_value result;
    IG_TRY(ig_ts_number_op(call, call->row->variant, &call->args[0], &call->args[1],
                           &result));
    return ig_ts_give_value(call, 0, result);
}

/* ---- the least and the greatest ---- */

static ig_status choose_extreme(ig_ts_call *call, const ig_ts_value *a,
                                const ig_ts_value *b, ig_ts_value *out) {
    bool wants_max = call->row->variant == IG_TS_MAX;
    ig_ts_value x = *a, y = *b;
    if (!ig_ts_is_known(a) || !ig_ts_is_known(b)) {
        return with_dims(call, a, b, out) ? IG_OK : at_run_time(call, *a, *b, out);
    }
    ig_ts_kind kind = (ig_ts_kind)(a->kind > b->kind ? a->kind : b->kind);
    IG_TRY(ig_ts_convert(call->eval, kind, a, &x));
    IG_TRY(ig_ts_convert(call->eval, kind, b, &y));
    bool is_less = kind == IG_TS_FLOAT  ? x.as.f < y.as.f
                   : kind == IG_TS_BOOL ? x.as.b < y.as.b
                                        : x.as.i < y.as.i;
    *out = is_less == wants_max ? y : x;
    return IG_OK;
}

ig_status ig_ts_op_extreme(ig_ts_call *call) {
    ig_ts_value result = call->args[0];
    if (call->arg_count == 2) {
        IG_TRY(choose_extreme(call, &call->args[0], &call->args[1], &result));
        return ig_ts_give_value(call, 0, result);
    }
    const ig_ts_list *list = NULL;
    IG_TRY(ig_ts_list_arg(call, 0, &list));
    if (list->count == 0) {
        return ig_ts_raise(call->eval,
                           "ValueError: an empty list has no smallest item");
    }
    result = list->items[0];
    for (size_t i = 1; i < list->count; i++) {
        IG_TRY(choose_extreme(call, &result, &list->items[i], &result));
    }
    return ig_ts_give_value(call, 0, result);
}
