/* How a program is called: the trees of its arguments and of its result.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/pt2/call.h"

#include "frontend/pt2/codes.h"
#include "frontend/pt2/extent.h"
#include "frontend/pt2/spec.h"
#include "frontend/torch/pickle/dtypes.h"

#include <assert.h>
#include <string.h>

typedef struct writer {
    ig_pt2_source *source;
    ig_pt2_scope scope;
    ig_pt2_call *call;
    const ig_json *graph, *signature;
    const ig_json *records; /* fields of named tuples */
    /* User inputs in order: the specs; and how far their leaves have been taken. */
    const ig_json **leaves;
    size_t leaf_count, next_leaf;
    IG_VEC(const char *) records_written;
} writer;

/* ---- types of tensors ---- */

/* Older schemas wrap the meta data. */
static const ig_json *meta_of(const writer *w, const char *name) {
    const ig_json *value = ig_json_get(ig_json_get(w->graph, "tensor_values"), name);
    const ig_json *inner = ig_json_get(value, "meta");
    return inner ? inner : value;
}

static void put_size(const writer *w, const ig_json *size, const char *open_name,
                     ig_writer *out) {
    const ig_json *expr = ig_json_get(ig_json_get(size, "as_expr"), "expr_str");
    int64_t number;
    ig_writer text;
    ig_writer_init(&text, w->source->arena);
    if (ig_json_int(ig_json_get(size, "as_int"), &number)) {
        ig_put(out, "%lld", (long long)number);
    } else if (ig_pt2_extent(ig_str_of(ig_json_text(expr)), &text)) {
        ig_put_str(out, ig_writer_str(&text));
    } else {
        ig_put(out, "%s", open_name);
    }
}

/* "f32[s0, 16]"; `less`: so many elements fewer along each axis. */
static ig_status put_type(const writer *w, const char *name, const char *path, int less,
                          ig_writer *out) {
    const ig_json *meta = meta_of(w, name), *sizes = ig_json_get(meta, "sizes");
    int64_t code;
    const ig_torch_dtype_info *dtype =
        ig_json_int(ig_json_get(meta, "dtype"), &code)
            ? ig_torch_dtype_of_code(ig_pt2_dtype_code(code))
            : NULL;
    if (!dtype || dtype->ir == IG_DT_COUNT) {
        return ig_pt2_error(w->source, IG_UNSUPPORTED,
                            "input '%s' has an element type that is not supported yet",
                            name);
    }
    ig_put(out, "%s%s[", dtype->is_complex ? "complex(" : "",
           ig_dtypes[dtype->ir].name);
    for (size_t i = 0; i < ig_json_count(sizes); i++) {
        const char *open = ig_arena_printf(w->source->arena, "%s_d%zu", path, i);
        ig_put(out, "%s", i ? ", " : "");
        put_size(w, &sizes->as.list.items[i], open, out);
        if (less) {
            ig_put(out, " - %d", less);
        }
    }
    ig_put(out, "%s",
           !dtype->is_complex     ? "]"
           : ig_json_count(sizes) ? ", 2])"
                                  : "2])");
    return IG_OK;
}

/* ---- leaves of the arguments ---- */

/* What the program was made for must be what it is called with. */
static void check_constant(writer *w, const char *path, const char *value) {
    bool is_none = strcmp(value, "None") == 0;
    const char *text = ig_arena_printf(
        w->source->arena, "argument %s must be %s: the program was exported for it",
        path, value);
    ig_writer quoted;
    ig_writer_init(&quoted, w->source->arena);
    ig_put_quoted(&quoted, ig_str_of(text));
    ig_pt2_line(w->source, "if torch.%s(%s, %s):", is_none ? "__isnot__" : "ne", path,
                value);
    ig_pt2_line(w->source, "  ops.prim.RaiseException(%s)", quoted.data);
}

/* Words of the dialect, and what trees call them. */
static const char *tree_word(const char *text) {
    static const struct {
        const char *ours, *tree;
    } words[] = { { "None", "none" }, { "True", "true" }, { "False", "false" } };
    for (size_t i = 0; i < IG_COUNT_OF(words); i++) {
        if (strcmp(words[i].ours, text) == 0) {
            return words[i].tree;
        }
    }
    return text;
}

