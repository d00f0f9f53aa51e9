/* Ordering, finding and counting elements; masks made of positions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/onnx/ops/hooks.h"
#include "frontend/onnx/import/import.h"

/* Builds an op of several results into the outputs that the node has. */
static ig_status build_all(const ig_onnx_node *node, ig_opcode code, uint32_t count,
                           ig_value *const *operands, const ig_attr *attrs) {
    ig_op *op = NULL;
    ig_op_spec spec = { .operands = operands,
                        .operand_count = count,
                        .result_count = ig_ops[code].result_count,
                        .attrs = attrs,
                        .loc = node->builder->loc };
    IG_TRY(ig_build(node->builder, code, &spec, &op));
    for (uint32_t i = 0; i < node->output_count; i++) {
        node->outputs[i] = &op->results[i];
    }
    return IG_OK;
}

static ig_status read_axis(const ig_onnx_node *node, int64_t absent,
                           uint32_t *out_axis) {
    IG_TRY(ig_onnx_tensor(node, 0));
    return ig_onnx_axis(node, ig_onnx_attr_int(node, "axis", absent),
                        node->inputs[0]->type->rank, out_axis);
}

/* ---- extremes and order ---- */

ig_status ig_onnx_import_arg_reduce(ig_onnx_node *node) {
    uint32_t axis;
    IG_TRY(read_axis(node, 0, &axis));
    ig_attr attrs[IG_arg_reduce_attr_count] = {
        [IG_arg_reduce_op] = ig_attr_of_enum(node->row->variant),
        [IG_arg_reduce_axis] = ig_attr_of_int(axis),
    };
    if (ig_onnx_attr_int(node, "keepdims", 1)) {
        attrs[IG_arg_reduce_keep] = ig_attr_of_bool(true);
    }
    if (ig_onnx_attr_int(node, "select_last_index", 0)) {
        attrs[IG_arg_reduce_last] = ig_attr_of_bool(true);
    }
    return ig_onnx_build(node, IG_OP_arg_reduce, 1, node->inputs, attrs,
                         &node->outputs[0]);
}

ig_status ig_onnx_import_top_k(ig_onnx_node *node) {
    uint32_t axis;
    IG_TRY(read_axis(node, -1, &axis));
    ig_attr attrs[IG_topk_attr_count] = { [IG_topk_axis] = ig_attr_of_int(axis) };
    if (!ig_onnx_attr_int(node, "largest", 1)) {
        attrs[IG_topk_smallest] = ig_attr_of_bool(true);
    }
    if (node->input_count > 1) {
        IG_TRY(ig_onnx_tensor(node, 1));
        return build_all(node, IG_OP_topk, 2, node->inputs, attrs);
    }
    ig_dim k = ig_dim_const(node->import->module, ig_onnx_attr_int(node, "k", 0));
    attrs[IG_topk_k] = ig_attr_of_dim(k);
    return build_all(node, IG_OP_topk, 1, node->inputs, attrs);
}

ig_status ig_onnx_import_unique(ig_onnx_node *node) {
    ig_attr attrs[IG_unique_attr_count] = {
        [IG_unique_order] = ig_attr_of_enum(
            ig_onnx_attr_int(node, "sorted", 1) ? IG_UNIQUE_sorted : IG_UNIQUE_first),
    };
    IG_TRY(ig_onnx_tensor(node, 0));
    if (ig_onnx_attr(node, "axis", NULL)) {
        uint32_t axis;
        IG_TRY(read_axis(node, 0, &axis));
        attrs[IG_unique_axis] = ig_attr_of_int(axis);
    }
    return build_all(node, IG_OP_unique, 1, node->inputs, attrs);
}

/* x + bias below -lambd, x - bias above lambd, 0 between. */
ig_status ig_onnx_import_shrink(ig_onnx_node *node) {
    double lambd = ig_onnx_attr_float(node, "lambd", 0.5);
    double bias = ig_onnx_attr_float(node, "bias", 0);
    ig_value *is_below, *is_above, *below, *above, *x = node->inputs[0];
    IG_TRY(ig_onnx_tensor(node, 0));
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_lt, x, -lambd, &is_below));
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_gt, x, lambd, &is_above));
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_add, x, bias, &below));
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_sub, x, bias, &above));
    ig_value *zero = ig_onnx_scalar(node, (ig_dtype)x->type->dtype, 0);
    IG_TRY(ig_onnx_build(node, IG_OP_where, 3, (ig_value *[]){ is_above, above, zero },
                         NULL, &above));
    return ig_onnx_build(node, IG_OP_where, 3, (ig_value *[]){ is_below, below, above },
                         NULL, &node->outputs[0]);
}

/* ---- where elements stand ---- */

