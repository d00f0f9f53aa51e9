/* If.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A value of the IR has one rank, but branches may give different ones; exporters that
 * do not know ranks squeeze so:
 *
 *     q = If(Shape(x)[0] == 1) { Squeeze(x) } else { x }         y = ReduceSum(q)
 *
 * Where nothing decides here which branch is taken, the nodes that read such a value go
 * on in both branches, up to where the ranks are the same again:
 *
 *     y = if (…) { ReduceSum(Squeeze(x)) } else { ReduceSum(x) }
 *
 * Results that still have two ranks at the end of the graph may be levelled (ranks.c);
 * reading it is an error otherwise.  The graph's result is a tensor of any rank.
 */
#include "frontend/onnx/import/loop.h"
#include "frontend/onnx/ops/hooks.h"

/* ---- branches ---- */

typedef struct branches {
    const Onnx__GraphProto *graphs[2];
    ig_value **results[2];
    ig_builder builders[2];
} branches;

static ig_status build_branch(ig_onnx_node *node, branches *b, uint32_t index) {
    ig_onnx_import *import = node->import;
    const char *names[] = { "then_branch", "else_branch" };
    ig_onnx_scope *outer, scope;
    const Onnx__GraphProto *graph = ig_onnx_attr_graph(node, names[index], &outer);
    const char *label = graph->name && graph->name[0] ? graph->name : names[index];
    ig_onnx_scope_init(&scope, import, outer, label);
    b->graphs[index] = graph;
    scope.builder = &b->builders[index];
    b->results[index] = IG_NEW_ARRAY(import->arena, ig_value *, graph->n_output);
    if (graph->n_input > 0) {
        return ig_onnx_fail(node, IG_INVALID, "%s has inputs; a branch takes none",
                            names[index]);
    }
    if (graph->n_output != node->output_count) {
        return ig_onnx_fail(node, IG_INVALID, "%s has %zu outputs, but the node has %u",
                            names[index], graph->n_output, node->output_count);
    }
    IG_TRY(ig_onnx_import_body(&scope, graph, b->results[index]));
    for (size_t i = 0; i < graph->n_output; i++) {
        if (!b->results[index][i]) {
            return import->worst; /* reported where it is flawed */
        }
    }
    return IG_OK;
}

/* One type for result `i`, called `name`; an untyped empty value takes the other
 * branch's. */
static ig_status join_results(ig_onnx_node *node, branches *b, uint32_t i,
                              const char *name, ig_value *result) {
    ig_onnx_import *import = node->import;
    bool is_open[2];
    for (uint32_t k = 0; k < 2; k++) {
        is_open[k] = ig_onnx_is_untyped(import, b->results[k][i]);
    }
    for (uint32_t k = 0; k < 2; k++) {
        const ig_value *other = b->results[1 - k][i];
        if (is_open[k] && !is_open[1 - k] && other->type->element) {
            IG_TRY(
                ig_onnx_settle(node, &b->builders[k], other->type, &b->results[k][i]));
        }
    }
    ig_value **values[] = { &b->results[0][i], &b->results[1][i] };
    IG_TRY(ig_onnx_level_ranks(node, b->builders, values, result));
    const ig_type *type;
    IG_TRY(ig_onnx_join_types(node, name, b->results[0][i]->type,
                              b->results[1][i]->type, &type));
    ig_value_retype(result, type);
    ig_onnx_set_untyped(import, result, is_open[0] && is_open[1]);
    return IG_OK;
}

/* ---- which branch ---- */

/* A constant, or whether something is not so. */
static ig_truth decide_constant(const ig_value *value) {
    double number;
    bool is_wanted = true;
    for (const ig_op *no; (no = ig_def(value, IG_OP_not)) != NULL;) {
        value = no->operands[0].value;
        is_wanted = !is_wanted;
    }
    if (!ig_constant_f64(value, &number)) {
        return IG_MAYBE;
    }
    return (number != 0) == is_wanted ? IG_YES : IG_NO;
}

/* Whether an extent equals another is often known here: exporters that do not know
 * ranks ask before they squeeze, and then the branches differ in rank. */
static ig_truth decide_branch(const ig_onnx_node *node) {
    const ig_op *eq = ig_def(node->inputs[0], IG_OP_eq);
    ig_dims_value a, b;
    ig_truth known = decide_constant(node->inputs[0]);
    if (known != IG_MAYBE) {
        return known;
    }
    if (!eq || !ig_value_dims(eq->operands[0].value, &a) ||
        !ig_value_dims(eq->operands[1].value, &b) || a.count != 1 || b.count != 1) {
        return IG_MAYBE;
    }
    return ig_dim_equal(node->import->module, a.dims[0], b.dims[0]);
}

