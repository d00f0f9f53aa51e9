/* Exchanges under way: they begin at one step of a program, and other steps run before
 * the received parts are needed.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     start   the others may take the sent parts, which stay unchanged until end
 *     wait    this rank's received parts are there
 *     end     all others have taken the parts that this rank sent
 *
 * All ranks start the same ones in the same order, other exchanges between them; each
 * waits for them in an order of its own, as it needs them.  Nobody waits at a start,
 * so ranks need not be at the same step, and nobody but their own threads works on it:
 *
 *     shm    a start publishes the addresses of the parts; who waits takes them from
 *            there, one copy, and says so; the end looks whether all have
 *     mpi    a start posts all messages, of which nothing is waited for
 *     other transports, and ranks of shm that cannot read each other's memory, exchange
 *     at the start
 *
 * Room of a flight stays for the next ones: nothing is allocated once it is enough.
 */
#ifndef IG_RUNTIME_COLLECTIVE_FLIGHT_H
#define IG_RUNTIME_COLLECTIVE_FLIGHT_H

#include "runtime/collective/transport.h"

enum { IG_FLIGHTS = 128 }; /* of a rank, at once */

struct ig_flight {
    ig_collective what;
    bool is_open;  /* started, and not ended */
    bool is_there; /* received parts are in the box */
    uint32_t id;   /* of those that the group has started */
    uint32_t pieces, room;
    ig_group_part *send; /* of rank r: send[r * pieces …] */
    size_t *coming;      /* bytes from each rank */
    char *box;           /* the received parts, rank after rank */
    size_t box_room;
    void *state; /* the transport's */
};

/* The next flight, with room for so many pieces a rank: `send` and `coming` are for the
 * caller to fill. */
ig_status ig_flight_open(ig_group *group, ig_collective what, uint32_t pieces,
                         ig_flight **out);
ig_status ig_flight_start(ig_group *group, ig_flight *flight);
/* The flight of that number with so many pieces, which has been started; NULL: there is
 * none. */
ig_flight *ig_flight_at(ig_group *group, int64_t id, uint32_t pieces);
/* receive[r * pieces …] get the parts from rank r. */
ig_status ig_flight_wait(ig_group *group, ig_flight *flight,
                         const ig_group_part *receive);
ig_status ig_flight_end(ig_group *group, ig_flight *flight);
void ig_flights_close(ig_group *group);

/* ---- for transports ---- */

/* Room for received parts, in flight->box. */
ig_status ig_flight_make_box(ig_group *group, ig_flight *flight);
/* Exchanges it now. */
ig_status ig_flight_exchange(ig_group *group, ig_flight *flight);

#endif
