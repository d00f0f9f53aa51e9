/* Types of inputs that values say.
 * SPDX-License-Identifier: Apache-2.0
 *
 * An ONNX file may leave out how many dims an input has.  A compiler must know, and
 * whoever gives a value has said it.
 */
#include "tools/ingot/values/declare.h"

#include "tools/ingot/model/extent.h"
#include "tools/ingot/values/inputs.h"

#include <stdlib.h>
#include <string.h>

static ig_status open_declared(const settings *given, ig_context *context,
                               const char *path, int which, model *out) {
    *out = (model){ .context = context };
    ig_import_options how = import_options(given);
    how.inputs = NULL; /* of these verbs they are values */
    how.input_count = 0;
    how.inputs_only = which;
    return ig_import(context, path, &how, &out->module);
}

ig_status declared_open(const settings *given, ig_context *context, const char *path,
                        model *out) {
    return open_declared(given, context, path, 1, out);
}

ig_status declared_open_all(const settings *given, ig_context *context,
                            const char *path, model *out) {
    return open_declared(given, context, path, 2, out);
}

bool is_unranked(const char *type) {
    return strstr(type, "[any_rank]") != NULL;
}

char *declare_input(const char *name, const ig_argument *value, size_t index,
                    bool is_open) {
    bool is_list = value->kind == IG_ARGUMENT_LIST;
    const ig_argument *tensor = is_list && value->item_count ? &value->items[0] : value;
    if (tensor->kind != IG_ARGUMENT_TENSOR || !tensor->dtype) {
        return NULL;
    }
    char dims[1024] = "";
    size_t used = 0;
    for (uint32_t d = 0; d < tensor->rank && used + 64 < sizeof dims; d++) {
        const char *comma = d ? ", " : "";
        used += (size_t)(is_open ? snprintf(dims + used, sizeof dims - used,
                                            "%sn%zu_%u", comma, index, d)
                                 : snprintf(dims + used, sizeof dims - used, "%s%lld",
                                            comma, (long long)tensor->dims[d]));
    }
    return is_list ? text_of("%s=seq<%s[%s]>", name, tensor->dtype, dims)
                   : text_of("%s=%s[%s]", name, tensor->dtype, dims);
}

/* ---- models without ranks ---- */

void declarations_free(declarations *which) {
    for (size_t i = 0; i < which->count; i++) {
        free(which->items[i]);
    }
    free(which->items);
    *which = (declarations){ 0 };
}

static ig_status give_option(const settings *given, const model *m, call *with,
                             size_t index) {
    const char *name = model_input_name(m, index);
    size_t length = strlen(name);
    ig_status status = IG_OK;
    for (size_t i = 0; i < given->inputs.count && status == IG_OK; i++) {
        const char *text = given->inputs.items[i];
        bool is_named = strncmp(text, name, length) == 0 && text[length] == '=';
        if (is_named) {
            status = input_give(m, with, index, text + length + 1);
        }
    }
    return status;
}

/* An empty list has items of any rank: one will do. */
static char *declare_value(const model *m, const call *with, size_t index) {
    const ig_argument *value = &with->inputs[index];
    const char *name = model_input_name(m, index);
    bool is_empty = value->kind == IG_ARGUMENT_LIST && value->item_count == 0;
    return is_empty ? text_of("%s=%s", name, model_input_type(m, index))
                    : declare_input(name, value, index, true);
}

/* Is `text` "NAME=…"? */
static bool states(const char *text, const char *name) {
    size_t length = strlen(name);
    return strncmp(text, name, length) == 0 && text[length] == '=';
}

static bool is_stated(const settings *given, const char *name) {
    for (size_t i = 0; i < given->inputs.count; i++) {
        if (states(given->inputs.items[i], name)) {
            return true;
        }
    }
    return false;
}

static ig_status declare_all(const settings *given, const model *m, declarations *out) {
    call with;
    ig_arguments *archive = NULL;
    size_t count = model_input_count(m), unranked = 0;
    call_init(&with, count);
    for (size_t i = 0; i < count; i++) {
        unranked += is_unranked(model_input_type(m, i));
    }
    ig_status status = unranked ? inputs_from_files(given, m, &with, &archive) : IG_OK;
    out->items = need(calloc(count + 1, sizeof *out->items));
    for (size_t i = 0; i < count && unranked && status == IG_OK; i++) {
        if (!is_unranked(model_input_type(m, i))) {
            continue;
        }
        status = give_option(given, m, &with, i);
        char *text = status == IG_OK ? declare_value(m, &with, i) : NULL;
        if (text) {
            out->items[out->count++] = text;
        }
    }
    call_fini(&with);
    ig_arguments_close(archive);
    return status;
}

