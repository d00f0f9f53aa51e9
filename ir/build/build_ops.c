/* build_<op>, expanded from ops.def: attributes into slots, operands into a list.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/build/expr.h"

#include <assert.h>

/* ---- a slot from a field: by kind, required (R) or optional (A) ---- */

#define FILL_R_INT(m, v) ig_attr_of_int(v)
#define FILL_R_FLOAT(m, v) ig_attr_of_float(v)
#define FILL_R_BOOL(m, v) ig_attr_of_bool(v)
#define FILL_R_DTYPE(m, v) ig_attr_of_dtype(v)
#define FILL_R_STR(m, v) ig_attr_of_str(m, ig_str_of(v))
#define FILL_R_SYM(m, v) ig_attr_of_sym(m, v)
#define FILL_R_INTS(m, v) ig_attr_of_ints(m, (v).items, (v).count)
#define FILL_R_DIM(m, v) ig_attr_of_dim(v)
#define FILL_R_DIMS(m, v) ig_attr_of_dims(m, (v).items, (v).count)
#define FILL_R_DATA(m, v) ig_attr_of_data(m, v)

static const ig_attr absent = { 0 };
#define FILL_A_INT(m, v) ((v).is_set ? ig_attr_of_int((v).value) : absent)
#define FILL_A_FLOAT(m, v) ((v).is_set ? ig_attr_of_float((v).value) : absent)
#define FILL_A_BOOL(m, v) ((v) ? ig_attr_of_bool(true) : absent)
#define FILL_A_DTYPE(m, v) ((v).is_set ? ig_attr_of_dtype((v).value) : absent)
#define FILL_A_STR(m, v) ((v) ? ig_attr_of_str(m, ig_str_of(v)) : absent)
#define FILL_A_SYM(m, v) ((v) ? ig_attr_of_sym(m, v) : absent)
#define FILL_A_INTS(m, v) ((v).items ? FILL_R_INTS(m, v) : absent)
#define FILL_A_DIM(m, v) ((v).is_set ? ig_attr_of_dim((v).value) : absent)
#define FILL_A_DIMS(m, v) ((v).items ? FILL_R_DIMS(m, v) : absent)

