/* Loop and Scan.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/onnx/ops/hooks.h"
#include "frontend/onnx/import/loop.h"

/* ---- loop ---- */

/* M: absent is no bound; and no trips where the IR would take a negative M for that. */
static ig_value *read_trips(const ig_onnx_node *node) {
    ig_value *given = ig_onnx_in(node, 0);
    ig_dims_value known;
    int64_t min = INT64_MIN, max;
    if (!given) {
        return ig_expr_integer(node->e, IG_DT_i64, -1);
    }
    ig_value *trips = ig_onnx_one_element(node->e, given, IG_DT_i64,
                                          "input 0, the trip count,");
    if (trips && ig_value_dims(trips, &known)) {
        ig_dim_range(node->import->module, known.dims[0], &min, &max);
    }
    return min >= 0 ? trips : ig_expr_with(node->e, IG_OP_max, trips, 0);
}

static ig_value *read_cond(const ig_onnx_node *node) {
    ig_value *given = ig_onnx_in(node, 1);
    return given ? ig_onnx_one_element(node->e, given, IG_DT_bool,
                                       "input 1, the condition,")
                 : ig_expr_number(node->e, IG_DT_bool, 1);
}

static ig_status check_carried(const ig_onnx_node *node, uint32_t first,
                               uint32_t count) {
    for (uint32_t i = first; i < first + count; i++) {
        if (!ig_onnx_in(node, i)) {
            return ig_onnx_fail(node, IG_INVALID,
                                "lacks input %u, the start of carried value %u", i,
                                i - first);
        }
    }
    return IG_OK;
}

ig_status ig_onnx_import_loop(ig_onnx_node *node) {
    ig_onnx_loop loop = { .node = node, .has_cond = true };
    loop.graph = ig_onnx_attr_graph(node, "body", &loop.outer);
    size_t inputs = node->proto->n_input;
    loop.carried_count = inputs > 2 ? (uint32_t)inputs - 2 : 0;
    loop.carried = node->inputs + 2;
    if (loop.graph->n_input != loop.carried_count + 2u) {
        return ig_onnx_fail(
            node, IG_INVALID,
            "the body has %zu inputs, expected %u: trip number, condition and %u carried values",
            loop.graph->n_input, loop.carried_count + 2, loop.carried_count);
    }
    if (loop.graph->n_output < loop.carried_count + 1u ||
        loop.graph->n_output > UINT16_MAX) {
        return ig_onnx_fail(
            node, IG_INVALID,
            "the body has %zu outputs, expected the condition, %u carried values and the stacked ones",
            loop.graph->n_output, loop.carried_count);
    }
    loop.stacked_count = (uint32_t)loop.graph->n_output - loop.carried_count - 1;
    if (node->output_count > loop.carried_count + loop.stacked_count) {
        return ig_onnx_fail(node, IG_INVALID, "has %u outputs, but its body gives %u",
                            node->output_count,
                            loop.carried_count + loop.stacked_count);
    }
    IG_TRY(check_carried(node, 2, loop.carried_count));
    loop.trips = read_trips(node);
    loop.cond = read_cond(node);
    IG_TRY(node->e->status);
    IG_TRY(ig_onnx_loop_build(&loop));
    for (uint32_t i = 0; i < node->output_count; i++) {
        node->outputs[i] = ig_op_result(loop.op, i);
        if (i < loop.carried_count && loop.is_wrapped[i]) {
            ig_value *first = ig_expr_integer(node->e, IG_DT_i64, 0);
            node->outputs[i] = ig_build_seq_at(node->e, node->outputs[i], first);
        }
    }
    return node->e->status;
}

/* ---- scan ---- */

typedef struct scan {
    ig_onnx_loop loop;
    uint32_t *axes;
    bool *backwards;
} scan;

/* An entry of an attribute with one entry for each input or output scanned; 0 where the
 * row has no such attribute. */
static int64_t read_entry(const ig_onnx_node *node, const char *name, uint32_t count,
                          uint32_t index) {
    if (!ig_onnx_row_has_attr(node->row, name)) {
        return 0;
    }
    ig_ints entries = ig_onnx_attr_list_of(node, name, count);
    return entries.items ? entries.items[index] : 0;
}

static ig_status read_scanned(ig_onnx_node *node, scan *s) {
    ig_onnx_loop *loop = &s->loop;
    uint32_t first = loop->carried_count, count = loop->scanned_count;
    s->axes = IG_NEW_ARRAY(node->import->arena, uint32_t, count);
    s->backwards = IG_NEW_ARRAY(node->import->arena, bool, count);
    for (uint32_t i = 0; i < count; i++) {
        const ig_value *x = ig_onnx_in(node, first + i);
        if (!x || x->type->kind != IG_TENSOR) {
            return ig_onnx_fail(node, IG_INVALID, "input %u is %s, expected a tensor",
                                first + i, x ? "a sequence" : "absent");
        }
        int64_t axis = read_entry(node, "scan_input_axes", count, i);
        s->axes[i] = ig_onnx_axis_of(node, axis, x->type->rank);
        s->backwards[i] = read_entry(node, "scan_input_directions", count, i) != 0 ||
                          read_entry(node, "directions", count, i) != 0;
        IG_TRY(node->e->status);
        ig_onnx_guard_extents(node, first, s->axes[0], first + i, s->axes[i]);
    }
    loop->scanned = node->inputs + first;
    loop->scan_axes = s->axes;
    loop->scan_backwards = s->backwards;
    return node->e->status;
}