static ig_status take_constant(writer *w, const ig_json *value, const char *path,
                               ig_writer *tree) {
    const char *text;
    IG_TRY(ig_pt2_argument(w->source, &w->scope, value, &text));
    ig_put(tree, "%s", tree_word(text));
    check_constant(w, path, text);
    return IG_OK;
}

/* The next leaf of the arguments: a name of the graph in *out_name, or a constant. */
static ig_status next_leaf(writer *w, const ig_json **out_input,
                           const char **out_name) {
    if (w->next_leaf == w->leaf_count) {
        return ig_pt2_error(w->source, IG_INVALID,
                            "its arguments have more leaves than its graph has inputs");
    }
    const ig_json *spec = w->leaves[w->next_leaf++];
    const ig_json *constant = ig_json_get(spec, "constant_input");
    *out_input = constant ? ig_json_get(constant, "value")
                          : ig_json_get(ig_json_get(spec, "user_input"), "arg");
    *out_name = constant ? NULL : ig_pt2_argument_name(*out_input);
    return IG_OK;
}

/* `name` of the graph is what `path` gives.  A parameter needs no other name. */
static const char *bind_leaf(writer *w, const char *name, const char *path) {
    if (strpbrk(path, "[.")) {
        const char *ours = ig_pt2_define(w->source, &w->scope, name);
        ig_pt2_line(w->source, "%s = %s", ours, path);
        return ours;
    }
    ig_pt2_bind(&w->scope, name, path);
    return path;
}

static ig_status take_leaf(writer *w, const char *path, ig_writer *tree) {
    const ig_json *input;
    const char *name;
    IG_TRY(next_leaf(w, &input, &name));
    if (!name) {
        return take_constant(w, input, path, tree);
    }
    const char *ours = bind_leaf(w, name, path);
    static const struct {
        const char *kind, *tree;
    } numbers[] = { { "as_sym_int", "int" },
                    { "as_sym_float", "float" },
                    { "as_sym_bool", "bool" } };
    for (size_t i = 0; i < IG_COUNT_OF(numbers); i++) {
        if (ig_json_get(input, numbers[i].kind)) {
            ig_put(tree, "%s", numbers[i].tree);
            return IG_OK;
        }
    }
    return put_type(w, name, ours, 0, tree);
}

/* ---- TorchRec's objects ---- */

static ig_status refuse_part(const writer *w, const ig_pt2_spec *spec) {
    return ig_pt2_error(w->source, IG_UNSUPPORTED,
                        "a %s with strides by key or with inverse indices is not "
                        "supported yet",
                        spec->jagged->class_name);
}

/* A call gives lengths; a program may want offsets, or both. */
static ig_status take_lengths(writer *w, const char *path, ig_writer *tree) {
    const ig_json *input;
    const char *lengths, *offsets;
    IG_TRY(next_leaf(w, &input, &lengths));
    if (lengths) {
        lengths = bind_leaf(w, lengths,
                            ig_arena_printf(w->source->arena, "%s._lengths", path));
        IG_TRY(put_type(w, ig_pt2_argument_name(input), lengths, 0, tree));
    }
    IG_TRY(next_leaf(w, &input, &offsets));
    if (offsets) {
        const char *ours = bind_leaf(
            w, offsets, ig_arena_printf(w->source->arena, "(%s).offsets()", path));
        return lengths ? IG_OK : put_type(w, offsets, ours, 1, tree);
    }
    return lengths ? IG_OK
                   : ig_pt2_error(w->source, IG_INVALID,
                                  "argument %s has neither lengths nor offsets", path);
}

