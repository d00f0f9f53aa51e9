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
                               const ig_parcels *all) {
    for (uint32_t i = 0; i < all->pieces; i++) {
        const ig_group_part *from = &all->send[i], *to = &all->receive[i];
        if (from->bytes != to->bytes) {
            return ig_group_error(group, IG_INVALID,
                                  "%s: rank 0 sends itself %zu bytes and expects %zu",
                                  ig_collective_names[what], from->bytes, to->bytes);
        }
        if (from->bytes) {
            memmove(to->data, from->data, from->bytes);
        }
    }
    return IG_OK;
}

const ig_transport ig_transport_self = {
    .name = "self", .open = open_self, .close = close_self, .exchange = exchange_self
};
