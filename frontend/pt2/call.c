/* How a program is called: what its signature says, and the trees of its arguments.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/pt2/call.h"

#include "frontend/pt2/codes.h"
#include "frontend/pt2/extent.h"
#include "frontend/pt2/graph.h"
#include "frontend/torch/pickle/dtypes.h"

#include <string.h>

/* Trees grow as the leaves of the arguments are gone through. */
typedef struct grower {
    ig_pt2_program *program;
    const ig_pt2_reader *reader;
    ig_node_list tree; /* of the parameter at hand */
    const char *field; /* the name of the next node; NULL: it has none */
    size_t next_leaf;
} grower;

static void add_node(grower *g, ig_node node) {
    node.name = ig_str_of(g->field ? g->field : "");
    g->field = NULL;
    ig_node_add(g->reader->arena, &g->tree, node);
}

/* ---- types of tensors ---- */

/* Older schemas wrap the meta data. */
static const ig_json *meta_of(const grower *g, const char *name) {
    const ig_json *value = ig_json_get(ig_json_get(g->program->graph, "tensor_values"),
                                       name);
    const ig_json *inner = ig_json_get(value, "meta");
    return inner ? inner : value;
}

static void put_size(const grower *g, const ig_json *size, const char *open_name,
                     ig_writer *out) {
    const ig_json *expr = ig_json_get(ig_json_get(size, "as_expr"), "expr_str");
    int64_t number;
    ig_writer text;
    ig_writer_init(&text, g->reader->arena);
    if (ig_json_int(ig_json_get(size, "as_int"), &number)) {
        ig_put(out, "%lld", (long long)number);
    } else if (ig_pt2_extent(ig_str_of(ig_json_text(expr)), &text)) {
        ig_put_str(out, ig_writer_str(&text));
    } else {
        ig_put(out, "%s", open_name);
    }
}

/* "f32[s0, 16]"; `less`: so many elements fewer along each axis. */
static ig_status add_tensor(grower *g, const char *name, const char *path, int less) {
    const ig_json *meta = meta_of(g, name), *sizes = ig_json_get(meta, "sizes");
    int64_t code;
    ig_writer out;
    const ig_torch_dtype_info *dtype =
        ig_json_int(ig_json_get(meta, "dtype"), &code)
            ? ig_torch_dtype_of_code(ig_pt2_dtype_code(code))
            : NULL;
    if (!dtype || dtype->ir == IG_DT_COUNT) {
        return ig_pt2_report(g->reader, IG_UNSUPPORTED,
                             "input '%s' has an element type that is not supported yet",
                             name);
    }
    ig_writer_init(&out, g->reader->arena);
    ig_put(&out, "%s[", ig_dtypes[dtype->ir].name);
    for (size_t i = 0; i < ig_json_count(sizes); i++) {
        const char *open = ig_arena_printf(g->reader->arena, "%s_d%zu", path, i);
        ig_put(&out, "%s", i ? ", " : "");
        put_size(g, ig_json_at(sizes, i), open, &out);
        if (less) {
            ig_put(&out, " - %d", less);
        }
    }
    if (dtype->is_complex) {
        ig_put(&out, ig_json_count(sizes) ? ", 2" : "2");
        add_node(g, (ig_node){ .kind = IG_NODE_COMPLEX, .count = 1 });
    }
    ig_put_char(&out, ']');
    add_node(g, (ig_node){ .kind = IG_NODE_TENSOR,
                           .is_leaf = true,
                           .text = ig_writer_str(&out) });
    return IG_OK;
}

/* ---- leaves of the arguments ---- */

/* A key, or a constant that a program was exported for. */
static ig_status read_literal(const ig_pt2_reader *reader, const ig_json *value,
                              ig_node *out) {
    *out = (ig_node){ .kind = IG_NODE_NONE };
    if (!value || value->kind == IG_JSON_NULL) {
        return IG_OK;
    }
    if (ig_json_int(value, &out->i)) {
        out->kind = IG_NODE_INT;
    } else if (value->kind == IG_JSON_REAL && ig_json_real(value, &out->f)) {
        out->kind = IG_NODE_FLOAT;
    } else if (value->kind == IG_JSON_BOOL) {
        *out = (ig_node){ .kind = IG_NODE_BOOL, .i = value->as.b };
    } else if (value->kind == IG_JSON_STRING) {
        *out = (ig_node){ .kind = IG_NODE_STR, .text = value->as.text };
    } else {
        return ig_pt2_report(reader, IG_UNSUPPORTED,
                             "an argument is fixed to a value that is not known");
    }
    return IG_OK;
}