/* Fields stand in the tree as the class's constructor has them. */
static ig_status take_jagged(writer *w, const ig_pt2_spec *spec, const char *path,
                             ig_writer *tree) {
    const ig_pt2_jagged *class = spec->jagged;
    ig_writer weights;
    ig_writer_init(&weights, w->source->arena);
    ig_put(tree, "%s(", class->word);
    for (size_t i = 0; i < IG_COUNT_OF(class->fixed) && class->fixed[i]; i++) {
        ig_put(tree, "%s=%s, ", class->fixed[i], spec->keys[i]);
    }
    ig_put(tree, "values=");
    IG_TRY(take_leaf(w, ig_arena_printf(w->source->arena, "%s._values", path), tree));
    if (!class->is_keyed_tensor) {
        IG_TRY(take_leaf(w, ig_arena_printf(w->source->arena, "%s._weights", path),
                         &weights));
        ig_put(tree, ", lengths=");
        IG_TRY(take_lengths(w, path, tree));
        ig_put(tree, ", weights=%s", weights.data);
    }
    for (size_t i = class->is_keyed_tensor ? 1 : IG_PT2_JAGGED_ITEMS; i < spec->count;
         i++) {
        const ig_json *input;
        const char *name;
        IG_TRY(next_leaf(w, &input, &name));
        IG_TRY(ig_json_get(input, "as_none") ? IG_OK : refuse_part(w, spec));
    }
    ig_put_char(tree, ')');
    return IG_OK;
}

/* ---- trees of arguments ---- */

static ig_status take_tree(writer *w, const ig_pt2_spec *spec, const char *path,
                           ig_writer *tree) {
    static const char *const brackets[] = { [IG_PT2_TUPLE] = "()",
                                            [IG_PT2_LIST] = "[]",
                                            [IG_PT2_DICT] = "{}",
                                            [IG_PT2_RECORD] = "()" };
    if (spec->kind == IG_PT2_LEAF) {
        return take_leaf(w, path, tree);
    }
    if (spec->kind == IG_PT2_JAGGED) {
        return take_jagged(w, spec, path, tree);
    }
    bool is_record = spec->kind == IG_PT2_RECORD, is_dict = spec->kind == IG_PT2_DICT;
    ig_put(tree, "%s%c", is_record ? spec->class_name : "", brackets[spec->kind][0]);
    for (size_t i = 0; i < spec->count; i++) {
        const char *item =
            is_dict ? ig_arena_printf(w->source->arena, "%s[%s]", path, spec->keys[i])
                    : ig_arena_printf(w->source->arena, "%s[%zu]", path, i);
        ig_put(tree, "%s", i ? ", " : "");
        if (is_dict || is_record) {
            ig_put(tree, "%s%s", spec->keys[i], is_dict ? ": " : "=");
        }
        IG_TRY(take_tree(w, &spec->items[i], item, tree));
    }
    bool is_one = spec->kind == IG_PT2_TUPLE && spec->count == 1;
    ig_put(tree, "%s%c", is_one ? "," : "", brackets[spec->kind][1]);
    return IG_OK;
}

/* ---- the parameters of forward ---- */

/* "\"mask\"" -> "mask" */
static const char *unquote_key(ig_arena *arena, const char *key) {
    size_t size = strlen(key);
    return *key == '"' && size >= 2 ? ig_arena_copy(arena, key + 1, size - 2) : key;
}

/* The head of the method needs the names; the arguments are taken apart behind it. */
static void name_parameters(writer *w, const ig_pt2_spec *in, const ig_json *names) {
    const ig_pt2_spec *groups = in->items;
    for (size_t g = 0; g < 2 && g < in->count; g++) {
        for (size_t i = 0; i < groups[g].count; i++) {
            const ig_json *told = i < ig_json_count(names) ? &names->as.list.items[i]
                                                           : NULL;
            const char *wish = g == 1 && groups[g].keys
                                   ? unquote_key(w->source->arena, groups[g].keys[i])
                               : told ? ig_json_text(told)
                                      : ig_arena_printf(w->source->arena, "arg%zu", i);
            ig_pt2_parameter one = { .name = ig_pt2_fresh(w->source, wish) };
            IG_PUSH(w->source->arena, &w->call->parameters, one);
        }
    }
}

