/* Reading models: the format is told from the content.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/import/checkpoint.h"
#include "driver/import/operators.h"
#include "base/platform/context_map.h"
#include "driver/values/argument.h"
#include "base/zip_format.h"
#include "driver/values/fold_inputs.h"
#include "frontend/onnx/import/onnx.h"
#include "frontend/pt2/pt2.h"
#include "frontend/torch/archive/archive.h"
#include "frontend/torch/entry/torchscript.h"
#include "ir/parse/read.h"
#include "ir/verify/verify.h"
#include "passes/engine/pass.h"
#include "passes/grad/grad.h"
#include "runtime/format.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

typedef struct import_call {
    ig_context *context;
    const char *path;
    ig_str bytes;
    bool is_memory;
    ig_import_options options; /* whole, whatever the caller's version */
    ig_module **out_module;
    ig_arena arena;
    ig_file_map map; /* of an .ig file, while it is parsed */
    ig_module *module;
    ig_custom_functions functions; /* of the user, while the model is read */
} import_call;

/* ---- options ---- */

static ig_status bad_statement(const import_call *call, const char *statement) {
    return ig_error_hint(&call->context->diag, IG_INVALID, NULL,
                         "write NAME=TYPE, for example dense=f32[8,13]",
                         "'%s' gives no type for an input", statement);
}

/* "x=f32[8,13]" -> name and type. */
static ig_status read_statement(import_call *call, const char *statement,
                                ig_onnx_input_type *out) {
    const char *equals = strrchr(statement, '=');
    if (!equals || equals == statement || !equals[1]) {
        return bad_statement(call, statement);
    }
    out->name = ig_arena_copy(&call->arena, statement, (size_t)(equals - statement));
    out->type = equals + 1;
    return IG_OK;
}

static ig_status read_constant(import_call *call, const char *path, ig_dtype wanted,
                               ig_tensor *out) {
    ig_file_map map;
    char why[128];
    ig_location where = { .file = path };
    ig_status status = ig_context_map(call->context, path, &map, why);
    if (status != IG_OK) {
        return ig_error(&call->context->diag, status, &where, "cannot read: %s", why);
    }
    ig_str bytes = { map.data, map.size };
    status = ig_argument_read(call->context, &call->arena, path, bytes,
                              (ig_value_want){ IG_TENSOR, wanted }, out);
    ig_file_map_close(&map);
    return status;
}

static ig_status read_onnx_options(import_call *call, ig_onnx_options *out) {
    const ig_import_options *from = &call->options;
    ig_onnx_input_type *types = IG_NEW_ARRAY(&call->arena, ig_onnx_input_type,
                                             from->input_count);
    for (size_t i = 0; i < from->input_count; i++) {
        IG_TRY(read_statement(call, from->inputs[i], &types[i]));
    }
    ig_onnx_input_value *values = IG_NEW_ARRAY(&call->arena, ig_onnx_input_value,
                                               from->constant_count);
    for (size_t i = 0; i < from->constant_count; i++) {
        ig_tensor *tensor = IG_NEW(&call->arena, ig_tensor);
        IG_TRY(read_constant(call, from->constant_files[i], IG_DT_COUNT, tensor));
        values[i] = (ig_onnx_input_value){ from->constant_names[i], tensor };
    }
    ig_onnx_external *external = IG_NEW_ARRAY(&call->arena, ig_onnx_external,
                                              from->external_data_count);
    for (size_t i = 0; i < from->external_data_count; i++) {
        const ig_named_bytes *given = &from->external_data[i];
        external[i] = (ig_onnx_external){ given->name, { given->bytes, given->size } };
    }
    *out = (ig_onnx_options){ .types = types,
                              .type_count = from->input_count,
                              .constants = values,
                              .constant_count = from->constant_count,
                              .external = external,
                              .external_count = from->external_data_count,
                              .is_inputs_only = from->inputs_only || from->is_outline,
                              .has_defaults = from->inputs_only == 2,
                              .keeps_weights = from->keeps_weights ||
                                               from->open_weights,
                              .is_outline = from->is_outline != 0,
                              .functions = &call->functions };
    return IG_OK;
}

/* ---- formats ---- */

