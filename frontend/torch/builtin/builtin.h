/* Variants and helpers of the builtin operators.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_TORCH_BUILTIN_BUILTIN_H
#define IG_FRONTEND_TORCH_BUILTIN_BUILTIN_H

#include "frontend/torch/eval/eval.h"
#include "frontend/torch/language/schema.h"

/* Variants of number1, number2 and extreme. */
enum {
    IG_TS_ADD,
    IG_TS_SUB,
    IG_TS_MUL,
    IG_TS_DIV,
    IG_TS_FLOORDIV,
    IG_TS_REMAINDER,
    IG_TS_POW,
    IG_TS_AND,
    IG_TS_OR,
    IG_TS_XOR,
    IG_TS_LSHIFT,
    IG_TS_RSHIFT,
    IG_TS_EQ, /* comparisons: EQ … GE */
    IG_TS_NE,
    IG_TS_LT,
    IG_TS_LE,
    IG_TS_GT,
    IG_TS_GE,
    IG_TS_MIN,
    IG_TS_MAX,
    IG_TS_NEG,
    IG_TS_ABS,
    IG_TS_FLOOR,
    IG_TS_CEIL,
    IG_TS_ROUND,
    IG_TS_SQRT,
    IG_TS_EXP,
    IG_TS_LOG,
    IG_TS_NOT,
    /* to_number: the kind */
    IG_TS_TO_INT,
    IG_TS_TO_FLOAT,
    IG_TS_TO_BOOL,
};

bool ig_ts_is_comparison(int variant);
/* The result of a comparison of two values in this order: negative, 0, positive. */
bool ig_ts_compare_order(int test, int order);
/* Does the row's schema give an int? */
bool ig_ts_gives_int(const ig_ts_call *call);
/* The operation `variant` (IG_TS_ADD …) on two numbers; `out` may be one of them. */
ig_status ig_ts_number_op(ig_ts_call *call, int variant, const ig_ts_value *a,
                          const ig_ts_value *b, ig_ts_value *out);

/* The functions of the rows; one that several rows name is declared several times. */
#define OP(schema, hook, ...) ig_status ig_ts_op_##hook(ig_ts_call *call);
#include "frontend/torch/builtin/builtins.def"
#undef OP

#endif
