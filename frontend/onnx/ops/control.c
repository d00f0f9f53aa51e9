/* If, Loop and Scan.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/onnx/ops/hooks.h"
#include "frontend/onnx/import/loop.h"

/* The graph of an attribute, and the scope it captures names from. */
static const Onnx__GraphProto *graph_of(const ig_onnx_node *node, const char *name,
                                        ig_onnx_scope **out_scope) {
    return ig_onnx_attr(node, name, out_scope)->g; /* check.c saw that it is there */
}

/* ---- if ---- */

typedef struct branches {
    const Onnx__GraphProto *graphs[2];
    ig_value **results[2];
    ig_builder builders[2];
} branches;

static ig_status build_branch(ig_onnx_node *node, branches *b, uint32_t index) {
    ig_onnx_import *import = node->import;
    const char *names[] = { "then_branch", "else_branch" };
    ig_onnx_scope *outer, scope;
    const Onnx__GraphProto *graph = graph_of(node, names[index], &outer);
    const char *label = graph->name && graph->name[0] ? graph->name : names[index];
    ig_onnx_scope_init(&scope, import, outer, label);
    b->graphs[index] = graph;
    scope.builder = &b->builders[index];
    b->results[index] = IG_NEW_ARRAY(import->arena, ig_value *, graph->n_output);
    if (graph->n_input > 0) {
        return ig_onnx_fail(node, IG_INVALID, "%s has inputs; a branch takes none",
                            names[index]);
    }
    if (graph->n_output != node->output_count) {
        return ig_onnx_fail(node, IG_INVALID, "%s has %zu outputs, but the node has %u",
                            names[index], graph->n_output, node->output_count);
    }
    IG_TRY(ig_onnx_import_body(&scope, graph, b->results[index]));
    for (size_t i = 0; i < graph->n_output; i++) {
        if (!b->results[index][i]) {
            return import->worst; /* reported where it is flawed */
        }
    }
    return IG_OK;
}

/* One type for result `i`; an untyped empty sequence takes the other branch's. */
static ig_status join_results(ig_onnx_node *node, branches *b, uint32_t i,
                              ig_value *result) {
    ig_onnx_import *import = node->import;
    bool is_open[2];
    for (uint32_t k = 0; k < 2; k++) {
        is_open[k] = ig_onnx_is_untyped(import, b->results[k][i]);
    }
    for (uint32_t k = 0; k < 2; k++) {
        const ig_value *other = b->results[1 - k][i];
        if (is_open[k] && !is_open[1 - k] && other->type->kind == IG_SEQUENCE) {
            IG_TRY(
                ig_onnx_settle(node, &b->builders[k], other->type, &b->results[k][i]));
        }
    }
    const ig_type *type;
    IG_TRY(ig_onnx_join_types(node, node->proto->output[i], b->results[0][i]->type,
                              b->results[1][i]->type, &type));
    ig_value_retype(result, type);
    ig_onnx_set_untyped(import, result, is_open[0] && is_open[1]);
    return IG_OK;
}

/* Whether an extent equals another is often known here: exporters that do not know
 * ranks ask before they squeeze, and then the branches differ in rank. */
static ig_truth decide(const ig_onnx_node *node) {
    const ig_op *eq = ig_def(node->inputs[0], IG_OP_eq);
    ig_dims_value a, b;
    if (!eq || !ig_value_dims(eq->operands[0].value, &a) ||
        !ig_value_dims(eq->operands[1].value, &b) || a.count != 1 || b.count != 1) {
        return IG_MAYBE;
    }
    return ig_dim_equal(node->import->module, a.dims[0], b.dims[0]);
}

/* The branch that is taken stands for the node. */
static ig_status import_branch(ig_onnx_node *node, uint32_t index) {
    branches b = { .builders = { *node->builder, *node->builder } };
    IG_TRY(build_branch(node, &b, index));
    for (uint32_t i = 0; i < node->output_count; i++) {
        node->outputs[i] = b.results[index][i];
    }
    return IG_OK;
}

