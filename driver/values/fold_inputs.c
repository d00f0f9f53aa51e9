/* Inputs that become constants of the graph.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each is replaced by a weight; then the arguments go, and with them their trees in the
 * signature and their names.
 */
#include "driver/values/fold_inputs.h"

#include "ir/build/build.h"

#include <assert.h>
#include <string.h>

typedef struct folding {
    ig_module *module;
    ig_graph *graph;
    bool *is_folded; /* by argument of the graph */
} folding;

static ig_status replace_input(folding *f, const ig_folded_input *input) {
    ig_diag *diag = &f->module->context->diag;
    uint32_t args = f->graph->body.arg_count - f->graph->state_count;
    if (input->leaf >= args || f->is_folded[input->leaf]) {
        return ig_error(diag, IG_INVALID, NULL,
                        "input %u cannot be folded: the model has %u inputs",
                        input->leaf, args);
    }
    ig_value *arg = f->graph->body.args[input->leaf];
    const ig_tensor *tensor = input->tensor;
    const ig_type *type = ig_type_of_extents(f->module, tensor->dtype, tensor->rank,
                                             tensor->dims);
    const char *name = f->graph->arg_names ? f->graph->arg_names[input->leaf] : "input";
    if (arg->type != type) {
        return ig_error(diag, IG_INVALID, NULL,
                        "input '%s' cannot be folded: the value is of another type",
                        name);
    }
    size_t size = (size_t)ig_tensor_bytes(tensor);
    ig_data data = { .type = type,
                     .bytes = ig_arena_copy(&f->module->arena, tensor->data, size),
                     .size = (int64_t)size };
    ig_builder builder = ig_builder_at_end(&f->graph->body);
    ig_value *weight = ig_make_weight(&builder,
                                      ig_module_add_weight(f->module, name, &data));
    ig_value_replace(arg, weight);
    f->is_folded[input->leaf] = true;
    return IG_OK;
}

/* ---- the rest ---- */

static void remove_arguments(folding *f) {
    ig_graph *graph = f->graph;
    const char **names = IG_NEW_ARRAY(&f->module->arena, const char *,
                                      graph->body.arg_count);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < graph->body.arg_count; i++) {
        if (!f->is_folded[i]) {
            names[kept++] = graph->arg_names ? graph->arg_names[i] : NULL;
        }
    }
    for (uint32_t i = graph->body.arg_count; i-- > 0;) {
        if (f->is_folded[i]) {
            ig_block_remove_arg(&graph->body, i);
        }
    }
    graph->arg_names = graph->arg_names ? names : NULL;
}

/* Folded leaves of the `count` that begin at `leaf`. */
static uint32_t count_folded(const folding *f, uint32_t leaf, uint32_t count) {
    assert(leaf + count <= f->graph->body.arg_count &&
           "the leaves of the arguments are the graph's inputs");
    uint32_t folded = 0;
    for (uint32_t i = 0; i < count; i++) {
        folded += f->is_folded[leaf + i];
    }
    return folded;
}

static ig_status cut_signature(folding *f) {
    const ig_signature *old = f->graph->signature;
    if (!old) {
        return IG_OK;
    }
    ig_arena *arena = &f->module->arena;
    ig_signature *cut = IG_NEW(arena, ig_signature);
    uint32_t leaf = 0, at = 0;
    *cut = (ig_signature){ .entry = old->entry, .after_count = old->after_count };
    for (uint32_t i = 0; i < old->arg_count; i++) {
        assert(at < old->nodes.count && "every argument has a node");
        const ig_node *node = &old->nodes.items[at];
        uint32_t size = ig_node_size(node), leaves = ig_node_leaves(node, size);
        uint32_t folded = count_folded(f, leaf, leaves);
        if (folded > 0 && folded < leaves) {
            return ig_error(&f->module->context->diag, IG_UNSUPPORTED, NULL,
                            "argument '%.*s' cannot be folded in part",
                            IG_STR_ARG(node->name));
        }
        for (uint32_t k = 0; k < size && folded == 0; k++) {
            ig_node_add(arena, &cut->nodes, node[k]);
        }
        cut->arg_count += folded == 0;
        leaf += leaves;
        at += size;
    }
    for (; at < old->nodes.count; at++) {
        ig_node_add(arena, &cut->nodes, old->nodes.items[at]);
    }
    f->graph->signature = cut;
    return IG_OK;
}

ig_status ig_fold_inputs(ig_module *module, ig_graph *graph,
                         const ig_folded_input *inputs, size_t count) {
    folding f = { .module = module, .graph = graph };
    f.is_folded = IG_NEW_ARRAY(&module->arena, bool, graph->body.arg_count);
    for (size_t i = 0; i < count; i++) {
        IG_TRY(replace_input(&f, &inputs[i]));
    }
    IG_TRY(cut_signature(&f));
    remove_arguments(&f);
    return IG_OK;
}
