/* Sums of picked pixels: a value between pixels is a weighted sum of some of them, rows
 * of channels picked by number, which is a bag over the image's pixels.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_COMPOSE_ROWS_PIXELS_H
#define IG_COMPOSE_ROWS_PIXELS_H

#include "ir/build/expr.h"

/* [N, C, s…] as rows of channels, pixel by pixel: [N * s…, C]. */
ig_value *ig_compose_pixel_rows(ig_expr *e, ig_value *x);
/* sum over l of weights[b, l] * table[ids[b, l]]: [bags, channels].  table: f32 or f64
 * [rows, channels]; ids: i64 [bags, length], -1 adds nothing, whatever its weight;
 * weights: the table's dtype, [bags, length]. */
ig_value *ig_compose_sum_rows(ig_expr *e, ig_value *table, ig_value *ids,
                              ig_value *weights);

#endif
