/* Readers shared by the kinds of cases: see fields.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/igcheck/cases/fields.h"

#include <stdlib.h>
#include <string.h>

json_t *case_load(const char *folder) {
    char *path = text_of("%s/case.json", folder);
    json_t *json = json_load_file(path, 0, NULL);
    free(path);
    return json;
}

const char *text_in(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

int64_t integer_in(const json_t *object, const char *key) {
    return (int64_t)json_integer_value(json_object_get(object, key));
}

double number_in(const json_t *object, const char *key, double absent) {
    const json_t *number = json_object_get(object, key);
    return json_is_number(number) ? json_number_value(number) : absent;
}

const char *optimizer_rule(const char *name) {
    static const char *const torch[][2] = { { "SGD", "sgd" },
                                            { "Adagrad", "adagrad" },
                                            { "Adam", "adam" },
                                            { "AdamW", "adamw" } };
    static const char module[] = "torch.optim.";
    bool is_whole = strncmp(name, module, strlen(module)) == 0;
    const char *own = is_whole ? name + strlen(module) : name;
    for (size_t i = 0; i < sizeof torch / sizeof *torch; i++) {
        if (strcmp(torch[i][0], own) == 0) {
            return torch[i][1];
        }
    }
    return name;
}

/* ---- arrays ---- */

const ig_argument *arrays_find(const case_arrays *all, const char *name) {
    for (size_t f = 0; f < all->count; f++) {
        const ig_arguments *file = all->files[f];
        for (size_t i = 0; i < ig_arguments_count(file); i++) {
            const char *own = all->names[f] ? all->names[f]
                                            : ig_arguments_name(file, i);
            if (strcmp(own, name) == 0) {
                return ig_arguments_at(file, i);
            }
        }
    }
    return NULL;
}

bool arrays_add(verification *v, case_arrays *to, char *path, char *name) {
    ig_arguments *file = NULL;
    bool is_good = (name ? verify_read(v, path, NULL, &file)
                         : ig_arguments_open(v->context, path, &file) == IG_OK) ||
                   verify_fail(v, path, NULL);
    free(path);
    if (!is_good) {
        free(name);
        return false;
    }
    to->files = need(realloc(to->files, (to->count + 1) * sizeof *to->files));
    to->names = need(realloc(to->names, (to->count + 1) * sizeof *to->names));
    to->files[to->count] = file;
    to->names[to->count++] = name;
    return true;
}

void arrays_close(case_arrays *which) {
    for (size_t i = 0; i < which->count; i++) {
        ig_arguments_close(which->files[i]);
        free(which->names[i]);
    }
    free(which->files);
    free(which->names);
    *which = (case_arrays){ 0 };
}

bool check_elements(verification *v, const char *what, const ig_argument *got,
                    const ig_argument *want, const tolerance *within) {
    size_t count = element_count(want);
    if (element_count(got) != count) {
        return verify_fail(v, what, "it has other extents");
    }
    for (size_t i = 0; i < count; i++) {
        if (!elements_agree(got, want, i, within)) {
            char *why = text_of("[%zu] is %.9g, not %.9g", i,
                                ig_argument_number(got, i),
                                ig_argument_number(want, i));
            verify_fail(v, what, why);
            free(why);
            return false;
        }
    }
    return true;
}

tolerance case_tolerance(const json_t *json) {
    const json_t *within = json_object_get(json, "tolerance");
    return (tolerance){ .rtol = number_in(within, "rtol", 1e-5),
                        .atol = number_in(within, "atol", 1e-5) };
}