static ig_status take_arguments(writer *w, const ig_pt2_spec *in) {
    size_t at = 0;
    for (size_t g = 0; g < 2 && g < in->count; g++) {
        for (size_t i = 0; i < in->items[g].count; i++, at++) {
            ig_pt2_parameter *parameter = &w->call->parameters.items[at];
            ig_writer tree;
            ig_writer_init(&tree, w->source->arena);
            IG_TRY(take_tree(w, &in->items[g].items[i], parameter->name, &tree));
            parameter->tree = tree.data;
        }
    }
    return w->next_leaf == w->leaf_count
               ? IG_OK
               : ig_pt2_error(
                     w->source, IG_INVALID,
                     "its graph has more inputs than its arguments have leaves");
}

/* ---- what the graph is given beside them ---- */

/* Parameters, buffers and constants: how their name in the module is said. */
static const struct {
    const char *kind, *key;
} held_rows[] = { { "parameter", "parameter_name" },
                  { "buffer", "buffer_name" },
                  { "tensor_constant", "tensor_constant_name" },
                  { "custom_obj", "custom_obj_name" } };

static const ig_json *held_spec(const ig_json *spec, const char **out_key) {
    for (size_t i = 0; i < IG_COUNT_OF(held_rows); i++) {
        const ig_json *held = ig_json_get(spec, held_rows[i].kind);
        if (held) {
            *out_key = held_rows[i].key;
            return held;
        }
    }
    return NULL;
}

static void take_held(writer *w, const ig_json *held, const char *key) {
    ig_writer quoted;
    const char *name = ig_json_text(ig_json_get(ig_json_get(held, "arg"), "name"));
    ig_writer_init(&quoted, w->source->arena);
    ig_put_quoted(&quoted, ig_str_of(ig_json_text(ig_json_get(held, key))));
    ig_pt2_line(w->source, "%s = getattr(self, %s)",
                ig_pt2_define(w->source, &w->scope, name), quoted.data);
}

/* Sorts the inputs' specs: leaves of the arguments are kept for later. */
static ig_status take_inputs(writer *w) {
    const ig_json *specs = ig_json_get(w->signature, "input_specs");
    w->leaves = IG_NEW_ARRAY(w->source->arena, const ig_json *,
                             ig_json_count(specs) + 1);
    for (size_t i = 0; i < ig_json_count(specs); i++) {
        const ig_json *spec = &specs->as.list.items[i];
        const char *key;
        const ig_json *held = held_spec(spec, &key);
        bool is_user = ig_json_get(spec, "user_input") ||
                       ig_json_get(spec, "constant_input");
        if (held) {
            take_held(w, held, key);
        } else if (is_user) {
            w->leaves[w->leaf_count++] = spec;
        } else if (!ig_json_get(spec, "token")) {
            return ig_pt2_error(w->source, IG_UNSUPPORTED,
                                "input %zu of its graph is of a kind that is not known",
                                i);
        }
    }
    return IG_OK;
}

/* Signatures of torch 2.1 and 2.2: names by kind instead of specs; ours are made of
 * it. */
static const ig_json *input_of_kind(const writer *w, const char *table,
                                    const char *name) {
    return ig_json_get(ig_json_get(w->signature, table), name);
}

static ig_status take_old_inputs(writer *w) {
    static const char *const tables[] = { "inputs_to_parameters", "inputs_to_buffers",
                                          "inputs_to_lifted_tensor_constants" };
    const ig_json *inputs = ig_json_get(w->graph, "inputs");
    w->leaves = IG_NEW_ARRAY(w->source->arena, const ig_json *,
                             ig_json_count(inputs) + 1);
    for (size_t i = 0; i < ig_json_count(inputs); i++) {
        const char *name = ig_pt2_argument_name(&inputs->as.list.items[i]);
        const ig_json *held = NULL;
        for (size_t t = 0; name && t < IG_COUNT_OF(tables) && !held; t++) {
            held = input_of_kind(w, tables[t], name);
        }
        if (held) {
            ig_writer quoted;
            ig_writer_init(&quoted, w->source->arena);
            ig_put_quoted(&quoted, ig_str_of(ig_json_text(held)));
            ig_pt2_line(w->source, "%s = getattr(self, %s)",
                        ig_pt2_define(w->source, &w->scope, name), quoted.data);
            continue;
        }
        /* {"user_input": {"arg": ARGUMENT}} */
        ig_json *spec = IG_NEW_ARRAY(w->source->arena, ig_json, 3);
        static const ig_str user = { "user_input", 10 }, arg = { "arg", 3 };
        spec[2] = inputs->as.list.items[i];
        spec[1] =
            (ig_json){ .kind = IG_JSON_OBJECT,
                       .as.list = { .keys = &arg, .items = &spec[2], .count = 1 } };
        spec[0] =
            (ig_json){ .kind = IG_JSON_OBJECT,
                       .as.list = { .keys = &user, .items = &spec[1], .count = 1 } };
        w->leaves[w->leaf_count++] = spec;
    }
    return IG_OK;
}

