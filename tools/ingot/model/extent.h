/* Extents of a type's text, with values for its symbols.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_MODEL_EXTENT_H
#define IG_TOOLS_INGOT_MODEL_EXTENT_H

#include "tools/ingot/model/model.h"

/* Values of symbols: `batch` for the model's batch symbol, then the first of
 * `dims` ("PATTERN=EXPRESSION") whose pattern fits, else `batch` again. */
typedef struct extents {
    const char *batch_symbol; /* or NULL */
    int64_t batch;
    text_list dims;
} extents;

/* The first symbol of the first input that has one, as text; NULL: none.  free() it. */
char *batch_symbol_of(const model *m);
/* "f32[batch, 4*n]" -> "f32[64, 256]"; NULL after a message.  free() it. */
char *type_with_extents(const extents *with, const char *type);

#endif
