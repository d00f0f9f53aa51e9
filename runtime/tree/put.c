/* Putting nested arguments into the flat inputs of a call.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Values come in the order of the caller and are checked against the tree one at a
 * time: each fills a slot, a child of the innermost open container.  A slot is the next
 * in order, or the one that was named or whose key was put.
 */
#include "runtime/tree/call.h"

#include <assert.h>
#include <string.h>

/* ---- slots ---- */

static bool is_put(const ig_call *call, uint32_t node) {
    return call->slots[node].put_in == call->generation;
}

static uint32_t count_children(const ig_call *call, uint32_t container) {
    const ig_tree_node *node = &call->nodes[container];
    return container == 0 ? (uint32_t)node->integer : node->child_count;
}

static void enter_container(ig_call *call, uint32_t container) {
    call->open = container;
    call->pending = 0;
    call->slots[container].next = container + 1;
}

/* "a list of 2", "a call of 3". */
static ig_status fail_extra(ig_call *call) {
    return ig_call_fail(call, call->open, IG_INVALID, "expected %u %s, got more",
                        (unsigned)count_children(call, call->open),
                        call->open == 0 ? "arguments" : "items");
}

/* The child that the next value fills, which is put by that; 0: failed. */
static uint32_t take_slot(ig_call *call) {
    ig_call_slot *container = &call->slots[call->open];
    uint32_t slot = call->pending;
    if (slot == 0 && call->nodes[call->open].kind == IG_TREE_DICT) {
        (void)ig_call_fail(call, call->open, IG_INVALID,
                           "expected a key, a str or an int");
        return 0;
    }
    if (slot == 0) {
        uint32_t end = call->open == 0 ? call->result
                                       : call->open + call->nodes[call->open].size;
        if (container->next == end) {
            (void)fail_extra(call);
            return 0;
        }
        slot = container->next;
        container->next += call->nodes[slot].size;
    }
    call->pending = 0;
    if (is_put(call, slot)) {
        (void)ig_call_fail(call, slot, IG_INVALID, "expected one value, got two");
        return 0;
    }
    call->slots[slot].put_in = call->generation;
    return slot;
}

/* ---- names and keys ---- */

static bool is_asked(const ig_tree_node *key, const ig_call_value *asked) {
    return key->kind == asked->kind &&
           (key->kind == IG_TREE_STR ? strcmp(key->text, asked->text) == 0
                                     : key->integer == asked->integer);
}

/* The value of that key in the open dict; fails when there is none. */
static ig_status take_key(ig_call *call, const ig_call_value *key) {
    char got[IG_CALL_WORDS];
    uint32_t at = call->open + 1, end = call->open + call->nodes[call->open].size;
    while (at < end && !is_asked(&call->nodes[at], key)) {
        at += 1 + call->nodes[at + 1].size;
    }
    if (at < end) {
        call->pending = at + 1;
        call->slots[at].put_in = call->generation;
        return IG_OK;
    }
    ig_call_put_value(key, got, sizeof got);
    return ig_call_fail(call, call->open, IG_INVALID,
                        "expected a key that the program was compiled for, got %s",
                        got);
}

ig_status ig_call_name(ig_call *call, const char *name) {
    uint32_t child = call->open + 1, count = count_children(call, call->open);
    for (uint32_t i = 0; i < count && call->status == IG_OK; i++) {
        if (strcmp(call->nodes[child].name, name) == 0 && name[0]) {
            call->pending = child;
            call->slots[child].is_named = true;
            return IG_OK;
        }
        child += call->nodes[child].size;
    }
    return ig_call_fail(call, call->open, IG_INVALID, "there is no %s '%s'",
                        call->open == 0 ? "argument" : "field", name);
}

/* ---- leaves ---- */

static ig_status fail_kind(ig_call *call, uint32_t slot, const ig_call_value *value) {
    char expected[IG_CALL_WORDS], got[IG_CALL_WORDS];
    ig_call_put_expected(call, slot, expected, sizeof expected);
    ig_call_put_value(value, got, sizeof got);
    return ig_call_fail(call, slot, IG_INVALID, "expected %s, got %s", expected, got);
}

/* A dtype of 0 says that nothing is known of the input. */
static bool is_port_met(const ig_port *port, const ig_view *view) {
    bool is_met = port->dtype == (ig_dtype_code)view->dtype && port->rank == view->rank;
    for (uint32_t d = 0; is_met && d < port->rank; d++) {
        is_met = port->dims[d] < 0 || port->dims[d] == view->dims[d];
    }
    return is_met || port->dtype == 0;
}

static ig_status put_view(ig_call *call, uint32_t slot, const ig_view *view,
                          const ig_call_value *value) {
    uint32_t input = (uint32_t)call->nodes[slot].leaf;
    assert(input < call->input_count && "leaves were checked");
    if (view->rank > IG_MAX_RANK ||
        (call->ports && !is_port_met(&call->ports[input], view))) {
        return fail_kind(call, slot, value);
    }
    call->inputs[input] = *view;
    call->last_input = (int)input;
    return IG_OK;
}

