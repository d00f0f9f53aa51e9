/* One statement: results, op, operands, attributes, types, bodies.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %a, %b = op %x, @w {attr = value, flag} : type "name", type (%i: type) { … }
 *
 * The parts after the operands may come in any order.  The op is made as soon as its
 * operands are known, so that its bodies can be read into it; attributes and types are
 * filled in, and its row's infer hook decides.  One slot may have to wait: a constant
 * without a type of its own has the type of the result, which may come after it, so its
 * position is remembered and read at the end.
 */
#include "ir/parse/parse.h"

#include "ir/build/build.h"
#include "ir/verify/verify.h"

#include <stdio.h>

typedef struct statement {
    ig_token head; /* the op's word */
    ig_opcode code;
    const ig_op_info *info;
    IG_VEC(ig_token) names;
    IG_VEC(ig_value *) operands;
    IG_VEC(const ig_type *) types;
    ig_op *op;
    uint32_t loc;
    uint32_t bodies; /* read so far */
    bool has_attrs;
    bool has_waiting;
    uint32_t waiting_slot;
    ig_parse_position waiting;
} statement;

/* ---- up to the operands ---- */

static ig_status read_names(ig_parser *p, statement *s) {
    if (!ig_parse_is(p, IG_TOKEN_VALUE)) {
        return IG_OK;
    }
    do {
        ig_token name = p->token;
        IG_TRY(ig_parse_expect(p, IG_TOKEN_VALUE, "a result, %name"));
        if (s->names.count == UINT16_MAX) {
            return ig_parse_error(p, &name, "too many results");
        }
        IG_PUSH(p->arena, &s->names, name);
    } while (ig_parse_accept(p, ','));
    return ig_parse_expect(p, '=', "'=' or ','");
}

static ig_status read_word(ig_parser *p, statement *s) {
    s->head = p->token;
    if (!ig_parse_is(p, IG_TOKEN_WORD)) {
        return ig_parse_expected(p, "an op");
    }
    if (!ig_opcode_parse(p->token.text, &s->code)) {
        return ig_parse_error(p, &s->head, "there is no op '%.*s'",
                              IG_STR_ARG(s->head.text));
    }
    s->info = &ig_ops[s->code];
    bool is_named = (s->info->traits & IG_CONSTANT) && s->info->attr_count == 1 &&
                    s->info->attrs[0].kind == IG_ATTR_SYM;
    if (is_named) {
        return ig_parse_error(p, &s->head, "write @name where the %s is used",
                              s->info->name);
    }
    ig_parse_advance(p);
    s->loc = ig_parse_location(p, &s->head);
    return IG_OK;
}

/* The first operand is on the op's line: the next line may begin with a result. */
static ig_status read_operands(ig_parser *p, statement *s) {
    bool is_operand = ig_parse_is(p, IG_TOKEN_VALUE) || ig_parse_is(p, IG_TOKEN_ITEM);
    if (!is_operand || p->token.starts_line) {
        return IG_OK;
    }
    do {
        ig_value *value;
        IG_TRY(ig_parse_operand(p, &value));
        if ((int64_t)s->operands.count >= p->context->limits.operand_count ||
            s->operands.count == UINT16_MAX) {
            return ig_parse_error(p, &p->token, "too many operands");
        }
        IG_PUSH(p->arena, &s->operands, value);
    } while (ig_parse_accept(p, ','));
    return IG_OK;
}

static ig_status wrong_operand_count(ig_parser *p, const statement *s) {
    const ig_op_info *info = s->info;
    char upto[32] = "";
    if (info->operand_max == IG_MANY) {
        snprintf(upto, sizeof upto, " or more");
    } else if (info->operand_max != info->operand_min) {
        snprintf(upto, sizeof upto, " to %u", info->operand_max);
    }
    return ig_parse_error(p, &s->head, "%s has %u%s operands, here are %zu", info->name,
                          info->operand_min, upto, s->operands.count);
}