static ig_status add_literal(grower *g, const ig_json *value) {
    ig_node node;
    IG_TRY(read_literal(g->reader, value, &node));
    add_node(g, node);
    return IG_OK;
}

ig_status ig_pt2_constant(const ig_pt2_reader *reader, const ig_json *argument,
                          ig_node *out) {
    const ig_json *value, *inner;
    const char *kind = ig_pt2_union(argument, &value);
    bool is_symbolic = ig_str_starts(ig_str_of(kind), "as_sym_");
    if (is_symbolic) {
        ig_pt2_union(value, &inner);
        value = inner;
    }
    return read_literal(reader, strcmp(kind, "as_none") == 0 ? NULL : value, out);
}

static ig_status next_leaf(grower *g, const ig_json **out_leaf) {
    ig_pt2_program *p = g->program;
    if (g->next_leaf == p->leaves.count) {
        return ig_pt2_report(
            g->reader, IG_INVALID,
            "its arguments have more leaves than its graph has inputs");
    }
    *out_leaf = p->leaves.items[g->next_leaf++];
    return IG_OK;
}

/* `parameter` names the leaf where it is one whole; else the graph's name does. */
static ig_status add_leaf(grower *g, const char *parameter) {
    static const struct {
        const char *kind;
        ig_node_kind node;
    } numbers[] = { { "as_sym_int", IG_NODE_INT },
                    { "as_sym_float", IG_NODE_FLOAT },
                    { "as_sym_bool", IG_NODE_BOOL } };
    const ig_json *leaf = NULL;
    ig_node node;
    IG_TRY(next_leaf(g, &leaf));
    const char *name = ig_pt2_argument_name(leaf);
    if (!name) {
        IG_TRY(ig_pt2_constant(g->reader, leaf, &node));
        add_node(g, node);
        return IG_OK;
    }
    for (size_t i = 0; i < IG_COUNT_OF(numbers); i++) {
        if (ig_json_get(leaf, numbers[i].kind)) {
            add_node(g, (ig_node){ .kind = numbers[i].node, .is_leaf = true });
            return IG_OK;
        }
    }
    return add_tensor(g, name, parameter ? parameter : name, 0);
}

/* ---- TorchRec's objects ---- */

/* A call gives lengths; a program may want offsets, or both. */
static ig_status add_lengths(grower *g) {
    const ig_json *leaves[2] = { NULL, NULL };
    IG_TRY(next_leaf(g, &leaves[0]));
    IG_TRY(next_leaf(g, &leaves[1]));
    const char *lengths = ig_pt2_argument_name(leaves[0]);
    const char *offsets = ig_pt2_argument_name(leaves[1]);
    if (!lengths && !offsets) {
        return ig_pt2_report(g->reader, IG_INVALID,
                             "an argument has neither lengths nor offsets");
    }
    return lengths ? add_tensor(g, lengths, lengths, 0)
                   : add_tensor(g, offsets, offsets, 1);
}

static ig_status add_list(grower *g, const ig_json *list) {
    size_t count = ig_json_count(list);
    add_node(g, (ig_node){ .kind = IG_NODE_LIST, .count = (uint32_t)count });
    for (size_t i = 0; i < count; i++) {
        IG_TRY(add_literal(g, ig_json_at(list, i)));
    }
    return IG_OK;
}

