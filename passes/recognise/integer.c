/* recognise_integer: products of dequantised bytes become products of the bytes.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %0 = dequantize %a, 0.5, 128              a: u8 or i8, one scale, one zero point
 *     %1 = dequantize @w, @s {axis = 1}         w: 8 bits, one or one for each column
 *     %2 = matmul %0, %1
 *   becomes
 *     %1 = matmul_integer %a, @w, 128
 *     %2 = dequantize %1, (mul 0.5, @s) {axis = 1}
 *
 * with transposes of the second factor anywhere, or, where both factors are computed,
 * with one scale and one zero point each.  The sum is that of the real numbers: instead
 * of a rounding at each step it is rounded when the sum becomes f32, and when it is
 * scaled.  Only sums that 32 bits hold whatever the bytes are, and scales that are
 * constants, finite and not zero, nor their products; everything else stays.  GPUs have
 * no kernels for them yet.  Convolutions likewise: integer_conv.c; ops that move bytes:
 * integer_copy.c.
 */
#include "passes/recognise/integer.h"

#include "ir/dim/handle.h"
#include "ir/build/expr.h"
#include "ir/interpret/interpret.h"
#include "passes/engine/rewrite.h"
#include "passes/engine/known.h"

#include <float.h>
#include <math.h>

enum {
    DEPTH_MAX = 1 << 25,
    PRODUCT_MAX = 255 * 255,
    SWAPS_MAX = 4,
    NUMBER = 2 /* no axis of a matrix */
};

static const int64_t swap_perm[] = { 1, 0 };

static bool is_swap(const ig_op *op) {
    const ig_attr *perm = &op->attrs[IG_transpose_perm];
    return op->code == IG_OP_transpose && perm->count == 2 && perm->as.ints[0] == 1;
}

static bool is_byte(const ig_value *x) {
    return x->type->kind == IG_TENSOR &&
           (x->type->dtype == IG_DT_i8 || x->type->dtype == IG_DT_u8);
}

bool ig_match_is_number(const ig_op *op, const ig_value *x) {
    return ig_dim_is(ig_type_count(ig_op_module(op), x->type), 1);
}

const ig_op *ig_match_bytes(const ig_value *value) {
    const ig_op *op = ig_def(value, IG_OP_dequantize);
    if (!op || !is_byte(ig_op_operand(op, 0)) || value->type->dtype != IG_DT_f32 ||
        ig_op_operand(op, 1)->type->dtype != IG_DT_f32 ||
        ig_attr_is_set(op, IG_dequantize_block)) {
        return NULL;
    }
    bool has_zero = op->operand_count > 2;
    return !has_zero || ig_op_operand(op, 2)->type->dtype ==
                            ig_op_operand(op, 0)->type->dtype
               ? op
               : NULL;
}

/* ---- the second factor ---- */

typedef struct weight {
    const ig_op *dequantize;
    ig_value *bytes, *scale, *zero; /* zero: NULL where absent */
    bool is_outer_turned;           /* between the dequantize and the product */
} weight;

/* The axis of the matrix that a parameter varies along, or NUMBER; false for both. */
static bool find_axis(const ig_op *op, const ig_value *param, uint32_t *out_axis) {
    uint32_t rank = param->type->rank;
    *out_axis = NUMBER;
    if (ig_match_is_number(op, param)) {
        return true;
    }
    if (rank == 1 && ig_attr_is_set(op, IG_dequantize_axis)) {
        int64_t axis = ig_attr_int(op, IG_dequantize_axis, 0);
        *out_axis = (uint32_t)(axis < 0 ? axis + 2 : axis);
        return true;
    }
    for (uint32_t d = 0; rank <= 2 && d < rank; d++) {
        if (!ig_dim_is(param->type->dims[d], 1)) {
            if (*out_axis != NUMBER) {
                return false;
            }
            *out_axis = 2 - rank + d;
        }
    }
    return *out_axis != NUMBER;
}

/* Is it one number, or one for each index of `columns`? */
static bool is_by_column(const ig_op *op, const ig_value *param, uint32_t columns) {
    uint32_t axis = NUMBER;
    return find_axis(op, param, &axis) && (axis == NUMBER || axis == columns);
}

