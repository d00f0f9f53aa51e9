/* open_weights: weights that the caller gives, and may change, become arguments.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     graph @main(%x: f32[B, 4]) … add %x, @b
 *   becomes
 *     graph @main(%x: f32[B, 4], %b: f32[4] {opened}) … add %x, %b
 *
 * It is the first pass after import, so that no other one has seen the numbers: an
 * opened weight is not folded, taken for an equal one, packed ahead or quantised.  The
 * arguments come after the caller's own and before states, in the order of the
 * module.  Names are those of the option, or without it all that training changes.
 */
#include "passes/engine/manager.h"
#include "passes/engine/pass.h"

#include "ir/type.h"

#include <assert.h>
#include <string.h>

typedef struct opener {
    ig_pass_run *run;
    ig_module *module;
    ig_graph *graph;
    IG_VEC(ig_op *) opened;
} opener;

/* ---- which ones ---- */

static bool is_wanted(const opener *o, const ig_weight *weight) {
    const char *list = o->run->options->open_weights;
    return list && strcmp(list, "all") != 0 ? ig_word_is_in(list, weight->name)
                                            : weight->is_parameter;
}

static bool is_state(const ig_graph *graph, const char *name) {
    for (uint32_t i = 0; i < graph->state_count; i++) {
        if (strcmp(graph->states[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static ig_status check_weight(const opener *o, const ig_weight *weight) {
    const ig_type *type = weight->type;
    bool is_plain = type->kind == IG_TENSOR && ig_dtypes[type->dtype].bits >= 8 &&
                    type->dtype != IG_DT_str;
    const char *why = is_state(o->graph, weight->name) ? "a state begins with it"
                      : !is_plain ? "its elements are not whole numbers of bytes"
                                  : NULL;
    return why ? ig_error(&o->module->context->diag, IG_UNSUPPORTED, NULL,
                          "weight '%s' cannot be opened: %s", weight->name, why)
               : IG_OK;
}

/* Every name of the list is a weight's. */
static ig_status check_names(const opener *o) {
    const char *list = o->run->options->open_weights;
    if (!list || strcmp(list, "all") == 0) {
        return IG_OK;
    }
    for (const char *at = list; *at;) {
        size_t size = strcspn(at, ",");
        const char *name = ig_arena_copy(o->run->scratch, at, size);
        if (!ig_module_weight(o->module, name)) {
            return ig_error_hint(&o->module->context->diag, IG_INVALID, NULL,
                                 "`ingot inspect` lists them",
                                 "the model has no weight '%s' to be opened", name);
        }
        at += size + (at[size] == ',');
    }
    return IG_OK;
}

static ig_status find_weights(opener *o) {
    for (ig_op *op = o->graph->body.first; op; op = op->next) {
        if (op->code != IG_OP_weight && op->code != IG_OP_table) {
            continue;
        }
        const ig_weight *weight = ig_module_weight(o->module,
                                                   ig_attr_str(op, IG_weight_name));
        if (weight && op->results->uses && is_wanted(o, weight)) {
            IG_TRY(check_weight(o, weight));
            IG_PUSH(o->run->scratch, &o->opened, op);
        }
    }
    return IG_OK;
}

/* ---- arguments ---- */

static void set_names(opener *o, uint32_t first) {
    ig_graph *graph = o->graph;
    uint32_t count = graph->body.arg_count;
    const char **names = IG_NEW_ARRAY(&o->module->arena, const char *, count);
    for (uint32_t i = 0, old = 0; i < count; i++) {
        bool is_new = i >= first && i - first < o->opened.count;
        const char *given = graph->arg_names && !is_new ? graph->arg_names[old] : NULL;
        names[i] = is_new  ? graph->body.args[i]->name
                   : given ? given
                           : ig_arena_printf(&o->module->arena, "input_%u", old);
        old += !is_new;
    }
    graph->arg_names = names;
}

/* Leaves after the arguments of a call from Python. */
static void extend_signature(opener *o) {
    ig_arena *arena = &o->module->arena;
    const ig_signature *from = o->graph->signature;
    if (!from) {
        return;
    }
    ig_signature *to = IG_NEW(arena, ig_signature);
    uint32_t result = ig_signature_result(from);
    *to = *from;
    to->nodes = (ig_node_list){ 0 };
    for (uint32_t i = 0; i < from->nodes.count; i++) {
        for (size_t k = 0; i == result && k < o->opened.count; k++) {
            const char *name = ig_attr_str(o->opened.items[k], IG_weight_name);
            ig_node_add(arena, &to->nodes,
                        (ig_node){ .kind = IG_NODE_TENSOR,
                                   .is_leaf = true,
                                   .name = ig_str_of(name) });
        }
        ig_node_add(arena, &to->nodes, from->nodes.items[i]);
    }
    to->arg_count += (uint32_t)o->opened.count;
    o->graph->signature = to;
}

/* States stay after them: their arguments are made anew. */
static void move_states(ig_graph *graph, uint32_t first) {
    for (uint32_t i = 0; i < graph->state_count; i++) {
        ig_value *old = graph->body.args[first];
        ig_value *arg = ig_block_add_arg(&graph->body, old->type, old->name);
        ig_value_replace(old, arg);
        ig_block_remove_arg(&graph->body, first);
    }
}

static void open_all(opener *o) {
    ig_graph *graph = o->graph;
    uint32_t first = graph->body.arg_count - graph->state_count;
    for (size_t i = 0; i < o->opened.count; i++) {
        ig_op *op = o->opened.items[i];
        const char *name = ig_attr_str(op, IG_weight_name);
        ig_value *arg = ig_block_add_arg(&graph->body, op->results->type, name);
        ig_value_replace(op->results, arg);
    }
    move_states(graph, first);
    set_names(o, first);
    extend_signature(o);
    for (size_t i = 0; i < o->opened.count; i++) {
        ig_op_erase(o->opened.items[i]);
    }
    graph->opened_count += (uint32_t)o->opened.count;
    o->run->changed = true;
}

ig_status ig_pass_open_weights(ig_pass_run *run, ig_graph *graph) {
    opener o = { .run = run, .module = graph->module, .graph = graph };
    IG_TRY(check_names(&o));
    IG_TRY(find_weights(&o));
    if (o.opened.count > 0) {
        open_all(&o);
    }
    return IG_OK;
}
