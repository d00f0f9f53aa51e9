/* Sequences: host values.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/onnx/ops/hooks.h"
#include "frontend/onnx/import/import.h"

/* ---- empty sequences ---- */

bool ig_onnx_is_untyped(const ig_onnx_import *import, const ig_value *sequence) {
    return ig_map_get_id(&import->untyped, IG_MAP_PTR(sequence)) != NULL;
}

void ig_onnx_set_untyped(ig_onnx_import *import, const ig_value *sequence, bool is_so) {
    if (is_so || ig_onnx_is_untyped(import, sequence)) {
        ig_map_set_id(&import->untyped, IG_MAP_PTR(sequence), is_so ? (void *)1 : NULL);
    }
}

ig_value *ig_onnx_empty_sequence(ig_builder *builder, const ig_type *type) {
    ig_dtype dtype = (ig_dtype)type->element->dtype;
    ig_attr attrs[IG_seq_empty_attr_count] = { [IG_seq_empty_of] =
                                                   ig_attr_of_dtype(dtype) };
    ig_op_spec spec = { .result_types = &type, .result_count = 1, .attrs = attrs };
    return ig_op_result(ig_make_op(builder, IG_OP_seq_empty, &spec), 0);
}

ig_status ig_onnx_import_sequence_empty(ig_onnx_node *node) {
    ig_module *module = node->import->module;
    ig_dtype dtype;
    int64_t code = ig_onnx_attr_int(node, "dtype",
                                    ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT);
    if (!ig_dtype_from_onnx(code, &dtype)) {
        return ig_onnx_fail(node, IG_UNSUPPORTED,
                            "sequences of element type %lld are not supported",
                            (long long)code);
    }
    const ig_type *item = ig_type_tensor(module, dtype, 0, NULL);
    const ig_type *type = ig_type_host(module, IG_SEQUENCE, item);
    node->outputs[0] = ig_onnx_empty_sequence(node->builder, type);
    ig_onnx_set_untyped(node->import, node->outputs[0], true);
    return IG_OK;
}

/* A sequence of what `item` is: numbers stay, other extents may be anything. */
static const ig_type *sequence_of(const ig_onnx_node *node, const ig_type *item) {
    ig_module *module = node->import->module;
    ig_dim dims[IG_TENSOR_RANK];
    for (uint32_t i = 0; i < item->rank; i++) {
        bool is_number = ig_dim_is_static(item->dims[i]);
        dims[i] = is_number ? item->dims[i] : ig_dim_symbol(module, "s");
    }
    item = ig_type_with_dims(module, item, item->rank, dims);
    return ig_type_host(module, IG_SEQUENCE, item);
}

ig_status ig_onnx_settle(const ig_onnx_node *node, ig_builder *builder,
                         const ig_type *type, ig_value **sequence) {
    ig_value *open = *sequence;
    ig_dtype dtype = (ig_dtype)open->type->element->dtype;
    if (type->kind != IG_SEQUENCE || type->element->dtype != dtype) {
        return ig_onnx_fail(node, IG_INVALID,
                            "a sequence of %s is used as one of another type",
                            ig_dtypes[dtype].name);
    }
    if (!open->def) {
        ig_value_retype(open, type);
        ig_onnx_set_untyped(node->import, open, false);
    } else if (open->def->code == IG_OP_seq_empty) {
        *sequence = ig_onnx_empty_sequence(builder, type);
    } else {
        return ig_onnx_fail(node, IG_UNSUPPORTED,
                            "the rank of the items of a sequence is learnt too late");
    }
    return IG_OK;
}

/* ---- checks ---- */

static ig_status check_sequence(const ig_onnx_node *node, uint32_t index) {
    const ig_value *x = ig_onnx_in(node, index);
    if (!x || x->type->kind != IG_SEQUENCE) {
        return ig_onnx_fail(node, IG_INVALID, "input %u must be a sequence", index);
    }
    return IG_OK;
}

