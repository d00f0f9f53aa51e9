/* Reporting and wording of diagnostics.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/diag.h"

#include "base/secret.h"
#include "base/utf8.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGE_SIZE = 2048, DEFAULT_ERROR_LIMIT = 20 };

/* A cut message may end inside of a letter. */
static void drop_half_a_letter(char *text, size_t size) {
    assert(size < MESSAGE_SIZE && "the message has its final zero");
    size_t begin = size;
    while (begin > 0 && size - begin < 4 && (text[begin - 1] & 0xc0) == 0x80) {
        begin--;
    }
    bool is_cut = size + 1 == MESSAGE_SIZE && begin > 0 &&
                  (text[begin - 1] & 0x80) != 0 &&
                  ig_utf8_length(text + begin - 1, size - begin + 1) == 0;
    if (is_cut) {
        text[begin - 1] = '\0';
    }
}

static void send_message(ig_diag *diag, ig_diagnostic *diagnostic,
                         const ig_location *where, const char *format, va_list list) {
    assert(diag->sink && "nobody listens");
    char message[MESSAGE_SIZE];
    if (vsnprintf(message, sizeof(message), format, list) < 0) {
        message[0] = '\0';
    }
    drop_half_a_letter(message, strlen(message));
    if (where) {
        diagnostic->where = *where;
    }
    diagnostic->message = message;
    diag->sink(diag->user, diagnostic);
}

static ig_status report_error(ig_diag *diag, ig_status status, const ig_location *where,
                              const char *hint, const char *format, va_list list) {
    if (!diag) {
        return status;
    }
    size_t limit = diag->error_limit ? diag->error_limit : DEFAULT_ERROR_LIMIT;
    diag->error_count++;
    if (diag->sink && diag->error_count <= limit) {
        ig_diagnostic diagnostic = { .severity = IG_ERROR,
                                     .status = status,
                                     .hint = hint };
        send_message(diag, &diagnostic, where, format, list);
    }
    return status;
}

ig_status ig_error(ig_diag *diag, ig_status status, const ig_location *where,
                   const char *format, ...) {
    va_list list;
    va_start(list, format);
    report_error(diag, status, where, NULL, format, list);
    va_end(list);
    return status;
}

ig_status ig_error_hint(ig_diag *diag, ig_status status, const ig_location *where,
                        const char *hint, const char *format, ...) {
    va_list list;
    va_start(list, format);
    report_error(diag, status, where, hint, format, list);
    va_end(list);
    return status;
}

void ig_note(ig_diag *diag, const ig_location *where, const char *format, ...) {
    if (!diag || !diag->sink) {
        return;
    }
    ig_diagnostic diagnostic = { .severity = IG_NOTE };
    va_list list;
    va_start(list, format);
    send_message(diag, &diagnostic, where, format, list);
    va_end(list);
}

void ig_warn(ig_diag *diag, const ig_location *where, const char *format, ...) {
    if (!diag) {
        return;
    }
    diag->warning_count++;
    if (!diag->sink) {
        return;
    }
    ig_diagnostic diagnostic = { .severity = IG_WARNING };
    va_list list;
    va_start(list, format);
    send_message(diag, &diagnostic, where, format, list);
    va_end(list);
}

/* ---- wording ---- */

/* Text that is cut at the end of a caller's buffer. */
typedef struct cut_text {
    char *data;
    size_t size, capacity; /* capacity includes the final zero */
} cut_text;

/* Adds all of a piece or nothing: a letter is not cut. */
static void add_piece(cut_text *text, const char *piece, size_t size) {
    if (text->capacity - text->size > size) {
        memcpy(text->data + text->size, piece, size);
        text->size += size;
        text->data[text->size] = '\0';
    } else {
        text->capacity = text->size + 1; /* full */
    }
}

static void add_number(cut_text *text, const char *format, unsigned value) {
    char digits[32];
    int length = snprintf(digits, sizeof(digits), format, value);
    add_piece(text, digits, (size_t)length);
}

/* Names come from model files: nothing in them may steer a terminal or fake a line, and
 * the output is always UTF-8.  Further lines are indented. */
static void add_lines(cut_text *text, const char *words, bool has_lines) {
    for (size_t left = strlen(words); left;) {
        size_t length = ig_utf8_plain(words, left);
        if (length) {
            add_piece(text, words, length);
        } else if (*words == '\n' && has_lines) {
            add_piece(text, "\n    ", words[1] == ' ' ? 1 : 5);
            length = 1;
        } else {
            add_number(text, "\\x%02x", (unsigned char)*words);
            length = 1;
        }
        words += length;
        left -= length;
    }
}

static void add_words(cut_text *text, const char *words) {
    add_lines(text, words, false);
}

static void add_location(cut_text *text, const ig_location *where) {
    if (where->file) {
        add_words(text, where->file);
        if (where->line) {
            add_number(text, ":%u", where->line);
        }
        if (where->line && where->column) {
            add_number(text, ":%u", where->column);
        }
        add_words(text, ": ");
    }
    if (where->graph) {
        add_words(text, "in '");
        add_words(text, where->graph);
        add_words(text, "': ");
    }
    if (!where->node_id && !where->node && !where->op) {
        return;
    }
    add_words(text, "node");
    if (where->node_id) {
        add_number(text, " %u", where->node_id);
    }
    if (where->node) {
        add_words(text, " '");
        add_words(text, where->node);
        add_words(text, "'");
    }
    if (where->op) {
        add_words(text, " (");
        add_words(text, where->op);
        add_words(text, ")");
    }
    add_words(text, ": ");
}

size_t ig_diagnostic_format(const ig_diagnostic *diagnostic, char *buffer,
                            size_t size) {
    assert(diagnostic->severity <= IG_ERROR && "a severity that has a prefix");
    static const char *const prefixes[] = { "note: ", "warning: ", "" };
    if (size == 0) {
        return 0;
    }
    cut_text text = { buffer, 0, size };
    buffer[0] = '\0';
    add_location(&text, &diagnostic->where);
    add_words(&text, prefixes[diagnostic->severity]);
    add_lines(&text, diagnostic->message ? diagnostic->message : "", true);
    if (diagnostic->hint) {
        add_piece(&text, "\n", 1);
        add_words(&text, "  hint: ");
        add_lines(&text, diagnostic->hint, true);
    }
    ig_hide_secrets(buffer);
    return strlen(buffer);
}