ig_status ig_onnx_import_nonzero(ig_onnx_node *node) {
    const int64_t perm[] = { 1, 0 };
    ig_value *rows;
    IG_TRY(ig_onnx_tensor(node, 0));
    IG_TRY(ig_onnx_build1(node, IG_OP_nonzero, node->inputs[0], &rows));
    ig_attr attrs[IG_transpose_attr_count] = {
        [IG_transpose_perm] = ig_attr_of_ints(node->import->module, perm, 2),
    };
    return ig_onnx_build(node, IG_OP_transpose, 1, &rows, attrs, &node->outputs[0]);
}

/* The elements along an axis (or of all of x) whose condition holds. */
ig_status ig_onnx_import_compress(ig_onnx_node *node) {
    uint32_t axis = 0;
    ig_value *rows, *x = node->inputs[0];
    IG_TRY(ig_onnx_tensor(node, 0));
    IG_TRY(ig_onnx_tensor(node, 1));
    if (node->inputs[1]->type->rank != 1) {
        return ig_onnx_fail(node, IG_INVALID, "the condition must have rank 1");
    }
    if (ig_onnx_attr(node, "axis", NULL)) {
        IG_TRY(read_axis(node, 0, &axis));
    } else {
        ig_dim count = ig_type_count(node->import->module, x->type);
        IG_TRY(ig_onnx_reshape(node, x, 1, &count, &x));
    }
    IG_TRY(ig_onnx_build1(node, IG_OP_nonzero, node->inputs[1], &rows));
    IG_TRY(ig_onnx_reshape(node, rows, 1, rows->type->dims, &rows));
    ig_attr attrs[IG_gather_attr_count] = {
        [IG_gather_axis] = ig_attr_of_int(axis),
        [IG_gather_negative] = ig_attr_of_enum(IG_NEGATIVE_error),
    };
    return ig_onnx_build(node, IG_OP_gather, 2, (ig_value *[]){ x, rows }, attrs,
                         &node->outputs[0]);
}

/* ---- positions ---- */

/* 0, 1, 2 … along `axis` of a shape of `rank` ones. */
static ig_status positions(const ig_onnx_node *node, ig_dim extent, uint32_t rank,
                           uint32_t axis, ig_value **out_value) {
    ig_value *limit = ig_make_dims(node->builder, &extent, 1), *all;
    ig_value *from = ig_make_i64(node->builder, 0),
             *step = ig_make_i64(node->builder, 1);
    ig_dim dims[IG_TENSOR_RANK];
    IG_TRY(ig_onnx_reshape(node, limit, 0, NULL, &limit));
    IG_TRY(ig_onnx_build(node, IG_OP_range, 3, (ig_value *[]){ from, limit, step },
                         NULL, &all));
    for (uint32_t i = 0; i < rank; i++) {
        dims[i] = i == axis ? extent : ig_dim_of(1);
    }
    return ig_onnx_reshape(node, all, rank, dims, out_value);
}

/* Column minus row number of the last two axes of input 0. */
static ig_status diagonals(const ig_onnx_node *node, ig_value **out_value) {
    const ig_type *type = node->inputs[0]->type;
    ig_value *rows, *columns;
    if (type->rank < 2) {
        return ig_onnx_fail(node, IG_INVALID, "input 0 must have rank 2 or more");
    }
    IG_TRY(positions(node, type->dims[type->rank - 2], 2, 0, &rows));
    IG_TRY(positions(node, type->dims[type->rank - 1], 2, 1, &columns));
    return ig_onnx_build(node, IG_OP_sub, 2, (ig_value *[]){ columns, rows }, NULL,
                         out_value);
}

ig_status ig_onnx_import_trilu(ig_onnx_node *node) {
    bool is_upper = ig_onnx_attr_int(node, "upper", 1) != 0;
    ig_value *offset, *k = ig_make_i64(node->builder, 0), *is_kept;
    IG_TRY(ig_onnx_tensor(node, 0));
    IG_TRY(diagonals(node, &offset));
    if (ig_onnx_in(node, 1)) {
        IG_TRY(ig_onnx_tensor(node, 1));
        k = ig_make_cast(node->builder, node->inputs[1], IG_DT_i64);
        IG_TRY(ig_onnx_reshape(node, k, 0, NULL, &k));
    }
    IG_TRY(ig_onnx_build(node, is_upper ? IG_OP_ge : IG_OP_le, 2,
                         (ig_value *[]){ offset, k }, NULL, &is_kept));
    ig_dtype dtype = (ig_dtype)node->inputs[0]->type->dtype;
    ig_value *zero = ig_onnx_scalar(node, dtype, 0);
    return ig_onnx_build(node, IG_OP_where, 3,
                         (ig_value *[]){ is_kept, node->inputs[0], zero }, NULL,
                         &node->outputs[0]);
}

