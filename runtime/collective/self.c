/* self: a group of one rank.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/collective/transport.h"

#include <string.h>

static ig_status open_self(ig_group *group, const char *name) {
    (void)name;
    return group->options.world == 1
               ? IG_OK
               : ig_group_error(
                     group, IG_INVALID,
                     "self: a world of %u; ranks of one host meet in shm:NAME",
                     group->options.world);
}

static void close_self(ig_group *group) {
    (void)group;
}

static ig_status exchange_self(ig_group *group, ig_collective what,
                               const ig_group_part *send,
                               const ig_group_part *receive) {
    if (send->bytes != receive->bytes) {
        return ig_group_error(group, IG_INVALID,
                              "%s: rank 0 sends itself %zu bytes and expects %zu",
                              ig_collective_names[what], send->bytes, receive->bytes);
    }
    if (send->bytes) {
        memmove(receive->data, send->data, send->bytes);
    }
    return IG_OK;
}

const ig_transport ig_transport_self = { "self", open_self, close_self, exchange_self };
