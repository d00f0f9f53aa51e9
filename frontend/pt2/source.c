/* An exported graph as source of the dialect that frontend/torch evaluates.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Schema: torch/_export/serde/schema.py, major versions up to 8.
 */
#include "frontend/pt2/source.h"

#include "frontend/pt2/codes.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void ig_pt2_source_init(ig_pt2_source *source, ig_context *context, ig_arena *arena,
                        const char *file) {
    *source = (ig_pt2_source){
        .context = context, .arena = arena, .where = { .file = file }, .line = 1
    };
    ig_writer_init(&source->out, arena);
    ig_map_init(&source->used, arena);
}

void ig_pt2_scope_init(ig_pt2_scope *scope, ig_arena *arena) {
    ig_map_init(&scope->names, arena);
}

ig_status ig_pt2_error(const ig_pt2_source *source, ig_status status,
                       const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return ig_error(&source->context->diag, status, &source->where, "%s", text);
}

void ig_pt2_line(ig_pt2_source *source, const char *format, ...) {
    va_list args;
    va_start(args, format);
    ig_put_spaces(&source->out, (int)(2 * source->indent));
    ig_put_list(&source->out, format, args);
    ig_put_char(&source->out, '\n');
    va_end(args);
    while (source->nodes.count <= source->line) {
        IG_PUSH(source->arena, &source->nodes, source->where.node);
        IG_PUSH(source->arena, &source->modules, source->where.scope);
    }
    source->line++;
}

/* ---- names ---- */

