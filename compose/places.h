/* Which elements each place of a resized axis takes, and how much of each, as values.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_COMPOSE_PLACES_H
#define IG_COMPOSE_PLACES_H

#include "ir/semantics/resize.h"
#include "compose/compose.h"

typedef struct ig_places {
    int64_t taps;
    ig_value *ids;     /* i64 [out * taps] */
    ig_value *weights; /* f32 [out * taps]; NULL: one element, whole */
} ig_places;

/* For extents that are not known; false for the forms that cannot be so. */
bool ig_expand_places(ig_builder *b, const ig_resize_axis *axis, ig_dim in, ig_dim out,
                      ig_places *out_places);

#endif
