/* Reads operator schemas.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/language/schema.h"

#include "base/vec.h"
#include "frontend/torch/language/parse.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct schema_reader {
    ig_script_types *types;
    ig_map *names;
    const ig_location *where;
    const char *text, *next; /* zero-terminated */
} schema_reader;

/* ---- characters ---- */

static ig_status report_expected(schema_reader *reader, const char *expected) {
    ig_location where = *reader->where;
    return ig_error(&reader->types->context->diag, IG_INVALID, &where,
                    "schema '%s': expected %s at '%.20s'", reader->text, expected,
                    reader->next);
}

static void skip_blanks(schema_reader *reader) {
    while (*reader->next == ' ') {
        reader->next++;
    }
}

static bool accept_text(schema_reader *reader, const char *text) {
    skip_blanks(reader);
    size_t size = strlen(text);
    if (strncmp(reader->next, text, size) != 0) {
        return false;
    }
    reader->next += size;
    return true;
}

static ig_status expect_text(schema_reader *reader, const char *text) {
    return accept_text(reader, text) ? IG_OK : report_expected(reader, text);
}

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_';
}

/* Letters, digits and `_`, also `.` when `dotted`; empty: none. */
static ig_str read_word(schema_reader *reader, bool dotted) {
    skip_blanks(reader);
    const char *begin = reader->next;
    while (is_word(*reader->next) ||
           (dotted && *reader->next == '.' && is_word(reader->next[1]))) {
        reader->next++;
    }
    return (ig_str){ begin, (size_t)(reader->next - begin) };
}

/* ---- alias sets ---- */

static char read_set(schema_reader *reader, ig_alias *alias) {
    ig_str set = accept_text(reader, "*") ? IG_STR("*") : read_word(reader, false);
    if (accept_text(reader, "!")) {
        alias->is_written = true;
    }
    while (accept_text(reader, "|")) {
        read_word(reader, false);
    }
    return set.size ? set.data[0] : 0;
}

/* After "(". */
static ig_status read_alias(schema_reader *reader, ig_alias *alias) {
    alias->before = alias->after = read_set(reader, alias);
    if (accept_text(reader, "->")) {
        alias->after = read_set(reader, alias);
    }
    return alias->before && alias->after ? expect_text(reader, ")")
                                         : report_expected(reader, "an alias set");
}

/* ---- types ---- */

typedef struct typed {
    const ig_script_type *type;
    int64_t list_size;
    ig_alias alias, element_alias;
} typed;

static ig_status read_type(schema_reader *reader, int depth, typed *out);

static const struct {
    const char *text;
    ig_script_kind kind;
} names[] = {
    { "Tensor", IG_SCRIPT_TENSOR },
    { "int", IG_SCRIPT_INT },
    { "SymInt", IG_SCRIPT_INT },
    { "ScalarType", IG_SCRIPT_INT },
    { "Layout", IG_SCRIPT_INT },
    { "MemoryFormat", IG_SCRIPT_INT },
    { "int64_t", IG_SCRIPT_INT },
    { "float", IG_SCRIPT_FLOAT },
    { "SymFloat", IG_SCRIPT_FLOAT },
    { "bool", IG_SCRIPT_BOOL },
    { "SymBool", IG_SCRIPT_BOOL },
    { "complex", IG_SCRIPT_COMPLEX },
    { "Scalar", IG_SCRIPT_NUMBER },
    { "number", IG_SCRIPT_NUMBER },
    { "str", IG_SCRIPT_STR },
    { "Dimname", IG_SCRIPT_STR },
    { "NoneType", IG_SCRIPT_NONE },
    { "Any", IG_SCRIPT_ANY },
    { "Device", IG_SCRIPT_DEVICE },
    { "Generator", IG_SCRIPT_GENERATOR },
    { "Stream", IG_SCRIPT_STREAM },
    { "Storage", IG_SCRIPT_STORAGE },
    { "QScheme", IG_SCRIPT_QSCHEME },
    { "Capsule", IG_SCRIPT_CAPSULE },
    { "AnyEnumType", IG_SCRIPT_ANY_ENUM },
    { "AnyClassType", IG_SCRIPT_ANY_CLASS },
    { "AnyListType", IG_SCRIPT_ANY_LIST },
    { "AnyTupleType", IG_SCRIPT_ANY_TUPLE },
};

static const struct {
    const char *text;
    ig_script_kind kind;
    size_t count;
} heads[] = {
    { "Dict", IG_SCRIPT_DICT, 2 },         { "Future", IG_SCRIPT_FUTURE, 1 },
    { "Await", IG_SCRIPT_AWAIT, 1 },       { "RRef", IG_SCRIPT_RREF, 1 },
    { "Optional", IG_SCRIPT_OPTIONAL, 1 },
};

