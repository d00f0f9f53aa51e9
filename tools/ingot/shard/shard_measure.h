/* ingot shard --measure: what memory and exchanges of this machine take, as a topology.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_SHARD_SHARD_MEASURE_H
#define IG_TOOLS_INGOT_SHARD_SHARD_MEASURE_H

#include "tools/ingot/cli/console.h"

/* Returns the exit status. */
int shard_measure(const settings *given);

#endif
