/* Signature trees: asked of modules, written into plans.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/artifact/signature.h"

#include "driver/host.h"
#include "ir/data.h"
#include "ir/text/text.h"

#include "ingot/tree.h"

#include <assert.h>
#include <string.h>

/* The public kinds are ours, and the call. */
#define SAME_KIND(name, word, fields) \
    _Static_assert((int)IG_TREE_##name == (int)IG_NODE_##name, "kinds");
IG_NODES(SAME_KIND)
_Static_assert((int)IG_TREE_CALL == (int)IG_NODE_COUNT, "kinds");
_Static_assert(sizeof IG_TREE_ZIP_MAP == sizeof IG_NODE_ZIP_MAP, "classes");

/* ---- flat signatures ---- */

static void add_flat(ig_signature *flat, ig_arena *arena, const char *name) {
    ig_node_add(arena, &flat->nodes,
                (ig_node){ .kind = IG_NODE_TENSOR,
                           .is_leaf = true,
                           .name = ig_str_of(name ? name : "") });
}

static const ig_signature *make_flat(const ig_graph *graph, ig_arena *arena) {
    assert(graph->body.arg_count >= graph->state_count && "verified: states come last");
    const ig_op *ret = graph->body.last;
    uint32_t results = ret ? ret->operand_count - graph->state_count : 0;
    ig_signature *flat = IG_NEW(arena, ig_signature);
    flat->entry = graph->name;
    flat->arg_count = graph->body.arg_count - graph->state_count;
    for (uint32_t i = 0; i < flat->arg_count; i++) {
        add_flat(flat, arena, graph->arg_names ? graph->arg_names[i] : NULL);
    }
    ig_node_add(arena, &flat->nodes,
                (ig_node){ .kind = IG_NODE_TUPLE, .count = results });
    for (uint32_t i = 0; i < results; i++) {
        add_flat(flat, arena, graph->result_names ? graph->result_names[i] : NULL);
    }
    return flat;
}

const ig_signature *ig_signature_of(const ig_graph *graph, ig_arena *arena) {
    return graph->signature ? graph->signature : make_flat(graph, arena);
}

/* ---- plans ---- */

void ig_plan_add_tree(ig_plan_build *plan) {
    ig_artifact_writer *w = plan->w;
    const ig_signature *signature = ig_signature_of(plan->graph, plan->arena);
    ig_plan_text none = ig_plan_build_text(plan, "");
    IG_PUSH(w->arena, &w->nodes,
            (ig_plan_node){ .kind = IG_TREE_CALL,
                            .count = signature->arg_count + 1 + signature->after_count,
                            .value = signature->arg_count,
                            .name = ig_plan_build_text(
                                plan, plan->graph->signature ? signature->entry : ""),
                            .text = none });
    for (size_t i = 0; i < signature->nodes.count; i++) {
        const ig_node *node = &signature->nodes.items[i];
        ig_plan_node record = { .kind = (uint32_t)node->kind,
                                .count = node->count,
                                .is_leaf = node->is_leaf,
                                .name = ig_artifact_text(w, node->name),
                                .text = ig_artifact_text(w, node->text),
                                .value = node->i };
        if (node->kind == IG_NODE_FLOAT) {
            memcpy(&record.value, &node->f, sizeof record.value);
        }
        IG_PUSH(w->arena, &w->nodes, record);
    }
}

/* A state's first value is embedded, whichever way other weights go: it is small,
 * and has to be aligned. */
static ig_status add_state(ig_plan_build *plan, const ig_weight *weight) {
    ig_artifact_writer *w = plan->w;
    ig_tensor value;
    IG_TRY(
        ig_tensor_of_data(&weight->data, plan->arena, plan->module->context, &value));
    ig_plan_state state = {
        .constant = ig_artifact_constant(w, ig_str_of(weight->name), value.data,
                                         (uint64_t)ig_tensor_bytes(&value)),
        .rank = value.rank,
    };
    for (uint32_t d = 0; d < value.rank && d < IG_PLAN_RANK; d++) {
        state.dims[d] = value.dims[d];
    }
    IG_PUSH(w->arena, &w->states, state);
    return IG_OK;
}

ig_status ig_plan_add_states(ig_plan_build *plan) {
    for (uint32_t i = 0; i < plan->graph->state_count; i++) {
        const ig_weight *weight = ig_module_weight(plan->module,
                                                   plan->graph->states[i]);
        assert(weight && !weight->is_recipe && "verified");
        IG_TRY(add_state(plan, weight));
    }
    return IG_OK;
}

/* ---- modules ---- */

typedef struct leaf_types {
    ig_module *module;
    const ig_graph *graph;
} leaf_types;

static void put_leaf_type(void *user, uint32_t leaf, ig_writer *out) {
    const leaf_types *t = user;
    uint32_t args = t->graph->body.arg_count - t->graph->state_count;
    const ig_value *value = leaf < args
                                ? t->graph->body.args[leaf]
                                : t->graph->body.last->operands[leaf - args].value;
    ig_print_type(t->module, value->type, out);
}

const char *ig_module_signature(ig_module *module) {
    const ig_graph *graph = ig_entry_of(module);
    if (!graph || !graph->body.last) {
        return "";
    }
    leaf_types types = { module, graph };
    ig_signature_style style = { .type_of = put_leaf_type, .user = &types };
    ig_writer out;
    ig_writer_init(&out, &module->arena);
    ig_signature shown = *ig_signature_of(graph, &module->arena);
    shown.entry = shown.entry[0] ? shown.entry : graph->name;
    ig_signature_print(&shown, &style, &out);
    return out.data;
}

/* A flat one is made once. */
static const ig_signature *signature_of(ig_module *module) {
    const ig_graph *graph = ig_entry_of(module);
    if (!graph || graph->signature) {
        return graph ? graph->signature : NULL;
    }
    ig_module_results *results = ig_driver_module(module);
    if (!results->flat) {
        results->flat = make_flat(graph, &module->arena);
    }
    return results->flat;
}

size_t ig_module_node_count(ig_module *module) {
    const ig_signature *signature = signature_of(module);
    return signature ? signature->nodes.count + 1 : 0;
}

ig_tree_node ig_module_node(ig_module *module, size_t index) {
    const ig_signature *signature = signature_of(module);
    const ig_node *nodes = signature->nodes.items;
    if (index == 0) {
        return (ig_tree_node){ .kind = IG_TREE_CALL,
                               .child_count = signature->arg_count + 1 +
                                              signature->after_count,
                               .integer = signature->arg_count,
                               .size = (uint32_t)signature->nodes.count + 1,
                               .leaf = -1,
                               .name = signature->entry,
                               .text = "" };
    }
    const ig_node *node = &nodes[index - 1];
    uint32_t result = ig_signature_result(signature);
    uint32_t first = index > result ? result : 0; /* leaves after it are counted anew */
    return (ig_tree_node){
        .kind = (ig_tree_kind)node->kind,
        .child_count = node->count,
        .size = ig_node_size(node),
        .leaf = node->is_leaf
                    ? (int32_t)ig_node_leaves(nodes + first, index - 1 - first)
                    : -1,
        .name = ig_module_string(module, node->name),
        .text = ig_module_string(module, node->text),
        .integer = node->i,
        .real = node->f,
    };
}
