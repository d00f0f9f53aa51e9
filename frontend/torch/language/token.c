/* The lexer of Python source.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/language/token.h"

#include <assert.h>
#include <string.h>

void ig_py_lexer_init(ig_py_lexer *lexer, ig_str text) {
    memset(lexer, 0, sizeof(*lexer));
    if (text.size >= 3 && memcmp(text.data, "\xef\xbb\xbf", 3) == 0) {
        text.data += 3;
        text.size -= 3;
    }
    lexer->next = lexer->line_start = text.data;
    lexer->end = text.size ? text.data + text.size : text.data; /* no text: NULL */
    lexer->line = 1;
    lexer->indent_count = 1; /* column 0 */
    lexer->is_line_start = true;
}

/* ---- characters ---- */

static int peek_byte(const ig_py_lexer *lexer, size_t ahead) {
    assert(lexer->next <= lexer->end && "the lexer stays in its text");
    size_t rest = (size_t)(lexer->end - lexer->next);
    return ahead < rest ? (unsigned char)lexer->next[ahead] : -1;
}

static bool is_digit(int c) {
    return c >= '0' && c <= '9';
}

static bool is_word_start(int c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80;
}

static bool is_word(int c) {
    return is_word_start(c) || is_digit(c);
}

static void begin_line(ig_py_lexer *lexer) {
    lexer->line++;
    lexer->line_start = lexer->next;
}

/* Takes "\n", "\r\n" or "\r". */
static bool take_line_end(ig_py_lexer *lexer) {
    int c = peek_byte(lexer, 0);
    if (c != '\n' && c != '\r') {
        return false;
    }
    lexer->next += c == '\r' && peek_byte(lexer, 1) == '\n' ? 2 : 1;
    begin_line(lexer);
    return true;
}

static void skip_comment(ig_py_lexer *lexer) {
    while (peek_byte(lexer, 0) >= 0 && peek_byte(lexer, 0) != '\n' &&
           peek_byte(lexer, 0) != '\r') {
        lexer->next++;
    }
}

/* Blanks, comments, joined lines; inside brackets also line ends. */
static void skip_blanks(ig_py_lexer *lexer) {
    for (;;) {
        int c = peek_byte(lexer, 0);
        if (c == ' ' || c == '\t' || c == '\f') {
            lexer->next++;
        } else if (c == '#') {
            skip_comment(lexer);
        } else if (c == '\\' &&
                   (peek_byte(lexer, 1) == '\n' || peek_byte(lexer, 1) == '\r')) {
            lexer->next++;
            take_line_end(lexer);
        } else if (lexer->brackets == 0 || !take_line_end(lexer)) {
            return;
        }
    }
}

/* ---- tokens ---- */

static ig_py_token token_at(const ig_py_lexer *lexer, ig_py_token_kind kind) {
    return (ig_py_token){ .kind = kind,
                          .text = { lexer->next, 0 },
                          .line = lexer->line,
                          .column = (uint32_t)(lexer->next - lexer->line_start) + 1 };
}

static ig_py_token bad_at(const ig_py_lexer *lexer, const char *phrase) {
    ig_py_token token = token_at(lexer, IG_PY_TOKEN_BAD);
    token.text = ig_str_of(phrase);
    return token;
}

static ig_py_token take_token(ig_py_lexer *lexer, ig_py_token_kind kind, size_t size) {
    assert(size > 0 && size <= (size_t)(lexer->end - lexer->next) &&
           "a token has bytes, all in the text");
    ig_py_token token = token_at(lexer, kind);
    token.text.size = size;
    lexer->next += size;
    return token;
}

/* ---- blocks ---- */

/* Blank lines do not count; a tab reaches the next multiple of 8. */
static uint32_t measure_indent(ig_py_lexer *lexer) {
    uint32_t column = 0;
    for (;;) {
        int c = peek_byte(lexer, 0);
        if (c == ' ') {
            column++;
        } else if (c == '\t') {
            column = (column | 7) + 1;
        } else if (c == '\f') {
            column = 0;
        } else if (c == '#') {
            skip_comment(lexer);
            continue;
        } else if (take_line_end(lexer)) {
            column = 0;
            continue;
        } else {
            return column;
        }
        lexer->next++;
    }
}

/* At the start of a logical line: one INDENT, or the first of its DEDENTs, or
 * nothing. */
