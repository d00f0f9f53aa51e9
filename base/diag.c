/* Reporting and wording of diagnostics.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/diag.h"

#include <stdarg.h>
#include <stdio.h>

enum { MESSAGE_SIZE = 2048, DEFAULT_ERROR_LIMIT = 20 };

static void send(ig_diag *diag, ig_diagnostic *diagnostic, const ig_location *where,
                 const char *format, va_list list) {
    char message[MESSAGE_SIZE];
    if (vsnprintf(message, sizeof(message), format, list) < 0) {
        message[0] = '\0';
    }
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
        send(diag, &diagnostic, where, format, list);
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

void ig_warn(ig_diag *diag, const ig_location *where, const char *format, ...) {
    if (!diag) {
        return;
    }
    diag->warning_count++;
    if (!diag->sink) {
        return;
    }
    ig_diagnostic diagnostic = { .severity = IG_WARNING };
    va_list       list;
    va_start(list, format);
    send(diag, &diagnostic, where, format, list);
    va_end(list);
}

/* ---- wording ---- */

/* Text that is cut at the end of a caller's buffer. */
typedef struct cut_text {
    char  *data;
    size_t size, capacity; /* capacity includes the final zero */
} cut_text;

static void IG_PRINTF(2, 3) add(cut_text *text, const char *format, ...) {
    size_t  room = text->capacity - text->size;
    va_list list;
    va_start(list, format);
    int length = vsnprintf(text->data + text->size, room, format, list);
    va_end(list);
    if (length > 0) {
        text->size += (size_t)length < room ? (size_t)length : room - 1;
    }
}

static void add_location(cut_text *text, const ig_location *where) {
    if (where->file) {
        add(text, "%s:", where->file);
        if (where->line) {
            add(text, "%u:", where->line);
        }
        if (where->line && where->column) {
            add(text, "%u:", where->column);
        }
        add(text, " ");
    }
    if (where->graph) {
        add(text, "in '%s': ", where->graph);
    }
    if (!where->number && !where->node && !where->op) {
        return;
    }
    add(text, "node");
    if (where->number) {
        add(text, " %u", where->number);
    }
    if (where->node) {
        add(text, " '%s'", where->node);
    }
    if (where->op) {
        add(text, " (%s)", where->op);
    }
    add(text, ": ");
}

/* Names come from model files: nothing in them may steer a terminal or fake a line. */
static void defuse(char *text, size_t size, const char *allowed) {
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        if ((c < 0x20 && c != (unsigned char)*allowed) || c == 0x7f) {
            text[i] = '?';
        }
    }
}

size_t ig_diagnostic_format(const ig_diagnostic *diagnostic, char *buffer,
                            size_t size) {
    static const char *const prefixes[] = { "note: ", "warning: ", "" };
    if (size == 0) {
        return 0;
    }
    cut_text text = { buffer, 0, size };
    buffer[0] = '\0';
    add_location(&text, &diagnostic->where);
    add(&text, "%s", prefixes[diagnostic->severity]);
    defuse(buffer, text.size, "");
    size_t message_begin = text.size;
    add(&text, "%s", diagnostic->message ? diagnostic->message : "");
    if (diagnostic->hint) {
        add(&text, "\n  hint: %s", diagnostic->hint);
    }
    defuse(buffer + message_begin, text.size - message_begin, "\n");
    return text.size;
}
