/* Complex numbers, computed by their parts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/aten/complex.h"

#include "frontend/torch/aten/view.h"
#include "frontend/torch/eval/eval.h"
#include "ir/build/extent.h"

#include <assert.h>

typedef ig_complex parts;

static bool is_complex(const ig_ts_call *call, uint32_t index) {
    assert(index < call->arg_count && "the schema has no such argument");
    const ig_ts_tensor *tensor = ig_ts_peek(call, index);
    return tensor ? tensor->dtype->is_complex : call->args[index].kind == IG_TS_COMPLEX;
}

bool ig_aten_is_complex(ig_ts_call *call, uint32_t first, uint32_t count) {
    for (uint32_t i = first; i < first + count && i < call->arg_count; i++) {
        if (is_complex(call, i)) {
            return true;
        }
    }
    return false;
}

static parts split_parts(ig_expr *e, ig_value *x) {
    assert(x->type->rank > 0 && "the parts are the last axis");
    uint32_t last = x->type->rank - 1;
    return (parts){ ig_expr_select(e, x, last, ig_dim_of(0)),
                    ig_expr_select(e, x, last, ig_dim_of(1)) };
}

ig_complex ig_aten_complex_item(ig_ts_call *call, const ig_ts_tensor *tensor) {
    ig_value *x = NULL;
    assert(tensor->dtype->is_complex && "only such tensors have parts");
    if (!ig_expr_note(call->e, ig_ts_tensor_read(call->eval, tensor, &x))) {
        return (parts){ NULL, NULL };
    }
    return split_parts(call->e, x);
}

ig_complex ig_aten_complex_parts(ig_ts_call *call, uint32_t index, ig_dtype part) {
    assert(index < call->arg_count && "the schema has no such argument");
    const ig_ts_value *arg = &call->args[index];
    if (arg->kind == IG_TS_COMPLEX && ig_ts_is_known(arg)) {
        return (parts){ ig_expr_number(call->e, part, arg->as.complex.re),
                        ig_expr_number(call->e, part, arg->as.complex.im) };
    }
    if (!is_complex(call, index)) {
        return (parts){ ig_aten_operand(call, index, part),
                        ig_expr_number(call->e, part, 0) };
    }
    parts x = ig_aten_complex_item(call, ig_ts_peek(call, index));
    return (parts){ ig_aten_cast(call, x.re, part), ig_aten_cast(call, x.im, part) };
}

/* Parts of one shape side by side. */
static ig_value *join_parts(ig_expr *e, parts p) {
    ig_dim dims[IG_TENSOR_RANK];
    uint32_t rank = 0;
    if (!p.re || !p.im || !ig_expr_broadcast_dims(e, p.re->type, dims, &rank) ||
        !ig_expr_broadcast_dims(e, p.im->type, dims, &rank)) {
        return NULL;
    }
    ig_value *sides[] = {
        ig_expr_unsqueeze(e, ig_expr_expand(e, p.re, rank, dims), rank),
        ig_expr_unsqueeze(e, ig_expr_expand(e, p.im, rank, dims), rank),
    };
    return ig_expr_concat(e, rank, sides, 2);
}

ig_status ig_aten_give_complex(ig_ts_call *call, ig_complex p) {
    ig_value *value = join_parts(call->e, p);
    return value ? ig_ts_give_complex(call, 0, value,
                                      ig_ts_complex_of((ig_dtype)value->type->dtype))
                 : call->e->status;
}

static ig_dtype part_dtype(ig_ts_call *call, uint32_t count) {
    assert(count > 0 && count <= 3 && "at most three operands are complex");
    static const uint32_t indices[] = { 0, 1, 2 };
    const ig_torch_dtype_info *dtype = NULL;
    if (call->e->status == IG_OK) {
        call->e->status = ig_ts_result_torch_type(call, indices, count, &dtype);
    }
    return dtype ? dtype->ir : IG_DT_f32;
}

static ig_value *multiply_reals(ig_expr *e, ig_value *x, ig_value *y) {
    return ig_build_mul(e, x, y);
}

static parts multiply_parts(ig_expr *e, parts x, parts y) {
    return (parts){
        ig_build_sub(e, multiply_reals(e, x.re, y.re), multiply_reals(e, x.im, y.im)),
        ig_build_add(e, multiply_reals(e, x.re, y.im), multiply_reals(e, x.im, y.re)),
    };
}

