/* ingot cache: shows the caches' contents, and empties them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/cli/console.h"

#include <jansson.h>
#include <string.h>

static const option_row options[] = {
    ROW_QUIET,
    ROW_JSON,
    ROW_HELP,
    OPTIONS_END,
};

static void print_kind(const json_t *cache, const char *name, const char *what) {
    const json_t *kind = json_object_get(cache, name);
    if (kind) {
        printf("  %-8s %8lld entries %12.2f MB  %s\n", name,
               (long long)json_integer_value(json_object_get(kind, "entries")),
               (double)json_integer_value(json_object_get(kind, "bytes")) / 1e6, what);
    }
}

static ig_status print_cache(const settings *given, ig_context *context) {
    const char *text = NULL;
    ig_status status = ig_cache_describe(context, &text);
    if (status != IG_OK || given->json) {
        fputs(status == IG_OK ? text : "", stdout);
        return status;
    }
    json_t *cache = need(json_loads(text, 0, NULL));
    const char *folder = json_string_value(json_object_get(cache, "folder"));
    const char *why = json_string_value(json_object_get(cache, "why"));
    put_plain(stdout, folder);
    printf("%s%s\n", *why ? *folder ? ": not used: " : "not used: " : "", why);
    print_kind(cache, "models", "compiled models");
    print_kind(cache, "kernels", "code of single kernels");
    print_kind(cache, "files", "known hashes of large model files");
    printf("  at most %.2f MB (INGOT_CACHE_BYTES)\n",
           (double)json_integer_value(json_object_get(cache, "limit_bytes")) / 1e6);
    json_decref(cache);
    return IG_OK;
}

static int run_cache(const settings *given) {
    const char *what = given->arguments.items[0];
    bool is_clear = strcmp(what, "clear") == 0;
    if (!is_clear && strcmp(what, "info") != 0) {
        return complain(EXIT_USAGE, "ingot cache takes info or clear, not '%s'", what);
    }
    int exit_status;
    ig_context *context = context_open(given, NULL, &exit_status);
    if (!context) {
        return exit_status;
    }
    ig_status status = is_clear ? ig_cache_clear(context) : IG_OK;
    if (status == IG_OK && !given->quiet) {
        status = print_cache(given, context);
    }
    context_close(context);
    return exit_of(status);
}

const verb verb_cache = {
    .name = "cache",
    .arguments = "info|clear",
    .help = "shows what the caches hold, or empties them",
    .details =
        "Compiled models and kernels are kept in INGOT_CACHE_DIR, else in the "
        "user's cache folder (~/.cache/ingot). The folder must be the user's own, "
        "and no other user may write to it.",
    .options = options,
    .min_arguments = 1,
    .max_arguments = 1,
    .run = run_cache,
};
