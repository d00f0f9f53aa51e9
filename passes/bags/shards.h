/* One bag over the shards of a table, in place of a bag for each.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_BAGS_SHARDS_H
#define IG_PASSES_BAGS_SHARDS_H

#include "passes/bags/recognise.h"

/* Features numbers[i] of bags[i], whose tables are shards 0, 1, … and which are alike
 * otherwise; and the shard of each id, and its row there. */
typedef struct ig_shards {
    const ig_op *const *bags;
    const uint32_t *indices;
    uint32_t count;
    ig_value *shard_of, *row;
    ig_value *offsets; /* instead of theirs, with the last end; or NULL */
} ig_shards;

ig_value *ig_shards_bag(ig_recogniser *r, ig_builder *b, const ig_shards *shards);

#endif
