/* Plug-ins of version 1, adapted to the functions of version 2.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Version 1 starts work and calls back from threads of its own; version 2 blocks.  One
 * `wait` is between them: it owns copies of all that the plug-in may still read, and
 * lives until both sides have let go of it.  When a deadline passes the caller leaves;
 * callbacks that come later find an abandoned wait and do nothing.  The contract is
 * that of torchrec's contrib/dynamic_embedding (io.h, io_registry.cpp); a plug-in that
 * never calls back leaks its wait.
 */
#include "runtime/store/registry.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct wait {
    pthread_mutex_t lock;
    pthread_cond_t done;
    int holders; /* the caller and the plug-in */
    bool is_done, is_abandoned;
    ig_store_found *found; /* NULL: a push */
    void *user;
    size_t state_count;
    char *table;
    int64_t *ids, *columns;
    uint32_t *states;
    uint64_t *offsets;
    void *data;
} wait;

typedef struct instance {
    const ig_store_type *type;
    void *state;
} instance;

/* ---- the wait ---- */

static void let_go(wait *w) {
    (void)pthread_mutex_lock(&w->lock);
    bool is_last = --w->holders == 0;
    (void)pthread_mutex_unlock(&w->lock);
    if (!is_last) {
        return;
    }
    (void)pthread_cond_destroy(&w->done);
    (void)pthread_mutex_destroy(&w->lock);
    free(w->table);
    free(w->ids);
    free(w->columns);
    free(w->states);
    free(w->offsets);
    free(w->data);
    free(w);
}

static void *copy_of(const void *from, size_t bytes, bool *ok) {
    void *copy = malloc(bytes > 0 ? bytes : 1);
    *ok = *ok && copy;
    if (copy && bytes > 0) {
        memcpy(copy, from, bytes);
    }
    return copy;
}

/* A wait held by caller and plug-in; NULL: out of memory. */
static wait *make_wait(const ig_store_cells *cells, const void *data,
                       const uint64_t *offsets) {
    wait *w = calloc(1, sizeof *w);
    if (!w) {
        return NULL;
    }
    bool ok = true;
    (void)pthread_mutex_init(&w->lock, NULL);
    (void)pthread_cond_init(&w->done, NULL);
    w->holders = 1;
    w->state_count = cells->state_count;
    w->table = copy_of(cells->table, strlen(cells->table) + 1, &ok);
    w->ids = copy_of(cells->ids, cells->id_count * sizeof *w->ids, &ok);
    w->columns = copy_of(cells->columns, cells->column_count * sizeof *w->columns, &ok);
    w->states = copy_of(cells->states, cells->state_count * sizeof *w->states, &ok);
    if (offsets) {
        size_t count = ig_store_cell_count(cells);
        w->offsets = copy_of(offsets, (count + 1) * sizeof *offsets, &ok);
        w->data = copy_of(data, offsets[count], &ok);
    }
    if (!ok) {
        let_go(w);
        return NULL;
    }
    w->holders = 2;
    return w;
}

static void end_wait(void *context) {
    wait *w = context;
    (void)pthread_mutex_lock(&w->lock);
    w->is_done = true;
    (void)pthread_cond_signal(&w->done);
    (void)pthread_mutex_unlock(&w->lock);
    let_go(w);
}

/* `found` is called under the lock, so that nothing arrives after the caller left. */
static void give_cell(void *context, uint32_t offset, uint32_t state, void *data,
                      uint32_t bytes) {
    wait *w = context;
    (void)pthread_mutex_lock(&w->lock);
    for (size_t i = 0; i < w->state_count && !w->is_abandoned; i++) {
        if (w->states[i] == state) {
            w->found(w->user, offset * w->state_count + i, data, data ? bytes : 0);
        }
    }
    (void)pthread_mutex_unlock(&w->lock);
}

/* Waits for the plug-in; looks at deadline and cancelling every 20 ms. */
static ig_status wait_until_done(const ig_store_call *call, wait *w) {
    ig_status status = IG_OK;
    (void)pthread_mutex_lock(&w->lock);
    while (!w->is_done && status == IG_OK) {
        int64_t until = ig_store_now_ns() + 20000000;
        if (call->deadline_ns != 0 && call->deadline_ns < until) {
            until = call->deadline_ns;
        }
        struct timespec limit = { .tv_sec = (time_t)(until / 1000000000),
                                  .tv_nsec = (long)(until % 1000000000) };
        (void)pthread_cond_clockwait(&w->done, &w->lock, CLOCK_MONOTONIC, &limit);
        status = w->is_done ? IG_OK : ig_store_check_time(call);
    }
    w->is_abandoned = true;
    (void)pthread_mutex_unlock(&w->lock);
    let_go(w);
    return status;
}

/* ---- the functions of version 2 ---- */

