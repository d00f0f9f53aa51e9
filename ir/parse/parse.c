/* Modules from text: symbols, weights, tables, graphs.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A hand-written lexer and recursive descent, the mirror of print.c; docs/ir-text.md is
 * the reference.  Text is as hostile as any model file: nesting is bounded, numbers are
 * checked, and the graphs are verified before anyone else sees them.
 */
#include "ir/parse/parse.h"

#include "ir/semantics/check.h"
#include "ir/verify/verify.h"

#include <string.h>

/* ---- symbols ---- */

typedef struct symbol_facts {
    int64_t min, max, multiple;
    const char *origin;
    ig_dim defined;
} symbol_facts;

static ig_status read_fact(ig_parser *p, symbol_facts *facts) {
    const struct {
        const char *name;
        int64_t *value;
    } numbers[] = { { "min", &facts->min },
                    { "max", &facts->max },
                    { "multiple", &facts->multiple } };
    for (size_t i = 0; i < IG_COUNT_OF(numbers); i++) {
        if (ig_parse_accept_word(p, numbers[i].name)) {
            IG_TRY(ig_parse_expect(p, '=', "'='"));
            return ig_parse_integer(p, "an integer", numbers[i].value);
        }
    }
    if (ig_parse_accept_word(p, "origin")) {
        IG_TRY(ig_parse_expect(p, '=', "'='"));
        return ig_parse_quoted(p, "a quoted text", &facts->origin);
    }
    if (ig_parse_accept_word(p, "defined")) {
        IG_TRY(ig_parse_expect(p, '=', "'='"));
        return ig_parse_definition(p, &facts->defined);
    }
    return ig_parse_expected(p, "min, max, multiple, origin or defined");
}

static ig_status read_facts(ig_parser *p, symbol_facts *facts) {
    if (!ig_parse_accept(p, '{')) {
        return IG_OK;
    }
    while (!ig_parse_is(p, '}')) {
        IG_TRY(read_fact(p, facts));
        if (!ig_parse_accept(p, ',')) {
            break;
        }
    }
    return ig_parse_expect(p, '}', "',' or '}'");
}

/* The symbol is made after its definition, which so can mention only earlier ones. */
static ig_status read_symbol(ig_parser *p) {
    ig_token name = p->token;
    symbol_facts facts = { .max = INT64_MAX, .multiple = 1 };
    IG_TRY(ig_parse_expect(p, IG_TOKEN_WORD, "the symbol's name"));
    IG_TRY(read_facts(p, &facts));
    if (facts.min > facts.max || facts.multiple < 1) {
        return ig_parse_error(p, &name, "no number is in this range");
    }
    uint32_t before = ig_symbol_count(p->module);
    ig_symbol *symbol = ig_dim_as_symbol(p->module, ig_dim_named(p->module, name.text));
    if (ig_symbol_count(p->module) == before) {
        return ig_parse_error(p, &name, "symbol %.*s was used or declared before here",
                              IG_STR_ARG(name.text));
    }
    symbol->min = facts.min;
    symbol->max = facts.max;
    symbol->multiple = facts.multiple;
    symbol->origin = facts.origin;
    symbol->defined = facts.defined;
    symbol->level = ig_symbol_is_defined(symbol)
                        ? ig_dim_level(p->module, facts.defined) + 1
                        : 0;
    if (symbol->level > IG_DIM_LEVELS_MAX) {
        return ig_parse_error(p, &name, "more than %d definitions after %.*s",
                              IG_DIM_LEVELS_MAX, IG_STR_ARG(name.text));
    }
    return IG_OK;
}

/* ---- weights and tables ---- */

static ig_status read_recipe(ig_parser *p, ig_data *data, int64_t *out_index) {
    ig_token at = p->token;
    ig_parse_advance(p);
    IG_TRY(ig_parse_expect(p, '(', "'('"));
    IG_TRY(ig_parse_integer(p, "a result's number", out_index));
    if (*out_index < 0 || *out_index > UINT32_MAX) {
        return ig_parse_error(p, &at, "there is no such result");
    }
    data->bytes = NULL;
    return ig_parse_expect(p, ')', "')'");
}

