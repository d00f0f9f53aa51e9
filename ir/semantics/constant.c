/* Compile-time knowledge of a value: constants, and shapes as dim expressions.
 * SPDX-License-Identifier: Apache-2.0
 *
 * ig_value_dims walks the defining ops upwards through their `dims` hooks.  The walk is
 * bounded three ways, so that no graph makes it slow or deep: by depth, by visits of
 * one query (a value met twice counts twice), and by how many wide ops (more than
 * FEW_OPERANDS operands) are on one path, since those need more stack.
 */
#include "ir/semantics/constant.h"

#include <assert.h>
#include <string.h>

const ig_data *ig_constant_of(const ig_value *value) {
    assert((!value || !value->def || value->def->code < IG_OP_COUNT) &&
           "its op was erased");
    const ig_op *op = value ? value->def : NULL;
    if (!op) {
        return NULL;
    }
    if (op->code == IG_OP_const) {
        return op->attrs[IG_const_value].as.data;
    }
    if (op->code == IG_OP_weight) {
        const char *name = ig_attr_str(op, IG_weight_name);
        const ig_weight *weight = name ? ig_module_weight(ig_op_module(op), name)
                                       : NULL;
        return weight && !weight->is_recipe ? &weight->data : NULL;
    }
    return NULL;
}

/* The constant as a tensor of one element, borrowed. */
static bool one_element(const ig_value *value, ig_tensor *out) {
    const ig_data *data = ig_constant_of(value);
    if (!data || !data->bytes || ig_dtypes[data->type->dtype].bits == 0) {
        return false;
    }
    const ig_type *type = data->type;
    if (type->kind == IG_VECTOR ? type->lanes != 1 : type->kind != IG_TENSOR) {
        return false;
    }
    for (uint32_t i = 0; i < type->rank; i++) {
        if (!ig_dim_is(type->dims[i], 1)) {
            return false;
        }
    }
    *out = (ig_tensor){ .kind = IG_TENSOR, .dtype = (ig_dtype)type->dtype, .count = 1 };
    out->data = (void *)(uintptr_t)data->bytes; /* only read */
    return true;
}

bool ig_constant_i64(const ig_value *value, int64_t *out_value) {
    ig_tensor tensor;
    if (!one_element(value, &tensor) || ig_dtype_is_float(tensor.dtype)) {
        return false;
    }
    *out_value = ig_tensor_get_i64(&tensor, 0);
    return true;
}

bool ig_constant_f64(const ig_value *value, double *out_value) {
    ig_tensor tensor;
    if (!one_element(value, &tensor)) {
        return false;
    }
    *out_value = ig_tensor_get_f64(&tensor, 0);
    return true;
}

bool ig_constant_entry(const ig_value *value, int64_t index, double *out_entry) {
    const ig_data *data = ig_constant_of(value);
    int64_t count;
    if (!data || !data->bytes || data->type->kind != IG_TENSOR ||
        data->type->rank != 1 || ig_dtypes[data->type->dtype].bits == 0 ||
        !ig_dim_known(data->type->dims[0], &count) || index >= count) {
        return false;
    }
    ig_tensor tensor = { .kind = IG_TENSOR,
                         .dtype = (ig_dtype)data->type->dtype,
                         .count = count,
                         .data = (void *)(uintptr_t)data->bytes };
    *out_entry = ig_tensor_get_f64(&tensor, data->is_splat ? 0 : index);
    return true;
}

/* ---- shapes ---- */

enum {
    DEPTH_MAX = 64,
    LEVELS_MAX = 16, /* of definitions of a shape */
    VISIT_MAX = 1024,
    FEW_OPERANDS = 5,
    MANY_OPERANDS = 32,
    WIDE_MAX = 8
};

typedef struct walk {
    uint32_t depth, visits, wide;
} walk;

static bool evaluate_shape(walk *w, const ig_value *value, ig_dims_value *out);

/* Small whole-number tensors, booleans among them (the condition of a where). */
static bool may_be_shape(const ig_type *type) {
    int64_t count = 0;
    if (!type || type->kind != IG_TENSOR || type->rank > 1 ||
        ig_dtype_is_float((ig_dtype)type->dtype) || type->dtype == IG_DT_str) {
        return false;
    }
    bool is_known = type->rank == 0 || ig_dim_known(type->dims[0], &count);
    return !is_known || count <= 32;
}

/* Longer computations are left to the run: a program may multiply forever. */
static bool is_short(const ig_op *op, const ig_dims_value *value) {
    for (uint32_t i = 0; i < value->count; i++) {
        if (ig_dim_level(ig_op_module(op), value->dims[i]) > LEVELS_MAX) {
            return false;
        }
    }
    return true;
}

static bool call_hook(walk *w, const ig_op *op, ig_dims_value *room,
                      const ig_dims_value **in, ig_dims_value *out) {
    for (uint32_t i = 0; i < op->operand_count; i++) {
        in[i] = evaluate_shape(w, op->operands[i].value, &room[i]) ? &room[i] : NULL;
    }
    return ig_ops[op->code].dims(op, in, out) && is_short(op, out);
}

static bool evaluate_narrow(walk *w, const ig_op *op, ig_dims_value *out) {
    ig_dims_value room[FEW_OPERANDS];
    const ig_dims_value *in[FEW_OPERANDS];
    return call_hook(w, op, room, in, out);
}

static bool evaluate_wide(walk *w, const ig_op *op, ig_dims_value *out) {
    ig_dims_value room[MANY_OPERANDS];
    const ig_dims_value *in[MANY_OPERANDS];
    return call_hook(w, op, room, in, out);
}

static bool evaluate_shape(walk *w, const ig_value *value, ig_dims_value *out) {
    const ig_op *op = value->def;
    if (!may_be_shape(value->type) || !op || !ig_ops[op->code].dims ||
        w->depth >= DEPTH_MAX || w->visits >= VISIT_MAX) {
        return false;
    }
    bool is_wide = op->operand_count > FEW_OPERANDS;
    if (is_wide && (op->operand_count > MANY_OPERANDS || w->wide >= WIDE_MAX)) {
        return false;
    }
    w->visits++;
    w->depth++;
    w->wide += is_wide;
    bool is_known = is_wide ? evaluate_wide(w, op, out) : evaluate_narrow(w, op, out);
    w->wide -= is_wide;
    w->depth--;
    return is_known;
}

bool ig_value_dims(const ig_value *value, ig_dims_value *out) {
    walk w = { 0 };
    return value && evaluate_shape(&w, value, out);
}
