/* Higher-order operators: branches, loops, regions.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Their graphs are run where they are used, each in a scope of its own whose inputs are
 * the operands.
 */
#include "frontend/pt2/graph.h"

#include <assert.h>
#include <string.h>

typedef struct hop {
    const ig_pt2_scope *scope; /* around the node */
    ig_ts_eval *eval;
    const ig_json *node;
    const ig_json *inputs;
    const char *name, *node_name;
} hop;

/* ---- arguments of the node ---- */

static const ig_json *argument_at(const hop *h, size_t index) {
    return index < ig_json_count(h->inputs)
               ? ig_json_get(ig_json_at(h->inputs, index), "arg")
               : NULL;
}

static ig_status graph_at(const hop *h, size_t index, const ig_json **out_graph) {
    *out_graph = ig_json_get(ig_json_get(argument_at(h, index), "as_graph"), "graph");
    return *out_graph
               ? IG_OK
               : ig_pt2_error(h->scope, IG_INVALID,
                              "%s lacks a graph as its argument %zu", h->name, index);
}

static ig_pt2_values room_for(const hop *h, size_t count) {
    return (
        ig_pt2_values){ .items = IG_NEW_ARRAY(h->eval->arena, ig_ts_value, count + 1) };
}

/* One argument, a list of which each item is one. */
static ig_status read_list(const hop *h, size_t index, ig_pt2_values *out) {
    const ig_json *list;
    ig_pt2_union(argument_at(h, index), &list);
    *out = room_for(h, ig_json_count(list));
    for (size_t i = 0; i < ig_json_count(list); i++) {
        const ig_json *item = ig_json_at(list, i);
        const char *name = ig_json_text(ig_json_get(item, "name"));
        ig_ts_value *value = &out->items[out->count++];
        IG_TRY(*name ? ig_pt2_get(h->scope, name, value)
                     : ig_pt2_argument(h->scope, item, value));
    }
    return IG_OK;
}

/* All arguments from `first` on. */
static ig_status read_rest(const hop *h, size_t first, ig_pt2_values *out) {
    *out = room_for(h, ig_json_count(h->inputs));
    for (size_t i = first; i < ig_json_count(h->inputs); i++) {
        IG_TRY(ig_pt2_argument(h->scope, argument_at(h, i), &out->items[out->count++]));
    }
    return IG_OK;
}

/* cond and while_loop: a list, or (older) the arguments themselves. */
static ig_status read_operands(const hop *h, size_t index, ig_pt2_values *out) {
    bool is_list = ig_json_get(argument_at(h, index), "as_tensors") ||
                   ig_json_get(argument_at(h, index), "as_optional_tensors") ||
                   ig_json_get(argument_at(h, index), "as_sym_ints");
    return is_list ? read_list(h, index, out) : read_rest(h, index, out);
}

static void append_values(ig_pt2_values *values, const ig_pt2_values *more) {
    if (more->count) {
        memcpy(values->items + values->count, more->items,
               more->count * sizeof *more->items);
    }
    values->count += more->count;
}

/* ---- a graph at its place ---- */

/* Sets the graph's inputs, runs its nodes, and gives its outputs.  `part` tells runs of
 * one graph apart whose names must not be taken for each other's. */
static ig_status run_graph(const hop *h, const ig_json *graph, const char *part,
                           const ig_pt2_values *given, ig_pt2_values *out) {
    const ig_json *inputs = ig_json_get(graph, "inputs");
    const ig_json *outputs = ig_json_get(graph, "outputs");
    ig_pt2_scope scope = { .eval = h->eval,
                           .graph = graph,
                           .depth = h->scope->depth + 1 };
    scope.prefix = ig_arena_printf(h->eval->arena, "%s%s.%s/", h->scope->prefix,
                                   h->node_name, part);
    if (ig_json_count(inputs) != given->count) {
        return ig_pt2_error(h->scope, IG_INVALID,
                            "%s gives %zu operands to a graph of %zu inputs", h->name,
                            given->count, ig_json_count(inputs));
    }
    for (size_t i = 0; i < given->count; i++) {
        ig_pt2_set(&scope, ig_pt2_argument_name(ig_json_at(inputs, i)),
                   given->items[i]);
    }
    IG_TRY(ig_pt2_nodes(&scope));
    *out = room_for(h, ig_json_count(outputs));
    for (size_t i = 0; i < ig_json_count(outputs); i++) {
        IG_TRY(
            ig_pt2_argument(&scope, ig_json_at(outputs, i), &out->items[out->count++]));
    }
    return IG_OK;
}

