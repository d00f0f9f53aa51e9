/* Types and dimension expressions from text.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     sum      = ["-"] product { ("+" | "-") product }
 *     product  = atom { "*" atom }
 *     atom     = integer | symbol | "(" sum ")" | function
 *     function = ("min" | "max" | "bcast") "(" sum "," sum ")"
 *              | ("floor" | "ceil" | "exact") "(" sum "/" sum ")"
 */
#include "ir/parse/parse.h"

#include "ir/dim/table.h"

/* ---- dimension expressions ---- */

typedef ig_dim (*dim_function)(ig_module *module, ig_dim a, ig_dim b);

static const struct {
    const char *name;
    int separator;
    dim_function make;
} functions[] = {
    { "min", ',', ig_dim_min },       { "max", ',', ig_dim_max },
    { "bcast", ',', ig_dim_bcast },   { "floor", '/', ig_dim_floor_div },
    { "ceil", '/', ig_dim_ceil_div }, { "exact", '/', ig_dim_exact_div },
};

/* One expression's reading.  Operators are counted, since products of products cost
 * more than their text; nesting is bounded for the stack's sake, beyond the
 * printer's own nesting (two parentheses an atom). */
typedef struct dim_reader {
    ig_parser *parser;
    int64_t operators_left;
    int depth;
} dim_reader;

enum { DEPTH_MAX = 2 * IG_DIM_DEPTH_MAX + 8 };

static ig_status read_sum(dim_reader *r, ig_dim *out_dim);

static ig_status count_operator(dim_reader *r) {
    if (r->operators_left-- > 0) {
        return IG_OK;
    }
    return ig_parse_error(r->parser, &r->parser->token,
                          "this expression has too many operators");
}

/* A divisor that is known must be positive. */
static ig_status check_divisor(dim_reader *r, const ig_token *at, ig_dim divisor) {
    int64_t value;
    if (ig_dim_constant(r->parser->module, divisor, &value) && value <= 0) {
        return ig_parse_error(r->parser, at, "a divisor must be positive");
    }
    return IG_OK;
}

static ig_status read_function(dim_reader *r, size_t index, ig_dim *out_dim) {
    ig_parser *p = r->parser;
    ig_dim a, b;
    bool is_quotient = functions[index].separator == '/';
    ig_parse_advance(p);
    ig_parse_advance(p); /* the parenthesis, seen already */
    IG_TRY(read_sum(r, &a));
    IG_TRY(ig_parse_expect(p, functions[index].separator, is_quotient ? "'/'" : "','"));
    ig_token at = p->token;
    IG_TRY(read_sum(r, &b));
    IG_TRY(ig_parse_expect(p, ')', "')'"));
    if (is_quotient) {
        IG_TRY(check_divisor(r, &at, b));
    }
    IG_TRY(count_operator(r));
    *out_dim = functions[index].make(p->module, a, b);
    return IG_OK;
}

static ig_status read_word(dim_reader *r, ig_dim *out_dim) {
    ig_parser *p = r->parser;
    if (ig_parse_peek(p).kind == '(') {
        for (size_t i = 0; i < IG_COUNT_OF(functions); i++) {
            if (ig_parse_is_word(p, functions[i].name)) {
                return read_function(r, i, out_dim);
            }
        }
        return ig_parse_expected(p, "min, max, bcast, floor, ceil or exact before '('");
    }
    *out_dim = ig_dim_named(p->module, p->token.text);
    ig_parse_advance(p);
    return IG_OK;
}

static ig_status read_atom(dim_reader *r, ig_dim *out_dim) {
    ig_parser *p = r->parser;
    int64_t value;
    if (ig_parse_is(p, IG_TOKEN_WORD)) {
        return read_word(r, out_dim);
    }
    if (ig_parse_accept(p, '(')) {
        IG_TRY(read_sum(r, out_dim));
        return ig_parse_expect(p, ')', "')'");
    }
    if (!ig_parse_is(p, IG_TOKEN_INT)) {
        return ig_parse_expected(p, "a dimension");
    }
    IG_TRY(ig_parse_integer(p, "a dimension", &value));
    *out_dim = ig_dim_const(p->module, value);
    return IG_OK;
}

