/* Structured values from JSON, in the form of a case's values.json.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     {"tensor": K, "dtype": "float32", …}   FOLDER/input_K.npy
 *     {"list": […]} {"tuple": […]} {"dict": [[key, node]…]} {"namedtuple": […]}
 *     {"int": n} {"float": x} {"bool": b} {"str": s} {"complex": [re, im]} {"none": …}
 *     {"kjt": {"keys", "values", "lengths", "weights"}} {"kt": …} {"jt": …}
 *
 * A string means a tensor's value, "i64[3]=1,2,3"; so does an array of numbers.
 */
#include "tools/ingot/values/structured.h"

#include <stdlib.h>
#include <math.h>
#include <string.h>

static bool set_reason(message *why, const char *what) {
    if (!why->text[0]) {
        snprintf(why->text, sizeof why->text, "%s", what);
    }
    return false;
}

/* ---- tensors ---- */

static const struct {
    const char *name, *dtype; /* torch's, ours */
    ig_tree_kind form;        /* TENSOR, or its wrapper */
} dtypes[] = {
    { "float32", "f32", IG_TREE_TENSOR },
    { "float64", "f64", IG_TREE_TENSOR },
    { "float16", "f16", IG_TREE_TENSOR },
    { "bfloat16", "bf16", IG_TREE_TENSOR },
    { "int64", "i64", IG_TREE_TENSOR },
    { "int32", "i32", IG_TREE_TENSOR },
    { "int16", "i16", IG_TREE_TENSOR },
    { "int8", "i8", IG_TREE_TENSOR },
    { "uint8", "u8", IG_TREE_TENSOR },
    { "uint16", "u16", IG_TREE_TENSOR },
    { "uint32", "u32", IG_TREE_TENSOR },
    { "uint64", "u64", IG_TREE_TENSOR },
    { "bool", "bool", IG_TREE_TENSOR },
    { "float8_e4m3fn", "f8e4m3fn", IG_TREE_TENSOR },
    { "float8_e5m2", "f8e5m2", IG_TREE_TENSOR },
    { "complex64", "f32", IG_TREE_COMPLEX },
    { "complex128", "f64", IG_TREE_COMPLEX },
    { "quint8", "u8", IG_TREE_QUANTIZED },
    { "qint8", "i8", IG_TREE_QUANTIZED },
    { "qint32", "i32", IG_TREE_QUANTIZED },
};

static bool load_tensor(const structured_files *files, const char *text,
                        const char *dtype, structured *out, message *why) {
    out->kind = IG_TREE_TENSOR;
    return ig_arguments_parse(files->context, text, dtype, &out->owner) == IG_OK
               ? true
               : set_reason(why, ig_context_messages(files->context));
}

static bool read_quantized(const json_t *json, structured *out, message *why) {
    const json_t *scale = json_object_get(json, "scale");
    const json_t *zero = json_object_get(json, "zero_point");
    if (!json_is_number(scale) || !json_is_integer(zero)) {
        return set_reason(
            why,
            "a quantized tensor needs a number \"scale\" and an integer \"zero_point\"");
    }
    structured_add(out, IG_TREE_FLOAT, "scale")->real = json_number_value(scale);
    structured_add(out, IG_TREE_INT, "zero_point")->integer = json_integer_value(zero);
    return true;
}

static bool read_tensor(const json_t *json, const structured_files *files,
                        structured *out, message *why) {
    const char *name = json_string_value(json_object_get(json, "dtype"));
    size_t row = 0, count = sizeof dtypes / sizeof *dtypes;
    while (row < count && (!name || strcmp(dtypes[row].name, name) != 0)) {
        row++;
    }
    const json_t *index = json_object_get(json, "tensor");
    if (!files->folder || !json_is_integer(index)) {
        return set_reason(
            why,
            "{\"tensor\": K} needs an integer K, and input_K.npy beside its JSON file");
    }
    const char *dtype = row < count ? dtypes[row].dtype : NULL;
    structured *tensor = out;
    if (row < count && dtypes[row].form != IG_TREE_TENSOR) {
        out->kind = dtypes[row].form;
        tensor = structured_add(out, IG_TREE_TENSOR,
                                dtypes[row].form == IG_TREE_QUANTIZED ? "values"
                                                                      : NULL);
    }
    char *text = text_of("@%s/%s_%lld.npy", files->folder, files->kind,
                         (long long)json_integer_value(index));
    bool is_good = load_tensor(files, text, dtype, tensor, why);
    free(text);
    if (is_good && out->kind == IG_TREE_QUANTIZED) {
        return read_quantized(json, out, why);
    }
    return is_good;
}

