/* The way of a node: inputs by name, the row's import function, outputs by name.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/onnx/import/keys.h"
#include "frontend/onnx/import/places.h"

enum { POLL_NODES = 1024, NAMES_LIMIT = 65535 };

/* ---- outputs ---- */

static void define_outputs(const ig_onnx_node *node, bool is_good) {
    ig_onnx_name what = { .node = node->proto,
                          .index = node->where.node_id - 1,
                          .ranks_differ = node->ranks_differ };
    for (size_t i = 0; i < node->proto->n_output; i++) {
        const char *name = node->proto->output[i];
        bool is_there = is_good && i < node->output_count;
        what.value = is_there ? node->outputs[i] : NULL;
        what.either = is_there && node->either ? node->either[i] : NULL;
        what.keys = is_there && node->keys ? node->keys[i] : NULL;
        if (name[0]) {
            ig_onnx_define(node->scope, name, &what);
        }
    }
}

/* ---- inputs ---- */

/* False when one is poisoned; then the node is passed over. */
static bool find_inputs(ig_onnx_node *node) {
    const Onnx__NodeProto *proto = node->proto;
    node->inputs = IG_NEW_ARRAY(node->import->arena, ig_value *, proto->n_input);
    for (size_t i = 0; i < proto->n_input; i++) {
        if (proto->input[i][0] == 0) {
            continue;
        }
        const ig_onnx_name *name = ig_onnx_find(node->scope, proto->input[i]);
        if (!name || name->is_poisoned) {
            return false;
        }
        node->inputs[i] = name->value;
        node->input_count = (uint32_t)i + 1;
    }
    return true;
}

/* Attributes that came through a call must have the types that the operator expects. */
static ig_status check_references(const ig_onnx_node *node) {
    for (const ig_onnx_attr_row *a = node->row->attrs; node->scope->call && a->name;
         a++) {
        const Onnx__AttributeProto *attr = ig_onnx_attr(node, a->name, NULL);
        if (!attr && a->is_required) {
            return ig_onnx_fail(
                node, IG_INVALID,
                "lacks attribute '%s', which the call of the function does not give",
                a->name);
        }
        if (attr && ig_onnx_attr_type(attr) != a->type &&
            ig_onnx_attr_type(attr) !=
                ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__UNDEFINED) {
            return ig_onnx_fail(
                node, IG_INVALID,
                "attribute '%s' comes from the call of the function with another type",
                a->name);
        }
    }
    return IG_OK;
}

/* ---- calls of model-local functions ---- */

static void define_parameters(ig_onnx_scope *body, const ig_onnx_node *node,
                              const ig_onnx_function *function) {
    for (size_t i = 0; i < function->proto->n_input; i++) {
        ig_value *value = i < node->input_count ? node->inputs[i] : NULL;
        if (value) {
            ig_onnx_define_value(body, function->proto->input[i], value,
                                 ig_arena_printf(node->import->arena,
                                                 "input %zu of function %s", i,
                                                 function->label));
        }
    }
}

/* An optional input that the call leaves out is left out inside as well: the nodes that
 * read it get the empty name. */
static ig_onnx_nodes without_absent(const ig_onnx_node *node,
                                    const ig_onnx_function *function) {
    const Onnx__FunctionProto *proto = function->proto;
    ig_onnx_nodes nodes = { proto->node, proto->n_node };
    ig_map absent;
    ig_map_init(&absent, node->import->arena);
    for (size_t i = 0; i < proto->n_input; i++) {
        if (i >= node->input_count || !node->inputs[i]) {
            ig_map_set(&absent, ig_str_of(proto->input[i]), (void *)1);
        }
    }
    if (absent.count == 0) {
        return nodes;
    }
    ig_arena *arena = node->import->arena;
    Onnx__NodeProto **copies = IG_NEW_ARRAY(arena, Onnx__NodeProto *, nodes.count);
    for (size_t i = 0; i < nodes.count; i++) {
        copies[i] = IG_NEW(arena, Onnx__NodeProto);
        *copies[i] = *nodes.items[i];
        copies[i]->input = IG_NEW_ARRAY(arena, char *, copies[i]->n_input);
        for (size_t k = 0; k < copies[i]->n_input; k++) {
            char *name = nodes.items[i]->input[k];
            bool is_absent = ig_map_get(&absent, ig_str_of(name)) != NULL;
            copies[i]->input[k] = is_absent ? ig_arena_strdup(arena, "") : name;
        }
        if (ig_map_get_id(&node->import->flawed, IG_MAP_PTR(nodes.items[i]))) {
            ig_map_set_id(&node->import->flawed, IG_MAP_PTR(copies[i]), (void *)1);
        }
    }
    return (ig_onnx_nodes){ copies, nodes.count };
}

