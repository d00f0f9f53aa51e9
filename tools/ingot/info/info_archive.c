/* The contents of a TorchScript archive for people: the listing of `ingot inspect`.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/info/info_archive.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS_SHOWN = 40 }; /* of classes and of tables */

static const char *text_at(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static long long number_at(const json_t *object, const char *key) {
    return (long long)json_integer_value(json_object_get(object, key));
}

/* ---- methods ---- */

static const json_t *method_named(const json_t *archive, const char *name) {
    size_t index;
    json_t *method;
    json_array_foreach(json_object_get(archive, "methods"), index, method) {
        if (strcmp(text_at(method, "name"), name) == 0) {
            return method;
        }
    }
    return NULL;
}

bool archive_needs_types(const json_t *archive, const char *entry) {
    const json_t *method = method_named(archive, entry ? entry : "forward");
    return method && json_is_true(json_object_get(method, "needs_types"));
}

bool archive_has(const json_t *archive, const char *entry) {
    return method_named(archive, entry ? entry : "forward") != NULL;
}

/* Texts come from the archive: nothing in them may steer a terminal. */
static void put_between(const char *before, const char *text, const char *after) {
    fputs(before, stdout);
    put_plain(stdout, text);
    fputs(after, stdout);
}

static void print_method(const json_t *method) {
    size_t index;
    json_t *argument;
    put_between("  ", text_at(method, "name"), "(");
    json_array_foreach(json_object_get(method, "arguments"), index, argument) {
        put_between(index ? ", " : "", text_at(argument, "name"), ": ");
        put_between("", text_at(argument, "type"), "");
        if (json_object_get(argument, "default")) {
            put_between(" = ", text_at(argument, "default"), "");
        }
    }
    const char *returns = text_at(method, "returns");
    put_between(returns[0] ? ") -> " : ")", returns, "\n");
}

/* ---- its content ---- */

static void print_modules(const json_t *archive) {
    const json_t *modules = json_object_get(archive, "modules");
    const json_t *classes = json_object_get(modules, "classes");
    size_t index;
    json_t *row;
    printf("modules: %lld\n", number_at(modules, "count"));
    json_array_foreach(classes, index, row) {
        if (index == ROWS_SHOWN) {
            printf("  … and %zu more classes (--json lists all)\n",
                   json_array_size(classes) - ROWS_SHOWN);
            break;
        }
        printf("  %lld ×", number_at(row, "count"));
        put_between(" ", text_at(row, "name"), "\n");
    }
}

static void print_tensors(const json_t *archive, const char *key, const char *title) {
    const json_t *tally = json_object_get(archive, key);
    printf("%s: %lld, %lld bytes\n", title, number_at(tally, "count"),
           number_at(tally, "bytes"));
}

static void print_tables(const json_t *archive) {
    const json_t *tables = json_object_get(archive, "tables");
    size_t index;
    json_t *row;
    if (json_array_size(tables) > 0) {
        printf("embedding tables: %zu\n", json_array_size(tables));
    }
    json_array_foreach(tables, index, row) {
        if (index == ROWS_SHOWN) {
            printf("  … and %zu more (--json lists all)\n",
                   json_array_size(tables) - ROWS_SHOWN);
            break;
        }
        put_between("  ", text_at(row, "name"), ": ");
        printf("%lld x %lld, %s\n", number_at(row, "rows"), number_at(row, "dim"),
               text_at(row, "dtype"));
    }
}

void archive_print(const json_t *archive, const char *path) {
    size_t index;
    json_t *method;
    printf("TorchScript archive %s, format version %lld\n", path,
           number_at(archive, "version"));
    put_between("class ", text_at(archive, "class"), ", methods:\n");
    json_array_foreach(json_object_get(archive, "methods"), index, method) {
        if (strncmp(text_at(method, "name"), "__", 2) != 0) {
            print_method(method);
        }
    }
    print_modules(archive);
    print_tensors(archive, "parameters", "parameters");
    print_tensors(archive, "other_tensors", "other tensors");
    print_tables(archive);
}

void archive_print_need(const json_t *archive, const char *path, const char *entry) {
    const json_t *method = method_named(archive, entry ? entry : "forward");
    size_t index;
    json_t *argument;
    puts(
        "The archive does not say what its inputs are like. Give their types (names of\n"
        "extents stay open) to see what a call gives, or to compile:");
    printf("  ingot inspect %s%s%s", path, entry ? " --entry " : "",
           entry ? entry : "");
    json_array_foreach(json_object_get(method, "arguments"), index, argument) {
        if (json_object_get(argument, "default")) {
            continue;
        }
        put_between(" --input '", text_at(argument, "example"), "'");
    }
    putchar('\n');
}
