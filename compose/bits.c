/* Products with numbers of few bits, as products of floats.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The parts of a byte are columns that follow each other: columns of weights and of x
 * are both put in the order of parts, so that bytes next to each other stay so. */
#include "compose/decompose.h"

#include "ir/semantics/bits.h"

enum { X, BYTES, SCALES, ZEROS, MAX_PARTS = 4 };

/* Of each byte one part alone. */
static ig_value *take_part(ig_expr *e, ig_value *x, int64_t bits, int64_t part) {
    x = part ? ig_expr_with_integer(e, IG_OP_shr, x, part * bits) : x;
    return bits == 8 ? x : ig_expr_with_integer(e, IG_OP_and, x, (1 << bits) - 1);
}

bool ig_decompose_matmul_bits(ig_expr *e, const ig_op *op, ig_value **out_results) {
    ig_bits w = ig_bits_of(op);
    ig_value *columns[MAX_PARTS], *weights[MAX_PARTS];
    ig_value *x = op->operands[X].value, *bytes = op->operands[BYTES].value;
    ig_value *scales = op->operands[SCALES].value;
    ig_value *zeros = op->operand_count > ZEROS
                          ? ig_expr_unsqueeze(e, op->operands[ZEROS].value, 2)
                          : ig_expr_number(e, IG_DT_f32, (double)(1 << (w.bits - 1)));
    ig_dim size = bytes->type->dims[1];
    ig_dim dims[] = { bytes->type->dims[0], scales->type->dims[1] };
    if (ig_dim_is(dims[1], 0)) { /* sums of nothing */
        const ig_type *type = op->results->type;
        out_results[0] = ig_expr_fill(e, IG_DT_f32, type->rank, type->dims, 0);
        return true;
    }
    bytes = ig_expr_reshape(
        e, bytes, 3,
        (ig_dim[]){ dims[0], dims[1], ig_dim_exact_div(e->module, size, dims[1]) });
    scales = ig_expr_unsqueeze(e, scales, 2);
    for (int64_t i = 0; i < w.parts; i++) {
        ig_value *part = ig_expr_cast(e, take_part(e, bytes, w.bits, i), IG_DT_f32);
        part = ig_build_mul(e, ig_build_sub(e, part, zeros), scales);
        weights[i] = ig_expr_merge_axes(e, part, 1, 2);
        columns[i] = ig_expr_slice(e, x, 1, ig_dim_of(i), size, w.parts);
    }
    x = ig_expr_concat(e, 1, columns, (uint32_t)w.parts);
    ig_value *all = ig_expr_concat(e, 1, weights, (uint32_t)w.parts);
    out_results[0] = ig_build_matmul(e, x, all,
                                     (ig_matmul_attrs){ .transpose_b = true });
    return true;
}
