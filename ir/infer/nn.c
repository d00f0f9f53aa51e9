/* Result types of normalisations over channels, attention and recurrent layers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/hooks.h"
#include "ir/infer/infer.h"

/* ---- normalisation ---- */

static ig_status check_channels(const ig_op *op) {
    IG_TRY(ig_check_tensors(op));
    IG_TRY(ig_check_float(op, 0));
    const ig_type *x = ig_operand_type(op, 0);
    if (x->rank < 2) {
        return INFER_ERROR(op, "operand 0 is %s, expected rank 2 or more",
                           ig_operand_text(op, 0));
    }
    IG_TRY(ig_check_same_dtype(op, 0, op->operand_count - 1u));
    for (uint32_t i = 1; i < op->operand_count; i++) {
        IG_TRY(ig_check_rank(op, i, 1));
        IG_TRY(ig_check_extent(op, i, 0, x->dims[1], "the number of channels", NULL));
    }
    return IG_OK;
}

ig_status ig_infer_batch_norm(ig_op *op, const ig_type **out_types) {
    IG_TRY(check_channels(op));
    out_types[0] = ig_operand_type(op, 0);
    return IG_OK;
}

ig_status ig_infer_group_norm(ig_op *op, const ig_type **out_types) {
    IG_TRY(check_channels(op));
    const ig_type *x = ig_operand_type(op, 0);
    int64_t groups = ig_attr_int(op, IG_group_norm_groups, 1);
    if (groups < 1 || op->operand_count == 2 ||
        (ig_dim_is_static(x->dims[1]) && ig_dim_value(x->dims[1]) % groups != 0)) {
        return INFER_ERROR(
            op,
            "operand 0 is %s, whose channels do not make %lld groups, or there is a scale without bias",
            ig_operand_text(op, 0), (long long)groups);
    }
    out_types[0] = x;
    return IG_OK;
}

ig_status ig_infer_group_norm_last(ig_op *op, const ig_type **out_types) {
    int64_t groups = ig_attr_int(op, IG_group_norm_last_groups, 0), channels = 0;
    IG_TRY(ig_check_tensors(op));
    IG_TRY(ig_check_dtype(op, 0, IG_DT_f32));
    const ig_type *x = ig_operand_type(op, 0);
    bool is_known = x->rank >= 3 && ig_dim_known(x->dims[x->rank - 1], &channels);
    if (!is_known || groups < 1 || channels < 1 || channels % groups != 0) {
        return INFER_ERROR(op,
                           "operand 0 is %s, whose last axis is not known to make "
                           "%lld groups",
                           ig_operand_text(op, 0), (long long)groups);
    }
    out_types[0] = x;
    return IG_OK;
}

/* ---- attention ---- */

/* Broadcasts extents before the last two of an operand into `dims`. */
static ig_status join_leading(const ig_op *op, uint32_t operand, uint32_t rank,
                              ig_dim *dims) {
    const ig_type *type = ig_operand_type(op, operand);
    for (uint32_t i = 3; i <= type->rank; i++) {
        ig_dim *dim = &dims[rank - i];
        if (!ig_dim_broadcast(ig_op_module(op), *dim, type->dims[type->rank - i],
                              dim)) {
            return INFER_ERROR(op, "operand %u is %s, which does not broadcast with %s",
                               operand, ig_operand_text(op, operand),
                               ig_operand_text(op, 0));
        }
    }
    return IG_OK;
}

/* An extent of the mask is 1 or that of the scores; which one may be open. */
static ig_status check_mask_extent(const ig_op *op, uint32_t axis, ig_dim scores) {
    ig_module *module = ig_op_module(op);
    ig_dim own = ig_operand_type(op, 3)->dims[axis];
    if (ig_dim_is(own, 1) ||
        (ig_dim_equal(module, own, ig_dim_of(1)) == IG_MAYBE &&
         ig_claim_equal(module, ig_dim_bcast(module, own, scores), scores))) {
        return IG_OK;
    }
    return ig_check_extent(op, 3, axis, scores, "that of the scores", NULL);
}

