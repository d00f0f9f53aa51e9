/* Inputs of a call from the command line and from files.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/values/inputs.h"

#include "tools/ingot/cli/streams.h"
#include "tools/ingot/model/jagged.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool text_ends(const char *text, const char *ending) {
    size_t length = strlen(text), tail = strlen(ending);
    return length >= tail && strcmp(text + length - tail, ending) == 0;
}

bool is_archive(const char *path) {
    return text_ends(path, ".npz") || is_taken_input(path);
}

bool input_is_given(const ig_argument *value) {
    return value->kind != IG_ARGUMENT_TENSOR || value->dtype;
}

/* Lists the inputs when some have no value. */
ig_status inputs_check(const model *m, const call *with) {
    size_t missing = 0;
    for (size_t i = 0; i < with->count; i++) {
        missing += !input_is_given(&with->inputs[i]);
    }
    if (!missing) {
        return IG_OK;
    }
    complain(0, "%zu of %zu inputs have no value; the model takes:", missing,
             with->count);
    for (size_t i = 0; i < with->count; i++) {
        put_port(stderr, input_is_given(&with->inputs[i]) ? "        " : "missing ",
                 model_input_name(m, i), model_input_type(m, i));
    }
    return IG_INVALID;
}

ig_status input_give(const model *m, call *with, size_t index, const char *text) {
    ig_arguments *value = NULL;
    ig_status status = ig_arguments_parse(m->context, text, model_input_type(m, index),
                                          &value);
    if (status == IG_OK) {
        ig_arguments_close(with->owners[index]);
        with->owners[index] = value;
        with->inputs[index] = *ig_arguments_at(value, 0);
    }
    return status;
}

static ig_status refuse_input(const model *m, const char *text) {
    complain(0, "--input %s: the model has no such input; it takes:", text);
    for (size_t i = 0; i < model_input_count(m); i++) {
        put_port(stderr, "", model_input_name(m, i), model_input_type(m, i));
    }
    return wrong_usage();
}

/* "NAME=VALUE": names may hold '=' themselves, so each input's is tried. */
static ig_status take_option(const model *m, call *with, const char *text) {
    for (size_t i = 0; i < with->count; i++) {
        const char *name = model_input_name(m, i);
        size_t length = strlen(name);
        if (strncmp(text, name, length) == 0 && text[length] == '=') {
            return input_give(m, with, i, text + length + 1);
        }
    }
    return refuse_input(m, text);
}

static bool take_file(const model *m, call *with, size_t index, const char *folder,
                      const char *name, ig_status *status) {
    static const char *const endings[] = { "npy", "pb" };
    for (size_t e = 0; e < 2 && *status == IG_OK; e++) {
        char *text = text_of("@%s/%s.%s", folder, name, endings[e]);
        bool is_there = access(text + 1, F_OK) == 0;
        if (is_there) {
            *status = input_give(m, with, index, text);
        }
        free(text);
        if (is_there) {
            return true;
        }
    }
    return false;
}

static ig_status take_folder(const model *m, call *with, const char *folder) {
    ig_status status = IG_OK;
    DIR *opened = opendir(folder);
    if (!opened && errno == ENOTDIR) {
        complain(0, "--inputs %s: name a folder of NAME.npy and NAME.pb, or x.npz",
                 folder);
        return wrong_usage();
    }
    if (!opened) {
        complain(0, "%s: cannot read: %s", folder, strerror(errno));
        return IG_IO;
    }
    closedir(opened);
    for (size_t i = 0; i < with->count && status == IG_OK; i++) {
        char *file = text_of("input_%zu", i);
        if (!take_file(m, with, i, folder, model_input_name(m, i), &status)) {
            take_file(m, with, i, folder, file, &status);
        }
        free(file);
    }
    return status;
}

/* Arrays by name, else by position. */
static ig_status take_archive(const model *m, call *with, const char *path,
                              ig_arguments **out_archive) {
    ig_status status = ig_arguments_open(m->context, path, out_archive);
    if (status != IG_OK) {
        return status;
    }
    for (size_t i = 0; i < with->count; i++) {
        char usual[2][32];
        snprintf(usual[0], sizeof usual[0], "input_%zu", i);
        snprintf(usual[1], sizeof usual[1], "arr_%zu", i);
        for (size_t k = 0; k < ig_arguments_count(*out_archive); k++) {
            const char *name = ig_arguments_name(*out_archive, k);
            if (strcmp(name, model_input_name(m, i)) == 0 ||
                strcmp(name, usual[0]) == 0 || strcmp(name, usual[1]) == 0) {
                with->inputs[i] = *ig_arguments_at(*out_archive, k);
            }
        }
    }
    return IG_OK;
}

ig_status inputs_from_files(const settings *given, const model *m, call *with,
                            ig_arguments **out_archive) {
    if (!given->inputs_from) {
        return IG_OK;
    }
    return is_archive(given->inputs_from)
               ? take_archive(m, with, given->inputs_from, out_archive)
               : take_folder(m, with, given->inputs_from);
}

