/* Structured arguments of a call: the types for the import, and the inputs.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A model from Python says no types of its arguments, so the values come first: they
 * become the statements of the import, with their extents, and then the tensors in them
 * are the inputs, in the order of the model's tree.
 */
#include "tools/ingot/values/inputs.h"
#include "tools/ingot/values/structured.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool is_structured_format(const char *format) {
    return strcmp(format, "torchscript") == 0 || strcmp(format, "package") == 0;
}

/* ---- reading ---- */

/* Unless the context has said it already. */
static ig_status complain_of(ig_context *context, const char *about,
                             const message *why) {
    const char *said = ig_context_messages(context);
    if (why->text[0] && !(said[0] && strstr(why->text, said))) {
        complain(0, "%s: %s", about, why->text);
    }
    return IG_INVALID;
}

/* Arguments of a values.json in the folder. */
static ig_status take_call(ig_context *context, const char *folder, const char *path,
                           structured *out) {
    json_error_t error;
    errno = 0;
    json_t *json = json_load_file(path, JSON_ALLOW_NUL, &error), *item;
    structured_files files = { context, folder, "input" };
    message why = { "" };
    size_t index;
    bool is_good = json != NULL;
    if (!json) {
        need_memory();
        complain(0, "%s: line %d: %s", path, error.line, error.text);
    }
    json_array_foreach(json_object_get(json, "args"), index, item) {
        structured *to = structured_add(out, IG_TREE_NONE, NULL);
        is_good = is_good && structured_of_json(item, &files, to, &why);
    }
    json_array_foreach(json_object_get(json, "kwargs"), index, item) {
        const char *name = json_string_value(json_array_get(item, 0));
        structured *to = structured_add(out, IG_TREE_NONE, name ? name : "");
        is_good = is_good &&
                  structured_of_json(json_array_get(item, 1), &files, to, &why);
    }
    json_decref(json);
    return is_good ? IG_OK : complain_of(context, path, &why);
}

/* Number of "input_7.npy", or -1. */
static int position_in_name(const char *name) {
    int position, end = 0;
    bool is_numbered = sscanf(name, "input_%9d%n", &position, &end) == 1 &&
                       position >= 0 && (name[end] == '\0' || name[end] == '.');
    return is_numbered ? position : -1;
}

/* Those by position come first and in their order, then those by name. */
static int compare_names(const void *a, const void *b) {
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    int i = position_in_name(x), k = position_in_name(y);
    if (i >= 0 && k >= 0) {
        return (i > k) - (i < k);
    }
    return i >= 0 || k >= 0 ? (k >= 0) - (i >= 0) : strcmp(x, y);
}

static int is_value_file(const struct dirent *entry) {
    return text_ends(entry->d_name, ".npy");
}

/* input_0.npy, input_1.npy …: one argument each, by position; NAME.npy: one by name. */
static ig_status take_file(ig_context *context, const char *folder, const char *file,
                           structured *out) {
    char *text = text_of("@%s/%s", folder, file);
    char *name = text_of("%.*s", (int)strlen(file) - 4, file);
    structured *to = structured_add(out, IG_TREE_TENSOR,
                                    position_in_name(file) >= 0 ? NULL : name);
    ig_status status = ig_arguments_parse(context, text, NULL, &to->owner);
    free(name);
    free(text);
    return status;
}

static ig_status take_files(ig_context *context, const char *folder, structured *out) {
    struct dirent **entries;
    int count = scandir(folder, &entries, is_value_file, NULL);
    ig_status status = IG_OK;
    if (count < 0) {
        complain(0, "%s: cannot read: %s", folder, strerror(errno));
        return IG_IO;
    }
    const char **names = need(calloc((size_t)count + 1, sizeof *names));
    for (int i = 0; i < count; i++) {
        names[i] = entries[i]->d_name;
    }
    qsort(names, (size_t)count, sizeof *names, compare_names);
    for (int i = 0; i < count && status == IG_OK; i++) {
        status = take_file(context, folder, names[i], out);
    }
    for (int i = 0; i < count; i++) {
        free(entries[i]);
    }
    free(entries);
    free(names);
    return status;
}

static const ig_argument *find_array(const ig_arguments *archive, const char *name) {
    size_t index = 0;
    while (strcmp(ig_arguments_name(archive, index), name) != 0) {
        index++;
    }
    return ig_arguments_at(archive, index);
}

