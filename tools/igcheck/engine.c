/* Golden tests over the public interface.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/igcheck/engine.h"

#include "tools/igcheck/golden.h"

#include <ingot/ingot.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ig_status run(ig_context *context, const engine_job *job,
                     engine_result *result) {
    ig_module *module = NULL;
    const char *output = NULL;
    size_t size = 0;
    ig_status status = ig_import_memory(context, job->text, job->size, job->path, NULL,
                                        &module);
    if (status == IG_OK && job->pipeline) {
        status = ig_module_run(module, job->pipeline, job->target);
    }
    if (status == IG_OK) {
        status = ig_module_print(module, IG_FORMAT_TEXT, &output, &size);
    }
    if (status == IG_OK) {
        result->output = copy_text(output, size);
    }
    /* A failing call's messages last until the next call. */
    const char *messages = ig_context_messages(context);
    result->messages = copy_text(messages, strlen(messages));
    ig_module_close(module);
    return status;
}

engine_result engine_run(const engine_job *job) {
    engine_result result = { 0 };
    ig_context *context = ig_context_create(NULL);
    if (!context) {
        fputs("igcheck: out of memory\n", stderr);
        exit(5);
    }
    result.is_ok = run(context, job, &result) == IG_OK;
    ig_context_destroy(context);
    return result;
}

void engine_result_free(engine_result *result) {
    free(result->output);
    free(result->messages);
    *result = (engine_result){ 0 };
}
