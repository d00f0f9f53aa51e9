/* Sequences and optionals: host values.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/onnx/ops/hooks.h"

ig_status ig_onnx_import_sequence_empty(ig_onnx_node *node) {
    ig_module *m = node->import->module;
    ig_dtype dtype = ig_onnx_attr_dtype(node, "dtype", IG_DT_f32);
    const ig_type *item = ig_type_tensor(m, dtype, 0, NULL);
    ig_value *empty = ig_onnx_empty_sequence(node->builder,
                                             ig_type_host(m, IG_SEQUENCE, item));
    ig_onnx_set_untyped(node->import, empty, true);
    return ig_onnx_give(node, empty);
}

/* A sequence of items like `item`: known extents stay, others may be anything. */
static const ig_type *sequence_of(const ig_onnx_node *node, const ig_type *item) {
    ig_module *m = node->import->module;
    ig_dim dims[IG_TENSOR_RANK];
    if (item->kind == IG_ANY) {
        return ig_type_host(m, IG_SEQUENCE, item);
    }
    for (uint32_t i = 0; i < item->rank; i++) {
        bool is_known = ig_dim_is_static(item->dims[i]);
        dims[i] = is_known ? item->dims[i] : ig_dim_symbol(m, "s");
    }
    item = ig_type_with_dims(m, item, item->rank, dims);
    return ig_type_host(m, IG_SEQUENCE, item);
}

/* ---- operators ---- */

static ig_value *read_sequence(const ig_onnx_node *node) {
    ig_value *x = node->inputs[0];
    return x->type->kind == IG_SEQUENCE
               ? x
               : ig_expr_fail(node->e, IG_INVALID, "input 0 is %s, expected a sequence",
                              x->type->kind == IG_OPTIONAL ? "an optional"
                                                           : "a tensor");
}

/* A sequence whose items' rank is known; operators that depend on it need one. */
static ig_value *read_typed(const ig_onnx_node *node) {
    ig_value *x = read_sequence(node);
    return !x || !ig_onnx_is_untyped(node->import, x)
               ? x
               : ig_expr_fail(
                     node->e, IG_UNSUPPORTED,
                     "reads a sequence that is always empty, so the rank of its items is not known");
}

ig_status ig_onnx_import_sequence_insert(ig_onnx_node *node) {
    ig_value *sequence = read_sequence(node), *item = node->inputs[1];
    if (item->type->kind != IG_TENSOR && item->type->kind != IG_ANY) {
        return ig_onnx_fail(node, IG_INVALID,
                            "input 1 is a sequence, expected a tensor");
    }
    if (sequence && ig_onnx_is_untyped(node->import, sequence)) {
        IG_TRY(ig_onnx_settle(node, node->builder, sequence_of(node, item->type),
                              &sequence));
    }
    return ig_onnx_give(
        node, ig_build_seq_insert(node->e, sequence, item, ig_onnx_in(node, 2)));
}

/* The item at a known position of items that are all known, so that its rank is; or
 * NULL. */
static ig_value *known_item(const ig_value *sequence, const ig_value *position) {
    int64_t at;
    const ig_op *make = ig_def(sequence, IG_OP_seq_make);
    if (!make || !ig_constant_i64(position, &at)) {
        return NULL;
    }
    at += at < 0 ? make->operand_count : 0;
    return at >= 0 && at < make->operand_count ? make->operands[at].value : NULL;
}

ig_status ig_onnx_import_sequence_at(ig_onnx_node *node) {
    ig_value *x = read_typed(node), *position = node->inputs[1];
    ig_value *item = x && x->type->element->kind == IG_ANY ? known_item(x, position)
                                                           : NULL;
    return ig_onnx_give(node, item ? item : ig_build_seq_at(node->e, x, position));
}

ig_status ig_onnx_import_sequence_erase(ig_onnx_node *node) {
    return ig_onnx_give(
        node, ig_build_seq_erase(node->e, read_typed(node), ig_onnx_in(node, 1)));
}

ig_status ig_onnx_import_sequence_length(ig_onnx_node *node) {
    return ig_onnx_give(node, ig_build_seq_length(node->e, read_sequence(node)));
}

ig_status ig_onnx_import_concat_from_sequence(ig_onnx_node *node) {
    ig_value *x = read_typed(node);
    ig_seq_concat_attrs attrs = { .stack = ig_onnx_attr_bool(node, "new_axis", false) };
    if (x && x->type->element->kind == IG_TENSOR) { /* else the op says it */
        uint32_t rank = x->type->element->rank + attrs.stack;
        attrs.axis = ig_onnx_axis_attr(node, "axis", 0, rank);
    }
    return ig_onnx_give(node, ig_build_seq_concat(node->e, x, attrs));
}