/* The branch that is taken replaces the node. */
static ig_status import_branch(ig_onnx_node *node, uint32_t index) {
    branches b = { .builders = { *node->builder, *node->builder } };
    IG_TRY(build_branch(node, &b, index));
    for (uint32_t i = 0; i < node->output_count; i++) {
        node->outputs[i] = b.results[index][i];
    }
    return IG_OK;
}

/* ---- nodes that go on in both branches ---- */

typedef struct split {
    ig_onnx_node *node;
    const ig_onnx_walk *walk;
    branches *both;
    ig_onnx_scope sides[2];
    bool *depends;   /* nodes that read the branches' results, or values made of them */
    bool *differs;   /* of these, nodes with a result of two ranks */
    bool *is_wanted; /* all false but while one node and its sources are taken */
    IG_VEC(size_t) taken; /* in the order in which they were built */
} split;

static bool differ_in_rank(const ig_value *a, const ig_value *b) {
    return a->type->kind == IG_TENSOR && b->type->kind == IG_TENSOR &&
           a->type->dtype == b->type->dtype && a->type->rank != b->type->rank;
}

static bool reads_one_of(const ig_onnx_walk *walk, size_t index, const bool *nodes) {
    for (size_t r = walk->starts[index]; r < walk->starts[index + 1]; r++) {
        if (nodes[walk->reads[r]]) {
            return true;
        }
    }
    return false;
}

static void begin_split(split *s, ig_onnx_node *node, branches *b) {
    ig_arena *arena = node->import->arena;
    const ig_onnx_walk *walk = node->scope->walk;
    size_t count = walk->nodes.count, self = node->where.node_id - 1;
    *s = (split){ .node = node, .walk = walk, .both = b };
    s->depends = IG_NEW_ARRAY(arena, bool, count);
    s->differs = IG_NEW_ARRAY(arena, bool, count);
    s->is_wanted = IG_NEW_ARRAY(arena, bool, count);
    s->depends[self] = s->differs[self] = true;
    for (size_t i = 0; i < count; i++) { /* each comes after its operands */
        size_t index = walk->order[i];
        s->depends[index] |= reads_one_of(walk, index, s->depends);
    }
    for (uint32_t k = 0; k < 2; k++) {
        ig_onnx_scope_init(&s->sides[k], node->import, node->scope, node->scope->label);
        s->sides[k].builder = &b->builders[k];
        for (uint32_t i = 0; i < node->output_count; i++) {
            if (node->proto->output[i][0]) {
                ig_onnx_define_value(&s->sides[k], node->proto->output[i],
                                     b->results[k][i], "a branch");
            }
        }
    }
}

/* The node in both branches. */
static ig_status take_node(split *s, size_t index) {
    const Onnx__NodeProto *proto = s->walk->nodes.items[index];
    for (uint32_t k = 0; k < 2; k++) {
        IG_TRY(ig_onnx_import_at(&s->sides[k], s->walk->nodes, index));
    }
    for (size_t i = 0; i < proto->n_output; i++) {
        if (!proto->output[i][0]) {
            continue;
        }
        const ig_onnx_name *a = ig_onnx_find(&s->sides[0], proto->output[i]);
        const ig_onnx_name *b = ig_onnx_find(&s->sides[1], proto->output[i]);
        if (!a || !b || !a->value || !b->value) {
            return s->node->import->worst; /* reported where it is flawed */
        }
        s->differs[index] |= differ_in_rank(a->value, b->value);
    }
    IG_PUSH(s->node->import->arena, &s->taken, index);
    return IG_OK;
}

/* Marks the unbuilt nodes that the node at `place` of the order reads from, and those
 * that they read from; the first place of all. */
static size_t want_sources(split *s, size_t position) {
    const ig_onnx_walk *walk = s->walk;
    size_t first = position, wanted = 1;
    s->is_wanted[walk->order[position]] = true;
    /* Where nodes form a cycle, a source may come after. */
    for (size_t i = position + 1; i > 0 && wanted > 0; i--) {
        size_t index = walk->order[i - 1];
        if (!s->is_wanted[index]) {
            continue;
        }
        first = i - 1;
        wanted--;
        for (size_t r = walk->starts[index]; r < walk->starts[index + 1]; r++) {
            size_t source = walk->reads[r];
            if (!walk->is_done[source] && !s->is_wanted[source]) {
                s->is_wanted[source] = true;
                wanted++;
            }
        }
    }
    return first;
}

