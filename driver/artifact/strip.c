/* Artifacts without the entries that only people read.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/artifact/write.h"
#include "driver/host.h"
#include "runtime/container.h"

#include <string.h>

typedef struct strip_call {
    ig_context *context;
    const char *path, *to;
    ig_file_map map;
    ig_arena arena;
} strip_call;

static ig_status report_file(const strip_call *call, ig_status status, const char *path,
                             const char *what, const char *why) {
    ig_location where = { .file = path };
    return ig_error(&call->context->diag, status, &where, "%s%s", what, why);
}

static ig_status open_container(strip_call *call, ig_container *out) {
    char why[256];
    ig_message message = { why, sizeof why, NULL };
    ig_status status = ig_file_map_open(call->path, &call->map, why);
    if (status != IG_OK) {
        return report_file(call, status, call->path, "cannot read: ", why);
    }
    ig_str bytes = { call->map.data, call->map.size };
    status = ig_container_open(bytes, out, &message);
    if (status != IG_OK) {
        return report_file(call, status, call->path, "", why);
    }
    for (uint32_t i = 0; i < out->count; i++) {
        if (ig_str_starts(out->entries[i].name, IG_ENTRY_PLAN)) {
            return IG_OK;
        }
    }
    return report_file(call, IG_INVALID, call->path,
                       "not an artifact: it holds no plan", "");
}

static bool is_for_people(ig_str name) {
    size_t size = sizeof IG_ENTRY_DEBUG - 1;
    return ig_str_is(name, IG_ENTRY_SOURCES) ||
           (name.size > size && memcmp(name.data, IG_ENTRY_DEBUG, size) == 0);
}

static void keep_entries(strip_call *call, const ig_container *container,
                         ig_file_part **out_parts, size_t *out_count) {
    ig_artifact_entry kept[IG_CONTAINER_ENTRIES];
    size_t count = 0;
    for (uint32_t i = 0; i < container->count; i++) {
        ig_str name = container->entries[i].name;
        if (!is_for_people(name)) {
            kept[count++] = (ig_artifact_entry){ .name = name,
                                                 .data = container->entries[i].data };
        }
    }
    ig_artifact_repack(&call->arena, kept, count, out_parts, out_count);
}

static ig_status strip_file(void *arguments) {
    strip_call *call = arguments;
    ig_container *container = IG_NEW(&call->arena, ig_container);
    char why[256];
    IG_TRY(open_container(call, container));
    ig_file_part *parts;
    size_t count;
    keep_entries(call, container, &parts, &count);
    ig_status status = ig_file_publish(call->to, parts, count, why);
    return status == IG_OK ? IG_OK
                           : report_file(call, status, call->to, "cannot write: ", why);
}

ig_status ig_artifact_strip(ig_context *context, const char *path, const char *to) {
    strip_call call = { .context = context, .path = path, .to = to };
    ig_arena_init(&call.arena, &context->budget);
    ig_status status = ig_driver_guard(context, strip_file, &call);
    ig_file_map_close(&call.map);
    ig_arena_fini(&call.arena);
    return ig_driver_settle(context, status);
}
