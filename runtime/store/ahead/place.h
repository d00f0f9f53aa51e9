/* From the ids of a look-up to the ids that are fetched, and from their rows to
 * positions.  SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_RUNTIME_STORE_AHEAD_PLACE_H
#define IG_RUNTIME_STORE_AHEAD_PLACE_H

#include "ingot/lookahead.h"
#include "runtime/stored_format.h"

/* Rows of a table in memory that no id has. */
enum {
    IG_SPARE_PADDING, /* left out */
    IG_SPARE_MISSING, /* of ids whose row did not come */
    IG_SPARE_ROWS
};

/* One look-up of one batch. */
typedef struct ig_placing {
    const ig_stored_lookup_record *how;
    int64_t rows; /* of the whole table */
    const ig_view *ids;
    size_t count;
    int64_t first_wrong; /* an id that is out of range; valid where is_wrong */
    bool is_wrong;
} ig_placing;

/* Writes the rows that the ids mean, one after the other, to `wanted`, and for each id
 * which of them it is (counted from `base`), or IG_ROW_SKIPPED and the like, which have
 * a position at once.  Returns how many are wanted. */
size_t ig_placing_ids(ig_placing *placing, int64_t base, int64_t *wanted,
                      int64_t *positions);

/* Positions, of the ids' type, at `out`: rows[places[i]], and the others.
 * Rows below 0 did not come; returns how many. */
size_t ig_placing_rows(const ig_placing *placing, const int64_t *positions,
                       const int64_t *rows, void *out);

#endif