/* The node at `place`, and before it its unbuilt sources: in the
 * branches too where it depends on them, else in front of them. */
static ig_status take_with_sources(split *s, size_t position) {
    const ig_onnx_walk *walk = s->walk;
    for (size_t i = want_sources(s, position); i <= position; i++) {
        size_t index = walk->order[i];
        if (!s->is_wanted[index]) {
            continue;
        }
        s->is_wanted[index] = false;
        walk->is_done[index] = true;
        IG_TRY(s->depends[index]
                   ? take_node(s, index)
                   : ig_onnx_import_at(s->node->scope, walk->nodes, index));
    }
    return ig_context_poll(s->node->import->context);
}

static ig_status take_readers(split *s) {
    for (size_t i = 0; i < s->walk->nodes.count; i++) {
        size_t index = s->walk->order[i];
        if (!s->walk->is_done[index] && reads_one_of(s->walk, index, s->differs)) {
            IG_TRY(take_with_sources(s, i));
        }
    }
    return IG_OK;
}

/* ---- the if ---- */

/* An `if` whose results have types that are set when the branches are known. */
static ig_op *make_if(const ig_onnx_node *node, ig_value *cond, uint32_t count) {
    const ig_type *unknown = ig_type_tensor(node->import->module, IG_DT_f32, 0, NULL);
    const ig_type **types = IG_NEW_ARRAY(node->import->arena, const ig_type *,
                                         count + 1u);
    for (uint32_t i = 0; i < count; i++) {
        types[i] = unknown;
    }
    ig_op_spec spec = { .operands = &cond,
                        .operand_count = 1,
                        .result_types = types,
                        .result_count = count };
    return ig_expr_op(node->e, IG_OP_if, &spec);
}

/* Types of the results, called `names`, and the ends of both branches.  A result whose
 * name is NULL is one of any rank. */
static ig_status finish_if(ig_onnx_node *node, branches *b, ig_op *op,
                           const char *const *names) {
    for (uint32_t i = 0; i < op->result_count; i++) {
        if (names[i]) {
            IG_TRY(join_results(node, b, i, names[i], &op->results[i]));
            continue;
        }
        ig_dtype dtype = (ig_dtype)b->results[0][i]->type->dtype;
        ig_value_retype(&op->results[i], ig_type_any(node->import->module, dtype));
    }
    for (uint32_t k = 0; k < 2; k++) {
        ig_make_yield(&b->builders[k], b->results[k], op->result_count);
    }
    return IG_OK;
}

/* A result of the branches, by name. */
typedef struct joined {
    const char *name;
    size_t node; /* that makes it */
    ig_value *values[2];
    bool is_one;    /* both sides can be one value */
    bool is_either; /* of two ranks, and an output */
} joined;

typedef IG_VEC(joined) joined_list;

static void list_results(const split *s, size_t index, joined_list *list) {
    const Onnx__NodeProto *proto = s->walk->nodes.items[index];
    for (size_t i = 0; i < proto->n_output; i++) {
        joined entry = { .name = proto->output[i], .node = index };
        if (!entry.name[0]) {
            continue;
        }
        for (uint32_t k = 0; k < 2; k++) {
            entry.values[k] = ig_onnx_find(&s->sides[k], entry.name)->value;
        }
        const ig_type *a = entry.values[0]->type, *b = entry.values[1]->type;
        bool differ = differ_in_rank(entry.values[0], entry.values[1]);
        entry.is_either = differ &&
                          ig_map_get(&s->node->scope->outputs, ig_str_of(entry.name));
        entry.is_one = !differ || ig_onnx_can_level(s->node->import->module, a, b);
        IG_PUSH(s->node->import->arena, list, entry);
    }
}

/* Names of the nodes that were built in the branches, as seen after them. */
static void define_joined(const split *s, const joined *entry, ig_value *value,
                          ig_value *either) {
    ig_onnx_node *node = s->node;
    size_t self = node->where.node_id - 1;
    for (uint32_t i = 0; entry->node == self && i < node->output_count; i++) {
        if (ig_str_is(ig_str_of(node->proto->output[i]), entry->name)) {
            node->outputs[i] = value;
            node->either[i] = either;
            node->ranks_differ |= !value;
            return;
        }
    }
    ig_onnx_name what = { .value = value,
                          .node = s->walk->nodes.items[entry->node],
                          .index = (uint32_t)entry->node,
                          .ranks_differ = !value,
                          .either = either };
    ig_onnx_define(node->scope, entry->name, &what);
}

