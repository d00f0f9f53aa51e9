/* Types from annotations.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/language/parse.h"
#include "frontend/torch/language/type.h"

#include <assert.h>
#include <string.h>

typedef struct type_reader {
    ig_script_types *types;
    const char *file; /* for messages */
} type_reader;

static ig_status report_type(const type_reader *reader, const ig_ast *node,
                             const char *what) {
    ig_location where = { .file = reader->file,
                          .line = node->line,
                          .column = node->column };
    const char *name = ig_ast_dotted(node, reader->types->arena);
    ig_str text = node->source.size ? node->source : ig_str_of(name ? name : "this");
    return ig_error(&reader->types->context->diag, IG_INVALID, &where, "'%.*s' %s",
                    IG_STR_ARG(text), what);
}

/* ---- names ---- */

typedef struct type_name {
    const char *text;
    ig_script_kind kind;
} type_name;

/* Those that print as themselves, and other spellings. */
static const type_name simple_names[] = {
#define IG_ROW(name, text) { text, IG_SCRIPT_##name },
    IG_SCRIPT_TYPE_LIST(IG_ROW)
#undef IG_ROW
};

static const type_name other_names[] = {
    { "None", IG_SCRIPT_NONE },           { "Scalar", IG_SCRIPT_NUMBER },
    { "Layout", IG_SCRIPT_INT },          { "MemoryFormat", IG_SCRIPT_INT },
    { "ScalarType", IG_SCRIPT_INT },      { "Device", IG_SCRIPT_DEVICE },
    { "AnyList", IG_SCRIPT_ANY_LIST },    { "AnyTuple", IG_SCRIPT_ANY_TUPLE },
    { "torch.Tensor", IG_SCRIPT_TENSOR }, { "torch.device", IG_SCRIPT_DEVICE },
    { "torch.dtype", IG_SCRIPT_INT },
};

static const type_name *find_name(const type_name *names, size_t count,
                                  const char *text) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i].text, text) == 0) {
            return &names[i];
        }
    }
    return NULL;
}

static ig_status read_name(const type_reader *reader, const ig_ast *node,
                           const ig_script_type **out_type) {
    const char *text = ig_ast_dotted(node, reader->types->arena);
    if (!text) {
        return report_type(reader, node, "is not a type");
    }
    const type_name *known = find_name(simple_names, IG_SCRIPT_LIST, text);
    if (!known) {
        known = find_name(other_names, IG_COUNT_OF(other_names), text);
    }
    if (known) {
        assert(known->kind < IG_SCRIPT_LIST &&
               "names without items are of simple types");
        *out_type = reader->types->simple[known->kind];
        return IG_OK;
    }
    if (!strchr(text, '.')) {
        return report_type(reader, node, "is not a type");
    }
    *out_type = ig_script_type_class(reader->types, text);
    return IG_OK;
}

/* ---- List[…] and the like ---- */

static ig_status read_type(const type_reader *reader, const ig_ast *node,
                           const ig_script_type **out_type);

/* The types between the brackets. */
static ig_status read_items(const type_reader *reader, const ig_ast *index,
                            const ig_script_type ***out_items, size_t *out_count) {
    ig_ast *const *nodes = (ig_ast *const[]){ (ig_ast *)(uintptr_t)index };
    size_t count = 1;
    if (index->kind == IG_AST_TUPLE) {
        nodes = index->as.list.items;
        count = index->as.list.count;
    }
    const ig_script_type **items = IG_NEW_ARRAY(reader->types->arena,
                                                const ig_script_type *, count);
    for (size_t i = 0; i < count; i++) {
        IG_TRY(read_type(reader, nodes[i], &items[i]));
    }
    *out_items = items;
    *out_count = count;
    return IG_OK;
}

static bool count_is_right(ig_script_kind kind, size_t count) {
    switch ((int)kind) {
    case IG_SCRIPT_TUPLE:
        return true;
    case IG_SCRIPT_UNION:
        return count >= 1;
    case IG_SCRIPT_DICT:
        return count == 2;
    default:
        return count == 1;
    }
}

static ig_status read_subscript(const type_reader *reader, const ig_ast *node,
                                const ig_script_type **out_type) {
    const ig_ast *head = node->as.subscript.object, *index = node->as.subscript.index;
    const char *text = ig_ast_dotted(head, reader->types->arena);
    if (text && strncmp(text, "typing.", 7) == 0) {
        text += 7;
    }
    if (text && strcmp(text, "Final") == 0) {
        return read_type(reader, index, out_type);
    }
    const type_name *known = text ? find_name(simple_names + IG_SCRIPT_LIST,
                                              IG_SCRIPT_CLASS - IG_SCRIPT_LIST, text)
                                  : NULL;
    if (!known) {
        return report_type(reader, head, "is not a type with parameters");
    }
    const ig_script_type **items;
    size_t count;
    IG_TRY(read_items(reader, index, &items, &count));
    if (!count_is_right(known->kind, count)) {
        return report_type(reader, node, "takes another number of types");
    }
    *out_type = ig_script_type_make(reader->types, known->kind, items, count);
    return IG_OK;
}

static ig_status read_type(const type_reader *reader, const ig_ast *node,
                           const ig_script_type **out_type) {
    switch ((int)node->kind) {
    case IG_AST_NONE:
        *out_type = reader->types->simple[IG_SCRIPT_NONE];
        return IG_OK;
    case IG_AST_NAME:
    case IG_AST_ATTRIBUTE:
        return read_name(reader, node, out_type);
    case IG_AST_SUBSCRIPT:
        return read_subscript(reader, node, out_type);
    default:
        return report_type(reader, node, "is not a type");
    }
}

/* ---- all ---- */

ig_status ig_script_type_of_ast(ig_script_types *types, const char *file,
                                const ig_ast *annotation,
                                const ig_script_type **out_type) {
    type_reader reader = { types, file };
    return read_type(&reader, annotation, out_type);
}

ig_status ig_script_type_of_text(ig_script_types *types, const ig_location *where,
                                 ig_str text, const ig_script_type **out_type) {
    ig_map names;
    uint32_t node_count = 0;
    ig_script_source source = { .context = types->context,
                                .arena = types->arena,
                                .names = &names,
                                .node_count = &node_count,
                                .is_dialect = true };
    ig_map_init(&names, types->arena);
    source.file = ig_arena_printf(types->arena, "%s%stype '%.*s'",
                                  where->file ? where->file : "",
                                  where->file ? ": " : "", IG_STR_ARG(text));
    ig_ast *annotation;
    IG_TRY(ig_parse_expression(&source, text, &annotation));
    return ig_script_type_of_ast(types, source.file, annotation, out_type);
}
