/* Facts about modules and sources of artifacts, for people.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/info/inspect_facts.h"

#include <stdlib.h>
#include <string.h>

static const char *text_in(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* ---- tables ---- */

typedef struct table {
    const char *key, *title, *columns[4]; /* fields of a row, NULL-terminated */
} table;

static const table tables[] = {
    { "operators", "Operators of the model", { "count", "name" } },
    { "ops", "Ops", { "count", "name" } },
    { "parameters", "Parameters", { "dtype", "count", "bytes" } },
    { "biggest", "Biggest", { "bytes", "type", "name" } },
    { "symbols", "Symbols", { "name", "min", "origin" } },
    { "guards", "Guards", { "claim", "message" } },
};

/* Numbers are aligned right, texts left. */
static void print_cell(const json_t *value, bool is_markdown) {
    if (json_is_integer(value)) {
        printf(is_markdown ? "%lld" : "%14lld", (long long)json_integer_value(value));
    } else {
        put_plain(stdout, json_string_value(value));
    }
}

static void print_row(const table *t, const json_t *row, bool is_markdown) {
    fputs(is_markdown ? "|" : " ", stdout);
    for (int i = 0; t->columns[i]; i++) {
        putchar(' ');
        print_cell(json_object_get(row, t->columns[i]), is_markdown);
        fputs(is_markdown ? " |" : t->columns[i + 1] ? " " : "", stdout);
    }
    putchar('\n');
}

static void print_title(const table *t, bool is_markdown) {
    printf(is_markdown ? "\n### %s\n\n|" : "%s\n", t->title);
    for (int i = 0; is_markdown && t->columns[i]; i++) {
        printf(" %s |", t->columns[i]);
    }
    fputs(is_markdown ? "\n|" : "", stdout);
    for (int i = 0; is_markdown && t->columns[i]; i++) {
        fputs(" --- |", stdout);
    }
    fputs(is_markdown ? "\n" : "", stdout);
}

static void print_table(const table *t, const json_t *facts, bool is_markdown) {
    const json_t *rows = json_object_get(facts, t->key);
    size_t index;
    json_t *row;
    if (json_array_size(rows) > 0) {
        print_title(t, is_markdown);
    }
    json_array_foreach(rows, index, row) {
        print_row(t, row, is_markdown);
    }
}

void facts_print_head(const json_t *facts, const char *path, bool is_markdown) {
    const char *producer = text_in(facts, "producer");
    const char *opsets = text_in(facts, "opsets");
    fputs(is_markdown ? "## " : "model ", stdout);
    put_plain(stdout, path);
    putchar('\n');
    if (opsets[0]) {
        fputs(is_markdown ? "\nopsets " : "  opsets ", stdout);
        put_plain(stdout, opsets);
        fputs(producer[0] != ' ' ? ", by " : "", stdout);
        put_plain(stdout, producer[0] != ' ' ? producer : "");
        putchar('\n');
    }
    fputs(is_markdown ? "\n```\n" : "", stdout);
}

/* A message and its hint. */
static void print_lines(const char *text) {
    char *copy = text_of("%s", text), *rest = copy;
    for (char *line; (line = strsep(&rest, "\n"));) {
        fputs(line == copy ? "" : "  ", stdout);
        put_plain(stdout, line);
        putchar('\n');
    }
    free(copy);
}

void facts_print(const json_t *facts, bool is_markdown) {
    const json_t *refused = json_object_get(facts, "refused");
    size_t index;
    json_t *why;
    fputs(is_markdown ? "```\n" : "", stdout);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        print_table(&tables[i], facts, is_markdown);
    }
    fputs(is_markdown ? "\n### " : "", stdout);
    puts(json_array_size(refused) ? "Would not compile" : "Compiles");
    json_array_foreach(refused, index, why) {
        fputs(is_markdown ? "- " : "  ", stdout);
        print_lines(json_string_value(why));
    }
}

/* ---- sources ---- */

static size_t count_fate(const json_t *sources, const char *fate) {
    size_t index, count = 0;
    json_t *node;
    json_array_foreach(json_object_get(sources, "nodes"), index, node) {
        count += strcmp(text_in(node, "fate"), fate) == 0;
    }
    return count;
}

static const char *const fates[] = { "step", "view", "folded", "removed" };

void sources_print(const json_t *sources) {
    if (!sources) {
        return;
    }
    printf("%zu nodes of the model:",
           json_array_size(json_object_get(sources, "nodes")));
    for (size_t i = 0; i < sizeof fates / sizeof *fates; i++) {
        printf("%s %zu %s", i ? "," : "", count_fate(sources, fates[i]), fates[i]);
    }
    putchar('\n');
}

void sources_put_json(const json_t *sources) {
    fputs(",\n \"fates\": {", stdout);
    for (size_t i = 0; sources && i < sizeof fates / sizeof *fates; i++) {
        printf("%s\"%s\": %zu", i ? ", " : "", fates[i], count_fate(sources, fates[i]));
    }
    fputs("}", stdout);
}
