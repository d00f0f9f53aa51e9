/* The lexer of Python source.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Blocks come as INDENT and DEDENT, logical lines end with NEWLINE; comments, blank
 * lines and line ends inside brackets are skipped.  A lexer is a plain struct.
 */
#ifndef IG_FRONTEND_TORCH_LANGUAGE_TOKEN_H
#define IG_FRONTEND_TORCH_LANGUAGE_TOKEN_H

#include "base/str.h"
#include "base/vec.h"

typedef enum ig_py_token_kind {
    IG_PY_TOKEN_END,
    IG_PY_TOKEN_BAD, /* `text` is a phrase that names the error */
    IG_PY_TOKEN_NEWLINE,
    IG_PY_TOKEN_INDENT,
    IG_PY_TOKEN_DEDENT,
    IG_PY_TOKEN_WORD,      /* names and keywords */
    IG_PY_TOKEN_INT,       /* 12, 0x1f, 0o17, 0b11, 1_000 */
    IG_PY_TOKEN_FLOAT,     /* 1. .5 1e-08 */
    IG_PY_TOKEN_IMAGINARY, /* 2.j */
    IG_PY_TOKEN_STRING,    /* prefix and quotes included */
    IG_PY_TOKEN_PUNCT,     /* operators and delimiters */
} ig_py_token_kind;

typedef struct ig_py_token {
    ig_py_token_kind kind;
    uint32_t punct; /* of a PUNCT: its characters, see IG_PY_PUNCT */
    ig_str text;
    uint32_t line, column; /* 1-based, column in bytes */
} ig_py_token;

/* '(' is itself; '->' is IG_PY_PUNCT2('-', '>'). */
#define IG_PY_PUNCT2(a, b) ((uint32_t)(a) | (uint32_t)(b) << 8)
#define IG_PY_PUNCT3(a, b, c) (IG_PY_PUNCT2(a, b) | (uint32_t)(c) << 16)

#define IG_PY_MAX_INDENTS 256 /* Python has 100, libtorch no bound */

typedef struct ig_py_lexer {
    const char *next, *end, *line_start;
    uint32_t line;
    uint32_t brackets; /* open ones */
    uint32_t indent_count;
    uint32_t dedents; /* owed */
    bool line_begun;  /* something but blanks stood on this logical line */
    bool is_line_start;
    uint32_t indents[IG_PY_MAX_INDENTS]; /* columns, strictly growing */
} ig_py_lexer;

/* Skips a byte order mark. */
void ig_py_lexer_init(ig_py_lexer *lexer, ig_str text);
ig_py_token ig_py_lexer_next(ig_py_lexer *lexer);

/* ---- what literals mean ---- */

/* NULL, or the error.  `is_negative`: a minus stood before it. */
const char *ig_py_token_int(ig_str text, bool is_negative, int64_t *out_value);
/* FLOAT and IMAGINARY; out of range gives infinity. */
const char *ig_py_token_float(ig_arena *arena, ig_str text, double *out_value);

typedef struct ig_py_string_form {
    ig_str body; /* between the quotes */
    bool is_raw, is_bytes, is_formatted;
} ig_py_string_form;

ig_py_string_form ig_py_token_string_form(ig_str text);
/* Unescapes to `out`, which holds at least body.size bytes (escapes never grow);
 * returns NULL, or the error.  `bytes_are_bytes`: \303 is a byte, not U+00C3 (which
 * may grow: then it is an escape of at least 4 characters all the same). */
const char *ig_py_token_unescape(const ig_py_string_form *form, bool bytes_are_bytes,
                                 char *out, size_t *out_size);

#endif
