/* Higher-order operators: branches, loops, regions.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Their graphs are written where they are used, each in a scope of its own whose inputs
 * are bound to the operands.
 */
#include "frontend/pt2/source.h"

#include <assert.h>
#include <string.h>

typedef struct hop {
    ig_pt2_source *source;
    ig_pt2_scope *scope; /* around the node */
    const ig_json *node;
    const ig_json *inputs;
    const char *name;
} hop;

/* ---- arguments of the node ---- */

static const ig_json *argument_at(const hop *h, size_t index) {
    return index < ig_json_count(h->inputs)
               ? ig_json_get(&h->inputs->as.list.items[index], "arg")
               : NULL;
}

static ig_status graph_at(const hop *h, size_t index, const ig_json **out_graph) {
    *out_graph = ig_json_get(ig_json_get(argument_at(h, index), "as_graph"), "graph");
    return *out_graph
               ? IG_OK
               : ig_pt2_error(h->source, IG_INVALID,
                              "%s lacks a graph as its argument %zu", h->name, index);
}

/* Operands: expressions of the scope around. */
typedef struct operands {
    const char **items;
    size_t count;
} operands;

static ig_status put_items(hop *h, const ig_json *list, operands *out) {
    for (size_t i = 0; i < ig_json_count(list); i++) {
        const ig_json *item = &list->as.list.items[i];
        const char *name = ig_json_text(ig_json_get(item, "name"));
        ig_json *one = IG_NEW_ARRAY(h->source->arena, ig_json, 2);
        static const ig_str key = { "as_tensor", 9 };
        one[1] = *item;
        one[0] = (ig_json){ .kind = IG_JSON_OBJECT,
                            .as.list = { .keys = &key, .items = &one[1], .count = 1 } };
        IG_TRY(ig_pt2_argument(h->source, h->scope, *name ? one : item,
                               &out->items[out->count++]));
    }
    return IG_OK;
}

/* One argument, a list of which each item is one. */
static ig_status read_list(hop *h, size_t index, operands *out) {
    const ig_json *argument = argument_at(h, index);
    *out = (operands){ 0 };
    bool is_list = argument && argument->kind == IG_JSON_OBJECT &&
                   argument->as.list.count == 1;
    const ig_json *list = is_list ? &argument->as.list.items[0] : NULL;
    out->items = IG_NEW_ARRAY(h->source->arena, const char *, ig_json_count(list) + 1);
    return put_items(h, list, out);
}

/* All arguments from `first` on. */
static ig_status read_rest(hop *h, size_t first, operands *out) {
    size_t count = ig_json_count(h->inputs);
    *out =
        (operands){ .items = IG_NEW_ARRAY(h->source->arena, const char *, count + 1) };
    for (size_t i = first; i < count; i++) {
        IG_TRY(ig_pt2_argument(h->source, h->scope, argument_at(h, i),
                               &out->items[out->count++]));
    }
    return IG_OK;
}

/* cond and while_loop: a list, or (older) the arguments themselves. */
static ig_status read_operands(hop *h, size_t index, operands *out) {
    bool is_list = ig_json_get(argument_at(h, index), "as_tensors") ||
                   ig_json_get(argument_at(h, index), "as_optional_tensors") ||
                   ig_json_get(argument_at(h, index), "as_sym_ints");
    return is_list ? read_list(h, index, out) : read_rest(h, index, out);
}

/* ---- a graph at its place ---- */

