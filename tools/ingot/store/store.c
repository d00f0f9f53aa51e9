/* ingot store: rows of embedding stores, from the command line.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/store/store_cells.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const option_row options[] = {
    COUNT("state", 0, state, 0, UINT32_MAX,
          "0: the weight (default); 1 …: an optimiser's"),
    COUNT("column", 0, column, 0, 0, "the column of a table split by columns (0)"),
    TEXT("plugin", 0, plugin, "FILE.so", "make the type of a plug-in library known"),
    REAL("timeout", seconds, has_seconds, "SECONDS",
         "the time that each call may take"),
    ROW_QUIET,
    ROW_JSON,
    ROW_HELP,
    OPTIONS_END,
};

static const char details[] =
    "ping URL · get URL TABLE ID… (after -- where one is below 0) · put URL TABLE ID NUMBERS (float32, such as 0.5,1; or "
    "@FILE, its bytes) · erase URL TABLE ID… · scan URL [TABLE] (tables, or the cells of "
    "one) · copy URL TO-URL · load URL MODEL TABLE (the rows of a model's table; TABLE is "
    "the weight's name or a part of it between dots) · bench URL (cells of a table of its own, which it removes). "
    "A URL is lmdb:///PATH, or TYPE://… of a plug-in: docs/stores.md.";

/* ---- cells ---- */

static int read_id(const char *text, int64_t *out_id) {
    char *end;
    errno = 0;
    long long id = strtoll(text, &end, 10);
    *out_id = id;
    return *text && !*end && errno == 0
               ? 0
               : complain(EXIT_USAGE, "an id is a whole number of 64 bits, not '%s'",
                          text);
}

/* The cells that arguments 3 and up name; the ids are allocated. */
static int read_cells(const store_job *job, size_t id_count,
                      ig_store_cells *out_cells) {
    const settings *given = job->given;
    int64_t *ids = need(calloc(id_count + 1, sizeof *ids));
    for (size_t i = 0; i < id_count; i++) {
        int exit_status = read_id(given->arguments.items[3 + i], &ids[i]);
        if (exit_status != 0) {
            free(ids);
            return exit_status;
        }
    }
    *out_cells = (ig_store_cells){ .size = sizeof *out_cells,
                                   .table = given->arguments.items[2],
                                   .ids = ids,
                                   .id_count = id_count,
                                   .columns = &given->column,
                                   .column_count = 1,
                                   .states = &job->state,
                                   .state_count = 1 };
    return 0;
}

static void show_found(void *user, size_t cell, const void *data, size_t bytes) {
    get_state *get = user;
    ig_store_cell shown = { .table = get->cells.table,
                            .id = get->cells.ids[cell],
                            .column = *get->cells.columns,
                            .state = *get->cells.states,
                            .data = data,
                            .bytes = bytes };
    get->absent += data == NULL;
    store_show_cell(get->given, &shown, get->shown++ > 0);
}

static int get_cells(store_job *job) {
    get_state get = { .given = job->given };
    int exit_status = read_cells(job, job->given->arguments.count - 3, &get.cells);
    if (exit_status != 0) {
        return exit_status;
    }
    store_begin_list(job->given);
    ig_status status = ig_store_pull(job->store, store_call(job), &get.cells,
                                     show_found, &get);
    store_end_list(job->given);
    free((void *)(uintptr_t)get.cells.ids);
    exit_status = report(status, &job->why);
    return exit_status == 0 && get.absent > 0 ? EXIT_FAILED : exit_status;
}

static int put_cell(store_job *job) {
    ig_store_cells cells;
    const char *text = job->given->arguments.items[4];
    uint64_t offsets[2] = { 0, 0 };
    void *data = NULL;
    int exit_status = read_cells(job, 1, &cells);
    if (exit_status != 0) {
        return exit_status;
    }
    exit_status = store_read_value(text, &data, &offsets[1]);
    if (exit_status == 0) {
        exit_status =
            report(ig_store_push(job->store, store_call(job), &cells, data, offsets),
                   &job->why);
    }
    free(data);
    free((void *)(uintptr_t)cells.ids);
    return exit_status;
}

static int erase_cells(store_job *job) {
    ig_store_cells cells;
    int exit_status = read_cells(job, job->given->arguments.count - 3, &cells);
    if (exit_status != 0) {
        return exit_status;
    }
    exit_status = report(ig_store_erase(job->store, store_call(job), &cells),
                         &job->why);
    free((void *)(uintptr_t)cells.ids);
    return exit_status;
}

static int ping_store(store_job *job) {
    int exit_status = report(ig_store_ping(job->store, store_call(job)), &job->why);
    if (exit_status == 0 && !job->given->quiet) {
        puts(job->given->json ? "{\"answers\": true}" : "the store answers");
    }
    return exit_status;
}

/* ---- the verb ---- */

static const struct {
    const char *name;
    size_t min_arguments, max_arguments; /* with the name and the URL */
    bool may_make;                       /* the store, where it is not there */
    int (*run)(store_job *job);
} commands[] = {
    { "ping", 2, 2, false, ping_store },
    { "get", 4, 1 << 20, false, get_cells },
    { "put", 5, 5, true, put_cell },
    { "erase", 4, 1 << 20, false, erase_cells },
    { "scan", 2, 3, false, store_scan_cells },
    { "copy", 3, 3, false, store_copy_cells },
    { "load", 4, 4, true, store_load_table },
    { "bench", 2, 2, true, store_time_calls },
};

static int run_store(const settings *given) {
    const char *name = given->arguments.items[0];
    store_job job = { .given = given, .state = (uint32_t)given->state };
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(commands[i].name, name) != 0) {
            continue;
        }
        if (given->arguments.count < commands[i].min_arguments ||
            given->arguments.count > commands[i].max_arguments) {
            return complain(EXIT_USAGE,
                            "ingot store %s takes other arguments\n"
                            "  try: ingot store --help",
                            name);
        }
        int exit_status = store_open(&job, given->arguments.items[1],
                                     !commands[i].may_make, &job.store);
        exit_status = exit_status == 0 ? commands[i].run(&job) : exit_status;
        ig_store_close(job.store);
        return exit_status;
    }
    return complain(
        EXIT_USAGE,
        "ingot store takes ping, get, put, erase, scan, copy, load or bench, "
        "not '%s'",
        name);
}

const verb verb_store = {
    .name = "store",
    .arguments = "ping|get|put|erase|scan|copy|load|bench URL …",
    .help = "reads and writes embedding stores",
    .details = details,
    .options = options,
    .min_arguments = 2,
    .max_arguments = 1 << 20,
    .run = run_store,
};
