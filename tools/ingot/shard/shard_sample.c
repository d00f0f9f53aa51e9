/* Which rows of tables are looked up how often, by a sample of ids.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/shard/shard_sample.h"

#include "tools/ingot/cli/console.h"

#include <stdlib.h>
#include <string.h>

enum { SLICES = 1024 }; /* of a table's rows, at most */

static bool is_part_of(const char *name, const char *table) {
    size_t size = strlen(name);
    const char *at = table, *dot;
    while (strncmp(at, name, size) != 0 || (at[size] != '.' && at[size])) {
        if ((dot = strchr(at, '.')) == NULL) {
            return false;
        }
        at = dot + 1;
    }
    return true;
}

/* A list of how many ids each slice of the table's rows has; NULL after a message. */
static json_t *count_ids(const char *path, const char *name, const ig_argument *ids,
                         int64_t rows) {
    size_t slices = rows < SLICES ? (size_t)rows : SLICES, count = 1;
    double *counts = need(calloc(slices, sizeof *counts));
    for (uint32_t i = 0; i < ids->rank; i++) {
        count *= (size_t)ids->dims[i];
    }
    for (size_t i = 0; i < count; i++) {
        double id = ig_argument_number(ids, i);
        if (!(id < (double)rows)) {
            complain(exit_of(IG_INVALID),
                     "%s: %s: id %.0f is beyond the table's %lld rows", path, name, id,
                     (long long)rows);
            free(counts);
            return NULL;
        }
        if (id >= 0) {
            counts[(size_t)(id * (double)slices / (double)rows)]++;
        }
    }
    json_t *list = need(json_array());
    for (size_t i = 0; i < slices; i++) {
        json_array_append_new(list, need(json_real(counts[i])));
    }
    free(counts);
    return list;
}

/* Of the table whose name this is or a part of; NULL: there is none. */
static const json_t *find_table(const json_t *input, const char *name) {
    const json_t *tables = json_object_get(input, "tables");
    for (size_t i = 0; i < json_array_size(tables); i++) {
        const json_t *table = json_array_get(tables, i);
        const char *whole = json_string_value(json_object_get(table, "name"));
        if (whole && is_part_of(name, whole)) {
            return table;
        }
    }
    return NULL;
}

/* The object under `key`, made where there is none. */
static json_t *object_of(json_t *owner, const char *key) {
    json_t *object = json_object_get(owner, key);
    if (!object) {
        object = need(json_object());
        json_object_set_new(owner, key, object);
    }
    return object;
}

/* 0, or the exit status after a message. */
static int take_array(const char *path, const char *name, const ig_argument *ids,
                      json_t *input) {
    const json_t *table = find_table(input, name);
    if (!table) {
        return complain(exit_of(IG_INVALID), "%s: there is no table '%s'", path, name);
    }
    json_t *list = count_ids(path, name, ids,
                             json_integer_value(json_object_get(table, "rows")));
    if (!list) {
        return exit_of(IG_INVALID);
    }
    json_t *all = object_of(input, "constraints");
    json_t *own = object_of(all, json_string_value(json_object_get(table, "name")));
    if (!json_object_get(own, "row_shares")) {
        json_object_set(own, "row_shares", list);
    }
    json_decref(list);
    return 0;
}

int shard_take_sample(ig_context *context, const char *path, json_t *input) {
    ig_arguments *arrays = NULL;
    int exit_status = exit_of(ig_arguments_open(context, path, &arrays));
    size_t count = exit_status == 0 ? ig_arguments_count(arrays) : 0;
    for (size_t i = 0; exit_status == 0 && i < count; i++) {
        exit_status = take_array(path, ig_arguments_name(arrays, i),
                                 ig_arguments_at(arrays, i), input);
    }
    ig_arguments_close(arrays);
    return exit_status;
}
