/* Do two operands of a plan lie apart?  SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_DISJOINT_H
#define IG_PASSES_DISJOINT_H

#include "ir/graph.h"

/* True when no element of the one is an element of the other, whatever the symbols are.
 * Operands of different buffers lie apart; parts of one do when they are stacked along
 * an axis, as those of a concat. */
bool ig_plan_is_disjoint(ig_module *module, const ig_value *a, const ig_value *b);

#endif