ig_status ig_onnx_import_eye_like(ig_onnx_node *node) {
    ig_value *offset, *is_one;
    ig_dtype dtype;
    IG_TRY(ig_onnx_tensor(node, 0));
    dtype = (ig_dtype)node->inputs[0]->type->dtype;
    if (ig_onnx_attr(node, "dtype", NULL)) {
        int64_t code = ig_onnx_attr_int(node, "dtype", 0);
        if (!ig_dtype_from_onnx(code, &dtype)) {
            return ig_onnx_fail(node, IG_UNSUPPORTED,
                                "element type %lld is not supported", (long long)code);
        }
    }
    IG_TRY(diagonals(node, &offset));
    ig_value *k = ig_make_i64(node->builder, ig_onnx_attr_int(node, "k", 0));
    IG_TRY(
        ig_onnx_build(node, IG_OP_eq, 2, (ig_value *[]){ offset, k }, NULL, &is_one));
    node->outputs[0] = ig_make_cast(node->builder, is_one, dtype);
    return IG_OK;
}

/* 1 where the first extreme of a line stands. */
static ig_status hardmax(const ig_onnx_node *node, ig_value *x, uint32_t axis,
                         ig_value **out_value) {
    ig_value *index, *all, *is_one;
    ig_attr attrs[IG_arg_reduce_attr_count] = {
        [IG_arg_reduce_axis] = ig_attr_of_int(axis),
        [IG_arg_reduce_keep] = ig_attr_of_bool(true),
    };
    IG_TRY(ig_onnx_build(node, IG_OP_arg_reduce, 1, &x, attrs, &index));
    IG_TRY(positions(node, x->type->dims[axis], x->type->rank, axis, &all));
    IG_TRY(
        ig_onnx_build(node, IG_OP_eq, 2, (ig_value *[]){ index, all }, NULL, &is_one));
    *out_value = ig_make_cast(node->builder, is_one, (ig_dtype)x->type->dtype);
    return IG_OK;
}

ig_status ig_onnx_import_hardmax(ig_onnx_node *node) {
    uint32_t axis;
    IG_TRY(read_axis(node, -1, &axis));
    return hardmax(node, node->inputs[0], axis, &node->outputs[0]);
}

/* Before opset 13: over all axes from `axis` on. */
ig_status ig_onnx_import_hardmax_flat(ig_onnx_node *node) {
    uint32_t axis;
    IG_TRY(read_axis(node, 1, &axis));
    ig_module *module = node->import->module;
    const ig_type *type = node->inputs[0]->type;
    ig_value *flat;
    ig_dim dims[2];
    dims[0] = ig_dim_product(module, type->dims, axis);
    dims[1] = ig_dim_product(module, type->dims + axis, type->rank - axis);
    IG_TRY(ig_onnx_reshape(node, node->inputs[0], 2, dims, &flat));
    IG_TRY(hardmax(node, flat, 1, &flat));
    return ig_onnx_reshape(node, flat, type->rank, type->dims, &node->outputs[0]);
}

/* Line k of the batch is turned around up to its length. */
ig_status ig_onnx_import_reverse_sequence(ig_onnx_node *node) {
    int64_t time = ig_onnx_attr_int(node, "time_axis", 0);
    int64_t batch = ig_onnx_attr_int(node, "batch_axis", 1);
    IG_TRY(ig_onnx_tensor(node, 0));
    IG_TRY(ig_onnx_tensor(node, 1));
    const ig_type *type = node->inputs[0]->type;
    if (time + batch != 1 || time * batch != 0 || type->rank < 2) {
        return ig_onnx_fail(node, IG_INVALID, "the axes must be 0 and 1, of rank >= 2");
    }
    ig_onnx_guard_extents(node, 0, (uint32_t)batch, 1, 0);
    ig_dim dims[IG_TENSOR_RANK];
    for (uint32_t i = 0; i < type->rank; i++) {
        dims[i] = i == batch ? type->dims[batch] : ig_dim_of(1);
    }
    ig_value *lengths = ig_make_cast(node->builder, node->inputs[1], IG_DT_i64);
    ig_value *at, *is_turned, *from, *last;
    IG_TRY(ig_onnx_reshape(node, lengths, type->rank, dims, &lengths));
    IG_TRY(positions(node, type->dims[time], type->rank, (uint32_t)time, &at));
    IG_TRY(ig_onnx_build(node, IG_OP_lt, 2, (ig_value *[]){ at, lengths }, NULL,
                         &is_turned));
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_sub, lengths, 1, &last));
    IG_TRY(ig_onnx_build(node, IG_OP_sub, 2, (ig_value *[]){ last, at }, NULL, &from));
    IG_TRY(ig_onnx_build(node, IG_OP_where, 3, (ig_value *[]){ is_turned, from, at },
                         NULL, &from));
    ig_attr to[IG_expand_attr_count] = {
        [IG_expand_to] = ig_attr_of_dims(node->import->module, type->dims, type->rank)
    };
    IG_TRY(ig_onnx_build(node, IG_OP_expand, 1, &from, to, &from));
    ig_attr attrs[IG_gather_elements_attr_count] = { [IG_gather_elements_axis] =
                                                         ig_attr_of_int(time) };
    return ig_onnx_build(node, IG_OP_gather_elements, 2,
                         (ig_value *[]){ node->inputs[0], from }, attrs,
                         &node->outputs[0]);
}
