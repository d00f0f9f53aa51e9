/* lmdb:///PATH[?sync=no]: cells in one LMDB file.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every push is one transaction, synced to disk before it returns; with sync=no flush
 * does that.  A process may be killed at any moment: a push is there whole or not at
 * all.  Several processes may use one file; a wait for their writers has no deadline
 * (LMDB's lock has none).
 *
 * Key: the table's name, a zero byte, then id, column and state, big-endian with the
 * sign bit flipped, so that keys sort by table, id, column, state.  Value: the bytes.
 */
#include "runtime/store/lmdb/environment.h"

#include <stdlib.h>
#include <string.h>

enum {
    NUMBER_BYTES = 8 + 8 + 4,
    KEY_BYTES = IG_STORE_TABLE_BYTES + 1 + NUMBER_BYTES,
    CELLS_PER_POLL = 1024 /* between two polls of the clock */
};

typedef struct store {
    environment *shared;
} store;

/* ---- keys ---- */

static void put_number(unsigned char *to, uint64_t number, int bytes) {
    for (int i = 0; i < bytes; i++) {
        to[i] = (unsigned char)(number >> (8 * (bytes - 1 - i)));
    }
}

static uint64_t get_number(const unsigned char *from, int bytes) {
    uint64_t number = 0;
    for (int i = 0; i < bytes; i++) {
        number = number << 8 | from[i];
    }
    return number;
}

static const uint64_t sign_bit = UINT64_C(1) << 63;

/* The request's key with its name in place; numbers follow at `numbers`. */
typedef struct cell_key {
    unsigned char bytes[KEY_BYTES];
    size_t numbers_at; /* where they begin */
} cell_key;

static void begin_key(cell_key *key, const char *table) {
    size_t size = strlen(table) + 1;
    memcpy(key->bytes, table, size);
    key->numbers_at = size;
}

static MDB_val finish_key(cell_key *key, const ig_store_cells *cells, size_t index) {
    ig_store_cell named = ig_store_cell_at(cells, index);
    unsigned char *numbers_at = key->bytes + key->numbers_at;
    put_number(numbers_at, (uint64_t)named.id ^ sign_bit, 8);
    put_number(numbers_at + 8, (uint64_t)named.column ^ sign_bit, 8);
    put_number(numbers_at + 16, named.state, 4);
    return (MDB_val){ key->numbers_at + NUMBER_BYTES, key->bytes };
}

/* ---- life cycle ---- */

static ig_status open_store(const ig_store_plugin *self, const ig_store_call *call,
                            const char *config, void **out_store) {
    (void)self;
    const char *options = strchr(config, '?');
    size_t size = options ? (size_t)(options - config) : strlen(config);
    bool is_synced = !options || strcmp(options, "?sync=yes") == 0;
    if (!is_synced && strcmp(options, "?sync=no") != 0) {
        return ig_store_fail(call, IG_INVALID,
                             "lmdb://%s: the only option is sync=yes or sync=no",
                             config);
    }
    if (size == 0) {
        return ig_store_fail(call, IG_INVALID,
                             "lmdb:// names no file: expected lmdb:///PATH");
    }
    char *path = strndup(config, size);
    store *made = calloc(1, sizeof *made);
    ig_status status = path && made
                           ? ig_lmdb_open(call, path, is_synced, &made->shared)
                           : ig_store_fail(call, IG_LIMIT, "out of memory for a store");
    free(path);
    if (status != IG_OK) {
        free(made);
        return status;
    }
    *out_store = made;
    return IG_OK;
}

static void close_store(void *opaque) {
    store *gone = opaque;
    ig_lmdb_close(gone->shared);
    free(gone);
}

/* ---- calls ---- */

typedef struct request request;

/* The work on one cell; returns LMDB's result. */
typedef int cell_work(MDB_txn *transaction, MDB_dbi cells, const request *r,
                      size_t index, MDB_val *name);

struct request {
    const ig_store_call *call;
    const ig_store_cells *cells;
    const char *data;        /* pushes */
    const uint64_t *offsets; /* pushes */
    ig_store_found *found;   /* pulls */
    void *user;
    cell_work *work;
    ig_status status; /* why the work stopped */
};

static int read_cell(MDB_txn *transaction, MDB_dbi cells, const request *r,
                     size_t index, MDB_val *name) {
    MDB_val value = { 0, NULL };
    int result = mdb_get(transaction, cells, name, &value);
    if (result != MDB_SUCCESS && result != MDB_NOTFOUND) {
        return result;
    }
    bool is_there = result == MDB_SUCCESS;
    r->found(r->user, index, is_there ? value.mv_data : NULL,
             is_there ? value.mv_size : 0);
    return MDB_SUCCESS;
}

static int write_cell(MDB_txn *transaction, MDB_dbi cells, const request *r,
                      size_t index, MDB_val *name) {
    MDB_val value = { r->offsets[index + 1] - r->offsets[index], NULL };
    int result = mdb_put(transaction, cells, name, &value, MDB_RESERVE);
    if (result == MDB_SUCCESS && value.mv_size > 0) {
        memcpy(value.mv_data, r->data + r->offsets[index], value.mv_size);
    }
    return result;
}

static int remove_cell(MDB_txn *transaction, MDB_dbi cells, const request *r,
                       size_t index, MDB_val *name) {
    (void)r;
    (void)index;
    int result = mdb_del(transaction, cells, name, NULL);
    return result == MDB_NOTFOUND ? MDB_SUCCESS : result;
}

