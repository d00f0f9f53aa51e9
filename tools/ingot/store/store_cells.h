/* Declarations that the parts of ingot store share: the job at hand, and how cells are
 * shown.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_STORE_STORE_CELLS_H
#define IG_TOOLS_INGOT_STORE_STORE_CELLS_H

#include "tools/ingot/cli/console.h"

#include <ingot/store.h>

typedef struct store_job {
    const settings *given;
    ig_store *store;
    uint32_t state;
    ig_store_call call; /* of the call at hand */
    message why;
} store_job;

/* While cells are got. */
typedef struct get_state {
    const settings *given;
    ig_store_cells cells;
    size_t shown, absent;
} get_state;

/* Opens a store, after the plug-in of --plugin; 0, or the exit status.  Who only reads
 * must not make one. */
int store_open(store_job *job, const char *url, bool must_exist, ig_store **out_store);
/* The settings of a call that begins now. */
const ig_store_call *store_call(store_job *job);

/* Bytes of a value: numbers with commas between them (float32), or those of @FILE.
 * free() them. */
int store_read_value(const char *text, void **out_data, uint64_t *out_bytes);
void store_begin_list(const settings *given);
void store_end_list(const settings *given);
/* A line, or an object of the list; without data: absent. */
void store_show_cell(const settings *given, const ig_store_cell *cell, bool is_next);

int store_scan_cells(store_job *job);
int store_copy_cells(store_job *job);
int store_load_table(store_job *job);
int store_time_calls(store_job *job);

#endif
