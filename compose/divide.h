/* Floor division, as Python has it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_COMPOSE_DIVIDE_H
#define IG_COMPOSE_DIVIDE_H

#include "ir/expr.h"

/* Of integers of one dtype; right at the ends of their range too. */
ig_value *ig_compose_floor_divide(ig_expr *e, ig_value *x, ig_value *y);
/* Of floats; each step is rounded to their dtype, as torch's kernels do. */
ig_value *ig_compose_floor_divide_floats(ig_expr *e, ig_value *x, ig_value *y);

#endif