/* Arrays of an archive, named as the files of a folder are. */
static ig_status take_archive(ig_context *context, const char *path, structured *out) {
    ig_arguments *archive;
    ig_status status = ig_arguments_open(context, path, &archive);
    if (status != IG_OK) {
        return status;
    }
    size_t count = ig_arguments_count(archive);
    const char **names = need(calloc(count + 1, sizeof *names));
    for (size_t i = 0; i < count; i++) {
        names[i] = ig_arguments_name(archive, i);
    }
    out->owner = archive;
    qsort(names, count, sizeof *names, compare_names);
    for (size_t i = 0; i < count; i++) {
        bool has_position = position_in_name(names[i]) >= 0;
        structured *to = structured_add(out, IG_TREE_TENSOR,
                                        has_position ? NULL : names[i]);
        to->shared = find_array(archive, names[i]);
    }
    free(names);
    return IG_OK;
}

static ig_status take_folder(ig_context *context, const char *folder, structured *out) {
    char *path = text_of("%s/values.json", folder);
    bool is_call = access(path, F_OK) == 0;
    ig_status status = is_call ? take_call(context, folder, path, out)
                               : take_files(context, folder, out);
    free(path);
    return status;
}

static bool is_number(const char *name) {
    return name[0] != '\0' && strspn(name, "0123456789") == strlen(name);
}

/* The argument of that name or position, made when there is none. */
static structured *argument_at(structured *arguments, const char *name) {
    for (size_t i = 0; i < arguments->count; i++) {
        structured *item = &arguments->items[i];
        if (item->name ? strcmp(item->name, name) == 0
                       : is_number(name) && strtoul(name, NULL, 10) == i) {
            char *kept = item->name;
            item->name = NULL;
            structured_free(item);
            item->name = kept;
            return item;
        }
    }
    bool is_next = is_number(name) && strtoul(name, NULL, 10) == arguments->count;
    return structured_add(arguments, IG_TREE_NONE, is_next ? NULL : name);
}

static ig_status take_option(ig_context *context, const char *text,
                             structured *arguments) {
    const char *equals = strchr(text, '=');
    message why = { "" };
    if (!equals || equals == text) {
        complain(0, "--input takes NAME=VALUE, not '%s'", text);
        return IG_INVALID;
    }
    char *name = text_of("%.*s", (int)(equals - text), text);
    structured *to = argument_at(arguments, name);
    char *kept = to->name;
    to->name = NULL;
    bool is_good = structured_parse(context, equals + 1, to, &why);
    to->name = kept;
    free(name);
    return is_good ? IG_OK : complain_of(context, text, &why);
}

ig_status structured_arguments(const settings *given, ig_context *context,
                               structured *out) {
    const char *from = given->inputs_from;
    ig_status status = IG_OK;
    if (from) {
        status = is_archive(from) ? take_archive(context, from, out)
                                  : take_folder(context, from, out);
    }
    out->kind = IG_TREE_TUPLE;
    for (size_t i = 0; i < given->inputs.count && status == IG_OK; i++) {
        status = take_option(context, given->inputs.items[i], out);
    }
    return status;
}

/* ---- the model ---- */

ig_status structured_model_open(const settings *given, ig_context *context,
                                const char *path, structured *out_arguments,
                                model *out) {
    *out = (model){ .context = context };
    ig_status status = structured_arguments(given, context, out_arguments);
    if (status != IG_OK) {
        return status;
    }
    size_t count = out_arguments->count, index = 0;
    char **texts = need(calloc(count + 1, sizeof *texts));
    ig_import_options how = import_options(given);
    for (size_t i = 0; i < count; i++) {
        const structured *item = &out_arguments->items[i];
        char *tree = structured_statement(item, NULL, &index);
        texts[i] = item->name ? text_of("%s=%s", item->name, tree)
                              : text_of("%zu=%s", i, tree);
        free(tree);
    }
    how.inputs = (const char *const *)texts;
    how.input_count = count;
    status = module_open(given, path, &how, out);
    if (status != IG_OK) {
        model_close(out);
    }
    for (size_t i = 0; i < count; i++) {
        free(texts[i]);
    }
    free(texts);
    return status;
}