/* The tree has the fields in the order of the class's constructor. */
static ig_status add_jagged(grower *g, const ig_pt2_spec *spec) {
    const ig_pt2_jagged *class = spec->jagged;
    size_t fixed = 0, first = g->next_leaf;
    size_t own = class->is_keyed_tensor ? 1 : IG_PT2_JAGGED_ITEMS;
    uint32_t at = (uint32_t)g->tree.count;
    add_node(g, (ig_node){ .kind = class->node });
    for (; fixed < IG_COUNT_OF(class->fixed) && class->fixed[fixed]; fixed++) {
        g->field = class->fixed[fixed];
        IG_TRY(add_list(g, spec->keys[fixed]));
    }
    g->tree.items[at].count = (uint32_t)fixed + (class->is_keyed_tensor ? 1 : 3);
    g->field = "values";
    IG_TRY(add_leaf(g, NULL));
    if (!class->is_keyed_tensor) {
        g->field = "lengths";
        g->next_leaf = first + IG_PT2_LENGTHS;
        IG_TRY(add_lengths(g));
        g->field = "weights";
        g->next_leaf = first + IG_PT2_WEIGHTS;
        IG_TRY(add_leaf(g, NULL));
    }
    g->next_leaf = first + own;
    for (size_t i = own; i < spec->count; i++) {
        const ig_json *leaf = NULL;
        IG_TRY(next_leaf(g, &leaf));
        if (!ig_json_get(leaf, "as_none")) {
            return ig_pt2_report(g->reader, IG_UNSUPPORTED, IG_PT2_OTHER_PARTS,
                                 class->class_name);
        }
    }
    return IG_OK;
}

/* ---- trees of arguments ---- */

static ig_status add_tree(grower *g, const ig_pt2_spec *spec, const char *parameter) {
    static const ig_node_kind kinds[] = { [IG_PT2_TUPLE] = IG_NODE_TUPLE,
                                          [IG_PT2_LIST] = IG_NODE_LIST,
                                          [IG_PT2_DICT] = IG_NODE_DICT,
                                          [IG_PT2_RECORD] = IG_NODE_RECORD };
    if (spec->kind == IG_PT2_LEAF) {
        return add_leaf(g, parameter);
    }
    if (spec->kind == IG_PT2_JAGGED) {
        return add_jagged(g, spec);
    }
    ig_node node = { .kind = kinds[spec->kind], .count = (uint32_t)spec->count };
    node.count *= spec->kind == IG_PT2_DICT ? 2 : 1;
    node.text = ig_str_of(spec->kind == IG_PT2_RECORD ? spec->class_name : "");
    add_node(g, node);
    for (size_t i = 0; i < spec->count; i++) {
        if (spec->kind == IG_PT2_DICT) {
            IG_TRY(add_literal(g, spec->keys[i]));
        }
        g->field = spec->kind == IG_PT2_RECORD ? ig_json_text(spec->keys[i]) : NULL;
        IG_TRY(add_tree(g, &spec->items[i], NULL));
    }
    return IG_OK;
}

/* ---- the parameters of forward ---- */

/* Of positional arguments the names may be told; keywords are keys. */
static const char *parameter_name(const ig_pt2_program *p, const ig_json *names,
                                  const ig_pt2_spec *group, size_t index) {
    bool is_keyword = group == &p->in.items[1];
    const ig_json *given = is_keyword && group->keys ? group->keys[index]
                           : !is_keyword && index < ig_json_count(names)
                               ? ig_json_at(names, index)
                               : NULL;
    const char *name = ig_json_text(given);
    return *name ? name : ig_arena_printf(p->reader.arena, "arg%zu", index);
}

static ig_status read_parameters(grower *g, const ig_json *names) {
    ig_pt2_program *p = g->program;
    for (size_t k = 0; k < p->in.count; k++) {
        const ig_pt2_spec *group = &p->in.items[k];
        for (size_t i = 0; i < group->count; i++) {
            const char *name = parameter_name(p, names, group, i);
            g->tree = (ig_node_list){ 0 };
            IG_TRY(add_tree(g, &group->items[i], name));
            IG_PUSH(g->reader->arena, &p->parameters, name);
            IG_PUSH(g->reader->arena, &p->trees, g->tree);
        }
    }
    return g->next_leaf == p->leaves.count
               ? IG_OK
               : ig_pt2_report(
                     g->reader, IG_INVALID,
                     "its graph has more inputs than its arguments have leaves");
}

/* ---- the graph's inputs ---- */

