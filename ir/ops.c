/* The op table, expanded from ops.def.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/ops.h"

#include "ir/hooks.h"

/* The short words of the table's columns. */
enum { T = IG_STAGE_TENSOR, P = IG_STAGE_PLAN, K = IG_STAGE_KERNEL };
enum {
    PURE = IG_PURE,
    MAP = IG_MAP,
    COMMUTE = IG_COMMUTE,
    TERMINATOR = IG_TERMINATOR,
    MAY_TRAP = IG_MAY_TRAP,
    GUARD = IG_GUARD,
    STATE = IG_STATE,
    CONSTANT = IG_CONSTANT,
    VIEW = IG_VIEW,
    HOST = IG_HOST,
    MEETS = IG_STATE | IG_COLLECTIVE
};
#define MANY IG_MANY

static const char *const reduce_names[] = { "sum",    "mean",      "max", "min",
                                            "prod",   "sumsq",     "l1",  "l2",
                                            "logsum", "logsumexp", NULL };
static const char *const negative_names[] = { "wrap", "error", "skip", NULL };
static const char *const extreme_names[] = { "max", "min", NULL };
static const char *const scatter_names[] = { "none", "add", "mul", "min", "max", NULL };
static const char *const cumulate_names[] = { "prod", "max", "min", "logsumexp", NULL };
static const char *const random_names[] = { "uniform", "normal", "bits", NULL };
static const char *const image_order_names[] = { "rgb", "bgr", "gray", NULL };
static const char *const letters_names[] = { "keep", "lower", "upper", NULL };
static const char *const unique_names[] = { "sorted", "first", "runs", NULL };
static const char *const range_names[] = { "error", "clamp", "first", NULL };
static const char *const offsets_names[] = { "error", "clamp", "slice", "first", NULL };
static const char *const pad_names[] = { "constant", "edge", "reflect", "wrap", NULL };
static const char *const pool_op_names[] = { "max", "sum", "average", NULL };
static const char *const adaptive_names[] = { "average", "max", NULL };
static const char *const cell_names[] = { "lstm", "gru", "tanh", "relu", NULL };
static const char *const resize_modes[] = { "nearest", "linear", "cubic", NULL };
static const char *const coordinate_names[] = {
    "half_pixel",        "half_pixel_symmetric", "pytorch_half_pixel",
    "align_corners",     "asymmetric",           "crop",
    "half_pixel_corner", "clamped_half_pixel",   NULL
};
static const char *const nearest_names[] = { "round_prefer_floor", "round_prefer_ceil",
                                             "floor", "ceil", NULL };
static const char *const outside_names[] = { "zeros", "border", "reflection", NULL };
static const char *const rounding_names[] = { "divide", "multiply", "offset", "factor",
                                              NULL };
static const char *const role_names[] = { "none",       "rows",    "key_lengths",
                                          "key_values", "offsets", "shared",
                                          NULL };
static const char *const pool_names[] = { "sum", "mean", "max", "none", NULL };
static const char *const last_names[] = { "ids", "offset", "mean", "rest", NULL };
static const char *const empty_names[] = { "zero", "neg_inf", "nan", NULL };
static const char *const guard_names[] = { "eq", "le", NULL };

#define NO_ATTRS
#define A(op, kind, name) { #name, IG_ATTR_##kind, false, NULL },
#define R(op, kind, name) { #name, IG_ATTR_##kind, true, NULL },
#define E(op, names, name) { #name, IG_ATTR_ENUM, false, names },
#define L(op, need, names, name) { #name, IG_ATTR_INTS, IS_REQUIRED_##need, names },
#define IS_REQUIRED_A false
#define IS_REQUIRED_R true
#define OP(name, min, max, outs, bodies, stages, traits, infer, fold, dims, expand, \
           grad, lower, attrs)                                                      \
    static const ig_attr_info name##_attrs[] = { attrs{ NULL, IG_ATTR_NONE, false,  \
                                                        NULL } };
#include "ir/ops.def"
#undef OP
#undef A
#undef R
#undef E
#undef L
#undef NO_ATTRS

/* EXPAND(softmax) is "softmax", EXPAND(none) is NULL: PROBE_none brings a comma of its
 * own and so moves NULL into the second place. */
#define PROBE_none ~, NULL
#define SECOND(a, b, ...) b
#define SECOND_OF(...) SECOND(__VA_ARGS__)
#define EXPAND(name) SECOND_OF(PROBE_##name, #name, ~)

#define OP(op, min, max, outs, bodies, stage_bits, trait_bits, infer_hook, fold_hook, \
           dims_hook, expand_name, grad, lower, attributes)                           \
    [IG_OP_##op] = { .name = #op,                                                     \
                     .operand_min = min,                                              \
                     .operand_max = max,                                              \
                     .result_count = outs,                                            \
                     .body_count = bodies,                                            \
                     .attr_count = IG_##op##_attr_count,                              \
                     .stages = stage_bits,                                            \
                     .traits = trait_bits,                                            \
                     .attrs = op##_attrs,                                             \
                     .infer = ig_infer_##infer_hook,                                  \
                     .fold = ig_fold_##fold_hook,                                     \
                     .dims = ig_dims_##dims_hook,                                     \
                     .expand = EXPAND(expand_name),                                   \
                     .family = IG_FAMILY_##lower },
#define ig_infer_none NULL
#define ig_fold_none NULL
#define ig_dims_none NULL
const ig_op_info ig_ops[IG_OP_COUNT] = {
#include "ir/ops.def"
};
#undef OP

#define OP(name, min, max, outs, bodies, stages, traits, infer, fold, dims, expand, \
           grad, lower, attrs)
#define KERNEL(op, operand_letters, result_letters, check_hook, run_hook) \
    [IG_OP_##op] = { .operands = operand_letters,                         \
                     .results = result_letters,                           \
                     .check = ig_verify_kernel_##check_hook,              \
                     .run = ig_kernel_run_##run_hook },
#define ig_verify_kernel_none NULL
const ig_kernel_info ig_kernel_infos[IG_OP_COUNT] = {
#include "ir/ops.def"
};
#undef OP

bool ig_opcode_parse(ig_str name, ig_opcode *out_code) {
    for (int i = 0; i < IG_OP_COUNT; i++) {
        if (ig_str_is(name, ig_ops[i].name)) {
            *out_code = (ig_opcode)i;
            return true;
        }
    }
    return false;
}
