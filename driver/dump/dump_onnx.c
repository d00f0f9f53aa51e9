/* A graph as an ONNX model for viewers.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Written by the format's field numbers.  Messages are made in a writer of their own
 * and then put into the one around them, as their length precedes them.  In a plan
 * launches write memory: their results have new names from there on, so that viewers
 * connect writers and readers; allocations and views of it are left out.  The entry's
 * `ret` is a node, which gives the results the names that users know.
 */
#include "driver/dump/dump.h"

#include "ir/ops.h"
#include "ir/text/text.h"

#include <string.h>

enum {
    MODEL_IR_VERSION = 1,
    MODEL_PRODUCER = 2,
    MODEL_GRAPH = 7,
    MODEL_OPSET = 8,
    OPSET_DOMAIN = 1,
    OPSET_VERSION = 2,
    GRAPH_NODE = 1,
    GRAPH_NAME = 2,
    GRAPH_CONSTANT = 5,
    GRAPH_INPUT = 11,
    GRAPH_OUTPUT = 12,
    GRAPH_VALUE = 13,
    NODE_INPUT = 1,
    NODE_OUTPUT = 2,
    NODE_NAME = 3,
    NODE_OP = 4,
    NODE_ATTRIBUTE = 5,
    NODE_DOC = 6,
    NODE_DOMAIN = 7,
    ATTRIBUTE_NAME = 1,
    ATTRIBUTE_F = 2,
    ATTRIBUTE_I = 3,
    ATTRIBUTE_S = 4,
    ATTRIBUTE_G = 6,
    ATTRIBUTE_INTS = 8,
    ATTRIBUTE_TYPE = 20,
    VALUE_NAME = 1,
    VALUE_TYPE = 2,
    TYPE_TENSOR = 1,
    TENSOR_ELEMENT = 1,
    TENSOR_SHAPE = 2,
    SHAPE_DIM = 1,
    DIM_VALUE = 1,
    DIM_PARAM = 2,
    CONSTANT_DIMS = 1,
    CONSTANT_TYPE = 2,
    CONSTANT_NAME = 8,
    OF_FLOAT = 1,
    OF_INT = 2,
    OF_STRING = 3,
    OF_GRAPH = 5,
    OF_INTS = 7,
    IR_VERSION = 10
};

typedef struct onnx_dump {
    const ig_module *module;
    ig_arena *arena;
    ig_printer *lines;
    const char **names; /* by value id; of memory, its name from here on */
    uint32_t value_count;
    ig_map taken;
} onnx_dump;

/* ---- the wire ---- */

static void put_varint(ig_writer *out, uint64_t value) {
    for (; value >= 0x80; value >>= 7) {
        ig_put_char(out, (char)(value | 0x80));
    }
    ig_put_char(out, (char)value);
}

static void put_int(ig_writer *out, uint32_t field, int64_t value) {
    put_varint(out, field << 3);
    put_varint(out, (uint64_t)value);
}

static void put_bytes(ig_writer *out, uint32_t field, const ig_writer *bytes) {
    put_varint(out, field << 3 | 2);
    put_varint(out, bytes->size);
    ig_put_bytes(out, bytes->data, bytes->size);
}

static void put_text(ig_writer *out, uint32_t field, const char *text) {
    put_varint(out, field << 3 | 2);
    put_varint(out, strlen(text));
    ig_put_str(out, ig_str_of(text));
}

static void put_float(ig_writer *out, uint32_t field, float value) {
    put_varint(out, field << 3 | 5);
    ig_put_bytes(out, &value, sizeof value);
}

static ig_writer open_message(const onnx_dump *d) {
    ig_writer out;
    ig_writer_init(&out, d->arena);
    return out;
}

/* ---- values ---- */

static const ig_value *root_of(const ig_value *value) {
    while (value->def && value->def->code == IG_OP_view) {
        value = value->def->operands[0].value;
    }
    return value;
}