/* Binds the graph's inputs, writes its nodes, and gives its outputs. */
static ig_status write_graph(hop *h, const ig_json *graph, const operands *given,
                             operands *out) {
    ig_pt2_scope scope;
    const ig_json *inputs = ig_json_get(graph, "inputs");
    const ig_json *outputs = ig_json_get(graph, "outputs");
    ig_pt2_scope_init(&scope, h->source->arena);
    if (ig_json_count(inputs) != given->count) {
        return ig_pt2_error(h->source, IG_INVALID,
                            "%s gives %zu operands to a graph of %zu inputs", h->name,
                            given->count, ig_json_count(inputs));
    }
    for (size_t i = 0; i < given->count; i++) {
        const char *name = ig_pt2_argument_name(&inputs->as.list.items[i]);
        if (name) {
            ig_pt2_bind(&scope, name, given->items[i]);
        }
    }
    IG_TRY(ig_pt2_nodes(h->source, &scope, graph));
    size_t count = ig_json_count(outputs);
    *out = (operands){ IG_NEW_ARRAY(h->source->arena, const char *, count + 1), count };
    for (size_t i = 0; i < count; i++) {
        IG_TRY(ig_pt2_argument(h->source, &scope, &outputs->as.list.items[i],
                               &out->items[i]));
    }
    return IG_OK;
}

/* ---- results of the node ---- */

/* Names of the node's results, one by one. */
static ig_status name_results(hop *h, operands *out) {
    const char *text;
    bool is_list;
    IG_TRY(ig_pt2_results(h->source, h->scope, h->node, &text, &is_list));
    char *at = ig_arena_strdup(h->source->arena, text);
    *out = (operands){ IG_NEW_ARRAY(h->source->arena, const char *, strlen(text) + 1),
                       0 };
    for (char *name = strtok(at, ", "); name; name = strtok(NULL, ", ")) {
        out->items[out->count++] = name;
    }
    return IG_OK;
}

static ig_status assign_results(hop *h, const operands *names, const operands *values) {
    if (names->count > values->count) {
        return ig_pt2_error(h->source, IG_INVALID,
                            "%s has %zu results, its graph gives %zu", h->name,
                            names->count, values->count);
    }
    for (size_t i = 0; i < names->count; i++) {
        ig_pt2_line(h->source, "%s = %s", names->items[i], values->items[i]);
    }
    if (names->count == 0) {
        ig_pt2_line(h->source, "pass");
    }
    return IG_OK;
}

/* ---- cond ---- */

static ig_status write_branch(hop *h, size_t graph_index, const operands *given,
                              const operands *names) {
    const ig_json *graph;
    operands values;
    IG_TRY(graph_at(h, graph_index, &graph));
    h->source->indent++;
    IG_TRY(write_graph(h, graph, given, &values));
    IG_TRY(assign_results(h, names, &values));
    h->source->indent--;
    return IG_OK;
}

/* cond(predicate, true graph, false graph, operands) */
static ig_status write_cond(hop *h) {
    const char *predicate;
    operands given, names;
    IG_TRY(ig_pt2_argument(h->source, h->scope, argument_at(h, 0), &predicate));
    IG_TRY(read_operands(h, 3, &given));
    IG_TRY(name_results(h, &names));
    ig_pt2_line(h->source, "if bool(%s):", predicate);
    IG_TRY(write_branch(h, 1, &given, &names));
    ig_pt2_line(h->source, "else:");
    return write_branch(h, 2, &given, &names);
}

/* ---- while_loop ---- */

static operands join_operands(hop *h, const operands *a, const operands *b) {
    operands out = { IG_NEW_ARRAY(h->source->arena, const char *,
                                  a->count + b->count + 1),
                     a->count + b->count };
    memcpy(out.items, a->items, a->count * sizeof *out.items);
    if (b->count) {
        memcpy(out.items + a->count, b->items, b->count * sizeof *out.items);
    }
    return out;
}

static ig_status write_condition(hop *h, const operands *given, const char *name) {
    const ig_json *graph;
    operands values;
    IG_TRY(graph_at(h, 0, &graph));
    IG_TRY(write_graph(h, graph, given, &values));
    if (values.count != 1) {
        return ig_pt2_error(h->source, IG_INVALID, "%s has a condition of %zu values",
                            h->name, values.count);
    }
    ig_pt2_line(h->source, "%s = bool(%s)", name, values.items[0]);
    return IG_OK;
}

