/* An exported graph, run node by node by the evaluator of frontend/torch.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/pt2/graph.h"

#include "frontend/pt2/codes.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char operators[] = "torch.ops.", higher[] = "torch.ops.higher_order.";

ig_status ig_pt2_error(const ig_pt2_scope *scope, ig_status status, const char *format,
                       ...) {
    char text[512];
    va_list args;
    ig_location where = ig_ts_where(scope->eval);
    where.op = scope->target;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    scope->eval->has_failed = true;
    return ig_error(&scope->eval->context->diag, status, &where, "%s", text);
}

/* ---- values by their names ---- */

const char *ig_pt2_slot(const ig_pt2_scope *scope, const char *name) {
    ig_map *names = &scope->eval->code->names;
    const char *whole = *scope->prefix ? ig_arena_printf(scope->eval->arena, "%s%s",
                                                         scope->prefix, name)
                                       : name;
    return ig_names_intern(names, ig_str_of(whole));
}

ig_status ig_pt2_get(const ig_pt2_scope *scope, const char *name,
                     ig_ts_value *out_value) {
    const ig_ts_value *value = ig_ts_name_get(scope->eval->frame,
                                              ig_pt2_slot(scope, name));
    if (!value) {
        return ig_pt2_error(scope, IG_INVALID,
                            "it uses '%.100s', which nothing before it gives", name);
    }
    *out_value = *value;
    return IG_OK;
}

void ig_pt2_set(const ig_pt2_scope *scope, const char *name, ig_ts_value value) {
    if (name) {
        ig_ts_name_set(scope->eval, scope->eval->frame, ig_pt2_slot(scope, name),
                       value);
    }
}

/* ---- results ---- */

static ig_status unpack_list(const ig_pt2_scope *scope, const ig_json *items,
                             const ig_ts_value *value) {
    if (value->kind != IG_TS_TUPLE && value->kind != IG_TS_LIST) {
        IG_TRY(ig_ts_use(scope->eval, value));
        return ig_pt2_error(scope, IG_INVALID, "unpacks %s", ig_ts_kind_name(value));
    }
    IG_TRY(ig_ts_open(scope->eval, value));
    size_t count = ig_json_count(items);
    if (value->as.list->count != count) {
        return ig_pt2_error(scope, IG_INVALID, "unpacks %zu values into %zu names",
                            value->as.list->count, count);
    }
    for (size_t i = 0; i < count; i++) {
        const ig_json *item = ig_json_at(items, i);
        ig_pt2_set(scope, ig_json_text(ig_json_get(item, "name")),
                   value->as.list->items[i]);
    }
    return IG_OK;
}

/* The items of a result that is a list; NULL: it is none. */
static const ig_json *items_of(const ig_json *output) {
    const ig_json *items;
    return strcmp(ig_pt2_union(output, &items), "as_tensors") == 0 ? items : NULL;
}

ig_status ig_pt2_bind(const ig_pt2_scope *scope, const ig_json *outputs,
                      size_t output_count, const ig_ts_value *results, uint32_t count) {
    bool is_packed = count == 1 && output_count > 1 && results->kind != IG_TS_UNSET;
    if (is_packed) {
        IG_TRY(ig_ts_use(scope->eval, results));
        IG_TRY(ig_ts_open(scope->eval, results));
        bool is_list = results->kind == IG_TS_TUPLE || results->kind == IG_TS_LIST;
        count = is_list ? (uint32_t)results->as.list->count : count;
        results = is_list ? results->as.list->items : results;
    }
    if (count < output_count || (count != output_count && output_count > 1)) {
        return ig_pt2_error(scope, IG_INVALID, "takes %u results for %zu names", count,
                            output_count);
    }
    for (size_t i = 0; i < output_count; i++) {
        const ig_json *items = items_of(&outputs[i]);
        if (items && ig_json_count(items)) {
            IG_TRY(unpack_list(scope, items, &results[i]));
        } else {
            ig_pt2_set(scope, ig_pt2_argument_name(&outputs[i]), results[i]);
        }
    }
    return IG_OK;
}