static const char *new_name(onnx_dump *d, const char *wanted, uint32_t id) {
    const char *name = wanted && *wanted ? wanted
                                         : ig_arena_printf(d->arena, "%%%u", id);
    for (uint32_t i = 2; ig_map_get(&d->taken, ig_str_of(name)); i++) {
        name = ig_arena_printf(d->arena, "%s.%u", wanted && *wanted ? wanted : "%",
                               id + i);
    }
    ig_map_set(&d->taken, ig_str_of(name), d);
    return name;
}

static const char *name_of(onnx_dump *d, const ig_value *value) {
    const ig_value *root = root_of(value);
    const char **name = &d->names[root->id];
    if (!*name) {
        *name = new_name(d, root->name, root->id);
    }
    return *name;
}

static ig_writer type_message(const onnx_dump *d, const ig_type *type) {
    ig_writer tensor = open_message(d), shape = open_message(d), out = open_message(d);
    put_int(&tensor, TENSOR_ELEMENT, ig_dtypes[type->dtype].onnx);
    for (uint32_t i = 0; i < type->rank; i++) {
        ig_writer dim = open_message(d), text = open_message(d);
        int64_t extent;
        if (ig_dim_known(type->dims[i], &extent)) {
            put_int(&dim, DIM_VALUE, extent);
        } else {
            ig_dim_print(d->module, type->dims[i], &text);
            put_bytes(&dim, DIM_PARAM, &text);
        }
        put_bytes(&shape, SHAPE_DIM, &dim);
    }
    put_bytes(&tensor, TENSOR_SHAPE, &shape);
    put_bytes(&out, TYPE_TENSOR, &tensor);
    return out;
}

static void put_value(const onnx_dump *d, ig_writer *graph, uint32_t field,
                      const char *name, const ig_type *type) {
    ig_writer out = open_message(d);
    bool has_type = type->kind == IG_TENSOR || type->kind == IG_BUFFER;
    put_text(&out, VALUE_NAME, name);
    if (has_type) {
        ig_writer what = type_message(d, type);
        put_bytes(&out, VALUE_TYPE, &what);
    }
    put_bytes(graph, field, &out);
}

/* ---- attributes ---- */

static void put_attribute(onnx_dump *d, const ig_op *op, uint32_t slot,
                          ig_writer *node) {
    const ig_attr *attr = &op->attrs[slot];
    const ig_attr_info *info = &ig_ops[op->code].attrs[slot];
    ig_writer out = open_message(d);
    put_text(&out, ATTRIBUTE_NAME, info->name);
    if (attr->kind == IG_ATTR_INT || attr->kind == IG_ATTR_BOOL) {
        put_int(&out, ATTRIBUTE_TYPE, OF_INT);
        put_int(&out, ATTRIBUTE_I, attr->as.i);
    } else if (attr->kind == IG_ATTR_FLOAT) {
        put_int(&out, ATTRIBUTE_TYPE, OF_FLOAT);
        put_float(&out, ATTRIBUTE_F, (float)attr->as.f);
    } else if (attr->kind == IG_ATTR_INTS && !info->names) {
        put_int(&out, ATTRIBUTE_TYPE, OF_INTS);
        for (uint32_t i = 0; i < attr->count; i++) {
            put_int(&out, ATTRIBUTE_INTS, attr->as.ints[i]);
        }
    } else {
        ig_writer text = open_message(d);
        ig_print_line_attr(d->lines, op, slot, &text);
        put_int(&out, ATTRIBUTE_TYPE, OF_STRING);
        put_bytes(&out, ATTRIBUTE_S, &text);
    }
    put_bytes(node, NODE_ATTRIBUTE, &out);
}

/* ---- nodes ---- */

static void put_block(onnx_dump *d, const ig_block *block, ig_writer *graph);