static ig_status check_mask(const ig_op *op, ig_dim rows, ig_dim columns) {
    const ig_type *mask = ig_operand_type(op, 3), *q = ig_operand_type(op, 0);
    if (mask->dtype != IG_DT_bool && mask->dtype != q->dtype) {
        return INFER_ERROR(op, "operand 3 is %s, expected bool or the elements of %s",
                           ig_operand_text(op, 3), ig_operand_text(op, 0));
    }
    for (uint32_t i = 0; i < 2 && i < mask->rank; i++) {
        IG_TRY(check_mask_extent(op, mask->rank - 1 - i, i ? rows : columns));
    }
    return IG_OK;
}

ig_status ig_infer_attention(ig_op *op, const ig_type **out_types) {
    IG_TRY(ig_check_tensors(op));
    IG_TRY(ig_check_float(op, 0));
    IG_TRY(ig_check_same_dtype(op, 0, 2));
    const ig_type *type[3];
    ig_dim dims[IG_TENSOR_RANK];
    uint32_t rank = 0;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const ig_type *own = ig_operand_type(op, i);
        rank = own->rank > rank ? own->rank : rank;
        if (i < 3 && own->rank < 2) {
            return INFER_ERROR(op, "operand %u is %s, expected rank 2 or more", i,
                               ig_operand_text(op, i));
        }
        type[i < 3 ? i : 0] = i < 3 ? own : type[0];
    }
    ig_dim keys = type[1]->dims[type[1]->rank - 2];
    IG_TRY(ig_check_extent(op, 1, type[1]->rank - 1, type[0]->dims[type[0]->rank - 1],
                           "which the rows of operand 0 have", NULL));
    IG_TRY(ig_check_extent(op, 2, type[2]->rank - 2, keys, "the number of keys", NULL));
    for (uint32_t d = 0; d < rank; d++) {
        dims[d] = ig_dim_of(1);
    }
    for (uint32_t i = 0; i < op->operand_count; i++) {
        IG_TRY(join_leading(op, i, rank, dims));
    }
    dims[rank - 2] = type[0]->dims[type[0]->rank - 2];
    dims[rank - 1] = type[2]->dims[type[2]->rank - 1];
    if (op->operand_count > 3) {
        IG_TRY(check_mask(op, dims[rank - 2], keys));
    }
    out_types[0] = ig_type_with_dims(ig_op_module(op), type[0], rank, dims);
    return IG_OK;
}

/* ---- rnn ---- */

static const int64_t gate_counts[] = {
    [IG_CELL_lstm] = 4, [IG_CELL_gru] = 3, [IG_CELL_tanh] = 1, [IG_CELL_relu] = 1
};

/* The required extent of each operand's axes; -1: no axis. */
typedef struct layer {
    ig_dim time, batch, ins, hidden, outs, gates;
} layer;

static ig_status check_shape(const ig_op *op, uint32_t operand, uint32_t rank,
                             const ig_dim *dims) {
    static const char what[] = "which the other operands have";
    IG_TRY(ig_check_rank(op, operand, rank));
    for (uint32_t d = 0; d < rank; d++) {
        IG_TRY(ig_check_extent(op, operand, d, dims[d], what, NULL));
    }
    return IG_OK;
}

static ig_status check_given(const ig_op *op, const layer *l, uint32_t operand) {
    int64_t given = ig_attr_int(op, IG_rnn_given, 0);
    ig_module *module = ig_op_module(op);
    ig_dtype dtype = (ig_dtype)ig_operand_type(op, 0)->dtype;
    if (given & IG_RNN_lengths) {
        IG_TRY(ig_check_dtype(op, operand, IG_DT_i64));
        IG_TRY(check_shape(op, operand++, 1, (ig_dim[]){ l->batch }));
    }
    if (given & IG_RNN_peepholes) {
        ig_dim count = ig_dim_mul(module, l->hidden, ig_dim_of(3));
        IG_TRY(ig_check_dtype(op, operand, dtype));
        IG_TRY(check_shape(op, operand++, 1, (ig_dim[]){ count }));
    }
    if (given & IG_RNN_projection) {
        IG_TRY(ig_check_dtype(op, operand, dtype));
        IG_TRY(check_shape(op, operand, 2, (ig_dim[]){ l->outs, l->hidden }));
    }
    return IG_OK;
}

