/* host: parts travel by a function of the caller's.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A parcel of several pieces is packed, so that the caller sees one part a rank.
 */
#include "runtime/collective/transport.h"

#include "base/status.h"

#include <stdlib.h>
#include <string.h>

typedef struct packed {
    char *memory; /* sent parcels, then received ones */
    size_t bytes; /* of the memory */
    ig_group_part *send, *receive;
} packed;

static ig_status open_host(ig_group *group, const char *name) {
    const ig_group_host *host = group->options.host;
    (void)name;
    if (!host || !host->all_to_all) {
        return ig_group_error(group, IG_INVALID,
                              "host: options have no all_to_all of the caller's");
    }
    packed *p = calloc(1, sizeof *p);
    group->state = p;
    if (p) {
        p->send = calloc(group->options.world, sizeof *p->send);
        p->receive = calloc(group->options.world, sizeof *p->receive);
    }
    return p && p->send && p->receive
               ? IG_OK
               : ig_group_error(group, IG_LIMIT, "no memory for a group");
}

static void close_host(ig_group *group) {
    packed *p = group->state;
    if (p) {
        free(p->memory);
        free(p->send);
        free(p->receive);
        free(p);
    }
}

/* One part for each rank, from `at` on; returns the address after them. */
static char *lay_out(const ig_group *group, const ig_group_part *parts, uint32_t pieces,
                     char *at, ig_group_part *out) {
    for (uint32_t r = 0; r < group->options.world; r++) {
        out[r] = (ig_group_part){ at, ig_parcel_bytes(parts + r * pieces, pieces) };
        at += out[r].bytes;
    }
    return at;
}

static size_t count_all(const ig_group *group, const ig_parcels *all) {
    uint32_t count = group->options.world * all->pieces;
    return ig_parcel_bytes(all->send, count) + ig_parcel_bytes(all->receive, count);
}

static ig_status make_room(ig_group *group, ig_collective what, size_t bytes) {
    packed *p = group->state;
    if (bytes > p->bytes) {
        free(p->memory);
        p->memory = malloc(bytes);
        p->bytes = p->memory ? bytes : 0;
    }
    return bytes <= p->bytes
               ? IG_OK
               : ig_group_error(group, IG_LIMIT, "%s: no memory for %zu bytes",
                                ig_collective_names[what], bytes);
}

static ig_status call_host(ig_group *group, ig_collective what,
                           const ig_group_part *send, const ig_group_part *receive) {
    const ig_group_host *host = group->options.host;
    ig_status status = host->all_to_all(host->user, send, receive);
    return status == IG_OK
               ? IG_OK
               : ig_group_error(group, status, "%s: the caller's all_to_all failed",
                                ig_collective_names[what]);
}

static ig_status exchange_host(ig_group *group, ig_collective what,
                               const ig_parcels *all) {
    packed *p = group->state;
    if (all->pieces == 1) {
        return call_host(group, what, all->send, all->receive);
    }
    IG_TRY(make_room(group, what, count_all(group, all)));
    char *after = lay_out(group, all->send, all->pieces, p->memory, p->send);
    (void)lay_out(group, all->receive, all->pieces, after, p->receive);
    for (uint32_t r = 0; r < group->options.world; r++) {
        ig_parcel_read(all->send + r * all->pieces, all->pieces, 0, p->send[r].bytes,
                       p->send[r].data);
    }
    IG_TRY(call_host(group, what, p->send, p->receive));
    for (uint32_t r = 0; r < group->options.world; r++) {
        ig_parcel_write(all->receive + r * all->pieces, all->pieces, 0,
                        p->receive[r].bytes, p->receive[r].data);
    }
    return IG_OK;
}

static void fail_host(ig_group *group) {
    const ig_group_host *host = group->options.host;
    if (host->fail) {
        host->fail(host->user);
    }
}

const ig_transport ig_transport_host = { .name = "host",
                                         .open = open_host,
                                         .close = close_host,
                                         .exchange = exchange_host,
                                         .fail = fail_host };