/* By the smaller of y's parts over the larger, as torch has it: |y|^2 may be too large
 * or too small for a float. */
static parts divide_parts(ig_expr *e, parts x, parts y) {
    ig_value *c = ig_build_abs(e, y.re), *d = ig_build_abs(e, y.im);
    ig_value *is_re = ig_build_ge(e, c, d);
    ig_value *large = ig_build_where(e, is_re, y.re, y.im),
             *small = ig_build_where(e, is_re, y.im, y.re);
    ig_value *is_zero = ig_expr_with(e, IG_OP_eq, large, 0);
    large = ig_build_where(e, is_zero, ig_build_abs(e, large), large);
    ig_value *ratio = ig_build_where(e, is_zero, small, ig_build_div(e, small, large));
    ig_value *scale =
        ig_build_recip(e, ig_build_add(e, large, multiply_reals(e, small, ratio)));
    ig_value *p = ig_build_where(e, is_re, x.re, x.im),
             *q = ig_build_where(e, is_re, x.im, x.re);
    ig_value *re = ig_build_add(e, p, multiply_reals(e, q, ratio)),
             *im = ig_build_sub(e, q, multiply_reals(e, p, ratio));
    im = ig_build_where(e, is_re, im, ig_build_neg(e, im));
    return (parts){ multiply_reals(e, re, scale), multiply_reals(e, im, scale) };
}

ig_status ig_aten_complex_binary(ig_ts_call *call, ig_opcode code) {
    ig_dtype part = part_dtype(call, 2);
    parts x = ig_aten_complex_parts(call, 0, part),
          y = ig_aten_complex_parts(call, 1, part);
    if (code == IG_OP_mul) {
        return ig_aten_give_complex(call, multiply_parts(call->e, x, y));
    }
    if (code == IG_OP_div) {
        return ig_aten_give_complex(call, divide_parts(call->e, x, y));
    }
    return ig_ts_fail(call, IG_UNSUPPORTED, "%s of complex numbers", ig_ops[code].name);
}

ig_status ig_aten_complex_add(ig_ts_call *call, ig_opcode code, bool is_swapped) {
    ig_dtype part = part_dtype(call, 2);
    parts x = ig_aten_complex_parts(call, is_swapped ? 1 : 0, part);
    parts y = ig_aten_complex_parts(call, is_swapped ? 0 : 1, part);
    parts alpha = ig_aten_complex_parts(call, 2, part);
    y = multiply_parts(call->e, alpha, y);
    return ig_aten_give_complex(call,
                                (parts){ ig_expr_map2(call->e, code, x.re, y.re),
                                         ig_expr_map2(call->e, code, x.im, y.im) });
}

ig_status ig_aten_complex_compare(ig_ts_call *call, ig_opcode code) {
    if (code != IG_OP_eq && code != IG_OP_ne) {
        return ig_ts_fail(call, IG_INVALID, "complex numbers have no order");
    }
    ig_dtype part = part_dtype(call, 2);
    parts x = ig_aten_complex_parts(call, 0, part),
          y = ig_aten_complex_parts(call, 1, part);
    ig_value *re = ig_expr_map2(call->e, code, x.re, y.re);
    ig_value *im = ig_expr_map2(call->e, code, x.im, y.im);
    return ig_aten_give(
        call, ig_expr_map2(call->e, code == IG_OP_eq ? IG_OP_and : IG_OP_or, re, im));
}

/* ---- one operand ---- */

static parts raise_e(ig_expr *e, parts x) {
    ig_value *size = ig_build_exp(e, x.re);
    return (parts){ multiply_reals(e, size, ig_build_cos(e, x.im)),
                    multiply_reals(e, size, ig_build_sin(e, x.im)) };
}

static ig_value *size_of(ig_expr *e, parts x) {
    return ig_build_hypot(e, x.re, x.im);
}

static ig_value *angle_of(ig_expr *e, parts x) {
    return ig_build_atan2(e, x.im, x.re);
}

