/* build_<op>: a function per op that makes it in one call, expanded from ops.def.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     ig_value *ig_build_add(ig_expr *e, ig_value *a, ig_value *b);
 *     ig_value *ig_build_softmax(ig_expr *e, ig_value *a, ig_softmax_attrs attrs);
 *     ig_value *ig_build_concat(ig_expr *e, ig_value *const *operands,
 *                               uint32_t count, ig_concat_attrs attrs);
 *
 *     y = ig_build_softmax(e, x, (ig_softmax_attrs){ .axis = 1, .log = true });
 *
 * Operands come one by one where the row has at most five; optional ones are NULL,
 * which only the last may be.  Ops with more, or with any number of operands, take an
 * array.  An attribute that is left out of the initialiser is absent from the op: for
 * false and for the first name of an enumeration that is the same.  Optional numbers,
 * where 0 may mean something else than absence, are wrapped: `.axis = IG_SET(0)`.
 *
 * Each gives the op's first result, or NULL when an operand is NULL or the op cannot be
 * typed; ir/build/expr.h defines how failures propagate.
 *
 * Two more functions per op.  ig_build_<op>_op gives the op itself, for ops with
 * bodies, with several results, or with result types given by the caller: `spec` holds
 * those and the operands, `attrs` its attributes.  ig_<op>_attrs_of reads the
 * attributes of an op, to make another like it; the module owns the memory they point
 * to.
 *
 *     ig_op *ig_build_loop_op(ig_expr *e, const ig_op_spec *spec, ig_loop_attrs attrs);
 *     ig_bag_attrs ig_bag_attrs_of(const ig_op *op);
 */
#ifndef IG_IR_BUILD_BUILD_OPS_H
#define IG_IR_BUILD_BUILD_OPS_H

#include "ir/ops.h"

typedef struct ig_expr ig_expr;

/* ---- attributes: a struct per op ---- */

typedef struct ig_ints {
    const int64_t *items; /* NULL: absent */
    uint32_t count;
} ig_ints;
typedef struct ig_dims {
    const ig_dim *items; /* NULL: absent */
    uint32_t count;
} ig_dims;
typedef struct ig_maybe_int {
    bool is_set;
    int64_t value;
} ig_maybe_int;
typedef struct ig_maybe_float {
    bool is_set;
    double value;
} ig_maybe_float;
typedef struct ig_maybe_dim {
    bool is_set;
    ig_dim value;
} ig_maybe_dim;
typedef struct ig_maybe_dtype {
    bool is_set;
    ig_dtype value;
} ig_maybe_dtype;
#define IG_SET(x) \
    { true, (x) }
#define IG_INTS(...)                                                   \
    {                                                                  \
        (const int64_t[]){ __VA_ARGS__ },                              \
            sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t) \
    }

/* Fields by kind; R: required, A: optional. */
#define IG_R_INT int64_t
#define IG_R_FLOAT double
#define IG_R_BOOL bool
#define IG_R_DTYPE ig_dtype
#define IG_R_STR const char *
#define IG_R_SYM const char *
#define IG_R_INTS ig_ints
#define IG_R_DIM ig_dim
#define IG_R_DIMS ig_dims
#define IG_R_DATA const ig_data *
#define IG_A_INT ig_maybe_int
#define IG_A_FLOAT ig_maybe_float
#define IG_A_BOOL bool
#define IG_A_DTYPE ig_maybe_dtype
#define IG_A_STR const char *
#define IG_A_SYM const char *
#define IG_A_INTS ig_ints
#define IG_A_DIM ig_maybe_dim
#define IG_A_DIMS ig_dims

#define R(op, kind, name) IG_R_##kind name;
#define A(op, kind, name) IG_A_##kind name;
#define E(op, names, name) int name;
#define L(op, need, names, name) need(op, INTS, name)
#define NO_ATTRS char none;
#define OP(name, min, max, outs, bodies, stages, traits, infer, fold, dims, expand, \
           grad, lower, attrs)                                                      \
    typedef struct ig_##name##_attrs {                                              \
        attrs                                                                       \
    } ig_##name##_attrs;
#include "ir/ops.def"
#undef OP
#undef R
#undef A
#undef E
#undef L
#undef NO_ATTRS

/* ---- functions ----
 *
 * Parameters follow from the number of operands and whether the row has attributes:
 * the first word of the `attrs` column tells (R, A or E, or NO_ATTRS). */

#define IG_OPERANDS_0
#define IG_OPERANDS_1 , ig_value *a
#define IG_OPERANDS_2 , ig_value *a, ig_value *b
#define IG_OPERANDS_3 , ig_value *a, ig_value *b, ig_value *c
#define IG_OPERANDS_4 , ig_value *a, ig_value *b, ig_value *c, ig_value *d
#define IG_OPERANDS_5 , ig_value *a, ig_value *b, ig_value *c, ig_value *d, ig_value *f
#define IG_OPERANDS_6 , ig_value *const *operands, uint32_t count
#define IG_OPERANDS_7 , ig_value *const *operands, uint32_t count
#define IG_OPERANDS_8 , ig_value *const *operands, uint32_t count
#define IG_OPERANDS_11 , ig_value *const *operands, uint32_t count
#define IG_OPERANDS_MANY , ig_value *const *operands, uint32_t count

#define IG_PARAM_NO_ATTRS
#define IG_PARAM_R(op, kind, name) , ig_##op##_attrs attrs
#define IG_PARAM_A(op, kind, name) , ig_##op##_attrs attrs
#define IG_PARAM_E(op, names, name) , ig_##op##_attrs attrs

#define OP(name, min, max, outs, bodies, stages, traits, infer, fold, dims, expand,   \
           grad, lower, attrs)                                                        \
    ig_value *ig_build_##name(ig_expr *e IG_OPERANDS_##max IG_PARAM_##attrs);         \
    ig_op *ig_build_##name##_op(ig_expr *e, const ig_op_spec *spec IG_PARAM_##attrs); \
    ig_##name##_attrs ig_##name##_attrs_of(const ig_op *op);
#define R(op, kind, name)
#define A(op, kind, name)
#define E(op, names, name)
#define L(op, need, names, name)
#include "ir/ops.def"
#undef OP
#undef R
#undef A
#undef E
#undef L

#endif