/* All new values are computed before the first name changes. */
static ig_status write_step(hop *h, const operands *names, const operands *given) {
    const ig_json *graph;
    operands values;
    IG_TRY(graph_at(h, 1, &graph));
    IG_TRY(write_graph(h, graph, given, &values));
    operands next = { IG_NEW_ARRAY(h->source->arena, const char *, names->count + 1),
                      names->count };
    if (values.count != names->count) {
        return ig_pt2_error(h->source, IG_INVALID,
                            "%s carries %zu values, its body %zu", h->name,
                            names->count, values.count);
    }
    for (size_t i = 0; i < names->count; i++) {
        next.items[i] = ig_pt2_fresh(h->source, "next");
        ig_pt2_line(h->source, "%s = %s", next.items[i], values.items[i]);
    }
    return assign_results(h, names, &next);
}

/* while_loop(condition graph, body graph, carried values, others) */
static ig_status write_while(hop *h) {
    operands carried, others, results;
    IG_TRY(read_list(h, 2, &carried));
    IG_TRY(read_list(h, 3, &others));
    IG_TRY(name_results(h, &results));
    operands names = { IG_NEW_ARRAY(h->source->arena, const char *, carried.count + 1),
                       carried.count };
    for (size_t i = 0; i < carried.count; i++) {
        names.items[i] = ig_pt2_fresh(h->source, "carried");
    }
    operands given = join_operands(h, &names, &others);
    const char *condition = ig_pt2_fresh(h->source, "condition");
    IG_TRY(assign_results(h, &names, &carried));
    IG_TRY(write_condition(h, &given, condition));
    ig_pt2_line(h->source, "while %s:", condition);
    h->source->indent++;
    IG_TRY(write_step(h, &names, &given));
    IG_TRY(write_condition(h, &given, condition));
    h->source->indent--;
    return assign_results(h, &results, &names);
}

/* ---- map and scan ---- */

/* Lists that gather what each trip gives, stacked behind the loop. */
static void start_lists(hop *h, operands *lists, size_t count) {
    *lists = (operands){ IG_NEW_ARRAY(h->source->arena, const char *, count + 1),
                         count };
    for (size_t i = 0; i < count; i++) {
        lists->items[i] = ig_pt2_fresh(h->source, "items");
        ig_pt2_line(h->source, "%s = annotate(List[Tensor], [])", lists->items[i]);
    }
}

static void add_to_lists(hop *h, const operands *lists, const char *const *values) {
    for (size_t i = 0; i < lists->count; i++) {
        ig_pt2_line(h->source, "%s = torch.append(%s, %s)",
                    ig_pt2_fresh(h->source, "unused"), lists->items[i], values[i]);
    }
}

static void stack_lists(hop *h, const operands *lists, const char *const *names) {
    for (size_t i = 0; i < lists->count; i++) {
        ig_pt2_line(h->source, "%s = torch.stack(%s, 0)", names[i], lists->items[i]);
    }
}

/* Slices along axis 0 for trip `trip`. */
static operands slice_operands(hop *h, const operands *from, const char *trip) {
    operands out = { IG_NEW_ARRAY(h->source->arena, const char *, from->count + 1),
                     from->count };
    for (size_t i = 0; i < from->count; i++) {
        out.items[i] = ig_pt2_fresh(h->source, "slice");
        ig_pt2_line(h->source, "%s = torch.select(%s, 0, %s)", out.items[i],
                    from->items[i], trip);
    }
    return out;
}

static const char *start_trips(hop *h, const operands *from) {
    const char *trip = ig_pt2_fresh(h->source, "trip");
    ig_pt2_line(h->source, "for %s in range(torch.size(%s, 0)):", trip, from->items[0]);
    h->source->indent++;
    return trip;
}