/* Operators whose result depends on what the items are. */
static ig_status check_typed(const ig_onnx_node *node) {
    IG_TRY(check_sequence(node, 0));
    if (ig_onnx_is_untyped(node->import, node->inputs[0])) {
        return ig_onnx_fail(
            node, IG_UNSUPPORTED,
            "reads a sequence that is always empty, so the rank of its items is not known");
    }
    return IG_OK;
}

/* ---- operators ---- */

ig_status ig_onnx_import_sequence_construct(ig_onnx_node *node) {
    for (uint32_t i = 0; i < node->input_count; i++) {
        IG_TRY(ig_onnx_tensor(node, i));
    }
    return ig_onnx_build(node, IG_OP_seq_make, node->input_count, node->inputs, NULL,
                         &node->outputs[0]);
}

ig_status ig_onnx_import_sequence_insert(ig_onnx_node *node) {
    IG_TRY(check_sequence(node, 0));
    IG_TRY(ig_onnx_tensor(node, 1));
    ig_value *operands[3] = { node->inputs[0], node->inputs[1], ig_onnx_in(node, 2) };
    if (ig_onnx_is_untyped(node->import, operands[0])) {
        IG_TRY(ig_onnx_settle(node, node->builder, sequence_of(node, operands[1]->type),
                              &operands[0]));
    }
    return ig_onnx_build(node, IG_OP_seq_insert, operands[2] ? 3 : 2, operands, NULL,
                         &node->outputs[0]);
}

ig_status ig_onnx_import_sequence_at(ig_onnx_node *node) {
    IG_TRY(check_typed(node));
    IG_TRY(ig_onnx_tensor(node, 1));
    return ig_onnx_build(node, IG_OP_seq_at, 2, node->inputs, NULL, &node->outputs[0]);
}

ig_status ig_onnx_import_sequence_erase(ig_onnx_node *node) {
    IG_TRY(check_typed(node));
    return ig_onnx_build(node, IG_OP_seq_erase, ig_onnx_in(node, 1) ? 2 : 1,
                         node->inputs, NULL, &node->outputs[0]);
}

ig_status ig_onnx_import_sequence_length(ig_onnx_node *node) {
    IG_TRY(check_sequence(node, 0));
    return ig_onnx_build1(node, IG_OP_seq_length, node->inputs[0], &node->outputs[0]);
}

ig_status ig_onnx_import_concat_from_sequence(ig_onnx_node *node) {
    IG_TRY(check_typed(node));
    bool is_stack = ig_onnx_attr_int(node, "new_axis", 0) != 0;
    uint32_t axis, rank = node->inputs[0]->type->element->rank + is_stack;
    IG_TRY(ig_onnx_axis(node, ig_onnx_attr_int(node, "axis", 0), rank, &axis));
    ig_attr attrs[IG_seq_concat_attr_count] = { [IG_seq_concat_axis] =
                                                    ig_attr_of_int(axis) };
    if (is_stack) {
        attrs[IG_seq_concat_stack] = ig_attr_of_bool(true);
    }
    return ig_onnx_build(node, IG_OP_seq_concat, 1, node->inputs, attrs,
                         &node->outputs[0]);
}

ig_status ig_onnx_import_split_to_sequence(ig_onnx_node *node) {
    uint32_t axis;
    IG_TRY(ig_onnx_tensor(node, 0));
    IG_TRY(ig_onnx_axis(node, ig_onnx_attr_int(node, "axis", 0),
                        node->inputs[0]->type->rank, &axis));
    ig_attr attrs[IG_split_to_seq_attr_count] = { [IG_split_to_seq_axis] =
                                                      ig_attr_of_int(axis) };
    bool has_sizes = ig_onnx_in(node, 1) != NULL;
    if (has_sizes || ig_onnx_attr_int(node, "keepdims", 1)) {
        attrs[IG_split_to_seq_keep] = ig_attr_of_bool(true);
    }
    return ig_onnx_build(node, IG_OP_split_to_seq, has_sizes ? 2 : 1, node->inputs,
                         attrs, &node->outputs[0]);
}
