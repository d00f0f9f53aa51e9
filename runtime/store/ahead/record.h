/* An artifact's description of its tables in stores.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_RUNTIME_STORE_AHEAD_RECORD_H
#define IG_RUNTIME_STORE_AHEAD_RECORD_H

#include "ingot/runtime.h"
#include "runtime/stored_format.h"

/* All of it is in the artifact. */
typedef struct ig_stored_record {
    ig_stored_header header;
    const ig_stored_table_record *tables;
    const ig_stored_lookup_record *lookups;
    const char *texts;
} ig_stored_record;

/* Reads the entry and checks every number in it against the two programs; NULL, or the
 * error.  The hash was compared when the program was opened. */
const char *ig_stored_read(const ig_program *rows, const ig_program *ids,
                           ig_stored_record *out);

#endif
