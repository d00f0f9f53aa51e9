/* Ingot, dynamic tables: a part of an embedding table in memory, the rest in a store.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     ig_dynamic_options options = { .size = sizeof options, .name = "users",
 *                                    .row_count = 1 << 20, .row_bytes = 64,
 *                                    .state_count = 3 };
 *     ig_dynamic_create(store, &options, &call, &table);
 *     float *weights = ig_dynamic_data(table, 0);
 *     for (uint32_t step = 1; has_batch(); step++) {
 *         ig_dynamic_fetch(table, &call, step, ids, count, rows);
 *         train(weights, rows, count);              // reads and writes those rows
 *         ig_dynamic_release(table, step);
 *     }
 *     ig_dynamic_save(table, &call);
 *
 * A fetch gives each global id of a batch a row, reads rows that are not in memory from
 * the store, and writes rows of the least used ids back when room is short.  The rows
 * of a batch stay where they are until it is released, so fetches may run ahead of the
 * computation, in another thread.
 * Ownership: the table keeps the store open for as long as it lives: close the table
 * first.  Memory of the rows is the table's.
 * Errors: a failed fetch changes nothing that can be seen: no row is lost, no id has a
 * row without its content.
 * Threads: fetch and save from one thread at a time; release from any.
 */
#ifndef INGOT_DYNAMIC_H
#define INGOT_DYNAMIC_H

#include <ingot/store.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ig_dynamic ig_dynamic;

/* Extensible: set size, without which it is refused; other zero
 * fields mean the default. */
typedef struct ig_dynamic_options {
    size_t size;
    const char *name;     /* the table's, in the store */
    int64_t row_count;    /* rows in memory: at least the ids of all batches that are
                           * fetched and not released */
    size_t row_bytes;     /* of one state of one row */
    uint32_t state_count; /* the weight and the optimiser's states (1) */
    ig_id_map_kind kind;
    uint32_t frequency; /* of a new id; 0: 5 (ig_id_map_create) */
    int64_t evict_rows; /* rows that are freed at a time; 0: half of all */
    int is_read_only;   /* rows are never written to the store */
    /* Fills the weight of an id that the store does not have; NULL: zeros.  States are
     * zeros. */
    void (*fill)(void *user, int64_t id, void *weight);
    void *fill_user;
    /* Rows before all others, 0 … spare_rows - 1, that no id ever has: zeros to begin
     * with, and the caller's to fill.  They come on top of row_count. */
    int64_t spare_rows;
    /* Bytes of a row of each state, where optimisers keep less (or more) than a weight
     * a weight; NULL: row_bytes of all. */
    const size_t *state_bytes;
    /* The caller's memory of each state, in place of the table's own: spare rows first;
     * it must outlive the table.  NULL: the table's own. */
    void *const *memory;
    /* Of several ranks that make the same calls in the same order, with the same ids,
     * each has memory of a part of the rows, and moves it alone: rows shard_begin …
     * shard_begin + shard_rows - 1.  0 rows: all. */
    int64_t shard_begin, shard_rows;
    int keeps_absent;   /* an id that the store does not have keeps the bytes of its
                       * row (the caller's), in place of zeros or `fill` */
    int64_t refresh_ns; /* rows that were read so long ago are due to be read again
                         * (ig_dynamic_refresh); 0: never */
} ig_dynamic_options;

IG_API IG_MUST_USE ig_status ig_dynamic_create(ig_store *store,
                                               const ig_dynamic_options *options,
                                               const ig_store_call *call,
                                               ig_dynamic **out_table);
/* Rows that were not saved are lost. */
IG_API void ig_dynamic_destroy(ig_dynamic *table);

/* The rows of `state`: spare_rows + row_count of row_bytes each, aligned to 64 bytes;
 * NULL: no such state. */
IG_API void *ig_dynamic_data(ig_dynamic *table, uint32_t state);

/* Makes sure that all ids are in memory and puts their rows into rows[0 … count).
 * `time` must not fall and be later than all released times, at most IG_ID_MAP_TIME.
 * LIMIT: batches that are not released need all rows. */
IG_API IG_MUST_USE ig_status ig_dynamic_fetch(ig_dynamic *table,
                                              const ig_store_call *call, uint32_t time,
                                              const int64_t *ids, size_t count,
                                              int64_t *rows);
/* The rows that the last fetch read from no store, because it lacks their ids; there
 * until the next call. */
IG_API const ig_id_row *ig_dynamic_filled(const ig_dynamic *table, size_t *out_count);
/* The same without the store: ids that are not in memory get row -1.  For a call whose
 * time is up. */
IG_API IG_MUST_USE ig_status ig_dynamic_find(ig_dynamic *table,
                                             const ig_store_call *call, uint32_t time,
                                             const int64_t *ids, size_t count,
                                             int64_t *rows);
/* Reads those of a batch's rows again that are due, and that no earlier batch still
 * uses; `ids` and `rows` are those of its fetch, or find.  Where the store does not
 * answer, the rows stay as they are and nothing is asked of it for a while.  Returns
 * how many of the batch's ids have rows that were due and are not fresh. */
IG_API size_t ig_dynamic_refresh(ig_dynamic *table, const ig_store_call *call,
                                 uint32_t time, const int64_t *ids, size_t count,
                                 const int64_t *rows);
/* Batches up to `time` are done with their rows. */
IG_API void ig_dynamic_release(ig_dynamic *table, uint32_t time);
/* Writes rows that were used since the last save to the store, and flushes it.  Nobody
 * may write to the rows meanwhile. */
IG_API IG_MUST_USE ig_status ig_dynamic_save(ig_dynamic *table,
                                             const ig_store_call *call);

/* Halves all times so far (ig_id_map_halve_times); later
 * ones go on from there.  Every batch must be released. */
IG_API void ig_dynamic_halve_times(ig_dynamic *table);

/* Counts of a table's work so far. */
typedef struct ig_dynamic_counts {
    uint64_t ids, hits, fetched, filled, written;
} ig_dynamic_counts;
IG_API ig_dynamic_counts ig_dynamic_describe(const ig_dynamic *table);

#ifdef __cplusplus
}
#endif
#endif