static uint32_t count_joined(const joined_list *list) {
    uint32_t count = 0;
    for (size_t i = 0; i < list->count; i++) {
        count += (uint32_t)list->items[i].is_one + (uint32_t)list->items[i].is_either;
    }
    return count;
}

/* What both branches yield, and the names of it for finish_if. */
static void fill_joined(split *s, const joined_list *list, const char **names) {
    ig_arena *arena = s->node->import->arena;
    uint32_t room = count_joined(list);
    for (uint32_t k = 0; k < 2; k++) {
        ig_value **results = IG_NEW_ARRAY(arena, ig_value *, room);
        uint32_t count = 0;
        for (size_t i = 0; i < list->count; i++) {
            const joined *entry = &list->items[i];
            if (entry->is_one) {
                names[count] = entry->name;
                results[count++] = entry->values[k];
            }
            if (entry->is_either) {
                names[count] = NULL;
                results[count++] = entry->values[k];
            }
        }
        s->both->results[k] = results;
    }
}

/* An `if` in place of `old`, after all that its branches read and with the results of
 * the nodes that were taken. */
static ig_status close_split(split *s, ig_op *old) {
    ig_onnx_node *node = s->node;
    ig_arena *arena = node->import->arena;
    joined_list list = { 0 };
    list_results(s, node->where.node_id - 1, &list);
    for (size_t i = 0; i < s->taken.count; i++) {
        list_results(s, s->taken.items[i], &list);
    }
    node->builder->loc = old->loc;
    ig_op *op = make_if(node, old->operands[0].value, count_joined(&list));
    IG_TRY(node->e->status);
    for (uint32_t k = 0; k < 2; k++) {
        while (old->bodies[k]->first) {
            ig_op_move(old->bodies[k]->first, op->bodies[k], NULL);
        }
        s->both->builders[k] = ig_builder_at_end(op->bodies[k]);
        s->both->builders[k].loc = op->loc;
    }
    const char **names = IG_NEW_ARRAY(arena, const char *, op->result_count);
    fill_joined(s, &list, names);
    IG_TRY(finish_if(node, s->both, op, names));
    ig_op_erase(old);
    node->either = IG_NEW_ARRAY(arena, ig_value *, node->output_count);
    ig_value *next = op->results;
    for (size_t i = 0; i < list.count; i++) {
        ig_value *value = list.items[i].is_one ? next++ : NULL;
        ig_value *either = list.items[i].is_either ? next++ : NULL;
        define_joined(s, &list.items[i], value, either);
    }
    return IG_OK;
}

/* Has a result that must not be read by what cannot see both branches? */
static bool is_split(const ig_onnx_node *node, const branches *b) {
    const ig_onnx_walk *walk = node->scope->walk;
    for (uint32_t i = 0; walk && !walk->is_split && i < node->output_count; i++) {
        if (differ_in_rank(b->results[0][i], b->results[1][i])) {
            return true;
        }
    }
    return false;
}

static ig_status import_split(ig_onnx_node *node, branches *b, ig_op *op) {
    split s;
    begin_split(&s, node, b);
    node->scope->walk->is_split = true;
    ig_status status = take_readers(&s);
    node->scope->walk->is_split = false;
    IG_TRY(status);
    return close_split(&s, op);
}

ig_status ig_onnx_import_if(ig_onnx_node *node) {
    ig_truth truth = decide_branch(node);
    if (truth != IG_MAYBE) {
        return import_branch(node, truth == IG_YES ? 0 : 1);
    }
    ig_value *cond = ig_onnx_one_element(node->e, node->inputs[0], IG_DT_bool,
                                         "the condition");
    ig_op *op = make_if(node, cond, node->output_count);
    IG_TRY(node->e->status);
    branches b = { 0 };
    for (uint32_t k = 0; k < 2; k++) {
        b.builders[k] = ig_builder_at_end(op->bodies[k]);
        b.builders[k].loc = op->loc;
    }
    ig_status status = build_branch(node, &b, 0);
    ig_status other = build_branch(node, &b, 1); /* defects of both are reported */
    IG_TRY(status);
    IG_TRY(other);
    if (is_split(node, &b)) {
        return import_split(node, &b, op);
    }
    for (uint32_t i = 0; i < node->output_count; i++) {
        node->outputs[i] = &op->results[i];
    }
    return finish_if(node, &b, op, (const char *const *)node->proto->output);
}
