/* Inside the reader of schemas: shared by schema*.c only.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_TORCH_LANGUAGE_SCHEMA_INSIDE_H
#define IG_FRONTEND_TORCH_LANGUAGE_SCHEMA_INSIDE_H

#include "frontend/torch/language/parse.h"
#include "frontend/torch/language/schema.h"

#include "base/vec.h"

typedef struct ig_schema_reader {
    ig_script_types *types;
    ig_map *names;
    const ig_location *where;
    const char *text, *next; /* zero-terminated */
} ig_schema_reader;

/* Behind "=": a number, a string, a list, a word (schema_default.c). */
ig_status ig_schema_read_default(ig_schema_reader *reader,
                                 ig_schema_argument *argument);

#endif