/* All cells of the request, in order. */
static int visit_cells(MDB_txn *transaction, MDB_dbi cells, void *state) {
    request *r = state;
    cell_key key;
    begin_key(&key, r->cells->table);
    for (size_t i = 0, count = ig_store_cell_count(r->cells); i < count; i++) {
        if (i % CELLS_PER_POLL == 0) {
            r->status = ig_store_check_time(r->call);
        }
        if (r->status != IG_OK) {
            return IG_LMDB_STOPPED;
        }
        MDB_val name = finish_key(&key, r->cells, i);
        int result = r->work(transaction, cells, r, i, &name);
        if (result != MDB_SUCCESS) {
            return result;
        }
    }
    return MDB_SUCCESS;
}

static ig_status pull_cells(void *opaque, const ig_store_call *call,
                            const ig_store_cells *cells, ig_store_found *found,
                            void *user) {
    request r = {
        .call = call, .cells = cells, .work = read_cell, .found = found, .user = user
    };
    IG_TRY(ig_lmdb_read(call, ((store *)opaque)->shared, visit_cells, &r));
    return r.status;
}

static ig_status push_cells(void *opaque, const ig_store_call *call,
                            const ig_store_cells *cells, const void *data,
                            const uint64_t *offsets) {
    request r = { .call = call,
                  .cells = cells,
                  .work = write_cell,
                  .data = data,
                  .offsets = offsets };
    IG_TRY(ig_lmdb_write(call, ((store *)opaque)->shared, visit_cells, &r));
    return r.status;
}

static ig_status erase_cells(void *opaque, const ig_store_call *call,
                             const ig_store_cells *cells) {
    request r = { .call = call, .cells = cells, .work = remove_cell };
    IG_TRY(ig_lmdb_write(call, ((store *)opaque)->shared, visit_cells, &r));
    return r.status;
}

static ig_status flush_file(void *opaque, const ig_store_call *call) {
    const environment *shared = ((store *)opaque)->shared;
    int result = mdb_env_sync(shared->env, 1);
    return result == MDB_SUCCESS ? IG_OK : ig_lmdb_fail(call, shared->path, result);
}

static int read_nothing(MDB_txn *transaction, MDB_dbi cells, void *state) {
    (void)state;
    MDB_stat stat;
    return mdb_stat(transaction, cells, &stat);
}

static ig_status answer_ping(void *opaque, const ig_store_call *call) {
    return ig_lmdb_read(call, ((store *)opaque)->shared, read_nothing, NULL);
}

/* ---- scanning ---- */

typedef struct scan_request {
    const ig_store_call *call;
    const char *table;
    ig_store_visit *visit;
    void *user;
    ig_status status;
} scan_request;

/* A key of ours: a name, a zero byte, the numbers. */
static bool read_key(const MDB_val *key, ig_store_cell *out_cell) {
    const unsigned char *bytes = key->mv_data;
    size_t name = strnlen(key->mv_data, key->mv_size);
    if (name == 0 || key->mv_size != name + 1 + NUMBER_BYTES) {
        return false;
    }
    const unsigned char *numbers_at = bytes + name + 1;
    out_cell->table = key->mv_data;
    out_cell->id = (int64_t)(get_number(numbers_at, 8) ^ sign_bit);
    out_cell->column = (int64_t)(get_number(numbers_at + 8, 8) ^ sign_bit);
    out_cell->state = (uint32_t)get_number(numbers_at + 16, 4);
    return true;
}

static int walk_all(MDB_txn *transaction, MDB_dbi cells, void *state) {
    scan_request *r = state;
    MDB_cursor *cursor = NULL;
    int result = mdb_cursor_open(transaction, cells, &cursor);
    if (result != MDB_SUCCESS) {
        return result;
    }
    MDB_val key = { r->table ? strlen(r->table) + 1 : 0, (void *)(uintptr_t)r->table };
    MDB_val value;
    result = mdb_cursor_get(cursor, &key, &value, r->table ? MDB_SET_RANGE : MDB_FIRST);
    for (; result == MDB_SUCCESS;
         result = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) {
        ig_store_cell cell = { .data = value.mv_data, .bytes = value.mv_size };
        if (!read_key(&key, &cell)) {
            continue;
        }
        if (r->table && strcmp(cell.table, r->table) != 0) {
            break;
        }
        r->status = ig_store_check_time(r->call);
        if (r->status == IG_OK) {
            r->status = r->visit(r->user, &cell);
        }
        if (r->status != IG_OK) {
            result = IG_LMDB_STOPPED;
            break;
        }
    }
    mdb_cursor_close(cursor);
    return result == MDB_NOTFOUND ? MDB_SUCCESS : result;
}

static ig_status scan_cells(void *opaque, const ig_store_call *call, const char *table,
                            ig_store_visit *visit, void *user) {
    scan_request r = { .call = call, .table = table, .visit = visit, .user = user };
    IG_TRY(ig_lmdb_read(call, ((store *)opaque)->shared, walk_all, &r));
    return r.status;
}

static const ig_store_plugin plugin = {
    .size = sizeof plugin,
    .abi = IG_STORE_ABI,
    .type = "lmdb",
    .open = open_store,
    .close = close_store,
    .pull = pull_cells,
    .push = push_cells,
    .erase = erase_cells,
    .flush = flush_file,
    .ping = answer_ping,
    .scan = scan_cells,
};

IG_API ig_store_plugin_entry ig_store_plugin_v2;

const ig_store_plugin *ig_store_plugin_v2(void) {
    return &plugin;
}
