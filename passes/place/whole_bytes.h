/* Casts between integers of 2 or 4 bits and bytes, which no kernel does.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_PLACE_WHOLE_BYTES_H
#define IG_PASSES_PLACE_WHOLE_BYTES_H

#include "ir/graph.h"

/* Is it a cast from or to integers narrower than a byte? */
bool ig_is_bits_cast(const ig_op *op);

#endif