static bool read_weight(const ig_op *op, weight *out) {
    const ig_value *value = ig_op_operand(op, 1);
    bool is_turned = ig_attr_int(op, IG_matmul_transpose_b, 0) != 0;
    *out = (weight){ .is_outer_turned = is_turned };
    for (uint32_t i = 0; i < SWAPS_MAX && value->def && is_swap(value->def); i++) {
        out->is_outer_turned = !out->is_outer_turned;
        value = ig_op_operand(value->def, 0);
    }
    const ig_op *dequantize = value->type->rank == 2 ? ig_match_bytes(value) : NULL;
    if (!dequantize) {
        return false;
    }
    uint32_t columns = out->is_outer_turned ? 0 : 1;
    out->dequantize = dequantize;
    out->bytes = ig_op_operand(dequantize, 0);
    out->scale = ig_op_operand(dequantize, 1);
    out->zero = dequantize->operand_count > 2 ? ig_op_operand(dequantize, 2) : NULL;
    const ig_op *source = out->bytes->def;
    while (source && is_swap(source)) {
        source = ig_op_operand(source, 0)->def;
    }
    return source && source->code == IG_OP_weight &&
           is_by_column(dequantize, out->scale, columns) &&
           (!out->zero || (ig_constant_of(out->zero) &&
                           is_by_column(dequantize, out->zero, columns)));
}

/* ---- scales and sums ---- */

static bool is_normal(float x) {
    return fabsf(x) >= FLT_MIN && fabsf(x) <= FLT_MAX;
}

bool ig_match_normal_products(const ig_value *x, const ig_value *w) {
    ig_arena arena;
    ig_tensor one, many;
    ig_arena_init(&arena, NULL);
    bool is_good = ig_read_constant(x, &arena, &one) && one.count > 0 &&
                   ig_read_constant(w, &arena, &many) && many.count > 0;
    for (int64_t i = 0; is_good && i < many.count; i++) {
        float a = (float)ig_tensor_get_f64(&one, 0);
        float b = (float)ig_tensor_get_f64(&many, i);
        is_good = is_normal(a) && is_normal(b) && is_normal(a * b);
    }
    ig_arena_fini(&arena);
    return is_good;
}

bool ig_match_fits_sum(const ig_op *op, ig_dim depth) {
    int64_t min = 0, max = 0;
    ig_dim_range(ig_op_module(op), depth, &min, &max);
    return max <= INT32_MAX / PRODUCT_MAX;
}

/* ---- the rule ---- */

ig_value *ig_match_flatten(ig_expr *e, const ig_op *op, ig_value *x) {
    if (!x) {
        return NULL;
    }
    return ig_match_is_number(op, x) ? ig_expr_reshape(e, x, 0, NULL)
                                     : ig_expr_flatten(e, x);
}

/* Dequantised bytes of one scale and one zero point at most. */
static const ig_op *match_numbers(const ig_value *x) {
    const ig_op *op = x->type->rank >= 2 ? ig_match_bytes(x) : NULL;
    bool is_one = op && ig_match_is_number(op, ig_op_operand(op, 1));
    bool has_zero = op && op->operand_count > 2;
    return is_one && (!has_zero || ig_match_is_number(op, ig_op_operand(op, 2))) ? op
                                                                                 : NULL;
}

static ig_value *zero_of(ig_expr *e, const ig_op *op) {
    ig_dtype dtype = (ig_dtype)ig_op_operand(op, 0)->type->dtype;
    return op->operand_count > 2 ? ig_match_flatten(e, op, ig_op_operand(op, 2))
                                 : ig_expr_integer(e, dtype, 0);
}

/* Times a number; sums of 64 bits are rounded to f32 first, as dequantize rounds. */
static ig_value *scale_sums(ig_expr *e, ig_value *sum, ig_value *scale) {
    return sum->type->dtype == IG_DT_i32
               ? ig_build_dequantize(e, sum, scale, NULL, (ig_dequantize_attrs){ 0 })
               : ig_build_mul(e, ig_expr_cast(e, sum, IG_DT_f32), scale);
}

/* How deep the product is: sums of 64 bits where 32 may not hold them. */
static ig_matmul_integer_attrs choose_sums(ig_expr *e, const ig_op *op, ig_dim depth) {
    ig_matmul_integer_attrs attrs = { 0 };
    if (!ig_match_fits_sum(op, depth)) {
        attrs.wide = true;
        ig_expr_guard_less_equal(e, depth, ig_dim_of(DEPTH_MAX),
                                 "a product of bytes has at most 2^25 terms");
    }
    return attrs;
}

/* Does the kernel that sums in 64 bits take these factors?  Weights are packed for
 * f32, and rows that are not along the depth are multiplied in f64. */
static bool takes_wide_sums(const ig_op *x, const ig_op *y) {
    const ig_op *turn = ig_def(ig_op_operand(x, 0), IG_OP_transpose);
    uint32_t last = ig_op_operand(x, 0)->type->rank - 1u;
    bool is_turned = turn && turn->attrs[IG_transpose_perm].as.ints[last] != last;
    return !is_turned && !ig_constant_of(ig_op_operand(y, 0));
}

