/* The lexer of the text form.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A lexer is a plain struct: copy it and its token to come back to a place.
 */
#ifndef IG_IR_PARSE_LEX_H
#define IG_IR_PARSE_LEX_H

#include "base/str.h"

/* A punctuation character is its own kind. */
typedef enum ig_token_kind {
    IG_TOKEN_END = 0,
    IG_TOKEN_BAD = 256, /* `text` is a phrase that describes the error */
    IG_TOKEN_WORD,      /* letters, digits, `_` and `.` */
    IG_TOKEN_INT,       /* decimal digits */
    IG_TOKEN_FLOAT,     /* 1.5, 1e-3 */
    IG_TOKEN_HEX,       /* 0x…, of any length */
    IG_TOKEN_STRING,    /* `text` has the quotes; see ig_token_string */
    IG_TOKEN_VALUE,     /* %name, `text` without the % */
    IG_TOKEN_ITEM,      /* @name or @"name", `text` without the @ */
    IG_TOKEN_ARROW,     /* -> */
} ig_token_kind;

typedef struct ig_token {
    int kind;
    ig_str text;
    uint32_t line, column; /* 1-based, column in bytes */
    bool starts_line;      /* the first of its line */
} ig_token;

typedef struct ig_lexer {
    const char *next, *end, *line_start;
    uint32_t line;
    bool starts_line;
} ig_lexer;

void ig_lexer_init(ig_lexer *lexer, ig_str text);
ig_token ig_lexer_next(ig_lexer *lexer);
/* The content of a STRING, or of an ITEM with or without quotes; zero-terminated, in
 * the arena.  NULL, or a description of its error. */
const char *ig_token_string(const ig_token *token, ig_arena *arena, ig_str *out_text);

#endif