static bool has_input(const model *m, const char *name) {
    for (size_t i = 0; i < model_input_count(m); i++) {
        if (strcmp(model_input_name(m, i), name) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_input_stated(const model *m, const char *text) {
    for (size_t i = 0; i < model_input_count(m); i++) {
        if (states(text, model_input_name(m, i))) {
            return true;
        }
    }
    return false;
}

/* Is a name given that is none of m's inputs? */
static bool are_more_stated(const settings *given, const model *m) {
    for (size_t i = 0; i < given->inputs.count; i++) {
        if (!is_input_stated(m, given->inputs.items[i])) {
            return true;
        }
    }
    return false;
}

/* Inputs beyond those of `m` that are given by name have a default in the file, which
 * is read once more only for them. */
static ig_status declare_defaults(const settings *given, const char *path,
                                  const model *m, declarations *out) {
    model all;
    if (!are_more_stated(given, m)) {
        return IG_OK;
    }
    ig_status status = declared_open_all(given, m->context, path, &all);
    if (status != IG_OK) {
        return status;
    }
    size_t count = model_input_count(&all);
    out->items =
        need(realloc(out->items, (out->count + count + 1) * sizeof *out->items));
    for (size_t i = 0; i < count; i++) {
        const char *name = model_input_name(&all, i);
        if (!has_input(m, name) && is_stated(given, name)) {
            out->items[out->count++] = text_of("%s=%s", name,
                                               model_input_type(&all, i));
        }
    }
    model_close(&all);
    return IG_OK;
}

ig_status declare_unranked(const settings *given, ig_context *context, const char *path,
                           declarations *out) {
    *out = (declarations){ 0 };
    bool has_values = given->inputs.count || given->inputs_from;
    if (!has_values || strcmp(ig_model_format(path), "onnx") != 0) {
        return IG_OK;
    }
    model m;
    ig_status status = declared_open(given, context, path, &m);
    if (status == IG_OK) {
        status = declare_all(given, &m, out);
        status = status == IG_OK ? declare_defaults(given, path, &m, out) : status;
        model_close(&m);
    }
    return status;
}

/* ---- extents by name ---- */

static ig_status close_extents(const settings *given, const model *m,
                               declarations *out) {
    extents with;
    bool is_good = extents_init(&with, m, -1, given->dims);
    for (size_t i = 0; i < model_input_count(m) && is_good; i++) {
        const char *name = model_input_name(m, i), *type = model_input_type(m, i);
        char *closed = type_with_dims(&with, type);
        is_good = closed != NULL;
        if (is_good && strcmp(closed, type) != 0 && !is_stated(given, name)) {
            out->items[out->count++] = text_of("%s=%s", name, closed);
        }
        free(closed);
    }
    is_good = is_good && extents_check_dims(&with, m);
    extents_fini(&with);
    return is_good ? IG_OK : IG_INVALID;
}

ig_status declare_extents(const settings *given, ig_context *context, const char *path,
                          declarations *out) {
    size_t count = given->inputs.count;
    *out = (declarations){ .items = need(calloc(count + 1, sizeof *out->items)) };
    for (size_t i = 0; i < count; i++) {
        out->items[out->count++] = text_of("%s", given->inputs.items[i]);
    }
    if (given->dims.count == 0) {
        return IG_OK;
    }
    if (strcmp(ig_model_format(path), "onnx") != 0) {
        complain(0, "--dim needs the names that an ONNX file gives its extents: give "
                    "--input NAME=TYPE");
        return IG_UNSUPPORTED;
    }
    model m;
    ig_status status = declared_open(given, context, path, &m);
    if (status == IG_OK) {
        out->items = need(realloc(out->items, (count + model_input_count(&m) + 1) *
                                                  sizeof *out->items));
        status = close_extents(given, &m, out);
        model_close(&m);
    }
    return status;
}

ig_status declared_import(const settings *given, ig_context *context, const char *path,
                          ig_module **out) {
    declarations types;
    ig_import_options how = import_options(given);
    ig_status status = declare_extents(given, context, path, &types);
    if (status == IG_OK) {
        how.inputs = (const char *const *)types.items;
        how.input_count = types.count;
        status = ig_import(context, path, &how, out);
    }
    declarations_free(&types);
    return status;
}
