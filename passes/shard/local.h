/* The rows and columns that one rank has of a table, as a weight.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_SHARD_LOCAL_H
#define IG_PASSES_SHARD_LOCAL_H

#include "passes/shard/divided.h"

/* Makes parts[number].table for the rank of the program. */
ig_status ig_make_local(ig_divided *divided, uint32_t index);

#endif