const char **ig_pt2_result_names(ig_arena *arena, const ig_json *node,
                                 size_t *out_count) {
    const ig_json *outputs = ig_json_get(node, "outputs");
    size_t count = ig_json_count(outputs);
    const ig_json *items = count == 1 ? items_of(ig_json_at(outputs, 0)) : NULL;
    *out_count = items ? ig_json_count(items) : count;
    const char **names = IG_NEW_ARRAY(arena, const char *, *out_count + 1);
    for (size_t i = 0; i < *out_count; i++) {
        names[i] = items ? ig_json_text(ig_json_get(ig_json_at(items, i), "name"))
                         : ig_pt2_argument_name(ig_json_at(outputs, i));
    }
    return names;
}

/* ---- calls ---- */

enum { POSITIONAL = 1 };

const char *ig_pt2_operator(ig_arena *arena, const char *target) {
    ig_str text = ig_str_of(target);
    const char *name = target + strlen(operators);
    bool is_one = ig_str_starts(text, operators);
    const char *dot = is_one ? strchr(name, '.') : NULL;
    size_t end = ig_str_ends(text, ".default") ? strlen(".default") : 0;
    return dot && text.size - end > (size_t)(dot - target)
               ? ig_arena_printf(arena, "%.*s::%.*s", (int)(dot - name), name,
                                 (int)(text.size - end - (size_t)(dot - target) - 1),
                                 dot + 1)
               : NULL;
}

ig_status ig_pt2_call(const ig_pt2_scope *scope, const char *name,
                      const ig_ts_value *args, uint32_t count, ig_ts_value *out_value) {
    ig_ts_value *values = IG_NEW_ARRAY(scope->eval->arena, ig_ts_value, count + 1u);
    ig_ts_arguments arguments = { .values = values, .positional = count };
    uint32_t results = 1;
    memcpy(values, args, count * sizeof *args);
    *out_value = ig_ts_none();
    return ig_ts_call_op(scope->eval, name, &arguments, out_value, &results);
}

/* Is input `index` given by its name?  Older schemas do not say; the first argument may
 * be called anything. */
static bool is_named(const ig_json *input, size_t index) {
    int64_t kind = 0;
    bool is_given = ig_json_int(ig_json_get(input, "kind"), &kind);
    return *ig_json_text(ig_json_get(input, "name")) &&
           (is_given ? kind != POSITIONAL : index > 0);
}

/* The names of the arguments after the positional ones. */
static const char **argument_names(ig_arena *arena, const ig_json *inputs, size_t count,
                                   uint32_t *out_positional) {
    size_t at = 0;
    while (at < count && !is_named(&inputs[at], at)) {
        at++;
    }
    *out_positional = (uint32_t)at;
    const char **names = IG_NEW_ARRAY(arena, const char *, count - at + 1);
    for (size_t i = at; i < count; i++) {
        names[i - at] = ig_json_text(ig_json_get(&inputs[i], "name"));
    }
    return names;
}

/* The places of a node's arguments and results that belong to a call. */
typedef struct operator_call {
    const char *target;
    const ig_json *inputs, *outputs;
    size_t input_count, output_count;
} operator_call;

static operator_call call_of(const ig_json *node, const char *target) {
    const ig_json *inputs = ig_json_get(node, "inputs");
    const ig_json *outputs = ig_json_get(node, "outputs");
    operator_call call = { .target = target,
                           .input_count = ig_json_count(inputs),
                           .output_count = ig_json_count(outputs) };
    call.inputs = call.input_count ? inputs->as.list.items : NULL;
    call.outputs = call.output_count ? outputs->as.list.items : NULL;
    return call;
}

/* The call in token, result… = with_effects(token, operator, argument…), whose tokens
 * give calls their order, which nodes have here; false: `node` is none. */
