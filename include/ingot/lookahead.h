/* Ingot, look-ahead: runs models whose tables are in stores (ingot compile --store).
 * SPDX-License-Identifier: Apache-2.0
 *
 *     ig_lookahead_options options = { .size = sizeof options, .message = why,
 *                                      .message_size = sizeof why };
 *     ig_lookahead *ahead = NULL;
 *     if (ig_lookahead_open("model.ingot", &options, &ahead) != IG_OK)
 *         return complain(why);
 *     (void)ig_lookahead_submit(ahead, batch[0].inputs, n, NULL);
 *     for (int i = 0; i < batches; i++) {
 *         if (i + 1 < batches)
 *             (void)ig_lookahead_submit(ahead, batch[i + 1].inputs, n, NULL);
 *         if (ig_lookahead_wait(ahead, outputs, m, NULL) != IG_OK)
 *             fprintf(stderr, "%s\n", ig_lookahead_error(ahead));
 *     }
 *     ig_lookahead_close(ahead);
 *
 * Each table has a part of its rows in memory.  A thread of the look-ahead takes the
 * batches that were submitted, in order: it computes the ids of their look-ups and has
 * the rows that are missing read from the stores, while the caller's thread, in
 * ig_lookahead_wait, computes the batch before.  Rows of a batch stay where they are
 * until its results are there.  Stores are only read.  Ownership: inputs of a batch are
 * borrowed from its submit until its wait returns; results are in the caller's
 * memory, or in the session's until the next wait.  Errors: a batch that fails (a
 * store, a deadline) fails in its wait; later ones are not touched by it.  Threads:
 * submit, wait and close from one thread at a time; ig_lookahead_cancel from any, also
 * from a signal handler.
 */
#ifndef INGOT_LOOKAHEAD_H
#define INGOT_LOOKAHEAD_H

#include <ingot/runtime.h>
#include <ingot/store.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ig_lookahead ig_lookahead;

/* Of the tables that `name` fits (a weight's name, or a pattern with * and ?).  Zero
 * fields mean the artifact's value, or the default. */
typedef struct ig_lookahead_table {
    const char *name;
    const char *url;     /* the store of its rows */
    int64_t row_count;   /* rows in memory: at least the ids of `depth` + 1 batches */
    const void *missing; /* `missing_bytes` bytes: the row of an id that the store does
                          * not have, and of one that is late.  NULL: zeros, and a
                          * batch fails (INVALID) where the store has no row at all of
                          * a table of that name */
    size_t missing_bytes;
} ig_lookahead_table;

/* Extensible: set size, without which it is refused; other zero
 * fields mean the default. */
typedef struct ig_lookahead_options {
    size_t size;
    char *message; /* receives one line when opening fails, or NULL; with IG_OK it is
                    * empty, or a store's warning */
    size_t message_size;
    const char *level; /* of code: ig_program_options */
    const ig_lookahead_table *tables;
    size_t table_count;      /* later ones win */
    size_t memory;           /* bytes for the rows of all tables (256 MiB): each gets as
                            * large a part of its rows as the others */
    uint32_t depth;          /* batches that are fetched ahead at most (2) */
    int threads;             /* of the computation, the caller's among them (1) */
    ig_thread_pool *pool;    /* or one of the caller's */
    int64_t open_ns;         /* to open the stores in; 0: no limit */
    int skips_weights_check; /* constants are not compared with their hashes */
    int64_t refresh_ns;      /* rows that were read so long ago are read again when they
                              * are used; where the store does not answer they stay as
                              * they are (0: never) */
} ig_lookahead_options;

/* Opens an artifact that ig_compile_stored made, and its stores, of which none is made:
 * one that is not there is IG_IO.  IG_UNSUPPORTED: its
 * tables are its own; IG_INVALID: damaged. */
IG_API IG_MUST_USE ig_status ig_lookahead_open(const char *path,
                                               const ig_lookahead_options *options,
                                               ig_lookahead **out_ahead);
/* Ends the batch that is being fetched, and drops those that were not waited for. */
IG_API void ig_lookahead_close(ig_lookahead *ahead);

/* Inputs of a batch: the first so many of the program's; its outputs are the
 * program's. */
IG_API size_t ig_lookahead_input_count(const ig_lookahead *ahead);
IG_API const ig_program *ig_lookahead_program(const ig_lookahead *ahead);

/* The meaning of an id that is not a row: it stays -1 (skipped), is left out
 * (padding), or is out of range. */
enum {
    IG_ROW_SKIPPED = -1,
    IG_ROW_PADDING = -2,
    IG_ROW_BELOW = -3,
    IG_ROW_BEYOND = -4
};
/* The row of a table of `rows` rows that an id means, or one of these, for whoever has
 * rows fetched himself; `negative`, `range` and `padding` are those of
 * ig_stored_lookup (ingot/stored.h). */
IG_API int64_t ig_lookahead_row(int negative, int range, int64_t padding, int64_t rows,
                                int64_t id);

/* How one batch is to be served.  Extensible: set size. */
typedef struct ig_lookahead_call {
    size_t size;
    int64_t deadline_ns; /* of CLOCK_MONOTONIC, for the rows to be there; 0: none */
    int accepts_missing; /* rows that are late, or that a failing store does not give,
                          * are the `missing` one; 0: such a batch fails */
} ig_lookahead_call;

/* Queues a batch.  Waits for no store: only for a place in the queue, which there is
 * where at most `depth` batches were submitted and not waited for; LIMIT: there is
 * none. */
IG_API IG_MUST_USE ig_status ig_lookahead_submit(ig_lookahead *ahead,
                                                 const ig_view *inputs,
                                                 size_t input_count,
                                                 const ig_lookahead_call *call);

/* What became of a batch; times are of CLOCK_MONOTONIC, in ns.  Set size. */
typedef struct ig_lookahead_answer {
    size_t size;
    size_t ids, absent, late; /* look-ups; of ids the stores lack; `missing` for other
                               * reasons */
    int64_t submitted, fetch_begin, fetch_end, wait_begin, run_begin, run_end;
    size_t stale; /* look-ups whose rows are older than refresh_ns */
} ig_lookahead_answer;

/* Computes the batch that was submitted first of those that were not waited for, once
 * its rows are there.  Outputs as of ig_session_run.  INVALID also: no batch was
 * submitted.  `answer` may be NULL. */
IG_API IG_MUST_USE ig_status ig_lookahead_wait(ig_lookahead *ahead, ig_view *outputs,
                                               size_t output_count,
                                               ig_lookahead_answer *answer);
/* The message of the last submit or wait that failed; "" when there was none. */
IG_API const char *ig_lookahead_error(const ig_lookahead *ahead);
/* Every batch that was submitted ends soon with IG_CANCELLED, and so do later ones. */
IG_API void ig_lookahead_cancel(ig_lookahead *ahead);

/* Of all batches so far, and their stores.  Set size. */
typedef struct ig_lookahead_facts {
    size_t size;
    uint64_t ids, hits, fetched, absent;
    size_t table_count, row_bytes; /* tables; bytes of rows in memory */
} ig_lookahead_facts;

IG_API void ig_lookahead_get_facts(ig_lookahead *ahead, ig_lookahead_facts *facts);

#ifdef __cplusplus
}
#endif
#endif
