/* Products of matrices.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compose/rows/grouped.h"
#include "compose/quantise.h"
#include "frontend/torch/aten/complex.h"
#include "ir/build/extent.h"

#include <assert.h>
#include <string.h>

enum { MAX_ROUNDED = 64 }; /* products that are added one by one */

/* Booleans and integers are multiplied as they are; f16 sums are wide in the op. */
static ig_value *multiply_matrices(ig_expr *e, ig_value *x, ig_value *y) {
    return ig_expr_matmul(e, x, y);
}

/* matmul, mm, bmm, mv, dot, inner of vectors; variant 1: vdot, which takes the
 * conjugate of the first */
ig_status ig_ts_op_matmul(ig_ts_call *call) {
    if (ig_aten_is_complex(call, 0, 2)) {
        return ig_aten_complex_matmul(call, call->row->variant == 1);
    }
    ig_value *x = ig_aten_tensor(call, 0), *y = ig_aten_tensor(call, 1);
    return ig_aten_give(call, multiply_matrices(call->e, x, y));
}

static bool is_byte(const ig_value *x) {
    return x->type->dtype == IG_DT_i8 || x->type->dtype == IG_DT_u8;
}

/* _int_mm(self, mat2): sums of products of bytes in i32, as ONNX's MatMulInteger. */
ig_status ig_ts_op_int_mm(ig_ts_call *call) {
    ig_integers x = { .value = ig_aten_tensor(call, 0) };
    ig_integers y = { .value = ig_aten_tensor(call, 1) };
    IG_TRY(call->e->status);
    if (!is_byte(x.value) || !is_byte(y.value)) {
        return ig_ts_fail(call, IG_INVALID, "it takes tensors of int8 or uint8");
    }
    return ig_aten_give(call, ig_compose_matmul_integer(call->e, x, y));
}

static ig_value *swap_last(ig_expr *e, ig_value *x) {
    return x && x->type->rank >= 2
               ? ig_expr_swap(e, x, x->type->rank - 2, x->type->rank - 1)
               : x;
}

/* linear(input, weight, bias): x W^T + b */
ig_status ig_ts_op_linear(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0), *weight = ig_aten_tensor(call, 1);
    ig_value *bias = ig_aten_optional(call, 2);
    x = multiply_matrices(call->e, x, swap_last(call->e, weight));
    return ig_aten_give(call, bias ? ig_build_add(call->e, x, bias) : x);
}

/* ---- beta * self + alpha * product ---- */

static bool is_number(const ig_ts_value *value, double number) {
    return ig_ts_is_known(value) &&
           ((value->kind == IG_TS_INT && (double)value->as.i == number) ||
            (value->kind == IG_TS_FLOAT && value->as.f == number));
}

static ig_value *scale_by(ig_ts_call *call, ig_value *x, uint32_t factor) {
    assert(factor < call->arg_count && "the schema has beta and alpha");
    if (!x || is_number(&call->args[factor], 1) || x->type->dtype == IG_DT_bool) {
        return x;
    }
    return ig_build_mul(call->e, x,
                        ig_aten_operand(call, factor, (ig_dtype)x->type->dtype));
}

/* Arguments: self, …, beta, alpha at 3 and 4.  beta 0 leaves self out, NaN and all. */
static ig_status add_product(ig_ts_call *call, ig_value *all) {
    assert(call->arg_count > 4 && "beta and alpha are arguments 3 and 4");
    ig_value *self = ig_aten_tensor(call, 0);
    if (!all || !self) {
        return call->e->status;
    }
    ig_dtype dtype = (ig_dtype)all->type->dtype;
    all = scale_by(call, all, 4);
    if (is_number(&call->args[3], 0)) {
        ig_dim dims[IG_TENSOR_RANK];
        uint32_t rank = 0;
        if (!all || !ig_expr_broadcast_dims(call->e, self->type, dims, &rank) ||
            !ig_expr_broadcast_dims(call->e, all->type, dims, &rank)) {
            return call->e->status;
        }
        return ig_aten_give(call, ig_expr_expand(call->e, all, rank, dims));
    }
    self = scale_by(call, ig_aten_cast(call, self, dtype), 3);
    ig_opcode code = dtype == IG_DT_bool ? IG_OP_or : IG_OP_add;
    return ig_aten_give(call, ig_expr_map2(call->e, code, all, self));
}

/* How many products torch adds one by one; 0: not a few, or of wide numbers. */
static int64_t count_rounded(const ig_ts_call *call, const ig_value *x,
                             const ig_value *y) {
    int64_t counts[2] = { 0, 0 };
    bool is_narrow = x && y && x->type->rank == 3 && y->type->rank == 3 &&
                     (x->type->dtype == IG_DT_bf16 || x->type->dtype == IG_DT_f16) &&
                     ig_dim_constant(call->module, x->type->dims[0], &counts[0]) &&
                     ig_dim_constant(call->module, y->type->dims[0], &counts[1]);
    return is_narrow && counts[0] == counts[1] && counts[0] <= MAX_ROUNDED ? counts[0]
                                                                           : 0;
}

