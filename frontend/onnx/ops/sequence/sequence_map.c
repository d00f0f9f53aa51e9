/* SequenceMap: the Loop that the standard spells it as.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     y = SequenceMap(xs, z) { body (x, z) -> f }
 *   is
 *     y = Loop(SequenceLength(xs), , SequenceEmpty()) {
 *       body (i, go, ys) -> go, SequenceInsert(ys, f), where x = SequenceAt(xs, i)
 *     }
 *
 * The nodes around the body's own are made as if they had been read from the file.
 * They find the node's inputs, and the body those that are tensors, by names of a scope
 * around the loop.
 */
#include "frontend/onnx/import/loop.h"
#include "frontend/onnx/ops/hooks.h"

#include <assert.h>

static const char trip_name[] = "SequenceMap: trip";
static const char go_name[] = "SequenceMap: go on";

typedef struct sequence_map {
    ig_onnx_node *node;
    ig_arena *arena;
    const Onnx__GraphProto *body;
    Onnx__GraphProto wrapped; /* the loop's body */
    ig_onnx_scope around;     /* the scope that has the inputs */
} sequence_map;

static char *number_name(const sequence_map *map, const char *what, size_t index) {
    return ig_arena_printf(map->arena, "SequenceMap: %s %zu", what, index);
}

static bool is_sequence(const ig_value *value) {
    return value && value->type->kind == IG_SEQUENCE;
}

/* ---- messages as a file would hold them ---- */

/* A node of two inputs. */
static void add_node(sequence_map *map, const char *op, const char *const *inputs,
                     const char *output) {
    Onnx__NodeProto *node = IG_NEW(map->arena, Onnx__NodeProto);
    onnx__node_proto__init(node);
    node->op_type = (char *)(uintptr_t)op;
    node->input = IG_NEW_ARRAY(map->arena, char *, 2);
    node->output = IG_NEW_ARRAY(map->arena, char *, 1);
    node->input[0] = (char *)(uintptr_t)inputs[0];
    node->input[1] = (char *)(uintptr_t)inputs[1];
    node->output[0] = (char *)(uintptr_t)output;
    node->n_input = 2;
    node->n_output = 1;
    map->wrapped.node[map->wrapped.n_node++] = node;
}

static Onnx__ValueInfoProto *make_info(const sequence_map *map, const char *name) {
    Onnx__ValueInfoProto *info = IG_NEW(map->arena, Onnx__ValueInfoProto);
    onnx__value_info_proto__init(info);
    info->name = (char *)(uintptr_t)name;
    return info;
}

static const char *formal_name(const sequence_map *map, size_t index) {
    const char *name = map->body->input[index]->name;
    return name ? name : "";
}

/* Items before the body's nodes, and the body's results inserted after them. */
static void wrap_nodes(sequence_map *map) {
    const Onnx__GraphProto *body = map->body;
    size_t count = body->n_input + body->n_node + body->n_output;
    map->wrapped.node = IG_NEW_ARRAY(map->arena, Onnx__NodeProto *, count + 1);
    for (size_t i = 0; i < body->n_input; i++) {
        const char *inputs[] = { number_name(map, "input", i), trip_name };
        if (is_sequence(map->node->inputs[i]) && formal_name(map, i)[0]) {
            add_node(map, "SequenceAt", inputs, formal_name(map, i));
        }
    }
    for (size_t i = 0; i < body->n_node; i++) {
        map->wrapped.node[map->wrapped.n_node++] = body->node[i];
    }
    for (size_t i = 0; i < body->n_output; i++) {
        const char *item = body->output[i]->name;
        const char *inputs[] = { number_name(map, "list", i), item ? item : "" };
        add_node(map, "SequenceInsert", inputs, number_name(map, "result", i));
    }
}

static void wrap_body(sequence_map *map) {
    const Onnx__GraphProto *body = map->body;
    Onnx__GraphProto *to = &map->wrapped;
    onnx__graph_proto__init(to);
    to->name = body->name;
    to->initializer = body->initializer;
    to->n_initializer = body->n_initializer;
    to->sparse_initializer = body->sparse_initializer;
    to->n_sparse_initializer = body->n_sparse_initializer;
    to->input = IG_NEW_ARRAY(map->arena, Onnx__ValueInfoProto *, body->n_output + 2);
    to->output = IG_NEW_ARRAY(map->arena, Onnx__ValueInfoProto *, body->n_output + 1);
    to->input[to->n_input++] = make_info(map, trip_name);
    to->input[to->n_input++] = make_info(map, go_name);
    to->output[to->n_output++] = make_info(map, go_name);
    for (size_t i = 0; i < body->n_output; i++) {
        to->input[to->n_input++] = make_info(map, number_name(map, "list", i));
        to->output[to->n_output++] = make_info(map, number_name(map, "result", i));
    }
    wrap_nodes(map);
}

