/* Reading options by their tables, and help made of the same rows.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/cli/options.h"

#include "tools/ingot/cli/console.h"

#include <errno.h>
#include <getopt.h>
#include <ingot/status.h>
#include <math.h>
#include <stdarg.h>
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

IG_PRINTF(2, 3)
static int refuse_usage(const verb *which, const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return complain(EXIT_USAGE, "ingot %s: %s\n  try: ingot %s --help", which->name,
                    text, which->name);
}

/* ---- values ---- */

static void add_text(text_list *list, const char *text) {
    list->items = need(realloc(list->items, (list->count + 1) * sizeof *list->items));
    list->items[list->count++] = text;
}

static bool is_count(const option_row *row, int64_t value) {
    return value >= row->min && (row->max == 0 || value <= row->max);
}

static bool read_count(const option_row *row, const char *text, int64_t *out) {
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    *out = value;
    return *text && !*end && !errno && is_count(row, value);
}

int64_t options_next_count(const char **list) {
    char *end;
    errno = 0;
    long long value = strtoll(*list, &end, 10);
    bool is_good = end != *list && !errno && value >= 0 &&
                   (*end == '\0' || *end == ',');
    *list = *end ? end + 1 : end;
    return is_good ? value : -1;
}

static bool are_counts(const option_row *row, const char *text) {
    bool is_good = *text && text[strlen(text) - 1] != ',';
    while (is_good && *text) {
        int64_t value = options_next_count(&text);
        is_good = value >= 0 && is_count(row, value);
    }
    return is_good;
}

static bool read_real(const char *text, double *out) {
    char *end;
    *out = strtod(text, &end);
    return *text && !*end && isfinite(*out) && *out >= 0;
}

/* "FILE" and "DIR|x.npz" are no lists of choices: those are small letters and
 * digits. */
bool options_are_choices(const char *value) {
    return value[strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789|-")] == '\0';
}

/* Is `text` one of the words of "a|b|c"? */
static bool is_choice(const char *choices, const char *text) {
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

/* "NAME=VALUE", where the row's value is written so. */
static bool is_item(const option_row *row, const char *text) {
    size_t name = strspn(row->value, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    const char *equals = strchr(text, '=');
    return row->value[name] != '=' || (equals && equals > text && equals[1]);
}

static bool take_value(const option_row *row, const char *text, settings *out) {
    void *field = (char *)out + row->field;
    switch (row->kind) {
    case OPTION_FLAG:
        *(bool *)field = true;
        return true;
    case OPTION_TEXT:
        *(const char **)field = text;
        return !options_are_choices(row->value) || is_choice(row->value, text);
    case OPTION_LIST:
        add_text(field, text);
        return is_item(row, text);
    case OPTION_COUNT:
        return read_count(row, text, field);
    case OPTION_COUNTS:
        *(const char **)field = text;
        return are_counts(row, text);
    case OPTION_REAL:
        *(bool *)((char *)out + row->mark) = true;
        return read_real(text, field);
    }
    return false;
}

/* "--threads takes a count from 1 to 4096, not 'two'". */
static int refuse_value(const verb *which, const option_row *row, const char *text) {
    char range[96] = "";
    if (row->max > 0) {
        snprintf(range, sizeof range, " from %lld to %lld", (long long)row->min,
                 (long long)row->max);
    } else if (row->min > 0) {
        snprintf(range, sizeof range, " from %lld on", (long long)row->min);
    }
    switch (row->kind) {
    case OPTION_COUNT:
        return refuse_usage(which, "--%s takes a count%s, not '%s'", row->name, range,
                            text);
    case OPTION_COUNTS:
        return refuse_usage(which, "--%s takes counts%s such as 1,2,4, not '%s'",
                            row->name, range, text);
    case OPTION_REAL:
        return refuse_usage(which, "--%s takes a number that is not negative, not '%s'",
                            row->name, text);
    case OPTION_TEXT:
    case OPTION_LIST:
        return refuse_usage(which, "--%s takes %s, not '%s'", row->name, row->value,
                            text);
    case OPTION_FLAG:
        break;
    }
    return EXIT_USAGE; /* these take anything */
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

static int take_option(const verb *which, int value, const char *word, settings *out) {
    if (value == 1) {
        add_text(&out->arguments, optarg);
        return 0;
    }
    if (value == ':') {
        return refuse_usage(which, "the option %s needs a value", word);
    }
    const option_row *row = value == '?' ? NULL : row_of(which, value);
    if (!row) {
        return refuse_usage(which, "there is no option %s", word);
    }
    return take_value(row, optarg, out) ? 0 : refuse_value(which, row, optarg);
}

static int take_all(const verb *which, int argc, char **argv,
                    const struct option *longs, const char *shorts, settings *out) {
    int status = 0;
    opterr = 0;
    optind = 1;
    for (int value;
         status == 0 && (value = getopt_long(argc, argv, shorts, longs, NULL)) != -1;) {
        status = take_option(which, value, argv[optind - 1], out);
    }
    while (status == 0 && optind < argc) {
        add_text(&out->arguments, argv[optind++]);
    }
    return status;
}

static int check_arguments(const verb *which, const settings *given) {
    size_t count = given->arguments.count;
    if (count < which->min_arguments) {
        return refuse_usage(which, "expected %s, got no %.*s", which->arguments,
                            (int)strcspn(which->arguments, " "), which->arguments);
    }
    return count > which->max_arguments
               ? refuse_usage(which, "expected %zu argument%s, got %zu: %s is too many",
                              which->max_arguments,
                              which->max_arguments == 1 ? "" : "s", count,
                              given->arguments.items[which->max_arguments])
               : 0;
}

int options_read(const verb *which, int argc, char **argv, settings *out) {
    *out = (settings){ 0 };
    size_t count = count_rows(which->options);
    struct option *longs = need(calloc(count + 1, sizeof *longs));
    char *shorts = need(calloc(2 * count + 3, 1));
    fill_tables(which, longs, shorts);
    int status = take_all(which, argc, argv, longs, shorts, out);
    free(longs);
    free(shorts);
    return status || out->help ? status : check_arguments(which, out);
}

void options_free(settings *given) {
    const text_list lists[] = { given->backends, given->inputs,  given->limits,
                                given->dims,     given->modules, given->stores,
                                given->missing,  given->skips,   given->table_formats,
                                given->arguments };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        free(lists[i].items);
    }
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

/* Of a verb that takes models of every format, not only MODEL.onnx. */
static bool takes_models(const verb *which) {
    const char *at = strstr(which->arguments, "MODEL");
    return at && at[strlen("MODEL")] != '.';
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
    if (takes_models(which)) {
        fputs("\nMODEL: a .onnx, .pt, .pt2 or .ig file (ingot --help)\n", to);
    }
    fputs("\nexit status: 0 good", to);
    print_wrapped(to,
                  strcmp(which->name, "verify") == 0
                      ? ", 1 a case failed, else why none was run (ingot --help)"
                      : ", else what went wrong (ingot --help)",
                  0, 20);
}
