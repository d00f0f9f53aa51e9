/* Values that a pass may look into.  SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_ENGINE_KNOWN_H
#define IG_PASSES_ENGINE_KNOWN_H

#include "ir/graph.h"
#include "ir/tensor/tensor.h"
#include "ir/interpret/interpret.h"

/* The elements of a constant of known extents, in the arena's memory or its own.  False
 * where it is none, or cannot be read; nothing is reported. */
bool ig_read_constant(const ig_value *value, ig_arena *arena, ig_tensor *out);

#endif
