/* Ingot as golden tests use it: text in, text out.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_IGCHECK_ENGINE_H
#define IG_TOOLS_IGCHECK_ENGINE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct engine_result {
    bool is_ok;
    char *output;   /* the module's text; NULL on failure */
    char *messages; /* all errors and warnings, one or more lines each */
} engine_result;

typedef struct engine_job {
    const char *path; /* from which the text is said to be */
    const char *text;
    size_t size;
    const char *pipeline, *target; /* NULL: none, and the default */
} engine_job;

/* Reads the text, runs the pipeline, prints. */
engine_result engine_run(const engine_job *job);
void engine_result_free(engine_result *result);

#endif
