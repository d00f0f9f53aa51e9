/* The code of an archive: finding definitions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/language/code_inside.h"

#include <assert.h>
#include <string.h>

void ig_code_init(ig_code *code, ig_context *context, ig_arena *arena, const char *file,
                  const char *folder) {
    *code =
        (ig_code){ .context = context, .arena = arena, .file = file, .folder = folder };
    ig_script_types_init(&code->types, context, arena);
    code->types.code = code;
    ig_map_init(&code->names, arena);
    ig_map_init(&code->files, arena);
    ig_map_init(&code->definitions, arena);
}

ig_location ig_code_where(const char *file, const ig_ast *node) {
    return (ig_location){ .file = file,
                          .line = node ? node->line : 0,
                          .column = node ? node->column : 0 };
}

/* ---- files ---- */

static ig_status add_definition(ig_code *code, const char *prefix, const char *file,
                                const ig_ast *node) {
    assert((node->kind == IG_AST_CLASS || node->kind == IG_AST_DEF) &&
           "the caller checked the kind");
    const char *name = node->kind == IG_AST_CLASS ? node->as.class->name
                                                  : node->as.def->name;
    ig_definition *definition = IG_NEW(code->arena, ig_definition);
    definition->name = ig_arena_printf(code->arena, "%s.%s", prefix, name);
    definition->file = file;
    definition->node = node;
    if (ig_map_get(&code->definitions, ig_str_of(definition->name))) {
        ig_location where = ig_code_where(file, node);
        return ig_error(&code->context->diag, IG_INVALID, &where,
                        "'%s' is defined a second time", name);
    }
    ig_map_set(&code->definitions, ig_str_of(definition->name), definition);
    return IG_OK;
}

static bool is_version(const ig_ast *node) {
    return node->kind == IG_AST_ASSIGN && node->as.assign.targets.count == 1 &&
           node->as.assign.targets.items[0]->kind == IG_AST_NAME &&
           strcmp(node->as.assign.targets.items[0]->as.name, "op_version_set") == 0 &&
           node->as.assign.value->kind == IG_AST_INT;
}

static ig_status add_statement(ig_code *code, const char *prefix, const char *file,
                               const ig_ast *node) {
    if (node->kind == IG_AST_CLASS || node->kind == IG_AST_DEF) {
        return add_definition(code, prefix, file, node);
    }
    if (node->kind == IG_AST_IMPORT || node->kind == IG_AST_EXPRESSION) {
        return IG_OK; /* imports of old archives; qualified names say it all */
    }
    if (is_version(node)) {
        code->op_version_set = node->as.assign.value->as.i;
        return IG_OK;
    }
    ig_location where = ig_code_where(file, node);
    return ig_error(&code->context->diag, IG_INVALID, &where,
                    "expected a class or a function, found %s",
                    ig_ast_kind_words(node->kind));
}

static ig_status parse_file(ig_code *code, const char *prefix, const char *entry,
                            ig_str text) {
    ig_script_source source = { .context = code->context,
                                .arena = code->arena,
                                .names = &code->names,
                                .node_count = &code->node_count,
                                .is_dialect = true };
    source.file = code->file ? ig_arena_printf(code->arena, "%s/%s", code->file, entry)
                             : entry;
    ig_ast_list statements;
    IG_TRY(ig_parse_source(&source, text, &statements));
    for (size_t i = 0; i < statements.count; i++) {
        IG_TRY(add_statement(code, prefix, source.file, statements.items[i]));
    }
    return IG_OK;
}

/* "__torch__.a.b" -> "code/__torch__/a/b.py". */
static const char *entry_of(const ig_code *code, const char *prefix) {
    char *entry = ig_arena_printf(code->arena, "%s%s.py", code->folder, prefix);
    for (size_t i = strlen(code->folder); entry[i]; i++) {
        bool is_last = strcmp(&entry[i], ".py") == 0;
        entry[i] = entry[i] == '.' && !is_last ? '/' : entry[i];
    }
    return entry;
}