/* ---- what the graph gives ---- */

/* What the call writes to buffers and arguments. */
static const struct {
    const char *kind, *key;
    bool is_input;
} mutation_rows[] = { { "buffer_mutation", "buffer_name", false },
                      { "parameter_mutation", "parameter_name", false },
                      { "user_input_mutation", "user_input_name", true } };

static ig_status put_mutation(writer *w, const ig_json *mutation, const char *key,
                              bool is_input) {
    const char *target = ig_json_text(ig_json_get(mutation, key));
    const char *value = ig_json_text(ig_json_get(ig_json_get(mutation, "arg"), "name"));
    const char *from = ig_map_get(&w->scope.names, ig_str_of(value));
    const char *to = is_input ? ig_map_get(&w->scope.names, ig_str_of(target)) : NULL;
    if (!from || (is_input && !to)) {
        return ig_pt2_error(
            w->source, IG_INVALID,
            "'%.100s' is to become '%.100s', and one of them is unknown", target,
            value);
    }
    if (!is_input) {
        ig_writer quoted;
        ig_writer_init(&quoted, w->source->arena);
        ig_put_quoted(&quoted, ig_str_of(target));
        to = ig_arena_printf(w->source->arena, "getattr(self, %s)", quoted.data);
    }
    ig_pt2_line(w->source, "%s = torch.copy_(%s, %s)",
                ig_pt2_fresh(w->source, "written"), to, from);
    return IG_OK;
}

/* Mutations become statements; the others are leaves of the result, as text. */
static ig_status take_output(writer *w, const ig_json *spec, const char ***leaf) {
    const ig_json *user = ig_json_get(spec, "user_output");
    const ig_json *loss = ig_json_get(spec, "loss_output");
    user = user ? user : loss;
    if (user) {
        return ig_pt2_argument(w->source, &w->scope, ig_json_get(user, "arg"),
                               (*leaf)++);
    }
    for (size_t i = 0; i < IG_COUNT_OF(mutation_rows); i++) {
        const ig_json *mutation = ig_json_get(spec, mutation_rows[i].kind);
        if (mutation) {
            return put_mutation(w, mutation, mutation_rows[i].key,
                                mutation_rows[i].is_input);
        }
    }
    return ig_json_get(spec, "token")
               ? IG_OK
               : ig_pt2_error(w->source, IG_UNSUPPORTED,
                              "an output of its graph is of a kind that is not known");
}

static ig_status take_old_outputs(writer *w, const char ***leaf) {
    const ig_json *outputs = ig_json_get(w->graph, "outputs");
    for (size_t i = 0; i < ig_json_count(outputs); i++) {
        const ig_json *output = &outputs->as.list.items[i];
        const char *name = ig_pt2_argument_name(output);
        const ig_json *buffer = name ? input_of_kind(w, "buffers_to_mutate", name)
                                     : NULL;
        if (!buffer) {
            IG_TRY(ig_pt2_argument(w->source, &w->scope, output, (*leaf)++));
            continue;
        }
        const char *from = ig_map_get(&w->scope.names, ig_str_of(name));
        ig_pt2_line(w->source, "%s = torch.copy_(getattr(self, \"%s\"), %s)",
                    ig_pt2_fresh(w->source, "written"), ig_json_text(buffer),
                    from ? from : "None");
    }
    return IG_OK;
}

