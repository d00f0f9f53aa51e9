/* Small ONNX models, made in tests.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     onnx_model m;
 *     onnx_model_init(&m, 17);
 *     onnx_input(&m, "x", FLOAT, 2, "N", "4");
 *     onnx_node(&m, "Relu", "x", "y");
 *     onnx_output(&m, "y");
 *     ig_str bytes = onnx_pack(&m);
 *
 * Messages are built with the generated structs in an arena that the model owns.
 */
#ifndef IG_TESTS_UNIT_ONNX_ONNX_BUILD_H
#define IG_TESTS_UNIT_ONNX_ONNX_BUILD_H

#include "base/str.h"
#include "frontend/onnx/read/onnx.pb-c.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum {
    ONNX_F32 = 1,
    ONNX_U8 = 2,
    ONNX_I8 = 3,
    ONNX_I32 = 6,
    ONNX_I64 = 7,
    ONNX_BOOL = 9
};

typedef struct onnx_model {
    ig_arena arena;
    Onnx__ModelProto model;
    Onnx__GraphProto *graph; /* where nodes and values go */
    Onnx__OperatorSetIdProto opset, *opsets[4];
    Onnx__FunctionProto *functions[8];
} onnx_model;

/* Appends to a repeated field of messages; the array grows one by one. */
#define ONNX_APPEND(m, list, count, item)                                           \
    do {                                                                            \
        void **grown = ig_arena_alloc(&(m)->arena, ((count) + 1) * sizeof(void *)); \
        memcpy(grown, (count) ? (void *)(list) : (void *)grown,                     \
               (count) * sizeof(void *));                                           \
        grown[(count)++] = (item);                                                  \
        (list) = (void *)grown;                                                     \
    } while (0)

static inline void onnx_model_init(onnx_model *m, int64_t opset) {
    memset(m, 0, sizeof(*m));
    ig_arena_init(&m->arena, NULL);
    onnx__model_proto__init(&m->model);
    onnx__operator_set_id_proto__init(&m->opset);
    m->opset.has_version = 1;
    m->opset.version = opset;
    m->opsets[0] = &m->opset;
    m->model.opset_import = m->opsets;
    m->model.n_opset_import = 1;
    m->model.has_ir_version = 1;
    m->model.ir_version = 8;
    m->graph = ig_arena_alloc(&m->arena, sizeof(*m->graph));
    onnx__graph_proto__init(m->graph);
    m->graph->name = ig_arena_strdup(&m->arena, "test");
    m->model.graph = m->graph;
}

static inline void onnx_model_fini(onnx_model *m) {
    ig_arena_fini(&m->arena);
}

/* A graph for a branch or a body; make it m->graph to fill it. */
static inline Onnx__GraphProto *onnx_graph(onnx_model *m, const char *name) {
    Onnx__GraphProto *graph = ig_arena_alloc(&m->arena, sizeof(*graph));
    onnx__graph_proto__init(graph);
    graph->name = ig_arena_strdup(&m->arena, name);
    return graph;
}

/* Splits "a,b,,c" into names; "" has none. */
static inline char **onnx_names(onnx_model *m, const char *list, size_t *out_count) {
    size_t count = *list != 0;
    for (const char *c = list; *c; c++) {
        count += *c == ',';
    }
    char **names = ig_arena_alloc(&m->arena, (count + 1) * sizeof(*names));
    for (size_t i = 0; i < count; i++) {
        size_t size = strcspn(list, ",");
        names[i] = ig_arena_copy(&m->arena, list, size);
        list += size + (list[size] == ',');
    }
    *out_count = count;
    return names;
}

static inline Onnx__NodeProto *onnx_node(onnx_model *m, const char *op, const char *ins,
                                         const char *outs) {
    Onnx__NodeProto *node = ig_arena_alloc(&m->arena, sizeof(*node));
    onnx__node_proto__init(node);
    node->op_type = ig_arena_strdup(&m->arena, op);
    node->input = onnx_names(m, ins, &node->n_input);
    node->output = onnx_names(m, outs, &node->n_output);
    ONNX_APPEND(m, m->graph->node, m->graph->n_node, node);
    return node;
}

