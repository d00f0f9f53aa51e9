/* Where in a model something comes from, as an artifact keeps it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_DRIVER_SOURCE_H
#define IG_DRIVER_SOURCE_H

#include "ir/graph.h"

/* "in 'then_branch': node 12 'conv1' (Conv)", "code/__torch__/m.py:7: node
 * (aten::add)", "line 3" of IR text; "" where nothing is known.  The path of the model
 * is no part of it: an artifact says nothing of the machine that it was made on. */
const char *ig_source_of(ig_arena *arena, const ig_module *module, uint32_t loc);
/* The boxes around a module: "layers.0/attention" of "layers.0.attention".  A
 * number is a part of the name before it. */
const char *ig_source_scope(ig_arena *arena, const char *module_path);

#endif
