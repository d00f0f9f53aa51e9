/* Shape arithmetic on expressions: elementwise ops on small integer tensors.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Expressions are whole numbers without a width; a cast between i64 and i32 leaves them
 * as they are, since no extent of a tensor that fits into memory loses bits that way.
 */
#include "base/checked.h"
#include "ir/semantics/constant.h"
#include "ir/hooks.h"
#include "ir/infer/infer.h"

typedef bool (*combine_fn)(ig_module *module, ig_dim a, ig_dim b, ig_dim *out);

/* Operand `operand` at position `i` of the result: a single value is broadcast. */
static ig_dim value_at(const ig_dims_value *value, uint32_t i) {
    return value->dims[value->count == 1 ? 0 : i];
}

/* The shape of the operands' broadcast: rank <= 1, so only lengths can differ. */
static bool broadcast_lengths(const ig_dims_value *const *in, uint32_t count,
                              ig_dims_value *out) {
    out->rank = 0;
    out->count = 1;
    for (uint32_t i = 0; i < count; i++) {
        if (!in[i] ||
            (in[i]->count != 1 && out->count != 1 && in[i]->count != out->count)) {
            return false;
        }
        out->rank = in[i]->rank > out->rank ? in[i]->rank : out->rank;
        out->count = in[i]->count == 1 ? out->count : in[i]->count;
    }
    return true;
}

static bool is_int(const ig_op *op, uint32_t operand) {
    return ig_dtype_is_int((ig_dtype)op->operands[operand].value->type->dtype);
}

/* Is a known number one that the elements hold?  Others wrap in tensors: what computes
 * them is no arithmetic of shapes. */
static bool holds_number(const ig_op *op, ig_dim dim) {
    const ig_dtype_info *info = &ig_dtypes[op->operands[0].value->type->dtype];
    bool is_signed = info->class == IG_SINT;
    int64_t value, max;
    if (!ig_dim_constant(ig_op_module(op), dim, &value) || info->bits == 64) {
        return true;
    }
    max = (INT64_C(1) << (info->bits - is_signed)) - 1;
    return value <= max && value >= (is_signed ? -max - 1 : 0);
}

static bool combine_dims(const ig_op *op, const ig_dims_value *const *in,
                         ig_dims_value *out, combine_fn function) {
    if (!is_int(op, 0) || !broadcast_lengths(in, 2, out)) {
        return false;
    }
    ig_module *module = ig_op_module(op);
    for (uint32_t i = 0; i < out->count; i++) {
        if (!function(module, value_at(in[0], i), value_at(in[1], i), &out->dims[i]) ||
            !holds_number(op, out->dims[i])) {
            return false;
        }
    }
    return true;
}

/* ---- one function an op ---- */

/* How two dims become one, and how far from 0 a number may be that meets an extent. */
typedef struct combination {
    bool (*check)(int64_t a, int64_t b, int64_t *out);
    ig_dim (*build)(ig_module *module, ig_dim a, ig_dim b);
    int64_t max;
} combination;

static const combination sum = { ig_add_i64, ig_dim_add, INT64_MAX / 2 };
static const combination difference = { ig_sub_i64, ig_dim_sub, INT64_MAX / 2 };
static const combination product = { ig_mul_i64, ig_dim_mul, INT32_MAX };

/* False where the result may leave i64: sums and products of the run wrap, dims do not.
 * Two numbers never become an expression: -3 - INT64_MIN is within i64, and -INT64_MIN,
 * which a difference is built of, is not. */
static bool combine_within(ig_module *module, const combination *how, ig_dim a,
                           ig_dim b, ig_dim *out) {
    int64_t x, y, result;
    bool x_is_known = ig_dim_constant(module, a, &x);
    bool y_is_known = ig_dim_constant(module, b, &y);
    if (x_is_known && y_is_known) {
        if (!how->check(x, y, &result)) {
            return false;
        }
        *out = ig_dim_const(module, result);
        return true;
    }
    if ((x_is_known && (x > how->max || x < -how->max)) ||
        (y_is_known && (y > how->max || y < -how->max))) {
        return false;
    }
    *out = how->build(module, a, b);
    return true;
}

bool ig_dims_join_add(ig_module *module, ig_dim a, ig_dim b, ig_dim *out) {
    return combine_within(module, &sum, a, b, out);
}

static bool subtract_dims(ig_module *module, ig_dim a, ig_dim b, ig_dim *out) {
    return combine_within(module, &difference, a, b, out);
}

bool ig_dims_join_mul(ig_module *module, ig_dim a, ig_dim b, ig_dim *out) {
    return combine_within(module, &product, a, b, out);
}

bool ig_dims_join_min(ig_module *module, ig_dim a, ig_dim b, ig_dim *out) {
    *out = ig_dim_min(module, a, b);
    return true;
}