ig_status ig_onnx_import_if(ig_onnx_node *node) {
    ig_value *cond;
    ig_module *module = node->import->module;
    IG_TRY(ig_onnx_tensor(node, 0));
    ig_truth truth = decide(node);
    if (truth != IG_MAYBE) {
        return import_branch(node, truth == IG_YES ? 0 : 1);
    }
    IG_TRY(
        ig_onnx_scalar_of(node, node->inputs[0], IG_DT_bool, "the condition", &cond));
    const ig_type **types = IG_NEW_ARRAY(node->import->arena, const ig_type *,
                                         node->output_count + 1u);
    for (uint32_t i = 0; i < node->output_count; i++) {
        types[i] = ig_type_tensor(module, IG_DT_f32, 0,
                                  NULL); /* until they are known */
    }
    ig_op_spec spec = { .operands = &cond,
                        .operand_count = 1,
                        .result_types = types,
                        .result_count = node->output_count };
    ig_op *op = ig_make_op(node->builder, IG_OP_if, &spec);
    branches b = { 0 };
    for (uint32_t k = 0; k < 2; k++) {
        b.builders[k] = ig_builder_at_end(op->bodies[k]);
        b.builders[k].loc = op->loc;
    }
    ig_status status = build_branch(node, &b, 0);
    ig_status other = build_branch(node, &b, 1); /* both are looked at */
    IG_TRY(status);
    IG_TRY(other);
    for (uint32_t i = 0; i < node->output_count; i++) {
        IG_TRY(join_results(node, &b, i, &op->results[i]));
        node->outputs[i] = &op->results[i];
    }
    for (uint32_t k = 0; k < 2; k++) {
        ig_make_yield(&b.builders[k], b.results[k], node->output_count);
    }
    return IG_OK;
}

/* ---- loop ---- */

/* M: absent is no bound; and no trips where the IR would take a negative M for that. */
static ig_status read_trips(const ig_onnx_node *node, ig_value **out_trips) {
    ig_value *given = ig_onnx_in(node, 0);
    ig_dims_value known;
    int64_t least = INT64_MIN, most;
    if (!given) {
        *out_trips = ig_make_i64(node->builder, -1);
        return IG_OK;
    }
    IG_TRY(ig_onnx_scalar_of(node, given, IG_DT_i64, "input 0, the trip count,",
                             out_trips));
    if (ig_value_dims(*out_trips, &known)) {
        ig_dim_range(node->import->module, known.dims[0], &least, &most);
    }
    if (least >= 0) {
        return IG_OK;
    }
    return ig_onnx_build_scalar(node, IG_OP_max, *out_trips, 0, out_trips);
}

static ig_status read_cond(const ig_onnx_node *node, ig_value **out_cond) {
    ig_value *given = ig_onnx_in(node, 1);
    if (!given) {
        *out_cond = ig_onnx_scalar(node, IG_DT_bool, 1);
        return IG_OK;
    }
    return ig_onnx_scalar_of(node, given, IG_DT_bool, "input 1, the condition,",
                             out_cond);
}

static ig_status check_carried(const ig_onnx_node *node, uint32_t first,
                               uint32_t count) {
    for (uint32_t i = first; i < first + count; i++) {
        if (!ig_onnx_in(node, i)) {
            return ig_onnx_fail(node, IG_INVALID, "carried input %u is absent", i);
        }
    }
    return IG_OK;
}

ig_status ig_onnx_import_loop(ig_onnx_node *node) {
    ig_onnx_loop loop = { .node = node, .has_cond = true };
    loop.graph = graph_of(node, "body", &loop.outer);
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
            "the body has %zu outputs, expected the condition, %u carried values and what is stacked",
            loop.graph->n_output, loop.carried_count);
    }
    loop.stacked_count = (uint32_t)loop.graph->n_output - loop.carried_count - 1;
    if (node->output_count > loop.carried_count + loop.stacked_count) {
        return ig_onnx_fail(node, IG_INVALID, "has %u outputs, but its body gives %u",
                            node->output_count,
                            loop.carried_count + loop.stacked_count);
    }
    IG_TRY(check_carried(node, 2, loop.carried_count));
    IG_TRY(read_trips(node, &loop.trips));
    IG_TRY(read_cond(node, &loop.cond));
    IG_TRY(ig_onnx_loop_build(&loop));
    for (uint32_t i = 0; i < node->output_count; i++) {
        node->outputs[i] = ig_op_result(loop.op, i);
    }
    return IG_OK;
}

/* ---- scan ---- */

typedef struct scan {
    ig_onnx_loop loop;
    uint32_t *axes;
    bool *backwards;
} scan;

/* An entry of an attribute with one entry for each input or output scanned. */
static ig_status read_entry(const ig_onnx_node *node, const char *name, uint32_t count,
                            uint32_t index, int64_t *out_entry) {
    uint32_t given;
    const int64_t *entries = ig_onnx_attr_ints(node, name, &given);
    if (entries && given != count) {
        return ig_onnx_fail(node, IG_INVALID, "%s has %u entries, expected %u", name,
                            given, count);
    }
    *out_entry = entries ? entries[index] : 0;
    return IG_OK;
}