/* ---- results of the node ---- */

static ig_status set_results(const hop *h, const ig_pt2_values *values) {
    size_t count;
    const char **names = ig_pt2_result_names(h->eval->arena, h->node, &count);
    if (count > values->count) {
        return ig_pt2_error(h->scope, IG_INVALID,
                            "%s has %zu results, its graph gives %zu", h->name, count,
                            values->count);
    }
    for (size_t i = 0; i < count; i++) {
        ig_pt2_set(h->scope, names[i], values->items[i]);
    }
    return IG_OK;
}

static size_t result_count(const hop *h) {
    size_t count;
    ig_pt2_result_names(h->eval->arena, h->node, &count);
    return count;
}

/* ---- cond ---- */

typedef struct cond {
    const hop *h;
    ig_pt2_values given;
} cond;

static ig_status run_branch(const cond *c, size_t index, const char *part) {
    const ig_json *graph;
    ig_pt2_values values;
    IG_TRY(graph_at(c->h, index, &graph));
    IG_TRY(run_graph(c->h, graph, part, &c->given, &values));
    return set_results(c->h, &values);
}

static ig_status run_yes(ig_ts_eval *eval, void *user) {
    (void)eval;
    return run_branch(user, 1, "true");
}

static ig_status run_no(ig_ts_eval *eval, void *user) {
    (void)eval;
    return run_branch(user, 2, "false");
}

/* cond(predicate, true graph, false graph, operands) */
static ig_status run_cond(const hop *h) {
    ig_ts_value predicate, condition;
    cond c = { .h = h };
    IG_TRY(ig_pt2_argument(h->scope, argument_at(h, 0), &predicate));
    IG_TRY(read_operands(h, 3, &c.given));
    IG_TRY(ig_ts_use(h->eval, &predicate));
    IG_TRY(ig_ts_truth(h->eval, &predicate, &condition));
    return ig_ts_branch(h->eval, &condition, run_yes, run_no, &c);
}

/* ---- what loops carry ---- */

/* Values that change from trip to trip are names of the frame. */
typedef struct looping {
    const hop *h;
    const ig_json *graph;
    const char **slots;
    size_t carried, gathered;
    ig_pt2_values scanned, others;
    ig_ts_list **lists; /* of what trips give, to be stacked */
    const char *trip;
    bool gives_carried; /* the gathered values are the carried ones */
} looping;

static void set_carried(const looping *l, const ig_pt2_values *values) {
    for (size_t i = 0; i < l->carried; i++) {
        ig_ts_name_set(l->h->eval, l->h->eval->frame, l->slots[i], values->items[i]);
    }
}

static const char *slot_of(const hop *h, const char *word, size_t index) {
    return ig_pt2_slot(h->scope, ig_arena_printf(h->eval->arena, "%s.%s%zu",
                                                 h->node_name, word, index));
}

static void start_carried(looping *l, const ig_pt2_values *initial) {
    l->carried = initial->count;
    l->slots = IG_NEW_ARRAY(l->h->eval->arena, const char *, l->carried + 1);
    for (size_t i = 0; i < l->carried; i++) {
        l->slots[i] = slot_of(l->h, "carried", i);
    }
    set_carried(l, initial);
}

