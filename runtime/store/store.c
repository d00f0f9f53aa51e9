/* The public functions of stores: arguments are checked here, once, for all types.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/store/registry.h"

#include "base/checked.h"
#include "base/sized.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct ig_store {
    const ig_store_plugin *plugin;
    void *state; /* the plug-in's */
    pid_t process;
};

static const int64_t first_column[] = { 0 };
static const uint32_t weight_alone[] = { 0 };

/* ---- checks ---- */

static ig_status check_process(const ig_store *store, const ig_store_call *call) {
    if (store->process != getpid()) {
        return ig_store_fail(call, IG_INVALID,
                             "the store was opened before fork(): open it in the "
                             "process that uses it");
    }
    return ig_store_check_time(call);
}

static ig_status check_table(const ig_store_call *call, const char *table) {
    size_t size = table ? strnlen(table, IG_STORE_TABLE_BYTES + 1) : 0;
    if (size == 0 || size > IG_STORE_TABLE_BYTES) {
        return ig_store_fail(call, IG_INVALID,
                             "the table's name has %s bytes, expected 1 to %d",
                             size == 0 ? "no" : "too many", IG_STORE_TABLE_BYTES);
    }
    return IG_OK;
}

/* The request with its defaults filled in. */
static ig_status check_cells(const ig_store_call *call, const ig_store_cells *given,
                             ig_store_cells *out_cells) {
    ig_store_cells cells = { .size = sizeof cells };
    if (!given) {
        return ig_store_fail(call, IG_INVALID, "no cells were given");
    }
    if (!ig_sized_take(&cells, sizeof cells, given)) {
        return ig_store_refuse_unsized(call, "ig_store_cells");
    }
    if (!cells.columns) {
        cells.columns = first_column;
        cells.column_count = 1;
    }
    if (!cells.states) {
        cells.states = weight_alone;
        cells.state_count = 1;
    }
    IG_TRY(check_table(call, cells.table));
    size_t count = 0;
    if ((!cells.ids && cells.id_count > 0) ||
        !ig_mul_size(cells.id_count, cells.column_count, &count) ||
        !ig_mul_size(count, cells.state_count, &count)) {
        return ig_store_fail(call, IG_INVALID,
                             "table '%s': ids are missing, or too many", cells.table);
    }
    *out_cells = cells;
    return IG_OK;
}

static ig_status check_offsets(const ig_store_call *call, const ig_store_cells *cells,
                               const void *data, const uint64_t *offsets) {
    size_t count = ig_store_cell_count(cells);
    if (!offsets || (!data && offsets[0] != offsets[count])) {
        return ig_store_fail(call, IG_INVALID, "table '%s': no data was given",
                             cells->table);
    }
    for (size_t i = 0; i < count; i++) {
        if (offsets[i] > offsets[i + 1]) {
            return ig_store_fail(call, IG_INVALID, "table '%s': offset %zu falls",
                                 cells->table, i + 1);
        }
    }
    return IG_OK;
}

static ig_status refuse_missing(const ig_store *store, const ig_store_call *call,
                                const char *what) {
    return ig_store_fail(call, IG_UNSUPPORTED, "stores of type '%s' cannot %s",
                         store->plugin->type, what);
}

/* ---- life cycle ---- */

ig_status ig_store_open(const char *url, const ig_store_call *given,
                        ig_store **out_store) {
    ig_store_call call;
    IG_TRY(ig_store_call_take(given, &call));
    const char *after = url ? strstr(url, "://") : NULL;
    if (!after) {
        return ig_store_fail(
            &call, IG_INVALID,
            "'%s' is not the URL of a store: expected TYPE://…, such as "
            "lmdb:///PATH or memory://",
            url ? url : "");
    }
    const ig_store_plugin *plugin = NULL;
    if (call.message && call.message_size > 0) {
        call.message[0] = 0;
    }
    IG_TRY(ig_store_type_find(&call, url, (size_t)(after - url), &plugin));
    ig_store *store = calloc(1, sizeof *store);
    if (!store) {
        return ig_store_fail(&call, IG_LIMIT, "out of memory for a store");
    }
    store->plugin = plugin;
    store->process = getpid();
    ig_status status = plugin->open(plugin, &call, after + 3, &store->state);
    if (status != IG_OK) {
        free(store);
        return status;
    }
    *out_store = store;
    return IG_OK;
}

void ig_store_close(ig_store *store) {
    if (!store) {
        return;
    }
    if (store->process == getpid()) {
        store->plugin->close(store->state);
    }
    free(store);
}

/* ---- calls ---- */

ig_status ig_store_pull(ig_store *store, const ig_store_call *given,
                        const ig_store_cells *wanted, ig_store_found *found,
                        void *user) {
    ig_store_call call;
    IG_TRY(ig_store_call_take(given, &call));
    ig_store_cells cells;
    IG_TRY(check_process(store, &call));
    IG_TRY(check_cells(&call, wanted, &cells));
    if (ig_store_cell_count(&cells) == 0) {
        return IG_OK;
    }
    return store->plugin->pull(store->state, &call, &cells, found, user);
}

ig_status ig_store_push(ig_store *store, const ig_store_call *given,
                        const ig_store_cells *wanted, const void *data,
                        const uint64_t *offsets) {
    ig_store_call call;
    IG_TRY(ig_store_call_take(given, &call));
    ig_store_cells cells;
    IG_TRY(check_process(store, &call));
    IG_TRY(check_cells(&call, wanted, &cells));
    if (ig_store_cell_count(&cells) == 0) {
        return IG_OK;
    }
    IG_TRY(check_offsets(&call, &cells, data, offsets));
    return store->plugin->push(store->state, &call, &cells, data, offsets);
}

ig_status ig_store_erase(ig_store *store, const ig_store_call *given,
                         const ig_store_cells *wanted) {
    ig_store_call call;
    IG_TRY(ig_store_call_take(given, &call));
    ig_store_cells cells;
    IG_TRY(check_process(store, &call));
    if (!store->plugin->erase) {
        return refuse_missing(store, &call, "remove cells");
    }
    IG_TRY(check_cells(&call, wanted, &cells));
    if (ig_store_cell_count(&cells) == 0) {
        return IG_OK;
    }
    return store->plugin->erase(store->state, &call, &cells);
}

ig_status ig_store_flush(ig_store *store, const ig_store_call *given) {
    ig_store_call call;
    IG_TRY(ig_store_call_take(given, &call));
    IG_TRY(check_process(store, &call));
    return store->plugin->flush ? store->plugin->flush(store->state, &call) : IG_OK;
}

ig_status ig_store_ping(ig_store *store, const ig_store_call *given) {
    ig_store_call call;
    IG_TRY(ig_store_call_take(given, &call));
    IG_TRY(check_process(store, &call));
    return store->plugin->ping(store->state, &call);
}

ig_status ig_store_scan(ig_store *store, const ig_store_call *given, const char *table,
                        ig_store_visit *visit, void *user) {
    ig_store_call call;
    IG_TRY(ig_store_call_take(given, &call));
    IG_TRY(check_process(store, &call));
    if (!store->plugin->scan) {
        return refuse_missing(store, &call, "list their cells");
    }
    if (table) {
        IG_TRY(check_table(&call, table));
    }
    return store->plugin->scan(store->state, &call, table, visit, user);
}
