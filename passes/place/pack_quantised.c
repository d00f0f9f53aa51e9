/* Weights of 8-bit integers with scales, for `pack`.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %0 = dequantize @w, @scale, @zero {axis = 1}
 *     %1 = transpose %0 {perm = [1, 0]}        any number of them, before it too
 *     %2 = matmul %x, %1
 *
 * The scale is a number, or one per row or column; the zero point is a number, or one
 * per column.  Zero points are constants, and integers of the weight's type: those of
 * rows belong to no column of the product and are left alone.
 */
#include "passes/place/pack.h"
#include "passes/engine/known.h"

#include "ir/interpret/interpret.h"
#include "ir/semantics/panels.h"

#include <string.h>

enum { NUMBER = 2 /* an axis beyond those of a matrix: none */ };

bool ig_pack_swaps_two(const ig_op *op) {
    const ig_attr *perm = &op->attrs[IG_transpose_perm];
    return op->code == IG_OP_transpose && perm->count == 2 && perm->as.ints[0] == 1;
}

/* The op below transpositions of matrices, each of which turns `is_transposed`. */
static const ig_op *skip_swaps(const ig_value *value, bool *is_transposed) {
    const ig_op *op = value->def;
    while (op && ig_pack_swaps_two(op)) {
        *is_transposed = !*is_transposed;
        op = op->operands[0].value->def;
    }
    return op;
}

/* The axis of operand 0, a matrix, that `param` varies along, or NUMBER. */
static bool find_axis(const ig_op *op, const ig_value *param, uint32_t *out_axis) {
    uint32_t rank = param->type->rank;
    *out_axis = NUMBER;
    if (ig_attr_is_set(op, IG_dequantize_block)) {
        return false;
    }
    if (rank == 1 && ig_attr_is_set(op, IG_dequantize_axis)) {
        int64_t axis = ig_attr_int(op, IG_dequantize_axis, 0);
        *out_axis = (uint32_t)(axis < 0 ? axis + 2 : axis);
        return true;
    }
    for (uint32_t d = 0; d < rank; d++) {
        if (ig_dim_is(param->type->dims[d], 1)) {
            continue;
        }
        if (*out_axis != NUMBER) {
            return false;
        }
        *out_axis = 2 - rank + d;
    }
    return true;
}

/* ---- zero points ---- */

/* The zero points of whole panels; beyond N they are 0.  None when all of them are. */
static bool read_zeros(const ig_pass_run *run, const ig_value *zero, ig_pack_matrix *m,
                       ig_dtype dtype) {
    ig_tensor zeros;
    if (!ig_read_constant(zero, run->scratch, &zeros) ||
        (zeros.count != 1 && zeros.count != m->n)) {
        return false;
    }
    double low = dtype == IG_DT_i8 ? -128 : 0;
    int64_t room = (m->n + IG_PANEL - 1) / IG_PANEL * IG_PANEL;
    uint8_t *bytes = IG_NEW_ARRAY(run->scratch, uint8_t, (size_t)room);
    bool is_any = false;
    for (int64_t i = 0; i < m->n; i++) {
        double value = ig_tensor_get_f64(&zeros, zeros.count == 1 ? 0 : i);
        if (!(value >= low && value <= low + 255) || value != (double)(int)value) {
            return false;
        }
        bytes[i] = (uint8_t)(int)value;
        is_any |= bytes[i] != 0;
    }
    m->zeros = is_any ? bytes : NULL;
    return true;
}

/* ---- the weight ---- */

/* Scale and zero point of `op`, whose operand 0 has K on axis `depth`. */
static bool read_params(const ig_pass_run *run, const ig_op *op, uint32_t depth,
                        ig_pack_matrix *out) {
    ig_value *scale = op->operands[1].value;
    uint32_t axis;
    if (scale->type->dtype != IG_DT_f32 || !find_axis(op, scale, &axis)) {
        return false;
    }
    *(axis == depth ? &out->row_scale : &out->scale) = scale;
    if (op->operand_count < 3) {
        return true;
    }
    ig_dtype dtype = (ig_dtype)op->operands[0].value->type->dtype;
    return find_axis(op, op->operands[2].value, &axis) && axis != depth &&
           read_zeros(run, op->operands[2].value, out, dtype);
}

bool ig_pack_read_quantised(const ig_pass_run *run, ig_value *value,
                            ig_pack_matrix *out) {
    if (value->type->rank != 2 || value->type->dtype != IG_DT_f32) {
        return false;
    }
    const ig_op *op = skip_swaps(value, &out->is_transposed);
    if (!op || op->code != IG_OP_dequantize) {
        return false;
    }
    uint32_t depth = out->is_transposed ? 1 : 0;
    ig_dtype dtype = (ig_dtype)op->operands[0].value->type->dtype;
    const ig_op *def = skip_swaps(op->operands[0].value, &out->is_transposed);
    return def && def->code == IG_OP_weight &&
           (dtype == IG_DT_i8 || dtype == IG_DT_u8) && ig_pack_take_weight(def, out) &&
           read_params(run, op, depth, out);
}
