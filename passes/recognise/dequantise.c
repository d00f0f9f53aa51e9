/* recognise_dequantise: weights of 8-bit integers made real by casts become dequantize.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %0 = cast @w {to = i32}                  w: u8[20, 5]
 *     %1 = sub %0, 128
 *     %2 = cast %1 {to = f32}
 *     %3 = mul %2, @scale                      one, or one per row or column
 *     %4 = matmul %x, %3 {transpose_b}
 *   becomes
 *     %3 = dequantize @w, @scale, 128
 *     %4 = matmul %x, %3 {transpose_b}
 *
 * with transposes anywhere between.  The scale and the zero point may be absent.
 *
 * Keeps: every bit.  The zero points are constants that the weight's dtype holds, so
 * that the difference is exact wherever it is taken; the product is one of f32.
 */
#include "ir/dim/handle.h"
#include "ir/build/expr.h"
#include "ir/interpret/interpret.h"
#include "passes/engine/rewrite.h"
#include "passes/engine/known.h"

enum { STEPS_MAX = 16, SWAPS_MAX = 4 };

static const int64_t swap_perm[] = { 1, 0 };

/* `weight`, and the zero point that it is taken away from, each transposed or not. */
typedef struct centred {
    ig_value *weight, *zero; /* zero: NULL where absent */
    bool is_turned, is_zero_turned;
} centred;

static bool is_byte(ig_dtype dtype) {
    return dtype == IG_DT_i8 || dtype == IG_DT_u8;
}

static bool is_swap(const ig_op *op) {
    const ig_attr *perm = &op->attrs[IG_transpose_perm];
    return op->code == IG_OP_transpose && perm->count == 2 && perm->as.ints[0] == 1;
}

/* Does a product multiply with this matrix, itself or transposed? */
static bool is_factor(const ig_value *value, uint32_t swaps_left) {
    for (const ig_use *use = value->uses; use; use = use->next) {
        const ig_op *user = use->user;
        if (user->code == IG_OP_matmul && use == &user->operands[1]) {
            return true;
        }
        if (swaps_left > 0 && is_swap(user) &&
            is_factor(ig_op_result(user, 0), swaps_left - 1)) {
            return true;
        }
    }
    return false;
}

/* One element, or several along one axis of the matrix? */
static bool is_param(const ig_type *param, const ig_type *matrix) {
    uint32_t long_axes = 0;
    if (param->kind != IG_TENSOR || param->rank > matrix->rank) {
        return false;
    }
    for (uint32_t d = 0; d < param->rank; d++) {
        ig_dim dim = param->dims[d];
        if (!ig_dim_is(dim, 1)) {
            long_axes++;
            if (!ig_dim_same(dim, matrix->dims[matrix->rank - param->rank + d])) {
                return false;
            }
        }
    }
    return long_axes <= 1;
}

/* ---- the weight below the scale ---- */

/* A cast that loses nothing of a difference of two bytes. */
static bool is_exact_cast(const ig_op *op) {
    if (op->code != IG_OP_cast) {
        return false;
    }
    ig_dtype from = (ig_dtype)ig_op_operand(op, 0)->type->dtype;
    ig_dtype to = (ig_dtype)ig_op_result(op, 0)->type->dtype;
    bool is_integer = from == IG_DT_i16 || from == IG_DT_i32 || from == IG_DT_i64;
    return (is_byte(from) || is_integer) &&
           (to == IG_DT_f32 || to == IG_DT_i16 || to == IG_DT_i32 || to == IG_DT_i64);
}

/* A difference of a byte wraps, so it is taken of wider elements. */
static bool take_zero(centred *c, const ig_op *op) {
    if (op->code != IG_OP_sub || c->zero) {
        return false;
    }
    const ig_type *x = ig_op_operand(op, 0)->type;
    ig_value *zero = ig_op_operand(op, 1);
    if (is_byte((ig_dtype)x->dtype) || x != ig_op_result(op, 0)->type ||
        !is_param(zero->type, x)) {
        return false;
    }
    c->zero = zero;
    c->is_zero_turned = c->is_turned;
    return true;
}

static bool read_centred(ig_value *value, centred *out) {
    *out = (centred){ 0 };
    for (uint32_t i = 0; value->def && i < STEPS_MAX; i++) {
        const ig_op *op = value->def;
        if (op->code == IG_OP_weight) {
            out->weight = value;
            return is_byte((ig_dtype)value->type->dtype);
        }
        if (is_swap(op)) {
            out->is_turned = !out->is_turned;
        } else if (!is_exact_cast(op) && !take_zero(out, op)) {
            return false;
        }
        value = ig_op_operand(op, 0);
    }
    return false;
}