static void add_held(ig_pt2_program *p, const char *name, const ig_json *attribute) {
    ig_pt2_held one = { name, ig_json_text(attribute) };
    IG_PUSH(p->reader.arena, &p->held, one);
}

/* Parameters, buffers and constants: how their name in the module is said. */
static const ig_json *held_attribute(const ig_json *spec, const ig_json **out_held) {
    static const struct {
        const char *kind, *key;
    } rows[] = { { "parameter", "parameter_name" },
                 { "buffer", "buffer_name" },
                 { "tensor_constant", "tensor_constant_name" },
                 { "custom_obj", "custom_obj_name" } };
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        *out_held = ig_json_get(spec, rows[i].kind);
        if (*out_held) {
            return ig_json_get(*out_held, rows[i].key);
        }
    }
    return NULL;
}

static ig_status read_input(ig_pt2_program *p, const ig_json *spec, size_t index) {
    const ig_json *held, *attribute = held_attribute(spec, &held);
    const ig_json *user = ig_json_get(spec, "user_input");
    const ig_json *constant = ig_json_get(spec, "constant_input");
    if (held) {
        add_held(p, ig_json_text(ig_json_get(ig_json_get(held, "arg"), "name")),
                 attribute);
    } else if (user || constant) {
        IG_PUSH(p->reader.arena, &p->leaves,
                user ? ig_json_get(user, "arg") : ig_json_get(constant, "value"));
    } else if (!ig_json_get(spec, "token")) {
        return ig_pt2_report(&p->reader, IG_UNSUPPORTED,
                             "input %zu of its graph is of a kind that is not known",
                             index);
    }
    return IG_OK;
}

/* Signatures of torch 2.1 and 2.2: names by kind instead of specs. */
static void read_old_input(ig_pt2_program *p, const ig_json *argument) {
    static const char *const tables[] = { "inputs_to_parameters", "inputs_to_buffers",
                                          "inputs_to_lifted_tensor_constants" };
    const char *name = ig_pt2_argument_name(argument);
    const ig_json *held = NULL;
    for (size_t t = 0; name && t < IG_COUNT_OF(tables) && !held; t++) {
        held = ig_json_get(ig_json_get(p->signature, tables[t]), name);
    }
    if (held) {
        add_held(p, name, held);
    } else {
        IG_PUSH(p->reader.arena, &p->leaves, argument);
    }
}

static ig_status read_inputs(ig_pt2_program *p) {
    const ig_json *specs = ig_json_get(p->signature, "input_specs");
    const ig_json *inputs = ig_json_get(p->graph, "inputs");
    for (size_t i = 0; i < ig_json_count(specs); i++) {
        IG_TRY(read_input(p, ig_json_at(specs, i), i));
    }
    for (size_t i = 0; !specs && i < ig_json_count(inputs); i++) {
        read_old_input(p, ig_json_at(inputs, i));
    }
    return IG_OK;
}

/* ---- its results ---- */

static ig_status read_output(ig_pt2_program *p, const ig_json *spec) {
    static const struct {
        const char *kind, *key;
        bool is_input;
    } rows[] = { { "user_output", "", false },
                 { "loss_output", "", false },
                 { "buffer_mutation", "buffer_name", false },
                 { "parameter_mutation", "parameter_name", false },
                 { "user_input_mutation", "user_input_name", true } };
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        const ig_json *found = ig_json_get(spec, rows[i].kind);
        if (found) {
            const ig_json *arg = ig_json_get(found, "arg");
            ig_pt2_output one = { .is_input = rows[i].is_input };
            one.leaf = *rows[i].key ? NULL : arg;
            one.value = ig_json_text(ig_json_get(arg, "name"));
            one.target = ig_json_text(ig_json_get(found, rows[i].key));
            IG_PUSH(p->reader.arena, &p->outputs, one);
            return IG_OK;
        }
    }
    return ig_json_get(spec, "token")
               ? IG_OK
               : ig_pt2_report(&p->reader, IG_UNSUPPORTED,
                               "an output of its graph is of a kind that is not known");
}