static ig_status read_scanned(ig_onnx_node *node, scan *s) {
    ig_onnx_loop *loop = &s->loop;
    s->axes = IG_NEW_ARRAY(node->import->arena, uint32_t, loop->scanned_count);
    s->backwards = IG_NEW_ARRAY(node->import->arena, bool, loop->scanned_count);
    for (uint32_t i = 0; i < loop->scanned_count; i++) {
        int64_t axis, direction;
        uint32_t input = loop->carried_count + i;
        IG_TRY(ig_onnx_tensor(node, input));
        IG_TRY(read_entry(node, "scan_input_axes", loop->scanned_count, i, &axis));
        IG_TRY(read_entry(node, "scan_input_directions", loop->scanned_count, i,
                          &direction));
        IG_TRY(ig_onnx_axis(node, axis, node->inputs[input]->type->rank, &s->axes[i]));
        s->backwards[i] = direction != 0;
        if (i > 0) {
            ig_onnx_guard_extents(node, loop->carried_count, s->axes[0], input,
                                  s->axes[i]);
        }
    }
    loop->scanned = node->inputs + loop->carried_count;
    loop->scan_axes = s->axes;
    loop->scan_backwards = s->backwards;
    return IG_OK;
}

/* As many trips as the scanned axis is long. */
static ig_status count_scan_trips(ig_onnx_node *node, ig_onnx_loop *loop) {
    ig_value *shape, *at = ig_make_i64(node->builder, loop->scan_axes[0]);
    IG_TRY(ig_onnx_build1(node, IG_OP_shape, loop->scanned[0], &shape));
    ig_attr attrs[IG_gather_attr_count] = { [IG_gather_axis] = ig_attr_of_int(0) };
    IG_TRY(ig_onnx_build(node, IG_OP_gather, 2, (ig_value *[]){ shape, at }, attrs,
                         &loop->trips));
    loop->cond = ig_onnx_scalar(node, IG_DT_bool, 1);
    return IG_OK;
}

/* Moves the stacked axis 0 to `axis`. */
static ig_status move_axis(const ig_onnx_node *node, int64_t axis, ig_value **value) {
    uint32_t rank = (*value)->type->rank, to;
    IG_TRY(ig_onnx_axis(node, axis, rank, &to));
    if (to == 0) {
        return IG_OK;
    }
    int64_t perm[IG_TENSOR_RANK];
    for (uint32_t i = 0; i < rank; i++) {
        perm[i] = i < to ? i + 1 : i == to ? 0 : i;
    }
    ig_attr attrs[IG_transpose_attr_count] = { [IG_transpose_perm] = ig_attr_of_ints(
                                                   node->import->module, perm, rank) };
    return ig_onnx_build(node, IG_OP_transpose, 1, value, attrs, value);
}

/* The last trip's part first. */
static ig_status reverse_trips(const ig_onnx_node *node, ig_value **value) {
    ig_module *module = node->import->module;
    const ig_type *type = (*value)->type;
    ig_dim starts[IG_TENSOR_RANK] = { 0 };
    int64_t steps[IG_TENSOR_RANK];
    for (uint32_t i = 0; i < type->rank; i++) {
        steps[i] = i == 0 ? -1 : 1;
    }
    starts[0] = ig_dim_sub(module, type->dims[0], ig_dim_of(1));
    ig_attr attrs[IG_slice_attr_count] = {
        [IG_slice_starts] = ig_attr_of_dims(module, starts, type->rank),
        [IG_slice_sizes] = ig_attr_of_dims(module, type->dims, type->rank),
        [IG_slice_steps] = ig_attr_of_ints(module, steps, type->rank),
    };
    return ig_onnx_build(node, IG_OP_slice, 1, value, attrs, value);
}

static ig_status give_scan_outputs(ig_onnx_node *node, const ig_onnx_loop *loop) {
    for (uint32_t i = 0; i < node->output_count; i++) {
        node->outputs[i] = ig_op_result(loop->op, i);
        if (i < loop->carried_count) {
            continue;
        }
        int64_t axis, direction;
        uint32_t index = i - loop->carried_count;
        IG_TRY(read_entry(node, "scan_output_axes", loop->stacked_count, index, &axis));
        IG_TRY(read_entry(node, "scan_output_directions", loop->stacked_count, index,
                          &direction));
        if (direction) {
            IG_TRY(reverse_trips(node, &node->outputs[i]));
        }
        IG_TRY(move_axis(node, axis, &node->outputs[i]));
    }
    return IG_OK;
}

ig_status ig_onnx_import_scan(ig_onnx_node *node) {
    scan s = { .loop = { .node = node } };
    ig_onnx_loop *loop = &s.loop;
    loop->graph = graph_of(node, "body", &loop->outer);
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
    IG_TRY(count_scan_trips(node, loop));
    IG_TRY(ig_onnx_loop_build(loop));
    return give_scan_outputs(node, loop);
}