/* An object of TorchRec's, made by its constructor. */
static ig_status put_jagged(writer *w, const ig_pt2_spec *spec, const char ***leaf,
                            ig_writer *out) {
    const ig_pt2_jagged *class = spec->jagged;
    size_t own = class->is_keyed_tensor ? 1 : IG_PT2_JAGGED_ITEMS;
    ig_put(out, "__torch__.torchrec.sparse.jagged_tensor.%s(", class->class_name);
    for (size_t i = 0; i < IG_COUNT_OF(class->fixed) && class->fixed[i]; i++) {
        ig_put(out, "%s, ", spec->keys[i]);
    }
    for (size_t i = 0; i < spec->count; i++) {
        const char *text = *(*leaf)++;
        if (i < own) {
            ig_put(out, "%s%s", i ? ", " : "", text);
        } else if (strcmp(text, "None") != 0) {
            return refuse_part(w, spec);
        }
    }
    ig_put_char(out, ')');
    return IG_OK;
}

/* Packs leaves from *leaf on. */
static ig_status put_tree(writer *w, const ig_pt2_spec *spec, const char ***leaf,
                          ig_writer *out) {
    if (spec->kind == IG_PT2_LEAF) {
        ig_put(out, "%s", *(*leaf)++);
        return IG_OK;
    }
    if (spec->kind == IG_PT2_JAGGED) {
        return put_jagged(w, spec, leaf, out);
    }
    static const char *const brackets[] = { [IG_PT2_TUPLE] = "()",
                                            [IG_PT2_LIST] = "[]",
                                            [IG_PT2_DICT] = "{}",
                                            [IG_PT2_RECORD] = "()" };
    if (spec->kind == IG_PT2_RECORD) {
        ig_put(out, "__torch__.%s", spec->class_name);
    }
    ig_put_char(out, brackets[spec->kind][0]);
    for (size_t i = 0; i < spec->count; i++) {
        ig_put(out, "%s", i ? ", " : "");
        if (spec->kind == IG_PT2_DICT) {
            ig_put(out, "%s: ", spec->keys[i]);
        }
        IG_TRY(put_tree(w, &spec->items[i], leaf, out));
    }
    bool is_one = spec->kind == IG_PT2_TUPLE && spec->count == 1;
    ig_put(out, "%s%c", is_one ? "," : "", brackets[spec->kind][1]);
    return IG_OK;
}

static ig_status put_return(writer *w, const ig_pt2_spec *spec) {
    const ig_json *specs = ig_json_get(w->signature, "output_specs");
    size_t most = ig_json_count(specs) +
                  ig_json_count(ig_json_get(w->graph, "outputs"));
    const char **leaves = IG_NEW_ARRAY(w->source->arena, const char *, most + 1);
    const char **end = leaves;
    if (specs) {
        for (size_t i = 0; i < ig_json_count(specs); i++) {
            IG_TRY(take_output(w, &specs->as.list.items[i], &end));
        }
    } else {
        IG_TRY(take_old_outputs(w, &end));
    }
    if ((size_t)(end - leaves) != ig_pt2_spec_leaves(spec)) {
        return ig_pt2_error(w->source, IG_INVALID,
                            "its graph gives %zu results, its result has %zu leaves",
                            (size_t)(end - leaves), ig_pt2_spec_leaves(spec));
    }
    ig_writer out;
    ig_writer_init(&out, w->source->arena);
    IG_TRY(put_tree(w, spec, &leaves, &out));
    ig_pt2_line(w->source, "return %s", out.data);
    return IG_OK;
}

/* ---- classes of named tuples ---- */

static void write_records(writer *w, const ig_pt2_spec *spec) {
    for (size_t i = 0; i < spec->count; i++) {
        write_records(w, &spec->items[i]);
    }
    for (size_t i = 0; i < w->records_written.count; i++) {
        if (spec->kind == IG_PT2_RECORD &&
            strcmp(w->records_written.items[i], spec->class_name) == 0) {
            return;
        }
    }
    if (spec->kind != IG_PT2_RECORD) {
        return;
    }
    IG_PUSH(w->source->arena, &w->records_written, spec->class_name);
    ig_pt2_line(w->source, "class %s(NamedTuple):", spec->class_name);
    for (size_t i = 0; i < spec->count; i++) {
        ig_pt2_line(w->source, "  %s : Any", spec->keys[i]);
    }
}