ig_status inputs_take(const settings *given, const model *m, call *with,
                      ig_arguments **out_archive) {
    ig_status status = inputs_from_files(given, m, with, out_archive);
    for (size_t i = 0; i < given->inputs.count && status == IG_OK; i++) {
        status = take_option(m, with, given->inputs.items[i]);
    }
    /* A script may make missing inputs. */
    return status == IG_OK && !given->script ? inputs_check(m, with) : status;
}

/* ---- inputs of measurements ---- */

/* The text of --input for this input: the last whose pattern fits; NULL: none. */
static const char *given_value(const settings *given, const char *name) {
    const char *found = NULL;
    for (size_t i = 0; i < given->inputs.count; i++) {
        const char *text = given->inputs.items[i];
        const char *equals = strchr(text, '=');
        char *pattern = text_of("%.*s", equals ? (int)(equals - text) : 0, text);
        if (equals && fnmatch(pattern, name, 0) == 0) {
            found = equals + 1;
        }
        free(pattern);
    }
    return found;
}

static bool holds_items(const char *type) {
    return strncmp(type, "seq<", 4) == 0 || strncmp(type, "opt<", 4) == 0;
}

/* `TYPE=VALUE`; of a list or an optional, one item of that. */
static char *typed_text(const char *type, const char *value) {
    if (!holds_items(type)) {
        return text_of("%s=%s", type, value);
    }
    char *inner = text_of("%.*s", (int)strlen(type) - 5, type + 4);
    char *item = typed_text(inner, value);
    char *text = text_of(*item == '[' ? "[%s]" : "[\"%s\"]", item);
    free(inner);
    free(item);
    return text;
}

/* The type of `TYPE=VALUE`, else the model's, with numbers; NULL after a message. */
static char *type_of_input(const settings *given, const model *m, size_t index,
                           const extents *with) {
    const char *value = given_value(given, model_input_name(m, index));
    const char *equals = value ? strchr(value, '=') : NULL;
    char *own = equals ? text_of("%.*s", (int)(equals - value), value) : NULL;
    char *whole = type_with_extents(with, own ? own : model_input_type(m, index));
    free(own);
    return whole;
}

/* Reals are random, whole numbers zero; where bags begin is drawn, so that they share
 * all items.  NULL after a message. */
static char *usual_text(const settings *given, const model *m, size_t index,
                        const extents *with) {
    static const char *const words[] = { [JAGGED_LENGTHS] = "lengths",
                                         [JAGGED_BEGINS] = "begins",
                                         [JAGGED_OFFSETS] = "offsets" };
    const char *type = model_input_type(m, index);
    jagged bags = jagged_of(m, index);
    if (bags.form != JAGGED_NONE) {
        char *items = type_of_input(given, m, bags.items, with);
        const char *count = items ? strchr(items, '[') : NULL;
        char *text = count ? text_of("%s:%lld", words[bags.form],
                                     strtoll(count + 1, NULL, 10))
                           : NULL;
        free(items);
        return text;
    }
    while (holds_items(type)) {
        type += 4;
    }
    return text_of(is_real(type) ? "random" : "0");
}

static char *value_text(const settings *given, const model *m, size_t index,
                        const extents *with) {
    const char *value = given_value(given, model_input_name(m, index));
    if (value && (*value == '@' || *value == '[' || *value == '{')) {
        return text_of("%s", value);
    }
    const char *equals = value ? strchr(value, '=') : NULL;
    char *whole = type_of_input(given, m, index, with);
    char *chosen = value ? text_of("%s", equals ? equals + 1 : value)
                         : usual_text(given, m, index, with);
    char *text = whole && chosen ? typed_text(whole, chosen) : NULL;
    free(whole);
    free(chosen);
    return text;
}

/* Each --input must be for some input: a pattern that fits none was mistyped. */
static ig_status check_patterns(const settings *given, const model *m) {
    for (size_t i = 0; i < given->inputs.count; i++) {
        const char *text = given->inputs.items[i], *equals = strchr(text, '=');
        char *pattern = text_of("%.*s", equals ? (int)(equals - text) : 0, text);
        bool is_used = false;
        for (size_t k = 0; k < model_input_count(m) && !is_used; k++) {
            is_used = fnmatch(pattern, model_input_name(m, k), 0) == 0;
        }
        free(pattern);
        if (!is_used) {
            return refuse_input(m, text);
        }
    }
    return IG_OK;
}

ig_status inputs_fill(const settings *given, const model *m, const extents *with,
                      call *out) {
    ig_status status = check_patterns(given, m);
    for (size_t i = 0; i < out->count && status == IG_OK; i++) {
        char *text = value_text(given, m, i, with);
        status = text ? input_give(m, out, i, text) : IG_INVALID;
        free(text);
    }
    return status == IG_OK && !extents_check_dims(with, m) ? IG_INVALID : status;
}
