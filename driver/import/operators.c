/* The user's own operators as functions that importers inline.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A row of a library, "acme::Hash" of signature "(%id: i64[N], %n: i64[]) -> (i64[N])",
 * becomes a graph of that name with one op:
 *
 *     %0 = custom %id, %n {function = "acme::Hash", version = 1} : i64[N]
 *
 * Extents that only results have are noted in its attribute `own`.
 */
#include "driver/import/operators.h"

#include "base/custom/custom.h"
#include "base/platform/context_map.h"
#include "base/vec.h"
#include "ir/build/build.h"
#include "ir/parse/read.h"
#include "ir/verify/verify.h"

#include <string.h>

/* ---- a row as text ---- */

static bool is_name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_' || c == '.';
}

/* "%id, %n" of "(%id: i64[N], %n: i64[])". */
static void put_operands(ig_writer *w, ig_str arguments) {
    bool is_first = true;
    for (size_t i = 0; i < arguments.size; i++) {
        size_t end = i + 1;
        while (end < arguments.size && is_name_char(arguments.data[end])) {
            end++;
        }
        if (arguments.data[i] == '%') {
            ig_put(w, "%s%.*s", is_first ? " " : ", ", (int)(end - i),
                   arguments.data + i);
            is_first = false;
        }
    }
}

/* Types that commas part outside of brackets. */
static uint32_t count_types(ig_str types) {
    uint32_t depth = 0, count = types.size > 0;
    for (size_t i = 0; i < types.size; i++) {
        char c = types.data[i];
        depth += c == '[' || c == '(' ? 1 : 0;
        depth -= (c == ']' || c == ')') && depth ? 1 : 0;
        count += c == ',' && depth == 0;
    }
    return count;
}

static void put_results(ig_writer *w, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        ig_put(w, "%s%%%u", i ? ", " : "", i);
    }
}

static void put_op(ig_writer *w, const ig_custom_op *op) {
    const char *arrow = strstr(op->signature, "->");
    ig_str arguments = { op->signature, arrow ? (size_t)(arrow - op->signature) : 0 };
    ig_str types = ig_str_of(arrow ? arrow + 2 : "");
    while (types.size && strchr(" (", types.data[0])) {
        types = (ig_str){ types.data + 1, types.size - 1 };
    }
    while (types.size && strchr(" )", types.data[types.size - 1])) {
        types.size--;
    }
    uint32_t count = count_types(types);
    ig_put(w, "  graph @\"%s\"%s {\n    ", op->name, op->signature);
    put_results(w, count);
    ig_put(w, " = custom");
    put_operands(w, arguments);
    ig_put(w, " {function = \"%s\", version = %u} : %.*s\n    ret ", op->name,
           (unsigned)op->version, (int)types.size, types.data);
    put_results(w, count);
    ig_put(w, "\n  }\n");
}

/* ---- extents that only results have ---- */

typedef struct own_extents {
    ig_module *module;
    ig_map known; /* symbols of arguments, and those in `places` too */
    int64_t positions[2 * IG_CUSTOM_MAX_TENSORS]; /* result, axis */
    uint32_t count;
    const char *unknown; /* a symbol in an expression before it has a value */
} own_extents;

static void note_known(void *user, uint32_t symbol) {
    own_extents *x = user;
    ig_map_set_id(&x->known, symbol, x);
}

static void check_known(void *user, uint32_t symbol) {
    own_extents *x = user;
    x->unknown = ig_map_get_id(&x->known, symbol)
                     ? x->unknown
                     : ig_symbol_at(x->module, symbol)->name;
}

static void find_own(const ig_op *op, own_extents *x) {
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const ig_type *type = op->operands[i].value->type;
        for (uint32_t k = 0; k < type->rank; k++) {
            ig_dim_visit_symbols(x->module, type->dims[k], note_known, x);
        }
    }
    for (uint32_t i = 0; i < op->result_count; i++) {
        const ig_type *type = op->results[i].type;
        for (uint32_t k = 0; k < type->rank; k++) {
            bool is_symbol = ig_dim_as_symbol(x->module, type->dims[k]) != NULL;
            uint32_t symbol = is_symbol ? ig_symbol_index(x->module, type->dims[k]) : 0;
            bool is_new = is_symbol && !ig_map_get_id(&x->known, symbol);
            if (is_new && x->count < IG_CUSTOM_MAX_TENSORS) {
                x->positions[2 * x->count] = i;
                x->positions[2 * x->count++ + 1] = k;
                note_known(x, symbol);
            }
            ig_dim_visit_symbols(x->module, type->dims[k], check_known, x);
        }
    }
}

static ig_status complete_op(ig_module *module, ig_graph *graph,
                             const ig_custom_op *row, const char *file) {
    ig_op *op = graph->body.first;
    own_extents x = { .module = module };
    ig_diag *diag = &module->context->diag;
    ig_location where = { .file = file, .graph = row->name };
    ig_map_init(&x.known, &module->arena);
    if (op->operand_count + op->result_count > IG_CUSTOM_MAX_TENSORS) {
        return ig_error(diag, IG_INVALID, &where,
                        "the operator has more than %d arguments and results",
                        IG_CUSTOM_MAX_TENSORS);
    }
    find_own(op, &x);
    if (x.unknown) {
        return ig_error(
            diag, IG_INVALID, &where,
            "its signature computes with extent %s, which is not by itself an extent of an argument or an earlier result",
            x.unknown);
    }
    if (x.count > 0 && !row->extents) {
        return ig_error(
            diag, IG_INVALID, &where,
            "its results have extents that no argument has, and it has no function that computes them: set `extents`");
    }
    if (x.count > 0) {
        ig_attr_set(op, IG_custom_own,
                    ig_attr_of_ints(module, x.positions, 2 * x.count));
    }
    return IG_OK;
}

