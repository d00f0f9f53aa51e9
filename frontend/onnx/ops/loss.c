/* Losses of classes.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     loss = - w[target] x[…, target, …]: summed, averaged by weight, or as it is
 *
 * Targets that are to be ignored weigh nothing.
 */
#include "frontend/onnx/ops/hooks.h"
#include "frontend/onnx/import/import.h"

typedef struct loss {
    const ig_onnx_node *node;
    ig_value *x, *target, *weights; /* weights: NULL when all are 1 */
} loss;

/* w[target], 0 where the target is ignored; the target becomes one that may be read. */
static ig_status weigh(loss *l, ig_value **out_weights) {
    const ig_onnx_node *node = l->node;
    ig_dtype dtype = (ig_dtype)l->x->type->dtype;
    ig_value *is_ignored = NULL, *weights = NULL;
    if (ig_onnx_attr(node, "ignore_index", NULL)) {
        int64_t ignored = ig_onnx_attr_int(node, "ignore_index", 0);
        ig_value *zero = ig_make_i64(node->builder, 0);
        ig_value *index = ig_make_i64(node->builder, ignored);
        IG_TRY(ig_onnx_build(node, IG_OP_eq, 2, (ig_value *[]){ l->target, index },
                             NULL, &is_ignored));
        IG_TRY(ig_onnx_build(node, IG_OP_where, 3,
                             (ig_value *[]){ is_ignored, zero, l->target }, NULL,
                             &l->target));
        weights = ig_onnx_scalar(node, dtype, 1);
    }
    if (l->weights) {
        ig_attr along[IG_gather_attr_count] = { [IG_gather_axis] = ig_attr_of_int(0) };
        IG_TRY(ig_onnx_build(node, IG_OP_gather, 2,
                             (ig_value *[]){ l->weights, l->target }, along, &weights));
    }
    if (is_ignored) {
        ig_value *none = ig_onnx_scalar(node, dtype, 0);
        IG_TRY(ig_onnx_build(node, IG_OP_where, 3,
                             (ig_value *[]){ is_ignored, none, weights }, NULL,
                             &weights));
    }
    *out_weights = weights;
    return IG_OK;
}

/* -x[…, target, …] */
static ig_status pick(const loss *l, ig_value **out_value) {
    const ig_type *target = l->target->type;
    ig_dim dims[IG_TENSOR_RANK];
    ig_value *index, *picked;
    dims[0] = target->dims[0];
    dims[1] = ig_dim_of(1);
    for (uint32_t d = 1; d < target->rank; d++) {
        dims[d + 1] = target->dims[d];
    }
    IG_TRY(ig_onnx_reshape(l->node, l->target, target->rank + 1, dims, &index));
    ig_attr along[IG_gather_elements_attr_count] = { [IG_gather_elements_axis] =
                                                         ig_attr_of_int(1) };
    IG_TRY(ig_onnx_build(l->node, IG_OP_gather_elements, 2,
                         (ig_value *[]){ l->x, index }, along, &picked));
    IG_TRY(ig_onnx_reshape(l->node, picked, target->rank, target->dims, &picked));
    return ig_onnx_build1(l->node, IG_OP_neg, picked, out_value);
}

static ig_status total(const ig_onnx_node *node, ig_reduce kind, ig_value *x,
                       ig_value **out_value) {
    ig_attr attrs[IG_reduce_attr_count] = { [IG_reduce_op] = ig_attr_of_enum(kind) };
    return ig_onnx_build(node, IG_OP_reduce, 1, &x, attrs, out_value);
}

static ig_status build_loss(loss *l, ig_value **out_value) {
    const ig_onnx_node *node = l->node;
    ig_str reduction = ig_onnx_attr_str(node, "reduction", "mean");
    bool is_mean = ig_str_is(reduction, "mean");
    ig_value *weights, *each, *sum;
    IG_TRY(weigh(l, &weights));
    IG_TRY(pick(l, &each));
    if (weights) {
        IG_TRY(ig_onnx_build2(node, IG_OP_mul, each, weights, &each));
    }
    if (ig_str_is(reduction, "none")) {
        *out_value = each;
        return IG_OK;
    }
    if (!is_mean || !weights) {
        return total(node, is_mean ? IG_REDUCE_mean : IG_REDUCE_sum, each, out_value);
    }
    IG_TRY(total(node, IG_REDUCE_sum, each, &sum));
    IG_TRY(total(node, IG_REDUCE_sum, weights, &weights));
    return ig_onnx_build2(node, IG_OP_div, sum, weights, out_value);
}

static ig_status open_loss(const ig_onnx_node *node, loss *l) {
    IG_TRY(ig_onnx_float_tensor(node, 0));
    IG_TRY(ig_onnx_tensor(node, 1));
    const ig_type *x = node->inputs[0]->type, *target = node->inputs[1]->type;
    if (x->rank < 2 || target->rank + 1 != x->rank || target->rank == 0) {
        return ig_onnx_fail(
            node, IG_INVALID,
            "inputs of rank %u and %u: the second has all axes of the first but that of the classes",
            x->rank, target->rank);
    }
    *l = (loss){ .node = node, .x = node->inputs[0], .weights = ig_onnx_in(node, 2) };
    l->target = ig_make_cast(node->builder, node->inputs[1], IG_DT_i64);
    for (uint32_t d = 0; d < target->rank; d++) {
        ig_onnx_guard_extents(node, 0, d ? d + 1 : 0, 1, d);
    }
    return l->weights ? ig_onnx_tensor(node, 2) : IG_OK;
}

ig_status ig_onnx_import_class_loss(ig_onnx_node *node) {
    loss l;
    IG_TRY(open_loss(node, &l));
    return build_loss(&l, &node->outputs[0]);
}

/* The same of the logarithm of softmax, which is a result too. */
ig_status ig_onnx_import_softmax_loss(ig_onnx_node *node) {
    loss l;
    IG_TRY(open_loss(node, &l));
    ig_attr attrs[IG_softmax_attr_count] = {
        [IG_softmax_axis] = ig_attr_of_int(1), [IG_softmax_log] = ig_attr_of_bool(true)
    };
    IG_TRY(ig_onnx_build(node, IG_OP_softmax, 1, node->inputs, attrs, &l.x));
    if (node->output_count > 1) {
        node->outputs[1] = l.x;
    }
    return build_loss(&l, &node->outputs[0]);
}
