/* Which ops may meet texts: those that move elements as they are, and those on texts.
 * SPDX-License-Identifier: Apache-2.0
 *
 * An element is an address, so an op that computes with it, or that makes one of
 * numbers, would let a file choose the address to be read.
 */
#include "ir/verify/verify.h"

static const bool takes_texts[IG_OP_COUNT] = {
    [IG_OP_text_of] = true,    [IG_OP_text_eq] = true,
    [IG_OP_text_join] = true,  [IG_OP_text_find] = true,
    [IG_OP_text_match] = true, [IG_OP_text_parse] = true,
    [IG_OP_text_print] = true, [IG_OP_text_split] = true,
    [IG_OP_text_clean] = true, [IG_OP_where] = true,
    [IG_OP_shape] = true,      [IG_OP_size] = true,
    [IG_OP_reshape] = true,    [IG_OP_transpose] = true,
    [IG_OP_expand] = true,     [IG_OP_slice] = true,
    [IG_OP_concat] = true,     [IG_OP_insert] = true,
    [IG_OP_tile] = true,       [IG_OP_gather] = true,
    [IG_OP_gather_nd] = true,  [IG_OP_gather_elements] = true,
    [IG_OP_seq_empty] = true,  [IG_OP_seq_make] = true,
    [IG_OP_seq_insert] = true, [IG_OP_seq_erase] = true,
    [IG_OP_seq_at] = true,     [IG_OP_seq_length] = true,
    [IG_OP_seq_concat] = true, [IG_OP_split_to_seq] = true,
    [IG_OP_opt_none] = true,   [IG_OP_opt_make] = true,
    [IG_OP_if] = true,         [IG_OP_loop] = true,
    [IG_OP_yield] = true,      [IG_OP_ret] = true,
    [IG_OP_host] = true,       [IG_OP_text_order] = true,
};

static bool is_text(const ig_type *type) {
    return type && type->kind == IG_TENSOR && type->dtype == IG_DT_str;
}

ig_status ig_check_texts(const ig_op *op, const ig_type *const *types) {
    bool has_texts = false;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        has_texts = has_texts || is_text(op->operands[i].value->type);
    }
    for (uint32_t i = 0; i < op->result_count; i++) {
        has_texts = has_texts || is_text(types ? types[i] : op->results[i].type);
    }
    return !has_texts || takes_texts[op->code]
               ? IG_OK
               : ig_error(&ig_op_module(op)->context->diag, IG_UNSUPPORTED,
                          ig_op_location(op), "%s of strings is not supported",
                          ig_ops[op->code].name);
}
