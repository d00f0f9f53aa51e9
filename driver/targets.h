/* Targets as users name them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_DRIVER_TARGETS_H
#define IG_DRIVER_TARGETS_H

#include "base/context.h"
#include "ir/target.h"

enum { IG_LEVELS = 8 };

/* The levels that a target text such as "cpu:v3,v4" names; NULL: the host's best. */
typedef struct ig_target_list {
    const ig_target *targets[IG_LEVELS];
    uint32_t count;
} ig_target_list;

ig_status ig_targets_parse(ig_context *context, const char *text, ig_target_list *out);

#endif
