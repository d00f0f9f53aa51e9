/* How fast a store is: batches of rows written, read and removed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/measure/clock.h"
#include "tools/ingot/store/store_cells.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS = 1024, ROW_BYTES = 512, ROUNDS = 64 };
static const char bench_table[] = "ingot-bench";

typedef struct bench_state {
    store_job *job;
    ig_store_cells cells;
    char *data;
    uint64_t offsets[ROWS + 1];
    uint64_t found;
} bench_state;

static void count_found(void *user, size_t cell, const void *data, size_t bytes) {
    uint64_t *found = user;
    (void)cell;
    *found += data && bytes == ROW_BYTES;
}

static ig_status push_rows(bench_state *b) {
    return ig_store_push(b->job->store, store_call(b->job), &b->cells, b->data,
                         b->offsets);
}

static ig_status pull_rows(bench_state *b) {
    return ig_store_pull(b->job->store, store_call(b->job), &b->cells, count_found,
                         &b->found);
}

static ig_status erase_rows(bench_state *b) {
    return ig_store_erase(b->job->store, store_call(b->job), &b->cells);
}

static const struct {
    const char *name;
    ig_status (*call)(bench_state *b);
} kinds[] = { { "push", push_rows }, { "pull", pull_rows }, { "erase", erase_rows } };

static int compare_times(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static ig_status time_kind(bench_state *b, size_t kind, double times[ROUNDS]) {
    int64_t *ids = (int64_t *)(uintptr_t)b->cells.ids;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < ROWS; i++) { /* scattered, each once */
            ids[i] = (int64_t)(((uint64_t)round * ROWS + (uint64_t)i) * 40503 % 65536);
        }
        double begin = clock_seconds();
        ig_status status = kinds[kind].call(b);
        times[round] = clock_seconds() - begin;
        if (status != IG_OK) {
            return status;
        }
    }
    qsort(times, ROUNDS, sizeof *times, compare_times);
    return IG_OK;
}

static void show_kind(const settings *given, size_t kind, const double *times) {
    double rows = ROWS / times[ROUNDS / 2];
    printf(given->json
               ? "%s{\"call\": \"%s\", \"rows\": %d, \"row_bytes\": %d, "
                 "\"p50_us\": %.1f, \"p95_us\": %.1f, \"rows_per_second\": %.0f}"
               : "%s%-6s %d rows of %d bytes: p50 %.1f us, p95 %.1f us, "
                 "%.0f rows/s\n",
           given->json && kind > 0 ? ",\n " : "", kinds[kind].name, ROWS, ROW_BYTES,
           times[ROUNDS / 2] * 1e6, times[ROUNDS * 95 / 100] * 1e6, rows);
}

int store_time_calls(store_job *job) {
    bench_state b = { .job = job, .data = need(calloc(ROWS, ROW_BYTES)) };
    double times[ROUNDS];
    b.cells = (ig_store_cells){ .size = sizeof b.cells,
                                .table = bench_table,
                                .ids = need(calloc(ROWS, sizeof(int64_t))),
                                .id_count = ROWS };
    for (uint64_t i = 0; i <= ROWS; i++) {
        b.offsets[i] = i * ROW_BYTES;
    }
    ig_status status = IG_OK;
    store_begin_list(job->given);
    for (size_t kind = 0; kind < sizeof kinds / sizeof kinds[0]; kind++) {
        status = time_kind(&b, kind, times);
        if (status != IG_OK) {
            break;
        }
        show_kind(job->given, kind, times);
    }
    store_end_list(job->given);
    free(b.data);
    free((void *)(uintptr_t)b.cells.ids);
    if (status == IG_OK && b.found != (uint64_t)ROUNDS * ROWS) {
        return complain(EXIT_FAILED, "the store lost rows that it had acknowledged");
    }
    return report(status, &job->why);
}
