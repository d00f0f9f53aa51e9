/* Opening the stores of an artifact's tables, and making room for rows.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/store/ahead/tables.h"

#include "base/checked.h"
#include "runtime/store/ahead/place.h"
#include "runtime/store/call.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_MEMORY = 256 << 20, MIN_ROWS = 256, EVICTED_PART = 8 };

/* ---- requested tables ---- */

static ig_store_call call_of(const ig_lookahead_options *options) {
    ig_store_call call = { .size = sizeof call,
                           .message = options->message,
                           .message_size = options->message_size };
    call.deadline_ns = options->open_ns > 0 ? ig_store_now_ns() + options->open_ns : 0;
    return call;
}

static ig_status take_missing(ig_ahead_table *table, const ig_lookahead_table *given,
                              const ig_store_call *call) {
    if (given->missing_bytes != table->row_bytes) {
        return ig_store_fail(
            call, IG_INVALID,
            "table '%s': a row in place of a missing one has %zu bytes, "
            "expected %zu",
            table->name, given->missing_bytes, table->row_bytes);
    }
    memcpy(table->missing, given->missing, table->row_bytes);
    table->may_be_lacking = true;
    return IG_OK;
}

static ig_status take_options(ig_ahead_table *table,
                              const ig_lookahead_options *options,
                              const ig_store_call *call) {
    for (size_t i = 0; i < options->table_count; i++) {
        const ig_lookahead_table *given = &options->tables[i];
        if (fnmatch(given->name, table->name, 0) != 0) {
            continue;
        }
        table->url = given->url ? given->url : table->url;
        table->row_count = given->row_count > 0 ? given->row_count : table->row_count;
        if (given->missing) {
            IG_TRY(take_missing(table, given, call));
        }
    }
    return IG_OK;
}

/* A name that fits no table is a mistake. */
static ig_status check_names(const ig_ahead_tables *tables,
                             const ig_lookahead_options *options,
                             const ig_store_call *call) {
    for (size_t i = 0; i < options->table_count; i++) {
        bool is_met = false;
        for (size_t t = 0; t < tables->count; t++) {
            is_met |= fnmatch(options->tables[i].name, tables->items[t].name, 0) == 0;
        }
        if (!is_met) {
            return ig_store_fail(call, IG_INVALID,
                                 "the artifact has no table '%s' in a store",
                                 options->tables[i].name);
        }
    }
    return IG_OK;
}

/* Every table gets as large a part of its rows as the others. */
static void share_memory(ig_ahead_tables *tables, size_t memory) {
    double bytes = 0;
    for (size_t i = 0; i < tables->count; i++) {
        const ig_ahead_table *table = &tables->items[i];
        bytes += (double)table->rows * (double)table->row_bytes;
    }
    double room = (double)(memory > 0 ? memory : DEFAULT_MEMORY);
    double part = bytes > room ? room / bytes : 1;
    for (size_t i = 0; i < tables->count; i++) {
        ig_ahead_table *table = &tables->items[i];
        int64_t count = (int64_t)((double)table->rows * part);
        count = count < MIN_ROWS ? MIN_ROWS : count;
        count = count < table->rows ? count : table->rows;
        if (table->row_count == 0) {
            table->row_count = count < IG_ID_MAP_ROWS ? count : IG_ID_MAP_ROWS;
        }
    }
}

/* ---- opening ---- */

static ig_status describe_table(const ig_stored_record *record, size_t index,
                                ig_ahead_table *out, const ig_store_call *call) {
    const ig_stored_table_record *from = &record->tables[index];
    out->name = record->texts + from->name;
    out->url = record->texts + from->url;
    out->rows = from->rows;
    out->view =
        (ig_view){ .dtype = (int32_t)from->dtype, .rank = 2, .dims = { 1, from->dim } };
    int64_t bytes = ig_view_bytes(&out->view);
    out->row_bytes = bytes > 0 ? (size_t)bytes : 0;
    out->missing = calloc(1, out->row_bytes + 1);
    return out->missing ? IG_OK
                        : ig_store_fail(call, IG_LIMIT, "out of memory for table '%s'",
                                        out->name);
}

