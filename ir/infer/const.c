/* Types of constants.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/hooks.h"
#include "ir/infer/infer.h"

ig_status ig_infer_const(ig_op *op, const ig_type **out_types) {
    out_types[0] = op->attrs[IG_const_value].as.data->type;
    return IG_OK;
}

_Static_assert((int)IG_weight_name == (int)IG_table_name, "one hook serves both rows");

/* The module knows the type; a `table` may look up a plain matrix too. */
ig_status ig_infer_weight(ig_op *op, const ig_type **out_types) {
    const char *name = ig_attr_str(op, IG_weight_name);
    const ig_weight *weight = ig_module_weight(ig_op_module(op), name);
    if (!weight) {
        return INFER_ERROR(op, "the module has no weight or table named '%s'", name);
    }
    bool is_table = weight->type->kind == IG_TABLE;
    if (op->code == IG_OP_weight && is_table) {
        return INFER_ERROR(op, "'%s' is a table, not a weight", name);
    }
    if (op->code == IG_OP_table && !is_table && weight->type->rank != 2) {
        return INFER_ERROR(op, "'%s' has rank %u, a table has rank 2", name,
                           weight->type->rank);
    }
    out_types[0] = weight->type;
    return IG_OK;
}

ig_status ig_infer_dims(ig_op *op, const ig_type **out_types) {
    uint32_t count = op->attrs[IG_dims_values].count;
    ig_dim extent = ig_dim_of(count);
    bool is_scalar = ig_attr_int(op, IG_dims_scalar, 0);
    if (is_scalar && count != 1) {
        return INFER_ERROR(op, "a scalar has one value, not %u", count);
    }
    out_types[0] = ig_type_tensor(ig_op_module(op), IG_DT_i64, is_scalar ? 0 : 1,
                                  &extent);
    return IG_OK;
}

/* ---- numbers drawn ---- */

ig_status ig_infer_run_number(ig_op *op, const ig_type **out_types) {
    out_types[0] = ig_type_tensor(ig_op_module(op), IG_DT_i64, 0, NULL);
    return IG_OK;
}

ig_status ig_infer_random(ig_op *op, const ig_type **out_types) {
    const ig_attr *shape = &op->attrs[IG_random_shape];
    ig_dtype dtype = (ig_dtype)ig_attr_int(op, IG_random_dtype, IG_DT_COUNT);
    IG_TRY(ig_check_tensor(op, 0));
    IG_TRY(ig_check_dtype(op, 0, IG_DT_i64));
    IG_TRY(ig_check_rank(op, 0, 0));
    if (dtype >= IG_DT_COUNT || shape->count > IG_TENSOR_RANK) {
        return INFER_ERROR(op, "numbers of this dtype or rank are not drawn");
    }
    int64_t kind = ig_attr_int(op, IG_random_kind, 0);
    bool is_wide = ig_dtypes[dtype].bits >= (ig_dtype_is_float(dtype) ? 16 : 8);
    bool fits = kind == IG_RANDOM_bits ? ig_dtype_is_int(dtype)
                                       : ig_dtype_is_float(dtype);
    if (!fits || !is_wide) {
        return INFER_FAIL(op, IG_UNSUPPORTED,
                          "numbers of this kind are not drawn as %s",
                          ig_dtypes[dtype].name);
    }
    out_types[0] = ig_type_tensor(ig_op_module(op), dtype, shape->count,
                                  shape->as.dims);
    return IG_OK;
}