static ig_status check_count(const ig_op *op, bool is_lstm) {
    int64_t given = ig_attr_int(op, IG_rnn_given, 0);
    uint32_t count = 6u + is_lstm;
    for (uint32_t bit = 0; bit < 3; bit++) {
        count += (given >> bit & 1) != 0;
    }
    uint32_t results = is_lstm ? 3 : 2;
    bool is_odd = given < 0 || given > 7 || (given > 1 && !is_lstm);
    if (is_odd || op->operand_count != count || op->result_count != results) {
        return INFER_ERROR(op, "%u operands and %u results, expected %u and %u",
                           op->operand_count, op->result_count, count, results);
    }
    return IG_OK;
}

/* Extents, read from the operands that every layer has. */
static ig_status read_layer(const ig_op *op, ig_rnn_cell cell, uint32_t weights,
                            layer *l) {
    ig_module *module = ig_op_module(op);
    IG_TRY(ig_check_rank(op, 0, 3));
    IG_TRY(ig_check_rank(op, 1, 2));
    IG_TRY(ig_check_rank(op, weights, 2));
    const ig_type *x = ig_operand_type(op, 0);
    l->time = x->dims[0];
    l->batch = x->dims[1];
    l->ins = x->dims[2];
    l->outs = ig_operand_type(op, 1)->dims[1];
    l->gates = ig_operand_type(op, weights)->dims[0];
    bool is_projected = ig_attr_int(op, IG_rnn_given, 0) & IG_RNN_projection;
    l->hidden = l->outs;
    if (cell == IG_CELL_lstm && is_projected) {
        IG_TRY(ig_check_rank(op, 2, 2));
        l->hidden = ig_operand_type(op, 2)->dims[1];
    }
    ig_dim gates = ig_dim_mul(module, l->hidden, ig_dim_of(gate_counts[cell]));
    return ig_check_extent(op, weights, 0, gates, "gates times hidden", NULL);
}

ig_status ig_infer_rnn(ig_op *op, const ig_type **out_types) {
    ig_rnn_cell cell = (ig_rnn_cell)ig_attr_int(op, IG_rnn_cell, 0);
    bool is_lstm = cell == IG_CELL_lstm;
    uint32_t weights = is_lstm ? 3 : 2;
    layer l;
    IG_TRY(check_count(op, is_lstm));
    IG_TRY(ig_check_tensors(op));
    IG_TRY(ig_check_float(op, 0));
    IG_TRY(ig_check_same_dtype(op, 0, weights + 3));
    IG_TRY(read_layer(op, cell, weights, &l));
    IG_TRY(check_shape(op, 1, 2, (ig_dim[]){ l.batch, l.outs }));
    if (is_lstm) {
        IG_TRY(check_shape(op, 2, 2, (ig_dim[]){ l.batch, l.hidden }));
    }
    IG_TRY(check_shape(op, weights, 2, (ig_dim[]){ l.gates, l.ins }));
    IG_TRY(check_shape(op, weights + 1, 2, (ig_dim[]){ l.gates, l.outs }));
    IG_TRY(check_shape(op, weights + 2, 1, (ig_dim[]){ l.gates }));
    IG_TRY(check_shape(op, weights + 3, 1, (ig_dim[]){ l.gates }));
    IG_TRY(check_given(op, &l, weights + 4));
    ig_module *module = ig_op_module(op);
    const ig_type *x = ig_operand_type(op, 0);
    ig_dim dims[] = { l.time, l.batch, l.outs };
    out_types[0] = ig_type_with_dims(module, x, 3, dims);
    out_types[1] = ig_type_with_dims(module, x, 2, dims + 1);
    if (is_lstm) {
        ig_dim cells[] = { l.batch, l.hidden };
        out_types[2] = ig_type_with_dims(module, x, 2, cells);
    }
    return IG_OK;
}