static ig_status read_factors(dim_reader *r, ig_dim *out_dim) {
    while (ig_parse_accept(r->parser, '*')) {
        ig_dim factor;
        IG_TRY(read_atom(r, &factor));
        IG_TRY(count_operator(r));
        *out_dim = ig_dim_mul(r->parser->module, *out_dim, factor);
    }
    return IG_OK;
}

static ig_status read_product(dim_reader *r, ig_dim *out_dim) {
    IG_TRY(read_atom(r, out_dim));
    return read_factors(r, out_dim);
}

/* -2*B: the sign belongs to the digits, since 2^63 has no positive twin. */
static ig_status read_negative(dim_reader *r, ig_dim *out_dim) {
    ig_parser *p = r->parser;
    if (ig_parse_is(p, IG_TOKEN_INT)) {
        ig_token at = p->token;
        int64_t value;
        char *text = ig_arena_printf(p->arena, "-%.*s", IG_STR_ARG(at.text));
        if (!ig_str_to_i64(ig_str_of(text), &value)) {
            return ig_parse_error(p, &at, "this is not a 64-bit integer");
        }
        *out_dim = ig_dim_const(p->module, value);
        ig_parse_advance(p);
    } else {
        IG_TRY(read_atom(r, out_dim));
        *out_dim = ig_dim_mul(p->module, *out_dim, ig_dim_const(p->module, -1));
    }
    return read_factors(r, out_dim);
}

static ig_status read_terms(dim_reader *r, ig_dim *out_dim) {
    ig_parser *p = r->parser;
    IG_TRY(ig_parse_accept(p, '-') ? read_negative(r, out_dim)
                                   : read_product(r, out_dim));
    while (ig_parse_is(p, '+') || ig_parse_is(p, '-')) {
        bool is_minus = ig_parse_is(p, '-');
        ig_dim term;
        ig_parse_advance(p);
        IG_TRY(is_minus ? read_negative(r, &term) : read_product(r, &term));
        IG_TRY(count_operator(r));
        *out_dim = ig_dim_add(p->module, *out_dim, term);
    }
    return IG_OK;
}

static ig_status read_sum(dim_reader *r, ig_dim *out_dim) {
    if (r->depth == DEPTH_MAX) {
        return ig_parse_error(r->parser, &r->parser->token,
                              "this expression nests too deep");
    }
    r->depth++;
    IG_TRY(read_terms(r, out_dim));
    r->depth--;
    return IG_OK;
}

static dim_reader start_reading(ig_parser *p) {
    return (dim_reader){ .parser = p,
                         .operators_left = 64 * p->context->limits.dim_terms };
}

ig_status ig_parse_dim_here(ig_parser *parser, ig_dim *out_dim) {
    dim_reader r = start_reading(parser);
    return read_sum(&r, out_dim);
}

/* "(p + q)" or "(p * q)", which no normal form begins with: a sum or product that
 * passed a limit.  In p * q the last factor is q, and each is in parentheses where it
 * must be. */
static ig_status read_opaque(dim_reader *r, ig_dim *out_dim) {
    ig_parser *p = r->parser;
    ig_dim a, b = ig_dim_of(0);
    ig_dim_opcode kind = IG_DIM_MUL;
    bool has_b = false;
    IG_TRY(read_atom(r, &a));
    for (; ig_parse_accept(p, '*'); has_b = true) {
        a = has_b ? ig_dim_mul(p->module, a, b) : a;
        IG_TRY(read_atom(r, &b));
        IG_TRY(count_operator(r));
    }
    if (ig_parse_accept(p, '+')) {
        kind = IG_DIM_ADD;
        a = has_b ? ig_dim_mul(p->module, a, b) : a;
        IG_TRY(read_product(r, &b));
    } else if (!has_b) {
        return ig_parse_expected(p, "'+' or '*'");
    }
    ig_dim_table *table = p->module->dims;
    if (ig_dim_size(table, a) + ig_dim_size(table, b) > IG_DIM_SIZE_MAX - 2) {
        return ig_parse_error(p, &p->token, "this definition is too large");
    }
    *out_dim = ig_dim_of_atom(table, ig_dim_atom_intern(table, kind, a, b));
    return ig_parse_expect(p, ')', "')'");
}

ig_status ig_parse_definition(ig_parser *parser, ig_dim *out_dim) {
    dim_reader r = start_reading(parser);
    return ig_parse_accept(parser, '(') ? read_opaque(&r, out_dim)
                                        : read_sum(&r, out_dim);
}