/* ---- libraries ---- */

static ig_status parse_library(ig_context *context, const ig_custom_library *library,
                               const char *file, ig_arena *arena,
                               ig_module **out_module) {
    ig_writer w;
    ig_writer_init(&w, arena);
    ig_put(&w, "module @operators {\n");
    for (size_t i = 0; i < library->op_count; i++) {
        put_op(&w, ig_operators_at(library, i));
    }
    ig_put(&w, "}\n");
    IG_TRY(ig_parse_module(context, file, ig_writer_str(&w), out_module));
    for (size_t i = 0; i < library->op_count; i++) {
        IG_TRY(complete_op(*out_module, (*out_module)->graphs.items[i],
                           ig_operators_at(library, i), file));
    }
    return ig_verify_module(*out_module);
}

/* Each once. */
static void keep_library(ig_context *context, const ig_custom_library *library) {
    ig_driver *host = ig_driver_of(context);
    for (size_t i = 0; i < context->custom_count; i++) {
        if (context->custom[i] == library) {
            return;
        }
    }
    const ig_custom_library **all = IG_NEW_ARRAY(
        &host->arena, const ig_custom_library *, context->custom_count + 1);
    for (size_t i = 0; i < context->custom_count; i++) {
        all[i] = context->custom[i];
    }
    all[context->custom_count] = library;
    context->custom = all;
    context->custom_count++;
}

/* ---- all that was named ---- */

typedef struct operators {
    ig_context *context;
    ig_arena *arena;
    ig_custom_functions *out;
} operators;

/* A new place, which the caller destroys whatever happens. */
static ig_module **next_module(operators *o) {
    return &o->out->modules[o->out->count++];
}

static ig_status take_text(operators *o, const char *file, ig_str text) {
    ig_module **module = next_module(o);
    IG_TRY(ig_parse_module(o->context, file, text, module));
    return ig_custom_check_all(*module, file);
}

static ig_status take_library(operators *o, const char *file,
                              const ig_custom_library *library) {
    ig_module **module = next_module(o);
    IG_TRY(parse_library(o->context, library, file, o->arena, module));
    keep_library(o->context, library);
    return ig_custom_check_all(*module, file);
}

static ig_status report_file(const operators *o, ig_status status, const char *file,
                             const char *why) {
    ig_location where = { .file = file };
    return ig_error(&o->context->diag, status, &where, "cannot read: %s", why);
}

static bool is_library(ig_str bytes) {
    return ig_str_starts(bytes, "\177ELF");
}

static ig_status take_file(operators *o, const char *path) {
    ig_file_map map;
    char why[IG_CUSTOM_WHY_BYTES];
    ig_status status = ig_context_map(o->context, path, &map, why);
    if (status != IG_OK) {
        return report_file(o, status, path, why);
    }
    ig_str bytes = { map.data, map.size };
    const ig_custom_library *library = NULL;
    if (!is_library(bytes)) {
        status = take_text(o, path, bytes);
    } else {
        status = ig_operators_open(path, &library, why);
        status = status == IG_OK ? take_library(o, path, library)
                                 : report_file(o, status, path, why);
    }
    ig_file_map_close(&map);
    return status;
}

ig_status ig_import_operators(ig_context *context, const ig_import_options *options,
                              ig_arena *arena, ig_custom_functions *out) {
    size_t room = 1 + options->op_file_count + options->op_text_count +
                  options->library_count;
    *out = (ig_custom_functions){ IG_NEW_ARRAY(arena, ig_module *, room), 0 };
    operators o = { context, arena, out };
    char why[IG_CUSTOM_WHY_BYTES];
    if (options->ops) {
        IG_TRY(take_file(&o, options->ops));
    }
    for (size_t i = 0; i < options->op_file_count; i++) {
        IG_TRY(take_file(&o, options->op_files[i]));
    }
    for (size_t i = 0; i < options->op_text_count; i++) {
        IG_TRY(take_text(&o, "<operators>", ig_str_of(options->op_texts[i])));
    }
    for (size_t i = 0; i < options->library_count; i++) {
        ig_status status = ig_operators_check(options->libraries[i], why);
        if (status != IG_OK) {
            return report_file(&o, status, "<operators>", why);
        }
        IG_TRY(take_library(&o, "<operators>", options->libraries[i]));
    }
    return IG_OK;
}

ig_status ig_import_operators_as_text(ig_context *context, ig_arena *arena,
                                      ig_import_options *options) {
    ig_custom_functions functions;
    if (!options->ops && !options->op_file_count && !options->library_count) {
        return IG_OK;
    }
    IG_TRY(ig_import_operators(context, options, arena, &functions));
    const char **texts = IG_NEW_ARRAY(arena, const char *, functions.count + 1);
    for (size_t i = 0; i < functions.count; i++) {
        ig_writer w;
        ig_writer_init(&w, arena);
        ig_print_module(functions.modules[i], &w);
        ig_put_char(&w, '\0');
        texts[i] = w.data;
        ig_module_destroy(functions.modules[i]);
    }
    options->op_texts = texts;
    options->op_text_count = functions.count;
    options->ops = NULL;
    options->op_file_count = options->library_count = 0;
    return IG_OK;
}