/* The carried values, with room for `more`. */
static ig_pt2_values get_carried(const looping *l, size_t more) {
    ig_pt2_values out = room_for(l->h, l->carried + more);
    for (size_t i = 0; i < l->carried; i++) {
        const ig_ts_value *value = ig_ts_name_get(l->h->eval->frame, l->slots[i]);
        assert(value && "it was set before the loop");
        out.items[out.count++] = *value;
    }
    return out;
}

/* ---- while_loop ---- */

static ig_status run_condition(const looping *l, const char *part, ig_ts_value *out) {
    const ig_json *graph;
    ig_pt2_values given = get_carried(l, l->others.count), values;
    IG_TRY(graph_at(l->h, 0, &graph));
    append_values(&given, &l->others);
    IG_TRY(run_graph(l->h, graph, part, &given, &values));
    if (values.count != 1) {
        return ig_pt2_error(l->h->scope, IG_INVALID, "%s has a condition of %zu values",
                            l->h->name, values.count);
    }
    IG_TRY(ig_ts_use(l->h->eval, &values.items[0]));
    return ig_ts_truth(l->h->eval, &values.items[0], out);
}

static ig_status run_trip(ig_ts_eval *eval, void *user, ig_ts_value *out_test) {
    const looping *l = user;
    ig_pt2_values given = get_carried(l, l->others.count), values;
    (void)eval;
    append_values(&given, &l->others);
    IG_TRY(run_graph(l->h, l->graph, "body", &given, &values));
    if (values.count != l->carried) {
        return ig_pt2_error(l->h->scope, IG_INVALID,
                            "%s carries %zu values, its body %zu", l->h->name,
                            l->carried, values.count);
    }
    set_carried(l, &values);
    return run_condition(l, "next", out_test);
}

/* while_loop(condition graph, body graph, carried values, others) */
static ig_status run_while(const hop *h) {
    ig_pt2_values carried;
    ig_ts_value condition;
    looping l = { .h = h };
    IG_TRY(read_list(h, 2, &carried));
    IG_TRY(read_list(h, 3, &l.others));
    IG_TRY(graph_at(h, 1, &l.graph));
    start_carried(&l, &carried);
    IG_TRY(run_condition(&l, "first", &condition));
    while (condition.form == IG_TS_KNOWN && condition.as.b) {
        IG_TRY(ig_ts_step(h->eval));
        IG_TRY(run_trip(h->eval, &l, &condition));
    }
    if (condition.form != IG_TS_KNOWN) {
        ig_ts_loop loop = { .run = run_trip, .user = &l };
        IG_TRY(ig_ts_number_read(h->eval, &condition, &loop.condition));
        IG_TRY(ig_ts_loop_build(h->eval, &loop));
    }
    carried = get_carried(&l, 0);
    return set_results(h, &carried);
}

/* ---- map and scan ---- */

static void start_lists(looping *l, size_t count) {
    l->gathered = count;
    l->lists = IG_NEW_ARRAY(l->h->eval->arena, ig_ts_list *, count + 1);
    for (size_t i = 0; i < count; i++) {
        l->lists[i] = ig_pt2_tensor_list(l->h->eval, 0);
    }
}

/* Slices of the scanned tensors, along axis 0. */
static ig_status add_slices(const looping *l, ig_pt2_values *given) {
    const ig_ts_value *trip = ig_ts_name_get(l->h->eval->frame, l->trip);
    assert(trip && "the loop sets it");
    for (size_t i = 0; i < l->scanned.count; i++) {
        ig_ts_value args[] = { l->scanned.items[i], ig_ts_of_int(0), *trip };
        IG_TRY(ig_pt2_call(l->h->scope, "aten::select", args, IG_COUNT_OF(args),
                           &given->items[given->count++]));
    }
    return IG_OK;
}