static bool read_indent(ig_py_lexer *lexer, ig_py_token *out_token) {
    lexer->is_line_start = false;
    assert(lexer->indent_count > 0 && "column 0 stays on the stack");
    uint32_t column = measure_indent(lexer);
    if (peek_byte(lexer, 0) < 0) {
        column = 0;
    }
    uint32_t *top = &lexer->indents[lexer->indent_count - 1];
    if (column == *top) {
        return false;
    }
    if (column > *top) {
        if (lexer->indent_count == IG_PY_MAX_INDENTS) {
            *out_token = bad_at(lexer, "too many levels of indentation");
            return true;
        }
        lexer->indents[lexer->indent_count++] = column;
        *out_token = token_at(lexer, IG_PY_TOKEN_INDENT);
        return true;
    }
    while (lexer->indent_count > 1 &&
           lexer->indents[lexer->indent_count - 1] > column) {
        lexer->indent_count--;
        lexer->dedents++;
    }
    if (lexer->indents[lexer->indent_count - 1] != column) {
        *out_token = bad_at(lexer, "an indentation that no block around it has");
        return true;
    }
    assert(lexer->dedents > 0 && "a smaller column closes a block");
    lexer->dedents--;
    *out_token = token_at(lexer, IG_PY_TOKEN_DEDENT);
    return true;
}

/* ---- numbers ---- */

static size_t count_digits(const ig_py_lexer *lexer, size_t from) {
    assert(from <= (size_t)(lexer->end - lexer->next) &&
           "digits are counted from an offset in the text");
    size_t at = from;
    while (is_digit(peek_byte(lexer, at)) ||
           (peek_byte(lexer, at) == '_' && is_digit(peek_byte(lexer, at + 1)) &&
            at > from)) {
        at++;
    }
    return at - from;
}

static size_t count_based(const ig_py_lexer *lexer) {
    size_t at = 2;
    while (is_word(peek_byte(lexer, at)) && peek_byte(lexer, at) < 0x80) {
        at++;
    }
    return at;
}

static ig_py_token read_number(ig_py_lexer *lexer) {
    int second = peek_byte(lexer, 0) == '0' ? peek_byte(lexer, 1) | 0x20 : 0;
    if (second == 'x' || second == 'o' || second == 'b') {
        return take_token(lexer, IG_PY_TOKEN_INT, count_based(lexer));
    }
    ig_py_token_kind kind = IG_PY_TOKEN_INT;
    size_t size = count_digits(lexer, 0);
    if (peek_byte(lexer, size) == '.') {
        kind = IG_PY_TOKEN_FLOAT;
        size++;
        size += count_digits(lexer, size);
    }
    if ((peek_byte(lexer, size) | 0x20) == 'e') {
        size_t sign = peek_byte(lexer, size + 1) == '+' ||
                      peek_byte(lexer, size + 1) == '-';
        size_t digits = count_digits(lexer, size + 1 + sign);
        if (digits) {
            kind = IG_PY_TOKEN_FLOAT;
            size += 1 + sign + digits;
        }
    }
    if ((peek_byte(lexer, size) | 0x20) == 'j') {
        kind = IG_PY_TOKEN_IMAGINARY;
        size++;
    }
    if (is_word(peek_byte(lexer, size))) {
        return bad_at(lexer, "a number followed by letters");
    }
    return take_token(lexer, kind, size);
}

/* ---- strings ---- */

/* Up to and with the end quote; 0: there is none. */
static size_t measure_string(const ig_py_lexer *lexer, size_t prefix) {
    int quote = peek_byte(lexer, prefix);
    assert((quote == '"' || quote == '\'') && "measure_prefix found the quote");
    bool is_long = peek_byte(lexer, prefix + 1) == quote &&
                   peek_byte(lexer, prefix + 2) == quote;
    size_t at = prefix + (is_long ? 3 : 1);
    for (;; at++) {
        int c = peek_byte(lexer, at);
        if (c < 0 || (!is_long && (c == '\n' || c == '\r'))) {
            return 0;
        }
        if (c == '\\' && peek_byte(lexer, at + 1) >= 0) {
            at++; /* whatever it is, also a line end */
        } else if (c == quote && !is_long) {
            return at + 1;
        } else if (c == quote && peek_byte(lexer, at + 1) == quote &&
                   peek_byte(lexer, at + 2) == quote) {
            return at + 3;
        }
    }
}