bool ig_dims_join_max(ig_module *module, ig_dim a, ig_dim b, ig_dim *out) {
    *out = ig_dim_max(module, a, b);
    return true;
}

/* a >= 0 and b > 0, where all roundings agree and nothing traps. */
static bool is_plain_quotient(const ig_module *module, ig_dim a, ig_dim b) {
    int64_t min, max;
    ig_dim_range(module, a, &min, &max);
    if (min < 0) {
        return false;
    }
    ig_dim_range(module, b, &min, &max);
    return min > 0;
}

/* Truncates; of known numbers, any sign. */
static bool divide_dims(ig_module *module, ig_dim a, ig_dim b, ig_dim *out) {
    int64_t x, y;
    if (is_plain_quotient(module, a, b)) {
        *out = ig_dim_floor_div(module, a, b);
        return true;
    }
    if (!ig_dim_constant(module, a, &x) || !ig_dim_constant(module, b, &y) || y == 0 ||
        (x == INT64_MIN && y == -1)) {
        return false;
    }
    *out = ig_dim_const(module, x / y);
    return true;
}

static bool remainder_of(ig_module *module, ig_dim a, ig_dim b, ig_dim *out) {
    if (!is_plain_quotient(module, a, b)) {
        return false;
    }
    ig_dim whole = ig_dim_mul(module, ig_dim_floor_div(module, a, b), b);
    *out = ig_dim_sub(module, a, whole);
    return true;
}

bool ig_dims_add(const ig_op *op, const ig_dims_value *const *in, ig_dims_value *out) {
    return combine_dims(op, in, out, ig_dims_join_add);
}

bool ig_dims_sub(const ig_op *op, const ig_dims_value *const *in, ig_dims_value *out) {
    return combine_dims(op, in, out, subtract_dims);
}

bool ig_dims_mul(const ig_op *op, const ig_dims_value *const *in, ig_dims_value *out) {
    return combine_dims(op, in, out, ig_dims_join_mul);
}

bool ig_dims_div(const ig_op *op, const ig_dims_value *const *in, ig_dims_value *out) {
    return combine_dims(op, in, out, divide_dims);
}

bool ig_dims_mod(const ig_op *op, const ig_dims_value *const *in, ig_dims_value *out) {
    return combine_dims(op, in, out, remainder_of);
}

bool ig_dims_min(const ig_op *op, const ig_dims_value *const *in, ig_dims_value *out) {
    return combine_dims(op, in, out, ig_dims_join_min);
}

bool ig_dims_max(const ig_op *op, const ig_dims_value *const *in, ig_dims_value *out) {
    return combine_dims(op, in, out, ig_dims_join_max);
}

bool ig_dims_neg(const ig_op *op, const ig_dims_value *const *in, ig_dims_value *out) {
    if (!is_int(op, 0) || !in[0]) {
        return false;
    }
    *out = *in[0];
    for (uint32_t i = 0; i < out->count; i++) {
        if (!subtract_dims(ig_op_module(op), ig_dim_of(0), in[0]->dims[i],
                           &out->dims[i]) ||
            !holds_number(op, out->dims[i])) {
            return false;
        }
    }
    return true;
}

bool ig_dims_cast(const ig_op *op, const ig_dims_value *const *in, ig_dims_value *out) {
    ig_dtype to = (ig_dtype)ig_attr_int(op, IG_cast_to, IG_DT_i64);
    bool is_wide = to == IG_DT_i64 || to == IG_DT_i32;
    if (!in[0] || !is_wide || !is_int(op, 0)) {
        return false;
    }
    *out = *in[0];
    for (uint32_t i = 0; i < out->count; i++) {
        int64_t number;
        if (to == IG_DT_i32 &&
            ig_dim_constant(ig_op_module(op), out->dims[i], &number) &&
            (number < INT32_MIN || number > INT32_MAX)) {
            return false;
        }
    }
    return true;
}

/* ---- conditions: 0 and 1 ---- */

static bool equal_dims(ig_module *module, ig_dim a, ig_dim b, ig_dim *out) {
    ig_truth truth = ig_dim_equal(module, a, b);
    *out = ig_dim_of(truth == IG_YES);
    return truth != IG_MAYBE;
}

bool ig_dims_eq(const ig_op *op, const ig_dims_value *const *in, ig_dims_value *out) {
    return combine_dims(op, in, out, equal_dims);
}

bool ig_dims_where(const ig_op *op, const ig_dims_value *const *in,
                   ig_dims_value *out) {
    if (!is_int(op, 1) || !broadcast_lengths(in, 3, out)) {
        return false;
    }
    for (uint32_t i = 0; i < out->count; i++) {
        int64_t condition;
        if (!ig_dim_constant(ig_op_module(op), value_at(in[0], i), &condition)) {
            return false;
        }
        out->dims[i] = value_at(in[condition ? 1 : 2], i);
    }
    return true;
}
