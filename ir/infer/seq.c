/* Result types of sequence ops.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The items of a sequence share dtype and rank; their extents may differ.  Where ranks
 * differ too the sequence is one of any rank, f32[*]: an item taken out of it is a
 * tensor of any rank, f32[*], which can be handed on and given.  In an element type of
 * a rank only a number is a constraint: an extent that is an expression means any one,
 * and an item taken out gets a symbol of its own there.  That lets a loop carry
 * a sequence under one type while items of any length are put in.
 *
 * An optional is counted and read as a sequence of one item or none.  The item may be a
 * sequence.
 */
#include "ir/hooks.h"
#include "ir/infer/infer.h"

#include <string.h>

static ig_status check_sequence(const ig_op *op, uint32_t operand) {
    const ig_type *type = ig_operand_type(op, operand);
    bool is_good = type->kind == IG_SEQUENCE &&
                   (type->element->kind == IG_TENSOR || type->element->kind == IG_ANY);
    return is_good ? IG_OK
                   : INFER_ERROR(op, "operand %u is %s, expected a sequence", operand,
                                 ig_operand_text(op, operand));
}

static ig_status check_rank_known(const ig_op *op, uint32_t operand) {
    const ig_type *element = ig_operand_type(op, operand)->element;
    return element->kind != IG_ANY
               ? IG_OK
               : INFER_FAIL(
                     op, IG_UNSUPPORTED,
                     "operand %u is %s: its items are of different ranks, so that of one is not known",
                     operand, ig_operand_text(op, operand));
}

/* A sequence, or an optional, which is one of one item or none. */
static ig_status check_items(const ig_op *op, uint32_t operand) {
    return ig_operand_type(op, operand)->kind == IG_OPTIONAL
               ? IG_OK
               : check_sequence(op, operand);
}

static ig_status check_position(const ig_op *op, uint32_t operand) {
    if (operand >= op->operand_count) {
        return IG_OK;
    }
    IG_TRY(ig_check_tensor(op, operand));
    return ig_check_int(op, operand);
}

/* The element type that covers `element` and operand `operand`. */
static ig_status cover_element(const ig_op *op, const ig_type *element,
                               uint32_t operand, const ig_type **out_element) {
    const ig_type *item = ig_operand_type(op, operand);
    if (item->kind != IG_ANY) {
        IG_TRY(ig_check_tensor(op, operand));
    }
    IG_TRY(ig_check_dtype(op, operand, (ig_dtype)element->dtype));
    if (element->kind == IG_ANY || item->kind == IG_ANY ||
        item->rank != element->rank) {
        *out_element = ig_type_any(ig_op_module(op), (ig_dtype)element->dtype);
        return IG_OK;
    }
    ig_dim dims[IG_TENSOR_RANK];
    for (uint32_t i = 0; i < item->rank; i++) {
        ig_dim dim = element->dims[i];
        bool is_any = !ig_dim_is_static(dim);
        dims[i] = is_any || ig_dim_same(dim, item->dims[i])
                      ? dim
                      : ig_result_symbol(op, 0, i, "s");
    }
    *out_element = ig_type_with_dims(ig_op_module(op), element, item->rank, dims);
    return IG_OK;
}

static const ig_type *sequence_of(const ig_op *op, const ig_type *element) {
    return ig_type_host(ig_op_module(op), IG_SEQUENCE, element);
}

/* An item's type: a symbol of its own for every extent that is not a number. */
static void take_out(const ig_op *op, const ig_type *element, ig_dim *dims) {
    for (uint32_t i = 0; i < element->rank; i++) {
        bool is_static = ig_dim_is_static(element->dims[i]);
        dims[i] = is_static ? element->dims[i] : ig_result_symbol(op, 0, i, "s");
    }
}

ig_status ig_infer_seq_make(ig_op *op, const ig_type **out_types) {
    const ig_type *element = ig_operand_type(op, 0);
    if (element->kind != IG_ANY) {
        IG_TRY(ig_check_tensor(op, 0));
    }
    for (uint32_t i = 1; i < op->operand_count; i++) {
        IG_TRY(cover_element(op, element, i, &element));
    }
    out_types[0] = sequence_of(op, element);
    return IG_OK;
}

/* sequence, item [, position] */
ig_status ig_infer_seq_insert(ig_op *op, const ig_type **out_types) {
    IG_TRY(check_sequence(op, 0));
    IG_TRY(check_position(op, 2));
    const ig_type *element = ig_operand_type(op, 0)->element;
    IG_TRY(cover_element(op, element, 1, &element));
    out_types[0] = sequence_of(op, element);
    return IG_OK;
}