static ig_status open_store(const ig_store_plugin *self, const ig_store_call *call,
                            const char *config, void **out_store) {
    const ig_store_type *type = (const ig_store_type *)self;
    instance *store = calloc(1, sizeof *store);
    if (!store) {
        return ig_store_fail(call, IG_LIMIT, "out of memory for a store");
    }
    store->type = type;
    store->state = type->initialize(config);
    *out_store = store;
    return IG_OK;
}

static void close_store(void *opaque) {
    instance *store = opaque;
    store->type->finalize(store->state);
    free(store);
}

static ig_status check_counts(const ig_store_call *call, const ig_store_cells *cells) {
    if (ig_store_cell_count(cells) >= UINT32_MAX) {
        return ig_store_fail(call, IG_LIMIT,
                             "table '%s': a store of version 1 takes less than 2^32 "
                             "cells a call",
                             cells->table);
    }
    return IG_OK;
}

static ig_status fail_memory(const ig_store_call *call, const ig_store_cells *cells) {
    return ig_store_fail(call, IG_LIMIT, "table '%s': out of memory for %zu cells",
                         cells->table, ig_store_cell_count(cells));
}

static ig_status pull_cells(void *opaque, const ig_store_call *call,
                            const ig_store_cells *cells, ig_store_found *found,
                            void *user) {
    const instance *store = opaque;
    IG_TRY(check_counts(call, cells));
    wait *w = make_wait(cells, NULL, NULL);
    if (!w) {
        return fail_memory(call, cells);
    }
    w->found = found;
    w->user = user;
    uint32_t states = 0; /* version 1 gives states 0 up to a count */
    for (size_t i = 0; i < cells->state_count; i++) {
        states = cells->states[i] >= states ? cells->states[i] + 1 : states;
    }
    store->type->pull(store->state, (ig_store_pull_v1){
                                        .table_name = w->table,
                                        .num_cols = (uint32_t)cells->column_count,
                                        .num_global_ids = (uint32_t)cells->id_count,
                                        .col_ids = w->columns,
                                        .global_ids = w->ids,
                                        .num_optimizer_stats = states,
                                        .on_complete_context = w,
                                        .on_global_id_fetched = give_cell,
                                        .on_all_fetched = end_wait,
                                    });
    return wait_until_done(call, w);
}

static ig_status push_cells(void *opaque, const ig_store_call *call,
                            const ig_store_cells *cells, const void *data,
                            const uint64_t *offsets) {
    const instance *store = opaque;
    IG_TRY(check_counts(call, cells));
    wait *w = make_wait(cells, data, offsets);
    if (!w) {
        return fail_memory(call, cells);
    }
    store->type->push(store->state,
                      (ig_store_push_v1){
                          .table_name = w->table,
                          .num_cols = (uint32_t)cells->column_count,
                          .num_global_ids = (uint32_t)cells->id_count,
                          .col_ids = w->columns,
                          .global_ids = w->ids,
                          .num_optimizer_stats = (uint32_t)cells->state_count,
                          .optimizer_stats_ids = w->states,
                          .num_offsets = (uint32_t)ig_store_cell_count(cells) + 1,
                          .offsets = w->offsets,
                          .data = w->data,
                          .on_complete_context = w,
                          .on_push_complete = end_wait,
                      });
    return wait_until_done(call, w);
}

/* Version 1 has no such call: an open store is all that can be told. */
static ig_status answer_ping(void *opaque, const ig_store_call *call) {
    (void)opaque;
    (void)call;
    return IG_OK;
}

/* ---- symbols ---- */

_Static_assert(sizeof(ig_store_pull_v1) == 64 && sizeof(ig_store_push_v1) == 88,
               "the layout of version 1 is fixed");

/* Copies the address of the first symbol that is there into the function pointer
 * `out`. */
static bool find_symbol(void *library, const char *name, const char *other_name,
                        void *out, const char **out_missing) {
    void *symbol = dlsym(library, name);
    if (!symbol && other_name) {
        symbol = dlsym(library, other_name);
    }
    memcpy(out, &symbol, sizeof symbol);
    if (!symbol && !*out_missing) {
        *out_missing = name;
    }
    return symbol != NULL;
}

bool ig_store_version1(void *library, ig_store_type *type, const char **out_missing) {
    const char *const *name = NULL;
    bool has_all = find_symbol(library, "IO_type", NULL, &name, out_missing);
    has_all &= find_symbol(library, "IO_Initialize", NULL, &type->initialize,
                           out_missing);
    has_all &= find_symbol(library, "IO_Finalize", NULL, &type->finalize, out_missing);
    has_all &= find_symbol(library, "IO_Pull", "IO_Fetch", &type->pull, out_missing);
    has_all &= find_symbol(library, "IO_Push", NULL, &type->push, out_missing);
    if (!has_all || !*name) {
        *out_missing = *out_missing ? *out_missing : "IO_type";
        return false;
    }
    type->plugin = (ig_store_plugin){
        .size = sizeof type->plugin,
        .abi = IG_STORE_ABI,
        .type = *name,
        .open = open_store,
        .close = close_store,
        .pull = pull_cells,
        .push = push_cells,
        .ping = answer_ping,
    };
    return true;
}
