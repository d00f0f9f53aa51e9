/* torch's own Python, read piece by piece.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A model uses a few of the many classes and functions that stock/ has.  So a file is
 * cut at its margin, and a class or function is parsed when its name is first looked
 * for; the statements between them (imports, small tables) are parsed at once.
 */
#include "frontend/torch/python/piecewise.h"

#include "frontend/torch/language/schema.h"

#include <assert.h>
#include <string.h>

/* A class or function that is not parsed yet. */
typedef struct piece {
    ig_str text;
    uint32_t line; /* at which it begins */
} piece;

static ig_str line_at(ig_str text, size_t at) {
    const char *end = memchr(text.data + at, '\n', text.size - at);
    size_t stop = end ? (size_t)(end - text.data) + 1 : text.size;
    return (ig_str){ text.data + at, stop - at };
}

/* "Linear" of "class Linear(Module):", "relu" of "def relu(input):"; else empty. */
static ig_str defined_name(ig_str line) {
    size_t skipped = ig_str_starts(line, "class ") ? 6
                     : ig_str_starts(line, "def ") ? 4
                                                   : line.size;
    size_t size = 0;
    while (skipped + size < line.size && line.data[skipped + size] != '(' &&
           line.data[skipped + size] != ':') {
        size++;
    }
    return (ig_str){ line.data + skipped, size };
}

static ig_status read_piece(ig_ts_eval *eval, ig_python_module *module,
                            const piece *from) {
    ig_script_source source = { .context = eval->context,
                                .arena = eval->code->arena,
                                .names = &eval->code->names,
                                .node_count = &eval->code->node_count,
                                .file = module->file,
                                .line = from->line };
    ig_ast_list *body = &module->body, more;
    IG_TRY(ig_parse_source(&source, from->text, &more));
    ig_ast **items = IG_NEW_ARRAY(eval->code->arena, ig_ast *,
                                  body->count + more.count + 1);
    for (size_t i = 0; i < body->count + more.count; i++) {
        items[i] = i < body->count ? body->items[i] : more.items[i - body->count];
    }
    *body = (ig_ast_list){ items, body->count + more.count };
    ig_python_space_declare(eval, &module->space, &more);
    return IG_OK;
}

/* Keeps a class or function for later, or reads the statements. */
static ig_status take_piece(ig_ts_eval *eval, ig_python_module *module,
                            const piece *from) {
    ig_str name = defined_name(from->text);
    if (name.size == 0) {
        return read_piece(eval, module, from);
    }
    piece *kept = IG_NEW(eval->arena, piece);
    *kept = *from;
    ig_map_set_id(module->pieces, IG_MAP_PTR(ig_names_intern(&eval->code->names, name)),
                  kept);
    return IG_OK;
}

static ig_status cut_pieces(ig_ts_eval *eval, ig_python_module *module, ig_str text) {
    piece now = { .text = { text.data, 0 }, .line = 1 };
    uint32_t index = 1;
    for (size_t at = 0; at < text.size; index++) {
        ig_str line = line_at(text, at);
        bool is_inside = strchr(" \n", line.data[0]) != NULL;
        bool begins = !is_inside &&
                      (defined_name(line).size > 0 || defined_name(now.text).size > 0);
        if (begins && now.text.size) {
            IG_TRY(take_piece(eval, module, &now));
            now = (piece){ .text = { line.data, 0 }, .line = index };
        }
        now.text.size += line.size;
        at += line.size;
    }
    return take_piece(eval, module, &now);
}

ig_status ig_python_stock_open(ig_ts_eval *eval, const ig_stock_module *stock,
                               ig_python_module **out) {
    ig_ts_source nothing = { .file = stock->file, .is_package = stock->is_package };
    IG_TRY(ig_python_module_parse(eval, stock->name, &nothing, out));
    (*out)->is_stock = true;
    (*out)->pieces = IG_NEW(eval->arena, ig_map);
    ig_map_init((*out)->pieces, eval->arena);
    return cut_pieces(eval, *out, stock->text);
}

ig_status ig_python_stock_read(ig_ts_eval *eval, ig_python_module *module,
                               const char *name) {
    uint64_t key = IG_MAP_PTR(name);
    const piece *kept = module->pieces ? ig_map_get_id(module->pieces, key) : NULL;
    if (!kept) {
        return IG_OK;
    }
    ig_map_set_id(module->pieces, key, NULL);
    return read_piece(eval, module, kept);
}

ig_status ig_python_stock(ig_ts_eval *eval, const char *module, const char *name,
                          ig_ts_value *out, bool *out_found) {
    ig_python_module *found = NULL;
    *out_found = false;
    if (ig_stock_find(ig_str_of(module))) {
        IG_TRY(ig_python_module_find(eval, module, &found));
    }
    return found ? ig_python_global(eval, found, ig_python_intern(eval, name), out,
                                    out_found)
                 : IG_OK;
}

ig_status ig_python_composite(const ig_ts_call *call, ig_ts_value *out) {
    const ig_schema *schema = call->schema;
    const char **names = IG_NEW_ARRAY(call->arena, const char *, call->arg_count + 1u);
    for (uint32_t i = 0; i < call->arg_count; i++) {
        names[i] = schema->arguments[i].name;
    }
    ig_ts_arguments arguments = { .values = call->args,
                                  .names = names,
                                  .keywords = call->arg_count };
    ig_ts_value function = { 0 };
    bool is_found;
    IG_TRY(ig_python_stock(call->eval, "torch._composites",
                           strstr(schema->name, "::") + 2, &function, &is_found));
    assert(is_found && "a row of composite.def has a function");
    return ig_python_call(call->eval, &function, &arguments, out);
}

ig_status ig_python_elsewhere(ig_ts_eval *eval, const char *whole, ig_ts_value *out) {
    const char *dot = strrchr(whole, '.');
    bool is_found = ig_python_constant(whole, out);
    if (!is_found && strncmp(whole, "torch.", 6) == 0) {
        const char *module = ig_arena_copy(eval->arena, whole, (size_t)(dot - whole));
        bool is_class = strcmp(module, "torch.nn") == 0; /* nn.Linear is of a module */
        IG_TRY(ig_python_stock(eval, is_class ? "torch.nn.modules" : module, dot + 1,
                               out, &is_found));
    }
    if (!is_found) {
        *out = ig_python_external(eval, whole);
    }
    return IG_OK;
}

const char *ig_python_known_name(const ig_ts_value *value) {
    const ig_python_thing *thing = ig_python_thing_of(value);
    bool is_stock = thing && thing->kind == IG_PYTHON_DEF && thing->module->is_stock;
    return is_stock ? thing->name : ig_python_external_name(value);
}