/* IR text is told by its first word; comments may precede it. */
static bool is_ir_text(ig_str bytes) {
    size_t i = 0;
    while (i < bytes.size) {
        if (bytes.data[i] == '#') {
            while (i < bytes.size && bytes.data[i] != '\n') {
                i++;
            }
        } else if (!memchr(" \t\r\n", bytes.data[i], 4)) {
            break;
        }
        i++;
    }
    ig_str rest = { bytes.data + i, bytes.size - i };
    return ig_str_starts(rest, "module");
}

/* Text says all types itself. */
static ig_status read_text(import_call *call) {
    const char *name = call->path ? call->path : "<memory>";
    ig_location where = { .file = name };
    if (call->options.input_count || call->options.constant_count) {
        return ig_error(&call->context->diag, IG_UNSUPPORTED, &where,
                        "inputs of IR text have the types that the text gives them");
    }
    return ig_parse_module(call->context, name, call->bytes, &call->module);
}

/* A file that calls itself PyTorch's and does not begin as exporters begin a protobuf:
 * with the version.  Of it nothing is said in ONNX's words. */
static bool is_named_torch(const import_call *call) {
    static const char *const endings[] = { ".pt", ".pth", ".ptc", ".jit" };
    ig_str path = ig_str_of(call->path ? call->path : "");
    for (size_t i = 0; i < IG_COUNT_OF(endings); i++) {
        if (ig_str_ends(path, endings[i])) {
            return call->bytes.size == 0 || call->bytes.data[0] != 8;
        }
    }
    return false;
}

static ig_status read_onnx(import_call *call) {
    ig_onnx_options options = { 0 };
    if (is_named_torch(call)) {
        return ig_archive_refuse(call->context, call->path, IG_ARCHIVE_unknown);
    }
    IG_TRY(read_onnx_options(call, &options));
    options.gradients = ig_gradients_at;
    if (call->is_memory) {
        return ig_import_onnx_memory(call->context, call->bytes, call->path, &options,
                                     &call->module);
    }
    return ig_import_onnx(call->context, call->path, &options, &call->module);
}

/* ---- models from Python ---- */

static ig_status read_arguments(import_call *call, ig_torchscript_argument **out) {
    const ig_import_options *from = &call->options;
    *out = IG_NEW_ARRAY(&call->arena, ig_torchscript_argument, from->input_count);
    for (size_t i = 0; i < from->input_count; i++) {
        const char *statement = from->inputs[i];
        const char *equals = strchr(statement, '=');
        if (!equals || equals == statement || !equals[1]) {
            return bad_statement(call, statement);
        }
        (*out)[i].name = ig_arena_copy(&call->arena, statement,
                                       (size_t)(equals - statement));
        (*out)[i].tree = equals + 1;
    }
    return IG_OK;
}

/* Number of the input of that name, or of that number. */
static uint32_t leaf_of(const ig_graph *graph, const char *name) {
    int64_t index;
    if (ig_str_to_i64(ig_str_of(name), &index) && index >= 0) {
        return (uint32_t)index;
    }
    uint32_t i = 0;
    while (i < graph->body.arg_count && (!graph->arg_names || !graph->arg_names[i] ||
                                         strcmp(graph->arg_names[i], name) != 0)) {
        i++;
    }
    return i;
}

static ig_status fold_constants(import_call *call) {
    assert(call->module && "the module was read");
    const ig_import_options *from = &call->options;
    ig_graph *graph = (ig_graph *)(uintptr_t)ig_entry_of(call->module);
    ig_folded_input *inputs = IG_NEW_ARRAY(&call->arena, ig_folded_input,
                                           from->constant_count);
    for (size_t i = 0; i < from->constant_count; i++) {
        ig_tensor *tensor = IG_NEW(&call->arena, ig_tensor);
        uint32_t leaf = leaf_of(graph, from->constant_names[i]);
        bool is_there = leaf < graph->body.arg_count;
        ig_dtype dtype = is_there ? (ig_dtype)graph->body.args[leaf]->type->dtype
                                  : IG_DT_COUNT;
        IG_TRY(read_constant(call, from->constant_files[i], dtype, tensor));
        inputs[i] = (ig_folded_input){ leaf, tensor };
    }
    return ig_fold_inputs(call->module, graph, inputs, from->constant_count);
}

