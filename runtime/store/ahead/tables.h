/* Tables of an artifact whose rows are in stores, and the rows in memory.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_RUNTIME_STORE_AHEAD_TABLES_H
#define IG_RUNTIME_STORE_AHEAD_TABLES_H

#include "ingot/dynamic.h"
#include "ingot/lookahead.h"
#include "runtime/store/ahead/record.h"

typedef struct ig_ahead_table {
    const char *name, *url;  /* borrowed */
    int64_t rows, row_count; /* of the whole table; in memory */
    size_t row_bytes;
    void *missing;       /* row_bytes */
    bool may_be_lacking; /* the caller named a row for ids that the store lacks */
    bool is_known;       /* its store is known to have rows of it */
    ig_store *store;
    bool owns_store; /* tables of one URL share a store */
    ig_dynamic *rows_of;
    ig_view view; /* of the rows in memory */
} ig_ahead_table;

typedef struct ig_ahead_tables {
    ig_ahead_table *items;
    size_t count;
} ig_ahead_tables;

/* Opens every table as the artifact and the options say; opened tables are in `out`
 * also after an error. */
ig_status ig_ahead_tables_open(const ig_stored_record *record,
                               const ig_lookahead_options *options,
                               ig_ahead_tables *out);
/* Where no row of the table was ever found: INVALID if its store has none, unless the
 * caller named a row for missing ones. */
ig_status ig_ahead_table_check(ig_ahead_table *table, const ig_store_call *call);
void ig_ahead_tables_close(ig_ahead_tables *tables);

#endif
