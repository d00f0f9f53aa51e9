/* Default values of operator schemas, and how schemas print.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/language/schema_inside.h"
#include "frontend/torch/language/token.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Words that stand for numbers where a schema is written by hand. */
static const struct {
    const char *text;
    ig_literal value;
} words[] = {
    { "None", { .kind = IG_LITERAL_NONE } },
    { "True", { .kind = IG_LITERAL_BOOL, .b = true } },
    { "False", { .kind = IG_LITERAL_BOOL } },
    { "Mean", { .kind = IG_LITERAL_INT, .i = 1 } },
    { "contiguous_format", { .kind = IG_LITERAL_INT, .i = 0 } },
    { "strided", { .kind = IG_LITERAL_INT, .i = 0 } },
    { "long", { .kind = IG_LITERAL_INT, .i = 4 } },
    { "inf", { .kind = IG_LITERAL_FLOAT, .f = INFINITY } },
    { "nan", { .kind = IG_LITERAL_FLOAT, .f = NAN } },
};

static ig_status report_default(ig_schema_reader *reader) {
    return ig_error(&reader->types->context->diag, IG_INVALID, reader->where,
                    "schema '%s': expected a default at '%.20s'", reader->text,
                    reader->next);
}

static ig_status read_number(ig_schema_reader *reader, ig_literal *value) {
    size_t size = strspn(reader->next, "+-.0123456789eE");
    ig_str text = { reader->next, size };
    reader->next += size;
    if (ig_str_to_i64(text, &value->i)) {
        value->kind = IG_LITERAL_INT;
        return IG_OK;
    }
    value->kind = IG_LITERAL_FLOAT;
    return ig_str_to_f64(text, &value->f) ? IG_OK : report_default(reader);
}

static ig_status read_string(ig_schema_reader *reader, ig_literal *value) {
    assert((*reader->next == '"' || *reader->next == '\'') && "the caller saw a quote");
    const char *begin = reader->next++;
    while (*reader->next && *reader->next != *begin) {
        reader->next += *reader->next == '\\' && reader->next[1] ? 2 : 1;
    }
    if (!*reader->next) {
        return report_default(reader);
    }
    reader->next++;
    ig_py_string_form form =
        ig_py_token_string_form((ig_str){ begin, (size_t)(reader->next - begin) });
    char *out = ig_arena_alloc(reader->types->arena, form.body.size + 1);
    size_t size = 0;
    if (ig_py_token_unescape(&form, true, out, &size)) {
        return report_default(reader);
    }
    *value = (ig_literal){ .kind = IG_LITERAL_STR, .text = { out, size } };
    return IG_OK;
}

static ig_status read_plain(ig_schema_reader *reader, ig_literal *value) {
    if (*reader->next == '"' || *reader->next == '\'') {
        return read_string(reader, value);
    }
    for (size_t i = 0; i < IG_COUNT_OF(words); i++) {
        size_t size = strlen(words[i].text);
        if (strncmp(reader->next, words[i].text, size) == 0) {
            *value = words[i].value;
            reader->next += size;
            return IG_OK;
        }
    }
    return read_number(reader, value);
}

static void skip_blanks(ig_schema_reader *reader) {
    reader->next += strspn(reader->next, " ");
}

/* After "[". */
static ig_status read_list(ig_schema_reader *reader, ig_literal *value) {
    IG_VEC(ig_literal) items = { 0 };
    skip_blanks(reader);
    while (*reader->next != ']') {
        ig_literal item = { 0 };
        if (items.count) {
            if (*reader->next != ',') {
                return report_default(reader);
            }
            reader->next++;
            skip_blanks(reader);
        }
        IG_TRY(read_plain(reader, &item));
        IG_PUSH(reader->types->arena, &items, item);
        skip_blanks(reader);
    }
    reader->next++;
    *value = (ig_literal){ .kind = IG_LITERAL_LIST,
                           .items = items.items,
                           .count = items.count };
    return IG_OK;
}

/* A float's default may be written as an integer, a list's as one number. */
static void fit_default(ig_script_types *types, const ig_schema_argument *argument,
                        const ig_script_type *type, ig_literal *value) {
    assert(argument->list_size >= 0 && "read_list checked the size");
    if (type->kind == IG_SCRIPT_OPTIONAL) {
        type = type->items[0];
    }
    if (type->kind == IG_SCRIPT_FLOAT && value->kind == IG_LITERAL_INT) {
        value->kind = IG_LITERAL_FLOAT;
        value->f = (double)value->i;
    }
    bool is_number = value->kind == IG_LITERAL_INT || value->kind == IG_LITERAL_FLOAT ||
                     value->kind == IG_LITERAL_BOOL;
    if (type->kind == IG_SCRIPT_LIST && is_number) {
        ig_literal *items = IG_NEW_ARRAY(types->arena, ig_literal,
                                         (size_t)argument->list_size);
        for (int64_t i = 0; i < argument->list_size; i++) {
            items[i] = *value;
        }
        *value = (ig_literal){ .kind = IG_LITERAL_LIST,
                               .items = items,
                               .count = (size_t)argument->list_size };
    }
    bool is_flat = type->kind == IG_SCRIPT_LIST && type->items[0]->count == 0;
    for (size_t i = 0; is_flat && i < value->count; i++) {
        fit_default(types, argument, type->items[0], &value->items[i]); /* not deeper */
    }
}

