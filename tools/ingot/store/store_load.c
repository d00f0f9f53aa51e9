/* A table of a model into a store, row by row.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/model/model.h"
#include "tools/ingot/store/store_cells.h"
#include "tools/ingot/values/declare.h"

#include <inttypes.h>

/* Rows of one push: with their bytes they bound its memory and its transaction. */
enum { PUSH_ROWS = 4096, PUSH_BYTES = 16 << 20 };

typedef struct load_state {
    store_job *job;
    const char *table;
    const char *rows;
    int64_t row_count;
    size_t row_bytes;
} load_state;

/* Rows [first, first + count): their ids are their numbers. */
static ig_status push_rows(const load_state *load, int64_t first, size_t count) {
    int64_t ids[PUSH_ROWS], column = 0;
    uint64_t offsets[PUSH_ROWS + 1] = { 0 };
    for (size_t i = 0; i < count; i++) {
        ids[i] = first + (int64_t)i;
        offsets[i + 1] = offsets[i] + load->row_bytes;
    }
    ig_store_cells cells = { .size = sizeof cells,
                             .table = load->table,
                             .ids = ids,
                             .id_count = count,
                             .columns = &column,
                             .column_count = 1,
                             .states = &load->job->state,
                             .state_count = 1 };
    return ig_store_push(load->job->store, store_call(load->job), &cells,
                         load->rows + (size_t)first * load->row_bytes, offsets);
}

static int push_table(const load_state *load) {
    size_t room = PUSH_BYTES / load->row_bytes;
    size_t at_once = room < 1 ? 1 : room < PUSH_ROWS ? room : PUSH_ROWS;
    ig_status status = IG_OK;
    for (int64_t i = 0; i < load->row_count && status == IG_OK;) {
        int64_t left = load->row_count - i;
        size_t count = left < (int64_t)at_once ? (size_t)left : at_once;
        status = push_rows(load, i, count);
        i += (int64_t)count;
    }
    status = status == IG_OK ? ig_store_flush(load->job->store, store_call(load->job))
                             : status;
    return report(status, &load->job->why);
}

static int load_weight(store_job *job, const ig_argument *weight, const char *name) {
    const settings *given = job->given;
    bool is_table = weight->kind == IG_ARGUMENT_TENSOR && weight->rank == 2 &&
                    weight->dims[0] > 0 && weight->size > 0 &&
                    weight->size % (size_t)weight->dims[0] == 0;
    if (!is_table) {
        return complain(exit_of(IG_UNSUPPORTED),
                        "weight '%s' is not a table: rows of whole bytes are needed",
                        name);
    }
    load_state load = { .job = job,
                        .table = name,
                        .rows = weight->data,
                        .row_count = weight->dims[0],
                        .row_bytes = weight->size / (size_t)weight->dims[0] };
    int exit_status = push_table(&load);
    if (exit_status != 0 || given->quiet) {
        return exit_status;
    }
    if (given->json) {
        fputs("{\"table\": ", stdout);
        put_json_text(stdout, name);
        printf(", \"rows\": %" PRId64 ", \"row_bytes\": %zu}\n", load.row_count,
               load.row_bytes);
        return 0;
    }
    put_plain(stdout, name);
    printf(": %" PRId64 " rows of %zu bytes\n", load.row_count, load.row_bytes);
    return 0;
}

int store_load_table(store_job *job) {
    const settings *given = job->given;
    const char *name = NULL;
    const ig_argument *weight = NULL;
    ig_module *module = NULL;
    int exit_status = 0;
    ig_context *context = context_open(given, NULL, &exit_status);
    if (!context) {
        return exit_status;
    }
    ig_status status = declared_import(given, context, given->arguments.items[2],
                                       &module);
    if (status == IG_OK) {
        status = ig_module_weight_value(module, given->arguments.items[3], &weight,
                                        &name);
    }
    exit_status = status == IG_OK ? load_weight(job, weight, name) : exit_of(status);
    ig_module_close(module);
    context_close(context);
    return exit_status;
}