static ig_status read_outputs(ig_pt2_program *p) {
    const ig_json *specs = ig_json_get(p->signature, "output_specs");
    const ig_json *outputs = ig_json_get(p->graph, "outputs");
    const ig_json *mutated = ig_json_get(p->signature, "buffers_to_mutate");
    size_t leaves = 0;
    for (size_t i = 0; i < ig_json_count(specs); i++) {
        IG_TRY(read_output(p, ig_json_at(specs, i)));
    }
    for (size_t i = 0; !specs && i < ig_json_count(outputs); i++) {
        const ig_json *argument = ig_json_at(outputs, i);
        ig_pt2_output one = { .value = ig_pt2_argument_name(argument) };
        const ig_json *buffer = one.value ? ig_json_get(mutated, one.value) : NULL;
        one.target = ig_json_text(buffer);
        one.leaf = buffer ? NULL : argument;
        IG_PUSH(p->reader.arena, &p->outputs, one);
    }
    for (size_t i = 0; i < p->outputs.count; i++) {
        leaves += p->outputs.items[i].leaf != NULL;
    }
    return leaves == ig_pt2_spec_leaves(&p->out)
               ? IG_OK
               : ig_pt2_report(&p->reader, IG_INVALID,
                               "its graph gives %zu results, its result has %zu leaves",
                               leaves, ig_pt2_spec_leaves(&p->out));
}

/* ---- ranges ---- */

/* A range of 2 and more is what torch assumes of every extent, and does not ask for at
 * run time. */
enum { ASSUMED_MIN = 2 };

static void read_ranges(ig_pt2_program *p, const ig_json *ranges) {
    for (size_t i = 0; i < ig_json_count(ranges); i++) {
        const ig_json *range = ig_json_at(ranges, i);
        int64_t min, max;
        ig_writer extent;
        ig_writer_init(&extent, p->reader.arena);
        ig_json_int(ig_json_get(range, "min_val"), &min);
        bool has_max = ig_json_int(ig_json_get(range, "max_val"), &max) && max >= 0;
        if (!ig_pt2_extent(ranges->as.list.keys[i], &extent)) {
            continue;
        }
        ig_ts_range one = { .extent = extent.data,
                            .min = min > ASSUMED_MIN ? min : 0,
                            .max = has_max ? max : INT64_MAX };
        IG_PUSH(p->reader.arena, &p->ranges, one);
    }
}

/* ---- the whole ---- */

static ig_status read_specs(ig_pt2_program *p, const ig_json *module,
                            const ig_json **out_names) {
    const ig_json *calls = ig_json_get(module, "module_call_graph");
    const ig_json *signature = ig_json_count(calls)
                                   ? ig_json_get(ig_json_at(calls, 0), "signature")
                                   : NULL;
    const char *in_text = ig_json_text(ig_json_get(signature, "in_spec"));
    const char *out_text = ig_json_text(ig_json_get(signature, "out_spec"));
    *out_names = ig_json_get(signature, "forward_arg_names");
    IG_TRY(ig_pt2_read_spec(&p->reader, ig_str_of(in_text), p->records, &p->in));
    IG_TRY(ig_pt2_read_spec(&p->reader, ig_str_of(out_text), p->records, &p->out));
    return p->in.count == 2
               ? IG_OK
               : ig_pt2_report(
                     &p->reader, IG_INVALID,
                     "the tree of its arguments is not a pair of a tuple and a dict");
}

ig_status ig_pt2_read_call(ig_pt2_program *program, const ig_json *exported) {
    const ig_json *module = ig_json_get(exported, "graph_module"), *names;
    grower g = { .program = program, .reader = &program->reader };
    program->graph = ig_json_get(module, "graph");
    program->signature = ig_json_get(module, "signature");
    program->records = ig_json_get(module, "treespec_namedtuple_fields");
    if (!program->graph || !program->signature) {
        return ig_pt2_report(&program->reader, IG_INVALID, "the program has no graph");
    }
    IG_TRY(read_specs(program, module, &names));
    read_ranges(program, ig_json_get(exported, "range_constraints"));
    IG_TRY(read_inputs(program));
    IG_TRY(read_parameters(&g, names));
    return read_outputs(program);
}