/* The graph gives the carried values, then the gathered ones. */
static ig_status run_scan_trip(ig_ts_eval *eval, void *user, ig_ts_value *out_test) {
    const looping *l = user;
    ig_pt2_values given, values;
    *out_test = ig_ts_of_bool(true);
    (void)eval;
    given = get_carried(l, l->scanned.count + l->others.count);
    IG_TRY(add_slices(l, &given));
    append_values(&given, &l->others);
    IG_TRY(run_graph(l->h, l->graph, "body", &given, &values));
    size_t first = l->gives_carried ? 0 : l->carried;
    if (values.count < l->carried || values.count < first + l->gathered) {
        return ig_pt2_error(l->h->scope, IG_INVALID,
                            "%s has %zu results, its graph %zu", l->h->name,
                            first + l->gathered, values.count);
    }
    for (size_t i = 0; i < l->gathered; i++) {
        ig_ts_value args[] = { ig_ts_of_list(l->lists[i]), values.items[first + i] };
        ig_ts_value list;
        IG_TRY(ig_pt2_call(l->h->scope, "aten::append", args, 2, &list));
    }
    set_carried(l, &values);
    return IG_OK;
}

static ig_status run_trips(const hop *h, looping *l) {
    ig_ts_value trips, args[] = { l->scanned.items[0], ig_ts_of_int(0) };
    l->trip = slot_of(h, "trip", 0);
    ig_ast target = { .kind = IG_AST_NAME, .as.name = l->trip };
    ig_ts_loop loop = { .target = &target, .run = run_scan_trip, .user = l };
    IG_TRY(graph_at(h, 0, &l->graph));
    IG_TRY(ig_pt2_call(h->scope, "aten::size", args, 2, &trips));
    return ig_ts_run_trips(h->eval, trips, &loop);
}

static ig_status run_scanning(const hop *h, looping *l) {
    IG_TRY(run_trips(h, l));
    ig_pt2_values results = get_carried(l, l->gathered);
    for (size_t i = 0; i < l->gathered; i++) {
        ig_ts_value list[] = { ig_ts_of_list(l->lists[i]), ig_ts_of_int(0) };
        IG_TRY(ig_pt2_call(h->scope, "aten::stack", list, 2,
                           &results.items[results.count++]));
    }
    return set_results(h, &results);
}

/* `first` in front of the items of a list, stacked. */
static ig_status join_first(const hop *h, ig_ts_list *list, const ig_ts_value *first,
                            ig_ts_value *out) {
    ig_ts_value row[] = { *first, ig_ts_of_int(0) };
    ig_ts_value rest[] = { ig_ts_of_list(list), ig_ts_of_int(0) };
    ig_ts_list *parts = ig_pt2_tensor_list(h->eval, 2);
    bool is_alone = !list->poison && list->count == 0;
    IG_TRY(ig_pt2_call(h->scope, "aten::unsqueeze", row, 2, &row[0]));
    ig_ts_list_add(h->eval, parts, row[0]);
    if (!is_alone) {
        IG_TRY(ig_pt2_call(h->scope, "aten::stack", rest, 2, &rest[0]));
        ig_ts_list_add(h->eval, parts, rest[0]);
    }
    ig_ts_value args[] = { ig_ts_of_list(parts), ig_ts_of_int(0) };
    return ig_pt2_call(h->scope, "aten::cat", args, 2, out);
}

/* map_impl(graph, mapped values, others): along axis 0 of all mapped ones. */
static ig_status run_map(const hop *h) {
    looping l = { .h = h };
    IG_TRY(read_list(h, 1, &l.scanned));
    IG_TRY(read_list(h, 2, &l.others));
    if (l.scanned.count == 0) {
        return ig_pt2_error(h->scope, IG_INVALID, "%s maps nothing", h->name);
    }
    start_lists(&l, result_count(h));
    return run_scanning(h, &l);
}

