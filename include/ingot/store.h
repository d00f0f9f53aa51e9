/* Ingot, stores: rows of embedding tables that live outside of the process.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     char why[256];
 *     ig_store_call call = { .size = sizeof call, .message = why,
 *                            .message_size = sizeof why };
 *     ig_store *store = NULL;
 *     int64_t id = 17;
 *     float row[16] = { 0 };
 *     uint64_t offsets[] = { 0, sizeof row };
 *     ig_store_cells cells = { .size = sizeof cells, .table = "users",
 *                              .ids = &id, .id_count = 1 };
 *     if (ig_store_open("lmdb:///var/lib/rows.mdb", &call, &store) != IG_OK ||
 *         ig_store_push(store, &call, &cells, row, offsets) != IG_OK)
 *         fprintf(stderr, "%s\n", why);
 *     ig_store_close(store);
 *
 * A store keeps cells.  A cell is named by table, global id, column and state, and
 * holds bytes: a row of float32 as a rule.  State 0 is the weight; 1 and up are an
 * optimiser's states of it.  Ownership: a store that an open hands out has exactly one
 * close (NULL is allowed).  Arrays of a request are borrowed until the call returns.
 * Errors: one line of text in call->message; passwords of URLs are never in it.
 * Threads: a store may be used by any number of threads at once.  Every call blocks its
 * thread until its work is done, its deadline has passed, or *call->cancel is not 0.  A
 * store must not be used in a child of fork().
 */
#ifndef INGOT_STORE_H
#define INGOT_STORE_H

#include <stddef.h>
#include <stdint.h>

#include <ingot/id_map.h>
#include <ingot/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ig_store ig_store;

/* How one call is to be made.  Extensible: set size; zero fields mean the default, and
 * NULL for the whole struct means all defaults. */
typedef struct ig_store_call {
    size_t size;
    char *message; /* receives one line when the call fails, or NULL */
    size_t message_size;
    int64_t deadline_ns;        /* of CLOCK_MONOTONIC; 0: none */
    const volatile int *cancel; /* or NULL */
    int must_exist; /* ig_store_open: a store that is not there is an IO error; 0: it is
                     * made where its type can (an LMDB file) */
} ig_store_call;

/* The cells [ids] x [columns] x [states] of one table: cell number
 * (id * column_count + column) * state_count + state.  Extensible: set size. */
typedef struct ig_store_cells {
    size_t size;
    const char *table; /* 1 to IG_STORE_TABLE_BYTES bytes */
    const int64_t *ids;
    size_t id_count;
    const int64_t *columns; /* NULL: one column, number 0 */
    size_t column_count;
    const uint32_t *states; /* NULL: state 0 alone */
    size_t state_count;
} ig_store_cells;

enum { IG_STORE_TABLE_BYTES = 400 };

/* ---- stores ---- */

/* Opens the store that `url` names: "memory://", "lmdb:///PATH", "redis://HOST",
 * "tiered://CELLS/URL", or TYPE://… of a registered plug-in.  Types that Ingot brings
 * are looked for beside this library and in INGOT_STORE_DIR.  INVALID: the URL breaks
 * its grammar; UNSUPPORTED: no such type.  With IG_OK the message is empty, or a
 * warning. */
IG_API IG_MUST_USE ig_status ig_store_open(const char *url, const ig_store_call *call,
                                           ig_store **out_store);
IG_API void ig_store_close(ig_store *store);

/* Receives a cell; data is NULL where the store has none and is valid during the call
 * only.  Calls may come from other threads, also at once (for different cells); all of
 * them have ended when ig_store_pull returns. */
typedef void ig_store_found(void *user, size_t cell, const void *data, size_t bytes);

/* Reads cells.  On an error some may have been given. */
IG_API IG_MUST_USE ig_status ig_store_pull(ig_store *store, const ig_store_call *call,
                                           const ig_store_cells *cells,
                                           ig_store_found *found, void *user);
/* Writes cells: cell n is the bytes offsets[n] up to offsets[n + 1] of data.  When it
 * returns IG_OK the cells are as durable as the store makes them (lmdb: synced to
 * disk).  On an error each cell is whole, old or new. */
IG_API IG_MUST_USE ig_status ig_store_push(ig_store *store, const ig_store_call *call,
                                           const ig_store_cells *cells,
                                           const void *data, const uint64_t *offsets);
/* Removes cells; absent ones are no error. */
IG_API IG_MUST_USE ig_status ig_store_erase(ig_store *store, const ig_store_call *call,
                                            const ig_store_cells *cells);