/* ---- attributes ---- */

static inline Onnx__AttributeProto *onnx_attr(onnx_model *m, Onnx__NodeProto *node,
                                              const char *name, int type) {
    Onnx__AttributeProto *attr = ig_arena_alloc(&m->arena, sizeof(*attr));
    onnx__attribute_proto__init(attr);
    attr->name = ig_arena_strdup(&m->arena, name);
    attr->has_type = 1;
    attr->type = (Onnx__AttributeProto__AttributeType)type;
    ONNX_APPEND(m, node->attribute, node->n_attribute, attr);
    return attr;
}

static inline void onnx_attr_i(onnx_model *m, Onnx__NodeProto *node, const char *name,
                               int64_t value) {
    Onnx__AttributeProto *attr = onnx_attr(m, node, name, 2);
    attr->has_i = 1;
    attr->i = value;
}

static inline void onnx_attr_f(onnx_model *m, Onnx__NodeProto *node, const char *name,
                               float value) {
    Onnx__AttributeProto *attr = onnx_attr(m, node, name, 1);
    attr->has_f = 1;
    attr->f = value;
}

static inline void onnx_attr_s(onnx_model *m, Onnx__NodeProto *node, const char *name,
                               const char *value) {
    Onnx__AttributeProto *attr = onnx_attr(m, node, name, 3);
    attr->has_s = 1;
    attr->s.data = (uint8_t *)ig_arena_strdup(&m->arena, value);
    attr->s.len = strlen(value);
}

static inline void onnx_attr_g(onnx_model *m, Onnx__NodeProto *node, const char *name,
                               Onnx__GraphProto *graph) {
    onnx_attr(m, node, name, 5)->g = graph;
}

static inline void onnx_attr_ints(onnx_model *m, Onnx__NodeProto *node,
                                  const char *name, size_t count,
                                  const int64_t *values) {
    Onnx__AttributeProto *attr = onnx_attr(m, node, name, 7);
    attr->n_ints = count;
    attr->ints = (int64_t *)(void *)ig_arena_copy(&m->arena, values,
                                                  count * sizeof(*values));
}

/* ---- values ---- */

/* Raw data of `dims`; the element size follows from the type. */
static inline Onnx__TensorProto *onnx_tensor(onnx_model *m, const char *name, int type,
                                             size_t rank, const int64_t *dims,
                                             const void *bytes) {
    bool is_byte = type == ONNX_BOOL || type == ONNX_U8 || type == ONNX_I8;
    size_t size = type == ONNX_I64 ? 8 : is_byte ? 1 : 4;
    for (size_t i = 0; i < rank; i++) {
        size *= (size_t)dims[i];
    }
    Onnx__TensorProto *tensor = ig_arena_alloc(&m->arena, sizeof(*tensor));
    onnx__tensor_proto__init(tensor);
    tensor->name = ig_arena_strdup(&m->arena, name);
    tensor->has_data_type = 1;
    tensor->data_type = type;
    tensor->n_dims = rank;
    tensor->dims = (int64_t *)(void *)ig_arena_copy(&m->arena, dims, rank * 8);
    tensor->has_raw_data = 1;
    tensor->raw_data.len = size;
    tensor->raw_data.data = (uint8_t *)ig_arena_copy(&m->arena, bytes, size);
    return tensor;
}

static inline Onnx__TensorProto *onnx_initializer(onnx_model *m,
                                                  Onnx__TensorProto *tensor) {
    ONNX_APPEND(m, m->graph->initializer, m->graph->n_initializer, tensor);
    return tensor;
}

/* An i64 vector; a scalar when count is -1. */
static inline void onnx_ints(onnx_model *m, const char *name, int count,
                             const int64_t *values) {
    int64_t dim = count;
    onnx_initializer(m, onnx_tensor(m, name, ONNX_I64, count >= 0, &dim, values));
}

