/* Targets as users name them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_DRIVER_TARGETS_H
#define IG_DRIVER_TARGETS_H

#include "base/context.h"
#include "ir/target.h"

enum { IG_LEVELS = 16 };

/* The levels that a target text such as "cpu:v3,v4" or "cpu,cuda:sm_80,sm_90a+ptx"
 * names; NULL: the host's best.  A name without a family is of the family before it
 * (the first one: cpu).  Those of one family are neighbours. */
typedef struct ig_target_list {
    const ig_target *targets[IG_LEVELS];
    uint32_t count;
} ig_target_list;

ig_status ig_targets_parse(ig_context *context, const char *text, ig_target_list *out);

/* The end of the run of targets of one family that begins at `first`. */
uint32_t ig_targets_family_end(const ig_target_list *list, uint32_t first);

#endif
