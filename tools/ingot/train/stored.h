/* Training with tables in stores: --store.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     batch ──► program of ids ──► rows fetched, positions ──► step ──► rows released
 *
 * A table's rows that are in memory, and those of its states, are an ig_dynamic's, and
 * a step changes them there.  An id that the store lacks begins with the row of the
 * model, and states at 0.  stored_end writes the changed rows.
 *
 * While a step runs, a thread fetches the rows of the batch that follows:
 *
 *     stored_fetch ─▶ stored_keep ─▶ (next batch read) ─▶ stored_begin_ahead ─▶ step
 *         ▲                                                                      │
 *         └──────────────────────── stored_release ◀────────────────────────────┘
 */
#ifndef IG_TOOLS_INGOT_TRAIN_STORED_H
#define IG_TOOLS_INGOT_TRAIN_STORED_H

#include "tools/ingot/model/trainer.h"
#include "tools/ingot/train/journal.h"

#include <ingot/dynamic.h>
#include <ingot/stored.h>

#include <pthread.h>

typedef struct stored_table {
    const ig_stored_table *of;
    const char *url;
    ig_store *store; /* of several tables, where they have one URL */
    bool owns_store;
    ig_dynamic *rows;
    const char *initial; /* rows of the model */
    size_t row_bytes;
    char *names[STORED_STATES]; /* of the step's inputs */
    int64_t *ids, *found;       /* of all look-ups of a batch, and their rows */
    size_t id_count, id_room;
} stored_table;

/* The batch that follows the one at hand. */
typedef struct stored_ahead {
    pthread_t thread;
    bool is_kept;        /* `inputs` are there */
    bool is_running;     /* the thread */
    bool is_fetched;     /* its rows are there for the next stored_fetch */
    bool has_no_room;    /* memory has no room for the rows of two batches */
    ig_argument *inputs; /* of the trainer's data */
    size_t input_count;
    void **memory; /* copies of the inputs of the batch at hand */
    size_t *rooms; /* bytes of these */
    int64_t (*dims)[IG_MAX_RANK];
    int64_t count; /* batches whose rows were fetched so */
} stored_ahead;

typedef struct stored_rows {
    const settings *given;
    ig_context *context;
    ig_module *model;  /* which keeps the initial rows */
    ig_module *ids_of; /* computes the ids of each look-up */
    ig_program *program;
    ig_session *session;
    const ig_stored *stored;
    stored_table *tables;
    ig_view *ids;        /* of each look-up */
    int64_t **positions; /* the same */
    ig_trainer_place *places;
    size_t place_count;
    text_list optimizers;  /* by the names that the step has */
    char **texts;          /* of these */
    uint32_t time;         /* of the last batch */
    journal log;           /* of --checkpoint */
    trainer_values keeper; /* for trainer_open */
    stored_ahead ahead;
} stored_rows;

/* Takes the tables of --store out of the module; `how` gets optimizers of their rows.
 * False after a message. */
bool stored_open(stored_rows *s, const settings *given, ig_context *context,
                 ig_module *module, ig_train_options *how);
/* Before the module is closed. */
void stored_close(stored_rows *s);
/* For the batch whose inputs are set: has its rows fetched, and sets the positions of
 * these.  False after a message. */
bool stored_fetch(stored_rows *s, trainer *t);
/* Copies the inputs of the batch at hand, so that the next one may be read into the
 * trainer; false: it does not look ahead. */
bool stored_keep(stored_rows *s, trainer *t);
/* The trainer has the kept inputs again.  With `has_next` those that it had are the
 * next batch's, whose rows a thread begins to fetch; where it fails, the next
 * stored_fetch does it, and tells. */
void stored_begin_ahead(stored_rows *s, trainer *t, bool has_next);
/* The batch is done with its rows; the trainer has the inputs of the next batch, where
 * it was read. */
void stored_release(stored_rows *s, trainer *t);
/* Behind the checkpoint of step `step`, or at the begin: the store gets the rows that
 * it had there.  False after a message. */
bool stored_resume(stored_rows *s, int64_t step);
/* Has a training begun here that came to no checkpoint? */
bool stored_has_begun(const stored_rows *s, int64_t step);
/* Before a checkpoint: writes the rows that steps have changed.  False after a
 * message. */
bool stored_save(stored_rows *s, int64_t step);
/* Behind it. */
void stored_settle(const stored_rows *s);
/* After the last step: writes all rows; later batches only read.  False after a
 * message. */
bool stored_end(stored_rows *s);

#endif