static inline Onnx__ValueInfoProto *onnx_value(onnx_model *m, const char *name) {
    Onnx__ValueInfoProto *value = ig_arena_alloc(&m->arena, sizeof(*value));
    onnx__value_info_proto__init(value);
    value->name = ig_arena_strdup(&m->arena, name);
    return value;
}

/* A tensor input; each dim is a number or a name ("" for neither). */
static inline void onnx_input(onnx_model *m, const char *name, int type, int rank,
                              ...) {
    Onnx__ValueInfoProto *value = onnx_value(m, name);
    Onnx__TypeProto *proto = ig_arena_alloc(&m->arena, sizeof(*proto));
    Onnx__TypeProto__Tensor *tensor = ig_arena_alloc(&m->arena, sizeof(*tensor));
    onnx__type_proto__init(proto);
    onnx__type_proto__tensor__init(tensor);
    proto->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
    proto->tensor_type = tensor;
    tensor->has_elem_type = 1;
    tensor->elem_type = type;
    tensor->shape = ig_arena_alloc(&m->arena, sizeof(*tensor->shape));
    onnx__tensor_shape_proto__init(tensor->shape);
    va_list args;
    va_start(args, rank);
    for (int i = 0; i < rank; i++) {
        const char *text = va_arg(args, const char *);
        Onnx__TensorShapeProto__Dimension *dim = ig_arena_alloc(&m->arena,
                                                                sizeof(*dim));
        onnx__tensor_shape_proto__dimension__init(dim);
        if (*text >= '0' && *text <= '9') {
            dim->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
            dim->dim_value = strtoll(text, NULL, 10);
        } else if (*text) {
            dim->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
            dim->dim_param = ig_arena_strdup(&m->arena, text);
        }
        ONNX_APPEND(m, tensor->shape->dim, tensor->shape->n_dim, dim);
    }
    va_end(args);
    value->type = proto;
    ONNX_APPEND(m, m->graph->input, m->graph->n_input, value);
}

/* An input or output of a body, without a type. */
static inline void onnx_formal(onnx_model *m, const char *name) {
    Onnx__ValueInfoProto *value = onnx_value(m, name);
    ONNX_APPEND(m, m->graph->input, m->graph->n_input, value);
}

static inline void onnx_output(onnx_model *m, const char *name) {
    Onnx__ValueInfoProto *value = onnx_value(m, name);
    ONNX_APPEND(m, m->graph->output, m->graph->n_output, value);
}

/* A function; its nodes are those that were put into `body`. */
static inline Onnx__FunctionProto *onnx_function(onnx_model *m, const char *name,
                                                 const char *ins, const char *outs,
                                                 Onnx__GraphProto *body) {
    Onnx__FunctionProto *function = ig_arena_alloc(&m->arena, sizeof(*function));
    onnx__function_proto__init(function);
    function->name = ig_arena_strdup(&m->arena, name);
    function->domain = ig_arena_strdup(&m->arena, "local");
    function->input = onnx_names(m, ins, &function->n_input);
    function->output = onnx_names(m, outs, &function->n_output);
    function->node = body->node;
    function->n_node = body->n_node;
    function->opset_import = m->opsets;
    function->n_opset_import = 1;
    m->functions[m->model.n_functions++] = function;
    m->model.functions = m->functions;
    return function;
}

static inline Onnx__NodeProto *onnx_call(onnx_model *m, const char *function,
                                         const char *ins, const char *outs) {
    Onnx__NodeProto *node = onnx_node(m, function, ins, outs);
    node->domain = ig_arena_strdup(&m->arena, "local");
    return node;
}

static inline ig_str onnx_pack(onnx_model *m) {
    size_t size = onnx__model_proto__get_packed_size(&m->model);
    uint8_t *bytes = ig_arena_alloc(&m->arena, size);
    onnx__model_proto__pack(&m->model, bytes);
    return (ig_str){ (const char *)bytes, size };
}

#endif
