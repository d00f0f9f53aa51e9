/* Extents of a type's text, with values for its symbols.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_MODEL_EXTENT_H
#define IG_TOOLS_INGOT_MODEL_EXTENT_H

#include "tools/ingot/model/call.h"

/* An extent that is so many times the batch, and more, unless --dim says otherwise: of
 * lengths key by key, of the items that they count, of offsets with an end. */
typedef struct scaled_extent {
    char *symbol;
    int64_t factor, more;
} scaled_extent;

/* Values of symbols: the first of `dims` ("PATTERN=EXPRESSION") whose pattern fits,
 * else a multiple of `batch`, mostly `batch` itself. */
typedef struct extents {
    char *batch_symbol; /* the first extent of the first input that leaves it open, of
                         * lengths where there is no other; or NULL */
    int64_t batch;
    scaled_extent *scaled;
    size_t scaled_count;
    text_list dims;    /* borrowed */
    bool *is_dim_used; /* of each item of `dims`: did its pattern fit a name? */
} extents;

/* For `batch` samples, -1: as many as a model with fixed extents takes, else 1.  False
 * after a message: a batch size was given, and no extent is open. */
bool extents_init(extents *out, const model *m, int64_t batch, text_list dims);
void extents_fini(extents *which);
/* False after a message: some item of `dims` fitted no name in the types so far. */
bool extents_check_dims(const extents *with, const model *m);
/* The batch size of inputs that are there. */
int64_t batch_of_call(const model *m, const call *with);
/* "f32[B2, S2, 13]" -> "f32[B2, 64, 13]" for --dim S=64: extents that are a name which
 * an item of `dims` fits get its value, others stay.  NULL after a message.  free()
 * it. */
char *type_with_dims(const extents *with, const char *type);
/* "f32[batch, 4*n]" -> "f32[64, 256]"; NULL after a message.  free() it. */
char *type_with_extents(const extents *with, const char *type);

#endif
