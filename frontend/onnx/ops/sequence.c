/* Sequences: host values.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/onnx/ops/hooks.h"

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
    for (uint32_t i = 0; i < item->rank; i++) {
        bool is_known = ig_dim_is_static(item->dims[i]);
        dims[i] = is_known ? item->dims[i] : ig_dim_symbol(m, "s");
    }
    item = ig_type_with_dims(m, item, item->rank, dims);
    return ig_type_host(m, IG_SEQUENCE, item);
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

/* ---- operators ---- */

static ig_value *read_sequence(const ig_onnx_node *node) {
    ig_value *x = node->inputs[0];
    return x->type->kind == IG_SEQUENCE
               ? x
               : ig_expr_fail(node->e, IG_INVALID,
                              "input 0 is a tensor, expected a sequence");
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
    if (item->type->kind != IG_TENSOR) {
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

ig_status ig_onnx_import_sequence_at(ig_onnx_node *node) {
    return ig_onnx_give(node,
                        ig_build_seq_at(node->e, read_typed(node), node->inputs[1]));
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
    if (x) {
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
