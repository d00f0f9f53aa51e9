/* Attribute values and locations from text.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/parse/parse.h"

#include "ir/tensor/element.h"

static ig_status read_float(ig_parser *p, ig_attr *out_attr) {
    ig_token at = p->token;
    ig_str text;
    double value = 0;
    IG_TRY(ig_parse_element_text(p, &text));
    const char *problem = ig_element_parse(IG_DT_f64, text, &value, 0);
    if (problem) {
        return ig_parse_error(p, &at, "'%.*s' %s", IG_STR_ARG(text), problem);
    }
    *out_attr = ig_attr_of_float(value);
    return IG_OK;
}

static ig_status read_bool(ig_parser *p, ig_attr *out_attr) {
    bool is_true = ig_parse_accept_word(p, "true");
    if (!is_true && !ig_parse_accept_word(p, "false")) {
        return ig_parse_expected(p, "true or false");
    }
    *out_attr = ig_attr_of_bool(is_true);
    return IG_OK;
}

static ig_status read_word(ig_parser *p, const ig_attr_info *info, int64_t *out_value) {
    ig_writer list;
    ig_writer_init(&list, p->arena);
    for (int64_t i = 0; info->names[i]; i++) {
        if (ig_parse_accept_word(p, info->names[i])) {
            *out_value = i;
            return IG_OK;
        }
        ig_put(&list, "%s%s", i ? ", " : "one of ", info->names[i]);
    }
    return ig_parse_expected(p, list.data);
}

static ig_status read_enum(ig_parser *p, const ig_attr_info *info, ig_attr *out_attr) {
    int64_t value;
    IG_TRY(read_word(p, info, &value));
    *out_attr = ig_attr_of_enum(value);
    return IG_OK;
}

static ig_status read_dtype(ig_parser *p, ig_attr *out_attr) {
    ig_dtype dtype;
    if (!ig_parse_is(p, IG_TOKEN_WORD) || !ig_dtype_parse(p->token.text, &dtype)) {
        return ig_parse_expected(p, "an element type");
    }
    ig_parse_advance(p);
    *out_attr = ig_attr_of_dtype(dtype);
    return IG_OK;
}

typedef struct list_items {
    IG_VEC(int64_t) ints;
    IG_VEC(ig_dim) dims;
} list_items;

static ig_status read_entry(ig_parser *p, const ig_attr_info *info, list_items *items) {
    int64_t number;
    ig_dim dim;
    if (info->kind == IG_ATTR_DIMS) {
        IG_TRY(ig_parse_dim_here(p, &dim));
        IG_PUSH(p->arena, &items->dims, dim);
        return IG_OK;
    }
    IG_TRY(info->names ? read_word(p, info, &number)
                       : ig_parse_integer(p, "an integer", &number));
    IG_PUSH(p->arena, &items->ints, number);
    return IG_OK;
}

/* [a, b, …]: dims, names of the slot's enumeration, or integers. */
static ig_status read_list(ig_parser *p, const ig_attr_info *info, ig_attr *out_attr) {
    bool as_dims = info->kind == IG_ATTR_DIMS;
    list_items items = { 0 };
    IG_TRY(ig_parse_expect(p, '[', "'['"));
    while (!ig_parse_is(p, ']')) {
        IG_TRY(read_entry(p, info, &items));
        if ((int64_t)(items.ints.count + items.dims.count) >
            p->context->limits.operand_count) {
            return ig_parse_error(p, &p->token, "this list is too long");
        }
        if (!ig_parse_accept(p, ',')) {
            break;
        }
    }
    *out_attr =
        as_dims
            ? ig_attr_of_dims(p->module, items.dims.items, (uint32_t)items.dims.count)
            : ig_attr_of_ints(p->module, items.ints.items, (uint32_t)items.ints.count);
    return ig_parse_expect(p, ']', "',' or ']'");
}

static ig_status read_text(ig_parser *p, ig_attr *out_attr) {
    const char *text;
    IG_TRY(ig_parse_quoted(p, "a quoted string", &text));
    *out_attr = ig_attr_of_str(p->module, ig_str_of(text));
    return IG_OK;
}

