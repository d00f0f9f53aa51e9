/* The rows of stores as they were at the last checkpoint.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     checkpoint M ── step: rows before it ─▶ rows-M ── rows leave memory ─▶ store
 *                  ── step …
 *     checkpoint N ── all rows ─▶ store, rows-N begins, checkpoint N, rows-M goes
 *
 * Rows go to the store between checkpoints, when others need their memory.  So each row
 * is written down before the first step that may change it, in the file `rows-M` beside
 * checkpoint M, and put back where training goes on after M.
 */
#ifndef IG_TOOLS_INGOT_TRAIN_JOURNAL_H
#define IG_TOOLS_INGOT_TRAIN_JOURNAL_H

#include "tools/ingot/cli/console.h"

#include <ingot/store.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* A weight and two states of an optimizer. */
enum { STORED_STATES = 3 };

/* A table whose rows are written down. */
typedef struct journal_table {
    const char *name;
    ig_store *store;
    int64_t rows;
    uint32_t state_count;
    size_t state_bytes[STORED_STATES]; /* of a row */
    const char *states[STORED_STATES]; /* memory of the rows */
    uint8_t *written;                  /* a bit a row: it is in the file */
} journal_table;

typedef struct journal {
    const char *folder;
    int64_t base;         /* step of the checkpoint */
    FILE *file;           /* NULL: nothing is written down */
    int64_t size, marked; /* bytes written, and those when the disk last had all */
    journal_table *tables;
    size_t table_count;
} journal;

/* A call of a store that says in `why` what failed. */
ig_store_call call_telling(message *why);

/* Writes down ids[i]'s row in memory, number rows[i], where it is not yet.  False, here
 * and below: after a message. */
bool journal_add(journal *j, size_t table, const int64_t *ids, const int64_t *rows,
                 size_t count);
/* All added rows are on disk when it returns. */
bool journal_sync(journal *j);
/* The store has all rows of step `base`, whose checkpoint is next: a file of its own.
 * Those of others stay, should that checkpoint fail. */
bool journal_begin(journal *j, int64_t base);
/* The checkpoint is there: removes the files of others. */
void journal_settle(const journal *j);
/* Is there a file of that step? */
bool journal_exists(const journal *j, int64_t base);
/* Puts the rows of that file back, where there is one.  Where it is damaged, the store
 * may have got a part of them; the file stays. */
bool journal_undo(const journal *j, int64_t base);
void journal_close(journal *j);

#endif
