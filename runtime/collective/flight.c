/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/collective/flight.h"

#include "base/checked.h"
#include "base/status.h"

#include <assert.h>
#include <stdlib.h>

/* A flight is found by its number, which is one of the group's last; its parts are in
 * its room, and its received parts are in its box. */
static void check_flight(const ig_group *group, const ig_flight *flight) {
    assert(flight == &group->flights[flight->id % IG_FLIGHTS] &&
           "a flight is found by its number");
    assert((!flight->is_open || group->flight_count - flight->id - 1 < IG_FLIGHTS) &&
           "an open flight is one of the last");
    assert(flight->pieces <= flight->room && "a flight has room for its pieces");
    assert((!flight->is_there || flight->box) && "received parts are in the box");
    (void)group;
    (void)flight;
}

static ig_status fail_memory(ig_group *group, ig_collective what) {
    return ig_group_error(group, IG_LIMIT, "%s: no memory for an exchange under way",
                          ig_collective_names[what]);
}

static bool reserve_parts(const ig_group *group, ig_flight *flight, uint32_t pieces) {
    size_t world = group->options.world;
    if (pieces > flight->room) {
        free(flight->send);
        flight->room = 0;
        flight->send = calloc(world * pieces, sizeof *flight->send);
        flight->room = flight->send ? pieces : 0;
    }
    if (!flight->coming) {
        flight->coming = calloc(world, sizeof *flight->coming);
    }
    return flight->room && flight->coming;
}

ig_status ig_flight_open(ig_group *group, ig_collective what, uint32_t pieces,
                         ig_flight **out) {
    if (group->has_failed) {
        return ig_group_error(group, IG_INVALID, "%s: the group has failed before",
                              ig_collective_names[what]);
    }
    if (!group->flights) {
        group->flights = calloc(IG_FLIGHTS, sizeof *group->flights);
    }
    if (!group->flights) {
        return fail_memory(group, what);
    }
    ig_flight *flight = &group->flights[group->flight_count % IG_FLIGHTS];
    if (flight->is_open) {
        return ig_group_error(group, IG_LIMIT,
                              "%s: %d exchanges are under way, no more are possible",
                              ig_collective_names[what], IG_FLIGHTS);
    }
    if (!reserve_parts(group, flight, pieces)) {
        return fail_memory(group, what);
    }
    flight->what = what;
    flight->pieces = pieces;
    flight->id = group->flight_count;
    check_flight(group, flight);
    *out = flight;
    return IG_OK;
}

ig_flight *ig_flight_at(ig_group *group, int64_t id, uint32_t pieces) {
    if (!group->flights || id < 0 || id > UINT32_MAX) {
        return NULL;
    }
    ig_flight *flight = &group->flights[id % IG_FLIGHTS];
    bool is_one = flight->is_open && flight->id == (uint32_t)id &&
                  flight->pieces == pieces;
    return is_one ? flight : NULL;
}

/* ---- in one piece ---- */

ig_status ig_flight_make_box(ig_group *group, ig_flight *flight) {
    size_t bytes = 0;
    for (uint32_t r = 0; r < group->options.world; r++) {
        if (!ig_add_size(bytes, flight->coming[r], &bytes)) {
            return fail_memory(group, flight->what);
        }
    }
    if (!flight->box || bytes > flight->box_room) {
        free(flight->box);
        flight->box = malloc(bytes ? bytes : 1);
        flight->box_room = flight->box ? bytes : 0;
    }
    return flight->box ? IG_OK : fail_memory(group, flight->what);
}

ig_status ig_flight_exchange(ig_group *group, ig_flight *flight) {
    uint32_t pieces = flight->pieces;
    IG_TRY(ig_flight_make_box(group, flight));
    IG_TRY(ig_group_reserve(group, flight->what, pieces));
    char *at = flight->box;
    for (uint32_t r = 0; r < group->options.world; r++) {
        ig_group_part *parts = group->receive + r * pieces;
        for (uint32_t k = 0; k < pieces; k++) {
            parts[k] = (ig_group_part){ NULL, 0 };
        }
        parts[0] = (ig_group_part){ at, flight->coming[r] };
        at += flight->coming[r];
    }
    ig_parcels all = { pieces, flight->send, group->receive };
    IG_TRY(group->transport->exchange(group, flight->what, &all));
    flight->is_there = true;
    check_flight(group, flight);
    return IG_OK;
}

static void empty_box(const ig_group *group, const ig_flight *flight,
                      const ig_group_part *receive) {
    const char *at = flight->box;
    for (uint32_t r = 0; r < group->options.world; r++) {
        ig_parcel_write(receive + r * flight->pieces, flight->pieces, 0,
                        flight->coming[r], at);
        at += flight->coming[r];
    }
}

/* ---- under way ---- */

static ig_status note_status(ig_group *group, ig_status status) {
    group->has_failed = group->has_failed || status != IG_OK;
    return status;
}

ig_status ig_flight_start(ig_group *group, ig_flight *flight) {
    const ig_transport *transport = group->transport;
    flight->is_open = true;
    flight->is_there = false;
    group->flight_count++;
    check_flight(group, flight);
    return note_status(group, transport->start ? transport->start(group, flight)
                                               : ig_flight_exchange(group, flight));
}

static ig_status check_sizes(ig_group *group, const ig_flight *flight,
                             const ig_group_part *receive) {
    for (uint32_t r = 0; r < group->options.world; r++) {
        size_t bytes = ig_parcel_bytes(receive + r * flight->pieces, flight->pieces);
        if (bytes != flight->coming[r]) {
            return ig_group_error(
                group, IG_INVALID, "%s: %zu bytes of rank %u were to come, not %zu",
                ig_collective_names[flight->what], flight->coming[r], r, bytes);
        }
    }
    return IG_OK;
}

ig_status ig_flight_wait(ig_group *group, ig_flight *flight,
                         const ig_group_part *receive) {
    ig_status status = check_sizes(group, flight, receive);
    if (status == IG_OK && !flight->is_there) {
        status = group->transport->wait(group, flight, receive);
    }
    if (status == IG_OK && flight->is_there) {
        empty_box(group, flight, receive);
    }
    return note_status(group, status);
}

ig_status ig_flight_end(ig_group *group, ig_flight *flight) {
    const ig_transport *transport = group->transport;
    check_flight(group, flight);
    flight->is_open = false;
    return note_status(group, transport->end ? transport->end(group, flight) : IG_OK);
}

void ig_flights_close(ig_group *group) {
    for (uint32_t i = 0; group->flights && i < IG_FLIGHTS; i++) {
        ig_flight *flight = &group->flights[i];
        if (flight->state) {
            group->transport->forget(flight);
        }
        free(flight->send);
        free(flight->coming);
        free(flight->box);
    }
    free(group->flights);
}
