/* Structured values from the command line.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     kjt:keys=f1,f2;lengths=2,0,1,3;values=5,6,7,8,9,4[;weights=…]
 *     kt:keys=a,b;length_per_key=3,2;values=f32[4,5]=random
 *     jt:lengths=2,1;values=@ids.npy
 *     @call.json   {"list": […]}   3   2.5   true   none   "text"   f32[2,3]=random
 *
 * Inside of the short form a tensor is a list of numbers (a vector of i64, or of f32
 * where one is no whole number or for weights) or any value that has a type.
 */
#include "tools/ingot/values/inputs.h"
#include "tools/ingot/values/structured.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool set_reason(message *why, const char *text, const char *what) {
    if (!why->text[0]) {
        snprintf(why->text, sizeof why->text, "'%.80s' %s", text, what);
    }
    return false;
}

/* ---- tensors ---- */

/* "1,2,3" and nothing else: a vector. */
static bool is_numbers(const char *text) {
    return text[0] == '\0' || (strspn(text, "0123456789.,-+eE ") == strlen(text));
}

static size_t count_items(const char *text) {
    size_t count = text[0] != '\0';
    for (; *text; text++) {
        count += *text == ',';
    }
    return count;
}

static bool take_tensor(ig_context *context, const char *text, bool is_real,
                        structured *out, message *why) {
    out->kind = IG_TREE_TENSOR;
    char *whole = text_of("%s", text);
    if (is_numbers(text)) {
        free(whole);
        is_real = is_real || strpbrk(text, ".eE");
        whole = text_of("%s[%zu]=%s", is_real ? "f32" : "i64", count_items(text), text);
    }
    ig_status status = ig_arguments_parse(context, whole, NULL, &out->owner);
    free(whole);
    return status == IG_OK ? true : set_reason(why, text, "cannot be read as a tensor");
}

/* ---- short forms ---- */

typedef struct form {
    const char *word; /* with its colon */
    ig_tree_kind kind;
    const char *fields[4];
} form;

static const form forms[] = {
    { "kjt:", IG_TREE_KJT, { "keys", "values", "lengths", "weights" } },
    { "kt:", IG_TREE_KT, { "keys", "length_per_key", "values", NULL } },
    { "jt:", IG_TREE_JT, { "values", "lengths", "weights", NULL } },
};

/* The text after "FIELD=", up to ';'; NULL: the field is absent.  free() it. */
static char *field_of(const char *text, const char *field) {
    size_t length = strlen(field);
    for (const char *at = text; at;) {
        if (strncmp(at, field, length) == 0 && at[length] == '=') {
            at += length + 1;
            return text_of("%.*s", (int)strcspn(at, ";"), at);
        }
        at = strchr(at, ';');
        at = at ? at + 1 : NULL;
    }
    return NULL;
}

static void take_names(const char *text, bool is_whole, structured *out) {
    out->kind = IG_TREE_LIST;
    for (const char *at = text; at && *at;) {
        size_t length = strcspn(at, ",");
        structured *item = structured_add(out, is_whole ? IG_TREE_INT : IG_TREE_STR,
                                          NULL);
        item->text = is_whole ? NULL : text_of("%.*s", (int)length, at);
        item->integer = is_whole ? strtoll(at, NULL, 10) : 0;
        at = at[length] ? at + length + 1 : NULL;
    }
}

static bool take_form(ig_context *context, const form *which, const char *text,
                      structured *out, message *why) {
    out->kind = which->kind;
    bool is_good = true;
    for (size_t i = 0; i < 4 && which->fields[i] && is_good; i++) {
        const char *name = which->fields[i];
        char *value = field_of(text, name);
        structured *field = structured_add(out, IG_TREE_NONE, name);
        bool is_weights = strcmp(name, "weights") == 0;
        bool is_counts = strcmp(name, "length_per_key") == 0;
        if (!value) {
            is_good =
                is_weights ||
                set_reason(
                    why, text,
                    "needs the fields of its kind: kjt keys, values, lengths; kt keys, length_per_key, values; jt values, lengths");
        } else if (is_counts || strcmp(name, "keys") == 0) {
            take_names(value, is_counts, field);
        } else {
            is_good = take_tensor(context, value, is_weights, field, why);
        }
        free(value);
    }
    return is_good;
}

/* ---- JSON ---- */

static bool take_json(ig_context *context, const json_t *json, const char *path,
                      structured *out, message *why) {
    const char *slash = path ? strrchr(path, '/') : NULL;
    char *folder = slash  ? text_of("%.*s", (int)(slash - path), path)
                   : path ? text_of(".")
                          : NULL;
    structured_files files = { .context = context, .folder = folder, .kind = "input" };
    bool is_good = structured_of_json(json, &files, out, why);
    free(folder);
    return is_good;
}

static bool take_json_text(ig_context *context, const char *text, structured *out,
                           message *why) {
    json_error_t error;
    bool is_file = text[0] == '@';
    errno = 0;
    json_t *json = is_file ? json_load_file(text + 1, 0, &error)
                           : json_loads(text, 0, &error);
    if (!json) {
        need_memory();
        return set_reason(why, text, error.text);
    }
    bool is_good = take_json(context, json, is_file ? text + 1 : NULL, out, why);
    json_decref(json);
    return is_good;
}

/* ---- literals ---- */

static bool take_literal(const char *text, structured *out) {
    static const struct {
        const char *word;
        structured value;
    } words_of[] = {
        { "none", { .kind = IG_TREE_NONE } },
        { "None", { .kind = IG_TREE_NONE } },
        { "true", { .kind = IG_TREE_BOOL, .integer = 1 } },
        { "True", { .kind = IG_TREE_BOOL, .integer = 1 } },
        { "false", { .kind = IG_TREE_BOOL } },
        { "False", { .kind = IG_TREE_BOOL } },
    };
    for (size_t i = 0; i < sizeof words_of / sizeof *words_of; i++) {
        if (strcmp(text, words_of[i].word) == 0) {
            *out = words_of[i].value;
            return true;
        }
    }
    size_t length = strlen(text);
    char *end = NULL;
    if (length >= 2 && text[0] == '"' && text[length - 1] == '"') {
        out->kind = IG_TREE_STR;
        out->text = text_of("%.*s", (int)length - 2, text + 1);
        return true;
    }
    if (!isdigit((unsigned char)text[0]) && text[0] != '-') {
        return false;
    }
    out->integer = strtoll(text, &end, 10);
    out->kind = IG_TREE_INT;
    if (*end) {
        out->real = strtod(text, &end);
        out->kind = IG_TREE_FLOAT;
    }
    return *end == '\0';
}

bool structured_parse(ig_context *context, const char *text, structured *out,
                      message *why) {
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        size_t length = strlen(forms[i].word);
        if (strncmp(text, forms[i].word, length) == 0) {
            return take_form(context, &forms[i], text + length, out, why);
        }
    }
    if (text[0] == '{' || (text[0] == '@' && text_ends(text, ".json"))) {
        return take_json_text(context, text, out, why);
    }
    if (take_literal(text, out)) {
        return true;
    }
    *out = (structured){ .kind = IG_TREE_TENSOR };
    return ig_arguments_parse(context, text, NULL, &out->owner) == IG_OK;
}
