/* What ops of sharded graphs tell the functions of libingot-group: their params.
 * SPDX-License-Identifier: Apache-2.0
 *
 * runtime/collective/ranks.h gives each function's arguments.
 */
#ifndef IG_PASSES_PLACE_RANKS_H
#define IG_PASSES_PLACE_RANKS_H

#include "ir/build/expr.h"

enum { IG_BAG_IDS_PARAMS = 14 };

/* Of rank_bag_ids, and of rank_bag_ids_count. */
void ig_resolve_bag_params(const ig_op *op, ig_dim params[IG_BAG_IDS_PARAMS]);

#endif