/* ---- the loop ---- */

/* Sequences by names of ours, tensors by the body's. */
static void define_inputs(sequence_map *map, ig_onnx_scope *outer) {
    ig_onnx_scope_init(&map->around, map->node->import, outer, outer->label);
    map->around.builder = map->node->builder;
    for (size_t i = 0; i < map->body->n_input; i++) {
        ig_value *value = map->node->inputs[i];
        const char *name = is_sequence(value) ? number_name(map, "input", i)
                                              : formal_name(map, i);
        if (name[0]) {
            ig_onnx_define_value(&map->around, name, value,
                                 number_name(map, "input", i));
        }
    }
}

/* An empty list of items like output `index` of the body. */
static ig_status begin_list(const sequence_map *map, size_t index,
                            ig_value **out_list) {
    ig_onnx_node *node = map->node;
    const Onnx__TypeProto *type = map->body->output[index]->type;
    bool is_tensor = type && type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
    ig_dtype dtype;
    if (!is_tensor || !ig_dtype_from_onnx(type->tensor_type->elem_type, &dtype)) {
        return ig_onnx_fail(node, IG_UNSUPPORTED,
                            "output %zu of the body is not said to be a tensor of a "
                            "known element type",
                            index);
    }
    ig_module *module = node->import->module;
    const ig_type *item = ig_type_tensor(module, dtype, 0, NULL);
    *out_list = ig_onnx_empty_sequence(node->builder,
                                       ig_type_host(module, IG_SEQUENCE, item));
    ig_onnx_set_untyped(node->import, *out_list, true);
    return IG_OK;
}

static ig_status check_map(const sequence_map *map) {
    const ig_onnx_node *node = map->node;
    const Onnx__GraphProto *body = map->body;
    if (!is_sequence(node->inputs[0])) {
        return ig_onnx_fail(node, IG_INVALID, "input 0 must be a sequence");
    }
    if (body->n_input != node->input_count || body->n_output != node->output_count) {
        return ig_onnx_fail(
            node, IG_INVALID,
            "the body has %zu inputs and %zu outputs, expected %u and %u",
            body->n_input, body->n_output, node->input_count, node->output_count);
    }
    for (uint32_t i = 0; i < node->input_count; i++) {
        if (!node->inputs[i]) {
            return ig_onnx_fail(node, IG_INVALID, "lacks input %u", i);
        }
    }
    return IG_OK;
}

ig_status ig_onnx_import_sequence_map(ig_onnx_node *node) {
    ig_onnx_scope *outer;
    const Onnx__AttributeProto *attr = ig_onnx_attr(node, "body", &outer);
    assert(attr && attr->g && "check.c refuses a node without its graphs");
    sequence_map map = { .node = node, .arena = node->import->arena, .body = attr->g };
    IG_TRY(check_map(&map));
    define_inputs(&map, outer);
    wrap_body(&map);
    Onnx__GraphProto *wrapped = IG_NEW(map.arena, Onnx__GraphProto);
    *wrapped = map.wrapped; /* bodies are known by their address */
    uint32_t count = node->output_count;
    ig_onnx_loop loop = { .node = node,
                          .graph = wrapped,
                          .outer = &map.around,
                          .has_cond = true,
                          .carried_count = count };
    loop.carried = IG_NEW_ARRAY(map.arena, ig_value *, count + 1u);
    for (uint32_t i = 0; i < count; i++) {
        IG_TRY(begin_list(&map, i, &loop.carried[i]));
    }
    loop.trips = ig_build_seq_length(node->e, node->inputs[0]);
    loop.cond = ig_expr_number(node->e, IG_DT_bool, 1);
    IG_TRY(node->e->status);
    IG_TRY(ig_onnx_loop_build(&loop));
    for (uint32_t i = 0; i < count; i++) {
        node->outputs[i] = ig_op_result(loop.op, i);
    }
    return IG_OK;
}