static ig_py_token read_string(ig_py_lexer *lexer, size_t prefix) {
    size_t size = measure_string(lexer, prefix);
    if (size == 0) {
        return bad_at(lexer, "a string without its end quote");
    }
    ig_py_token token = take_token(lexer, IG_PY_TOKEN_STRING, size);
    for (size_t i = 0; i < size; i++) {
        if (token.text.data[i] == '\n') {
            lexer->line++;
            lexer->line_start = token.text.data + i + 1;
        }
    }
    return token;
}

/* Length of a string's prefix (r, b, u, f, rb …) when a quote follows, else -1. */
static int measure_prefix(const ig_py_lexer *lexer) {
    int size = 0;
    for (; size < 3; size++) {
        int c = peek_byte(lexer, (size_t)size);
        if (c == '"' || c == '\'') {
            return size;
        }
        if (c < 0 || !strchr("rRbBuUfF", c) || c == 0) {
            return -1;
        }
    }
    return -1;
}

/* ---- all ---- */

static const char *const puncts[] = {
    "...", "**=", "//=", "<<=", ">>=", "->", "**", "//", "<<", ">>", "<=", ">=",
    "==",  "!=",  "+=",  "-=",  "*=",  "/=", "%=", "&=", "|=", "^=", "@=", ":=",
    "(",   ")",   "[",   "]",   "{",   "}",  ",",  ":",  ".",  ";",  "@",  "=",
    "+",   "-",   "*",   "/",   "%",   "&",  "|",  "^",  "~",  "<",  ">",
};

static ig_py_token read_punct(ig_py_lexer *lexer) {
    size_t rest = (size_t)(lexer->end - lexer->next);
    for (size_t i = 0; i < IG_COUNT_OF(puncts); i++) {
        if (rest == 0 || *lexer->next != puncts[i][0]) {
            continue;
        }
        size_t size = strlen(puncts[i]);
        if (size > rest || memcmp(lexer->next, puncts[i], size) != 0) {
            continue;
        }
        ig_py_token token = take_token(lexer, IG_PY_TOKEN_PUNCT, size);
        for (size_t k = 0; k < size; k++) {
            token.punct |= (uint32_t)(unsigned char)puncts[i][k] << 8 * k;
        }
        bool opens = strchr("([{", puncts[i][0]), closes = strchr(")]}", puncts[i][0]);
        lexer->brackets += opens;
        lexer->brackets -= closes && lexer->brackets > 0;
        return token;
    }
    return bad_at(lexer, peek_byte(lexer, 0) == 0 ? "a NUL byte" : "a stray character");
}

static ig_py_token read_word(ig_py_lexer *lexer) {
    size_t size = 1;
    while (is_word(peek_byte(lexer, size))) {
        size++;
    }
    return take_token(lexer, IG_PY_TOKEN_WORD, size);
}

static ig_py_token read_end(ig_py_lexer *lexer) {
    if (lexer->line_begun) {
        lexer->line_begun = false;
        return token_at(lexer, IG_PY_TOKEN_NEWLINE);
    }
    if (lexer->indent_count > 1) {
        lexer->indent_count--;
        return token_at(lexer, IG_PY_TOKEN_DEDENT);
    }
    return token_at(lexer, IG_PY_TOKEN_END);
}

ig_py_token ig_py_lexer_next(ig_py_lexer *lexer) {
    ig_py_token token;
    if (lexer->dedents > 0) {
        lexer->dedents--;
        return token_at(lexer, IG_PY_TOKEN_DEDENT);
    }
    if (lexer->is_line_start && read_indent(lexer, &token)) {
        return token;
    }
    skip_blanks(lexer);
    int c = peek_byte(lexer, 0);
    if (c < 0) {
        return read_end(lexer);
    }
    if (c == '\n' || c == '\r') {
        token = token_at(lexer, IG_PY_TOKEN_NEWLINE);
        take_line_end(lexer);
        lexer->is_line_start = true;
        lexer->line_begun = false;
        return token;
    }
    lexer->line_begun = true;
    int prefix = measure_prefix(lexer);
    if (prefix >= 0) {
        return read_string(lexer, (size_t)prefix);
    }
    if (is_word_start(c)) {
        return read_word(lexer);
    }
    if (is_digit(c) || (c == '.' && is_digit(peek_byte(lexer, 1)))) {
        return read_number(lexer);
    }
    return read_punct(lexer);
}