/* Both factors are computed. */
static ig_value *match_computed(ig_builder *b, ig_op *op) {
    const ig_op *x = match_numbers(ig_op_operand(op, 0));
    const ig_op *y = match_numbers(ig_op_operand(op, 1));
    const ig_type *type = ig_op_operand(op, 0)->type;
    if (!x || !y || ig_attr_int(op, IG_matmul_transpose_a, 0) ||
        !ig_match_normal_products(ig_op_operand(x, 1), ig_op_operand(y, 1)) ||
        (!takes_wide_sums(x, y) &&
         !ig_match_fits_sum(op, type->dims[type->rank - 1]))) {
        return NULL;
    }
    ig_expr e = ig_expr_of(b);
    ig_value *bytes = ig_op_operand(y, 0);
    if (ig_attr_int(op, IG_matmul_transpose_b, 0)) {
        bytes = ig_expr_swap(&e, bytes, bytes->type->rank - 2, bytes->type->rank - 1);
    }
    ig_value *zero_x = zero_of(&e, x), *zero_y = zero_of(&e, y);
    ig_matmul_integer_attrs attrs = choose_sums(&e, op, type->dims[type->rank - 1]);
    ig_value *sum = ig_build_matmul_integer(&e, ig_op_operand(x, 0), bytes, zero_x,
                                            zero_y, attrs);
    ig_value *scale_x = ig_match_flatten(&e, op, ig_op_operand(x, 1));
    ig_value *scale_y = ig_match_flatten(&e, op, ig_op_operand(y, 1));
    ig_value *scale = ig_build_mul(&e, scale_x, scale_y);
    return scale_sums(&e, sum, scale);
}

static ig_value *match_product(ig_builder *b, ig_op *op) {
    weight w;
    ig_value *x = ig_op_operand(op, 0);
    const ig_op *left = ig_match_bytes(x);
    if (!left || x->type->rank < 1 || ig_attr_int(op, IG_matmul_transpose_a, 0) ||
        !ig_match_is_number(left, ig_op_operand(left, 1)) || !read_weight(op, &w) ||
        !ig_match_fits_sum(op, x->type->dims[x->type->rank - 1]) ||
        !ig_match_normal_products(ig_op_operand(left, 1), w.scale)) {
        return NULL;
    }
    ig_value *zero = left->operand_count > 2 ? ig_op_operand(left, 2) : NULL;
    if (zero && !ig_match_is_number(left, zero)) {
        return NULL;
    }
    ig_expr e = ig_expr_of(b);
    ig_value *bytes = w.is_outer_turned ? ig_expr_transpose(&e, w.bytes, swap_perm)
                                        : w.bytes;
    ig_value *column_zero = ig_match_flatten(&e, op, w.zero);
    zero = ig_match_flatten(&e, op, zero);
    if (column_zero && !zero) {
        zero = ig_expr_integer(&e, (ig_dtype)ig_op_operand(left, 0)->type->dtype, 0);
    }
    ig_value *sum = ig_build_matmul_integer(&e, ig_op_operand(left, 0), bytes, zero,
                                            column_zero,
                                            (ig_matmul_integer_attrs){ 0 });
    ig_value *scale = ig_match_flatten(&e, op, w.scale);
    scale = ig_build_mul(&e, ig_match_flatten(&e, op, ig_op_operand(left, 1)), scale);
    ig_dequantize_attrs attrs = { 0 };
    if (scale->type->rank > 0) {
        attrs.axis = (ig_maybe_int)IG_SET(sum->type->rank - 1);
    }
    return ig_build_dequantize(&e, sum, scale, NULL, attrs);
}

ig_status ig_pass_recognise_integer(ig_pass_run *run, ig_graph *graph) {
    static const ig_rule rules[] = {
        { "integers_of_product", IG_OP_matmul, match_product },
        { "integers_of_computed", IG_OP_matmul, match_computed },
        { "integers_of_windows", IG_OP_conv, ig_match_windows },
        { "bytes_reshaped", IG_OP_reshape, ig_match_bytes_moved },
        { "bytes_transposed", IG_OP_transpose, ig_match_bytes_moved },
        { "bytes_sliced", IG_OP_slice, ig_match_bytes_moved },
        { "maxima_of_bytes", IG_OP_pool, ig_match_maxima },
        { "bytes_quantised_anew", IG_OP_quantize, ig_match_quantised_anew },
    };
    const ig_target *target = run->options->target;
    bool has_kernels = !target || target->has_integer_products;
    return has_kernels ? ig_rewrite(run, graph, rules, IG_COUNT_OF(rules)) : IG_OK;
}
