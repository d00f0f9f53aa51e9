/* LSTM, GRU, RNN: one rnn op a direction.
 * SPDX-License-Identifier: Apache-2.0
 *
 * ONNX packs the directions on axis 0 of every operand, has both biases in one vector
 * and its own order of gates; the op has one direction, two biases and the order i, f,
 * g, o (lstm) or r, z, n (gru).
 */
#include "frontend/onnx/ops/hooks.h"
#include "frontend/onnx/import/import.h"

enum { X, W, R, B, LENGTHS, H0, C0, P, INPUTS };

typedef struct layer {
    ig_onnx_node *node;
    ig_rnn_cell cell;
    uint32_t gates, directions;
    bool is_batch_first, is_first_reverse;
    ig_value *x, *lengths;
    ig_dim time, batch;
    int64_t hidden;
} layer;

/* Place of our gate number g in ONNX's order. */
static const uint32_t orders[][4] = {
    [IG_CELL_lstm] = { 0, 2, 3, 1 }, /* i, o, f, c */
    [IG_CELL_gru] = { 1, 0, 2 },     /* z, r, h */
    [IG_CELL_tanh] = { 0 },
    [IG_CELL_relu] = { 0 },
};

/* ---- attributes ---- */

/* The activations must be those that the op has. */
static ig_status read_activations(layer *l) {
    static const char *const usual[][3] = {
        [IG_CELL_lstm] = { "Sigmoid", "Tanh", "Tanh" },
        [IG_CELL_gru] = { "Sigmoid", "Tanh" },
        [IG_CELL_tanh] = { "Tanh" },
        [IG_CELL_relu] = { "Relu" },
    };
    const Onnx__AttributeProto *attr = ig_onnx_attr(l->node, "activations", NULL);
    if (!attr || attr->n_strings == 0) {
        return IG_OK;
    }
    uint32_t each = l->cell == IG_CELL_lstm ? 3 : l->cell == IG_CELL_gru ? 2 : 1;
    ig_str first = { (const char *)attr->strings[0].data, attr->strings[0].len };
    if (l->cell == IG_CELL_tanh && ig_str_is(first, "Relu")) {
        l->cell = IG_CELL_relu;
    }
    if (attr->n_strings != (size_t)each * l->directions) {
        return ig_onnx_fail(l->node, IG_INVALID,
                            "activations has %zu entries, expected %u", attr->n_strings,
                            each * l->directions);
    }
    for (size_t i = 0; i < attr->n_strings; i++) {
        ig_str name = { (const char *)attr->strings[i].data, attr->strings[i].len };
        if (!ig_str_is(name, usual[l->cell][i % each])) {
            return ig_onnx_fail(l->node, IG_UNSUPPORTED,
                                "activation %zu is %.*s; only %s is supported there", i,
                                IG_STR_ARG(name), usual[l->cell][i % each]);
        }
    }
    return IG_OK;
}

static ig_status read_directions(layer *l) {
    ig_str text = ig_onnx_attr_str(l->node, "direction", "forward");
    l->is_first_reverse = ig_str_is(text, "reverse");
    l->directions = ig_str_is(text, "bidirectional") ? 2 : 1;
    if (l->directions == 1 && !l->is_first_reverse && !ig_str_is(text, "forward")) {
        return ig_onnx_fail(
            l->node, IG_INVALID,
            "direction is '%.*s', expected forward, reverse or bidirectional",
            IG_STR_ARG(text));
    }
    return IG_OK;
}

static ig_status need_rank(const layer *l, uint32_t index, uint32_t rank) {
    IG_TRY(ig_onnx_tensor(l->node, index));
    uint32_t own = l->node->inputs[index]->type->rank;
    if (own != rank) {
        return ig_onnx_fail(l->node, IG_INVALID, "input %u has rank %u, expected %u",
                            index, own, rank);
    }
    return IG_OK;
}

static ig_status read_hidden(layer *l) {
    const ig_type *r = l->node->inputs[R]->type;
    l->hidden = ig_onnx_attr_int(l->node, "hidden_size", 0);
    if (l->hidden > 0 && l->hidden <= INT32_MAX) {
        return IG_OK;
    }
    if (l->hidden == 0 &&
        ig_dim_constant(l->node->import->module, r->dims[2], &l->hidden)) {
        return IG_OK;
    }
    return ig_onnx_fail(l->node, IG_UNSUPPORTED,
                        "hidden_size is %lld, or not known before it runs",
                        (long long)l->hidden);
}

static ig_status transpose(const layer *l, ig_value *x, const int64_t *perm,
                           ig_value **out_value) {
    ig_attr attrs[IG_transpose_attr_count] = {
        [IG_transpose_perm] = ig_attr_of_ints(l->node->import->module, perm,
                                              x->type->rank),
    };
    return ig_onnx_build(l->node, IG_OP_transpose, 1, &x, attrs, out_value);
}