static ig_status import_call(ig_onnx_node *node, const ig_onnx_function *function) {
    ig_onnx_call call = { function, node->proto, node->scope };
    ig_onnx_scope body;
    ig_onnx_scope_init(&body, node->import, NULL, function->label);
    body.opsets = &function->opsets;
    body.call = &call;
    body.builder = node->builder;
    define_parameters(&body, node, function);
    const Onnx__FunctionProto *proto = function->proto;
    for (size_t i = 0; i < proto->n_output; i++) {
        ig_onnx_scope_gives(&body, proto->output[i]);
    }
    IG_TRY(ig_onnx_import_nodes(&body, without_absent(node, function)));
    for (uint32_t i = 0; i < node->output_count && i < proto->n_output; i++) {
        if (!ig_onnx_scope_output(&body, proto->output[i], &node->outputs[i])) {
            return ig_onnx_fail(node, IG_INVALID,
                                "function %s never produces its output '%s'",
                                function->label, proto->output[i]);
        }
        ig_onnx_set_keys(node, i, ig_onnx_find(&body, proto->output[i])->keys);
    }
    return IG_OK;
}

/* ---- one node ---- */

static ig_status fail_at_node(void *user, ig_status status, const char *text) {
    const ig_onnx_node *node = user;
    return ig_error(&node->import->context->diag, status, &node->where, "%s", text);
}

/* "node 3 'fc' (Gemm) of 'x', 'w': WHAT" */
static const char *explain_at_node(void *user, const char *what) {
    enum { NAMES = 3 };
    const ig_onnx_node *node = user;
    ig_writer text;
    ig_writer_init(&text, node->import->arena);
    ig_put(&text, "%s",
           ig_onnx_node_label(node->import, node->proto, node->where.node_id - 1));
    for (uint32_t i = 0; i < node->input_count && i < NAMES; i++) {
        ig_put(&text, "%s '%s'", i ? "," : " of", node->proto->input[i]);
    }
    ig_put(&text, "%s: %s", node->input_count > NAMES ? " …" : "", what);
    return text.data;
}

ig_expr ig_onnx_expr_at(ig_builder *builder, ig_onnx_node *node) {
    static const ig_expr_source source = { fail_at_node, explain_at_node };
    return ig_expr_for(builder, &source, node);
}

/* Inputs that the row requires are there, and all are of the kind that it takes. */
static ig_status check_inputs(const ig_onnx_node *node) {
    for (uint32_t i = 0; i < node->row->min_in; i++) {
        if (i >= node->input_count || !node->inputs[i]) {
            return ig_onnx_fail(node, IG_INVALID, "lacks input %u, which is required",
                                i);
        }
    }
    for (uint32_t i = 0; i < node->input_count && !node->row->takes_host; i++) {
        if (!node->inputs[i] && node->row->max_in == IG_ONNX_MANY) {
            return ig_onnx_fail(node, IG_INVALID, "lacks input %u of %u", i,
                                node->input_count);
        }
        if (node->inputs[i] && node->inputs[i]->type->kind != IG_TENSOR) {
            bool is_any = node->inputs[i]->type->kind == IG_ANY;
            return ig_onnx_fail(
                node, is_any ? IG_UNSUPPORTED : IG_INVALID,
                is_any ? "input %u has a rank that the run decides; it can be an output"
                       : "input %u is a sequence, expected a tensor",
                i);
        }
    }
    return IG_OK;
}