ig_status ig_aten_complex_unary(ig_ts_call *call, ig_opcode code) {
    ig_dtype part = part_dtype(call, 1);
    parts x = ig_aten_complex_parts(call, 0, part);
    IG_TRY(call->e->status);
    if (code == IG_OP_abs) {
        return ig_aten_give(call, size_of(call->e, x));
    }
    if (code == IG_OP_neg) {
        return ig_aten_give_complex(call, (parts){ ig_expr_map1(call->e, code, x.re),
                                                   ig_expr_map1(call->e, code, x.im) });
    }
    if (code == IG_OP_exp) {
        return ig_aten_give_complex(call, raise_e(call->e, x));
    }
    if (code == IG_OP_log) {
        return ig_aten_give_complex(
            call, (parts){ ig_expr_map1(call->e, code, size_of(call->e, x)),
                           angle_of(call->e, x) });
    }
    if (code == IG_OP_recip) {
        parts one = { ig_expr_number(call->e, part, 1),
                      ig_expr_number(call->e, part, 0) };
        return ig_aten_give_complex(call, divide_parts(call->e, one, x));
    }
    return ig_ts_fail(call, IG_UNSUPPORTED, "%s of complex numbers", ig_ops[code].name);
}

/* Of all elements, or over the axes of argument 1 (variant 1). */
ig_status ig_aten_complex_sum(ig_ts_call *call, bool is_mean) {
    ig_reduce kind = is_mean ? IG_REDUCE_mean : IG_REDUCE_sum;
    const ig_torch_dtype_info *dtype = NULL; /* that of self where none is given */
    if (call->e->status == IG_OK) {
        call->e->status = ig_ts_torch_dtype(call, call->row->variant == 1 ? 3 : 1,
                                            ig_ts_peek(call, 0)->dtype, &dtype);
    }
    IG_TRY(call->e->status);
    if (!dtype->is_complex) {
        return ig_ts_fail(call, IG_UNSUPPORTED, "complex numbers as %s", dtype->name);
    }
    parts x = ig_aten_complex_parts(call, 0, dtype->ir);
    const int64_t *axes = NULL;
    uint32_t count = 0;
    bool keep = false;
    IG_TRY(call->e->status);
    if (call->row->variant == 1) {
        axes = ig_aten_axes(call, 1, x.re->type->rank, true, &count);
        keep = ig_aten_bool(call, 2);
    }
    return ig_aten_give_complex(
        call, (parts){ ig_expr_reduce(call->e, kind, x.re, axes, count, keep),
                       ig_expr_reduce(call->e, kind, x.im, axes, count, keep) });
}

ig_status ig_aten_complex_matmul(ig_ts_call *call, bool has_conjugate) {
    ig_dtype part = part_dtype(call, 2);
    parts x = ig_aten_complex_parts(call, 0, part),
          y = ig_aten_complex_parts(call, 1, part);
    x.im = has_conjugate ? ig_build_neg(call->e, x.im) : x.im;
    return ig_aten_give_complex(
        call, (parts){ ig_build_sub(call->e, ig_expr_matmul(call->e, x.re, y.re),
                                    ig_expr_matmul(call->e, x.im, y.im)),
                       ig_build_add(call->e, ig_expr_matmul(call->e, x.re, y.im),
                                    ig_expr_matmul(call->e, x.im, y.re)) });
}

/* ---- parts as tensors ---- */

/* real, imag; variant: which */
ig_status ig_ts_op_complex_part(ig_ts_call *call) {
    if (!is_complex(call, 0)) {
        return call->row->variant ? ig_ts_fail(call, IG_INVALID, "imag of real numbers")
                                  : ig_ts_give_arg(call, 0, 0);
    }
    parts x = ig_aten_complex_parts(call, 0, part_dtype(call, 1));
    IG_TRY(ig_ts_give_view(call, 0, 0, call->row->variant ? x.im : x.re));
    call->results[0].as.tensor->dtype = ig_ts_real_of((ig_dtype)x.re->type->dtype);
    return IG_OK;
}

/* isreal(self): all that is not complex, and values without imaginary part */
ig_status ig_ts_op_isreal(ig_ts_call *call) {
    if (is_complex(call, 0)) {
        parts x = ig_aten_complex_parts(call, 0, part_dtype(call, 1));
        return ig_aten_give(call, ig_expr_with(call->e, IG_OP_eq, x.im, 0));
    }
    ig_value *x = ig_aten_tensor(call, 0);
    IG_TRY(call->e->status);
    ig_value *yes = ig_expr_integer(call->e, IG_DT_bool, 1);
    return ig_aten_give(call,
                        ig_expr_expand(call->e, yes, x->type->rank, x->type->dims));
}

/* The same memory: complex numbers are stored as their two parts. */
static ig_status give_twin(ig_ts_call *call, const ig_torch_dtype_info *dtype) {
    ig_ts_tensor *twin = IG_NEW(call->arena, ig_ts_tensor);
    *twin = *ig_ts_peek(call, 0);
    twin->dtype = dtype;
    return ig_ts_give_value(call, 0, ig_ts_of_tensor(twin));
}

