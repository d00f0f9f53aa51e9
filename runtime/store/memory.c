/* memory://: cells in this process's memory; they are gone when the store is closed.
 * SPDX-License-Identifier: Apache-2.0
 *
 * One search tree (tsearch) a table; readers share a lock, a writer has it alone.
 */
#include "runtime/store/registry.h"

#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

typedef struct cell {
    int64_t id, column;
    uint32_t state;
    size_t bytes;
    void *data;
} cell;

typedef struct table {
    struct table *next;
    void *tree; /* of cells */
    char name[];
} table;

typedef struct memory {
    pthread_rwlock_t lock;
    table *tables;
} memory;

static int compare_cells(const void *left, const void *right) {
    const cell *a = left, *b = right;
    if (a->id != b->id) {
        return a->id < b->id ? -1 : 1;
    }
    if (a->column != b->column) {
        return a->column < b->column ? -1 : 1;
    }
    return (a->state > b->state) - (a->state < b->state);
}

static void free_cell(void *opaque) {
    cell *c = opaque;
    free(c->data);
    free(c);
}

/* Cell number `index` of a request, without data. */
static cell key_of(const ig_store_cells *cells, size_t index) {
    ig_store_cell named = ig_store_cell_at(cells, index);
    return (cell){ .id = named.id, .column = named.column, .state = named.state };
}

static table *find_table(memory *store, const char *name) {
    for (table *t = store->tables; t; t = t->next) {
        if (strcmp(t->name, name) == 0) {
            return t;
        }
    }
    return NULL;
}

static table *need_table(memory *store, const char *name) {
    table *found = find_table(store, name);
    if (found) {
        return found;
    }
    size_t size = strlen(name) + 1;
    table *made = calloc(1, sizeof *made + size);
    if (made) {
        memcpy(made->name, name, size);
        made->next = store->tables;
        store->tables = made;
    }
    return made;
}

/* ---- life cycle ---- */

static ig_status open_memory(const ig_store_plugin *self, const ig_store_call *call,
                             const char *config, void **out_store) {
    (void)self;
    if (*config) {
        return ig_store_fail(call, IG_INVALID, "memory://%s: memory:// takes no name",
                             config);
    }
    memory *store = calloc(1, sizeof *store);
    if (!store) {
        return ig_store_fail(call, IG_LIMIT, "out of memory for a store");
    }
    (void)pthread_rwlock_init(&store->lock, NULL);
    *out_store = store;
    return IG_OK;
}

static void close_memory(void *opaque) {
    memory *store = opaque;
    for (table *t = store->tables, *next; t; t = next) {
        next = t->next;
        tdestroy(t->tree, free_cell);
        free(t);
    }
    (void)pthread_rwlock_destroy(&store->lock);
    free(store);
}

/* ---- calls ---- */

static ig_status pull_cells(void *opaque, const ig_store_call *call,
                            const ig_store_cells *cells, ig_store_found *found,
                            void *user) {
    memory *store = opaque;
    (void)call;
    (void)pthread_rwlock_rdlock(&store->lock);
    const table *t = find_table(store, cells->table);
    for (size_t i = 0, count = ig_store_cell_count(cells); i < count; i++) {
        cell key = key_of(cells, i);
        cell *const *at = t ? tfind(&key, &t->tree, compare_cells) : NULL;
        found(user, i, at ? (*at)->data : NULL, at ? (*at)->bytes : 0);
    }
    (void)pthread_rwlock_unlock(&store->lock);
    return IG_OK;
}

/* Puts the cell into the tree in place of the one there; false: out of
 * memory. */
static bool put_cell(table *t, cell key, const void *data, size_t bytes) {
    void *copy = malloc(bytes > 0 ? bytes : 1);
    cell *made = malloc(sizeof *made);
    if (!copy || !made) {
        free(copy);
        free(made);
        return false;
    }
    if (bytes > 0) {
        memcpy(copy, data, bytes);
    }
    *made = key;
    made->data = copy;
    made->bytes = bytes;
    cell **at = tsearch(made, &t->tree, compare_cells);
    if (!at) {
        free_cell(made);
        return false;
    }
    if (*at != made) {
        free_cell(*at);
        *at = made;
    }
    return true;
}

static ig_status push_cells(void *opaque, const ig_store_call *call,
                            const ig_store_cells *cells, const void *data,
                            const uint64_t *offsets) {
    memory *store = opaque;
    (void)pthread_rwlock_wrlock(&store->lock);
    table *t = need_table(store, cells->table);
    bool ok = t != NULL;
    for (size_t i = 0, count = ig_store_cell_count(cells); i < count && ok; i++) {
        const char *from = data ? (const char *)data + offsets[i] : NULL;
        ok = put_cell(t, key_of(cells, i), from, offsets[i + 1] - offsets[i]);
    }
    (void)pthread_rwlock_unlock(&store->lock);
    return ok ? IG_OK
              : ig_store_fail(call, IG_LIMIT, "table '%s': out of memory",
                              cells->table);
}

static ig_status erase_cells(void *opaque, const ig_store_call *call,
                             const ig_store_cells *cells) {
    memory *store = opaque;
    (void)call;
    (void)pthread_rwlock_wrlock(&store->lock);
    table *t = find_table(store, cells->table);
    for (size_t i = 0, count = ig_store_cell_count(cells); i < count && t; i++) {
        cell key = key_of(cells, i);
        cell *const *at = tfind(&key, &t->tree, compare_cells);
        if (at) {
            cell *gone = *at;
            (void)tdelete(gone, &t->tree, compare_cells);
            free_cell(gone);
        }
    }
    (void)pthread_rwlock_unlock(&store->lock);
    return IG_OK;
}

static ig_status answer_ping(void *opaque, const ig_store_call *call) {
    (void)opaque;
    (void)call;
    return IG_OK;
}

/* ---- scanning ---- */

typedef struct scan_state {
    const ig_store_call *call;
    const char *table;
    ig_store_visit *visit;
    void *user;
    ig_status status;
} scan_state;

static void scan_cell(const void *node, VISIT when, void *opaque) {
    scan_state *scan = opaque;
    if ((when != postorder && when != leaf) || scan->status != IG_OK) {
        return;
    }
    const cell *c = *(cell *const *)node;
    ig_store_cell shown = { .table = scan->table,
                            .id = c->id,
                            .column = c->column,
                            .state = c->state,
                            .data = c->data,
                            .bytes = c->bytes };
    scan->status = ig_store_check_time(scan->call);
    if (scan->status == IG_OK) {
        scan->status = scan->visit(scan->user, &shown);
    }
}

static ig_status scan_cells(void *opaque, const ig_store_call *call, const char *name,
                            ig_store_visit *visit, void *user) {
    memory *store = opaque;
    scan_state state = { .call = call, .visit = visit, .user = user };
    (void)pthread_rwlock_rdlock(&store->lock);
    for (const table *t = store->tables; t && state.status == IG_OK; t = t->next) {
        if (!name || strcmp(t->name, name) == 0) {
            state.table = t->name;
            twalk_r(t->tree, scan_cell, &state);
        }
    }
    (void)pthread_rwlock_unlock(&store->lock);
    return state.status;
}

const ig_store_plugin ig_store_memory = {
    .size = sizeof ig_store_memory,
    .abi = IG_STORE_ABI,
    .type = "memory",
    .open = open_memory,
    .close = close_memory,
    .pull = pull_cells,
    .push = push_cells,
    .erase = erase_cells,
    .ping = answer_ping,
    .scan = scan_cells,
};