/* Words that cannot be names, or mean something else as a call or a value. */
static bool is_reserved(const char *name) {
    static const char *const words[] = {
        "False",   "None",  "True",   "and",   "as",     "assert", "async",  "await",
        "break",   "class", "def",    "del",   "elif",   "else",   "except", "float",
        "for",     "from",  "global", "if",    "import", "in",     "inf",    "int",
        "is",      "nan",   "not",    "ops",   "or",     "pass",   "raise",  "return",
        "self",    "torch", "try",    "while", "with",   "yield",  "lambda", "bool",
        "getattr", "max",   "min",    "range", "len",    "list",   "print",  "annotate",
    };
    for (size_t i = 0; i < IG_COUNT_OF(words); i++) {
        if (strcmp(words[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static const char *as_identifier(ig_arena *arena, const char *wish) {
    char *name = ig_arena_printf(arena, "%s%s", *wish >= '0' && *wish <= '9' ? "_" : "",
                                 *wish ? wish : "_");
    for (char *at = name; *at; at++) {
        bool is_fine = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
                       (*at >= '0' && *at <= '9') || *at == '_';
        *at = is_fine ? *at : '_';
    }
    return name;
}

const char *ig_pt2_fresh(ig_pt2_source *source, const char *wish) {
    const char *base = as_identifier(source->arena, wish), *name = base;
    for (unsigned i = 1;
         is_reserved(name) || ig_map_get(&source->used, ig_str_of(name)); i++) {
        name = ig_arena_printf(source->arena, "%s__%u", base, i);
    }
    ig_map_set(&source->used, ig_str_of(name), (void *)(uintptr_t)name);
    return name;
}

void ig_pt2_bind(ig_pt2_scope *scope, const char *name, const char *expression) {
    ig_map_set(&scope->names, ig_str_of(name), (void *)(uintptr_t)expression);
}

const char *ig_pt2_define(ig_pt2_source *source, ig_pt2_scope *scope,
                          const char *name) {
    const char *fresh = ig_pt2_fresh(source, name);
    ig_pt2_bind(scope, name, fresh);
    return fresh;
}

/* ---- arguments ---- */

/* The one member of a union that is an object with one member; "": it is none. */
static const char *union_kind(const ig_json *value, const ig_json **out_member) {
    bool is_union = value && value->kind == IG_JSON_OBJECT && value->as.list.count == 1;
    *out_member = is_union ? &value->as.list.items[0] : NULL;
    return is_union ? value->as.list.keys[0].data : "";
}

const char *ig_pt2_argument_name(const ig_json *argument) {
    const ig_json *member;
    const char *kind = union_kind(argument, &member);
    const char *key = ig_str_starts(ig_str_of(kind), "as_sym_") ? "as_name" : "name";
    const char *name = ig_json_text(ig_json_get(member, key));
    return *name ? name : NULL;
}

static ig_status put_name(ig_pt2_source *source, const ig_pt2_scope *scope,
                          const char *name, ig_writer *out) {
    const char *known = ig_map_get(&scope->names, ig_str_of(name));
    if (!known) {
        return ig_pt2_error(source, IG_INVALID,
                            "it uses '%.100s', which nothing before it gives", name);
    }
    ig_put(out, "%s", known);
    return IG_OK;
}

static void put_float(double value, ig_writer *out) {
    ig_writer digits;
    if (isnan(value) || isinf(value)) {
        ig_put(out, "%s", isnan(value) ? "nan" : value < 0 ? "(-inf)" : "inf");
        return;
    }
    ig_writer_init(&digits, out->arena);
    ig_put_f64(&digits, value);
    ig_put(out, "%s%s", digits.data, strpbrk(digits.data, ".en") ? "" : ".");
}

static ig_status put_argument(ig_pt2_source *source, const ig_pt2_scope *scope,
                              const ig_json *argument, ig_writer *out);

/* How the value of one kind of argument becomes text. */
typedef ig_status (*put_hook)(ig_pt2_source *source, const ig_pt2_scope *scope,
                              const ig_json *value, ig_writer *out);

static ig_status put_none(ig_pt2_source *source, const ig_pt2_scope *scope,
                          const ig_json *value, ig_writer *out) {
    (void)source, (void)scope, (void)value;
    ig_put(out, "None");
    return IG_OK;
}

static ig_status put_named(ig_pt2_source *source, const ig_pt2_scope *scope,
                           const ig_json *value, ig_writer *out) {
    bool is_bare = value->kind == IG_JSON_STRING; /* in schema 1 */
    const char *name = ig_json_text(is_bare ? value : ig_json_get(value, "name"));
    return put_name(source, scope, name, out);
}

static ig_status put_int(ig_pt2_source *source, const ig_pt2_scope *scope,
                         const ig_json *value, ig_writer *out) {
    int64_t number;
    (void)scope;
    if (!ig_json_int(value, &number)) {
        return ig_pt2_error(source, IG_INVALID,
                            "an integer among its arguments is none");
    }
    ig_put(out, number < 0 ? "(%lld)" : "%lld", (long long)number);
    return IG_OK;
}

static ig_status put_real(ig_pt2_source *source, const ig_pt2_scope *scope,
                          const ig_json *value, ig_writer *out) {
    double number;
    (void)scope;
    if (!ig_json_real(value, &number)) {
        return ig_pt2_error(source, IG_INVALID, "a number among its arguments is none");
    }
    put_float(number, out);
    return IG_OK;
}

static ig_status put_bool(ig_pt2_source *source, const ig_pt2_scope *scope,
                          const ig_json *value, ig_writer *out) {
    (void)source, (void)scope;
    ig_put(out, "%s", ig_json_is_true(value) ? "True" : "False");
    return IG_OK;
}

static ig_status put_string(ig_pt2_source *source, const ig_pt2_scope *scope,
                            const ig_json *value, ig_writer *out) {
    (void)source, (void)scope;
    ig_put_quoted(out, ig_str_of(ig_json_text(value)));
    return IG_OK;
}

static ig_status put_complex(ig_pt2_source *source, const ig_pt2_scope *scope,
                             const ig_json *value, ig_writer *out) {
    ig_put(out, "complex(");
    const ig_json *real = ig_json_get(value, "real"),
                  *imag = ig_json_get(value, "imag");
    IG_TRY(put_real(source, scope, real, out));
    ig_put(out, ", ");
    IG_TRY(put_real(source, scope, imag, out));
    ig_put(out, ")");
    return IG_OK;
}

static ig_status put_code(ig_pt2_source *source, const ig_json *value, const char *what,
                          int64_t (*code_of)(int64_t), ig_writer *out) {
    int64_t code;
    int64_t ours = ig_json_int(value, &code) ? code_of(code) : -1;
    if (ours < 0) {
        return ig_pt2_error(source, IG_UNSUPPORTED, "%s %lld is not known", what,
                            (long long)code);
    }
    ig_put(out, "%lld", (long long)ours);
    return IG_OK;
}

static ig_status put_dtype(ig_pt2_source *source, const ig_pt2_scope *scope,
                           const ig_json *value, ig_writer *out) {
    (void)scope;
    return put_code(source, value, "dtype", ig_pt2_dtype_code, out);
}

static ig_status put_layout(ig_pt2_source *source, const ig_pt2_scope *scope,
                            const ig_json *value, ig_writer *out) {
    int64_t code;
    const char *name = ig_json_int(value, &code) ? ig_pt2_layout_name(code) : NULL;
    (void)scope;
    if (name) {
        return ig_pt2_error(
            source, IG_UNSUPPORTED,
            "it makes a sparse tensor (torch.%s), which is not supported "
            "yet: make a dense one, to_dense() in the module",
            name);
    }
    return put_code(source, value, "layout", ig_pt2_layout_code, out);
}

static ig_status put_format(ig_pt2_source *source, const ig_pt2_scope *scope,
                            const ig_json *value, ig_writer *out) {
    (void)scope;
    return put_code(source, value, "memory format", ig_pt2_memory_format_code, out);
}

/* All of a program runs where we put it. */
static ig_status put_device(ig_pt2_source *source, const ig_pt2_scope *scope,
                            const ig_json *value, ig_writer *out) {
    (void)source, (void)scope, (void)value;
    ig_put(out, "torch.device(\"cpu\")");
    return IG_OK;
}

/* as_name, as_int, as_float, as_bool: the members of as_sym_*. */
static ig_status put_symbolic(ig_pt2_source *source, const ig_pt2_scope *scope,
                              const ig_json *value, ig_writer *out) {
    const ig_json *member;
    const char *kind = union_kind(value, &member);
    return strcmp(kind, "as_name") == 0
               ? put_name(source, scope, ig_json_text(member), out)
               : put_argument(source, scope, value, out);
}

static ig_status put_list(ig_pt2_source *source, const ig_pt2_scope *scope,
                          const ig_json *value, put_hook put_item, const char *type,
                          ig_writer *out) {
    size_t count = ig_json_count(value);
    if (count == 0) { /* no item tells the type */
        ig_put(out, "annotate(List[%s], [])", type);
        return IG_OK;
    }
    for (size_t i = 0; i < count; i++) {
        ig_put(out, "%s", i ? ", " : "[");
        IG_TRY(put_item(source, scope, &value->as.list.items[i], out));
    }
    ig_put(out, "]");
    return IG_OK;
}

/*  ARGUMENT(member of the union, text of one, type of a list's items or NULL)  */
static const struct argument_row {
    const char *kind;
    put_hook put;
    const char *items;
} argument_rows[] = {
    { "as_none", put_none, NULL },
    { "as_tensor", put_named, NULL },
    { "as_tensors", put_named, "Tensor" },
    { "as_optional_tensor", put_argument, NULL },
    { "as_optional_tensors", put_argument, "Optional[Tensor]" },
    { "as_int", put_int, NULL },
    { "as_ints", put_int, "int" },
    { "as_float", put_real, NULL },
    { "as_floats", put_real, "float" },
    { "as_bool", put_bool, NULL },
    { "as_bools", put_bool, "bool" },
    { "as_string", put_string, NULL },
    { "as_strings", put_string, "str" },
    { "as_complex", put_complex, NULL },
    { "as_sym_int", put_symbolic, NULL },
    { "as_sym_ints", put_symbolic, "int" },
    { "as_sym_float", put_symbolic, NULL },
    { "as_sym_floats", put_symbolic, "float" },
    { "as_sym_bool", put_symbolic, NULL },
    { "as_sym_bools", put_symbolic, "bool" },
    { "as_scalar_type", put_dtype, NULL },
    { "as_memory_format", put_format, NULL },
    { "as_layout", put_layout, NULL },
    { "as_device", put_device, NULL },
};

static ig_status put_argument(ig_pt2_source *source, const ig_pt2_scope *scope,
                              const ig_json *argument, ig_writer *out) {
    const ig_json *value;
    const char *kind = union_kind(argument, &value);
    for (size_t i = 0; i < IG_COUNT_OF(argument_rows); i++) {
        const struct argument_row *row = &argument_rows[i];
        if (strcmp(kind, row->kind) == 0) {
            return row->items
                       ? put_list(source, scope, value, row->put, row->items, out)
                       : row->put(source, scope, value, out);
        }
    }
    return ig_pt2_error(source, *kind ? IG_UNSUPPORTED : IG_INVALID,
                        *kind ? "an argument of kind '%.60s' is not supported yet"
                              : "one of its arguments is no argument%.60s",
                        kind);
}

ig_status ig_pt2_argument(ig_pt2_source *source, const ig_pt2_scope *scope,
                          const ig_json *argument, const char **out_text) {
    ig_writer out;
    ig_writer_init(&out, source->arena);
    IG_TRY(put_argument(source, scope, argument, &out));
    *out_text = out.data;
    return IG_OK;
}

/* ---- results ---- */

static void put_result(ig_pt2_source *source, ig_pt2_scope *scope, const char *name,
                       ig_writer *out) {
    ig_put(out, "%s%s", out->size ? ", " : "",
           name ? ig_pt2_define(source, scope, name) : ig_pt2_fresh(source, "unused"));
}

/* Names for the items of a list: "a, b". */
static const char *name_items(ig_pt2_source *source, ig_pt2_scope *scope,
                              const ig_json *items) {
    ig_writer out;
    ig_writer_init(&out, source->arena);
    ig_put(&out, "%s", "");
    for (size_t i = 0; i < ig_json_count(items); i++) {
        put_result(source, scope,
                   ig_json_text(ig_json_get(&items->as.list.items[i], "name")), &out);
    }
    return out.data;
}

/* A result that is a list among others is unpacked by a statement of its own. */
static void put_list_result(ig_pt2_source *source, ig_pt2_scope *scope,
                            const ig_json *items, ig_writer *out) {
    const char *list = ig_pt2_fresh(source, "items");
    ig_put(out, "%s%s", out->size ? ", " : "", list);
    if (ig_json_count(items)) {
        const char *names = name_items(source, scope, items);
        IG_PUSH(source->arena, &source->unpacked,
                ig_arena_printf(source->arena, "%s, = %s", names, list));
    }
}

ig_status ig_pt2_results(ig_pt2_source *source, ig_pt2_scope *scope,
                         const ig_json *node, const char **out_text,
                         bool *out_is_list) {
    const ig_json *outputs = ig_json_get(node, "outputs"), *items = NULL;
    size_t count = ig_json_count(outputs);
    ig_writer out;
    ig_writer_init(&out, source->arena);
    ig_put(&out, "%s", "");
    const char *kind = count == 1 ? union_kind(&outputs->as.list.items[0], &items) : "";
    *out_is_list = strcmp(kind, "as_tensors") == 0;
    if (*out_is_list) {
        *out_text = name_items(source, scope, items);
        return IG_OK;
    }
    for (size_t i = 0; i < count; i++) {
        const ig_json *output = &outputs->as.list.items[i];
        if (strcmp(union_kind(output, &items), "as_tensors") == 0) {
            put_list_result(source, scope, items, &out);
        } else {
            put_result(source, scope, ig_pt2_argument_name(output), &out);
        }
    }
    *out_text = out.data;
    return IG_OK;
}

static void put_statement(ig_pt2_source *source, const char *results, bool is_list,
                          const char *call) {
    ig_pt2_line(source, "%s%s%s%s", results, *results && is_list ? ", " : "",
                *results ? " = " : "", call);
    for (size_t i = 0; i < source->unpacked.count; i++) {
        ig_pt2_line(source, "%s", source->unpacked.items[i]);
    }
    source->unpacked.count = 0;
}

/* ---- nodes ---- */

enum { POSITIONAL = 1, ARGUMENTS_MAX = 4 };

static ig_status put_call(ig_pt2_source *source, const ig_pt2_scope *scope,
                          const char *function, const ig_json *inputs, ig_writer *out) {
    ig_put(out, "%s(", function);
    for (size_t i = 0; i < ig_json_count(inputs); i++) {
        const ig_json *input = &inputs->as.list.items[i];
        const char *name = ig_json_text(ig_json_get(input, "name"));
        int64_t kind = 0;
        bool is_told = ig_json_int(ig_json_get(input, "kind"), &kind);
        /* Older schemas do not say; the first argument may be called anything. */
        bool is_named = *name && (is_told ? kind != POSITIONAL : i > 0);
        ig_put(out, "%s%s%s", i ? ", " : "", is_named ? name : "", is_named ? "=" : "");
        IG_TRY(put_argument(source, scope, ig_json_get(input, "arg"), out));
    }
    ig_put(out, ")");
    return IG_OK;
}

/* "torch.ops.aten.add.Tensor" -> "ops.aten.add.Tensor"; overload `default` is the one
 * without a name. */
static ig_status put_operator(ig_pt2_source *source, ig_pt2_scope *scope,
                              const char *target, const ig_json *node) {
    ig_writer call;
    const char *results;
    bool is_list;
    size_t size = strlen(target);
    size -= ig_str_ends(ig_str_of(target), ".default") ? strlen(".default") : 0;
    const char *function = ig_arena_copy(source->arena, target, size);
    ig_writer_init(&call, source->arena);
    IG_TRY(put_call(source, scope, function, ig_json_get(node, "inputs"), &call));
    IG_TRY(ig_pt2_results(source, scope, node, &results, &is_list));
    put_statement(source, results, is_list, call.data);
    return IG_OK;
}

/* Functions of Python on numbers: `form` with %0, %1 … for the arguments. */
static ig_status put_form(ig_pt2_source *source, ig_pt2_scope *scope, const char *form,
                          const ig_json *node) {
    const ig_json *inputs = ig_json_get(node, "inputs");
    size_t count = ig_json_count(inputs);
    const char *results;
    bool is_list;
    ig_writer out;
    ig_writer_init(&out, source->arena);
    for (const char *at = form; *at; at++) {
        size_t index = (size_t)(at[1] - '0');
        if (*at != '$') {
            ig_put_char(&out, *at);
            continue;
        }
        if (index >= count) {
            return ig_pt2_error(source, IG_INVALID, "it lacks argument %zu", index);
        }
        IG_TRY(put_argument(source, scope,
                            ig_json_get(&inputs->as.list.items[index], "arg"), &out));
        at++;
    }
    IG_TRY(ig_pt2_results(source, scope, node, &results, &is_list));
    put_statement(source, results, is_list, out.data);
    return IG_OK;
}

static ig_status put_node(ig_pt2_source *source, ig_pt2_scope *scope,
                          const ig_json *node) {
    const char *target = ig_json_text(ig_json_get(node, "target"));
    const char *higher = "torch.ops.higher_order.";
    const char *form = ig_pt2_form_of(target);
    if (form) {
        return *form ? put_form(source, scope, form, node) : IG_OK;
    }
    if (ig_str_starts(ig_str_of(target), higher)) {
        return ig_pt2_higher_order(source, scope, target + strlen(higher), node);
    }
    if (ig_str_starts(ig_str_of(target), "torch.ops.")) {
        return put_operator(source, scope, target + strlen("torch."), node);
    }
    return ig_pt2_error(source, *target ? IG_UNSUPPORTED : IG_INVALID,
                        *target ? "function %.200s is not supported yet"
                                : "a node has no target%.200s",
                        target);
}

static const char *node_name(ig_arena *arena, const ig_json *node, size_t index) {
    const char *name = ig_json_text(ig_json_get(node, "name"));
    const ig_json *outputs = ig_json_get(node, "outputs");
    if (!*name && ig_json_count(outputs)) {
        const char *result = ig_pt2_argument_name(&outputs->as.list.items[0]);
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

ig_status ig_pt2_nodes(ig_pt2_source *source, ig_pt2_scope *scope,
                       const ig_json *graph) {
    const ig_json *nodes = ig_json_get(graph, "nodes");
    ig_location before = source->where;
    scope->graph = graph;
    if (++source->depth > (uint64_t)source->context->limits.graph_depth) {
        return ig_error_limit(&source->context->diag, &source->where,
                              &source->context->limits, IG_LIMIT_graph_depth,
                              "graphs in graphs");
    }
    for (size_t i = 0; i < ig_json_count(nodes); i++) {
        const ig_json *node = &nodes->as.list.items[i];
        source->where.node = node_name(source->arena, node, i);
        source->where.op = ig_json_text(ig_json_get(node, "target"));
        source->where.scope = module_of(source->arena, node);
        IG_TRY(put_node(source, scope, node));
    }
    source->where = before;
    source->depth--;
    return IG_OK;
}
