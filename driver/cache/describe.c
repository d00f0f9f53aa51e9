/* The public functions that describe the cache and empty it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/cache/cache.h"
#include "driver/cache/cache_folder.h"

#include <string.h>
#include <unistd.h>

static const char *const kinds[] = { "models", "kernels", "files" };

typedef struct cache_call {
    ig_context *context;
    const char *text;
} cache_call;

/* ---- its content ---- */

static void put_text(ig_writer *out, const char *name, const char *text) {
    ig_put(out, "\"%s\": ", name);
    ig_put_json_string(out, ig_str_of(text));
}

static void put_usage(ig_writer *out, const char *folder) {
    for (size_t i = 0; i < IG_COUNT_OF(kinds); i++) {
        ig_cache_usage usage = ig_cache_measure(folder, kinds[i]);
        ig_put(out, ",\n \"%s\": {\"entries\": %llu, \"bytes\": %llu}", kinds[i],
               (unsigned long long)usage.count, (unsigned long long)usage.bytes);
    }
}

static ig_status describe_cache(void *arguments) {
    cache_call *call = arguments;
    ig_arena *arena = &ig_driver_of(call->context)->arena;
    char why[128] = "";
    bool is_asked;
    IG_TRY(ig_cache_check_limit(call->context));
    const char *folder = ig_cache_wanted_folder(call->context, arena, &is_asked);
    int opened = folder ? ig_private_folder_open(folder, why) : -1;
    ig_writer out;
    ig_writer_init(&out, arena);
    ig_put(&out, "{");
    put_text(&out, "folder", folder ? folder : "");
    ig_put(&out, ", \"is_used\": %s, ", opened >= 0 ? "true" : "false");
    put_text(&out, "why", folder ? why : "no folder is set");
    ig_put(&out, ",\n \"limit_bytes\": %llu", (unsigned long long)ig_cache_limit());
    if (opened >= 0) {
        close(opened);
        put_usage(&out, folder);
    }
    ig_put(&out, "}\n");
    call->text = ig_writer_str(&out).data;
    return IG_OK;
}

ig_status ig_cache_describe(ig_context *context, const char **out_json) {
    cache_call call = { .context = context, .text = "" };
    ig_status status = ig_driver_guard(context, describe_cache, &call);
    *out_json = call.text;
    return ig_driver_settle(context, status);
}

/* ---- emptying it ---- */

static ig_status clear_cache(void *arguments) {
    const cache_call *call = arguments;
    ig_arena *arena = &ig_driver_of(call->context)->arena;
    char why[128] = "";
    bool is_asked;
    const char *folder = ig_cache_wanted_folder(call->context, arena, &is_asked);
    if (!folder || access(folder, F_OK) != 0) {
        return IG_OK;
    }
    ig_location where = { .file = folder };
    int opened = ig_private_folder_open(folder, why);
    if (opened < 0) {
        return ig_error(
            &call->context->diag, IG_IO, &where,
            "this cache folder is not used, and nothing in it is removed: %s", why);
    }
    close(opened);
    uint64_t left = 0;
    for (size_t i = 0; i < IG_COUNT_OF(kinds); i++) {
        left += ig_cache_empty(folder, kinds[i]).count;
    }
    return left ? ig_error(&call->context->diag, IG_IO, &where,
                           "%llu entries cannot be removed", (unsigned long long)left)
                : IG_OK;
}

ig_status ig_cache_clear(ig_context *context) {
    cache_call call = { .context = context };
    return ig_driver_settle(context, ig_driver_guard(context, clear_cache, &call));
}