static ig_status check_counts(ig_parser *p, const statement *s) {
    const ig_op_info *info = s->info;
    size_t operands = s->operands.count, results = s->names.count;
    if (operands < info->operand_min || operands > info->operand_max) {
        return wrong_operand_count(p, s);
    }
    if (info->result_count != IG_MANY && results != info->result_count) {
        return ig_parse_error(p, &s->head, "%s has %u results, here are %zu names",
                              info->name, info->result_count, results);
    }
    return IG_OK;
}

static ig_status make_op(ig_parser *p, statement *s, ig_block *block) {
    ig_op_spec spec = { .operands = s->operands.items,
                        .operand_count = (uint32_t)s->operands.count,
                        .result_count = (uint32_t)s->names.count,
                        .body_count = s->info->body_count,
                        .loc = s->loc };
    IG_TRY(check_counts(p, s));
    s->op = ig_op_create(p->graph, s->code, &spec);
    ig_op_insert(s->op, block, NULL);
    return IG_OK;
}

/* ---- attributes ---- */

static ig_status find_slot(ig_parser *p, const statement *s, uint32_t *out_slot) {
    const ig_token *name = &p->token;
    if (!ig_parse_is(p, IG_TOKEN_WORD)) {
        return ig_parse_expected(p, "an attribute");
    }
    for (uint32_t i = 0; i < s->info->attr_count; i++) {
        if (!ig_str_is(name->text, s->info->attrs[i].name)) {
            continue;
        }
        if (ig_attr_is_set(s->op, i)) {
            return ig_parse_error(p, name, "attribute '%s' is given twice",
                                  s->info->attrs[i].name);
        }
        *out_slot = i;
        return IG_OK;
    }
    return ig_parse_error(p, name, "%s has no attribute '%.*s'", s->info->name,
                          IG_STR_ARG(name->text));
}

static ig_status read_typed_data(ig_parser *p, statement *s, uint32_t slot,
                                 const ig_type *type) {
    ig_data data;
    IG_TRY(ig_parse_data(p, type, &data));
    ig_attr_set(s->op, slot, ig_attr_of_data(p->module, &data));
    return IG_OK;
}

static ig_status read_data(ig_parser *p, statement *s, uint32_t slot) {
    const ig_type *type;
    if (ig_parse_at_type(p)) {
        IG_TRY(ig_parse_type_here(p, &type));
        return read_typed_data(p, s, slot, type);
    }
    if (s->has_waiting) {
        return ig_parse_expected(p, "a type before this constant");
    }
    s->has_waiting = true;
    s->waiting_slot = slot;
    s->waiting = ig_parse_here(p);
    return ig_parse_skip_data(p);
}

static ig_status read_attr(ig_parser *p, statement *s) {
    uint32_t slot = 0;
    ig_attr attr;
    IG_TRY(find_slot(p, s, &slot));
    const ig_attr_info *info = &s->info->attrs[slot];
    ig_parse_advance(p);
    if (info->kind == IG_ATTR_BOOL && !ig_parse_is(p, '=')) {
        ig_attr_set(s->op, slot, ig_attr_of_bool(true));
        return IG_OK;
    }
    IG_TRY(ig_parse_expect(p, '=', "'='"));
    if (info->kind == IG_ATTR_DATA) {
        return read_data(p, s, slot);
    }
    IG_TRY(ig_parse_attr(p, info, &attr));
    ig_attr_set(s->op, slot, attr);
    return IG_OK;
}

static ig_status read_attrs(ig_parser *p, statement *s) {
    s->has_attrs = true;
    IG_TRY(ig_parse_expect(p, '{', "'{'"));
    while (!ig_parse_is(p, '}')) {
        IG_TRY(read_attr(p, s));
        if (!ig_parse_accept(p, ',')) {
            break;
        }
    }
    return ig_parse_expect(p, '}', "',' or '}'");
}

/* At a `{`: attributes, or a body?  An attribute's name is followed by `=`, `,` or `}`,
 * and only a statement of one word is followed by `}` too. */
static bool begins_attrs(const ig_parser *p, const statement *s) {
    ig_lexer ahead = p->lexer;
    ig_token word = ig_lexer_next(&ahead), next = ig_lexer_next(&ahead);
    if (s->has_attrs || s->bodies == s->info->body_count) {
        return !s->has_attrs;
    }
    if (word.kind != IG_TOKEN_WORD || next.kind != '}') {
        return word.kind == IG_TOKEN_WORD && (next.kind == '=' || next.kind == ',');
    }
    for (uint32_t i = 0; i < s->info->attr_count; i++) {
        if (ig_str_is(word.text, s->info->attrs[i].name)) {
            return true;
        }
    }
    return false;
}