/* An array of numbers, or a string that says a tensor. */
static bool read_plain(const json_t *json, const structured_files *files,
                       structured *out, message *why) {
    char *text = json_is_string(json) ? text_of("%s", json_string_value(json))
                                      : need(json_dumps(json, JSON_ENCODE_ANY));
    bool is_good = load_tensor(files, text, NULL, out, why);
    free(text);
    return is_good;
}

/* ---- containers ---- */

static bool read_items(const json_t *json, const structured_files *files,
                       structured *out, message *why) {
    size_t index;
    json_t *item;
    if (!json_is_array(json)) {
        return set_reason(why, "a list or tuple must be a JSON array");
    }
    json_array_foreach(json, index, item) {
        structured *child = structured_add(out, IG_TREE_NONE, NULL);
        if (!structured_of_json(item, files, child, why)) {
            return false;
        }
    }
    return true;
}

/* [[key, node], …]: keys of a dict are nodes, those of a named tuple names. */
static bool read_pairs(const json_t *json, const structured_files *files,
                       structured *out, message *why) {
    size_t index;
    json_t *pair;
    if (!json_is_array(json)) {
        return set_reason(why, "a dict or namedtuple must be a JSON array of pairs");
    }
    json_array_foreach(json, index, pair) {
        const json_t *key = json_array_get(pair, 0);
        const char *name = json_string_value(key);
        if (!name && (!json_is_integer(key) || out->kind == IG_TREE_RECORD)) {
            return set_reason(why, "a key must be a string, or in a dict an integer");
        }
        if (out->kind == IG_TREE_DICT) {
            structured *made = structured_add(out, name ? IG_TREE_STR : IG_TREE_INT,
                                              NULL);
            made->text = name ? text_of("%s", name) : NULL;
            made->integer = json_integer_value(key);
        }
        structured *child = structured_add(out, IG_TREE_NONE,
                                           out->kind == IG_TREE_RECORD ? name : NULL);
        if (!structured_of_json(json_array_get(pair, 1), files, child, why)) {
            return false;
        }
    }
    return true;
}

/* Plain strings, or plain integers. */
static bool read_plain_list(const json_t *json, structured *out, message *why) {
    size_t index;
    json_t *item;
    out->kind = IG_TREE_LIST;
    json_array_foreach(json, index, item) {
        bool is_text = json_is_string(item);
        structured *child = structured_add(out, is_text ? IG_TREE_STR : IG_TREE_INT,
                                           NULL);
        child->text = is_text ? text_of("%s", json_string_value(item)) : NULL;
        child->integer = json_integer_value(item);
        if (!is_text && !json_is_integer(item)) {
            return set_reason(
                why, "\"keys\" must be strings and \"length_per_key\" integers");
        }
    }
    return true;
}

/* The fields of KJT, KT and JT, in the order of the tree. */
static bool read_fields(const json_t *json, const structured_files *files,
                        structured *out, message *why) {
    static const char *const fields[][4] = {
        { "keys", "values", "lengths", "weights" },
        { "keys", "length_per_key", "values", NULL },
        { "values", "lengths", "weights", NULL },
    };
    const char *const *names = fields[out->kind - IG_TREE_KJT];
    for (size_t i = 0; i < 4 && names[i]; i++) {
        const json_t *field = json_object_get(json, names[i]);
        structured *child = structured_add(out, IG_TREE_NONE, names[i]);
        bool is_list = strcmp(names[i], "keys") == 0 ||
                       strcmp(names[i], "length_per_key") == 0;
        if (is_list && !read_plain_list(field, child, why)) {
            return false;
        }
        if (!is_list && field && !json_is_null(field) &&
            !structured_of_json(field, files, child, why)) {
            return false;
        }
    }
    return true;
}

