/* Questions about a graph; nothing here changes it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/graph.h"
#include "ir/ops.h"

#include <assert.h>

ig_value *ig_op_operand(const ig_op *op, uint32_t index) {
    assert(op->code < IG_OP_COUNT && "the op was erased");
    return index < op->operand_count ? op->operands[index].value : NULL;
}

ig_value *ig_op_result(const ig_op *op, uint32_t index) {
    assert(op->code < IG_OP_COUNT && "the op was erased");
    return index < op->result_count ? &op->results[index] : NULL;
}

ig_op *ig_def(const ig_value *value, ig_opcode code) {
    assert((int)code < IG_OP_COUNT && "no such op");
    return value && value->def && value->def->code == code ? value->def : NULL;
}

bool ig_op_is_used(const ig_op *op) {
    assert(op && "no op");
    for (uint32_t i = 0; i < op->result_count; i++) {
        if (op->results[i].uses) {
            return true;
        }
    }
    return false;
}

bool ig_value_has_one_use(const ig_value *value) {
    assert((!value->def || value->def->code < IG_OP_COUNT) && "its op was erased");
    return value->uses && !value->uses->next;
}

/* Walks from both ops at once, so the cost is the distance between them or to the end
 * of the block, whichever is less. */
bool ig_op_is_before(const ig_op *a, const ig_op *b) {
    assert(a->block == b->block && "ops of different blocks have no order");
    if (a == b) {
        return false;
    }
    const ig_op *from_a = a->next, *from_b = b->next;
    while (from_a && from_b) {
        if (from_a == b) {
            return true;
        }
        if (from_b == a) {
            return false;
        }
        from_a = from_a->next;
        from_b = from_b->next;
    }
    return from_a != NULL; /* b's walk met the end first, so b is the later one */
}

static const ig_block *home_of(const ig_value *value) {
    return value->def ? value->def->block : value->block;
}

bool ig_value_is_outside(const ig_value *value, const ig_block *block) {
    assert(home_of(value) && "the value is in a block");
    const ig_block *home = home_of(value);
    for (const ig_op *op = block->parent; op; op = op->block->parent) {
        if (op->block == home) {
            return !value->def || ig_op_is_before(value->def, op);
        }
    }
    return false;
}

const ig_location *ig_op_location(const ig_op *op) {
    assert(op->code < IG_OP_COUNT && "the op was erased");
    const ig_module *module = ig_op_module(op);
    uint32_t loc = op->loc < module->locations.count ? op->loc : 0;
    return &module->locations.items[loc];
}

bool ig_graph_is_opened(const ig_graph *graph, const ig_value *value) {
    assert(graph->body.arg_count >= graph->state_count && "verified: states come last");
    uint32_t end = graph->body.arg_count - graph->state_count;
    return !value->def && value->block == &graph->body && value->index < end &&
           value->index >= end - graph->opened_count;
}

int64_t ig_ret_in_place(const ig_op *ret, uint32_t index) {
    assert(ret->code == IG_OP_ret && "results are those of a ret");
    const ig_attr *in_place = &ret->attrs[IG_ret_in_place];
    return in_place->kind == IG_ATTR_INTS && index < in_place->count
               ? in_place->as.ints[index]
               : -1;
}

ig_module *ig_op_module(const ig_op *op) {
    assert(op->block && "a detached op belongs to no module");
    return op->block->graph->module;
}