/* A number as an input of rank 0. */
static ig_status put_number(ig_call *call, uint32_t slot, const ig_call_value *value) {
    const ig_tree_node *node = &call->nodes[slot];
    int64_t *memory = &call->numbers[node->leaf];
    ig_view view = { .data = memory, .capacity = sizeof *memory, .dtype = IG_I64 };
    double real = value->kind == IG_TREE_INT ? (double)value->integer : value->real;
    uint8_t truth = value->integer != 0;
    *memory = value->integer;
    if (value->kind == IG_TREE_FLOAT || node->kind == IG_TREE_FLOAT) {
        view.dtype = IG_F64;
        memcpy(memory, &real, sizeof real);
    } else if (value->kind == IG_TREE_BOOL) {
        view.dtype = IG_BOOL8;
        view.capacity = sizeof truth;
        memcpy(memory, &truth, sizeof truth);
    }
    return put_view(call, slot, &view, value);
}

/* A text as an input of rank 0. */
static ig_status put_str(ig_call *call, uint32_t slot, const ig_call_value *value) {
    int64_t *memory = &call->numbers[call->nodes[slot].leaf];
    ig_view view = { .data = memory, .capacity = sizeof *memory, .dtype = IG_STR8 };
    _Static_assert(sizeof value->text <= sizeof *memory, "it holds an address");
    memcpy(memory, &value->text, sizeof value->text);
    return put_view(call, slot, &view, value);
}

static ig_status put_leaf(ig_call *call, uint32_t slot, const ig_call_value *value) {
    ig_tree_kind kind = call->nodes[slot].kind;
    bool is_number = value->kind == IG_TREE_INT || value->kind == IG_TREE_FLOAT ||
                     value->kind == IG_TREE_BOOL;
    bool is_widened = kind == IG_TREE_FLOAT && value->kind == IG_TREE_INT;
    if (value->kind == IG_TREE_TENSOR) {
        return put_view(call, slot, value->view, value);
    }
    if (value->kind == IG_TREE_STR && kind == IG_TREE_TENSOR) {
        return put_str(call, slot, value);
    }
    return is_number && (kind == IG_TREE_TENSOR || kind == value->kind || is_widened)
               ? put_number(call, slot, value)
               : fail_kind(call, slot, value);
}

/* ---- values ---- */

static bool is_known(const ig_tree_node *node, const ig_call_value *value) {
    if (node->kind == IG_TREE_FLOAT) {
        double real = value->kind == IG_TREE_INT ? (double)value->integer : value->real;
        bool is_nan = real != real && node->real != node->real;
        return (value->kind == IG_TREE_FLOAT || value->kind == IG_TREE_INT) &&
               (real == node->real || is_nan);
    }
    bool is_same = node->kind == value->kind;
    return node->kind == IG_TREE_STR ? is_same && strcmp(node->text, value->text) == 0
                                     : is_same && (node->kind == IG_TREE_NONE ||
                                                   node->integer == value->integer);
}

static bool has_leaves(const ig_call *call, uint32_t node) {
    uint32_t end = node + call->nodes[node].size;
    while (node < end && call->nodes[node].leaf < 0) {
        node++;
    }
    return node < end;
}

/* From an optional to the value in it: the slot to be filled; 0: done, or failed. */
static uint32_t enter_optional(ig_call *call, uint32_t slot, ig_tree_kind kind) {
    while (call->nodes[slot].kind == IG_TREE_OPTIONAL) {
        ig_call_value present = { .kind = IG_TREE_BOOL,
                                  .integer = kind != IG_TREE_NONE };
        uint32_t first = slot + 1;
        ig_status status = call->nodes[first].leaf >= 0
                               ? put_leaf(call, first, &present)
                           : is_known(&call->nodes[first], &present)
                               ? IG_OK
                               : fail_kind(call, first, &present);
        slot = status == IG_OK ? first + 1 : 0;
        if (kind == IG_TREE_NONE && slot != 0 && has_leaves(call, slot)) {
            (void)ig_call_fail(call, slot, IG_UNSUPPORTED,
                               "None in place of tensors is not supported");
        }
        if (kind == IG_TREE_NONE || slot == 0) {
            return 0;
        }
    }
    return slot;
}

static ig_status put_value(ig_call *call, const ig_call_value *value) {
    bool may_be_key = value->kind == IG_TREE_STR || value->kind == IG_TREE_INT;
    call->last_input = -1;
    if (call->status != IG_OK) {
        return call->status;
    }
    if (may_be_key && !call->pending && call->nodes[call->open].kind == IG_TREE_DICT) {
        return take_key(call, value);
    }
    uint32_t slot = take_slot(call);
    slot = slot ? enter_optional(call, slot, value->kind) : 0;
    if (slot == 0) {
        return call->status;
    }
    const ig_tree_node *node = &call->nodes[slot];
    if (node->leaf >= 0) {
        return put_leaf(call, slot, value);
    }
    return is_known(node, value) ? IG_OK : fail_kind(call, slot, value);
}

