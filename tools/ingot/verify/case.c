/* Reading the folders of model cases.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/verify/verify.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SUITE_DEPTH = 5 }; /* folders of groups */

/* ---- names ---- */

void names_add(names *to, char *name) {
    to->items = need(realloc(to->items, (to->count + 1) * sizeof *to->items));
    to->items[to->count++] = name;
}

static int compare_names(const void *a, const void *b) {
    return strverscmp(*(char *const *)a, *(char *const *)b);
}

void names_sort(names *which) {
    if (which->count) {
        qsort(which->items, which->count, sizeof *which->items, compare_names);
    }
}

void names_free(names *which) {
    for (size_t i = 0; i < which->count; i++) {
        free(which->items[i]);
    }
    free(which->items);
    *which = (names){ 0 };
}

bool names_have(const names *which, const char *name) {
    for (size_t i = 0; i < which->count; i++) {
        if (strcmp(which->items[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* Entries of `folder` that begin with `prefix`, as paths, sorted. */
static bool list_folder(const char *folder, const char *prefix, names *out) {
    DIR *opened = opendir(folder);
    if (!opened) {
        return false;
    }
    for (struct dirent *entry; (entry = readdir(opened));) {
        bool is_hidden = entry->d_name[0] == '.';
        if (!is_hidden && strncmp(entry->d_name, prefix, strlen(prefix)) == 0) {
            names_add(out, text_of("%s/%s", folder, entry->d_name));
        }
    }
    closedir(opened);
    names_sort(out);
    return true;
}

/* ---- case.json ---- */

static void read_facts(const json_t *json, test_case *out, char **out_model) {
    const json_t *within = json_object_get(json, "tolerance");
    const json_t *rtol = json_object_get(within, "rtol");
    const json_t *atol = json_object_get(within, "atol");
    if (json_is_number(rtol) && json_is_number(atol)) {
        out->rtol = json_number_value(rtol);
        out->atol = json_number_value(atol);
        out->has_tolerance = true;
    }
    const json_t *stateful = json_object_get(json, "stateful");
    out->is_stateful = stateful && !json_is_false(stateful) && !json_is_null(stateful);
    size_t index;
    json_t *name;
    json_array_foreach(json_object_get(json, "exact_outputs"), index, name) {
        if (json_is_string(name)) {
            names_add(&out->exact, text_of("%s", json_string_value(name)));
        }
    }
    const json_t *load = json_object_get(json, "load");
    const char *package = json_string_value(json_object_get(load, "package"));
    const char *resource = json_string_value(json_object_get(load, "resource"));
    out->resource = package && resource ? text_of("%s/%s", package, resource) : NULL;
    const char *main_model = json_string_value(json_object_get(json, "model"));
    *out_model = main_model ? text_of("%s/%s", out->folder, main_model) : NULL;
}

/* False when there is a case.json that cannot be read. */
static bool read_json(test_case *out, message *why) {
    char *path = text_of("%s/case.json", out->folder);
    json_error_t error;
    errno = 0;
    json_t *json = access(path, F_OK) == 0 ? json_load_file(path, 0, &error) : NULL;
    bool is_bad = !json && access(path, F_OK) == 0;
    if (is_bad) {
        need_memory();
        snprintf(why->text, sizeof why->text, "%s: line %d: %s", path, error.line,
                 error.text);
    } else if (json) {
        read_facts(json, out, &out->model);
    }
    json_decref(json);
    free(path);
    return !is_bad;
}

static char *find_model(const char *folder) {
    static const char *const usual[] = { "model.onnx", "model.ig",      "model.pt",
                                         "package.pt", "my_package.pt", "model.pt2" };
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        char *path = text_of("%s/%s", folder, usual[i]);
        if (access(path, F_OK) == 0) {
            return path;
        }
        free(path);
    }
    return NULL;
}

/* ---- cases ---- */

static bool is_folder(const char *path) {
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

bool test_case_open(test_case *out, const char *folder, message *why) {
    *out = (test_case){ .rtol = 1e-3, .atol = 1e-7 };
    *why = (message){ "" };
    size_t length = strlen(folder);
    while (length > 1 && folder[length - 1] == '/') {
        length--;
    }
    out->folder = text_of("%.*s", (int)length, folder);
    const char *slash = strrchr(out->folder, '/');
    out->name = text_of("%s", slash && slash[1] ? slash + 1 : out->folder);
    if (!is_folder(out->folder)) {
        snprintf(why->text, sizeof why->text, "%s: %s", folder,
                 errno == ENOENT ? "no such folder" : "not a folder");
        return false;
    }
    if (!read_json(out, why)) {
        return false;
    }
    if (!out->model) {
        out->model = find_model(out->folder);
    }
    return list_folder(out->folder, "test_data_set_", &out->sets);
}

void test_case_close(test_case *which) {
    names_free(&which->exact);
    names_free(&which->sets);
    free(which->name);
    free(which->folder);
    free(which->model);
    free(which->resource);
    *which = (test_case){ 0 };
}

const case_kind *case_kind_of(const case_kind *kinds, const char *path) {
    while (kinds->takes && !kinds->takes(path)) {
        kinds++;
    }
    return kinds->takes ? kinds : NULL;
}

/* Folders with data sets in `folder`, and where one has none, in those below it. */
static bool list_cases(const char *folder, int depth, const case_kind *kinds,
                       names *out) {
    names all = { 0 };
    bool is_read = list_folder(folder, "", &all);
    for (size_t i = 0; i < all.count; i++) {
        names sets = { 0 };
        bool is_case = (list_folder(all.items[i], "test_data_set_", &sets) &&
                        sets.count) ||
                       case_kind_of(kinds, all.items[i]);
        if (is_case) {
            names_add(out, text_of("%s", all.items[i]));
        } else if (depth > 0) {
            list_cases(all.items[i], depth - 1, kinds, out);
        }
        names_free(&sets);
    }
    names_free(&all);
    return is_read;
}

bool suite_list(const char *suite, const case_kind *kinds, names *out) {
    return list_cases(suite, SUITE_DEPTH, kinds, out);
}

char *data_file(const char *set, const char *kind, size_t index) {
    static const char *const endings[] = { "pb", "npy" };
    for (size_t i = 0; i < 2; i++) {
        char *path = text_of("%s/%s_%zu.%s", set, kind, index, endings[i]);
        if (access(path, F_OK) == 0) {
            return path;
        }
        free(path);
    }
    return NULL;
}

size_t data_count(const char *set, const char *kind) {
    for (size_t count = 0;; count++) {
        char *path = data_file(set, kind, count);
        if (!path) {
            return count;
        }
        free(path);
    }
}