/* Makes pushed cells durable, where a push alone does not. */
IG_API IG_MUST_USE ig_status ig_store_flush(ig_store *store, const ig_store_call *call);
/* Does the store answer? */
IG_API IG_MUST_USE ig_status ig_store_ping(ig_store *store, const ig_store_call *call);

/* One cell of a scan; all of it is valid during the call only. */
typedef struct ig_store_cell {
    const char *table;
    int64_t id, column;
    uint32_t state;
    const void *data;
    size_t bytes;
} ig_store_cell;

/* Anything but IG_OK ends the scan, which returns it. */
typedef ig_status ig_store_visit(void *user, const ig_store_cell *cell);

/* Gives every cell of `table` (NULL: of all tables) once, in no order that can be
 * relied on.  `visit` must not use the store. */
IG_API IG_MUST_USE ig_status ig_store_scan(ig_store *store, const ig_store_call *call,
                                           const char *table, ig_store_visit *visit,
                                           void *user);

/* ---- plug-ins ---- */

/* Makes the type of a plug-in library known to this process: one that exports
 * ig_store_plugin_v2, or the five symbols of version 1 (below).  A type that is known
 * already is IG_INVALID.  The library stays open until the process ends: its code runs
 * with all rights of the process. */
IG_API IG_MUST_USE ig_status ig_store_register(const char *path,
                                               const ig_store_call *call);

enum { IG_STORE_ABI = 2 };

/* The functions of a plug-in.  Arguments are checked before they arrive: columns and
 * states are never NULL, counts are at least 1 and their product fits size_t, offsets
 * rise.  `call` is never NULL, but may be shorter than today's: look at its size.
 * `store` is the result of open.  NULL for erase, flush and scan: cannot be done. */
typedef struct ig_store_plugin ig_store_plugin;
struct ig_store_plugin {
    size_t size;
    uint32_t abi;     /* IG_STORE_ABI */
    const char *type; /* "lmdb" */
    /* `config` is the text of the URL after "TYPE://". */
    ig_status (*open)(const ig_store_plugin *self, const ig_store_call *call,
                      const char *config, void **out_store);
    void (*close)(void *store);
    ig_status (*pull)(void *store, const ig_store_call *call,
                      const ig_store_cells *cells, ig_store_found *found, void *user);
    ig_status (*push)(void *store, const ig_store_call *call,
                      const ig_store_cells *cells, const void *data,
                      const uint64_t *offsets);
    ig_status (*erase)(void *store, const ig_store_call *call,
                       const ig_store_cells *cells);
    ig_status (*flush)(void *store, const ig_store_call *call);
    ig_status (*ping)(void *store, const ig_store_call *call);
    ig_status (*scan)(void *store, const ig_store_call *call, const char *table,
                      ig_store_visit *visit, void *user);
};

/* The symbol a plug-in of version 2 exports: `const ig_store_plugin *
 * ig_store_plugin_v2(void)`. */
typedef const ig_store_plugin *ig_store_plugin_entry(void);

/* ---- version 1 ---- */

/* The interface of TorchRec's dynamic embedding (contrib/dynamic_embedding, io.h), so
 * that libraries made for it load unchanged: the data symbol `const char *IO_type` and
 * the functions below.  Structs are passed by value; calls return at once, and call
 * back from any thread when done.  It has no statuses: a failure is an absent cell. */
typedef struct ig_store_pull_v1 {
    const char *table_name;
    uint32_t num_cols, num_global_ids;
    const int64_t *col_ids, *global_ids;
    uint32_t num_optimizer_stats; /* states 0, 1 … */
    void *on_complete_context;
    void (*on_global_id_fetched)(void *context, uint32_t offset,
                                 uint32_t optimizer_state, void *data,
                                 uint32_t data_len);
    void (*on_all_fetched)(void *context);
} ig_store_pull_v1;

typedef struct ig_store_push_v1 {
    const char *table_name;
    uint32_t num_cols, num_global_ids;
    const int64_t *col_ids, *global_ids;
    uint32_t num_optimizer_stats;
    const uint32_t *optimizer_stats_ids;
    uint32_t num_offsets; /* cells + 1 */
    const uint64_t *offsets;
    const void *data;
    void *on_complete_context;
    void (*on_push_complete)(void *context);
} ig_store_push_v1;

typedef void *ig_store_initialize_v1(const char *config); /* IO_Initialize */
typedef void ig_store_finalize_v1(void *store);           /* IO_Finalize */
typedef void ig_store_pull_call_v1(void *store, ig_store_pull_v1 pull); /* IO_Pull or
                                                                         * IO_Fetch */
typedef void ig_store_push_call_v1(void *store, ig_store_push_v1 push); /* IO_Push */

#ifdef __cplusplus
}
#endif
#endif
