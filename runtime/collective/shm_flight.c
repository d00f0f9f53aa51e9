/* shm: exchanges under way (flight.h).
 * SPDX-License-Identifier: Apache-2.0
 *
 *     rank 0   start ── computes ── wait: takes from 1 ── … ── end: has 1 taken?
 *     rank 1        start ── wait: takes from 0 ── computes ── … ── end
 *
 * A start is a notice in the segment, and the rank's number of flights counted up; who
 * waits takes its parts from the memory of all others, and counts them.  So a rank
 * waits only where another has not come to the start yet.  Ranks count alike, since all
 * start the same flights; they may take them in an order of their own, so that the end
 * looks for as many as were started.
 */
#include "runtime/collective/shm.h"

#include "base/status.h"

ig_status ig_shm_start(ig_group *group, ig_flight *flight) {
    ig_shm *s = group->state;
    uint32_t own = group->options.rank;
    if (!s->is_direct) {
        return ig_flight_exchange(group, flight);
    }
    ig_shm_notice *notice = ig_shm_notice_of(group, own, flight->id);
    atomic_store(&notice->what, (uint32_t)flight->what);
    atomic_store(&notice->pieces, flight->pieces);
    atomic_store(&notice->parts, (uint64_t)(uintptr_t)flight->send);
    ig_shm_tell(s, own, &s->own->started, flight->id + 1);
    return IG_OK;
}

/* Does rank `from` make this call, with as many lists? */
static ig_status check_notice(ig_group *group, const ig_flight *flight, uint32_t from) {
    ig_shm_notice *notice = ig_shm_notice_of(group, from, flight->id);
    uint32_t what = atomic_load(&notice->what), pieces = atomic_load(&notice->pieces);
    if (what == (uint32_t)flight->what && pieces == flight->pieces) {
        return IG_OK;
    }
    return ig_group_error(
        group, IG_INVALID, "rank %u calls %s of %u lists, and rank %u %s of %u",
        group->options.rank, ig_collective_names[flight->what], flight->pieces, from,
        what < IG_COLLECTIVE_COUNT ? ig_collective_names[what] : "something else",
        pieces);
}

static ig_status read_parts(ig_group *group, const ig_flight *flight, uint32_t from,
                            const ig_group_part *to) {
    ig_shm_notice *notice = ig_shm_notice_of(group, from, flight->id);
    uint32_t own = group->options.rank, pieces = flight->pieces;
    const ig_group_part *parts =
        from == own
            ? flight->send + own * pieces
            : ig_shm_find_parts(group, from, atomic_load(&notice->parts), pieces);
    if (!parts) {
        return ig_shm_fail_read(group, flight->what, from);
    }
    size_t bytes = ig_parcel_bytes(parts, pieces);
    if (bytes != flight->coming[from]) {
        return ig_group_error(
            group, IG_INVALID, "%s: rank %u sends %zu bytes, and rank %u expects %zu",
            ig_collective_names[flight->what], from, bytes, own, flight->coming[from]);
    }
    return ig_shm_copy_parts(group->state, from, parts, to, bytes)
               ? IG_OK
               : ig_shm_fail_read(group, flight->what, from);
}

static ig_status take_parcel(ig_group *group, const ig_flight *flight, uint32_t from,
                             const ig_group_part *to, int64_t deadline) {
    ig_shm_slot *other = ig_shm_slot_of(group->state, from);
    if (from == group->options.rank) {
        return read_parts(group, flight, from, to);
    }
    IG_TRY(ig_shm_wait(group, flight->what, from, &other->started, flight->id + 1,
                       deadline));
    IG_TRY(check_notice(group, flight, from));
    IG_TRY(ig_shm_begin_read(group, flight->what, from));
    ig_status status = read_parts(group, flight, from, to);
    ig_status end = ig_shm_end_read(group, flight->what, from);
    return status == IG_OK ? end : status;
}

ig_status ig_shm_take(ig_group *group, ig_flight *flight,
                      const ig_group_part *receive) {
    ig_shm *s = group->state;
    uint32_t own = group->options.rank, world = group->options.world;
    int64_t deadline = ig_shm_deadline(group);
    for (uint32_t i = 0; i < world; i++) {
        uint32_t from = (own + i) % world; /* not all from the same one at once */
        IG_TRY(take_parcel(group, flight, from, receive + from * flight->pieces,
                           deadline));
    }
    ig_shm_tell(s, own, &s->own->taken, atomic_load(&s->own->taken) + 1);
    return IG_OK;
}

ig_status ig_shm_end(ig_group *group, ig_flight *flight) {
    ig_shm *s = group->state;
    int64_t deadline = ig_shm_deadline(group);
    for (uint32_t r = 0; s->is_direct && r < group->options.world; r++) {
        ig_shm_slot *other = ig_shm_slot_of(s, r);
        if (r != group->options.rank) {
            IG_TRY(ig_shm_wait(group, flight->what, r, &other->taken,
                               group->flight_count, deadline));
        }
    }
    return IG_OK;
}
