/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/values/plan_text.h"

#include "tools/ingot/cli/console.h"

#include <stdlib.h>
#include <string.h>

/* ---- tables of text: heads in the middle, cells at the left ---- */

enum { COLUMNS = 4 };

typedef struct text_table {
    const char *heads[COLUMNS];
    char *(*cells)[COLUMNS];
    size_t count, room;
} text_table;

static void add_row(text_table *t, char *const cells[COLUMNS]) {
    if (t->count == t->room) {
        t->room = t->room ? 2 * t->room : 64;
        t->cells = need(realloc(t->cells, t->room * sizeof *t->cells));
    }
    memcpy(t->cells[t->count++], cells, sizeof *t->cells);
}

static void close_table(text_table *t) {
    for (size_t i = 0; i < t->count; i++) {
        for (size_t k = 0; k < COLUMNS; k++) {
            free(t->cells[i][k]);
        }
    }
    free(t->cells);
}

static size_t width_of(const text_table *t, size_t column) {
    size_t width = strlen(t->heads[column]);
    for (size_t i = 0; i < t->count; i++) {
        size_t size = strlen(t->cells[i][column]);
        width = size > width ? size : width;
    }
    return width;
}

/* In the middle of `width`, as Python's str.center has it. */
static void put_centred(FILE *to, const char *text, size_t width) {
    size_t blanks = width - strlen(text);
    size_t left = blanks / 2 + (blanks & width & 1);
    fprintf(to, "%*s%s%*s", (int)left, "", text, (int)(blanks - left), "");
}

static void put_table(FILE *to, const text_table *t) {
    size_t widths[COLUMNS];
    for (size_t k = 0; k < COLUMNS; k++) {
        widths[k] = width_of(t, k);
        fputs(k ? " | " : "", to);
        put_centred(to, t->heads[k], widths[k]);
    }
    fputs("\n", to);
    for (size_t k = 0; k < COLUMNS; k++) {
        fputs(k ? " | " : "", to);
        for (size_t i = 0; i < widths[k]; i++) {
            fputs("-", to);
        }
    }
    for (size_t i = 0; i < t->count; i++) {
        fputs("\n", to);
        for (size_t k = 0; k < COLUMNS; k++) {
            fputs(k ? " | " : "", to);
            put_plain(to, t->cells[i][k]);
            fprintf(to, "%*s", (int)(widths[k] - strlen(t->cells[i][k])), "");
        }
    }
}

/* ---- plans ---- */

static const char *text_in(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* "[0, 1]" of the shards' ranks. */
static char *ranks_of(const json_t *shards) {
    size_t i, size = 0;
    json_t *shard;
    char *text = NULL;
    FILE *to = need(open_memstream(&text, &size));
    json_array_foreach(shards, i, shard) {
        fprintf(to, "%s%lld", i ? ", " : "[",
                (long long)json_integer_value(json_object_get(shard, "rank")));
    }
    fputs("]", to);
    fclose(to);
    return need(text);
}

static char *pair_of(const json_t *shard, const char *key) {
    const json_t *pair = json_object_get(shard, key);
    return text_of("[%lld, %lld]",
                   (long long)json_integer_value(json_array_get(pair, 0)),
                   (long long)json_integer_value(json_array_get(pair, 1)));
}

static void add_shards(text_table *to, const json_t *table) {
    size_t i;
    json_t *shard;
    json_array_foreach(json_object_get(table, "shards"), i, shard) {
        add_row(to, (char *[]){ text_of("%s", text_in(table, "name")),
                                pair_of(shard, "offset"), pair_of(shard, "size"),
                                text_of("%s", text_in(shard, "placement")) });
    }
}

void put_plan_text(FILE *to, const json_t *plan) {
    text_table parameters = { .heads = { "param", "sharding type", "compute kernel",
                                         "ranks" } };
    text_table shards = { .heads = { "param", "shard offsets", "shard sizes",
                                     "placement" } };
    size_t i;
    json_t *table;
    json_array_foreach(json_object_get(plan, "tables"), i, table) {
        const char *type = text_in(table, "sharding_type");
        add_row(&parameters,
                (char *[]){ text_of("%s", text_in(table, "name")), text_of("%s", type),
                            text_of("%s", text_in(table, "compute_kernel")),
                            ranks_of(json_object_get(table, "shards")) });
        if (strcmp(type, "data_parallel") != 0) {
            add_shards(&shards, table);
        }
    }
    fputs("module: ", to);
    put_plain(to, text_in(plan, "module_path"));
    fputs("\n\n", to);
    put_table(to, &parameters);
    fputs("\n\n", to);
    if (shards.count > 0) {
        put_table(to, &shards);
    }
    fputs("\n", to);
    close_table(&parameters);
    close_table(&shards);
}