/* addbmm of 16-bit floats as torch does it: the sum is rounded after each product. */
static ig_status add_rounded(ig_ts_call *call, ig_value *x, ig_value *y,
                             int64_t count) {
    ig_expr *e = call->e;
    ig_dtype dtype = (ig_dtype)x->type->dtype;
    ig_value *sum = ig_expr_widen(e, ig_aten_tensor(call, 0));
    sum = is_number(&call->args[3], 0) ? NULL : scale_by(call, sum, 3);
    for (int64_t i = 0; i < count; i++) {
        ig_value *a = ig_expr_select(e, x, 0, ig_dim_of(i));
        ig_value *b = ig_expr_select(e, y, 0, ig_dim_of(i));
        ig_value *part = multiply_matrices(e, ig_expr_widen(e, a), ig_expr_widen(e, b));
        part = scale_by(call, part, 4);
        sum = ig_expr_cast(e, sum ? ig_build_add(e, sum, part) : part, dtype);
        sum = ig_expr_widen(e, sum);
    }
    return ig_aten_give(call, ig_expr_cast(e, sum, dtype));
}

/* addmm, addmv, baddbmm; variant 1, addbmm: products summed over the batch */
ig_status ig_ts_op_addmm(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 1), *y = ig_aten_tensor(call, 2);
    int64_t rounded = call->row->variant == 1 ? count_rounded(call, x, y) : 0;
    if (rounded > 0) {
        return add_rounded(call, x, y, rounded);
    }
    ig_value *all = multiply_matrices(call->e, x, y);
    if (call->row->variant == 1) {
        all = ig_expr_reduce_axis(call->e, IG_REDUCE_sum, all, 0, false);
    }
    return add_product(call, all);
}

static ig_value *outer_product(ig_expr *e, ig_value *x, ig_value *y) {
    if (!x || !y) {
        return NULL;
    }
    x = ig_expr_reshape(e, x, 2, (ig_dim[]){ ig_expr_extent(e, x, 0), ig_dim_of(1) });
    y = ig_expr_reshape(e, y, 2, (ig_dim[]){ ig_dim_of(1), ig_expr_extent(e, y, 0) });
    ig_opcode code = x && x->type->dtype == IG_DT_bool ? IG_OP_and : IG_OP_mul;
    return ig_expr_map2(e, code, x, y);
}

ig_status ig_ts_op_addr(ig_ts_call *call) {
    return add_product(
        call, outer_product(call->e, ig_aten_tensor(call, 1), ig_aten_tensor(call, 2)));
}

ig_status ig_ts_op_outer(ig_ts_call *call) {
    ig_dtype dtype = ig_aten_result_type(call, 0, 2);
    return ig_aten_give(call, outer_product(call->e, ig_aten_operand(call, 0, dtype),
                                            ig_aten_operand(call, 1, dtype)));
}

/* The last axes summed: x [a…, k], y [b…, k] -> [a…, b…] */
ig_status ig_ts_op_inner(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0), *y = ig_aten_tensor(call, 1);
    if (!x || !y) {
        return call->e->status;
    }
    if (x->type->rank == 0 || y->type->rank == 0) {
        return ig_aten_give(call, ig_build_mul(call->e, x, y));
    }
    ig_dim dims[2 * IG_TENSOR_RANK];
    uint32_t rank = 0, a = x->type->rank - 1, b = y->type->rank - 1;
    memcpy(dims, x->type->dims, a * sizeof *dims);
    memcpy(dims + a, y->type->dims, b * sizeof *dims);
    rank = a + b;
    if (rank > IG_TENSOR_RANK) {
        return ig_ts_fail(call, IG_LIMIT, "the result has rank %u, expected at most %d",
                          rank, IG_TENSOR_RANK);
    }
    ig_module *module = call->module;
    x = ig_expr_reshape(call->e, x, 2,
                        (ig_dim[]){ ig_dim_product(module, x->type->dims, a),
                                    ig_expr_extent(call->e, x, a) });
    y = ig_expr_reshape(call->e, y, 2,
                        (ig_dim[]){ ig_dim_product(module, y->type->dims, b),
                                    ig_expr_extent(call->e, y, b) });
    return ig_aten_give(
        call,
        ig_expr_reshape(call->e, multiply_matrices(call->e, x, swap_last(call->e, y)),
                        rank, dims));
}

/* _grouped_mm(self, mat2, offs, bias, out_dtype): rows of self [S, k] by the matrix of
 * their group, mat2 [G, k, n], or batches [G, m, k] by batches.  variant 1, of
 * transformers: self, mat2 and offs alone. */
ig_status ig_ts_op_grouped_mm(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0), *weights = ig_aten_tensor(call, 1);
    ig_value *ends = ig_aten_optional(call, 2);
    bool is_short = call->row->variant == 1;
    ig_value *bias = is_short ? NULL : ig_aten_optional(call, 3);
    IG_TRY(call->e->status);
    if (weights->type->rank != 3 || bias || x->type->rank != (ends ? 2 : 3)) {
        return ig_ts_fail(
            call, IG_UNSUPPORTED,
            "groups of columns or of summed terms, or a bias: only groups of rows are multiplied, or batches");
    }
    ig_dtype dtype = (ig_dtype)x->type->dtype;
    dtype = is_short ? dtype : ig_aten_dtype(call, 4, dtype);
    ig_value *y = ends ? ig_compose_grouped_matmul(call->e, x, weights, ends)
                       : multiply_matrices(call->e, x, weights);
    return ig_aten_give(call, ig_aten_cast(call, y, dtype));
}