static ig_status check_weight(ig_parser *p, const ig_token *at, const char *name,
                              bool is_table, const ig_type *type) {
    if (ig_module_weight(p->module, name)) {
        return ig_parse_error(p, at, "there is a weight or table @%s already", name);
    }
    if ((type->kind == IG_TABLE) != is_table ||
        (type->kind != IG_TABLE && type->kind != IG_TENSOR)) {
        return ig_parse_error(
            p, at,
            "a weight is a tensor, f32[2, 3]; a table has rows, i8<rowwise f16>[2, 3]");
    }
    if (!ig_type_is_static(type)) {
        return ig_parse_error(p, at, "the extents of a constant are numbers");
    }
    return IG_OK;
}

/* "{parameter}", or nothing. */
static ig_status read_mark(ig_parser *p, bool *out_is_parameter) {
    *out_is_parameter = ig_parse_accept(p, '{');
    if (!*out_is_parameter) {
        return IG_OK;
    }
    return ig_parse_accept_word(p, "parameter") ? ig_parse_expect(p, '}', "'}'")
                                                : ig_parse_expected(p, "parameter");
}

static ig_status read_weight(ig_parser *p, bool is_table) {
    const ig_type *type;
    const char *name;
    int64_t index = -1;
    IG_TRY(ig_parse_item_name(p, "a name, @name", &name));
    IG_TRY(ig_parse_expect(p, ':', "':' and a type"));
    ig_token at = p->token;
    IG_TRY(ig_parse_type_here(p, &type));
    IG_TRY(check_weight(p, &at, name, is_table, type));
    IG_TRY(ig_parse_expect(p, '=', "'=' and the content"));
    ig_data data = { .type = type };
    if (ig_parse_is_word(p, "recipe")) {
        IG_TRY(read_recipe(p, &data, &index));
    } else {
        IG_TRY(ig_parse_data(p, type, &data));
    }
    ig_weight *weight = ig_module_add_weight(p->module, name, &data);
    weight->is_recipe = index >= 0;
    weight->index = weight->is_recipe ? (uint32_t)index : 0;
    return read_mark(p, &weight->is_parameter);
}

/* ---- modules ---- */

static ig_status read_item(ig_parser *p) {
    if (ig_parse_accept_word(p, "symbol")) {
        return read_symbol(p);
    }
    if (ig_parse_accept_word(p, "weight")) {
        return read_weight(p, false);
    }
    if (ig_parse_accept_word(p, "table")) {
        return read_weight(p, true);
    }
    return ig_parse_graph(p);
}

static ig_status read_items(ig_parser *p) {
    while (!ig_parse_is(p, '}') && !ig_parse_is(p, IG_TOKEN_END)) {
        ig_parse_position start = ig_parse_here(p);
        IG_TRY(ig_parse_go_on(p, read_item(p), &start));
    }
    IG_TRY(ig_parse_expect(p, '}', "'}'"));
    return ig_parse_is(p, IG_TOKEN_END)
               ? IG_OK
               : ig_parse_expected(p, "nothing after the module");
}

static ig_status read_module(ig_parser *p) {
    const char *name;
    if (!ig_parse_accept_word(p, "module")) {
        return ig_parse_expected(p, "'module'");
    }
    IG_TRY(ig_parse_item_name(p, "the module's name, @name", &name));
    p->module->name = name;
    IG_TRY(ig_parse_expect(p, '{', "'{'"));
    IG_TRY(read_items(p));
    return p->error_count ? IG_INVALID : ig_verify_input(p->module, p->file);
}

/* "<memory>" is in no folder. */
static const char *folder_of(ig_module *module, const char *file) {
    if (!file || file[0] == '<') {
        return NULL;
    }
    const char *slash = strrchr(file, '/');
    size_t size = slash ? (size_t)(slash - file) + 1 : 0;
    return ig_module_string(module, (ig_str){ file, size });
}

ig_status ig_parse_module(ig_context *context, const char *file, ig_str text,
                          ig_module **out_module) {
    ig_parser parser;
    ig_module *module = ig_module_create(context, "");
    *out_module = module;
    module->folder = folder_of(module, file);
    ig_module_want_guards(module);
    ig_parser_init(&parser, module, file, text);
    ig_status status = read_module(&parser);
    if (status != IG_OK) {
        ig_module_destroy(module);
        *out_module = NULL;
    }
    return status;
}