ig_status ig_infer_seq_same(ig_op *op, const ig_type **out_types) {
    IG_TRY(check_sequence(op, 0));
    IG_TRY(check_position(op, 1));
    out_types[0] = ig_operand_type(op, 0);
    return IG_OK;
}

ig_status ig_infer_seq_at(ig_op *op, const ig_type **out_types) {
    IG_TRY(check_items(op, 0));
    IG_TRY(check_position(op, 1));
    const ig_type *element = ig_operand_type(op, 0)->element;
    ig_dim dims[IG_TENSOR_RANK];
    if (element->kind != IG_TENSOR) {
        out_types[0] = element;
        return IG_OK;
    }
    take_out(op, element, dims);
    out_types[0] = ig_type_with_dims(ig_op_module(op), element, element->rank, dims);
    return IG_OK;
}

ig_status ig_infer_seq_length(ig_op *op, const ig_type **out_types) {
    IG_TRY(check_items(op, 0));
    out_types[0] = ig_type_tensor(ig_op_module(op), IG_DT_i64, 0, NULL);
    return IG_OK;
}

ig_status ig_infer_opt_make(ig_op *op, const ig_type **out_types) {
    const ig_type *type = ig_operand_type(op, 0);
    if (type->kind != IG_TENSOR && type->kind != IG_SEQUENCE) {
        return INFER_ERROR(op, "operand 0 is %s, expected a tensor or a sequence",
                           ig_operand_text(op, 0));
    }
    out_types[0] = ig_type_host(ig_op_module(op), IG_OPTIONAL, type);
    return IG_OK;
}

/* All items joined along an axis; `stack`: along a new one. */
ig_status ig_infer_seq_concat(ig_op *op, const ig_type **out_types) {
    IG_TRY(check_sequence(op, 0));
    IG_TRY(check_rank_known(op, 0));
    const ig_type *element = ig_operand_type(op, 0)->element;
    bool is_stack = ig_attr_int(op, IG_seq_concat_stack, 0);
    uint32_t rank = element->rank + is_stack, axis, from = 0;
    IG_TRY(ig_check_axis(op, ig_attr_int(op, IG_seq_concat_axis, 0), rank, &axis));
    if (rank > IG_TENSOR_RANK) {
        return INFER_FAIL(op, IG_LIMIT, "the result has more than %d dimensions",
                          IG_TENSOR_RANK);
    }
    ig_dim dims[IG_TENSOR_RANK];
    for (uint32_t i = 0; i < rank; i++) {
        bool is_new = is_stack && i == axis;
        ig_dim dim = is_new ? ig_dim_of(0) : element->dims[from++];
        bool is_kept = i != axis && ig_dim_is_static(dim);
        dims[i] = is_kept ? dim : ig_result_symbol(op, 0, i, "n");
    }
    out_types[0] = ig_type_with_dims(ig_op_module(op), element, rank, dims);
    return IG_OK;
}

/* Pieces along an axis: of one element each, or of the sizes that operand 1 gives. */
ig_status ig_infer_split_to_seq(ig_op *op, const ig_type **out_types) {
    IG_TRY(ig_check_tensors(op));
    const ig_type *type = ig_operand_type(op, 0);
    bool has_sizes = op->operand_count > 1;
    bool is_kept = has_sizes || ig_attr_int(op, IG_split_to_seq_keep, 0);
    uint32_t axis, rank = 0;
    IG_TRY(
        ig_check_axis(op, ig_attr_int(op, IG_split_to_seq_axis, 0), type->rank, &axis));
    if (has_sizes) {
        IG_TRY(ig_check_int(op, 1));
        if (ig_operand_type(op, 1)->rank > 1) {
            return INFER_ERROR(op,
                               "operand 1 is %s, expected one size or a list of them",
                               ig_operand_text(op, 1));
        }
    }
    ig_dim dims[IG_TENSOR_RANK];
    for (uint32_t i = 0; i < type->rank; i++) {
        if (i != axis) {
            dims[rank++] = type->dims[i];
        } else if (is_kept) {
            ig_dim piece = has_sizes ? ig_result_symbol(op, 0, i, "s") : ig_dim_of(1);
            dims[rank++] = piece;
        }
    }
    ig_module *module = ig_op_module(op);
    const ig_type *element = ig_type_with_dims(module, type, rank, dims);
    out_types[0] = sequence_of(op, element);
    return IG_OK;
}
