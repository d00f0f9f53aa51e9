/* Element types as the profiling protocol numbers them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_SERVE_PROFILE_DTYPE_H
#define IG_TOOLS_SERVE_PROFILE_DTYPE_H

#include <ingot/view.h>
#include <stddef.h>

/* 0: the protocol has no such type. */
ig_dtype_code dtype_of_number(int code);
int dtype_code(ig_dtype_code dtype);
/* Element `index` of an array of the type; integers beyond 2^53 are rounded. */
double dtype_element(int code, const void *data, size_t index);

#endif