ig_status ig_ts_op_view_as_real(ig_ts_call *call) {
    ig_aten_view v;
    if (!ig_aten_viewed(call, &v)) {
        return call->e->status;
    }
    return v.is_complex ? give_twin(call, ig_ts_real_of((ig_dtype)v.x->type->dtype))
                        : ig_ts_fail(call, IG_INVALID, "the numbers are real");
}

ig_status ig_ts_op_view_as_complex(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    IG_TRY(call->e->status);
    uint32_t rank = x->type->rank;
    ig_dim two = ig_dim_of(2),
           last = rank > 0 ? ig_expr_extent(call->e, x, rank - 1) : ig_dim_of(0);
    bool may_be_two = !ig_dim_is_static(last) || ig_dim_is(last, 2);
    if (!may_be_two || !ig_expr_is_float(x)) {
        return ig_ts_fail(call, IG_INVALID,
                          "it takes floats whose last extent is 2: the real and the "
                          "imaginary part");
    }
    ig_expr_guard_equal(call->e, last, two, "the real and the imaginary part");
    return give_twin(call, ig_ts_complex_of((ig_dtype)x->type->dtype));
}

/* complex(real, imag) */
ig_status ig_ts_op_complex_of(ig_ts_call *call) {
    parts p = { ig_aten_tensor(call, 0), ig_aten_tensor(call, 1) };
    IG_TRY(call->e->status);
    uint32_t dtype = p.re->type->dtype;
    bool has_complex = dtype == IG_DT_f16 || dtype == IG_DT_f32 || dtype == IG_DT_f64;
    if (!has_complex || p.im->type->dtype != dtype) {
        return ig_ts_fail(call, IG_INVALID,
                          "it takes two tensors of f16, f32 or f64, not of %s and %s",
                          ig_dtypes[dtype].name, ig_dtypes[p.im->type->dtype].name);
    }
    return ig_aten_give_complex(call, p);
}

/* polar(abs, angle) */
ig_status ig_ts_op_polar(ig_ts_call *call) {
    ig_value *size = ig_aten_tensor(call, 0), *angle = ig_aten_tensor(call, 1);
    return ig_aten_give_complex(
        call, (parts){ multiply_reals(call->e, size, ig_build_cos(call->e, angle)),
                       multiply_reals(call->e, size, ig_build_sin(call->e, angle)) });
}

ig_status ig_ts_op_conj(ig_ts_call *call) {
    if (!is_complex(call, 0)) {
        return ig_ts_give_arg(call, 0, 0);
    }
    parts x = ig_aten_complex_parts(call, 0, part_dtype(call, 1));
    x.im = ig_build_neg(call->e, x.im);
    return ig_aten_give_complex(call, x);
}

ig_status ig_aten_complex_adjoint(ig_ts_call *call) {
    parts x = ig_aten_complex_parts(call, 0, part_dtype(call, 1));
    IG_TRY(call->e->status);
    uint32_t rank = x.re->type->rank;
    if (rank < 2) {
        return ig_ts_fail(call, IG_INVALID, "self has rank %u, expected 2 or more",
                          rank);
    }
    x.re = ig_expr_swap(call->e, x.re, rank - 2, rank - 1);
    x.im = ig_build_neg(call->e, ig_expr_swap(call->e, x.im, rank - 2, rank - 1));
    return ig_aten_give_complex(call, x);
}

/* Of real numbers: 0 or pi; NaN stays. */
ig_status ig_ts_op_angle(ig_ts_call *call) {
    ig_expr *e = call->e;
    if (is_complex(call, 0)) {
        return ig_aten_give(
            call, angle_of(e, ig_aten_complex_parts(call, 0, part_dtype(call, 1))));
    }
    ig_value *x = ig_expr_to_float(e, ig_aten_tensor(call, 0));
    IG_TRY(e->status);
    ig_dtype dtype = (ig_dtype)x->type->dtype;
    ig_value *angle = ig_build_where(e, ig_expr_with(e, IG_OP_lt, x, 0),
                                     ig_expr_number(e, dtype, 3.14159265358979323846),
                                     ig_expr_number(e, dtype, 0));
    return ig_aten_give(call, ig_build_where(e, ig_build_isnan(e, x), x, angle));
}
