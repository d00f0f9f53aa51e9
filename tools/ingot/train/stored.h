/* Training with tables in stores: --store.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     batch ──► program of ids ──► rows fetched, positions ──► step ──► rows released
 *
 * A table's rows that are in memory, and those of its states, are an ig_dynamic's, and
 * a step changes them there.  An id that the store lacks begins with the row of the
 * model, and states at 0.  stored_end writes the changed rows.
 */
#ifndef IG_TOOLS_INGOT_TRAIN_STORED_H
#define IG_TOOLS_INGOT_TRAIN_STORED_H

#include "tools/ingot/model/trainer.h"
#include "tools/ingot/train/journal.h"

#include <ingot/dynamic.h>
#include <ingot/stored.h>

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
/* The batch is done with its rows. */
void stored_release(stored_rows *s);
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