static ig_status read_item(ig_parser *p, ig_attr *out_attr) {
    const char *name;
    IG_TRY(ig_parse_item_name(p, "a name, @name", &name));
    *out_attr = ig_attr_of_sym(p->module, name);
    return IG_OK;
}

static ig_status read_int(ig_parser *p, ig_attr *out_attr) {
    int64_t value;
    IG_TRY(ig_parse_integer(p, "an integer", &value));
    *out_attr = ig_attr_of_int(value);
    return IG_OK;
}

static ig_status read_dim(ig_parser *p, ig_attr *out_attr) {
    ig_dim dim;
    IG_TRY(ig_parse_dim_here(p, &dim));
    *out_attr = ig_attr_of_dim(dim);
    return IG_OK;
}

ig_status ig_parse_attr(ig_parser *parser, const ig_attr_info *info,
                        ig_attr *out_attr) {
    switch (info->kind) {
    case IG_ATTR_INT:
        return read_int(parser, out_attr);
    case IG_ATTR_FLOAT:
        return read_float(parser, out_attr);
    case IG_ATTR_BOOL:
        return read_bool(parser, out_attr);
    case IG_ATTR_ENUM:
        return read_enum(parser, info, out_attr);
    case IG_ATTR_DTYPE:
        return read_dtype(parser, out_attr);
    case IG_ATTR_STR:
        return read_text(parser, out_attr);
    case IG_ATTR_SYM:
        return read_item(parser, out_attr);
    case IG_ATTR_DIM:
        return read_dim(parser, out_attr);
    case IG_ATTR_INTS:
    case IG_ATTR_DIMS:
        return read_list(parser, info, out_attr);
    case IG_ATTR_NONE:
    case IG_ATTR_DATA:
        break;
    }
    return ig_parse_expected(parser, "no value");
}

/* ---- locations ---- */

typedef struct loc_field {
    const char *name;
    const char **text;
    uint32_t *index;
} loc_field;

static ig_status read_field(ig_parser *p, const loc_field *field) {
    ig_token at = p->token;
    int64_t number;
    if (field->text) {
        return ig_parse_quoted(p, "a quoted string", field->text);
    }
    IG_TRY(ig_parse_integer(p, "a number", &number));
    if (number < 0 || number > UINT32_MAX) {
        return ig_parse_error(p, &at, "this number is out of range");
    }
    *field->index = (uint32_t)number;
    return IG_OK;
}

static ig_status read_named_field(ig_parser *p, ig_location *where) {
    const loc_field fields[] = {
        { "file", &where->file, NULL },      { "graph", &where->graph, NULL },
        { "node", &where->node, NULL },      { "op", &where->op, NULL },
        { "number", NULL, &where->node_id }, { "line", NULL, &where->line },
        { "column", NULL, &where->column },  { "scope", &where->scope, NULL },
    };
    for (size_t i = 0; i < IG_COUNT_OF(fields); i++) {
        if (ig_parse_accept_word(p, fields[i].name)) {
            IG_TRY(ig_parse_expect(p, '=', "'='"));
            return read_field(p, &fields[i]);
        }
    }
    return ig_parse_expected(p, "file, graph, node, op, scope, number, line or column");
}

ig_status ig_parse_loc(ig_parser *parser, uint32_t *out_loc) {
    ig_location where = { 0 };
    IG_TRY(ig_parse_expect(parser, '{', "'{'"));
    while (!ig_parse_is(parser, '}')) {
        IG_TRY(read_named_field(parser, &where));
        if (!ig_parse_accept(parser, ',')) {
            break;
        }
    }
    ig_module *module = parser->module;
    uint32_t index = ig_module_location(module, &where);
    if (*out_loc) { /* in place of the line that the op had so far */
        module->locations.items[*out_loc] = module->locations.items[index];
        module->locations.count--;
    } else {
        *out_loc = index;
    }
    return ig_parse_expect(parser, '}', "',' or '}'");
}