/* As many trips as the scanned axis is long. */
static void count_scan_trips(const ig_onnx_node *node, ig_onnx_loop *loop) {
    ig_value *shape = ig_build_shape(node->e, loop->scanned[0]);
    ig_value *axis = ig_expr_integer(node->e, IG_DT_i64, loop->scan_axes[0]);
    loop->trips = ig_expr_gather(node->e, shape, axis, 0, IG_NEGATIVE_wrap);
    loop->cond = ig_expr_number(node->e, IG_DT_bool, 1);
}

/* Trips are stacked along axis 0. */
static ig_value *place_trips(const ig_onnx_node *node, ig_value *stacked, int64_t axis,
                             bool is_backward) {
    uint32_t to = ig_onnx_axis_of(node, axis, stacked->type->rank);
    ig_value *value = is_backward ? ig_expr_flip(node->e, stacked, 0) : stacked;
    return ig_expr_move_axis(node->e, value, 0, to);
}

static ig_status give_scan_outputs(ig_onnx_node *node, const ig_onnx_loop *loop) {
    for (uint32_t i = 0; i < node->output_count; i++) {
        node->outputs[i] = ig_op_result(loop->op, i);
        if (i < loop->carried_count) {
            continue;
        }
        uint32_t index = i - loop->carried_count, count = loop->stacked_count;
        int64_t axis = read_entry(node, "scan_output_axes", count, index);
        bool is_backward = read_entry(node, "scan_output_directions", count, index);
        node->outputs[i] = place_trips(node, node->outputs[i], axis, is_backward);
    }
    return node->e->status;
}

ig_status ig_onnx_import_scan(ig_onnx_node *node) {
    scan s = { .loop = { .node = node } };
    ig_onnx_loop *loop = &s.loop;
    loop->graph = ig_onnx_attr_graph(node, "body", &loop->outer);
    int64_t scanned = ig_onnx_attr_int(node, "num_scan_inputs", 0);
    if (scanned < 1 || scanned > node->input_count) {
        return ig_onnx_fail(node, IG_INVALID,
                            "num_scan_inputs is %lld, but there are %u inputs",
                            (long long)scanned, node->input_count);
    }
    loop->scanned_count = (uint32_t)scanned;
    loop->carried_count = node->input_count - loop->scanned_count;
    loop->carried = node->inputs;
    if (loop->graph->n_input != node->input_count ||
        loop->graph->n_output < loop->carried_count ||
        loop->graph->n_output != node->output_count) {
        return ig_onnx_fail(
            node, IG_INVALID,
            "the body has %zu inputs and %zu outputs, expected %u and %u",
            loop->graph->n_input, loop->graph->n_output, node->input_count,
            node->output_count);
    }
    loop->stacked_count = node->output_count - loop->carried_count;
    IG_TRY(check_carried(node, 0, loop->carried_count));
    IG_TRY(read_scanned(node, &s));
    count_scan_trips(node, loop);
    IG_TRY(node->e->status);
    IG_TRY(ig_onnx_loop_build(loop));
    return give_scan_outputs(node, loop);
}

/* ---- scan of opset 8: the same for each element of a batch ---- */

/* Element i of each input, which they replace. */
static ig_value **slice_batch(const ig_onnx_node *node, ig_value *i) {
    ig_value **slices = IG_NEW_ARRAY(node->import->arena, ig_value *,
                                     node->input_count);
    for (uint32_t k = 1; k < node->input_count; k++) {
        slices[k - 1] = ig_expr_gather(node->e, node->inputs[k], i, 0,
                                       IG_NEGATIVE_error);
    }
    return slices;
}

static ig_status check_batch(const ig_onnx_node *node) {
    if (node->input_count < 2) {
        return ig_onnx_fail(node, IG_INVALID, "has %u inputs, expected 2 or more",
                            node->input_count);
    }
    if (node->inputs[0] && (node->inputs[0]->type->kind != IG_TENSOR ||
                            node->inputs[0]->type->rank != 1)) {
        return ig_onnx_fail(node, IG_INVALID,
                            "input 0, the lengths of sequences, is no list");
    }
    if (node->inputs[0]) {
        ig_onnx_guard_extents(node, 1, 0, 0, 0);
    }
    for (uint32_t i = 1; i < node->input_count; i++) {
        const ig_value *x = node->inputs[i];
        if (!x || x->type->kind != IG_TENSOR || x->type->rank < 1) {
            return ig_onnx_fail(node, IG_INVALID,
                                "input %u must be a tensor with an axis for the batch",
                                i);
        }
        ig_onnx_guard_extents(node, 1, 0, i, 0);
    }
    return node->e->status;
}

