/* What packages and archives hold, beside what a call of them is.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/host.h"

#include "frontend/package/package.h"
#include "frontend/torchscript/torchscript.h"

typedef struct describe_call {
    ig_context *context;
    const char *path, *text;
    ig_file_map map;
    ig_arena    arena;
} describe_call;

static ig_status open_file(describe_call *call, ig_str *out_bytes) {
    ig_location where = { .file = call->path };
    char        why[256];
    ig_status   status = ig_file_map_open(call->path, &call->map, why);
    if (status != IG_OK) {
        return ig_error(&call->context->diag, status, &where, "cannot read: %s", why);
    }
    *out_bytes = (ig_str){ call->map.data, call->map.size };
    return IG_OK;
}

static ig_status describe(void *arguments) {
    describe_call *call = arguments;
    ig_archive     archive;
    ig_pickle_set  pickles;
    ig_package     package;
    ig_writer      out;
    ig_str         bytes;
    IG_TRY(open_file(call, &bytes));
    if (ig_archive_sniff(bytes) != IG_ARCHIVE_package) {
        return IG_OK;
    }
    ig_writer_init(&out, &ig_host_of(call->context)->arena);
    IG_TRY(ig_archive_open(&archive, call->context, &call->arena, call->path, bytes));
    ig_pickle_set_init(&pickles, &archive);
    IG_TRY(ig_package_open(&package, &archive, &pickles));
    IG_TRY(ig_package_describe(&package, &out));
    call->text = out.data ? out.data : "";
    return IG_OK;
}

static ig_status inspect(void *arguments) {
    describe_call *call = arguments;
    ig_writer      out;
    ig_str         bytes;
    IG_TRY(open_file(call, &bytes));
    if (ig_archive_sniff(bytes) != IG_ARCHIVE_torchscript) {
        return IG_OK;
    }
    ig_writer_init(&out, &ig_host_of(call->context)->arena);
    IG_TRY(
        ig_torchscript_describe(call->context, &call->arena, call->path, bytes, &out));
    call->text = out.data;
    return IG_OK;
}

static ig_status run_call(ig_context *context, const char        *path,
                          ig_status (*work)(void *), const char **out_text) {
    describe_call call = { .context = context, .path = path, .text = "" };
    ig_arena_init(&call.arena, &context->budget);
    ig_status status = ig_host_guard(context, work, &call);
    *out_text = status == IG_OK ? call.text : "";
    ig_arena_fini(&call.arena);
    ig_file_map_close(&call.map);
    return ig_host_settle(context, status);
}

ig_status ig_model_describe(ig_context *context, const char *path,
                            const char **out_text) {
    return run_call(context, path, describe, out_text);
}

ig_status ig_model_inspect(ig_context *context, const char *path,
                           const char **out_json) {
    return run_call(context, path, inspect, out_json);
}