/* map_impl(graph, mapped values, others): along axis 0 of all mapped ones. */
static ig_status write_map(hop *h) {
    const ig_json *graph;
    operands mapped, others, results, lists, values;
    IG_TRY(graph_at(h, 0, &graph));
    IG_TRY(read_list(h, 1, &mapped));
    IG_TRY(read_list(h, 2, &others));
    IG_TRY(name_results(h, &results));
    if (mapped.count == 0) {
        return ig_pt2_error(h->source, IG_INVALID, "%s maps nothing", h->name);
    }
    start_lists(h, &lists, results.count);
    const char *trip = start_trips(h, &mapped);
    operands slices = slice_operands(h, &mapped, trip);
    operands given = join_operands(h, &slices, &others);
    IG_TRY(write_graph(h, graph, &given, &values));
    if (values.count < lists.count) {
        return ig_pt2_error(h->source, IG_INVALID, "%s has more results than its graph",
                            h->name);
    }
    add_to_lists(h, &lists, values.items);
    h->source->indent--;
    stack_lists(h, &lists, results.items);
    return IG_OK;
}

/* scan(graph, initial values, scanned values, others): the graph gives the carried
 * values, then what is gathered. */
static ig_status write_scan(hop *h) {
    const ig_json *graph;
    operands initial, scanned, others, results, lists, values;
    IG_TRY(graph_at(h, 0, &graph));
    IG_TRY(read_list(h, 1, &initial));
    IG_TRY(read_list(h, 2, &scanned));
    IG_TRY(read_list(h, 3, &others));
    IG_TRY(name_results(h, &results));
    if (scanned.count == 0 || results.count < initial.count) {
        return ig_pt2_error(h->source, IG_INVALID,
                            "%s scans nothing, or gives too little", h->name);
    }
    operands names = { results.items, initial.count };
    IG_TRY(assign_results(h, &names, &initial));
    start_lists(h, &lists, results.count - initial.count);
    const char *trip = start_trips(h, &scanned);
    operands slices = slice_operands(h, &scanned, trip);
    operands given = join_operands(h, &names, &slices);
    given = join_operands(h, &given, &others);
    IG_TRY(write_graph(h, graph, &given, &values));
    if (values.count != results.count) {
        return ig_pt2_error(h->source, IG_INVALID, "%s gives %zu values, its graph %zu",
                            h->name, results.count, values.count);
    }
    add_to_lists(h, &lists, values.items + initial.count);
    IG_TRY(assign_results(h, &names, &values));
    h->source->indent--;
    stack_lists(h, &lists, results.items + initial.count);
    return IG_OK;
}

/* ---- regions ---- */

/* wrap_with_set_grad_enabled(flag, graph, operands): gradients are none of ours. */
static ig_status write_region(hop *h) {
    size_t at = 0;
    const ig_json *graph;
    operands given, names, values;
    while (at < ig_json_count(h->inputs) &&
           !ig_json_get(argument_at(h, at), "as_graph")) {
        at++;
    }
    IG_TRY(graph_at(h, at, &graph));
    IG_TRY(read_rest(h, at + 1, &given));
    IG_TRY(write_graph(h, graph, &given, &values));
    IG_TRY(name_results(h, &names));
    return assign_results(h, &names, &values);
}

static ig_status write_functionalized(hop *h) {
    return ig_pt2_functionalized(h->source, h->scope, h->name, h->node);
}

static const struct {
    const char *name;
    ig_status (*write)(hop *h);
} rows[] = {
    { "cond", write_cond },
    { "while_loop", write_while },
    { "map_impl", write_map },
    { "map", write_map },
    { "scan", write_scan },
    { "wrap_with_set_grad_enabled", write_region },
    { "hints_wrapper", write_region },
    { "wrap", write_region },
    { "invoke_subgraph", write_region },
    { "auto_functionalized", write_functionalized },
    { "auto_functionalized_v2", write_functionalized },
};

ig_status ig_pt2_higher_order(ig_pt2_source *source, ig_pt2_scope *scope,
                              const char *name, const ig_json *node) {
    hop h = { .source = source,
              .scope = scope,
              .node = node,
              .inputs = ig_json_get(node, "inputs"),
              .name = name };
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        size_t size = strlen(rows[i].name);
        bool is_it = strncmp(name, rows[i].name, size) == 0 &&
                     (name[size] == 0 || name[size] == '.');
        if (is_it) {
            return rows[i].write(&h);
        }
    }
    return ig_pt2_error(source, IG_UNSUPPORTED,
                        "higher-order operator %.100s is not supported yet", name);
}
