/* Calls: made from a tree, destroyed, their errors.
 * SPDX-License-Identifier: Apache-2.0
 *
 * All memory of a call is one block: the call, its nodes, slots, ports, inputs and
 * numbers.
 */
#include "runtime/tree/call.h"

#include "base/checked.h"
#include "base/sized.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ig_status ig_call_fail(ig_call *call, uint32_t node, ig_status status,
                       const char *format, ...) {
    assert(status != IG_OK && "a failure has a status");
    if (call->status == IG_OK) {
        char path[IG_CALL_WORDS], what[IG_CALL_ERROR - IG_CALL_WORDS - 2];
        va_list args;
        va_start(args, format);
        (void)vsnprintf(what, sizeof what, format, args);
        va_end(args);
        ig_call_put_path(call, node, path, sizeof path);
        (void)snprintf(call->error, sizeof call->error, "%s: %s", path, what);
        call->status = status;
    }
    return call->status;
}

const char *ig_call_error(const ig_call *call) {
    return call->error;
}

void ig_call_destroy(ig_call *call) {
    free(call);
}

/* ---- checking a tree ---- */

/* A tree that is checked: the call's nodes, and the leaves so far. */
typedef struct tree_check {
    ig_call *call;
    const ig_message *message;
    uint8_t *depths; /* of each node */
} tree_check;

static ig_status refuse_node(const tree_check *c, uint32_t node, const char *what) {
    return ig_message_set(c->message, IG_INVALID, "the tree is damaged: node %u %s",
                          (unsigned)node, what);
}

static bool may_have_children(ig_tree_kind kind) {
    return kind > IG_TREE_NONE;
}

static bool is_form_known(const ig_tree_node *node, bool is_root) {
    bool is_odd = node->kind == IG_TREE_DICT && node->child_count % 2 != 0;
    bool is_optional = node->kind == IG_TREE_OPTIONAL;
    return (unsigned)node->kind <= IG_TREE_CALL && node->name && node->text &&
           (node->kind == IG_TREE_CALL) == is_root && !is_odd &&
           (node->child_count == 0 || may_have_children(node->kind)) &&
           (!is_optional || (node->child_count == 2 && node[1].kind == IG_TREE_BOOL));
}

static bool is_key(const ig_tree_node *node) {
    return (node->kind == IG_TREE_STR || node->kind == IG_TREE_INT) && node->leaf < 0;
}

/* Gives the children of a node their parents. */
static ig_status enter_children(tree_check *c, uint32_t index) {
    ig_call *call = c->call;
    const ig_tree_node *node = &call->nodes[index];
    uint32_t end = index + node->size, child = index + 1;
    if (node->child_count > 0 && c->depths[index] + 1 >= IG_CALL_DEPTH) {
        return ig_message_set(c->message, IG_LIMIT,
                              "the tree has a depth beyond the limit of %d",
                              IG_CALL_DEPTH);
    }
    for (uint32_t i = 0; i < node->child_count; i++) {
        uint32_t size = child < end ? call->nodes[child].size : 0;
        if (size == 0 || size > end - child) {
            return refuse_node(c, index, "has a wrong size");
        }
        if (node->kind == IG_TREE_DICT && i % 2 == 0 && !is_key(&call->nodes[child])) {
            return refuse_node(c, child, "is not a key");
        }
        call->slots[child] = (ig_call_slot){ .parent = index, .position = i };
        c->depths[child] = (uint8_t)(c->depths[index] + 1);
        child += size;
    }
    return child == end && is_form_known(node, index == 0)
               ? IG_OK
               : refuse_node(c, index, "has an unknown form");
}

/* Leaves are numbered in order: inputs in the arguments, then outputs. */
static ig_status check_leaves(const tree_check *c) {
    const ig_call *call = c->call;
    uint32_t inputs = 0, outputs = 0;
    for (uint32_t i = 0; i < call->count; i++) {
        const ig_tree_node *node = &call->nodes[i];
        uint32_t *next = i < call->result ? &inputs : &outputs;
        bool is_leaf = node->leaf >= 0;
        bool may_be_leaf = node->kind <= IG_TREE_BOOL;
        if ((is_leaf && (!may_be_leaf || (uint32_t)node->leaf != *next)) ||
            (!is_leaf && node->kind == IG_TREE_TENSOR)) {
            return refuse_node(c, i, "has a wrong leaf");
        }
        *next += is_leaf;
    }
    return IG_OK;
}

static ig_status check_tree(tree_check *c) {
    ig_call *call = c->call;
    const ig_tree_node *root = &call->nodes[0];
    if (root->size != call->count || root->integer < 0 ||
        root->integer >= (int64_t)root->child_count) {
        return refuse_node(c, 0, "is not a call with arguments and a result");
    }
    for (uint32_t i = 0; i < call->count; i++) {
        IG_TRY(enter_children(c, i));
    }
    call->result = 1;
    for (int64_t i = 0; i < root->integer; i++) {
        call->result += call->nodes[call->result].size;
    }
    return check_leaves(c);
}