/* Means of whole bags are made here, so that whoever interprets the module has them. */
static ig_status make_means_whole(import_call *call) {
    static const char whole[] =
        "unify,(infer,guards,canonicalise,fold,cse,dce)*,jagged_insert,dce,bounds,bag_whole,dce";
    ig_pass_options options = { 0 };
    IG_TRY(ig_passes_run(call->module, &options, ig_pipeline_clean));
    return ig_passes_run(call->module, &options, whole);
}

static bool is_pt2(ig_str bytes) {
    return ig_archive_sniff(bytes) == IG_ARCHIVE_pt2;
}

typedef ig_status (*read_memory)(ig_context *context, ig_str bytes, const char *path,
                                 const ig_torchscript_options *options,
                                 ig_module **out_module);
typedef ig_status (*read_file)(ig_context *context, const char *path,
                               const ig_torchscript_options *options,
                               ig_module **out_module);

static ig_status read_python(import_call *call, read_memory from_memory,
                             read_file from_file) {
    ig_torchscript_argument *arguments = NULL;
    IG_TRY(read_arguments(call, &arguments));
    ig_torchscript_options options = {
        .entry = call->options.entry,
        .resource = call->options.resource,
        .arguments = arguments,
        .argument_count = call->options.input_count,
        .fixes_rowwise_mean = call->options.rowwise_mean != 0,
        .functions = &call->functions,
        .is_outline = call->options.is_outline != 0,
        .gradients = ig_gradients_at,
    };
    ig_status status =
        call->is_memory ? from_memory(call->context, call->bytes, call->path, &options,
                                      &call->module)
                        : from_file(call->context, call->path, &options, &call->module);
    if (status == IG_OK && options.fixes_rowwise_mean) {
        status = make_means_whole(call);
    }
    return status == IG_OK && call->options.constant_count ? fold_constants(call)
                                                           : status;
}

static ig_status read_torchscript(import_call *call) {
    return read_python(call, ig_import_torchscript_memory, ig_import_torchscript);
}

static ig_status read_pt2(import_call *call) {
    return read_python(call, ig_import_pt2_memory, ig_import_pt2);
}

/* ---- refused inputs ---- */

static ig_status refuse_artifact(import_call *call) {
    ig_location where = { .file = call->path };
    return ig_error_hint(&call->context->diag, IG_INVALID, &where,
                         "run it, or compile the model that it was made of",
                         "this is a compiled artifact, not a model");
}

/* Other files of PyTorch, and files of nobody. */
static ig_status refuse_archive(import_call *call) {
    return ig_archive_refuse(call->context, call->path ? call->path : "<memory>",
                             ig_archive_sniff(call->bytes));
}

static bool is_artifact(ig_str bytes) {
    ig_str name = { bytes.data + IG_ZIP_LOCAL_BYTES, sizeof IG_ENTRY_MANIFEST - 1 };
    return bytes.size >= IG_ZIP_LOCAL_BYTES + name.size &&
           ig_str_starts(bytes, IG_ZIP_LOCAL_TEXT) &&
           ig_str_is(name, IG_ENTRY_MANIFEST);
}

static bool is_torchscript(ig_str bytes) {
    return ig_archive_sniff(bytes) == IG_ARCHIVE_torchscript;
}

static bool is_package(ig_str bytes) {
    return ig_archive_sniff(bytes) == IG_ARCHIVE_package;
}

/* Anything that PyTorch writes and we do not read: told by its name.  A protobuf has no
 * magic, so what nothing claims is taken for ONNX. */
static bool is_foreign(ig_str bytes) {
    return ig_str_starts(bytes, IG_ZIP_LOCAL_TEXT) ||
           ig_archive_sniff(bytes) != IG_ARCHIVE_unknown;
}

static bool is_anything(ig_str bytes) {
    (void)bytes;
    return true;
}

/* Told by content alone, in this order. */
static const struct format {
    const char *name;
    bool (*is_it)(ig_str bytes);
    ig_status (*read)(import_call *call);
} formats[] = {
    { "ir", is_ir_text, read_text },
    { "artifact", is_artifact, refuse_artifact },
    { "torchscript", is_torchscript, read_torchscript },
    { "package", is_package, read_torchscript },
    { "pt2", is_pt2, read_pt2 },
    { "", is_foreign, refuse_archive },
    { "onnx", is_anything, read_onnx },
};

static const struct format *format_of(ig_str bytes) {
    size_t i = 0;
    while (!formats[i].is_it(bytes)) {
        assert(i + 1 < IG_COUNT_OF(formats) && "the last format takes anything");
        i++;
    }
    return &formats[i];
}