static ig_status read_layer(layer *l) {
    static const int64_t swapped[] = { 1, 0, 2 };
    IG_TRY(read_directions(l));
    IG_TRY(read_activations(l));
    IG_TRY(ig_onnx_float_tensor(l->node, X));
    for (uint32_t i = X; i <= R; i++) {
        IG_TRY(need_rank(l, i, 3));
    }
    IG_TRY(read_hidden(l));
    l->gates = l->cell == IG_CELL_lstm ? 4 : l->cell == IG_CELL_gru ? 3 : 1;
    l->is_batch_first = ig_onnx_attr_int(l->node, "layout", 0) != 0;
    l->x = l->node->inputs[X];
    if (l->is_batch_first) {
        IG_TRY(transpose(l, l->x, swapped, &l->x));
    }
    l->time = l->x->type->dims[0];
    l->batch = l->x->type->dims[1];
    if (ig_onnx_in(l->node, LENGTHS)) {
        IG_TRY(need_rank(l, LENGTHS, 1));
        ig_onnx_guard_extents(l->node, X, l->is_batch_first ? 0 : 1, LENGTHS, 0);
        l->lengths = ig_make_cast(l->node->builder, l->node->inputs[LENGTHS],
                                  IG_DT_i64);
    }
    return IG_OK;
}

/* ---- operands of one direction ---- */

/* Entry `direction` of axis 0 (or of `axis`), without that axis. */
static ig_status select_at(const layer *l, ig_value *x, uint32_t axis,
                           uint32_t direction, ig_value **out_value) {
    ig_dim dims[IG_TENSOR_RANK];
    uint32_t rank = 0;
    for (uint32_t d = 0; d < x->type->rank; d++) {
        dims[rank] = x->type->dims[d];
        rank += d != axis;
    }
    IG_TRY(ig_onnx_slice(l->node, x, axis, ig_dim_of(direction), ig_dim_of(1), &x));
    return ig_onnx_reshape(l->node, x, rank, dims, out_value);
}

/* Blocks of `hidden` rows from `first` on, in our order of gates. */
static ig_status order_gates(const layer *l, ig_value *x, int64_t first,
                             ig_value **out_value) {
    ig_value *parts[4];
    for (uint32_t g = 0; g < l->gates; g++) {
        int64_t at = first + orders[l->cell][g] * l->hidden;
        IG_TRY(ig_onnx_slice(l->node, x, 0, ig_dim_of(at), ig_dim_of(l->hidden),
                             &parts[g]));
    }
    if (l->gates == 1) {
        *out_value = parts[0];
        return IG_OK;
    }
    ig_attr attrs[IG_concat_attr_count] = { [IG_concat_axis] = ig_attr_of_int(0) };
    return ig_onnx_build(l->node, IG_OP_concat, l->gates, parts, attrs, out_value);
}

static ig_status zeros(const layer *l, uint32_t rank, const ig_dim *dims,
                       ig_value **out_value) {
    ig_value *zero = ig_onnx_scalar(l->node, (ig_dtype)l->x->type->dtype, 0);
    ig_attr attrs[IG_expand_attr_count] = {
        [IG_expand_to] = ig_attr_of_dims(l->node->import->module, dims, rank),
    };
    return ig_onnx_build(l->node, IG_OP_expand, 1, &zero, attrs, out_value);
}

static ig_status state_of(const layer *l, uint32_t index, uint32_t direction,
                          ig_value **out_value) {
    if (!ig_onnx_in(l->node, index)) {
        return zeros(l, 2, (ig_dim[]){ l->batch, ig_dim_of(l->hidden) }, out_value);
    }
    IG_TRY(need_rank(l, index, 3));
    uint32_t batch = l->is_batch_first ? 0 : 1;
    ig_onnx_guard_extents(l->node, X, batch, index, batch);
    ig_onnx_guard_extents(l->node, R, 2, index, 2);
    return select_at(l, l->node->inputs[index], l->is_batch_first ? 1 : 0, direction,
                     out_value);
}

static ig_status weights_of(const layer *l, uint32_t index, uint32_t direction,
                            ig_value **out_value) {
    ig_value *x;
    IG_TRY(select_at(l, l->node->inputs[index], 0, direction, &x));
    return order_gates(l, x, 0, out_value);
}

static ig_status biases_of(const layer *l, uint32_t direction, ig_value **out_values) {
    if (!ig_onnx_in(l->node, B)) {
        ig_dim count = ig_dim_of(l->gates * l->hidden);
        IG_TRY(zeros(l, 1, &count, &out_values[0]));
        out_values[1] = out_values[0];
        return IG_OK;
    }
    ig_value *x;
    IG_TRY(need_rank(l, B, 2));
    IG_TRY(select_at(l, l->node->inputs[B], 0, direction, &x));
    IG_TRY(order_gates(l, x, 0, &out_values[0]));
    return order_gates(l, x, l->gates * l->hidden, &out_values[1]);
}

