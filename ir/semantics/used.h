/* Constants that some graph reads.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_IR_SEMANTICS_USED_H
#define IG_IR_SEMANTICS_USED_H

#include "base/map.h"
#include "ir/graph.h"

/* `used`: a set of pointers to weights.  Imports and passes leave unused ones, such
 * as one of which all tables are parts, or the original of a quantised one. */
void ig_used_list(const ig_module *module, ig_arena *arena, ig_map *used);

#endif
