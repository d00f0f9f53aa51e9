/* Sequences and optionals whose items are not known yet.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/onnx/import/import.h"

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

ig_value *ig_onnx_none(ig_builder *builder, const ig_type *type) {
    ig_op_spec spec = { .result_types = &type, .result_count = 1 };
    return ig_op_result(ig_make_op(builder, IG_OP_opt_none, &spec), 0);
}

/* The tensors that a host value holds in the end. */
static const ig_type *find_innermost(const ig_type *type) {
    while (type->element) {
        type = type->element;
    }
    return type;
}

/* Do both hold such tensors in the same way? */
static bool is_held_alike(const ig_type *a, const ig_type *b) {
    for (; a->element && b->element && a->kind == b->kind; a = a->element) {
        b = b->element;
    }
    return a->kind == IG_TENSOR && (b->kind == IG_TENSOR || b->kind == IG_ANY) &&
           a->dtype == b->dtype;
}

ig_status ig_onnx_settle(const ig_onnx_node *node, ig_builder *builder,
                         const ig_type *type, ig_value **sequence) {
    ig_value *open = *sequence;
    if (!is_held_alike(open->type, type)) {
        return ig_onnx_fail(node, IG_INVALID, "%s of %s is used as one of another type",
                            open->type->kind == IG_OPTIONAL ? "an optional"
                                                            : "a sequence",
                            ig_dtypes[find_innermost(open->type)->dtype].name);
    }
    if (!open->def) {
        ig_value_retype(open, type);
        ig_onnx_set_untyped(node->import, open, false);
    } else if (open->def->code == IG_OP_seq_empty) {
        *sequence = ig_onnx_empty_sequence(builder, type);
    } else if (open->def->code == IG_OP_opt_none) {
        *sequence = ig_onnx_none(builder, type);
    } else {
        return ig_onnx_fail(node, IG_UNSUPPORTED,
                            "the rank of the items of a sequence is learnt too late");
    }
    return IG_OK;
}
