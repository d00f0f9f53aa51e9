/* Ingot, tables of a model outside of it: rows come with each call.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     const char *names[] = { "users" };
 *     ig_module *ids = NULL;
 *     const ig_stored *stored;
 *     ig_module_store(module, names, 1, NULL, &ids, &stored);
 *
 * The model becomes two.  `ids` computes from the model's inputs the ids of each
 * look-up into a stored table, and nothing else; `module` takes rows and positions in
 * place of the tables.  A call runs the program of `ids`, has each distinct id fetched
 * (ig_dynamic_fetch), and runs the program of `module` on the rows that are in memory
 * and on the position of each id's row there.  Sums are taken in the same order from
 * the same rows: answers are bit for bit those of the model.
 */
#ifndef INGOT_STORED_H
#define INGOT_STORED_H

#include <ingot/ingot.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Ids below 0. */
typedef enum ig_stored_negative {
    IG_STORED_WRAP,  /* count from the end of the table */
    IG_STORED_WRONG, /* are out of range */
    IG_STORED_SKIP   /* -1 is no id and stays -1; others are out of range */
} ig_stored_negative;

/* Ids out of range. */
typedef enum ig_stored_range {
    IG_STORED_ERROR, /* fail the call: a position that is not a row does */
    IG_STORED_CLAMP, /* mean the nearest row */
    IG_STORED_FIRST  /* mean row 0 */
} ig_stored_range;

typedef struct ig_stored_table {
    const char *name;  /* the weight's */
    const char *dtype; /* "f32" */
    int64_t rows, dim; /* of the whole table */
    size_t named_by;   /* which of the names it answers to */
} ig_stored_table;

typedef struct ig_stored_lookup {
    size_t table;
    ig_stored_negative negative;
    ig_stored_range range;
    int64_t padding; /* the row that is left out; INT64_MIN: none */
} ig_stored_lookup;

/* Output k of `ids` has the ids of look-up k.  Inputs of `module`: first `input_count`
 * that both have, then rows of each table, dtype[any number, dim], then of each look-up
 * the positions in them, shaped and typed as its ids.  In a look-up with padding
 * position 0 is the row that is left out, so that row 0 must be a spare one there. */
typedef struct ig_stored {
    size_t input_count, table_count, lookup_count;
    const ig_stored_table *tables;
    const ig_stored_lookup *lookups;
} ig_stored;

/* Takes the tables of these names (of weights, or a part of one between dots, or
 * patterns with * and ? of all other tables that are looked up) out of the module.
 * Look-ups become bags; of `options` (may be NULL) those about bags count.  Both
 * modules take flat inputs and give flat results.  *out_ids is the caller's to close,
 * before the context; *out_stored is the module's.  After an error the module is to be
 * closed.  Errors: IG_INVALID for a name of no table; IG_UNSUPPORTED where a table is
 * used by more than look-ups at the top of the graph, or the extents of its ids are
 * known only when the model runs. */
IG_API IG_MUST_USE ig_status ig_module_store(ig_module *module,
                                             const char *const *names, size_t count,
                                             const ig_compile_options *options,
                                             ig_module **out_ids,
                                             const ig_stored **out_stored);

/* The store of a table's rows; `url` as ig_store_open takes it. */
typedef struct ig_stored_place {
    const char *table; /* a name or pattern, as above */
    const char *url;   /* is written into the artifact, with any password in it */
} ig_stored_place;

/* The same, compiled into one artifact, which ingot/lookahead.h runs: both programs,
 * and the stores of the tables.  Errors as of ig_module_store and ig_compile_file;
 * `emit` and `isolate` are not supported. */
IG_API IG_MUST_USE ig_status ig_compile_stored(ig_module *module,
                                               const ig_stored_place *places,
                                               size_t count, const char *path,
                                               const ig_compile_options *options);

#ifdef __cplusplus
}
#endif
#endif
