/* Criteo's click logs: lines of a label, 13 counts and 26 categories.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     1 <tab> 5 <tab> … <tab> 68fd1e64 <tab> …      40 fields; 39 of them may be empty
 *
 * A count x becomes log(1 + x), a negative or empty one 0.  A category is a hexadecimal
 * number; its id is the rest of the division by the rows of its table, 0 of an empty
 * one.
 */
#ifndef IG_TOOLS_INGOT_TRAIN_CRITEO_H
#define IG_TOOLS_INGOT_TRAIN_CRITEO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { CRITEO_COUNTS = 13, CRITEO_IDS = 26 };

typedef struct criteo_row {
    float label, dense[CRITEO_COUNTS];
    int64_t ids[CRITEO_IDS];
} criteo_row;

/* Reads a line of `size` bytes without its end; `rows` are those of the tables.  NULL,
 * or a phrase that says why it is none. */
const char *criteo_parse(const char *line, size_t size, const int64_t *rows,
                         criteo_row *out);

/* "N" for all tables, or 26 numbers with commas between them. */
bool criteo_read_rows(const char *text, int64_t *out_rows);

typedef struct criteo {
    const char *path;
    FILE *file;
    int64_t rows[CRITEO_IDS];
    char *line;
    size_t room;
    int64_t line_index;     /* of the line read last */
    size_t count, batch;    /* rows read; rows that there is room for */
    float *labels, *dense;  /* [batch], [batch][13] */
    int64_t *ids, *columns; /* [batch][26], [26][count] */
    int64_t *lengths;       /* [26 * batch]: 1 */
} criteo;

/* False after a message. */
bool criteo_open(criteo *c, const char *path, const int64_t *rows, size_t batch);
/* Reads the next c->count rows, `batch` of them at the most.  False after a
 * message. */
bool criteo_next(criteo *c);
void criteo_close(criteo *c);

#endif
