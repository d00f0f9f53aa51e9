/* Elementwise operators: maps, folds over many inputs, clips and casts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compose/quantise.h"
#include "frontend/onnx/ops/hooks.h"
#include "frontend/onnx/ops/text/text.h"

#include <math.h>

/* The row's op over the inputs, for nodes that are one op of ours. */
ig_status ig_onnx_import_map(ig_onnx_node *node) {
    if (node->row->variant == IG_OP_eq && node->inputs[0]->type->dtype == IG_DT_str) {
        return ig_onnx_give(
            node, ig_onnx_text_equal(node->e, node->inputs[0], node->inputs[1]));
    }
    return ig_onnx_give(node, ig_expr_make(node->e, (ig_opcode)node->row->variant,
                                           node->inputs, node->input_count, NULL));
}

/* A whole number to whose power integers are taken is an integer, too, whatever its
 * type is: a double holds only 53 bits of the power. */
ig_status ig_onnx_import_pow(ig_onnx_node *node) {
    enum { EXPONENT_MAX = 64 };
    ig_value *x = node->inputs[0], *y = node->inputs[1];
    double exponent;
    if (!ig_expr_is_float(x) && ig_expr_is_float(y) && ig_constant_f64(y, &exponent) &&
        exponent >= 0 && exponent <= EXPONENT_MAX && exponent == trunc(exponent)) {
        y = ig_expr_cast(node->e, y, (ig_dtype)x->type->dtype);
    }
    return ig_onnx_give(node, ig_expr_map2(node->e, IG_OP_pow, x, y));
}

/* Pairs from the left. */
static ig_value *fold_inputs(const ig_onnx_node *node, ig_opcode code) {
    ig_value *all = node->inputs[0];
    for (uint32_t i = 1; i < node->input_count; i++) {
        all = ig_expr_map2(node->e, code, all, node->inputs[i]);
    }
    return all;
}

/* Min, Max, Sum. */
ig_status ig_onnx_import_variadic(ig_onnx_node *node) {
    return ig_onnx_give(node, fold_inputs(node, (ig_opcode)node->row->variant));
}

ig_status ig_onnx_import_mean(ig_onnx_node *node) {
    ig_onnx_float_input(node, 0);
    ig_value *sum = fold_inputs(node, IG_OP_add);
    return ig_onnx_give(node, ig_expr_with(node->e, IG_OP_div, sum, node->input_count));
}

ig_status ig_onnx_import_isinf(ig_onnx_node *node) {
    ig_isinf_attrs attrs = {
        .skip_positive = !ig_onnx_attr_bool(node, "detect_positive", true),
        .skip_negative = !ig_onnx_attr_bool(node, "detect_negative", true),
    };
    return ig_onnx_give(node, ig_build_isinf(node->e, node->inputs[0], attrs));
}

ig_status ig_onnx_import_mod(ig_onnx_node *node) {
    ig_mod_attrs attrs = { .truncate = ig_onnx_attr_bool(node, "fmod", false) };
    bool rounds_down = node->row->variant; /* floats too, from opset 28 on */
    if (!attrs.truncate && !rounds_down && ig_expr_is_float(node->inputs[0])) {
        return ig_onnx_fail(node, IG_INVALID,
                            "fmod is 0, expected 1 for floating-point elements");
    }
    return ig_onnx_give(node,
                        ig_build_mod(node->e, node->inputs[0], node->inputs[1], attrs));
}

ig_status ig_onnx_import_bit_shift(ig_onnx_node *node) {
    bool is_right = ig_onnx_attr_choice(node, "direction", "LEFT RIGHT") == 1;
    return ig_onnx_give(node, ig_expr_map2(node->e, is_right ? IG_OP_shr : IG_OP_shl,
                                           node->inputs[0], node->inputs[1]));
}

/* ---- clip: min(max(x, low), high), so that high wins where low > high ---- */

static ig_status clip_between(ig_onnx_node *node, ig_value *low, ig_value *high) {
    ig_value *x = node->inputs[0];
    x = low ? ig_expr_map2(node->e, IG_OP_max, x, low) : x;
    x = high ? ig_expr_map2(node->e, IG_OP_min, x, high) : x;
    return ig_onnx_give(node, x);
}

static ig_value *read_bound(const ig_onnx_node *node, const char *name) {
    ig_dtype dtype = (ig_dtype)ig_onnx_float_input(node, 0)->type->dtype;
    bool is_given = ig_onnx_attr(node, name, NULL) != NULL;
    double bound = ig_onnx_attr_float(node, name, 0);
    return is_given ? ig_expr_number(node->e, dtype, bound) : NULL;
}

ig_status ig_onnx_import_clip_attributes(ig_onnx_node *node) {
    return clip_between(node, read_bound(node, "min"), read_bound(node, "max"));
}

ig_status ig_onnx_import_clip(ig_onnx_node *node) {
    ig_value *low = ig_onnx_in(node, 1) ? ig_onnx_scalar_input(node, 1) : NULL;
    ig_value *high = ig_onnx_in(node, 2) ? ig_onnx_scalar_input(node, 2) : NULL;
    return clip_between(node, low, high);
}

/* ---- casts ---- */

/* The attribute round_mode, which is of powers of two alone, and of opset 24. */
static ig_power_rounding read_round_mode(const ig_onnx_node *node) {
    return ig_onnx_row_has_attr(node->row, "round_mode")
               ? (ig_power_rounding)ig_onnx_attr_choice(node, "round_mode",
                                                        "up down nearest")
               : IG_POWER_UP;
}

static ig_value *cast_to_power(const ig_onnx_node *node, ig_value *x) {
    bool saturate = ig_onnx_attr_bool(node, "saturate", true);
    ig_power_rounding rounding = read_round_mode(node);
    return ig_onnx_has_failed(node)
               ? NULL
               : ig_compose_round_to_power(node->e, x, rounding, saturate);
}

static ig_status cast_to(ig_onnx_node *node, ig_dtype to) {
    ig_value *x = node->inputs[0];
    bool is_float8 = ig_dtypes[to].bits == 8 && ig_dtype_is_float(to);
    if (x->type->dtype == to) {
        return ig_onnx_give(node, x);
    }
    if (to == IG_DT_str || x->type->dtype == IG_DT_str) {
        return ig_onnx_give(node, ig_onnx_text_cast(node->e, x, to));
    }
    if (to == IG_DT_f8e8m0) {
        return ig_onnx_give(node, cast_to_power(node, x));
    }
    if (ig_dtypes[to].bits < 8 && !ig_dtype_is_float(to) && ig_expr_is_float(x)) {
        x = ig_expr_cast(node->e, x, IG_DT_i32); /* keeps the low bits, as numpy */
    }
    ig_cast_attrs attrs = {
        .to = to, .saturate = is_float8 && ig_onnx_attr_bool(node, "saturate", true)
    };
    return ig_onnx_give(node, ig_build_cast(node->e, x, attrs));
}

ig_status ig_onnx_import_cast(ig_onnx_node *node) {
    return cast_to(node, ig_onnx_attr_dtype(node, "to", IG_DT_COUNT));
}

ig_status ig_onnx_import_cast_like(ig_onnx_node *node) {
    return cast_to(node, (ig_dtype)node->inputs[1]->type->dtype);
}
