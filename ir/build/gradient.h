/* Gradients, as those who build graphs ask for them; passes/grad builds them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_IR_BUILD_GRADIENT_H
#define IG_IR_BUILD_GRADIENT_H

#include "ir/build/build.h"

/* Gradients of the sum of y by the first `wanted_count` of the points. */
typedef struct ig_gradient_at {
    ig_value *y; /* floats; made in the graph's own block */
    /* Values that y depends on, and values of their types that replace them. */
    ig_value *const *xs, *const *points;
    uint32_t count, wanted_count;
} ig_gradient_at;

/* Builds them at the builder's position; reports a failure.  Importers are given such a
 * function by whoever may call passes. */
typedef ig_status ig_gradient_builder(ig_builder *builder, const ig_gradient_at *what,
                                      ig_value **out);

#endif