/* Peepholes of gates i, o, f to i, f, o. */
static ig_status peepholes_of(const layer *l, uint32_t direction,
                              ig_value **out_value) {
    ig_value *x, *parts[3];
    IG_TRY(need_rank(l, P, 2));
    IG_TRY(select_at(l, l->node->inputs[P], 0, direction, &x));
    static const int64_t order[] = { 0, 2, 1 };
    for (uint32_t g = 0; g < 3; g++) {
        IG_TRY(ig_onnx_slice(l->node, x, 0, ig_dim_of(order[g] * l->hidden),
                             ig_dim_of(l->hidden), &parts[g]));
    }
    ig_attr attrs[IG_concat_attr_count] = { [IG_concat_axis] = ig_attr_of_int(0) };
    return ig_onnx_build(l->node, IG_OP_concat, 3, parts, attrs, out_value);
}

/* ---- one direction ---- */

static void set_attrs(const layer *l, bool is_reverse, int64_t given, ig_attr *attrs) {
    const ig_onnx_node *node = l->node;
    attrs[IG_rnn_cell] = ig_attr_of_enum(l->cell);
    if (is_reverse) {
        attrs[IG_rnn_reverse] = ig_attr_of_bool(true);
    }
    bool is_gru = node->row->variant == IG_CELL_gru;
    bool is_linear_first = is_gru &&
                           ig_onnx_attr_int(node, "linear_before_reset", 0) != 0;
    if (l->cell == IG_CELL_gru && !is_linear_first) {
        attrs[IG_rnn_reset_first] = ig_attr_of_bool(true);
    }
    if (node->row->variant == IG_CELL_lstm &&
        ig_onnx_attr_int(node, "input_forget", 0)) {
        attrs[IG_rnn_couple] = ig_attr_of_bool(true);
    }
    if (ig_onnx_attr_float(node, "clip", 0) > 0) {
        attrs[IG_rnn_clip] = ig_attr_of_float(ig_onnx_attr_float(node, "clip", 0));
    }
    if (given) {
        attrs[IG_rnn_given] = ig_attr_of_int(given);
    }
}

static ig_status build_direction(const layer *l, uint32_t direction, ig_op **out_op) {
    bool is_lstm = l->cell == IG_CELL_lstm;
    ig_value *operands[INPUTS + 2] = { l->x };
    uint32_t count = 1;
    int64_t given = 0;
    IG_TRY(state_of(l, H0, direction, &operands[count++]));
    if (is_lstm) {
        IG_TRY(state_of(l, C0, direction, &operands[count++]));
    }
    IG_TRY(weights_of(l, W, direction, &operands[count++]));
    IG_TRY(weights_of(l, R, direction, &operands[count++]));
    IG_TRY(biases_of(l, direction, &operands[count]));
    count += 2;
    if (l->lengths) {
        given |= IG_RNN_lengths;
        operands[count++] = l->lengths;
    }
    if (is_lstm && ig_onnx_in(l->node, P)) {
        given |= IG_RNN_peepholes;
        IG_TRY(peepholes_of(l, direction, &operands[count++]));
    }
    ig_attr attrs[IG_rnn_attr_count] = { { 0 } };
    set_attrs(l, direction == 1 || l->is_first_reverse, given, attrs);
    ig_op_spec spec = { .operands = operands,
                        .operand_count = count,
                        .result_count = is_lstm ? 3 : 2,
                        .attrs = attrs };
    return ig_build(l->node->builder, IG_OP_rnn, &spec, out_op);
}

/* ---- results ---- */

/* Result `index` of all directions, side by side on a new axis. */
static ig_status stack(const layer *l, ig_op *const *ops, uint32_t index, uint32_t axis,
                       ig_value **out_value) {
    ig_value *parts[2];
    for (uint32_t i = 0; i < l->directions; i++) {
        ig_value *x = &ops[i]->results[index];
        ig_dim dims[IG_TENSOR_RANK];
        uint32_t rank = 0;
        for (uint32_t d = 0; d <= x->type->rank; d++) {
            dims[d] = d == axis ? ig_dim_of(1) : x->type->dims[rank++];
        }
        IG_TRY(ig_onnx_reshape(l->node, x, x->type->rank + 1, dims, &parts[i]));
    }
    if (l->directions == 1) {
        *out_value = parts[0];
        return IG_OK;
    }
    ig_attr attrs[IG_concat_attr_count] = { [IG_concat_axis] = ig_attr_of_int(axis) };
    return ig_onnx_build(l->node, IG_OP_concat, 2, parts, attrs, out_value);
}

ig_status ig_onnx_import_rnn(ig_onnx_node *node) {
    static const int64_t batch_first[] = { 2, 0, 1, 3 };
    layer l = { .node = node, .cell = (ig_rnn_cell)node->row->variant };
    ig_op *ops[2];
    IG_TRY(read_layer(&l));
    for (uint32_t i = 0; i < l.directions; i++) {
        IG_TRY(build_direction(&l, i, &ops[i]));
    }
    IG_TRY(stack(&l, ops, 0, 1, &node->outputs[0]));
    if (l.is_batch_first) {
        IG_TRY(transpose(&l, node->outputs[0], batch_first, &node->outputs[0]));
    }
    for (uint32_t i = 1; i < node->output_count; i++) {
        IG_TRY(stack(&l, ops, i, l.is_batch_first ? 1 : 0, &node->outputs[i]));
    }
    return IG_OK;
}
