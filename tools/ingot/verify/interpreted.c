/* ingot verify --interpreter: packages whose Python runs, in an embedded interpreter.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/verify/verify.h"

#include <ingot/interp.h>

#include <stdlib.h>
#include <string.h>

/* ---- arguments ---- */

static void free_value(ig_interp_value *value) {
    bool has_items = value->kind == IG_INTERP_LIST || value->kind == IG_INTERP_TUPLE ||
                     value->kind == IG_INTERP_DICT;
    for (size_t i = 0; has_items && i < value->as.list.count; i++) {
        free_value(&value->as.list.items[i]);
    }
    if (has_items) {
        free(value->as.list.items);
    }
}

/* False: a kind that only compiled models take. */
static bool value_of(const structured *from, ig_interp_value *out);

static bool items_of(const structured *from, ig_interp_kind kind,
                     ig_interp_value *out) {
    out->kind = kind;
    out->as.list.items = need(calloc(from->count + 1, sizeof *out->as.list.items));
    out->as.list.count = from->count;
    for (size_t i = 0; i < from->count; i++) {
        if (!value_of(&from->items[i], &out->as.list.items[i])) {
            return false;
        }
    }
    return true;
}

static bool value_of(const structured *from, ig_interp_value *out) {
    *out = (ig_interp_value){ .kind = IG_INTERP_NONE };
    if (from->kind == IG_TREE_TENSOR) {
        out->kind = IG_INTERP_TENSOR;
        return view_of(structured_tensor(from), &out->as.tensor);
    }
    if (from->kind == IG_TREE_INT) {
        out->kind = IG_INTERP_INTEGER;
        out->as.integer = from->integer;
        return true;
    }
    if (from->kind == IG_TREE_BOOL) {
        out->kind = IG_INTERP_TRUTH;
        out->as.truth = from->integer != 0;
        return true;
    }
    if (from->kind == IG_TREE_FLOAT) {
        out->kind = IG_INTERP_REAL;
        out->as.real = from->real;
        return true;
    }
    if (from->kind == IG_TREE_STR) {
        out->kind = IG_INTERP_TEXT;
        out->as.text.data = from->text;
        out->as.text.size = strlen(from->text);
        return true;
    }
    return from->kind == IG_TREE_LIST    ? items_of(from, IG_INTERP_LIST, out)
           : from->kind == IG_TREE_TUPLE ? items_of(from, IG_INTERP_TUPLE, out)
           : from->kind == IG_TREE_DICT  ? items_of(from, IG_INTERP_DICT, out)
                                         : from->kind == IG_TREE_NONE;
}

/* ---- results ---- */

static bool differs(message *why, const char *path, const char *what) {
    snprintf(why->text, sizeof why->text, "%s is not %s", path, what);
    return false;
}

static bool tensor_agrees(const ig_interp_value *got, const structured *want,
                          const char *path, const tolerance *within, message *why) {
    message inner = { "" };
    ig_argument have;
    if (got->kind != IG_INTERP_TENSOR) {
        return differs(why, path, "a tensor");
    }
    argument_of(&got->as.tensor, &have);
    if (values_agree(&have, structured_tensor(want), within, &inner)) {
        return true;
    }
    snprintf(why->text, sizeof why->text, "%s: %.900s", path, inner.text);
    return false;
}

static bool tree_agrees(const ig_interp_value *got, const structured *want,
                        const char *path, const tolerance *within, message *why);

static bool items_agree(const ig_interp_value *got, const structured *want,
                        const char *path, const tolerance *within, message *why) {
    ig_interp_kind kind = want->kind == IG_TREE_LIST    ? IG_INTERP_LIST
                          : want->kind == IG_TREE_TUPLE ? IG_INTERP_TUPLE
                                                        : IG_INTERP_DICT;
    if (got->kind != kind || got->as.list.count != want->count) {
        return differs(why, path, "a container of that kind and length");
    }
    bool is_good = true;
    for (size_t i = 0; i < want->count && is_good; i++) {
        char *inner = text_of("%s[%zu]", path, i);
        is_good = tree_agrees(&got->as.list.items[i], &want->items[i], inner, within,
                              why);
        free(inner);
    }
    return is_good;
}

static bool text_agrees(const ig_interp_value *got, const char *want) {
    return got->kind == IG_INTERP_TEXT && got->as.text.size == strlen(want) &&
           memcmp(got->as.text.data, want, got->as.text.size) == 0;
}

static bool real_agrees(const ig_interp_value *got, double want,
                        const tolerance *within) {
    ig_argument have = { .kind = IG_ARGUMENT_TENSOR,
                         .dtype = "f64",
                         .data = &got->as.real,
                         .size = sizeof got->as.real };
    ig_argument wanted = have;
    wanted.data = &want;
    return got->kind == IG_INTERP_REAL && elements_agree(&have, &wanted, 0, within);
}

