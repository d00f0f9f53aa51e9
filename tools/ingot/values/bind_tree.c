/* Structured arguments bound to the inputs of a model by its tree.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/values/inputs.h"
#include "tools/ingot/values/show.h"
#include "tools/ingot/values/structured.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- putting ---- */

static ig_status put_tensor(call *to, const ig_argument *tensor, message *why) {
    ig_view view;
    if (!view_of(tensor, &view)) {
        snprintf(why->text, sizeof why->text,
                 "a tensor has rank %u, the limit is IG_MAX_RANK (%d)", tensor->rank,
                 IG_MAX_RANK);
        return IG_UNSUPPORTED;
    }
    ig_status status = ig_call_put_tensor(to->tree, &view);
    int input = ig_call_last_input(to->tree);
    if (input >= 0) {
        to->inputs[input] = *tensor;
    }
    return status;
}

static ig_status put_value(call *to, const structured *value, message *why);

static ig_status put_items(call *to, const structured *value, message *why) {
    ig_status status = ig_call_open(to->tree, value->kind);
    for (size_t i = 0; i < value->count && status == IG_OK; i++) {
        const structured *item = &value->items[i];
        status = value->kind == IG_TREE_RECORD && item->name
                     ? ig_call_name(to->tree, item->name)
                     : IG_OK;
        status = status == IG_OK ? put_value(to, item, why) : status;
    }
    return status == IG_OK ? ig_call_close(to->tree) : status;
}

/* Recursion is as deep as the value, which its reader bounds. */
static ig_status put_value(call *to, const structured *value, message *why) {
    switch (value->kind) {
    case IG_TREE_TENSOR:
        return put_tensor(to, structured_tensor(value), why);
    case IG_TREE_INT:
        return ig_call_put_int(to->tree, value->integer);
    case IG_TREE_FLOAT:
        return ig_call_put_float(to->tree, value->real);
    case IG_TREE_BOOL:
        return ig_call_put_bool(to->tree, value->integer != 0);
    case IG_TREE_STR:
        return ig_call_put_str(to->tree, value->text);
    case IG_TREE_NONE:
        return ig_call_put_none(to->tree);
    case IG_TREE_LIST:
    case IG_TREE_TUPLE:
    case IG_TREE_DICT:
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
    return put_items(to, value, why);
}

/* The item for an argument: the one of its name, else the one at its position. */
static const structured *find_argument(const structured *arguments, const char *name,
                                       size_t index) {
    for (size_t i = 0; i < arguments->count; i++) {
        const char *own = arguments->items[i].name;
        if (own && name[0] && strcmp(own, name) == 0) {
            return &arguments->items[i];
        }
    }
    bool is_there = index < arguments->count && !arguments->items[index].name;
    return is_there ? &arguments->items[index] : NULL;
}

/* Every item must be an argument of the model. */
static ig_status check_argument(const model *m, const structured *item, size_t index,
                                message *why) {
    ig_tree_node root = model_node(m, 0);
    bool is_found = !item->name && (int64_t)index < root.integer;
    size_t at = 1;
    for (int64_t i = 0; item->name && i < root.integer && !is_found; i++) {
        is_found = strcmp(model_node(m, at).name, item->name) == 0;
        at += model_node(m, at).size;
    }
    if (is_found) {
        return IG_OK;
    }
    if (item->name) {
        snprintf(why->text, sizeof why->text, "the model has no argument '%.200s'",
                 item->name);
    } else {
        snprintf(why->text, sizeof why->text,
                 "argument %zu is given, but the model has %lld", index,
                 (long long)root.integer);
    }
    return wrong_usage();
}

static ig_status put_arguments(const model *m, const structured *arguments, call *to,
                               message *why) {
    ig_tree_node root = model_node(m, 0);
    ig_status status = IG_OK;
    size_t at = 1;
    for (int64_t i = 0; i < root.integer && status == IG_OK; i++) {
        ig_tree_node node = model_node(m, at);
        const structured *item = find_argument(arguments, node.name, (size_t)i);
        status = item && node.name[0] ? ig_call_name(to->tree, node.name) : IG_OK;
        status = status == IG_OK && item ? put_value(to, item, why) : status;
        at += node.size;
    }
    for (size_t i = 0; i < arguments->count && status == IG_OK; i++) {
        status = check_argument(m, &arguments->items[i], i, why);
    }
    return status;
}

/* Inputs that were numbers are in the memory of the call's tree. */
static void take_numbers(call *to, const ig_view *views) {
    for (size_t i = 0; i < to->count; i++) {
        if (!to->inputs[i].dtype) {
            argument_of(&views[i], &to->inputs[i]);
        }
    }
}

ig_status tree_bind(const model *m, const structured *arguments, call *out,
                    message *why) {
    ig_view *views = NULL;
    size_t count = 0;
    if (!out->inputs) {
        call_init(out, model_input_count(m));
    }
    ig_status status = model_call_create(m, &out->tree, why);
    if (status != IG_OK) {
        return status;
    }
    ig_call_begin(out->tree);
    status = put_arguments(m, arguments, out, why);
    if (status == IG_OK) {
        status = ig_call_finish(out->tree, &views, &count);
    }
    if (status != IG_OK && !why->text[0]) {
        snprintf(why->text, sizeof why->text, "%s", ig_call_error(out->tree));
    }
    if (status == IG_OK) {
        take_numbers(out, views);
    }
    return status;
}

ig_status tree_bind_or_report(const model *m, const structured *arguments, call *out) {
    message why = { "" };
    ig_status status = tree_bind(m, arguments, out, &why);
    if (status == IG_OK) {
        return status;
    }
    complain(0, "%s\nthe model takes:", why.text);
    size_t at = 1, end = model_node_count(m) ? tree_result(m) : 0;
    while (at < end) {
        ig_tree_node node = model_node(m, at);
        char *type = tree_text(m, at);
        put_port(stderr, "", node.name, type);
        free(type);
        at += node.size;
    }
    return status;
}

/* ---- whether the tree is used ---- */

/* A folder with a call in it, of a program whose tree is more than a list of
 * tensors. */
static bool is_call_folder(const settings *given, const model *m) {
    if (!given->inputs_from || !tree_is_structured(m)) {
        return false;
    }
    char *path = text_of("%s/values.json", given->inputs_from);
    bool is_there = access(path, F_OK) == 0;
    free(path);
    return is_there;
}

static bool names_argument(const char *option, const char *name) {
    size_t length = strlen(name);
    return length > 0 && strncmp(option, name, length) == 0 && option[length] == '=';
}

/* "0=…": an argument by its position. */
static bool names_position(const char *option) {
    size_t digits = strspn(option, "0123456789");
    return digits > 0 && option[digits] == '=';
}

bool tree_is_given(const settings *given, const model *m) {
    if (is_call_folder(given, m)) {
        return true;
    }
    size_t at = 1, end = model_node_count(m) ? tree_result(m) : 0;
    for (size_t k = 0; k < given->inputs.count && end > 0; k++) {
        if (names_position(given->inputs.items[k])) {
            return true;
        }
    }
    for (; at < end; at += model_node(m, at).size) {
        ig_tree_node node = model_node(m, at);
        for (size_t k = 0; k < given->inputs.count; k++) {
            if (node.leaf < 0 && names_argument(given->inputs.items[k], node.name)) {
                return true;
            }
        }
    }
    return false;
}