ig_status ig_call_put_tensor(ig_call *call, const ig_view *tensor) {
    return put_value(call, &(ig_call_value){ .kind = IG_TREE_TENSOR,
                                             .view = (ig_view *)(uintptr_t)tensor });
}

ig_status ig_call_put_int(ig_call *call, int64_t value) {
    return put_value(call, &(ig_call_value){ .kind = IG_TREE_INT, .integer = value });
}

ig_status ig_call_put_float(ig_call *call, double value) {
    return put_value(call, &(ig_call_value){ .kind = IG_TREE_FLOAT, .real = value });
}

ig_status ig_call_put_bool(ig_call *call, int value) {
    return put_value(call,
                     &(ig_call_value){ .kind = IG_TREE_BOOL, .integer = value != 0 });
}

ig_status ig_call_put_str(ig_call *call, const char *text) {
    return put_value(call, &(ig_call_value){ .kind = IG_TREE_STR, .text = text });
}

ig_status ig_call_put_none(ig_call *call) {
    return put_value(call, &(ig_call_value){ .kind = IG_TREE_NONE });
}

/* ---- containers ---- */

ig_status ig_call_open(ig_call *call, ig_tree_kind kind) {
    ig_call_value value = { .kind = kind };
    call->last_input = -1;
    if (call->status != IG_OK) {
        return call->status;
    }
    bool is_container = kind > IG_TREE_NONE && kind < IG_TREE_CALL &&
                        kind != IG_TREE_OPTIONAL;
    if (!is_container) {
        return ig_call_fail(call, call->open, IG_INVALID,
                            "expected the kind of a container, got %d", (int)kind);
    }
    uint32_t slot = take_slot(call);
    slot = slot ? enter_optional(call, slot, kind) : 0;
    if (slot == 0) {
        return call->status;
    }
    if (call->nodes[slot].kind != kind) {
        return fail_kind(call, slot, &value);
    }
    enter_container(call, slot);
    return IG_OK;
}

/* May a value be left out?  An argument without leaves, or a field that is None. */
static bool may_be_absent(const ig_call *call, uint32_t node) {
    const ig_tree_node *child = &call->nodes[node];
    bool is_argument = call->slots[node].parent == 0;
    return child->kind == IG_TREE_NONE ? child->name[0] != '\0'
                                       : is_argument && !has_leaves(call, node);
}

static ig_status fail_absent(ig_call *call, uint32_t container, uint32_t child,
                             uint32_t put) {
    ig_tree_kind kind = call->nodes[container].kind;
    char expected[IG_CALL_WORDS];
    if (kind == IG_TREE_LIST || kind == IG_TREE_TUPLE) {
        return ig_call_fail(call, container, IG_INVALID, "expected %u items, got %u",
                            (unsigned)count_children(call, container), (unsigned)put);
    }
    call->slots[child].is_named |= call->nodes[child].name[0] != '\0';
    ig_call_put_expected(call, child, expected, sizeof expected);
    return ig_call_fail(call, child, IG_INVALID, "expected %s, got nothing", expected);
}

static ig_status check_all_put(ig_call *call, uint32_t container) {
    uint32_t child = container + 1, count = count_children(call, container), put = 0;
    uint32_t absent = 0;
    for (uint32_t i = 0; i < count; i++) {
        bool is_there = is_put(call, child) || may_be_absent(call, child);
        bool is_key = call->nodes[container].kind == IG_TREE_DICT && i % 2 == 0;
        absent = absent || is_there || is_key ? absent : child;
        put += is_put(call, child);
        child += call->nodes[child].size;
    }
    return absent ? fail_absent(call, container, absent, put) : IG_OK;
}

ig_status ig_call_close(ig_call *call) {
    uint32_t container = call->open;
    if (call->status != IG_OK) {
        return call->status;
    }
    if (container == 0) {
        return ig_call_fail(call, 0, IG_INVALID, "there is no open container to close");
    }
    call->pending = 0;
    call->open = call->slots[container].parent;
    while (call->nodes[call->open].kind == IG_TREE_OPTIONAL) {
        call->open = call->slots[call->open].parent;
    }
    return check_all_put(call, container);
}

/* ---- calls ---- */

void ig_call_begin(ig_call *call) {
    call->generation++;
    call->status = IG_OK;
    call->error[0] = '\0';
    call->last_input = -1;
    enter_container(call, 0);
    uint32_t child = 1;
    while (child < call->result) {
        call->slots[child].is_named = false;
        child += call->nodes[child].size;
    }
}

int ig_call_last_input(const ig_call *call) {
    return call->last_input;
}

ig_status ig_call_finish(ig_call *call, ig_view **out_inputs, size_t *out_count) {
    *out_inputs = call->inputs;
    *out_count = call->input_count;
    if (call->status == IG_OK && call->open != 0) {
        return ig_call_fail(call, call->open, IG_INVALID,
                            "the container is not closed");
    }
    return call->status == IG_OK ? check_all_put(call, 0) : call->status;
}