/* ---- making ---- */

static uint32_t count_leaves(const ig_call_source *from) {
    uint32_t leaves = 0;
    for (size_t i = 0; i < from->count; i++) {
        leaves += from->nodes ? from->nodes[i].leaf >= 0
                              : ig_program_node(from->program, i).leaf >= 0;
    }
    return leaves;
}

/* Bytes of `count` items, padded so that the next item is aligned for anything. */
static bool add_bytes(int64_t *bytes, size_t count, size_t size) {
    int64_t own;
    return ig_mul_i64((int64_t)count, (int64_t)size, &own) &&
           ig_add_i64(own, 15, &own) && ig_add_i64(*bytes, own / 16 * 16, bytes);
}

static void *take_bytes(char **from, size_t count, size_t size) {
    void *taken = *from;
    *from += (count * size + 15) / 16 * 16;
    return taken;
}

static ig_call *allocate_call(const ig_call_source *from, uint32_t leaves,
                              uint8_t **out_depths) {
    int64_t bytes = 0;
    if (!add_bytes(&bytes, 1, sizeof(ig_call)) ||
        !add_bytes(&bytes, from->count, sizeof(ig_tree_node)) ||
        !add_bytes(&bytes, from->count, sizeof(ig_call_slot)) ||
        !add_bytes(&bytes, from->count, 1) ||
        !add_bytes(&bytes, leaves, sizeof(ig_port)) ||
        !add_bytes(&bytes, leaves, sizeof(ig_view)) ||
        !add_bytes(&bytes, leaves, sizeof(int64_t))) {
        return NULL;
    }
    char *memory = calloc(1, (size_t)bytes);
    if (!memory) {
        return NULL;
    }
    ig_call *call = take_bytes(&memory, 1, sizeof(ig_call));
    ig_tree_node *nodes = take_bytes(&memory, from->count, sizeof *nodes);
    call->count = (uint32_t)from->count;
    call->slots = take_bytes(&memory, from->count, sizeof *call->slots);
    *out_depths = take_bytes(&memory, from->count, 1);
    ig_port *ports = take_bytes(&memory, leaves, sizeof *ports);
    call->inputs = take_bytes(&memory, leaves, sizeof *call->inputs);
    call->numbers = take_bytes(&memory, leaves, sizeof *call->numbers);
    for (size_t i = 0; i < from->count; i++) {
        nodes[i] = from->nodes ? from->nodes[i] : ig_program_node(from->program, i);
    }
    call->nodes = nodes;
    call->ports = from->ports || from->program ? ports : NULL;
    return call;
}

static void take_ports(ig_call *call, const ig_call_source *from) {
    ig_port *ports = (ig_port *)(uintptr_t)call->ports;
    for (uint32_t i = 0; i < call->count; i++) {
        *(i < call->result ? &call->input_count
                           : &call->output_count) += call->nodes[i].leaf >= 0;
    }
    for (uint32_t i = 0; ports && i < call->input_count; i++) {
        ports[i] = from->ports ? from->ports[i] : ig_program_input(from->program, i);
    }
}

static ig_status create_call(const ig_call_source *from, const ig_call_options *options,
                             ig_call **out_call) {
    ig_message message = { 0 };
    *out_call = NULL;
    if (options) {
        message = (ig_message){ options->message, options->message_size, NULL };
    }
    if (options && !ig_is_sized(options)) {
        return ig_message_set(&message, IG_INVALID, IG_UNSIZED_WORDS,
                              "ig_call_options");
    }
    if (from->count == 0 || from->count > INT32_MAX) {
        return ig_message_set(&message, IG_INVALID, "the tree has %zu nodes",
                              from->count);
    }
    tree_check check = { .message = &message };
    check.call = allocate_call(from, count_leaves(from), &check.depths);
    if (!check.call) {
        return ig_message_set(&message, IG_LIMIT, "memory ran out");
    }
    ig_status status = check_tree(&check);
    if (status != IG_OK) {
        ig_call_destroy(check.call);
        return status;
    }
    take_ports(check.call, from);
    check.call->last = check.call->result;
    check.call->at = check.call->count; /* nothing to read yet */
    ig_call_begin(check.call);
    *out_call = check.call;
    return IG_OK;
}

ig_status ig_call_create(const ig_program *program, const ig_call_options *options,
                         ig_call **out_call) {
    ig_call_source from = { .program = program,
                            .count = ig_program_node_count(program) };
    return create_call(&from, options, out_call);
}

ig_status ig_call_create_from_nodes(const ig_tree_node *nodes, size_t count,
                                    const ig_port *inputs,
                                    const ig_call_options *options,
                                    ig_call **out_call) {
    ig_call_source from = { .nodes = nodes, .ports = inputs, .count = count };
    return create_call(&from, options, out_call);
}
