/* The structural hash of a graph.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Two graphs with the same hash do the same: ops in order, codes, attributes, types and
 * which value each operand is (numbered in order of appearance).  Ids, names and
 * locations do not count.  A weight's op is known by the weight's name wherever it
 * is at the head, since the text form does not give the order of heads.
 */
#include "ir/dim/table.h"
#include "ir/ops.h"

#include <assert.h>
#include <string.h>

typedef struct hasher {
    const ig_module *module;
    uint32_t *ids; /* by value id; 0: not met */
    uint32_t count;
    uint64_t state;
} hasher;

static void mix_bytes(hasher *h, const void *bytes, size_t size) {
    h->state = ig_hash_bytes(bytes, size, h->state + size);
}

static void mix_word(hasher *h, uint64_t value) {
    mix_bytes(h, &value, sizeof(value));
}

static void mix_text(hasher *h, const char *text) {
    mix_bytes(h, text ? text : "", text ? strlen(text) : 0);
}

static void mix_dims(hasher *h, const ig_dim *dims, uint32_t count) {
    mix_word(h, count);
    for (uint32_t i = 0; i < count; i++) {
        mix_word(h, ig_dim_hash(h->module, dims[i]));
    }
}

static void mix_rows(hasher *h, ig_rows rows) {
    mix_word(h, (uint64_t)rows.format << 48 | (uint64_t)rows.exponent_bits << 40 |
                    (uint64_t)rows.exponent_bias << 32 | rows.stride);
}

static void mix_type(hasher *h, const ig_type *type) {
    for (; type; type = type->element) {
        mix_word(h, (uint64_t)type->kind << 48 | (uint64_t)type->dtype << 32 |
                        type->lanes);
        mix_rows(h, type->rows);
        mix_dims(h, type->dims, type->rank);
    }
}

static void mix_data(hasher *h, const ig_data *data) {
    mix_type(h, data->type);
    mix_word(h, (uint64_t)data->size);
    mix_word(h, data->is_splat);
    if (data->bytes) {
        mix_bytes(h, data->bytes, ig_data_stored_bytes(data));
    } else {
        mix_text(h, data->file);
        mix_word(h, (uint64_t)data->offset);
    }
}

/* An enumeration's first name says what its absence says, and may print as that. */
static void mix_attr(hasher *h, const ig_attr *attr) {
    if (attr->kind == IG_ATTR_ENUM && attr->as.i == 0) {
        mix_word(h, IG_ATTR_NONE);
        return;
    }
    mix_word(h, attr->kind);
    switch ((ig_attr_kind)attr->kind) {
    case IG_ATTR_NONE:
        return;
    case IG_ATTR_INT:
    case IG_ATTR_FLOAT:
    case IG_ATTR_BOOL:
    case IG_ATTR_ENUM:
    case IG_ATTR_DTYPE:
        mix_word(h, (uint64_t)attr->as.i);
        return;
    case IG_ATTR_STR:
    case IG_ATTR_SYM:
        mix_text(h, attr->as.str);
        return;
    case IG_ATTR_INTS:
        mix_bytes(h, attr->as.ints, attr->count * sizeof(int64_t));
        return;
    case IG_ATTR_DIM:
        mix_word(h, ig_dim_hash(h->module, attr->as.dim));
        return;
    case IG_ATTR_DIMS:
        mix_dims(h, attr->as.dims, attr->count);
        return;
    case IG_ATTR_DATA:
        mix_data(h, attr->as.data);
        return;
    }
}

static void number_value(hasher *h, const ig_value *value) {
    h->ids[value->id] = ++h->count;
    mix_type(h, value->type);
}

static bool is_head(const ig_op *op) {
    return op && (op->code == IG_OP_weight || op->code == IG_OP_table);
}

static void mix_operand(hasher *h, const ig_value *value) {
    if (is_head(value->def)) {
        mix_text(h, value->def->attrs[0].as.str);
    } else {
        mix_word(h, h->ids[value->id]);
    }
}

static void mix_block(hasher *h, const ig_block *block);

static void mix_op(hasher *h, const ig_op *op) {
    mix_word(h, (uint64_t)op->code << 48 | (uint64_t)op->operand_count << 32 |
                    (uint64_t)op->result_count << 16 | op->body_count);
    for (uint32_t i = 0; i < op->operand_count; i++) {
        mix_operand(h, op->operands[i].value);
    }
    for (uint32_t i = 0; i < ig_ops[op->code].attr_count; i++) {
        mix_attr(h, &op->attrs[i]);
    }
    for (uint32_t i = 0; i < op->result_count; i++) {
        number_value(h, &op->results[i]);
    }
    for (uint32_t i = 0; i < op->body_count; i++) {
        mix_block(h, op->bodies[i]);
    }
}

/* Recursion is as deep as bodies nest, which readers bound by limits.graph_depth. */
static void mix_block(hasher *h, const ig_block *block) {
    mix_word(h, block->arg_count);
    for (uint32_t i = 0; i < block->arg_count; i++) {
        number_value(h, block->args[i]);
    }
    for (const ig_op *op = block->first; op; op = op->next) {
        if (!is_head(op)) {
            mix_op(h, op);
        }
    }
}

uint64_t ig_graph_hash(const ig_graph *graph) {
    assert(graph->body.graph == graph && "the body knows its graph");
    size_t size = ((size_t)graph->value_count + 1) * sizeof(uint32_t);
    hasher h = { .module = graph->module,
                 .ids = (uint32_t *)ig_module_scratch(graph->module, size) };
    mix_word(&h, (uint64_t)graph->stage << 1 | graph->is_entry);
    mix_block(&h, &graph->body);
    return h.state;
}