#define NO_ATTRS
#define R(op, kind, name) \
    slots[IG_##op##_##name] = FILL_R_##kind(e->module, attrs->name);
#define A(op, kind, name) \
    slots[IG_##op##_##name] = FILL_A_##kind(e->module, attrs->name);
#define E(op, names, name) \
    slots[IG_##op##_##name] = attrs->name ? ig_attr_of_enum(attrs->name) : absent;
#define L(op, need, names, name) need(op, INTS, name)
#define OP(name, min, max, outs, bodies, stages, traits, infer, fold, dims, expand, \
           grad, lower, attributes)                                                 \
    static void fill_##name(const ig_expr *e, const ig_##name##_attrs *attrs,       \
                            ig_attr *slots) {                                       \
        (void)e, (void)attrs, (void)slots;                                          \
        attributes                                                                  \
    }
#include "ir/ops.def"
#undef OP
#undef NO_ATTRS
#undef R
#undef A
#undef E

/* ---- a field from a slot: the same the other way round ---- */

#define READ_R_INT(s) (s)->as.i
#define READ_R_FLOAT(s) (s)->as.f
#define READ_R_BOOL(s) ((s)->as.i != 0)
#define READ_R_DTYPE(s) (ig_dtype)(s)->as.i
#define READ_R_STR(s) (s)->as.str
#define READ_R_SYM(s) (s)->as.str
#define READ_R_INTS(s) \
    { (s)->as.ints, (s)->count }
#define READ_R_DIM(s) (s)->as.dim
#define READ_R_DIMS(s) \
    { (s)->as.dims, (s)->count }
#define READ_R_DATA(s) (s)->as.data

/* Payloads of absent slots are zeros, so a list of one is NULL. */
#define READ_MAYBE(s, value) \
    { (s)->kind != IG_ATTR_NONE, (value) }
#define READ_A_INT(s) READ_MAYBE(s, READ_R_INT(s))
#define READ_A_FLOAT(s) READ_MAYBE(s, READ_R_FLOAT(s))
#define READ_A_BOOL(s) READ_R_BOOL(s)
#define READ_A_DTYPE(s) READ_MAYBE(s, READ_R_DTYPE(s))
#define READ_A_STR(s) READ_R_STR(s)
#define READ_A_SYM(s) READ_R_SYM(s)
#define READ_A_INTS(s) READ_R_INTS(s)
#define READ_A_DIM(s) READ_MAYBE(s, READ_R_DIM(s))
#define READ_A_DIMS(s) READ_R_DIMS(s)

#define NO_ATTRS 0
#define R(op, kind, name) .name = READ_R_##kind(&slots[IG_##op##_##name]),
#define A(op, kind, name) .name = READ_A_##kind(&slots[IG_##op##_##name]),
#define E(op, names, name) .name = (int)slots[IG_##op##_##name].as.i,
#define OP(name, min, max, outs, bodies, stages, traits, infer, fold, dims, expand, \
           grad, lower, attributes)                                                 \
    ig_##name##_attrs ig_##name##_attrs_of(const ig_op *op) {                       \
        assert(op->code == IG_OP_##name && "attributes of that op");                \
        const ig_attr *slots = op->attrs;                                           \
        (void)slots;                                                                \
        return (ig_##name##_attrs){ attributes };                                   \
    }
#include "ir/ops.def"
#undef OP
#undef NO_ATTRS
#undef R
#undef A
#undef E
#undef L

/* ---- operands as a list ---- */

#define LIST_0 NULL, 0
#define LIST_1 (ig_value *[]){ a }, 1
#define LIST_2 (ig_value *[]){ a, b }, 2
#define LIST_3 (ig_value *[]){ a, b, c }, 3
#define LIST_4 (ig_value *[]){ a, b, c, d }, 4
#define LIST_5 (ig_value *[]){ a, b, c, d, f }, 5
#define LIST_6 operands, count
#define LIST_7 operands, count
#define LIST_8 operands, count
#define LIST_11 operands, count
#define LIST_MANY operands, count

/* Only the last optional operands can be absent. */
static uint32_t count_given(ig_value *const *operands, uint32_t count, uint32_t min) {
    while (count > min && !operands[count - 1]) {
        count--;
    }
    return count;
}

static ig_value *make_first(ig_expr *e, ig_opcode code, const ig_attr *slots,
                            ig_value *const *operands, uint32_t count) {
    uint32_t given = count_given(operands, count, ig_ops[code].operand_min);
    bool is_typed = ig_ops[code].infer || ig_ops[code].result_count == 0;
    assert(is_typed && "an op whose types the maker gives: use ig_build_<op>_op");
    (void)is_typed;
    return ig_expr_make(e, code, operands, given, slots);
}

static ig_op *make_op(ig_expr *e, ig_opcode code, const ig_op_spec *spec,
                      const ig_attr *slots) {
    ig_op_spec filled = *spec;
    assert(!spec->attrs && "attributes come from the struct");
    filled.attrs = slots;
    return ig_expr_op(e, code, &filled);
}

#define ATTRS_OF_NO_ATTRS NULL
#define ATTRS_OF_R(op, kind, name) &attrs
#define ATTRS_OF_A(op, kind, name) &attrs
#define ATTRS_OF_E(op, names, name) &attrs
#define R(op, kind, name)
#define A(op, kind, name)
#define E(op, names, name)
#define L(op, need, names, name)
#define OP(name, min, max, outs, bodies, stages, traits, infer, fold, dims, expand, \
           grad, lower, attributes)                                                 \
    ig_value *ig_build_##name(ig_expr *e IG_OPERANDS_##max IG_PARAM_##attributes) { \
        ig_attr slots[IG_##name##_attr_count + 1] = { { 0 } };                      \
        fill_##name(e, ATTRS_OF_##attributes, slots);                               \
        return make_first(e, IG_OP_##name, slots, LIST_##max);                      \
    }                                                                               \
    ig_op *ig_build_##name##_op(ig_expr *e,                                         \
                                const ig_op_spec *spec IG_PARAM_##attributes) {     \
        ig_attr slots[IG_##name##_attr_count + 1] = { { 0 } };                      \
        fill_##name(e, ATTRS_OF_##attributes, slots);                               \
        return make_op(e, IG_OP_##name, spec, slots);                               \
    }
#include "ir/ops.def"
#undef OP