ig_status ig_schema_read_default(ig_schema_reader *reader,
                                 ig_schema_argument *argument) {
    skip_blanks(reader);
    if (*reader->next == '[') {
        reader->next++;
        IG_TRY(read_list(reader, &argument->value));
    } else {
        IG_TRY(read_plain(reader, &argument->value));
    }
    fit_default(reader->types, argument, argument->type, &argument->value);
    return IG_OK;
}

/* ---- printing ---- */

static void put_alias(ig_writer *w, const ig_alias *alias) {
    if (!alias->before) {
        return;
    }
    ig_put(w, "(%c%s", alias->before, alias->is_written ? "!" : "");
    if (alias->other) {
        ig_put(w, "|%c", alias->other);
    }
    if (alias->after != alias->before) {
        ig_put(w, " -> %c", alias->after);
    }
    ig_put_char(w, ')');
}

static void put_type(ig_writer *w, const ig_script_type *type,
                     const ig_schema_argument *argument) {
    static const char *const brackets[] = { [IG_SCRIPT_DICT] = "Dict(",
                                            [IG_SCRIPT_FUTURE] = "Future(",
                                            [IG_SCRIPT_AWAIT] = "Await(",
                                            [IG_SCRIPT_RREF] = "RRef(",
                                            [IG_SCRIPT_TUPLE] = "(" };
    if (type->kind == IG_SCRIPT_OPTIONAL) {
        put_type(w, type->items[0], argument);
        ig_put_char(w, '?');
        return;
    }
    if (type->kind == IG_SCRIPT_LIST) {
        ig_schema_argument element = { 0 };
        element.alias = argument->element_alias;
        put_type(w, type->items[0], &element);
        ig_put(w, argument->list_size ? "[%lld]" : "[]",
               (long long)argument->list_size);
    } else if (type->count || type->kind == IG_SCRIPT_TUPLE) {
        ig_schema_argument none = { 0 };
        assert(type->kind < IG_COUNT_OF(brackets) && brackets[type->kind] &&
               "schemas have no other types with items");
        ig_put(w, "%s", brackets[type->kind]);
        for (size_t i = 0; i < type->count; i++) {
            ig_put(w, "%s", i ? ", " : "");
            put_type(w, type->items[i], &none);
        }
        ig_put_char(w, ')');
    } else {
        ig_put(w, "%s", type->kind == IG_SCRIPT_NUMBER ? "Scalar" : type->name);
    }
    put_alias(w, &argument->alias);
}

static void put_float(ig_writer *w, double value) {
    bool is_whole = fabs(value) < 1e10 && value == trunc(value);
    ig_put(w, is_whole ? "%.0f." : "%.17g", value);
}

static void put_literal(ig_writer *w, const ig_literal *value) {
    switch (value->kind) {
    case IG_LITERAL_NONE:
        ig_put(w, "None");
        break;
    case IG_LITERAL_BOOL:
        ig_put(w, value->b ? "True" : "False");
        break;
    case IG_LITERAL_INT:
        ig_put(w, "%lld", (long long)value->i);
        break;
    case IG_LITERAL_FLOAT:
        put_float(w, value->f);
        break;
    case IG_LITERAL_STR:
        ig_put_quoted(w, value->text);
        break;
    case IG_LITERAL_LIST:
        ig_put_char(w, '[');
        for (size_t i = 0; i < value->count; i++) {
            ig_put(w, "%s", i ? ", " : "");
            put_literal(w, &value->items[i]); /* lists hold no lists */
        }
        ig_put_char(w, ']');
        break;
    }
}

static void put_argument(ig_writer *w, const ig_schema_argument *argument) {
    put_type(w, argument->type, argument);
    if (argument->name) {
        ig_put(w, " %s", argument->name);
    }
    if (argument->has_default) {
        ig_put_char(w, '=');
        put_literal(w, &argument->value);
    }
}

/* Begins it with a parenthesis?  A lone result would read as several. */
static bool begins_as_tuple(const ig_script_type *type) {
    while (type->kind == IG_SCRIPT_LIST || type->kind == IG_SCRIPT_OPTIONAL) {
        type = type->items[0];
    }
    return type->kind == IG_SCRIPT_TUPLE;
}

static void put_results(ig_writer *w, const ig_schema *schema) {
    size_t count = schema->result_count;
    bool is_bare = schema->is_varret
                       ? count == 0
                       : count == 1 && !begins_as_tuple(schema->results[0].type);
    ig_put(w, is_bare ? "" : "(");
    for (size_t i = 0; i < count; i++) {
        ig_put(w, "%s", i ? ", " : "");
        put_argument(w, &schema->results[i]);
    }
    if (schema->is_varret) {
        ig_put(w, count ? ", ..." : "...");
    }
    ig_put(w, is_bare ? "" : ")");
}

void ig_schema_print(ig_writer *writer, const ig_schema *schema) {
    bool is_keyword_only = false;
    ig_put(writer, "%s%s%s(", schema->name, *schema->overload ? "." : "",
           schema->overload);
    for (size_t i = 0; i < schema->argument_count; i++) {
        const ig_schema_argument *argument = &schema->arguments[i];
        ig_put(writer, "%s", i ? ", " : "");
        if (argument->is_keyword_only && !is_keyword_only) {
            ig_put(writer, "*, ");
            is_keyword_only = true;
        }
        put_argument(writer, argument);
    }
    if (schema->is_vararg) {
        ig_put(writer, schema->argument_count ? ", ..." : "...");
    }
    ig_put(writer, ") -> ");
    put_results(writer, schema);
}
