/* The signature tree of a plan, and its state: checked when it is opened.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Nodes are stored depth first, so a tree is whole when the nodes that are still owed
 * come to none with the last one.  Subtree sizes and leaf numbers are worked out once,
 * here.
 */
#include "runtime/plan/plan.h"

#include "ingot/runtime.h"

#include <assert.h>

enum { MAX_DEPTH = 64 };

static ig_status report_damage(const ig_message *message, const char *what,
                               uint32_t index) {
    return ig_message_set(message, IG_INVALID,
                          "the plan is damaged: %s (number %u) is out of range", what,
                          (unsigned)index);
}

/* ---- nodes ---- */

static bool may_be_leaf(uint32_t kind) {
    return kind == IG_TREE_TENSOR || kind == IG_TREE_INT || kind == IG_TREE_FLOAT ||
           kind == IG_TREE_BOOL;
}

static bool may_have_children(uint32_t kind) {
    return kind > IG_TREE_NONE;
}

static const char *check_node(const ig_plan *plan, uint32_t i) {
    const ig_plan_node *node = &plan->nodes[i];
    if (!ig_plan_has_text(plan, node->name) || !ig_plan_has_text(plan, node->text)) {
        return "signature text";
    }
    bool is_call = node->kind == IG_TREE_CALL;
    if (node->kind > IG_TREE_CALL || is_call != (i == 0)) {
        return "signature kind";
    }
    if (is_call && (node->value < 0 || node->value >= node->count)) {
        return "signature arguments";
    }
    if (node->is_leaf > 1 || (node->is_leaf && !may_be_leaf(node->kind)) ||
        (!node->is_leaf && node->kind == IG_TREE_TENSOR)) {
        return "signature leaf";
    }
    bool is_odd = node->kind == IG_TREE_DICT && node->count % 2 != 0;
    if ((node->count > 0 && !may_have_children(node->kind)) || is_odd ||
        (is_call && node->count == 0)) {
        return "signature children";
    }
    return NULL;
}

/* A node that is open: its number, and the children that are still to come. */
typedef struct open_node {
    uint32_t index, owed;
} open_node;

typedef struct tree_walk {
    ig_plan *plan;
    open_node open[MAX_DEPTH];
    uint32_t depth;
    uint32_t inputs, outputs; /* leaves so far */
} tree_walk;

/* Behind the call's arguments? */
static bool is_in_result(const tree_walk *w) {
    const ig_plan_node *call = &w->plan->nodes[0];
    return w->depth > 0 && w->open[0].owed < call->count - (uint32_t)call->value;
}

/* Closes the nodes that are complete after node `i`. */
static void close_nodes(tree_walk *w, uint32_t i) {
    while (w->depth > 0 && w->open[w->depth - 1].owed == 0) {
        uint32_t index = w->open[--w->depth].index;
        assert(index <= i && "a node ends before it begins");
        w->plan->node_sizes[index] = i + 1 - index;
    }
}

static const char *enter_node(tree_walk *w, uint32_t i) {
    const ig_plan_node *node = &w->plan->nodes[i];
    if (w->depth == 0 && i > 0) {
        return "signature node"; /* after the end of the tree */
    }
    if (w->depth > 0) {
        assert(w->open[w->depth - 1].owed > 0 && "a complete node is still open");
        w->open[w->depth - 1].owed--;
    }
    w->plan->node_leaves[i] = -1;
    if (node->is_leaf) {
        uint32_t *counter = is_in_result(w) ? &w->outputs : &w->inputs;
        w->plan->node_leaves[i] = (int32_t)(*counter)++;
    }
    if (w->depth == MAX_DEPTH) {
        return "signature depth";
    }
    w->open[w->depth++] = (open_node){ i, node->count };
    close_nodes(w, i);
    return NULL;
}

static ig_status check_tree(ig_plan *plan, const ig_message *message) {
    tree_walk w = { .plan = plan };
    for (uint32_t i = 0; i < plan->nodes_count; i++) {
        const char *why = check_node(plan, i);
        why = why ? why : enter_node(&w, i);
        if (why) {
            return report_damage(message, why, i);
        }
    }
    bool is_whole = plan->nodes_count > 0 && w.depth == 0 &&
                    w.inputs + plan->states_count == plan->inputs_count &&
                    w.outputs + plan->states_count == plan->outputs_count;
    return is_whole ? IG_OK : report_damage(message, "signature", plan->nodes_count);
}

/* ---- states ---- */

/* The first value of a state must be one that its input takes, as far as that is fixed;
 * extents are held against expressions by each bind. */
static const char *check_state(const ig_plan *plan, uint32_t i) {
    const ig_plan_state *state = &plan->states[i];
    const ig_plan_port *in = &plan->inputs[plan->inputs_count - plan->states_count + i];
    const ig_plan_port *out =
        &plan->outputs[plan->outputs_count - plan->states_count + i];
    int64_t bytes;
    if (state->constant >= plan->constants_count || state->rank > IG_PLAN_RANK ||
        state->rank != in->rank || state->rank != out->rank ||
        in->dtype != out->dtype) {
        return "state";
    }
    if (!ig_dtype_code_bytes(in->dtype, state->rank, state->dims, &bytes) ||
        (uint64_t)bytes > plan->constants[state->constant].bytes) {
        return "state's size";
    }
    return NULL;
}

ig_status ig_plan_check_tree(ig_plan *plan, const ig_message *message) {
    for (uint32_t i = 0; i < plan->states_count; i++) {
        const char *why = check_state(plan, i);
        if (why) {
            return report_damage(message, why, i);
        }
    }
    return check_tree(plan, message);
}