/* ---- nodes ---- */

/* JSON has no infinities and no NaN: these are strings. */
static bool read_real(const json_t *json, structured *out) {
    static const struct {
        const char *text;
        double value;
    } rows[] = { { "inf", INFINITY }, { "-inf", -INFINITY }, { "nan", NAN } };
    for (size_t i = 0; json_is_string(json) && i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(json_string_value(json), rows[i].text) == 0) {
            out->real = rows[i].value;
            return true;
        }
    }
    out->real = json_number_value(json);
    return json_is_number(json);
}

static bool read_complex(const json_t *json, structured *out) {
    for (size_t i = 0; i < 2; i++) {
        const json_t *part = json_array_get(json, i);
        structured_add(out, IG_TREE_FLOAT, NULL)->real = json_number_value(part);
    }
    return json_array_size(json) == 2;
}

static bool read_kind(const char *key, const json_t *value,
                      const structured_files *files, structured *out, message *why) {
    static const struct {
        const char *key;
        ig_tree_kind kind;
        bool (*read)(const json_t *json, const structured_files *files, structured *out,
                     message *why);
    } rows[] = {
        { "list", IG_TREE_LIST, read_items },
        { "tuple", IG_TREE_TUPLE, read_items },
        { "dict", IG_TREE_DICT, read_pairs },
        { "namedtuple", IG_TREE_RECORD, read_pairs },
        { "kjt", IG_TREE_KJT, read_fields },
        { "kt", IG_TREE_KT, read_fields },
        { "jt", IG_TREE_JT, read_fields },
        { "int", IG_TREE_INT, NULL },
        { "float", IG_TREE_FLOAT, NULL },
        { "bool", IG_TREE_BOOL, NULL },
        { "str", IG_TREE_STR, NULL },
        { "none", IG_TREE_NONE, NULL },
        { "complex", IG_TREE_COMPLEX, NULL },
    };
    size_t row = 0, count = sizeof rows / sizeof *rows;
    while (row < count && strcmp(rows[row].key, key) != 0) {
        row++;
    }
    if (row == count) {
        return false;
    }
    out->kind = rows[row].kind;
    if (rows[row].read) {
        return rows[row].read(value, files, out, why);
    }
    out->integer = json_is_boolean(value) ? json_is_true(value)
                                          : json_integer_value(value);
    out->real = json_number_value(value);
    out->text = json_is_string(value) ? text_of("%s", json_string_value(value)) : NULL;
    bool is_good = out->kind == IG_TREE_NONE ||
                   (out->kind == IG_TREE_INT && json_is_integer(value)) ||
                   (out->kind == IG_TREE_FLOAT && read_real(value, out)) ||
                   (out->kind == IG_TREE_BOOL && json_is_boolean(value)) ||
                   (out->kind == IG_TREE_STR && json_is_string(value)) ||
                   (out->kind == IG_TREE_COMPLEX && read_complex(value, out));
    return is_good
               ? true
               : set_reason(
                     why,
                     "an int, float, bool, str or complex must be a JSON value of that type");
}

bool structured_of_json(const json_t *json, const structured_files *files,
                        structured *out, message *why) {
    if (json_is_array(json) || json_is_string(json) || json_is_number(json)) {
        return read_plain(json, files, out, why);
    }
    if (json_object_get(json, "tensor")) {
        return read_tensor(json, files, out, why);
    }
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)json, key, value) {
        if (read_kind(key, value, files, out, why)) {
            return true;
        }
        if (why->text[0]) {
            return false;
        }
    }
    return set_reason(
        why,
        "a node must have one of the keys tensor, list, tuple, dict, namedtuple, kjt, kt, jt, int, float, bool, str, none, complex");
}