static bool read_effect(const ig_json *node, const char *target, operator_call *out) {
    enum { TOKEN = 1, TOKEN_AND_OPERATOR = 2 };
    operator_call call = call_of(node, target);
    if (!ig_str_starts(ig_str_of(target), higher) ||
        strcmp(target + strlen(higher), "with_effects") != 0 ||
        call.input_count < TOKEN_AND_OPERATOR || call.output_count < TOKEN) {
        return false;
    }
    const ig_json *op = ig_json_get(&call.inputs[TOKEN], "arg");
    call.target = ig_json_text(ig_json_get(op, "as_operator"));
    call.inputs += TOKEN_AND_OPERATOR, call.input_count -= TOKEN_AND_OPERATOR;
    call.outputs += TOKEN, call.output_count -= TOKEN;
    if (call.output_count == 1 && ig_json_get(call.outputs, "as_none")) {
        call.output_count = 0;
    }
    *out = call;
    return true;
}

static ig_status run_operator(const ig_pt2_scope *scope, const operator_call *call) {
    ig_ts_eval *eval = scope->eval;
    uint32_t given = (uint32_t)call->input_count;
    uint32_t count = (uint32_t)call->output_count, room = count + 1;
    ig_ts_value *results = IG_NEW_ARRAY(eval->arena, ig_ts_value, room);
    ig_ts_arguments arguments = { .values = IG_NEW_ARRAY(eval->arena, ig_ts_value,
                                                         given + 1u) };
    arguments.names = argument_names(eval->arena, call->inputs, given,
                                     &arguments.positional);
    arguments.keywords = given - arguments.positional;
    for (uint32_t i = 0; i < given; i++) {
        IG_TRY(ig_pt2_argument(scope, ig_json_get(&call->inputs[i], "arg"),
                               &arguments.values[i]));
    }
    const char *name = ig_pt2_operator(eval->arena, call->target);
    if (!name) {
        return ig_pt2_error(scope, IG_INVALID, "its target names no operator");
    }
    const ig_json *items = count == 1 ? items_of(&call->outputs[0]) : NULL;
    eval->names = (uint32_t)ig_json_count(items);
    IG_TRY(ig_ts_call_op(eval, name, &arguments, results, &room));
    return count ? ig_pt2_bind(scope, call->outputs, count, results, room) : IG_OK;
}

/* int() and float() of tensors and numbers. */
static ig_status convert_value(const ig_pt2_scope *scope, ig_ts_kind kind,
                               ig_ts_value *value) {
    ig_value *content;
    IG_TRY(ig_ts_use(scope->eval, value));
    if (value->kind == IG_TS_TENSOR) {
        IG_TRY(ig_ts_tensor_read(scope->eval, value->as.tensor, &content));
        return ig_ts_number_of(scope->eval, kind, content, value);
    }
    return ig_ts_is_number(value)
               ? ig_ts_convert(scope->eval, kind, value, value)
               : ig_pt2_error(scope, IG_INVALID, "takes %s for a number",
                              ig_ts_kind_name(value));
}

/* A function of Python on numbers. */
static ig_status run_form(const ig_pt2_scope *scope, const ig_pt2_form *form,
                          const ig_json *node) {
    const ig_json *inputs = ig_json_get(node, "inputs");
    const ig_json *outputs = ig_json_get(node, "outputs");
    ig_ts_value values[IG_PT2_FORM_ARGUMENTS];
    if (ig_json_count(inputs) < form->arguments) {
        return ig_pt2_error(scope, IG_INVALID, "it lacks argument %zu",
                            ig_json_count(inputs));
    }
    for (uint32_t i = 0; i < form->arguments; i++) {
        const ig_json *input = ig_json_at(inputs, i);
        IG_TRY(ig_pt2_argument(scope, ig_json_get(input, "arg"), &values[i]));
    }
    if (form->op) {
        IG_TRY(ig_pt2_call(scope, form->op, values, form->arguments, &values[0]));
    } else if (form->to != IG_PT2_AS_IT_IS) {
        IG_TRY(convert_value(scope, form->to == IG_PT2_TO_INT ? IG_TS_INT : IG_TS_FLOAT,
                             &values[0]));
    }
    return ig_json_count(outputs) ? ig_pt2_bind(scope, outputs->as.list.items,
                                                ig_json_count(outputs), values, 1)
                                  : IG_OK;
}

