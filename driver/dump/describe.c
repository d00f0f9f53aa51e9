/* The contents of packages and archives.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/host.h"

#include "frontend/torch/entry/torchscript.h"

typedef struct describe_call {
    ig_context *context;
    const char *path, *text;
    ig_file_map map;
    ig_str bytes;
    ig_arena arena;
    /* The format that is described; any other gives no text. */
    ig_archive_format format;
    ig_status (*write)(struct describe_call *call, ig_writer *out);
} describe_call;

static ig_status write_package(describe_call *call, ig_writer *out) {
    return ig_torch_package_describe(call->context, &call->arena, call->path,
                                     call->bytes, out);
}

static ig_status write_script(describe_call *call, ig_writer *out) {
    return ig_torchscript_describe(call->context, &call->arena, call->path, call->bytes,
                                   out);
}

static ig_status open_file(describe_call *call) {
    ig_location where = { .file = call->path };
    char why[256];
    ig_status status = ig_file_map_open(call->path, &call->map, why);
    if (status != IG_OK) {
        return ig_error(&call->context->diag, status, &where, "cannot read: %s", why);
    }
    call->bytes = (ig_str){ call->map.data, call->map.size };
    return IG_OK;
}

static ig_status describe_file(void *arguments) {
    describe_call *call = arguments;
    ig_writer out;
    IG_TRY(open_file(call));
    if (ig_archive_sniff(call->bytes) != call->format) {
        return IG_OK;
    }
    ig_writer_init(&out, &ig_driver_of(call->context)->arena);
    IG_TRY(call->write(call, &out));
    call->text = out.data ? out.data : "";
    return IG_OK;
}

static ig_status run_call(describe_call *call, const char **out_text) {
    ig_context *context = call->context;
    call->text = "";
    ig_arena_init(&call->arena, &context->budget);
    ig_status status = ig_driver_guard(context, describe_file, call);
    *out_text = status == IG_OK ? call->text : "";
    ig_arena_fini(&call->arena);
    ig_file_map_close(&call->map);
    return ig_driver_settle(context, status);
}

ig_status ig_model_describe(ig_context *context, const char *path,
                            const char **out_text) {
    describe_call call = { .context = context,
                           .path = path,
                           .format = IG_ARCHIVE_package,
                           .write = write_package };
    return run_call(&call, out_text);
}

ig_status ig_model_inspect(ig_context *context, const char *path,
                           const char **out_json) {
    describe_call call = { .context = context,
                           .path = path,
                           .format = IG_ARCHIVE_torchscript,
                           .write = write_script };
    return run_call(&call, out_json);
}