ig_status ig_onnx_import_split_to_sequence(ig_onnx_node *node) {
    ig_value *x = node->inputs[0], *sizes = ig_onnx_in(node, 1);
    ig_split_to_seq_attrs attrs = {
        .axis = ig_onnx_axis_attr(node, "axis", 0, x->type->rank),
        .keep = sizes || ig_onnx_attr_bool(node, "keepdims", true),
    };
    return ig_onnx_give(node, ig_build_split_to_seq(node->e, x, sizes, attrs));
}

/* ---- optionals: an input that is none is there, or absent ---- */

static bool is_optional(const ig_value *value) {
    return value && value->type->kind == IG_OPTIONAL;
}

ig_status ig_onnx_import_has_element(ig_onnx_node *node) {
    ig_value *x = ig_onnx_in(node, 0);
    if (!is_optional(x)) {
        return ig_onnx_give(node, ig_expr_number(node->e, IG_DT_bool, x != NULL));
    }
    ig_value *count = ig_build_seq_length(node->e, x);
    return ig_onnx_give(node, ig_expr_with_integer(node->e, IG_OP_ne, count, 0));
}

ig_status ig_onnx_import_get_element(ig_onnx_node *node) {
    ig_value *x = node->inputs[0];
    if (is_optional(x)) {
        ig_value *first = ig_expr_integer(node->e, IG_DT_i64, 0);
        x = ig_build_seq_at(node->e, x, first);
    }
    return ig_onnx_give(node, x);
}

/* A tensor's type as an attribute gives it; its open parts may be anything. */
static ig_status read_tensor_type(const ig_onnx_node *node,
                                  const Onnx__TypeProto__Tensor *proto,
                                  const ig_type **out_type) {
    ig_module *m = node->import->module;
    size_t rank = proto->shape ? proto->shape->n_dim : 0;
    ig_dtype dtype;
    ig_dim dims[IG_TENSOR_RANK];
    if (!ig_dtype_from_onnx(proto->elem_type, &dtype) || rank > IG_TENSOR_RANK) {
        return ig_onnx_fail(node, IG_UNSUPPORTED,
                            "attribute 'type' is of tensors that are not supported");
    }
    for (size_t i = 0; i < rank; i++) {
        const Onnx__TensorShapeProto__Dimension *dim = proto->shape->dim[i];
        bool is_known = dim->value_case ==
                            ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE &&
                        dim->dim_value >= 0;
        dims[i] = is_known ? ig_dim_of(dim->dim_value) : ig_dim_symbol(m, "s");
    }
    *out_type = ig_type_tensor(m, dtype, (uint32_t)rank, dims);
    return IG_OK;
}

/* The type of an absent value: a tensor, or a sequence of tensors. */
static ig_status read_absent_type(const ig_onnx_node *node, const ig_type **out_type) {
    const Onnx__AttributeProto *attr = ig_onnx_attr(node, "type", NULL);
    const Onnx__TypeProto *type = attr ? attr->tp : NULL;
    bool is_sequence = type &&
                       type->value_case == ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE;
    type = is_sequence ? type->sequence_type->elem_type : type;
    if (!type || type->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE) {
        return ig_onnx_fail(
            node, attr ? IG_UNSUPPORTED : IG_INVALID,
            attr ? "attribute 'type' is neither a tensor nor a sequence of tensors"
                 : "has neither an input nor the attribute 'type'");
    }
    IG_TRY(read_tensor_type(node, type->tensor_type, out_type));
    if (is_sequence) {
        *out_type = ig_type_host(node->import->module, IG_SEQUENCE, *out_type);
    }
    return IG_OK;
}

/* An absent value has no shape, so its type may give way as an empty sequence's. */
ig_status ig_onnx_import_optional(ig_onnx_node *node) {
    ig_value *x = ig_onnx_in(node, 0);
    const ig_type *type = NULL;
    if (x) {
        return ig_onnx_give(node, ig_build_opt_make(node->e, x));
    }
    IG_TRY(read_absent_type(node, &type));
    type = ig_type_host(node->import->module, IG_OPTIONAL, type);
    ig_value *none = ig_onnx_none(node->builder, type);
    ig_onnx_set_untyped(node->import, none, true);
    return ig_onnx_give(node, none);
}
