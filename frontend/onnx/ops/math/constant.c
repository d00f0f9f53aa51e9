/* Constants and generators.
 * SPDX-License-Identifier: Apache-2.0
 *
 * ConstantOfShape is an expand of a scalar: nothing of the size that a file asks for is
 * made here.
 */
#include "frontend/onnx/ops/math/constant.h"

#include "frontend/onnx/ops/hooks.h"
#include "frontend/onnx/ops/text/text.h"

/* A list of `count` fields, or one of rank 0. */
static ig_data list_data(const ig_onnx_node *node, ig_dtype dtype, uint32_t rank,
                         size_t count, const void *bytes) {
    ig_dim dim = ig_dim_of((int64_t)count);
    ig_data data = { .type = ig_type_tensor(node->import->module, dtype, rank, &dim),
                     .bytes = bytes ? bytes : "" };
    (void)ig_dtype_bytes(dtype, (int64_t)count, &data.size);
    return data;
}

/* The constant that an attribute holds. */
static ig_status read_data(const ig_onnx_node *node, const Onnx__AttributeProto *attr,
                           ig_data *out_data) {
    const char *what = ig_arena_printf(node->import->arena, "attribute '%s'",
                                       attr->name);
    switch (ig_onnx_attr_type(attr)) {
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR:
        return ig_onnx_tensor_data(node->import->model, attr->t, what, &node->where,
                                   out_data);
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__SPARSE_TENSOR:
        return ig_onnx_sparse_data(node->import->model, attr->sparse_tensor, what,
                                   &node->where, out_data);
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT:
        *out_data = list_data(node, IG_DT_f32, 0, 1, &attr->f);
        return IG_OK;
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT:
        *out_data = list_data(node, IG_DT_i64, 0, 1, &attr->i);
        return IG_OK;
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS:
        *out_data = list_data(node, IG_DT_f32, 1, attr->n_floats, attr->floats);
        return IG_OK;
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS:
        *out_data = list_data(node, IG_DT_i64, 1, attr->n_ints, attr->ints);
        return IG_OK;
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING:
        return ig_onnx_text_data(node, 0, &attr->s, 1, out_data);
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS:
        return ig_onnx_text_data(node, 1, attr->strings, attr->n_strings, out_data);
    default:
        return ig_onnx_fail(node, IG_INVALID, "attribute '%s' holds no constant",
                            attr->name);
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
    ig_data data;
    IG_TRY(read_data(node, found, &data));
    return ig_onnx_give(node,
                        ig_make_data(node->builder, node->proto->output[0], &data));
}

ig_value *ig_onnx_attr_value(ig_onnx_node *node, const char *name) {
    const Onnx__AttributeProto *attr = ig_onnx_attr(node, name, NULL);
    ig_data data;
    if (!attr || !ig_expr_note(node->e, read_data(node, attr, &data))) {
        return NULL;
    }
    return ig_make_data(node->builder, name, &data);
}

/* Attribute `value`, of one element, as a scalar; 0 when absent. */
static ig_value *read_value(const ig_onnx_node *node) {
    const Onnx__AttributeProto *attr = ig_onnx_attr(node, "value", NULL);
    ig_module *m = node->import->module;
    ig_data data;
    if (!attr) {
        return ig_expr_number(node->e, IG_DT_f32, 0);
    }
    if (!ig_expr_note(node->e, read_data(node, attr, &data))) {
        return NULL;
    }
    if (!ig_dim_is(ig_type_count(m, data.type), 1)) {
        return ig_expr_fail(node->e, IG_INVALID,
                            "attribute 'value' has rank %u, expected one element",
                            data.type->rank);
    }
    data.type = ig_type_with_dims(m, data.type, 0, NULL);
    return ig_make_data(node->builder, "value", &data);
}

ig_status ig_onnx_import_constant_of_shape(ig_onnx_node *node) {
    ig_value *scalar = read_value(node), *wanted = node->inputs[0];
    ig_expand_attrs attrs = { 0 };
    ig_dims_value shape;
    if (ig_onnx_shape(node, 0, &shape)) {
        attrs.to = (ig_dims){ shape.dims, shape.count };
        wanted = NULL;
    }
    return ig_onnx_give(node, ig_build_expand(node->e, scalar, wanted, attrs));
}

ig_status ig_onnx_import_range(ig_onnx_node *node) {
    ig_expr *e = node->e;
    ig_value *start = ig_onnx_scalar_input(node, 0);
    ig_value *limit = ig_onnx_scalar_input(node, 1);
    ig_value *step = ig_onnx_in(node, 2)
                         ? ig_onnx_scalar_input(node, 2)
                         : ig_expr_like(e, ig_expr_integer(e, IG_DT_i64, 1), start);
    return ig_onnx_give(node, ig_build_range(node->e, start, limit, step));
}
