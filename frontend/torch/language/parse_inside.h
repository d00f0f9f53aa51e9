/* Inside the parser of Python source: shared by parse*.c only.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A recursive descent whose depth is counted (ig_py_enter), over trees whose depth is
 * counted too (ig_py_adopt): left-deep chains grow in a loop.  Every function that
 * reads something returns IG_OK or, having reported it, a status that ends the file.
 */
#ifndef IG_FRONTEND_TORCH_LANGUAGE_PARSE_INSIDE_H
#define IG_FRONTEND_TORCH_LANGUAGE_PARSE_INSIDE_H

#include "frontend/torch/language/parse.h"
#include "frontend/torch/language/token.h"

typedef struct ig_py_parser {
    const ig_script_source *source;
    ig_arena *arena;
    ig_py_lexer lexer;
    ig_py_token token, ahead; /* the current one and the next */
    const char *end;          /* of the last that was taken */
    uint32_t depth;
    const char *negative; /* the literal here has a minus before it */
} ig_py_parser;

/* A list under construction. */
typedef struct ig_py_list {
    IG_VEC(ig_ast *) items;
} ig_py_list;

/* ---- tokens (parse.c) ---- */

void ig_py_advance(ig_py_parser *parser);
bool ig_py_is(const ig_py_parser *parser, ig_py_token_kind kind);
bool ig_py_is_punct(const ig_py_parser *parser, uint32_t punct);
bool ig_py_is_word(const ig_py_parser *parser, const char *word);
/* Takes the token when it is this one. */
bool ig_py_accept(ig_py_parser *parser, ig_py_token_kind kind);
bool ig_py_accept_punct(ig_py_parser *parser, uint32_t punct);
bool ig_py_accept_word(ig_py_parser *parser, const char *word);
/* Takes it or reports "expected …, found …". */
ig_status ig_py_expect_punct(ig_py_parser *parser, uint32_t punct);
ig_status ig_py_expect_word(ig_py_parser *parser, const char *word);
ig_status ig_py_expect_newline(ig_py_parser *parser);
ig_status ig_py_expected(ig_py_parser *parser, const char *what);
/* A name that is not a keyword; interned. */
ig_status ig_py_parse_name(ig_py_parser *parser, const char *what,
                           const char **out_name);
bool ig_py_is_keyword(ig_str word);
ig_status ig_py_error(ig_py_parser *parser, ig_status status, const ig_py_token *at,
                      const char *format, ...) IG_PRINTF(4, 5);

/* ---- nodes (parse.c) ---- */

ig_status ig_py_enter(ig_py_parser *parser);
void ig_py_leave(ig_py_parser *parser);
/* A node at the position of `at`. */
ig_ast *ig_py_node(ig_py_parser *parser, ig_ast_kind kind, const ig_py_token *at);
/* At the position of another node. */
ig_ast *ig_py_node_like(ig_py_parser *parser, ig_ast_kind kind, const ig_ast *at);
/* Counts the depth of a node whose children are read; IG_LIMIT when that is too
 * much. */
ig_status ig_py_finish(ig_py_parser *parser, ig_ast *node);
/* The same of a child (NULL is none) that ig_ast_each_child does not visit. */
ig_status ig_py_adopt(ig_py_parser *parser, ig_ast *node, const ig_ast *child);
ig_status ig_py_adopt_all(ig_py_parser *parser, ig_ast *node, const ig_ast_list *list);

static inline ig_ast_list ig_py_list_of(const ig_py_list *list) {
    return (ig_ast_list){ list->items.items, list->items.count };
}

/* ---- the grammar ---- */

/* One expression without a loose comma (parse_expression.c). */
ig_status ig_py_parse_value(ig_py_parser *parser, ig_ast **out_node);
/* The same where `:=` is allowed. */
ig_status ig_py_parse_named(ig_py_parser *parser, ig_ast **out_node);
/* Without a conditional: a comprehension's iterables and tests. */
ig_status ig_py_parse_disjunction(ig_py_parser *parser, ig_ast **out_node);
/* Down to `|`: targets of `for`, where `in` is no operator. */
ig_status ig_py_parse_operand(ig_py_parser *parser, ig_ast **out_node);
/* a, *b, c: a TUPLE when there is a comma.  `targets`: as a target of `for`. */
ig_status ig_py_parse_values(ig_py_parser *parser, bool targets, ig_ast **out_node);
/* Numbers, strings, names, brackets (parse_atom.c). */
ig_status ig_py_parse_atom(ig_py_parser *parser, ig_ast **out_node);
ig_status ig_py_parse_yield(ig_py_parser *parser, ig_ast **out_node);
bool ig_py_starts_value(const ig_py_parser *parser);
/* Arguments after "(", up to and with ")"; of a CALL (parse_call.c). */
ig_status ig_py_parse_arguments(ig_py_parser *parser, ig_ast *call);
/* The index after "[", up to and with "]"; of a SUBSCRIPT. */
ig_status ig_py_parse_index(ig_py_parser *parser, ig_ast *subscript);
/* for … in … if …, of a comprehension whose element is read. */
ig_status ig_py_parse_clauses(ig_py_parser *parser, ig_ast *comprehension);
/* Parameters up to (without) `end`; of a DEF or LAMBDA (parse_def.c). */
ig_status ig_py_parse_params(ig_py_parser *parser, uint32_t end, ig_ast *def);
ig_status ig_py_parse_def(ig_py_parser *parser, const ig_py_list *decorators,
                          ig_py_list *statements);
ig_status ig_py_parse_class(ig_py_parser *parser, const ig_py_list *decorators,
                            ig_py_list *statements);
ig_status ig_py_parse_decorated(ig_py_parser *parser, ig_py_list *statements);
/* One line or one compound statement, added to `statements` (parse_statement.c). */
ig_status ig_py_parse_statement(ig_py_parser *parser, ig_py_list *statements);
/* ": …" of a compound statement. */
ig_status ig_py_parse_body(ig_py_parser *parser, ig_ast_list *out_body);
/* *a, or what `parse` reads. */
ig_status ig_py_parse_starred(ig_py_parser *parser,
                              ig_status (*parse)(ig_py_parser *, ig_ast **),
                              ig_ast **out_node);
/* if, while, for, with, try (parse_compound.c); UNSUPPORTED is never given: a word that
 * starts none sets *out_known to false. */
ig_status ig_py_parse_compound(ig_py_parser *parser, ig_py_list *statements,
                               bool *out_known);

#endif