/* ---- nodes ---- */

static ig_status run_node(const ig_pt2_scope *scope, const ig_json *node) {
    ig_str target = ig_str_of(scope->target);
    operator_call call = call_of(node, target.data);
    const ig_pt2_form *form = ig_pt2_form_of(target.data);
    if (form) {
        return form->arguments ? run_form(scope, form, node) : IG_OK;
    }
    if (read_effect(node, target.data, &call)) {
        return run_operator(scope, &call);
    }
    if (ig_str_starts(target, higher)) {
        return ig_pt2_higher_order(scope, target.data + strlen(higher), node);
    }
    if (ig_str_starts(target, operators)) {
        return run_operator(scope, &call);
    }
    ig_status status = IG_OK;
    if (ig_pt2_vmap_node(scope, node, &status)) {
        return status;
    }
    return ig_pt2_error(scope, target.size ? IG_UNSUPPORTED : IG_INVALID,
                        target.size ? "function %.200s is not supported yet"
                                    : "a node has no target%.200s",
                        target.data);
}

static const char *node_name(ig_arena *arena, const ig_json *node, size_t index) {
    const char *name = ig_json_text(ig_json_get(node, "name"));
    const ig_json *outputs = ig_json_get(node, "outputs");
    if (!*name && ig_json_count(outputs)) {
        const char *result = ig_pt2_argument_name(ig_json_at(outputs, 0));
        name = result ? result : "";
    }
    return *name ? name : ig_arena_printf(arena, "node %zu", index);
}

/* "layers.0.lin" of "L__self__,,m.M;L__self__layers.0.lin,layers.0.lin,torch…Linear":
 * the path of the last, innermost one; NULL: it says nothing. */
static const char *module_of(ig_arena *arena, const ig_json *node) {
    const ig_json *metadata = ig_json_get(node, "metadata");
    const char *stack = ig_json_text(ig_json_get(metadata, "nn_module_stack"));
    const char *last = strrchr(stack, ';');
    const char *path = strchr(last ? last : stack, ',');
    size_t size = path ? strcspn(path + 1, ",") : 0;
    return size ? ig_arena_printf(arena, "%.*s", (int)size, path + 1) : NULL;
}

/* A scope is of a graph; the names of a graph in a graph have a prefix that ends in a
 * slash, and only theirs. */
static void check_scope(const ig_pt2_scope *scope) {
    size_t size = strlen(scope->prefix);
    assert(scope->graph && scope->eval && "a scope is of a graph");
    assert((scope->depth > 0) == (size > 0 && scope->prefix[size - 1] == '/') &&
           "names of inner graphs are apart");
    (void)size;
}

static const char *target_of(const ig_json *node) {
    return ig_json_text(ig_json_get(node, "target"));
}

/* The node that ends what the one before `first` begins, or `end`. */
static size_t find_vmap_end(const ig_json *nodes, size_t first, size_t end) {
    size_t at = first;
    for (int depth = 1; at < end; at++) {
        depth += ig_pt2_vmap_nesting(target_of(ig_json_at(nodes, at)));
        if (depth == 0) {
            break;
        }
    }
    return at;
}

