/* Two ways to run a model, held against each other value by value.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_COMPARE_COMPARE_H
#define IG_TOOLS_INGOT_COMPARE_COMPARE_H

#include "tools/ingot/compare/difference.h"
#include "tools/ingot/compare/side.h"

typedef struct comparison {
    const settings *given;
    const model *m;
    const call *with;
    reference *against;
    const ig_inner_value *values;        /* of the model */
    size_t value_count, own;             /* own: the model's outputs */
    size_t compared, missing, different; /* inner values */
    size_t outputs_different, outputs_missing;
    size_t lone;   /* the value that differs alone, exposed by itself; SIZE_MAX: none */
    json_t *found; /* differences, in order */
} comparison;

/* Compares the outputs, then values in order up to the first portion that differs. */
ig_status compare_values(comparison *c, message *why);
/* Are the outputs of a call those of the reference?  -1: there are none. */
int compare_outputs(const comparison *c, const ig_argument *outputs, size_t count);

#endif
