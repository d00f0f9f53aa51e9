/* The lexer of the text form: bytes in, tokens out, never beyond the end.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Blanks and line ends separate tokens; `#` begins a comment that ends with its line.
 * The grammar needs line ends in one place only (an op's first operand is on the
 * op's line), so a token just knows whether it is the first of its line.
 */
#include "ir/parse/lex.h"

#include <string.h>

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_hex_digit(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool is_word_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) ||
           c == '_' || c == '.';
}

void ig_lexer_init(ig_lexer *lexer, ig_str text) {
    *lexer = (ig_lexer){ .next = text.data,
                         .end = text.data + text.size,
                         .line_start = text.data,
                         .line = 1,
                         .starts_line = true };
}

/* The character `ahead` places on, or 0 at the end. */
static char peek_char(const ig_lexer *lexer, size_t ahead) {
    return (size_t)(lexer->end - lexer->next) > ahead ? lexer->next[ahead] : '\0';
}

static void skip_blanks(ig_lexer *lexer) {
    while (lexer->next < lexer->end) {
        char c = *lexer->next;
        if (c == '\n') {
            lexer->line++;
            lexer->line_start = lexer->next + 1;
            lexer->starts_line = true;
        } else if (c == '#') {
            const void *stop = memchr(lexer->next, '\n',
                                      (size_t)(lexer->end - lexer->next));
            lexer->next = stop ? stop : lexer->end;
            continue;
        } else if (c != ' ' && c != '\t' && c != '\r') {
            break;
        }
        lexer->next++;
    }
}

static void skip_while(ig_lexer *lexer, bool (*is_in)(char)) {
    while (lexer->next < lexer->end && is_in(*lexer->next)) {
        lexer->next++;
    }
}

static int lex_number(ig_lexer *lexer) {
    int kind = IG_TOKEN_INT;
    if (peek_char(lexer, 0) == '0' && peek_char(lexer, 1) == 'x') {
        lexer->next += 2;
        skip_while(lexer, is_hex_digit);
        return IG_TOKEN_HEX;
    }
    skip_while(lexer, is_digit);
    if (peek_char(lexer, 0) == '.') {
        kind = IG_TOKEN_FLOAT;
        lexer->next++;
        skip_while(lexer, is_digit);
    }
    if (peek_char(lexer, 0) == 'e' || peek_char(lexer, 0) == 'E') {
        bool has_sign = peek_char(lexer, 1) == '+' || peek_char(lexer, 1) == '-';
        if (is_digit(peek_char(lexer, 1u + has_sign))) {
            kind = IG_TOKEN_FLOAT;
            lexer->next += 1u + has_sign;
            skip_while(lexer, is_digit);
        }
    }
    return kind;
}

/* Moves past the closing quote; false when the line or the text ends first. */
static bool lex_quoted(ig_lexer *lexer) {
    lexer->next++;
    while (lexer->next < lexer->end && *lexer->next != '\n') {
        char c = *lexer->next++;
        if (c == '"') {
            return true;
        }
        if (c == '\\' && lexer->next < lexer->end && *lexer->next != '\n') {
            lexer->next++;
        }
    }
    return false;
}

static void spoil_token(ig_token *token, const char *problem) {
    token->kind = IG_TOKEN_BAD;
    token->text = ig_str_of(problem);
}

static void lex_name(ig_lexer *lexer, ig_token *token, int kind) {
    token->kind = kind;
    token->text.data = ++lexer->next;
    if (kind == IG_TOKEN_ITEM && peek_char(lexer, 0) == '"') {
        if (!lex_quoted(lexer)) {
            spoil_token(token, "a name without its closing quote");
        }
        return;
    }
    skip_while(lexer, is_word_char);
    if (lexer->next == token->text.data) {
        spoil_token(token, kind == IG_TOKEN_ITEM ? "a `@` without a name"
                                                 : "a `%` without a name");
    }
}

static void lex_other(ig_lexer *lexer, ig_token *token) {
    char c = *lexer->next;
    if (c == '-' && peek_char(lexer, 1) == '>') {
        token->kind = IG_TOKEN_ARROW;
        lexer->next += 2;
    } else if (strchr("{}()[]<>,:=&*+-/", c) && c != '\0') {
        token->kind = c;
        lexer->next++;
    } else {
        lexer->next++;
        spoil_token(token, "a character that no token begins with");
    }
}

ig_token ig_lexer_next(ig_lexer *lexer) {
    skip_blanks(lexer);
    ig_token token = { .text = { lexer->next, 0 },
                       .line = lexer->line,
                       .column = (uint32_t)(lexer->next - lexer->line_start) + 1,
                       .starts_line = lexer->starts_line };
    lexer->starts_line = false;
    if (lexer->next == lexer->end) {
        token.kind = IG_TOKEN_END;
        return token;
    }
    char c = *lexer->next;
    if (is_digit(c)) {
        token.kind = lex_number(lexer);
        if (is_word_char(peek_char(lexer, 0))) {
            skip_while(lexer, is_word_char);
            spoil_token(&token, "a malformed number");
        }
    } else if (is_word_char(c) && c != '.') {
        token.kind = IG_TOKEN_WORD;
        skip_while(lexer, is_word_char);
    } else if (c == '"') {
        token.kind = IG_TOKEN_STRING;
        if (!lex_quoted(lexer)) {
            spoil_token(&token, "a string without its closing quote");
        }
    } else if (c == '%' || c == '@') {
        lex_name(lexer, &token, c == '%' ? IG_TOKEN_VALUE : IG_TOKEN_ITEM);
    } else {
        lex_other(lexer, &token);
    }
    if (token.kind != IG_TOKEN_BAD) {
        token.text.size = (size_t)(lexer->next - token.text.data);
    }
    return token;
}

/* ---- strings ---- */

static int hex_value(char c) {
    return is_digit(c) ? c - '0' : c >= 'a' ? c - 'a' + 10 : c - 'A' + 10;
}

/* Decodes the escape whose letter is at `at`; returns how many bytes it has after the
 * backslash, or 0. */
static size_t decode_escape(const char *at, const char *end, char *out) {
    static const char letters[] = "\"\\nt", meanings[] = "\"\\\n\t";
    const char *letter = *at ? strchr(letters, *at) : NULL;
    if (letter) {
        *out = meanings[letter - letters];
        return 1;
    }
    if (*at != 'x' || end - at < 3 || !is_hex_digit(at[1]) || !is_hex_digit(at[2])) {
        return 0;
    }
    *out = (char)(hex_value(at[1]) << 4 | hex_value(at[2]));
    return *out ? 3 : 0;
}

const char *ig_token_string(const ig_token *token, ig_arena *arena, ig_str *out_text) {
    ig_str text = token->text;
    if (!ig_str_starts(text, "\"")) {
        *out_text = (ig_str){ ig_arena_copy(arena, text.data, text.size), text.size };
        return NULL;
    }
    const char *at = text.data + 1, *end = text.data + text.size - 1;
    char *copy = ig_arena_alloc(arena, text.size);
    size_t size = 0;
    while (at < end) {
        if (*at == '\0') {
            return "a string cannot hold a zero byte";
        }
        if (*at != '\\') {
            copy[size++] = *at++;
            continue;
        }
        size_t used = decode_escape(++at, end, &copy[size++]);
        if (used == 0) {
            return "an escape is one of \\\" \\\\ \\n \\t \\xNN (not \\x00)";
        }
        at += used;
    }
    copy[size] = '\0';
    *out_text = (ig_str){ copy, size };
    return NULL;
}