/* ---- types ---- */

static ig_status read_extents(ig_parser *p, uint32_t *out_rank, ig_dim *dims) {
    uint32_t rank = 0, max = IG_TENSOR_RANK;
    if (p->context->limits.rank < max) {
        max = (uint32_t)p->context->limits.rank;
    }
    IG_TRY(ig_parse_expect(p, '[', "'[' and extents"));
    while (!ig_parse_is(p, ']')) {
        ig_token at = p->token;
        int64_t value;
        if (rank == max) {
            ig_location where = { .file = p->file,
                                  .line = at.line,
                                  .column = at.column };
            return ig_error_limit(&p->context->diag, &where, &p->context->limits,
                                  IG_LIMIT_rank, "the rank of a tensor, at least %u,",
                                  rank + 1);
        }
        IG_TRY(ig_parse_dim_here(p, &dims[rank]));
        if (ig_dim_constant(p->module, dims[rank], &value) && value < 0) {
            return ig_parse_error(p, &at, "an extent is never negative");
        }
        rank++;
        if (!ig_parse_accept(p, ',')) {
            break;
        }
    }
    *out_rank = rank;
    return ig_parse_expect(p, ']', "',' or ']'");
}

static ig_status read_dtype(ig_parser *p, ig_dtype *out_dtype) {
    if (!ig_parse_is(p, IG_TOKEN_WORD) || !ig_dtype_parse(p->token.text, out_dtype)) {
        return ig_parse_expected(p, "a type");
    }
    ig_parse_advance(p);
    return IG_OK;
}

/* f32, f16, f32 front, f16 back, or nothing. */
static ig_row_format read_row_format(ig_parser *p) {
    bool is_f32 = ig_parse_accept_word(p, "f32");
    if (!is_f32 && !ig_parse_accept_word(p, "f16")) {
        return IG_ROW_PLAIN;
    }
    if (is_f32) {
        return ig_parse_accept_word(p, "front") ? IG_ROW_F32_FRONT : IG_ROW_F32;
    }
    return ig_parse_accept_word(p, "behind") ? IG_ROW_F16_AFTER : IG_ROW_F16;
}

static ig_status read_row_number(ig_parser *p, int64_t max, int64_t *out_number) {
    ig_token at = p->token;
    IG_TRY(ig_parse_integer(p, "a number", out_number));
    if (*out_number < 0 || *out_number > max) {
        return ig_parse_error(p, &at, "expected 0 to %lld", (long long)max);
    }
    return IG_OK;
}

static ig_status read_rows(ig_parser *p, ig_rows *out_rows) {
    int64_t bits = 0, bias = 0, stride = 0;
    out_rows->format = (uint8_t)read_row_format(p);
    if (ig_parse_accept_word(p, "float")) {
        IG_TRY(read_row_number(p, UINT8_MAX, &bits));
        IG_TRY(read_row_number(p, UINT8_MAX, &bias));
    }
    if (ig_parse_accept_word(p, "stride")) {
        IG_TRY(read_row_number(p, UINT32_MAX, &stride));
    }
    out_rows->exponent_bits = (uint8_t)bits;
    out_rows->exponent_bias = (uint8_t)bias;
    out_rows->stride = (uint32_t)stride;
    return IG_OK;
}

/* Behind "i8<rowwise". */
static ig_status read_table(ig_parser *p, ig_dtype dtype, const ig_type **out_type) {
    ig_rows rows = { 0 };
    ig_row_layout layout;
    uint32_t rank;
    ig_dim dims[IG_TENSOR_RANK];
    IG_TRY(read_rows(p, &rows));
    IG_TRY(ig_parse_expect(p, '>', "f32, f16, float, stride or '>'"));
    ig_token at = p->token;
    IG_TRY(read_extents(p, &rank, dims));
    if (rank != 2) {
        return ig_parse_error(p, &at, "a table has two extents: rows and their length");
    }
    int64_t dim;
    (void)ig_dim_known(dims[1], &dim); /* 0 where it is not */
    if (!ig_row_layout_of(rows, ig_dtypes[dtype].bits, dim, &layout)) {
        return ig_parse_error(
            p, &at,
            "such rows do not exist: the stride is too short, or the small float is not a known one");
    }
    *out_type = ig_type_table(p->module, dtype, rows, dims[0], dims[1]);
    return IG_OK;
}