static ig_status check_outputs(const ig_onnx_node *node) {
    for (uint32_t i = 0; i < node->output_count; i++) {
        if (node->proto->output[i][0] && !node->outputs[i] && !node->ranks_differ) {
            return ig_onnx_fail(node, IG_UNSUPPORTED,
                                "output %u ('%s') is not supported yet", i,
                                node->proto->output[i]);
        }
    }
    return IG_OK;
}

static ig_status import_node(ig_onnx_node *node) {
    ig_onnx_import *import = node->import;
    ig_expr e = ig_onnx_expr_at(node->builder, node);
    node->e = &e;
    if (node->proto->n_input > NAMES_LIMIT || node->proto->n_output > NAMES_LIMIT) {
        return ig_onnx_fail(
            node, IG_LIMIT,
            "has %zu inputs and %zu outputs, expected at most %d of each",
            node->proto->n_input, node->proto->n_output, NAMES_LIMIT);
    }
    node->output_count = (uint32_t)node->proto->n_output;
    node->outputs = IG_NEW_ARRAY(import->arena, ig_value *, node->output_count);
    if (++import->node_count > import->node_bound) {
        return ig_onnx_fail(
            node, IG_LIMIT,
            "is beyond the %llu nodes that this model may have after inlining",
            (unsigned long long)import->node_bound);
    }
    node->builder->loc = ig_module_location(import->module, &node->where);
    const ig_onnx_function *function = ig_onnx_function_of(import, node->proto);
    if (function) {
        return import_call(node, function);
    }
    if (ig_onnx_custom_form(import, node->proto, NULL)) {
        return ig_onnx_import_custom(node);
    }
    node->row = ig_onnx_row_of(import, node->scope->opsets, node->proto);
    if (!node->row || !node->row->import) {
        return IG_UNSUPPORTED; /* reported by check.c */
    }
    IG_TRY(check_references(node));
    IG_TRY(check_inputs(node));
    ig_expr_note(&e, ig_onnx_moves_texts(node) ? ig_onnx_import_texts_by_position(node)
                                               : node->row->import(node));
    IG_TRY(e.status);
    return check_outputs(node);
}

ig_status ig_onnx_import_at(ig_onnx_scope *scope, ig_onnx_nodes nodes, size_t index) {
    ig_onnx_import *import = scope->import;
    const Onnx__NodeProto *proto = nodes.items[index];
    ig_onnx_node node = { .import = import, .scope = scope, .proto = proto };
    node.builder = scope->builder;
    node.where = ig_onnx_where(scope, proto, index);
    bool is_good = !ig_map_get_id(&import->flawed, IG_MAP_PTR(proto)) &&
                   find_inputs(&node);
    if (is_good) {
        ig_status status = import_node(&node);
        is_good = status == IG_OK;
        if (!ig_onnx_note(import, status)) {
            return import->worst;
        }
    }
    define_outputs(&node, is_good);
    return IG_OK;
}

static ig_status walk_nodes(ig_onnx_scope *scope, const ig_onnx_walk *walk) {
    ig_onnx_import *import = scope->import;
    for (size_t i = 0; i < walk->nodes.count; i++) {
        size_t index = walk->order[i];
        if (!walk->is_done[index]) {
            walk->is_done[index] = true;
            IG_TRY(ig_onnx_import_at(scope, walk->nodes, index));
        }
        if (i % POLL_NODES == POLL_NODES - 1) {
            ig_context_progress(import->context, "import", import->node_count,
                                import->model->wire.node_count);
            IG_TRY(ig_context_poll(import->context));
        }
    }
    return IG_OK;
}

ig_status ig_onnx_import_nodes(ig_onnx_scope *scope, ig_onnx_nodes nodes) {
    ig_onnx_walk walk = { .nodes = nodes };
    walk.is_done = IG_NEW_ARRAY(scope->import->arena, bool, nodes.count);
    ig_onnx_order(scope, &walk);
    scope->walk = &walk;
    ig_status status = walk_nodes(scope, &walk);
    scope->walk = NULL;
    return status;
}
