/* The measured subject: model, build and machine, so that a table can be passed on.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_MEASURE_SUBJECT_H
#define IG_TOOLS_INGOT_MEASURE_SUBJECT_H

#include "tools/ingot/cli/console.h"

typedef struct subject {
    const char
        *model; /* the file's name, without folders; of several models the path */
    const char *build; /* of the compiler that made the program; the program's */
    const char *level; /* of the code that runs; the program's */
    char cpu[128];     /* as the machine calls it */
} subject;

void subject_read(const char *path, const ig_program *program, subject *out);
/* "dlrm.onnx, ingot 0.2.0-1a2b, level v4, AMD EPYC 7000" without a new line, or the
 * same without the model. */
void subject_print(const subject *what, bool with_model);
/* "model": …, "build": …, "level": …, "cpu": … for a JSON object. */
void subject_put_json(const subject *what);

#endif