/* Behind "f32<". */
static ig_status read_angle(ig_parser *p, ig_dtype dtype, const ig_type **out_type) {
    ig_token at = p->token;
    int64_t lanes;
    if (ig_parse_accept_word(p, "rowwise")) {
        return read_table(p, dtype, out_type);
    }
    IG_TRY(ig_parse_integer(p, "a number of lanes or 'rowwise'", &lanes));
    if (lanes < 1 || lanes > UINT16_MAX) {
        return ig_parse_error(p, &at, "a vector has 1 to %d lanes", UINT16_MAX);
    }
    *out_type = ig_type_vector(p->module, dtype, (uint32_t)lanes);
    return ig_parse_expect(p, '>', "'>'");
}

static ig_status read_buffer(ig_parser *p, const ig_type **out_type) {
    ig_dtype dtype;
    uint32_t rank = 0;
    ig_dim dims[IG_TENSOR_RANK];
    IG_TRY(read_dtype(p, &dtype));
    if (ig_parse_is(p, '[')) {
        IG_TRY(read_extents(p, &rank, dims));
    }
    *out_type = ig_type_buffer(p->module, dtype, rank, dims);
    return IG_OK;
}

static ig_status read_host(ig_parser *p, ig_kind kind, const ig_type **out_type) {
    const ig_type *element;
    ig_parse_advance(p);
    IG_TRY(ig_parse_expect(p, '<', "'<'"));
    IG_TRY(ig_parse_enter(p));
    IG_TRY(ig_parse_type_here(p, &element));
    ig_parse_leave(p);
    *out_type = ig_type_host(p->module, kind, element);
    return ig_parse_expect(p, '>', "'>'");
}

bool ig_parse_at_type(const ig_parser *parser) {
    ig_dtype dtype;
    return parser->token.kind == '&' || ig_parse_is_word(parser, "seq") ||
           ig_parse_is_word(parser, "opt") ||
           (parser->token.kind == IG_TOKEN_WORD &&
            ig_dtype_parse(parser->token.text, &dtype));
}

ig_status ig_parse_type_here(ig_parser *parser, const ig_type **out_type) {
    ig_dtype dtype;
    if (ig_parse_is_word(parser, "seq")) {
        return read_host(parser, IG_SEQUENCE, out_type);
    }
    if (ig_parse_is_word(parser, "opt")) {
        return read_host(parser, IG_OPTIONAL, out_type);
    }
    if (ig_parse_accept(parser, '&')) {
        return read_buffer(parser, out_type);
    }
    IG_TRY(read_dtype(parser, &dtype));
    if (ig_parse_accept(parser, '<')) {
        return read_angle(parser, dtype, out_type);
    }
    if (!ig_parse_is(parser, '[')) {
        *out_type = ig_type_vector(parser->module, dtype, 1);
        return IG_OK;
    }
    if (ig_parse_peek(parser).kind == '*') {
        ig_parse_advance(parser);
        ig_parse_advance(parser);
        *out_type = ig_type_any(parser->module, dtype);
        return ig_parse_expect(parser, ']', "']'");
    }
    uint32_t rank;
    ig_dim dims[IG_TENSOR_RANK];
    IG_TRY(read_extents(parser, &rank, dims));
    *out_type = ig_type_tensor(parser->module, dtype, rank, dims);
    return IG_OK;
}

/* ---- alone, as the command line gives them ---- */

static ig_status expect_end(ig_parser *parser) {
    return ig_parse_is(parser, IG_TOKEN_END)
               ? IG_OK
               : ig_parse_expected(parser, "nothing after it");
}

ig_status ig_parse_type(ig_module *module, ig_str text, const ig_type **out_type) {
    ig_parser parser;
    ig_parser_init(&parser, module, NULL, text);
    IG_TRY(ig_parse_type_here(&parser, out_type));
    return expect_end(&parser);
}

ig_status ig_parse_dim(ig_module *module, ig_str text, ig_dim *out_dim) {
    ig_parser parser;
    ig_parser_init(&parser, module, NULL, text);
    IG_TRY(ig_parse_dim_here(&parser, out_dim));
    return expect_end(&parser);
}
