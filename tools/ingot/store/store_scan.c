/* Stores as a whole: their contents, and copies.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/store/store_cells.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- scanning ---- */

typedef struct table_sum {
    char *name;
    uint64_t cells, bytes;
    int64_t first, last; /* ids */
} table_sum;

typedef struct scan_state {
    const settings *given;
    table_sum *tables;
    size_t table_count, shown;
} scan_state;

static table_sum *find_sum(scan_state *scan, const char *name) {
    for (size_t i = scan->table_count; i-- > 0;) { /* cells of a table come together */
        if (strcmp(scan->tables[i].name, name) == 0) {
            return &scan->tables[i];
        }
    }
    size_t count = scan->table_count + 1;
    scan->tables = need(realloc(scan->tables, count * sizeof *scan->tables));
    table_sum *made = &scan->tables[scan->table_count++];
    *made = (table_sum){ .name = text_of("%s", name),
                         .first = INT64_MAX,
                         .last = INT64_MIN };
    return made;
}

static ig_status add_cell(void *user, const ig_store_cell *cell) {
    table_sum *sum = find_sum(user, cell->table);
    sum->cells++;
    sum->bytes += cell->bytes;
    sum->first = cell->id < sum->first ? cell->id : sum->first;
    sum->last = cell->id > sum->last ? cell->id : sum->last;
    return IG_OK;
}

static ig_status show_cell(void *user, const ig_store_cell *cell) {
    scan_state *scan = user;
    store_show_cell(scan->given, cell, scan->shown++ > 0);
    return IG_OK;
}

static void show_sum(const table_sum *sum, bool is_json, bool is_next) {
    if (is_json) {
        fputs(is_next ? ",\n {\"table\": " : "{\"table\": ", stdout);
        put_json_text(stdout, sum->name);
        printf(", \"cells\": %" PRIu64 ", \"bytes\": %" PRIu64
               ", \"first_id\": %" PRId64 ", \"last_id\": %" PRId64 "}",
               sum->cells, sum->bytes, sum->first, sum->last);
        return;
    }
    put_plain(stdout, sum->name);
    printf(": %" PRIu64 " cells, %" PRIu64 " bytes, ids %" PRId64 " … %" PRId64 "\n",
           sum->cells, sum->bytes, sum->first, sum->last);
}

int store_scan_cells(store_job *job) {
    const settings *given = job->given;
    bool is_one = given->arguments.count > 2;
    scan_state scan = { .given = given };
    store_begin_list(given);
    ig_status status = ig_store_scan(job->store, store_call(job),
                                     is_one ? given->arguments.items[2] : NULL,
                                     is_one ? show_cell : add_cell, &scan);
    for (size_t i = 0; i < scan.table_count; i++) {
        if (status == IG_OK) {
            show_sum(&scan.tables[i], given->json, i > 0);
        }
        free(scan.tables[i].name);
    }
    free(scan.tables);
    store_end_list(given);
    return report(status, &job->why);
}

/* ---- copying ---- */

enum { BATCH_CELLS = 4096, BATCH_BYTES = 16 << 20 };

/* Cells of one table, column and state that wait for their push. */
typedef struct batch {
    struct batch *next;
    char *table;
    int64_t column;
    uint32_t state;
    int64_t ids[BATCH_CELLS];
    uint64_t offsets[BATCH_CELLS + 1];
    size_t count, room;
    char *data;
} batch;

typedef struct copy_state {
    store_job *job;
    ig_store *to;
    batch *batches;
    uint64_t cells, bytes;
} copy_state;

static ig_status push_batch(copy_state *copy, batch *b) {
    ig_store_cells cells = { .size = sizeof cells,
                             .table = b->table,
                             .ids = b->ids,
                             .id_count = b->count,
                             .columns = &b->column,
                             .column_count = 1,
                             .states = &b->state,
                             .state_count = 1 };
    ig_status status = ig_store_push(copy->to, store_call(copy->job), &cells, b->data,
                                     b->offsets);
    copy->cells += b->count;
    copy->bytes += b->offsets[b->count];
    b->count = 0;
    return status;
}

static batch *find_batch(copy_state *copy, const ig_store_cell *cell) {
    for (batch *b = copy->batches; b; b = b->next) {
        if (b->column == cell->column && b->state == cell->state &&
            strcmp(b->table, cell->table) == 0) {
            return b;
        }
    }
    batch *made = need(calloc(1, sizeof *made));
    made->next = copy->batches;
    made->table = text_of("%s", cell->table);
    made->column = cell->column;
    made->state = cell->state;
    return copy->batches = made;
}

static ig_status copy_cell(void *user, const ig_store_cell *cell) {
    copy_state *copy = user;
    batch *b = find_batch(copy, cell);
    uint64_t used = b->offsets[b->count];
    if (b->count == BATCH_CELLS || (b->count > 0 && used + cell->bytes > BATCH_BYTES)) {
        ig_status status = push_batch(copy, b);
        if (status != IG_OK) {
            return status;
        }
        used = 0;
    }
    if (used + cell->bytes > b->room) {
        b->room = 2 * (used + cell->bytes);
        b->data = need(realloc(b->data, b->room));
    }
    if (cell->bytes > 0) {
        memcpy(b->data + used, cell->data, cell->bytes);
    }
    b->ids[b->count++] = cell->id;
    b->offsets[b->count] = used + cell->bytes;
    return IG_OK;
}

static ig_status push_rest(copy_state *copy) {
    for (batch *b = copy->batches; b; b = b->next) {
        ig_status status = b->count > 0 ? push_batch(copy, b) : IG_OK;
        if (status != IG_OK) {
            return status;
        }
    }
    return ig_store_flush(copy->to, store_call(copy->job));
}

int store_copy_cells(store_job *job) {
    const char *from = job->given->arguments.items[1];
    const char *to = job->given->arguments.items[2];
    copy_state copy = { .job = job };
    if (strcmp(from, to) == 0) {
        return complain(EXIT_USAGE, "a store cannot be copied to itself");
    }
    int exit_status = store_open(job, to, false, &copy.to);
    if (exit_status != 0) {
        return exit_status;
    }
    ig_store_call scan = *store_call(job);
    ig_status status = ig_store_scan(job->store, &scan, NULL, copy_cell, &copy);
    status = status == IG_OK ? push_rest(&copy) : status;
    ig_store_close(copy.to);
    for (batch *b = copy.batches, *next; b; b = next) {
        next = b->next;
        free(b->table);
        free(b->data);
        free(b);
    }
    if (status == IG_OK && !job->given->quiet) {
        printf(job->given->json ? "{\"cells\": %" PRIu64 ", \"bytes\": %" PRIu64 "}\n"
                                : "%" PRIu64 " cells, %" PRIu64 " bytes\n",
               copy.cells, copy.bytes);
    }
    return report(status, &job->why);
}
