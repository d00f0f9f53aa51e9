/* Constants and generators.
 * SPDX-License-Identifier: Apache-2.0
 *
 * ConstantOfShape is an expand of a scalar: nothing of the size that a file asks for is
 * made here.
 */
#include "frontend/onnx/ops/hooks.h"
#include "frontend/onnx/import/import.h"

static const char *name_of(const ig_onnx_node *node) {
    return node->proto->output[0];
}

/* `count` numbers, or one of rank 0. */
static ig_status give_numbers(ig_onnx_node *node, ig_dtype dtype, uint32_t rank,
                              size_t count, const void *bytes) {
    ig_dim dim = ig_dim_of((int64_t)count);
    int64_t size = 0;
    (void)ig_dtype_bytes(dtype, (int64_t)count, &size);
    ig_data data = { .type = ig_type_tensor(node->import->module, dtype, rank, &dim),
                     .bytes = bytes ? bytes : "",
                     .size = size };
    node->outputs[0] = ig_onnx_constant(node->import, node->builder, name_of(node),
                                        &data);
    return IG_OK;
}

static ig_status give_tensor(ig_onnx_node *node, const Onnx__AttributeProto *attr) {
    ig_data data;
    const char *what = ig_arena_printf(node->import->arena, "attribute '%s'",
                                       attr->name);
    if (attr->t) {
        IG_TRY(ig_onnx_tensor_data(node->import->model, attr->t, what, &node->where,
                                   &data));
    } else {
        IG_TRY(ig_onnx_sparse_data(node->import->model, attr->sparse_tensor, what,
                                   &node->where, &data));
    }
    node->outputs[0] = ig_onnx_constant(node->import, node->builder, name_of(node),
                                        &data);
    return IG_OK;
}

static ig_status give_attribute(ig_onnx_node *node, const Onnx__AttributeProto *attr) {
    switch (ig_onnx_attr_type(attr)) {
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR:
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__SPARSE_TENSOR:
        return give_tensor(node, attr);
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT:
        return give_numbers(node, IG_DT_f32, 0, 1, &attr->f);
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT:
        return give_numbers(node, IG_DT_i64, 0, 1, &attr->i);
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS:
        return give_numbers(node, IG_DT_f32, 1, attr->n_floats, attr->floats);
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS:
        return give_numbers(node, IG_DT_i64, 1, attr->n_ints, attr->ints);
    default:
        return ig_onnx_fail(node, IG_UNSUPPORTED,
                            "constants of strings are not supported yet");
    }
}

ig_status ig_onnx_import_constant(ig_onnx_node *node) {
    const Onnx__AttributeProto *found = NULL;
    size_t count = 0;
    for (const ig_onnx_attr_row *a = node->row->attrs; a->name; a++) {
        const Onnx__AttributeProto *attr = ig_onnx_attr(node, a->name, NULL);
        found = attr ? attr : found;
        count += attr != NULL;
    }
    if (count != 1) {
        return ig_onnx_fail(node, IG_INVALID, "gives %zu values, expected one", count);
    }
    return give_attribute(node, found);
}

ig_status ig_onnx_import_constant_of_shape(ig_onnx_node *node) {
    const Onnx__AttributeProto *attr = ig_onnx_attr(node, "value", NULL);
    ig_value *scalar = NULL;
    ig_module *module = node->import->module;
    IG_TRY(ig_onnx_tensor(node, 0));
    if (attr) {
        ig_data data;
        IG_TRY(ig_onnx_tensor_data(node->import->model, attr->t, "attribute 'value'",
                                   &node->where, &data));
        if (!ig_dim_is(ig_type_count(module, data.type), 1)) {
            return ig_onnx_fail(node, IG_INVALID,
                                "attribute 'value' must hold one element");
        }
        const ig_type *type = ig_type_with_dims(module, data.type, 0, NULL);
        scalar = ig_make_const(node->builder, type, data.bytes);
    } else {
        scalar = ig_onnx_scalar(node, IG_DT_f32, 0);
    }
    ig_dims_value shape;
    if (ig_onnx_dims(node, 0, &shape) && shape.rank == 1) {
        ig_attr attrs[IG_expand_attr_count] = { [IG_expand_to] = ig_attr_of_dims(
                                                    module, shape.dims, shape.count) };
        return ig_onnx_build(node, IG_OP_expand, 1, &scalar, attrs, &node->outputs[0]);
    }
    return ig_onnx_build(node, IG_OP_expand, 2,
                         (ig_value *[]){ scalar, node->inputs[0] }, NULL,
                         &node->outputs[0]);
}

ig_status ig_onnx_import_range(ig_onnx_node *node) {
    ig_value *scalars[3];
    for (uint32_t i = 0; i < 3; i++) {
        IG_TRY(ig_onnx_tensor(node, i));
        scalars[i] = node->inputs[i];
        if (scalars[i]->type->rank > 0) { /* files give [1] for a scalar */
            IG_TRY(ig_onnx_reshape(node, scalars[i], 0, NULL, &scalars[i]));
        }
    }
    return ig_onnx_build(node, IG_OP_range, 3, scalars, NULL, &node->outputs[0]);
}
