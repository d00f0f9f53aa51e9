/* Shared by the two scatters: how an update is combined with an element.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_LOWER_SERIAL_SCATTER_H
#define IG_PASSES_LOWER_SERIAL_SCATTER_H

#include "passes/lower/serial/serial.h"
#include "passes/lower/walk.h"

/* Combines `update`, one number or a vector, with as many elements of `out` from `at`
 * on and stores the results there. */
void ig_scatter_put(ig_builder *b, ig_scatter kind, const ig_lower_operand *out,
                    ig_value *at, ig_value *update);
/* The element that any update combined with it leaves as it is. */
ig_value *ig_scatter_identity(ig_builder *b, ig_scatter kind,
                              const ig_lower_operand *out);

ig_status ig_lower_serial_scatter_nd(ig_lower *lower);
ig_status ig_lower_serial_check_index(ig_lower *lower, const ig_op *op);

#endif