/* ---- ranges ---- */

/* A range of 2 and more is what torch assumes of every extent, and does not ask for at
 * run time. */
enum { ASSUMED_MIN = 2 };

static void take_ranges(writer *w, const ig_json *ranges) {
    for (size_t i = 0; i < ig_json_count(ranges); i++) {
        const ig_json *range = &ranges->as.list.items[i];
        int64_t min, max;
        ig_writer extent;
        ig_writer_init(&extent, w->source->arena);
        ig_json_int(ig_json_get(range, "min_val"), &min);
        bool has_max = ig_json_int(ig_json_get(range, "max_val"), &max) && max >= 0;
        if (!ig_pt2_extent(ranges->as.list.keys[i], &extent)) {
            continue;
        }
        ig_ts_range one = { .extent = extent.data,
                            .min = min > ASSUMED_MIN ? min : 0,
                            .max = has_max ? max : INT64_MAX };
        IG_PUSH(w->source->arena, &w->call->ranges, one);
    }
}

/* ---- the whole ---- */

static ig_status read_specs(writer *w, const ig_json *module, ig_pt2_spec *in,
                            ig_pt2_spec *out, const ig_json **out_names) {
    const ig_json *calls = ig_json_get(module, "module_call_graph");
    const ig_json *signature = ig_json_count(calls)
                                   ? ig_json_get(&calls->as.list.items[0], "signature")
                                   : NULL;
    const char *in_text = ig_json_text(ig_json_get(signature, "in_spec"));
    const char *out_text = ig_json_text(ig_json_get(signature, "out_spec"));
    *out_names = ig_json_get(signature, "forward_arg_names");
    IG_TRY(ig_pt2_read_spec(w->source, ig_str_of(in_text), w->records, in));
    IG_TRY(ig_pt2_read_spec(w->source, ig_str_of(out_text), w->records, out));
    bool is_call = in->count == 2;
    return is_call
               ? IG_OK
               : ig_pt2_error(w->source, IG_INVALID,
                              "the tree of its arguments is no pair of a tuple and a "
                              "dict");
}

static void write_head(writer *w, const char *name) {
    ig_writer head;
    ig_writer_init(&head, w->source->arena);
    for (size_t i = 0; i < w->call->parameters.count; i++) {
        ig_put(&head, ", %s", w->call->parameters.items[i].name);
    }
    ig_pt2_line(w->source, "class %s(Module):", name);
    ig_pt2_line(w->source, "  __parameters__ = []");
    ig_pt2_line(w->source, "  __buffers__ = []");
    ig_pt2_line(w->source, "  def forward(self%s):", head.size ? head.data : "");
}

ig_status ig_pt2_write_class(ig_pt2_source *source, const char *name,
                             const ig_json *exported, ig_pt2_call *out_call) {
    const ig_json *module = ig_json_get(exported, "graph_module"), *names;
    writer w = { .source = source,
                 .call = out_call,
                 .graph = ig_json_get(module, "graph"),
                 .signature = ig_json_get(module, "signature"),
                 .records = ig_json_get(module, "treespec_namedtuple_fields") };
    ig_pt2_spec in, out;
    *out_call = (ig_pt2_call){ 0 };
    if (!w.graph || !w.signature) {
        return ig_pt2_error(source, IG_INVALID, "the program has no graph");
    }
    ig_pt2_scope_init(&w.scope, source->arena);
    IG_TRY(read_specs(&w, module, &in, &out, &names));
    take_ranges(&w, ig_json_get(exported, "range_constraints"));
    write_records(&w, &in);
    write_records(&w, &out);
    name_parameters(&w, &in, names);
    write_head(&w, name);
    source->indent = 2;
    IG_TRY(ig_json_get(w.signature, "input_specs") ? take_inputs(&w)
                                                   : take_old_inputs(&w));
    IG_TRY(take_arguments(&w, &in));
    IG_TRY(ig_pt2_nodes(source, &w.scope, w.graph));
    IG_TRY(put_return(&w, &out));
    source->indent = 0;
    return IG_OK;
}
