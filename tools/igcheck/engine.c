/* Golden tests over the public interface.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/igcheck/engine.h"

#include "tools/igcheck/golden.h"

#include <ingot/ingot.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ig_status run(ig_context *context, const char *path, const char *text,
                     size_t size, const char *pipeline, const char *target,
                     engine_result *result) {
    ig_module  *module = NULL;
    const char *output = NULL;
    size_t      output_size = 0;
    ig_status   status = ig_import_memory(context, text, size, path, NULL, &module);
    if (status == IG_OK && pipeline) {
        status = ig_module_run(module, pipeline, target);
    }
    if (status == IG_OK) {
        status = ig_module_print(module, IG_FORMAT_TEXT, &output, &output_size);
    }
    if (status == IG_OK) {
        result->output = copy_text(output, output_size);
    }
    /* A failing call's messages last until the next call. */
    const char *messages = ig_context_messages(context);
    result->messages = copy_text(messages, strlen(messages));
    ig_module_close(module);
    return status;
}

engine_result engine_run(const char *path, const char *text, size_t size,
                         const char *pipeline, const char *target) {
    engine_result result = { 0 };
    ig_context   *context = ig_context_create(NULL);
    if (!context) {
        fputs("igcheck: out of memory\n", stderr);
        exit(5);
    }
    result.is_ok = run(context, path, text, size, pipeline, target, &result) == IG_OK;
    ig_context_destroy(context);
    return result;
}

void engine_result_free(engine_result *result) {
    free(result->output);
    free(result->messages);
    *result = (engine_result){ 0 };
}