/* An importer's faults are named here, before a pass meets them; text
 * was verified as it was parsed. */
static ig_status check_module(const import_call *call) {
    ig_location where = { .file = call->path };
    return ig_verify_module(call->module) == IG_OK
               ? IG_OK
               : ig_error(&call->context->diag, IG_INTERNAL, &where,
                          "the importer made a module that does not verify");
}

/* Is an extent of an input more than a number or a symbol? */
static bool has_sums(const ig_graph *graph) {
    bool is_any = false;
    for (uint32_t i = 0; i < graph->body.arg_count; i++) {
        const ig_type *type = graph->body.args[i]->type;
        for (uint32_t d = 0; d < type->rank; d++) {
            is_any |= !ig_dim_is_static(type->dims[d]) &&
                      !ig_dim_as_symbol(graph->module, type->dims[d]);
        }
    }
    return is_any;
}

static ig_status read_model(import_call *call) {
    const struct format *format = format_of(call->bytes);
    if (call->options.external_data_count && format->read != read_onnx) {
        ig_location where = { .file = call->path };
        return ig_error(&call->context->diag, IG_UNSUPPORTED, &where,
                        "external data is of ONNX models alone");
    }
    IG_TRY(ig_import_operators(call->context, &call->options, &call->arena,
                               &call->functions));
    IG_TRY(format->read(call));
    if (format->read != read_text) {
        IG_TRY(check_module(call));
    }
    if (call->options.checkpoint) {
        IG_TRY(ig_import_checkpoint(call->module, call->options.checkpoint));
    }
    ig_pass_options passes = { .open_weights = call->options.open_weights };
    const ig_graph *entry = ig_entry_of(call->module); /* text may have kernels alone */
    if (entry && entry->stage == IG_STAGE_TENSOR && has_sums(entry)) {
        IG_TRY(ig_passes_run(call->module, &passes, "solve_extents"));
    }
    return passes.open_weights ? ig_passes_run(call->module, &passes, "open_weights")
                               : IG_OK;
}

static ig_status import_file(void *arguments) {
    import_call *call = arguments;
    char why[128];
    ig_status status = ig_context_map(call->context, call->path, &call->map, why);
    if (status != IG_OK) {
        ig_location where = { .file = call->path };
        return ig_error(&call->context->diag, status, &where, "cannot read: %s", why);
    }
    call->bytes = (ig_str){ call->map.data, call->map.size };
    return read_model(call);
}

static ig_status import_memory(void *arguments) {
    return read_model(arguments);
}

/* ---- public ---- */

static ig_status run_call(import_call *call, const ig_import_options *options,
                          ig_status (*work)(void *)) {
    *call->out_module = NULL;
    ig_options_take(call->context, &call->options, sizeof call->options, options);
    ig_arena_init(&call->arena, &call->context->budget);
    ig_status status = ig_driver_guard(call->context, work, call);
    for (size_t i = 0; i < call->functions.count; i++) {
        if (call->functions.modules[i]) {
            ig_module_destroy(call->functions.modules[i]);
        }
    }
    ig_arena_fini(&call->arena);
    ig_file_map_close(&call->map);
    if (status != IG_OK && call->module) {
        ig_module_destroy(call->module);
        call->module = NULL;
    }
    *call->out_module = call->module;
    return ig_driver_settle(call->context, status);
}

ig_status ig_import(ig_context *context, const char *path,
                    const ig_import_options *options, ig_module **out_module) {
    import_call call = { .context = context, .path = path, .out_module = out_module };
    return run_call(&call, options, import_file);
}

ig_status ig_import_memory(ig_context *context, const void *bytes, size_t size,
                           const char *path, const ig_import_options *options,
                           ig_module **out_module) {
    import_call call = { .context = context,
                         .path = path,
                         .is_memory = true,
                         .bytes = { bytes, size },
                         .out_module = out_module };
    return run_call(&call, options, import_memory);
}

const char *ig_model_format(const char *path) {
    ig_file_map map;
    errno = 0;
    if (ig_file_map_open(path, &map, NULL) != IG_OK) {
        return "";
    }
    const char *name = format_of((ig_str){ map.data, map.size })->name;
    ig_file_map_close(&map);
    return name;
}