static void put_body(onnx_dump *d, const ig_block *body, uint32_t index,
                     ig_writer *node) {
    ig_writer out = open_message(d), graph = open_message(d);
    const char *name = ig_arena_printf(d->arena, "body_%u", index);
    put_text(&graph, GRAPH_NAME, name);
    for (uint32_t i = 0; i < body->arg_count; i++) {
        put_value(d, &graph, GRAPH_INPUT, name_of(d, body->args[i]),
                  body->args[i]->type);
    }
    put_block(d, body, &graph);
    put_text(&out, ATTRIBUTE_NAME, name);
    put_int(&out, ATTRIBUTE_TYPE, OF_GRAPH);
    put_bytes(&out, ATTRIBUTE_G, &graph);
    put_bytes(node, NODE_ATTRIBUTE, &out);
}

/* How many of the last operands an op writes. */
static uint32_t written_by(const ig_op *op) {
    uint32_t slot = op->code == IG_OP_launch ? (uint32_t)IG_launch_outs
                                             : (uint32_t)IG_host_outs;
    bool writes = op->code == IG_OP_launch || op->code == IG_OP_host;
    int64_t outs = writes ? ig_attr_int(op, slot, 0) : 0;
    return outs > op->operand_count ? op->operand_count : (uint32_t)outs;
}

static void put_written(onnx_dump *d, const ig_op *op, uint32_t outs, ig_writer *node) {
    for (uint32_t i = op->operand_count - outs; i < op->operand_count; i++) {
        const ig_value *root = root_of(op->operands[i].value);
        d->names[root->id] = new_name(d, NULL, d->value_count + op->id);
        put_text(node, NODE_OUTPUT, d->names[root->id]);
    }
}

static void put_node(onnx_dump *d, const ig_op *op, ig_writer *graph) {
    ig_writer node = open_message(d);
    const ig_location *where = ig_op_location(op);
    uint32_t outs = written_by(op);
    for (uint32_t i = 0; i + outs < op->operand_count; i++) {
        put_text(&node, NODE_INPUT, name_of(d, op->operands[i].value));
    }
    put_written(d, op, outs, &node);
    for (uint32_t i = 0; i < op->result_count; i++) {
        put_text(&node, NODE_OUTPUT, name_of(d, &op->results[i]));
        put_value(d, graph, GRAPH_VALUE, name_of(d, &op->results[i]),
                  op->results[i].type);
    }
    put_text(&node, NODE_OP, ig_ops[op->code].name);
    put_text(&node, NODE_DOMAIN, "ingot");
    put_text(&node, NODE_NAME,
             where && where->node ? where->node
                                  : ig_arena_printf(d->arena, "%u", op->id));
    for (uint32_t i = 0; i < ig_ops[op->code].attr_count; i++) {
        if (op->attrs[i].kind != IG_ATTR_NONE) {
            put_attribute(d, op, i, &node);
        }
    }
    for (uint32_t b = 0; b < op->body_count; b++) {
        put_body(d, op->bodies[b], b, &node);
    }
    put_bytes(graph, GRAPH_NODE, &node);
}

/* Viewers show constants inside of who reads them; their bytes stay where they are. */
static void put_constant(onnx_dump *d, const ig_op *op, ig_writer *graph) {
    const ig_type *type = op->results[0].type;
    ig_writer out = open_message(d);
    for (uint32_t i = 0; i < type->rank; i++) {
        int64_t extent = 0;
        (void)ig_dim_known(type->dims[i], &extent);
        put_int(&out, CONSTANT_DIMS, extent);
    }
    put_int(&out, CONSTANT_TYPE, ig_dtypes[type->dtype].onnx);
    put_text(&out, CONSTANT_NAME, name_of(d, &op->results[0]));
    put_bytes(graph, GRAPH_CONSTANT, &out);
}

static bool is_weight(const ig_op *op) {
    return op->code == IG_OP_weight || op->code == IG_OP_table;
}

/* Weights are named as their users know them, before anything reads them. */
static void name_weight(onnx_dump *d, const ig_op *op) {
    uint32_t slot = op->code == IG_OP_weight ? (uint32_t)IG_weight_name
                                             : (uint32_t)IG_table_name;
    d->names[op->results[0].id] = new_name(d, ig_attr_str(op, slot), op->results[0].id);
}