/* Reads the file of `prefix` when there is one and it was not read yet. */
static ig_status load_file(ig_code *code, const char *prefix) {
    static const ig_status tried[] = { IG_OK, IG_INVALID };
    const ig_status *before = ig_map_get(&code->files, ig_str_of(prefix));
    if (before) {
        return *before;
    }
    const char *entry = entry_of(code, prefix);
    assert(code->read && "who made the code sets its reader");
    ig_str text;
    bool found = false;
    ig_map_set(&code->files, ig_str_of(prefix), (void *)(uintptr_t)&tried[0]);
    ig_status status = code->read(code->user, entry, &text, &found);
    if (status == IG_OK && found) {
        status = parse_file(code, prefix, entry, text);
    }
    if (status != IG_OK) { /* once is enough for the message */
        ig_map_set(&code->files, ig_str_of(prefix), (void *)(uintptr_t)&tried[1]);
    }
    return status;
}

/* ---- names ---- */

static bool is_custom(const char *name) {
    return strncmp(name, "__torch__.torch.classes.", 24) == 0;
}

static ig_definition *make_custom(ig_code *code, const char *name) {
    ig_definition *definition = IG_NEW(code->arena, ig_definition);
    ig_class *class = IG_NEW(code->arena, ig_class);
    class->name = definition->name = ig_arena_strdup(code->arena, name);
    class->kind = IG_CLASS_CUSTOM;
    class->type = ig_script_type_class(&code->types, name);
    definition->class = class;
    ig_map_set(&code->definitions, ig_str_of(name), definition);
    return definition;
}

void ig_code_add_class(ig_code *code, ig_class *class) {
    assert(class->name && "a class has a qualified name");
    ig_definition *definition = IG_NEW(code->arena, ig_definition);
    definition->name = class->name;
    definition->file = class->file;
    definition->class = class;
    class->type = ig_script_type_class(&code->types, class->name);
    if (!ig_map_get(&code->definitions, ig_str_of(class->name))) {
        ig_map_set(&code->definitions, ig_str_of(class->name), definition);
    }
}

ig_status ig_code_define(ig_code *code, const char *name,
                         ig_definition **out_definition) {
    *out_definition = ig_map_get(&code->definitions, ig_str_of(name));
    const char *dot = strrchr(name, '.');
    if (*out_definition || !dot) {
        return IG_OK;
    }
    if (is_custom(name)) {
        *out_definition = make_custom(code, name);
        return IG_OK;
    }
    IG_TRY(load_file(code, ig_arena_copy(code->arena, name, (size_t)(dot - name))));
    *out_definition = ig_map_get(&code->definitions, ig_str_of(name));
    return IG_OK;
}

ig_status ig_code_find(ig_code *code, const char *name, const ig_class **out_class,
                       const ig_function **out_function) {
    ig_definition *definition;
    *out_class = NULL;
    *out_function = NULL;
    IG_TRY(ig_code_define(code, name, &definition));
    if (!definition) {
        return IG_OK;
    }
    if (!definition->class && !definition->function) {
        IG_TRY(ig_code_build(code, definition));
    }
    *out_class = definition->class;
    *out_function = definition->function;
    return IG_OK;
}

ig_status ig_code_class(ig_code *code, const char *name, const ig_location *where,
                        const ig_class **out_class) {
    const ig_function *function;
    IG_TRY(ig_code_find(code, name, out_class, &function));
    if (*out_class) {
        return IG_OK;
    }
    return ig_error(&code->context->diag, IG_INVALID, where,
                    function ? "'%s' is a function, not a class"
                             : "the archive has no source of the class '%s'",
                    name);
}

const char *ig_code_plain_name(ig_code *code, const char *name) {
    static const char mangle[] = "___torch_mangle_";
    ig_writer writer;
    ig_writer_init(&writer, code->arena);
    name += strncmp(name, "__torch__.", 10) == 0 ? 10 : 0;
    while (*name) {
        size_t size = strcspn(name, ".");
        if (strncmp(name, mangle, sizeof(mangle) - 1) != 0) {
            ig_put(&writer, "%s%.*s", writer.size ? "." : "", (int)size, name);
        }
        name += size + (name[size] == '.');
    }
    return writer.size ? writer.data : "";
}
