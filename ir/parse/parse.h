/* Inside the parser: shared by parse*.c only.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every function that reads something returns IG_OK or, after a report of the expected
 * token, a status.  IG_INVALID lets the caller go on after the broken line; any
 * other status ends the parse.
 */
#ifndef IG_IR_PARSE_PARSE_H
#define IG_IR_PARSE_PARSE_H

#include "ir/parse/lex.h"
#include "ir/parse/read.h"

typedef struct ig_parse_position {
    ig_lexer lexer;
    ig_token token;
    uint32_t depth;
} ig_parse_position;

typedef struct ig_parser {
    ig_lexer lexer;
    ig_token token; /* the one to be looked at */
    ig_context *context;
    ig_module *module;
    const char *file; /* of the text, for messages; weights' files are beside it */
    ig_arena *arena;  /* the module's */
    size_t error_count;
    uint32_t depth;     /* of types, expressions and blocks open at present */
    uint32_t last_line; /* of the token taken last */
    /* Of the graph at hand. */
    ig_graph *graph;
    ig_map values;                     /* name -> struct value_name of parse_value.c */
    IG_VEC(struct value_name *) scope; /* those visible, in order of definition */
    ig_map files; /* name -> ig_file_map, 1 + index in module->files */
} ig_parser;

/* ---- tokens (parse_token.c) ---- */

void ig_parser_init(ig_parser *parser, ig_module *module, const char *file,
                    ig_str text);
void ig_parse_advance(ig_parser *parser);
/* The token after the present one. */
ig_token ig_parse_peek(const ig_parser *parser);
bool ig_parse_is(const ig_parser *parser, int kind);
bool ig_parse_is_word(const ig_parser *parser, const char *word);
/* Takes the token when it is of `kind`, or this word. */
bool ig_parse_accept(ig_parser *parser, int kind);
bool ig_parse_accept_word(ig_parser *parser, const char *word);
/* Takes it or reports "expected <what>, found <token>". */
ig_status ig_parse_expect(ig_parser *parser, int kind, const char *what);
/* Reports "expected <what>, found <token>" at the present token. */
ig_status ig_parse_expected(ig_parser *parser, const char *what);
ig_status ig_parse_error(ig_parser *parser, const ig_token *at, const char *format, ...)
    IG_PRINTF(3, 4);
uint32_t ig_parse_location(ig_parser *parser, const ig_token *at);
/* Counts one level in; IG_LIMIT beyond limits.graph_depth. */
ig_status ig_parse_enter(ig_parser *parser);
void ig_parse_leave(ig_parser *parser);
ig_parse_position ig_parse_here(const ig_parser *parser);
void ig_parse_return_to(ig_parser *parser, const ig_parse_position *position);
/* Handles the status of an item or a statement that began at `start`: IG_INVALID is
 * counted and the broken thing skipped, unless there were too many. */
ig_status ig_parse_go_on(ig_parser *parser, ig_status status,
                         const ig_parse_position *start);

ig_status ig_parse_quoted(ig_parser *parser, const char *what, const char **out_text);
ig_status ig_parse_item_name(ig_parser *parser, const char *what,
                             const char **out_name);
ig_status ig_parse_integer(ig_parser *parser, const char *what, int64_t *out_value);

/* ---- values (parse_value.c) ---- */

ig_status ig_parse_define(ig_parser *parser, const ig_token *name, ig_value *value);
/* Marks a name whose definition failed, so that its uses are not reported too. */
void ig_parse_poison(ig_parser *parser, const ig_token *name);
ig_status ig_parse_operand(ig_parser *parser, ig_value **out_value);
size_t ig_parse_open_scope(const ig_parser *parser);
void ig_parse_close_scope(ig_parser *parser, size_t mark);

/* ---- types, attributes, constants ---- */

ig_status ig_parse_dim_here(ig_parser *parser, ig_dim *out_dim);
/* The definition of a fresh symbol: an expression, or an opaque sum or product. */
ig_status ig_parse_definition(ig_parser *parser, ig_dim *out_dim);
ig_status ig_parse_type_here(ig_parser *parser, const ig_type **out_type);
bool ig_parse_at_type(const ig_parser *parser);
/* One value of the slot, of any kind but DATA. */
ig_status ig_parse_attr(ig_parser *parser, const ig_attr_info *info, ig_attr *out_attr);
ig_status ig_parse_loc(ig_parser *parser, uint32_t *out_loc); /* after `loc` */
/* An element of a constant, its sign with it, as one piece of text. */
ig_status ig_parse_element_text(ig_parser *parser, ig_str *out_text);
/* A constant's content, of a type known by now. */
ig_status ig_parse_data(ig_parser *parser, const ig_type *type, ig_data *out_data);
/* Moves past a constant's content without reading it. */
ig_status ig_parse_skip_data(ig_parser *parser);

/* ---- statements and graphs ---- */

ig_status ig_parse_statement(ig_parser *parser, ig_block *block);
ig_status ig_parse_block(ig_parser *parser, ig_block *block); /* { statements } */
typedef struct ig_arg_names {
    IG_VEC(const char *) users;  /* "" for none */
    IG_VEC(const char *) states; /* weights of the last arguments */
    uint32_t opened_count;       /* of those in front of them */
} ig_arg_names;

/* (%name "user's name": type, …, %name: type = @weight); NULL: no states. */
ig_status ig_parse_args(ig_parser *parser, ig_block *block, ig_arg_names *out_names);
ig_status ig_parse_graph(ig_parser *parser);

#endif
