/* A look-ahead: the queue of batches, and what both threads work on.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     submit ──► queued ──► fetched, by the look-ahead's thread ──► computed, in wait
 *
 * A batch is in one slot of a ring all the way.  The mutex guards the three numbers and
 * each slot's `is_fetched`; all else of a slot belongs to whoever the batch is with.
 */
#ifndef IG_RUNTIME_STORE_AHEAD_AHEAD_H
#define IG_RUNTIME_STORE_AHEAD_AHEAD_H

#include "runtime/store/ahead/place.h"
#include "runtime/store/ahead/tables.h"

#include <pthread.h>

enum { IG_AHEAD_MESSAGE_BYTES = 512 };

/* Memory that grows with the largest batch so far. */
typedef struct ig_ahead_memory {
    void *data;
    size_t size;
} ig_ahead_memory;

typedef struct ig_ahead_slot {
    ig_view
        *inputs; /* the batch's, tables' rows, positions: as the program takes them */
    ig_ahead_memory *positions; /* of each look-up */
    ig_lookahead_call call;
    ig_lookahead_answer answer;
    ig_status status; /* of the fetch */
    char message[IG_AHEAD_MESSAGE_BYTES];
    char wrong[128]; /* an id that is out of range, in words; "" */
    uint32_t time;
    bool is_fetched;
} ig_ahead_slot;

struct ig_lookahead {
    ig_program *rows_program, *ids_program;
    ig_session *rows_session, *ids_session;
    ig_stored_record record;
    ig_ahead_tables tables;
    char message[IG_AHEAD_MESSAGE_BYTES];

    /* the look-ahead's thread alone */
    ig_view *ids;         /* of each look-up */
    ig_placing *placings; /* of each look-up */
    ig_ahead_memory wanted, rows, slots_of;
    uint32_t time; /* of the batch that was begun last */

    ig_ahead_slot *slots;
    size_t slot_count;
    pthread_mutex_t mutex;
    pthread_cond_t submitted, fetched, computed;
    uint64_t submit_count, fetch_count, wait_count; /* of batches so far */
    uint64_t ids_total, late_total;
    ig_lookahead_facts facts; /* as of the last fetch */
    bool is_ending, has_thread;
    volatile int is_cancelled;
    pthread_t thread;
};

static inline ig_ahead_slot *ig_ahead_slot_of(const ig_lookahead *ahead,
                                              uint64_t index) {
    return &ahead->slots[index % ahead->slot_count];
}

/* The ids of a batch, and their rows: sets the slot's status, message and inputs. */
void ig_ahead_fetch(ig_lookahead *ahead, ig_ahead_slot *slot);

#endif