/* ---- zero points ---- */

/* The elements of `zero` in `dtype`, exactly; NULL when it does not hold them. */
static uint8_t *read_bytes(const ig_tensor *zero, ig_dtype dtype, ig_arena *arena) {
    double low = dtype == IG_DT_i8 ? -128 : 0;
    uint8_t *bytes = IG_NEW_ARRAY(arena, uint8_t, (size_t)zero->count);
    for (int64_t i = 0; i < zero->count; i++) {
        double value = ig_tensor_get_f64(zero, i);
        if (!(value >= low && value <= low + 255) || value != (double)(int)value) {
            return NULL;
        }
        bytes[i] = (uint8_t)(int)value;
    }
    return bytes;
}

/* The zero points in `dtype`, laid out against the matrix below the scale. */
static ig_value *narrow_zero(ig_expr *e, const centred *c, ig_dtype dtype,
                             ig_arena *arena) {
    const ig_op *cast = ig_def(c->zero, IG_OP_cast);
    ig_value *zero = cast && is_exact_cast(cast) ? ig_op_operand(cast, 0) : c->zero;
    ig_tensor tensor;
    if (zero->type->dtype == dtype && !c->is_zero_turned && ig_constant_of(zero)) {
        return zero;
    }
    if (!ig_read_constant(zero, arena, &tensor) || tensor.count == 0) {
        return NULL;
    }
    const uint8_t *bytes = read_bytes(&tensor, dtype, arena);
    if (!bytes) {
        return NULL;
    }
    if (tensor.count == 1) {
        return ig_expr_constant(e, "zero", dtype, 0, NULL, bytes);
    }
    uint32_t rank = tensor.rank;
    int64_t extents[] = { rank == 2 ? tensor.dims[0] : 1, tensor.dims[rank - 1] };
    if (c->is_zero_turned) {
        return ig_expr_constant(e, "zero", dtype, 2,
                                (int64_t[]){ extents[1], extents[0] }, bytes);
    }
    return ig_expr_constant(e, "zero", dtype, rank, extents + (2 - rank), bytes);
}

/* ---- the rule ---- */

static ig_value *build_dequantize(ig_builder *b, const centred *c, ig_value *scale,
                                  ig_arena *arena) {
    ig_expr e = ig_expr_of(b);
    ig_dtype dtype = (ig_dtype)c->weight->type->dtype;
    ig_value *zero = c->zero ? narrow_zero(&e, c, dtype, arena) : NULL;
    if (c->zero && !zero) {
        return NULL;
    }
    ig_value *x = c->is_turned ? ig_expr_transpose(&e, c->weight, swap_perm)
                               : c->weight;
    scale = scale ? scale : ig_expr_number(&e, IG_DT_f32, 1);
    return ig_build_dequantize(&e, x, scale, zero, (ig_dequantize_attrs){ 0 });
}

static bool match_scaled(const ig_op *op, centred *out, ig_value **out_scale) {
    for (uint32_t i = 0; i < 2; i++) {
        ig_value *x = ig_op_operand(op, i);
        *out_scale = ig_op_operand(op, 1 - i);
        if (x->type == ig_op_result(op, 0)->type &&
            is_param((*out_scale)->type, x->type) && read_centred(x, out)) {
            return true;
        }
    }
    return false;
}

/* Of a weight without a scale, the last op that makes it real. */
static ig_value *match_dequantize(ig_builder *b, ig_op *op) {
    ig_value *result = ig_op_result(op, 0), *scale = NULL;
    centred c;
    if (result->type->dtype != IG_DT_f32 || result->type->rank != 2 ||
        !is_factor(result, SWAPS_MAX)) {
        return NULL;
    }
    if (op->code == IG_OP_mul ? !match_scaled(op, &c, &scale)
                              : !read_centred(result, &c)) {
        return NULL;
    }
    ig_arena arena;
    ig_arena_init(&arena, NULL);
    ig_value *built = build_dequantize(b, &c, scale, &arena);
    ig_arena_fini(&arena);
    return built;
}

ig_status ig_pass_recognise_dequantise(ig_pass_run *run, ig_graph *graph) {
    static const ig_rule rules[] = {
        { "dequantize_of_product", IG_OP_mul, match_dequantize },
        { "dequantize_of_difference", IG_OP_sub, match_dequantize },
        { "dequantize_of_cast", IG_OP_cast, match_dequantize },
    };
    return ig_rewrite(run, graph, rules, IG_COUNT_OF(rules));
}
