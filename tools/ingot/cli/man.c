/* The manual page, made of the option tables.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/cli/options.h"

#include <string.h>

/* Text for roff: a backslash is an escape, a dash may be turned into another sign, and
 * a line must not begin with a dot. */
static void put_roff(FILE *to, const char *text) {
    for (bool is_start = true; *text; is_start = *text++ == '\n') {
        if (is_start && (*text == '.' || *text == '\'')) {
            fputs("\\&", to);
        }
        if (*text == '\\' || *text == '-') {
            fputc('\\', to);
        }
        fputc(*text, to);
    }
}

static void put_option(FILE *to, const option_row *row) {
    fputs(".TP\n.B ", to);
    if (row->letter) {
        fprintf(to, "\\-%c, ", row->letter);
    }
    fputs("\\-\\-", to);
    put_roff(to, row->name);
    if (row->value) {
        fputc(' ', to);
        put_roff(to, row->value);
    }
    fputc('\n', to);
    put_roff(to, row->help);
    fputc('\n', to);
}

void options_print_man(const verb *const *verbs, const char *notes, FILE *to) {
    fputs(
        ".TH INGOT 1\n.SH NAME\ningot \\- compiles trained models into small, fast programs\n.SH SYNOPSIS\n",
        to);
    for (size_t i = 0; verbs[i]; i++) {
        fprintf(to, ".B ingot %s\n", verbs[i]->name);
        put_roff(to, verbs[i]->arguments);
        fputs("\n.br\n", to);
    }
    for (size_t i = 0; verbs[i]; i++) {
        fprintf(to, ".SH INGOT %s\n", verbs[i]->name);
        put_roff(to, verbs[i]->help);
        fputc('\n', to);
        for (const option_row *row = verbs[i]->options; row->name; row++) {
            put_option(to, row);
        }
        if (verbs[i]->details) {
            fputs(".PP\n", to);
            put_roff(to, verbs[i]->details);
            fputc('\n', to);
        }
    }
    fputs(".SH NOTES\n", to);
    put_roff(to, notes);
}
