/* Reading options by their tables, and help made of the same rows.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/cli/options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_LONG = 256, WIDTH = 80 }; /* values of rows without a letter */

static size_t count_rows(const option_row *rows) {
    size_t count = 0;
    while (rows[count].name) {
        count++;
    }
    return count;
}

static int wrong(const verb *which, const char *what, const char *about) {
    fprintf(stderr, "ingot %s: %s%s%s\n  try: ingot %s --help\n", which->name, what,
            about ? ": " : "", about ? about : "", which->name);
    return EXIT_USAGE;
}

/* ---- values ---- */

static bool add_text(text_list *list, const char *text) {
    const char **items = realloc(list->items, (list->count + 1) * sizeof *items);
    if (!items) {
        return false;
    }
    list->items = items;
    items[list->count++] = text;
    return true;
}

static bool read_count(const char *text, int64_t *out) {
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    *out = value;
    return *text && !*end && !errno && value >= 0;
}

static bool read_real(const char *text, double *out) {
    char *end;
    *out = strtod(text, &end);
    return *text && !*end && isfinite(*out) && *out >= 0;
}

/* Is `text` one of the words of "a|b|c"?  What help calls "FILE" or "DIR|x.npz" is no
 * list of choices: those are small letters and digits. */
static bool is_choice(const char *choices, const char *text) {
    if (!strchr(choices, '|') ||
        choices[strspn(choices, "abcdefghijklmnopqrstuvwxyz0123456789|-")]) {
        return true;
    }
    size_t length = strlen(text);
    for (const char *at = choices; at; at = strchr(at, '|')) {
        at += *at == '|';
        size_t word = strcspn(at, "|");
        if (word == length && memcmp(at, text, length) == 0) {
            return true;
        }
    }
    return false;
}

static bool take_value(const option_row *row, const char *text, settings *out) {
    void *field = (char *)out + row->field;
    switch (row->kind) {
    case OPTION_FLAG:
        *(bool *)field = true;
        return true;
    case OPTION_TEXT:
        *(const char **)field = text;
        return is_choice(row->value, text);
    case OPTION_LIST:
        return add_text(field, text);
    case OPTION_COUNT:
        return read_count(text, field);
    case OPTION_REAL:
        *(bool *)((char *)out + row->mark) = true;
        return read_real(text, field);
    }
    return false;
}

/* ---- getopt ---- */

static const option_row *row_of(const verb *which, int value) {
    if (value >= FIRST_LONG) {
        return &which->options[value - FIRST_LONG];
    }
    for (const option_row *row = which->options; row->name; row++) {
        if (row->letter == value) {
            return row;
        }
    }
    return NULL;
}

static void fill_tables(const verb *which, struct option *longs, char *shorts) {
    *shorts++ = '-'; /* positional arguments come as option 1, anywhere */
    *shorts++ = ':';
    for (const option_row *row = which->options; row->name; row++) {
        bool has_value = row->kind != OPTION_FLAG;
        *longs++ = (struct option){
            .name = row->name,
            .has_arg = has_value ? required_argument : no_argument,
            .val = FIRST_LONG + (int)(row - which->options),
        };
        if (row->letter) {
            *shorts++ = row->letter;
            if (has_value) {
                *shorts++ = ':';
            }
        }
    }
    *shorts = '\0';
    *longs = (struct option){ 0 };
}

static int take_all(const verb *which, int argc, char **argv,
                    const struct option *longs, const char *shorts, settings *out) {
    opterr = 0;
    optind = 1;
    for (int value; (value = getopt_long(argc, argv, shorts, longs, NULL)) != -1;) {
        if (value == 1) {
            if (!add_text(&out->arguments, optarg)) {
                return wrong(which, "memory ran out", NULL);
            }
            continue;
        }
        if (value == '?' || value == ':') {
            const char *what = value == ':' ? "an option needs a value"
                                            : "there is no such option";
            return wrong(which, what, argv[optind - 1]);
        }
        const option_row *row = row_of(which, value);
        if (!row || !take_value(row, optarg, out)) {
            char text[256];
            snprintf(text, sizeof text, "--%s takes %s, not '%s'", row ? row->name : "",
                     row && row->value ? row->value : "a value", optarg ? optarg : "");
            return wrong(which, text, NULL);
        }
    }
    while (optind < argc) {
        if (!add_text(&out->arguments, argv[optind++])) {
            return wrong(which, "memory ran out", NULL);
        }
    }
    return 0;
}

int options_read(const verb *which, int argc, char **argv, settings *out) {
    *out = (settings){ 0 };
    size_t count = count_rows(which->options);
    struct option *longs = calloc(count + 1, sizeof *longs);
    char *shorts = calloc(2 * count + 3, 1);
    if (!longs || !shorts) {
        free(longs);
        free(shorts);
        return wrong(which, "memory ran out", NULL);
    }
    fill_tables(which, longs, shorts);
    int status = take_all(which, argc, argv, longs, shorts, out);
    free(longs);
    free(shorts);
    if (status || out->help) {
        return status;
    }
    if (out->arguments.count < which->min_arguments) {
        return wrong(which, "something is missing; usage: ingot", which->arguments);
    }
    return out->arguments.count > which->max_arguments
               ? wrong(which, "too many arguments",
                       out->arguments.items[which->max_arguments])
               : 0;
}

void options_free(settings *given) {
    free(given->inputs.items);
    free(given->limits.items);
    free(given->dims.items);
    free(given->arguments.items);
}

/* ---- help ---- */

/* Breaks `text` into lines between `indent` and WIDTH. */
static void print_wrapped(FILE *to, const char *text, int indent, int column) {
    while (*text) {
        int length = (int)strcspn(text, " \n");
        if (column + length > WIDTH) {
            fprintf(to, "\n%*s", indent, "");
            column = indent;
        }
        fprintf(to, "%.*s", length, text);
        column += length;
        text += length;
        if (*text == '\n') {
            fprintf(to, "\n%*s", indent, "");
            column = indent;
        } else if (*text) {
            fputc(' ', to);
            column++;
        }
        text += *text != '\0';
    }
    fputc('\n', to);
}

void options_print_help(const verb *which, FILE *to) {
    enum { HELP_COLUMN = 27 };
    fprintf(to, "usage: ingot %s %s\n\n", which->name, which->arguments);
    print_wrapped(to, which->help, 0, 0);
    fputs("\noptions:\n", to);
    for (const option_row *row = which->options; row->name; row++) {
        char left[80];
        snprintf(left, sizeof left, "  %c%c%s --%s%s%s", row->letter ? '-' : ' ',
                 row->letter ? row->letter : ' ', row->letter ? "," : " ", row->name,
                 row->value ? " " : "", row->value ? row->value : "");
        int column = fprintf(to, "%-*s", HELP_COLUMN - 1, left);
        if (column >= HELP_COLUMN) {
            fprintf(to, "\n%*s", HELP_COLUMN - 1, "");
        }
        fputc(' ', to);
        print_wrapped(to, row->help, HELP_COLUMN, HELP_COLUMN);
    }
    if (which->details) {
        fputc('\n', to);
        print_wrapped(to, which->details, 0, 0);
    }
}