/* Types up to ")", which is taken. */
static ig_status read_types(schema_reader *reader, int depth, ig_script_kind kind,
                            const ig_script_type **out_type) {
    IG_VEC(const ig_script_type *) items = { 0 };
    while (!accept_text(reader, ")")) {
        typed item = { 0 };
        if (items.count) {
            IG_TRY(expect_text(reader, ","));
        }
        IG_TRY(read_type(reader, depth + 1, &item));
        IG_PUSH(reader->types->arena, &items, item.type);
    }
    if (kind != IG_SCRIPT_TUPLE && items.count != (kind == IG_SCRIPT_DICT ? 2u : 1u)) {
        return report_expected(reader, "another number of types");
    }
    *out_type = ig_script_type_make(reader->types, kind, items.items, items.count);
    return IG_OK;
}

static ig_status read_base(schema_reader *reader, int depth,
                           const ig_script_type **out_type) {
    if (accept_text(reader, "(")) {
        return read_types(reader, depth, IG_SCRIPT_TUPLE, out_type);
    }
    ig_str word = read_word(reader, true);
    if (word.size == 0 || (word.data[0] >= '0' && word.data[0] <= '9')) {
        return report_expected(reader, "a type");
    }
    for (size_t i = 0; i < IG_COUNT_OF(heads); i++) {
        if (ig_str_is(word, heads[i].text) && accept_text(reader, "(")) {
            return read_types(reader, depth, heads[i].kind, out_type);
        }
    }
    for (size_t i = 0; i < IG_COUNT_OF(names); i++) {
        if (ig_str_is(word, names[i].text)) {
            *out_type = reader->types->simple[names[i].kind];
            return IG_OK;
        }
    }
    const char *name = ig_names_intern(reader->names, word);
    bool is_variable = word.data[0] >= 'a' && word.data[0] <= 'z';
    *out_type = is_variable ? ig_script_type_variable(reader->types, name)
                            : ig_script_type_class(reader->types, name);
    return IG_OK;
}

/* "[]", "[2]": *out_size is 0 or 2. */
static ig_status read_list(schema_reader *reader, int64_t *out_size) {
    *out_size = 0;
    ig_str digits = read_word(reader, false);
    bool is_number = digits.size == 0 || ig_str_to_i64(digits, out_size);
    if (!is_number || *out_size < 0 || *out_size > 32) {
        return report_expected(reader, "a number of items up to 32");
    }
    return expect_text(reader, "]");
}

static ig_status read_type(schema_reader *reader, int depth, typed *out) {
    if (depth > 16) {
        return report_expected(reader, "less nesting");
    }
    IG_TRY(read_base(reader, depth, &out->type));
    for (;;) {
        if (*reader->next == '(') {
            reader->next++;
            IG_TRY(read_alias(reader, &out->alias));
        } else if (*reader->next == '[') {
            reader->next++;
            IG_TRY(read_list(reader, &out->list_size));
            out->type = ig_script_type_list(reader->types, out->type);
            out->element_alias = out->alias;
            out->alias = (ig_alias){ 0 };
        } else if (*reader->next == '?') {
            reader->next++;
            out->type = ig_script_type_optional(reader->types, out->type);
        } else {
            return IG_OK;
        }
    }
}

/* ---- arguments ---- */

static bool is_literal(const ig_ast *node) {
    switch ((int)node->kind) {
    case IG_AST_NONE:
    case IG_AST_BOOL:
    case IG_AST_INT:
    case IG_AST_FLOAT:
    case IG_AST_STRING:
        return true;
    case IG_AST_LIST:
        for (size_t i = 0; i < node->as.list.count; i++) {
            if (!is_literal(node->as.list.items[i])) {
                return false;
            }
        }
        return true;
    default:
        return false;
    }
}

/* Behind "=": up to the comma or parenthesis that ends the argument. */
static ig_status read_default(schema_reader *reader, ig_ast **out_value) {
    const char *begin = reader->next;
    char quote = '\0';
    int brackets = 0;
    for (; *reader->next; reader->next++) {
        char c = *reader->next;
        if (!quote && !brackets && (c == ',' || c == ')')) {
            break;
        }
        brackets += quote ? 0 : (c == '[') - (c == ']');
        reader->next += quote && c == '\\' && reader->next[1];
        quote = c == quote ? '\0' : !quote && (c == '"' || c == '\'') ? c : quote;
    }
    uint32_t nodes = 0;
    ig_script_source source = { .context = reader->types->context,
                                .arena = reader->types->arena,
                                .names = reader->names,
                                .node_count = &nodes,
                                .file = reader->text,
                                .is_dialect = true };
    ig_str text = { begin, (size_t)(reader->next - begin) };
    IG_TRY(ig_parse_expression(&source, text, out_value));
    return is_literal(*out_value) ? IG_OK : report_expected(reader, "a literal before");
}