/* ---- types and bodies ---- */

static ig_status read_types(ig_parser *p, statement *s) {
    do {
        const ig_type *type;
        IG_TRY(ig_parse_type_here(p, &type));
        if (s->types.count == s->names.count) {
            return ig_parse_error(p, &s->head, "%s has more types than results",
                                  s->info->name);
        }
        if (ig_parse_is(p, IG_TOKEN_STRING)) {
            ig_value *result = &s->op->results[s->types.count];
            IG_TRY(ig_parse_quoted(p, "a quoted name", &result->name));
        }
        IG_PUSH(p->arena, &s->types, type);
    } while (ig_parse_accept(p, ','));
    if (s->types.count != s->names.count) {
        return ig_parse_error(p, &s->head, "%s has %zu results, but %zu types",
                              s->info->name, s->names.count, s->types.count);
    }
    return IG_OK;
}

static ig_status read_body(ig_parser *p, statement *s) {
    if (s->bodies == s->info->body_count) {
        return ig_parse_error(p, &p->token, "%s has %u bodies", s->info->name,
                              s->info->body_count);
    }
    ig_block *body = s->op->bodies[s->bodies];
    if (s->bodies++ > 0 && !ig_parse_accept_word(p, "else")) {
        return ig_parse_expected(p, "'else' before the next body");
    }
    size_t mark = ig_parse_open_scope(p);
    IG_TRY(ig_parse_enter(p));
    ig_status status = IG_OK;
    if (ig_parse_is(p, '(')) {
        status = ig_parse_args(p, body, NULL);
    }
    status = status == IG_OK ? ig_parse_block(p, body) : status;
    ig_parse_close_scope(p, mark);
    ig_parse_leave(p);
    return status;
}

/* Reads one of the parts after the operands; `out_more` is false when none follows. */
static ig_status read_part(ig_parser *p, statement *s, bool *out_more) {
    *out_more = true;
    if (s->types.count == 0 && ig_parse_accept(p, ':')) {
        return read_types(p, s);
    }
    if (ig_parse_is(p, '{')) {
        return begins_attrs(p, s) ? read_attrs(p, s) : read_body(p, s);
    }
    if (ig_parse_is(p, '(') || ig_parse_is_word(p, "else")) {
        return read_body(p, s);
    }
    if (ig_parse_is_word(p, "loc") && ig_parse_peek(p).kind == '{') {
        ig_parse_advance(p);
        return ig_parse_loc(p, &s->op->loc);
    }
    *out_more = false;
    return IG_OK;
}

/* ---- guard eq(a, b) "message" ---- */

static bool is_plain_guard(const ig_parser *p, const statement *s) {
    return s->code == IG_OP_guard && ig_parse_is(p, IG_TOKEN_WORD) &&
           ig_parse_peek(p).kind == '(';
}

static ig_status read_guard(ig_parser *p, statement *s) {
    ig_dim left, right;
    if (ig_parse_accept_word(p, "le")) {
        ig_attr_set(s->op, IG_guard_test, ig_attr_of_enum(1));
    } else if (!ig_parse_accept_word(p, "eq")) {
        return ig_parse_expected(p, "eq or le");
    }
    IG_TRY(ig_parse_expect(p, '(', "'('"));
    IG_TRY(ig_parse_dim_here(p, &left));
    IG_TRY(ig_parse_expect(p, ',', "','"));
    IG_TRY(ig_parse_dim_here(p, &right));
    IG_TRY(ig_parse_expect(p, ')', "')'"));
    ig_attr_set(s->op, IG_guard_left, ig_attr_of_dim(left));
    ig_attr_set(s->op, IG_guard_right, ig_attr_of_dim(right));
    if (ig_parse_is(p, IG_TOKEN_STRING)) {
        const char *text;
        IG_TRY(ig_parse_quoted(p, "a message", &text));
        ig_attr_set(s->op, IG_guard_message,
                    ig_attr_of_str(p->module, ig_str_of(text)));
    }
    return IG_OK;
}