/* One store a URL, so that a memory:// store is one too. */
static ig_status open_store(ig_ahead_tables *tables, size_t index,
                            const ig_store_call *call) {
    ig_ahead_table *table = &tables->items[index];
    for (size_t i = 0; i < index; i++) {
        if (strcmp(tables->items[i].url, table->url) == 0) {
            table->store = tables->items[i].store;
            return IG_OK;
        }
    }
    char warning[256] = "";
    ig_store_call own = *call;
    own.message = warning;
    own.message_size = sizeof warning;
    own.must_exist = 1;
    ig_status status = ig_store_open(table->url, &own, &table->store);
    table->owns_store = status == IG_OK;
    if (status != IG_OK) {
        return ig_store_fail(call, status, "table '%s': %s", table->name, warning);
    }
    if (warning[0]) {
        (void)ig_store_fail(call, IG_OK, "table '%s': %s", table->name, warning);
    }
    return IG_OK;
}

static void fill_missing(void *user, int64_t id, void *weight) {
    const ig_ahead_table *table = user;
    (void)id;
    memcpy(weight, table->missing, table->row_bytes);
}

static ig_status open_rows(ig_ahead_table *table, int64_t refresh_ns,
                           const ig_store_call *call) {
    int64_t evicted = table->row_count / EVICTED_PART;
    ig_dynamic_options options = { .size = sizeof options,
                                   .name = table->name,
                                   .row_count = table->row_count,
                                   .row_bytes = table->row_bytes,
                                   .kind = IG_ID_MAP_NAIVE,
                                   .evict_rows = evicted > 0 ? evicted : 1,
                                   .is_read_only = 1,
                                   .spare_rows = IG_SPARE_ROWS,
                                   .fill = fill_missing,
                                   .fill_user = table,
                                   .refresh_ns = refresh_ns };
    IG_TRY(ig_dynamic_create(table->store, &options, call, &table->rows_of));
    char *rows = ig_dynamic_data(table->rows_of, 0);
    memcpy(rows + IG_SPARE_MISSING * table->row_bytes, table->missing,
           table->row_bytes);
    table->view.data = rows;
    table->view.dims[0] = table->row_count + IG_SPARE_ROWS;
    return IG_OK;
}

/* ---- tables that a store does not have ---- */

static ig_status end_at_first(void *user, const ig_store_cell *cell) {
    bool *is_met = user;
    (void)cell;
    *is_met = true;
    return IG_CANCELLED;
}

/* A store with another model's tables, or a name that is spelt otherwise, would answer
 * zeros.  Listing ends at the first cell; stores that cannot list are believed. */
ig_status ig_ahead_table_check(ig_ahead_table *table, const ig_store_call *call) {
    ig_dynamic_counts counts = ig_dynamic_describe(table->rows_of);
    if (table->is_known || table->may_be_lacking || counts.filled == 0) {
        return IG_OK;
    }
    table->is_known = counts.fetched > 0;
    if (table->is_known) {
        return IG_OK;
    }
    ig_status status = ig_store_scan(table->store, call, table->name, end_at_first,
                                     &table->is_known);
    if (table->is_known || status == IG_UNSUPPORTED) {
        table->is_known = true;
        return IG_OK;
    }
    return status != IG_OK
               ? status
               : ig_store_fail(
                     call, IG_INVALID,
                     "table '%s': its store has no row of a table of that "
                     "name: write them ('ingot store load'), or give the row that replaces missing ones (--missing)",
                     table->name);
}

ig_status ig_ahead_tables_open(const ig_stored_record *record,
                               const ig_lookahead_options *options,
                               ig_ahead_tables *out) {
    ig_store_call call = call_of(options);
    size_t count = record->header.table_count;
    out->items = calloc(count + 1, sizeof *out->items);
    if (!out->items) {
        return ig_store_fail(&call, IG_LIMIT, "out of memory for %zu tables", count);
    }
    out->count = count;
    for (size_t i = 0; i < count; i++) {
        IG_TRY(describe_table(record, i, &out->items[i], &call));
        IG_TRY(take_options(&out->items[i], options, &call));
    }
    IG_TRY(check_names(out, options, &call));
    share_memory(out, options->memory);
    for (size_t i = 0; i < count; i++) {
        IG_TRY(open_store(out, i, &call));
        IG_TRY(open_rows(&out->items[i], options->refresh_ns, &call));
    }
    return IG_OK;
}

void ig_ahead_tables_close(ig_ahead_tables *tables) {
    for (size_t i = 0; i < tables->count; i++) {
        ig_dynamic_destroy(tables->items[i].rows_of);
        free(tables->items[i].missing);
    }
    for (size_t i = 0; i < tables->count; i++) {
        if (tables->items[i].owns_store) {
            ig_store_close(tables->items[i].store);
        }
    }
    free(tables->items);
    *tables = (ig_ahead_tables){ 0 };
}