ig_status ig_pt2_nodes_between(ig_pt2_scope *scope, size_t first, size_t end) {
    const ig_json *nodes = ig_json_get(scope->graph, "nodes");
    ig_ts_eval *eval = scope->eval;
    ig_ts_frame *frame = eval->frame;
    for (size_t i = first; i < end; i++) {
        const ig_json *node = ig_json_at(nodes, i);
        frame->node = node_name(eval->arena, node, i);
        frame->module = module_of(eval->arena, node);
        scope->target = target_of(node);
        IG_TRY(ig_ts_step(eval));
        if (ig_pt2_vmap_nesting(scope->target) > 0) {
            size_t past = find_vmap_end(nodes, i + 1, end);
            if (past == end) {
                return ig_pt2_error(scope, IG_INVALID, "torch.vmap has no end");
            }
            IG_TRY(ig_pt2_vmap_region(scope, i + 1, past));
            i = past;
        } else {
            IG_TRY(run_node(scope, node));
        }
    }
    return IG_OK;
}

ig_status ig_pt2_nodes(ig_pt2_scope *scope) {
    ig_ts_eval *eval = scope->eval;
    ig_ts_frame *frame = eval->frame;
    const char *node_before = frame->node, *module_before = frame->module;
    check_scope(scope);
    if (scope->depth > (uint64_t)eval->context->limits.graph_depth) {
        return ig_ts_error_limit(eval, IG_LIMIT_graph_depth, "graphs in graphs");
    }
    size_t count = ig_json_count(ig_json_get(scope->graph, "nodes"));
    IG_TRY(ig_pt2_nodes_between(scope, 0, count));
    frame->node = node_before;
    frame->module = module_before;
    return IG_OK;
}

/* ---- calls of a graph ---- */

static void survey_node(ig_ts_eval *eval, const operator_call *call, const char *name,
                        const ig_location *where, ig_python_look *look) {
    size_t count = call->input_count;
    const ig_script_type **types = IG_NEW_ARRAY(eval->arena, const ig_script_type *,
                                                count + 1);
    uint32_t positional;
    const char **names = argument_names(eval->arena, call->inputs, count, &positional);
    for (size_t i = 0; i < count; i++) {
        types[i] = ig_pt2_argument_type(&eval->code->types,
                                        ig_json_get(&call->inputs[i], "arg"));
    }
    ig_call_shape shape = { .positional = types,
                            .positional_count = positional,
                            .keywords = names,
                            .keyword_types = types + positional,
                            .keyword_count = count - positional };
    ig_python_survey_call(look, name, &shape, where);
}

/* A node as the evaluator names it at the ops that it makes. */
static void note_node(ig_ts_eval *eval, const char *target, const char *name,
                      ig_location where) {
    const ig_pt2_form *form = ig_pt2_form_of(target);
    where.op = form ? form->op : name ? name : target;
    if (where.op) {
        (void)ig_module_location(eval->module, &where);
    }
}

/* JSON is at most limits.source_depth deep, and so are graphs in it. */
void ig_pt2_survey(ig_ts_eval *eval, const ig_json *graph, ig_python_look *look) {
    const ig_json *nodes = ig_json_get(graph, "nodes");
    for (size_t i = 0; i < ig_json_count(nodes); i++) {
        const ig_json *node = ig_json_at(nodes, i);
        const char *target = ig_json_text(ig_json_get(node, "target"));
        operator_call call = call_of(node, target);
        (void)read_effect(node, target, &call);
        target = call.target;
        ig_location where = { .file = eval->file,
                              .node = node_name(eval->arena, node, i),
                              .scope = module_of(eval->arena, node) };
        const char *name = ig_pt2_operator(eval->arena, target);
        for (size_t k = 0; k < call.input_count; k++) {
            const ig_json *input = ig_json_get(&call.inputs[k], "arg");
            const ig_json *graph_in = ig_json_get(input, "as_graph");
            ig_pt2_survey(eval, ig_json_get(graph_in, "graph"), look);
        }
        if (!look) {
            note_node(eval, target, name, where);
        } else if (name && !ig_pt2_form_of(target) &&
                   !ig_str_starts(ig_str_of(target), higher)) {
            survey_node(eval, &call, name, &where, look);
        }
    }
}
