/* Names of values: the meaning of %x and @w at a place in the text.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A name is visible from its definition to the end of its block, bodies included.  It
 * may come again in a later block, but never hides another.  A name whose definition
 * was broken is poisoned: its uses fail silently, since the cause was reported.
 */
#include "ir/parse/parse.h"

#include "ir/build/build.h"

typedef struct value_name {
    ig_value *value; /* NULL: poisoned */
    uint32_t line;
    bool is_visible;
} value_name;

static value_name *show_name(ig_parser *parser, const ig_token *name, ig_value *value) {
    value_name *entry = ig_map_get(&parser->values, name->text);
    if (!entry) {
        entry = IG_NEW(parser->arena, value_name);
        ig_map_set(&parser->values, name->text, entry);
    }
    *entry = (value_name){ value, name->line, true };
    IG_PUSH(parser->arena, &parser->scope, entry);
    return entry;
}

ig_status ig_parse_define(ig_parser *parser, const ig_token *name, ig_value *value) {
    const value_name *known = ig_map_get(&parser->values, name->text);
    if (known && known->is_visible) {
        return ig_parse_error(parser, name, "%%%.*s is defined already on line %u",
                              IG_STR_ARG(name->text), known->line);
    }
    show_name(parser, name, value);
    return IG_OK;
}

void ig_parse_poison(ig_parser *parser, const ig_token *name) {
    const value_name *known = ig_map_get(&parser->values, name->text);
    if (!known || !known->is_visible) {
        show_name(parser, name, NULL);
    }
}

size_t ig_parse_open_scope(const ig_parser *parser) {
    return parser->scope.count;
}

void ig_parse_close_scope(ig_parser *parser, size_t mark) {
    while (parser->scope.count > mark) {
        IG_POP(&parser->scope)->is_visible = false;
    }
}

/* ---- operands ---- */

static ig_status find_value(ig_parser *parser, ig_value **out_value) {
    const ig_token *name = &parser->token;
    const value_name *known = ig_map_get(&parser->values, name->text);
    if (!known) {
        return ig_parse_error(parser, name, "%%%.*s is not defined",
                              IG_STR_ARG(name->text));
    }
    if (!known->is_visible) {
        return ig_parse_error(parser, name,
                              "%%%.*s is defined on line %u, in a block closed by now",
                              IG_STR_ARG(name->text), known->line);
    }
    *out_value = known->value;
    ig_parse_advance(parser);
    return known->value ? IG_OK : IG_INVALID; /* poisoned: reported there */
}

static ig_status find_weight(ig_parser *parser, ig_value **out_value) {
    ig_token at = parser->token;
    const char *name;
    IG_TRY(ig_parse_item_name(parser, "a weight or table", &name));
    ig_weight *weight = ig_module_weight(parser->module, name);
    if (!weight) {
        return ig_parse_error(parser, &at,
                              "no weight or table @%s is defined before this", name);
    }
    ig_builder builder = ig_builder_at_end(&parser->graph->body);
    *out_value = ig_make_weight(&builder, weight);
    return IG_OK;
}

ig_status ig_parse_operand(ig_parser *parser, ig_value **out_value) {
    if (ig_parse_is(parser, IG_TOKEN_VALUE)) {
        return find_value(parser, out_value);
    }
    if (ig_parse_is(parser, IG_TOKEN_ITEM)) {
        return find_weight(parser, out_value);
    }
    return ig_parse_expected(parser, "an operand, %name or @name");
}