/* ---- the end of the statement ---- */

static ig_status read_waiting(ig_parser *p, statement *s) {
    if (!s->has_waiting) {
        return IG_OK;
    }
    if (s->types.count == 0) {
        return ig_parse_error(p, &s->waiting.token,
                              "the type of this constant is not given");
    }
    ig_parse_position end = ig_parse_here(p);
    ig_parse_return_to(p, &s->waiting);
    IG_TRY(read_typed_data(p, s, s->waiting_slot, s->types.items[0]));
    ig_parse_return_to(p, &end);
    return IG_OK;
}

static ig_status check_complete(ig_parser *p, const statement *s) {
    for (uint32_t i = 0; i < s->info->attr_count; i++) {
        const ig_attr_info *info = &s->info->attrs[i];
        if (info->is_required && !ig_attr_is_set(s->op, i)) {
            return ig_parse_error(p, &s->head, "%s needs attribute '%s'", s->info->name,
                                  info->name);
        }
    }
    if (s->bodies != s->info->body_count) {
        return ig_parse_error(p, &s->head, "%s has %u bodies, here are %u",
                              s->info->name, s->info->body_count, s->bodies);
    }
    return IG_OK;
}

static const char *type_text(ig_parser *p, const ig_type *type) {
    ig_writer writer;
    ig_writer_init(&writer, p->arena);
    ig_print_type(p->module, type, &writer);
    return writer.data;
}

/* The hook sees the given types, so that symbols known only at run time keep their
 * names; the computed types must agree with them. */
static ig_status infer_types(ig_parser *p, statement *s) {
    uint32_t count = s->op->result_count;
    const ig_type **types = IG_NEW_ARRAY(p->arena, const ig_type *, count);
    IG_TRY(s->info->infer(s->op, types));
    IG_TRY(ig_check_texts(s->op, types));
    for (uint32_t i = 0; i < count; i++) {
        ig_value *result = &s->op->results[i];
        if (!result->type) {
            ig_value_retype(result, types[i]);
        } else if (!ig_types_agree(p->module, result->type, types[i])) {
            return ig_parse_error(p, &s->head, "result %u of %s is %s, not %s", i,
                                  s->info->name, type_text(p, types[i]),
                                  type_text(p, result->type));
        }
    }
    return IG_OK;
}

static ig_status set_types(ig_parser *p, statement *s) {
    for (uint32_t i = 0; i < s->types.count; i++) {
        ig_value_retype(&s->op->results[i], s->types.items[i]);
    }
    if (s->info->infer) {
        return infer_types(p, s);
    }
    if (s->op->result_count && s->types.count == 0) {
        return ig_parse_error(p, &s->head, "the result types of %s must be given",
                              s->info->name);
    }
    return ig_check_texts(s->op, NULL);
}

static ig_status read_parts(ig_parser *p, statement *s) {
    bool has_more = true;
    if (is_plain_guard(p, s)) {
        IG_TRY(read_guard(p, s));
    }
    while (has_more) {
        IG_TRY(read_part(p, s, &has_more));
    }
    IG_TRY(read_waiting(p, s));
    IG_TRY(check_complete(p, s));
    return set_types(p, s);
}

static ig_status read_statement(ig_parser *p, statement *s, ig_block *block) {
    IG_TRY(read_names(p, s));
    IG_TRY(read_word(p, s));
    IG_TRY(read_operands(p, s));
    IG_TRY(make_op(p, s, block));
    IG_TRY(read_parts(p, s));
    for (uint32_t i = 0; i < s->names.count; i++) {
        IG_TRY(ig_parse_define(p, &s->names.items[i], &s->op->results[i]));
    }
    return IG_OK;
}

ig_status ig_parse_statement(ig_parser *parser, ig_block *block) {
    statement s = { 0 };
    ig_status status = read_statement(parser, &s, block);
    for (uint32_t i = 0; i < s.names.count && status != IG_OK; i++) {
        ig_parse_poison(parser, &s.names.items[i]);
    }
    return status;
}