/* scan(graph, initial values, scanned values, others) */
static ig_status run_scan(const hop *h) {
    looping l = { .h = h };
    ig_pt2_values initial;
    size_t results = result_count(h);
    IG_TRY(read_list(h, 1, &initial));
    IG_TRY(read_list(h, 2, &l.scanned));
    IG_TRY(read_list(h, 3, &l.others));
    if (l.scanned.count == 0 || results < initial.count) {
        return ig_pt2_error(
            h->scope, IG_INVALID,
            "%s scans no operand, or has fewer results than carried values", h->name);
    }
    start_carried(&l, &initial);
    start_lists(&l, results - initial.count);
    return run_scanning(h, &l);
}

/* associative_scan(graph, scanned values, others): the first item of each, and from
 * then on what the graph makes of the one before and the next item. */
static ig_status run_associative_scan(const hop *h) {
    looping l = { .h = h, .gives_carried = true };
    ig_pt2_values whole, initial;
    IG_TRY(read_list(h, 1, &whole));
    IG_TRY(read_operands(h, 2, &l.others));
    if (whole.count == 0) {
        return ig_pt2_error(h->scope, IG_INVALID, "%s scans no operand", h->name);
    }
    initial = room_for(h, whole.count);
    l.scanned = room_for(h, whole.count);
    for (size_t i = 0; i < whole.count; i++) {
        ig_ts_value first[] = { whole.items[i], ig_ts_of_int(0), ig_ts_of_int(0) };
        ig_ts_value rest[] = { whole.items[i], ig_ts_of_int(0), ig_ts_of_int(1) };
        IG_TRY(ig_pt2_call(h->scope, "aten::select", first, 3,
                           &initial.items[initial.count++]));
        IG_TRY(ig_pt2_call(h->scope, "aten::slice", rest, 3,
                           &l.scanned.items[l.scanned.count++]));
    }
    start_carried(&l, &initial);
    start_lists(&l, whole.count);
    IG_TRY(run_trips(h, &l));
    ig_pt2_values results = room_for(h, whole.count);
    for (size_t i = 0; i < whole.count; i++) {
        IG_TRY(join_first(h, l.lists[i], &initial.items[i],
                          &results.items[results.count++]));
    }
    return set_results(h, &results);
}

/* ---- regions ---- */

/* wrap_with_set_grad_enabled(flag, graph, operands): gradients are none of ours. */
static ig_status run_region(const hop *h) {
    size_t at = 0;
    const ig_json *graph;
    ig_pt2_values given, values;
    while (at < ig_json_count(h->inputs) &&
           !ig_json_get(argument_at(h, at), "as_graph")) {
        at++;
    }
    IG_TRY(graph_at(h, at, &graph));
    IG_TRY(read_rest(h, at + 1, &given));
    IG_TRY(run_graph(h, graph, "region", &given, &values));
    return set_results(h, &values);
}

static ig_status run_functionalized(const hop *h) {
    return ig_pt2_functionalized(h->scope, h->name, h->node);
}

static const struct {
    const char *name;
    ig_status (*run)(const hop *h);
} rows[] = {
    { "cond", run_cond },
    { "while_loop", run_while },
    { "map_impl", run_map },
    { "map", run_map },
    { "scan", run_scan },
    { "associative_scan", run_associative_scan },
    { "wrap_with_set_grad_enabled", run_region },
    { "hints_wrapper", run_region },
    { "wrap", run_region },
    { "invoke_subgraph", run_region },
    { "auto_functionalized", run_functionalized },
    { "auto_functionalized_v2", run_functionalized },
};

ig_status ig_pt2_higher_order(const ig_pt2_scope *scope, const char *name,
                              const ig_json *node) {
    hop h = { .scope = scope,
              .eval = scope->eval,
              .node = node,
              .inputs = ig_json_get(node, "inputs"),
              .name = name,
              .node_name = scope->eval->frame->node };
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        size_t size = strlen(rows[i].name);
        bool is_it = strncmp(name, rows[i].name, size) == 0 &&
                     (name[size] == 0 || name[size] == '.');
        if (is_it) {
            return rows[i].run(&h);
        }
    }
    return ig_pt2_error(scope, IG_UNSUPPORTED,
                        "higher-order operator %.100s is not supported yet", name);
}