static void put_ops(onnx_dump *d, const ig_block *block, ig_writer *graph) {
    for (const ig_op *op = block->first; op; op = op->next) {
        bool is_memory = op->code == IG_OP_alloc || op->code == IG_OP_view;
        if (is_weight(op)) {
            name_weight(d, op);
            put_constant(d, op, graph);
        } else if (!is_memory && !(ig_ops[op->code].traits & IG_TERMINATOR)) {
            put_node(d, op, graph);
        }
    }
}

/* Recursion is as deep as bodies nest, which readers bound by limits.graph_depth. */
static void put_block(onnx_dump *d, const ig_block *block, ig_writer *graph) {
    put_ops(d, block, graph);
    const ig_op *end = block->last;
    for (uint32_t i = 0; end && i < end->operand_count; i++) {
        const ig_value *value = end->operands[i].value;
        put_value(d, graph, GRAPH_OUTPUT, name_of(d, value), value->type);
    }
}

/* ---- the model ---- */

/* The entry's results get their names before anything but inputs. */
static const char **name_results(onnx_dump *d, const ig_graph *entry, uint32_t count) {
    const char **names = IG_NEW_ARRAY(d->arena, const char *, count);
    for (uint32_t i = 0; i < count; i++) {
        const char *user = entry->result_names ? entry->result_names[i] : NULL;
        bool has_name = user && *user;
        names[i] = new_name(d,
                            has_name ? user : ig_arena_printf(d->arena, "result_%u", i),
                            d->value_count + i);
    }
    return names;
}

static void put_results(onnx_dump *d, const ig_op *end, const char **names,
                        ig_writer *graph) {
    ig_writer node = open_message(d);
    for (uint32_t i = 0; i < end->operand_count; i++) {
        put_text(&node, NODE_INPUT, name_of(d, end->operands[i].value));
    }
    for (uint32_t i = 0; i < end->operand_count; i++) {
        put_text(&node, NODE_OUTPUT, names[i]);
        put_value(d, graph, GRAPH_OUTPUT, names[i], end->operands[i].value->type);
    }
    put_text(&node, NODE_OP, ig_ops[end->code].name);
    put_text(&node, NODE_DOMAIN, "ingot");
    put_bytes(graph, GRAPH_NODE, &node);
}

static ig_writer graph_message(onnx_dump *d, const ig_graph *entry) {
    ig_writer graph = open_message(d);
    const ig_op *end = entry->body.last;
    put_text(&graph, GRAPH_NAME, entry->name);
    for (uint32_t i = 0; i < entry->body.arg_count; i++) {
        const ig_value *arg = entry->body.args[i];
        const char *user = entry->arg_names ? entry->arg_names[i] : NULL;
        d->names[arg->id] = new_name(d, user ? user : arg->name, arg->id);
        put_value(d, &graph, GRAPH_INPUT, d->names[arg->id], arg->type);
    }
    const char **names = name_results(d, entry, end ? end->operand_count : 0);
    put_ops(d, &entry->body, &graph);
    if (end) {
        put_results(d, end, names, &graph);
    }
    return graph;
}

void ig_dump_onnx(const ig_module *module, const ig_graph *entry, ig_writer *out) {
    ig_arena scratch;
    ig_arena_init(&scratch, &module->context->budget);
    onnx_dump d = { .module = module, .arena = &scratch };
    ig_writer opset = open_message(&d);
    put_text(&opset, OPSET_DOMAIN, "ingot");
    put_int(&opset, OPSET_VERSION, 1);
    put_int(out, MODEL_IR_VERSION, IR_VERSION);
    put_text(out, MODEL_PRODUCER, "ingot");
    put_bytes(out, MODEL_OPSET, &opset);
    if (entry) {
        d.value_count = entry->value_count;
        d.names = IG_NEW_ARRAY(&scratch, const char *, entry->value_count);
        d.lines = ig_line_printer(entry, &scratch);
        ig_map_init(&d.taken, &scratch);
        ig_writer graph = graph_message(&d, entry);
        put_bytes(out, MODEL_GRAPH, &graph);
    }
    ig_arena_fini(&scratch);
}