static bool tree_agrees(const ig_interp_value *got, const structured *want,
                        const char *path, const tolerance *within, message *why) {
    switch (want->kind) {
    case IG_TREE_TENSOR:
        return tensor_agrees(got, want, path, within, why);
    case IG_TREE_LIST:
    case IG_TREE_TUPLE:
    case IG_TREE_DICT:
        return items_agree(got, want, path, within, why);
    case IG_TREE_INT:
        return (got->kind == IG_INTERP_INTEGER && got->as.integer == want->integer) ||
               differs(why, path, "that whole number");
    case IG_TREE_BOOL:
        return (got->kind == IG_INTERP_TRUTH && got->as.truth == want->integer) ||
               differs(why, path, "that truth");
    case IG_TREE_FLOAT:
        return real_agrees(got, want->real, within) ||
               differs(why, path, "that number");
    case IG_TREE_STR:
        return text_agrees(got, want->text) || differs(why, path, "that text");
    case IG_TREE_NONE:
        return got->kind == IG_INTERP_NONE || differs(why, path, "None");
    case IG_TREE_RECORD:
    case IG_TREE_OPTIONAL:
    case IG_TREE_COMPLEX:
    case IG_TREE_QUANTIZED:
    case IG_TREE_KJT:
    case IG_TREE_KT:
    case IG_TREE_JT:
    case IG_TREE_CALL:
        break;
    }
    return differs(why, path, "of a kind that interpreters give");
}

/* ---- one call ---- */

/* The interpreter of a case, and the object that it calls. */
typedef struct interpreted {
    ig_interp_manager *manager;
    ig_interp_replica *package, *object;
} interpreted;

static bool call_object(verification *v, interpreted *with, const structured_call *set,
                        const ig_interp_arguments *arguments) {
    message why = { "" };
    ig_interp_call how = { .size = sizeof how,
                           .message = why.text,
                           .message_size = sizeof why.text };
    ig_interp_result *result = NULL;
    tolerance within = verify_tolerance(v, NULL);
    const char *method = json_string_value(json_object_get(set->json, "method"));
    bool is_forward = !method || strcmp(method, "forward") == 0;
    bool is_good = ig_interp_replica_invoke(with->object, &how,
                                            is_forward ? NULL : method, arguments,
                                            &result) == IG_OK &&
                   tree_agrees(ig_interp_result_value(result), &set->result,
                               "the result", &within, &why);
    ig_interp_result_free(result);
    return is_good || verify_fail(v, set->name, why.text);
}

static bool run_arguments(verification *v, interpreted *with,
                          const structured_call *set) {
    size_t count = set->arguments.count, positional = 0;
    ig_interp_value *values = need(calloc(count + 1, sizeof *values));
    const char **keywords = need(calloc(count + 1, sizeof *keywords));
    bool is_good = true;
    for (size_t i = 0; i < count && is_good; i++) { /* those with names come last */
        const structured *item = &set->arguments.items[i];
        is_good = value_of(item, &values[i]) ||
                  verify_fail(v, set->name, "an argument that no interpreter takes");
        keywords[i] = item->name;
        positional += item->name == NULL;
    }
    ig_interp_arguments arguments = { .values = values,
                                      .count = positional,
                                      .names = keywords + positional,
                                      .named = values + positional,
                                      .named_count = count - positional };
    is_good = is_good && call_object(v, with, set, &arguments);
    for (size_t i = 0; i < count; i++) {
        free_value(&values[i]);
    }
    free(values);
    free(keywords);
    return is_good;
}

static bool run_set(verification *v, interpreted *with, const char *folder) {
    structured_call set;
    bool is_good = verify_call_open(v, folder, &set) && run_arguments(v, with, &set);
    verify_call_close(&set);
    return is_good;
}

/* ---- cases ---- */

static bool load_object(verification *v, interpreted *with, const ig_interp_call *how) {
    const char *slash = v->test.resource ? strrchr(v->test.resource, '/') : NULL;
    if (!slash) {
        verify_fail(v, "", "case.json names nothing to load from the package");
        return false;
    }
    char *module = text_of("%.*s", (int)(slash - v->test.resource), v->test.resource);
    bool is_good = ig_interp_load_package(with->manager, how, v->test.model,
                                          &with->package) == IG_OK &&
                   ig_interp_load_pickle(with->package, how, module, slash + 1,
                                         &with->object) == IG_OK;
    free(module);
    return is_good || verify_fail(v, "load", how->message);
}

outcome verify_interpreted_sets(verification *v) {
    message why = { "" };
    ig_interp_call how = { .size = sizeof how,
                           .message = why.text,
                           .message_size = sizeof why.text };
    ig_interp_options options = { .size = sizeof options,
                                  .engine = v->given->interpreter,
                                  .count = 1,
                                  .paths = v->given->modules.items,
                                  .path_count = v->given->modules.count,
                                  .use_torch = 1 };
    interpreted with = { 0 };
    bool is_good = ig_interp_create(&options, &how, &with.manager) == IG_OK ||
                   verify_fail(v, "interpreter", why.text);
    is_good = is_good && load_object(v, &with, &how);
    for (size_t i = 0; i < v->test.sets.count && is_good; i++) {
        is_good = run_set(v, &with, v->test.sets.items[i]);
    }
    ig_interp_replica_free(with.object);
    ig_interp_replica_free(with.package);
    ig_interp_destroy(with.manager);
    return is_good ? PASSED : FAILED;
}
