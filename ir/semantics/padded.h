/* Where rows of parts are in what is made of them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_IR_SEMANTICS_PADDED_H
#define IG_IR_SEMANTICS_PADDED_H

#include "ir/graph.h"

/* The axis of rows in a reshape of padded rows [B, N, C] to `split`: [B, 1…, N, …], C
 * split into axes of its own.  0: it is no such reshape, as far as is known. */
uint32_t ig_padded_row_axis(ig_module *module, const ig_type *padded,
                            const ig_type *split);

#endif
