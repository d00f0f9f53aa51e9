/* Functions of ranks by name.  SPDX-License-Identifier: Apache-2.0 */
#include "runtime/collective/ranks.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct rank_row {
    const char *name;
    ig_rank_fn *fn;
} rank_row;

static const rank_row rows[] = {
    { "rank_bag_ids", ig_rank_bag_ids },
    { "rank_bag_ids_count", ig_rank_bag_ids_count },
    { "rank_deal", ig_rank_deal },
    { "rank_deal_count", ig_rank_deal_count },
    { "rank_meet_counts", ig_rank_meet_counts },
    { "rank_meet_lists", ig_rank_meet_lists },
    { "rank_reduce_scatter", ig_rank_reduce_scatter },
    { "rank_all_reduce", ig_rank_all_reduce },
    { "rank_all_gather", ig_rank_all_gather },
    { "rank_meet_start", ig_rank_meet_start },
    { "rank_meet_wait", ig_rank_meet_wait },
    { "rank_reduce_wait", ig_rank_reduce_wait },
    { "rank_meet_end", ig_rank_meet_end },
};

bool ig_rank_refuse(const ig_host_call *call, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(call->reason, IG_HOST_REASON_BYTES, format, arguments);
    va_end(arguments);
    return false;
}

bool ig_rank_call(ig_ranks *ranks, const char *function, const ig_host_call *call) {
    ig_group *group = ((ig_group_caller *)ranks)->group;
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        if (strcmp(rows[i].name, function) == 0) {
            return rows[i].fn(group, call);
        }
    }
    *call->status = IG_UNSUPPORTED;
    return ig_rank_refuse(call, "this libingot-group has no function '%s'", function);
}

ig_status ig_rank_agree(ig_ranks *ranks, char reason[IG_HOST_REASON_BYTES]) {
    ig_group *group = ((ig_group_caller *)ranks)->group;
    ig_status status = ig_group_barrier(group);
    if (status != IG_OK) {
        (void)snprintf(reason, IG_HOST_REASON_BYTES, "%s", group->text);
    }
    return status;
}

void ig_rank_fail(ig_ranks *ranks) {
    ig_group *group = ((ig_group_caller *)ranks)->group;
    group->has_failed = true;
    if (group->transport->fail) {
        group->transport->fail(group);
    }
}
