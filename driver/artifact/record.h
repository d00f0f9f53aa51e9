/* The facts about the whole model in an artifact of one rank, so that the artifacts of
 * all ranks can be put together again (join.c).
 * SPDX-License-Identifier: Apache-2.0
 *
 * Entries: "shards.json" gives the rows and columns of tables and their positions in
 * the entry of weights; rank 0's artifact also has "whole.ig", the text of the model as
 * it was before it was divided, and "whole.weights", the constants of the text except
 * tables, one after the other.  The text's constants are in one file, SHARD_FILE, which
 * is made when the artifacts are joined: each at a multiple of 64, in the module's
 * order.
 */
#ifndef IG_DRIVER_ARTIFACT_RECORD_H
#define IG_DRIVER_ARTIFACT_RECORD_H

#include "driver/artifact/write.h"
#include "ir/shard.h"
#include "ir/tensor/row.h"

#define SHARD_ENTRY "shards.json"
#define SHARD_ENTRY_TEXT "whole.ig"
#define SHARD_ENTRY_WEIGHTS "whole.weights"
#define SHARD_FILE "@whole.weights@" /* until it has a name */

enum { SHARD_VERSION = 1, SHARD_ENTRIES = 3, SHARD_ALIGN = 64 };

/* Rows and columns of a table in one constant of the rank's program. */
typedef struct shard_piece {
    const char *constant;
    int64_t base; /* first row there */
    int64_t row, rows, column, columns;
} shard_piece;

typedef struct shard_held {
    const ig_weight *weight; /* the whole table */
    int64_t offset;          /* in the file */
    int64_t rows, dim;
    IG_VEC(shard_piece) pieces;
} shard_held;

typedef struct shard_record {
    int64_t world, rank, of;
    int64_t bytes; /* of the file */
    IG_VEC(shard_held) tables;
    IG_VEC(ig_artifact_span) dense; /* of rank 0: offset in the file */
    ig_str text;                    /* of rank 0 */
    const char *made_of;            /* the plan's words on its origin, or NULL */
} shard_record;

/* A record of the module as it is, before its tables are marked: `tables` are those
 * that bags look up.  In the module's arena. */
shard_record *shard_record_begin(ig_module *module, ig_value *const *tables,
                                 size_t count, int64_t world, int64_t rank);
/* The record that the module was given; NULL: none. */
void shard_record_keep(ig_module *module, const shard_record *record);
const shard_record *shard_record_of(const ig_module *module);
/* Once they are marked, and not yet divided: what this rank has. */
ig_status shard_record_pieces(shard_record *record, ig_module *module);
/* The entries, by the constants that the artifact has; the number of them. */
size_t shard_record_entries(const shard_record *record, const ig_artifact_writer *w,
                            ig_artifact_entry out[SHARD_ENTRIES]);
/* The part of names that tells the entries of two records apart. */
void shard_record_put_key(const shard_record *record, ig_writer *key);

#endif
