/* The extents of an operand, which may have fewer axes than its reader expects.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Importers read shapes of operands that a file chose freely.  This accessor is the
 * only one that reads an extent, and it checks that the axis exists.
 */
#ifndef IG_IR_BUILD_EXTENT_H
#define IG_IR_BUILD_EXTENT_H

#include "ir/build/expr.h"

/* The extent of axis `axis`; 1 where x is NULL.  An operand without that axis is a
 * failure of `e` (INVALID), and 1. */
ig_dim ig_expr_extent(ig_expr *e, const ig_value *x, uint32_t axis);
ig_dim ig_expr_extent_of(ig_expr *e, const ig_type *type, uint32_t axis);

#endif