/* Results as seen from outside: stacked, and of extents that are known there. */
static ig_status give_batch(ig_onnx_node *node, ig_op *op, ig_dim batch,
                            uint32_t first_symbol) {
    ig_module *module = node->import->module;
    for (uint32_t i = 0; i < node->output_count; i++) {
        const ig_type *type = node->outputs[i]->type;
        ig_dim dims[IG_TENSOR_RANK] = { batch };
        IG_TRY(ig_onnx_check_stacked(node, i, type));
        for (uint32_t d = 0; d < type->rank; d++) {
            bool is_own = ig_dim_mentions_since(module, type->dims[d], first_symbol);
            dims[d + 1] = is_own ? ig_onnx_symbol(node->import, "scan",
                                                  "an extent that a scan computes")
                                 : type->dims[d];
        }
        ig_value_retype(&op->results[i],
                        ig_type_with_dims(module, type, type->rank + 1, dims));
        node->outputs[i] = &op->results[i];
    }
    return IG_OK;
}

/* The length of sequence i, which the run checks; `whole` where none is given. */
static ig_dim length_of(const ig_onnx_node *node, ig_value *lengths, ig_value *i,
                        ig_dim whole) {
    ig_expr *e = node->e;
    ig_dim length = whole;
    if (lengths) {
        ig_value *own = ig_expr_gather(e, lengths, i, 0, IG_NEGATIVE_error);
        own = ig_expr_reshape(e, ig_expr_cast(e, own, IG_DT_i64), 1,
                              (ig_dim[]){ ig_dim_of(1) });
        ig_expr_bind_dims(e, own, 1, "the length of a sequence", &length);
        ig_expr_guard_less_equal(e, length, whole,
                                 "a sequence is longer than its tensor");
    }
    return length;
}

/* Leaves the first `length` items of each scanned input. */
static void cut_scanned(ig_onnx_node *node, uint32_t first, ig_dim length) {
    for (uint32_t k = first; k < node->input_count; k++) {
        node->inputs[k] = ig_expr_slice(node->e, node->inputs[k], 0, ig_dim_of(0),
                                        length, 1);
    }
}

/* Puts zeros after the items that a shorter sequence stacks. */
static void fill_stacked(ig_onnx_node *node, uint32_t first, ig_dim missing) {
    for (uint32_t k = first; k < node->output_count; k++) {
        ig_dim before[IG_TENSOR_RANK] = { 0 }, after[IG_TENSOR_RANK] = { missing };
        node->outputs[k] = ig_expr_pad(node->e, node->outputs[k], before, after,
                                       IG_PAD_constant, 0);
    }
}

/* The body of the loop over the batch: a scan of what belongs to one element. */
static ig_status scan_element(ig_onnx_node *node, const ig_op *op) {
    uint32_t count = node->output_count;
    ig_value **args = op->bodies[0]->args;
    ig_value **yields = IG_NEW_ARRAY(node->import->arena, ig_value *, count + 1u);
    ig_value *lengths = node->inputs[0];
    node->inputs = slice_batch(node, args[0]);
    node->input_count--;
    IG_TRY(node->e->status);
    int64_t scanned = ig_onnx_attr_int(node, "num_scan_inputs", 0);
    bool is_cut = lengths && scanned >= 1 && scanned <= node->input_count;
    uint32_t first = is_cut ? node->input_count - (uint32_t)scanned : 0;
    ig_dim whole = ig_dim_of(0), length = whole;
    if (is_cut) {
        whole = ig_onnx_extent(node->e, node->inputs[first], 0);
        length = length_of(node, lengths, args[0], whole);
        cut_scanned(node, first, length);
    }
    IG_TRY(node->e->status);
    IG_TRY(ig_onnx_import_scan(node));
    if (is_cut) {
        fill_stacked(node, first, ig_dim_sub(node->import->module, whole, length));
    }
    IG_TRY(node->e->status);
    yields[0] = args[1];
    for (uint32_t i = 0; i < count; i++) {
        yields[i + 1] = node->outputs[i];
    }
    ig_make_yield(node->builder, yields, count + 1);
    return IG_OK;
}

ig_status ig_onnx_import_scan_batches(ig_onnx_node *node) {
    ig_module *module = node->import->module;
    IG_TRY(check_batch(node));
    ig_dim batch = ig_onnx_extent(node->e, node->inputs[1], 0);
    uint32_t count = node->output_count, first_symbol = ig_symbol_count(module);
    const ig_type **types = IG_NEW_ARRAY(node->import->arena, const ig_type *,
                                         count + 1u);
    for (uint32_t i = 0; i < count; i++) {
        types[i] = ig_type_tensor(module, IG_DT_f32, 0, NULL); /* not known yet */
    }
    ig_value *operands[] = { ig_expr_dim(node->e, batch, IG_DT_i64),
                             ig_expr_number(node->e, IG_DT_bool, 1) };
    ig_builder outside = *node->builder;
    ig_op *op = ig_expr_open_loops(node->e, operands, 2, types, count);
    ig_status status = op ? scan_element(node, op) : node->e->status;
    *node->builder = outside;
    return status == IG_OK ? give_batch(node, op, batch, first_symbol) : status;
}
