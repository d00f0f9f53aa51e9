/* What a package holds beside models.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/host.h"

#include "frontend/package/package.h"

typedef struct describe_call {
    ig_context *context;
    const char *path, *text;
    ig_file_map map;
    ig_arena    arena;
} describe_call;

static ig_status describe(void *arguments) {
    describe_call *call = arguments;
    ig_location    where = { .file = call->path };
    ig_archive     archive;
    ig_pickle_set  pickles;
    ig_package     package;
    ig_writer      out;
    char           why[256];
    ig_status      status = ig_file_map_open(call->path, &call->map, why);
    if (status != IG_OK) {
        return ig_error(&call->context->diag, status, &where, "cannot read: %s", why);
    }
    ig_str bytes = { call->map.data, call->map.size };
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

ig_status ig_model_describe(ig_context *context, const char *path,
                            const char **out_text) {
    describe_call call = { .context = context, .path = path, .text = "" };
    ig_arena_init(&call.arena, &context->budget);
    ig_status status = ig_host_guard(context, describe, &call);
    *out_text = status == IG_OK ? call.text : "";
    ig_arena_fini(&call.arena);
    ig_file_map_close(&call.map);
    return ig_host_settle(context, status);
}