static ig_status read_argument(schema_reader *reader, ig_schema_argument *argument) {
    typed type = { 0 };
    IG_TRY(read_type(reader, 0, &type));
    argument->type = type.type;
    argument->list_size = type.list_size;
    argument->alias = type.alias;
    argument->element_alias = type.element_alias;
    ig_str name = read_word(reader, false);
    if (name.size) {
        argument->name = ig_names_intern(reader->names, name);
    }
    return accept_text(reader, "=") ? read_default(reader, &argument->value) : IG_OK;
}

typedef struct argument_list {
    IG_VEC(ig_schema_argument) items;
    bool is_variadic;
} argument_list;

/* After "(", up to and with ")". */
static ig_status read_arguments(schema_reader *reader, argument_list *list) {
    bool is_keyword_only = false;
    for (bool is_first = true; !accept_text(reader, ")"); is_first = false) {
        if (!is_first) {
            IG_TRY(expect_text(reader, ","));
        }
        if (accept_text(reader, "...")) {
            list->is_variadic = true;
            continue;
        }
        if (accept_text(reader, "*")) {
            is_keyword_only = true;
            continue;
        }
        ig_schema_argument argument = { .is_keyword_only = is_keyword_only };
        IG_TRY(read_argument(reader, &argument));
        IG_PUSH(reader->types->arena, &list->items, argument);
    }
    return IG_OK;
}

static ig_status read_results(schema_reader *reader, argument_list *list) {
    if (accept_text(reader, "...")) {
        list->is_variadic = true;
        return IG_OK;
    }
    if (accept_text(reader, "(")) {
        return read_arguments(reader, list);
    }
    ig_schema_argument result = { 0 };
    IG_TRY(read_argument(reader, &result));
    IG_PUSH(reader->types->arena, &list->items, result);
    return IG_OK;
}

/* ---- all ---- */

static ig_status read_name(schema_reader *reader, ig_schema *schema) {
    ig_arena *arena = reader->types->arena;
    ig_str space = read_word(reader, true); /* a class may be the space */
    IG_TRY(expect_text(reader, "::"));
    ig_str name = read_word(reader, false);
    if (space.size == 0 || name.size == 0) {
        return report_expected(reader, "a name");
    }
    schema->name = ig_arena_printf(arena, "%.*s::%.*s", IG_STR_ARG(space),
                                   IG_STR_ARG(name));
    ig_str overload = { "", 0 };
    if (accept_text(reader, ".")) {
        overload = read_word(reader, false);
    }
    schema->overload = ig_arena_copy(arena, overload.data, overload.size);
    return expect_text(reader, "(");
}

ig_status ig_schema_parse(ig_script_types *types, ig_map *argument_names,
                          const char *text, const ig_location *where,
                          ig_schema **out_schema) {
    schema_reader reader = { types, argument_names, where, text, text };
    ig_schema *schema = IG_NEW(types->arena, ig_schema);
    argument_list arguments = { 0 }, results = { 0 };
    schema->text = text;
    IG_TRY(read_name(&reader, schema));
    IG_TRY(read_arguments(&reader, &arguments));
    IG_TRY(expect_text(&reader, "->"));
    IG_TRY(read_results(&reader, &results));
    skip_blanks(&reader);
    if (*reader.next) {
        return report_expected(&reader, "the end");
    }
    for (size_t i = 0; i < arguments.items.count; i++) {
        if (!arguments.items.items[i].name) {
            return report_expected(&reader, "a name for each argument");
        }
    }
    schema->arguments = arguments.items.items;
    schema->argument_count = arguments.items.count;
    schema->results = results.items.items;
    schema->result_count = results.items.count;
    schema->is_vararg = arguments.is_variadic;
    *out_schema = schema;
    return IG_OK;
}

int ig_schema_argument_index(const ig_schema *schema, const char *name) {
    for (size_t i = 0; i < schema->argument_count; i++) {
        assert(schema->arguments[i].name &&
               "ig_schema_parse refuses arguments without names");
        if (strcmp(schema->arguments[i].name, name) == 0) {
            return (int)i;
        }
    }
    return -1;
}
