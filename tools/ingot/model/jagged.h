/* Inputs that say where bags begin in the items of another input.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_MODEL_JAGGED_H
#define IG_TOOLS_INGOT_MODEL_JAGGED_H

#include "tools/ingot/model/model.h"

typedef enum jagged_form {
    JAGGED_NONE,    /* the input says nothing of bags */
    JAGGED_LENGTHS, /* how many items each bag has */
    JAGGED_BEGINS,  /* where each bag begins */
    JAGGED_OFFSETS, /* the same, and where the last one ends */
} jagged_form;

typedef struct jagged {
    jagged_form form;
    size_t items; /* the input that holds the items of the bags */
    int64_t keys; /* entries a row of the batch; 0: not known */
} jagged;

/* What input number `index` says, by the roles of the program's inputs, else by the
 * KeyedJaggedTensors of the call. */
jagged jagged_of(const model *m, size_t index);

#endif
