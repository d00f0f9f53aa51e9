/* Rates of stores beside what they are made of.  SPDX-License-Identifier: Apache-2.0
 *
 *     store_rates lmdb FOLDER | redis URL
 *
 * lmdb: rows of 512 bytes in batches of 1,024, a commit each, through ingot/store.h and
 * through mdb_get and mdb_put, rounds in turn; neither syncs.  redis: the same through
 * ingot/store.h in batches, and one by one.
 */
#include <ingot/store.h>

#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROWS = 1024, ROW_BYTES = 512, ROUNDS = 41, SINGLES = 1000 };

static double now_seconds(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int64_t ids[ROWS];
static char data[ROWS * ROW_BYTES], copy[ROWS * ROW_BYTES];
static uint64_t offsets[ROWS + 1];
static char why[512];
static ig_store_call call = { .size = sizeof call,
                              .message = why,
                              .message_size = sizeof why };
static ig_store_cells cells = {
    .size = sizeof cells, .table = "t", .ids = ids, .id_count = ROWS
};
static uint64_t state = 1;
static int64_t keys = 100000; /* redis: as many as redis-benchmark -r names */

static void draw_ids(void) {
    for (int i = 0; i < ROWS; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        ids[i] = (int64_t)(state >> 33) % keys;
    }
}

static void copy_cell(void *user, size_t cell, const void *from, size_t bytes) {
    (void)user;
    if (from && bytes == ROW_BYTES) {
        memcpy(copy + cell * ROW_BYTES, from, bytes);
    }
}

static void need_ok(int status) {
    if (status) {
        fprintf(stderr, "status %d: %s\n", status, why);
        exit(1);
    }
}

/* ---- raw LMDB, with keys as long as ours ---- */

static MDB_env *env;
static MDB_dbi dbi;

static MDB_val key_of(int64_t id, char *room) {
    uint64_t big = (uint64_t)id ^ UINT64_C(1) << 63;
    room[0] = 't';
    room[1] = 0;
    for (int b = 0; b < 8; b++) {
        room[2 + b] = (char)(big >> (56 - 8 * b));
    }
    memset(room + 10, 0, 12); /* column, state */
    return (MDB_val){ 22, room };
}

static void raw_put(void) {
    MDB_txn *txn;
    char room[22];
    need_ok(mdb_txn_begin(env, NULL, 0, &txn));
    for (int i = 0; i < ROWS; i++) {
        MDB_val key = key_of(ids[i], room), value = { ROW_BYTES, data + i * ROW_BYTES };
        need_ok(mdb_put(txn, dbi, &key, &value, 0));
    }
    need_ok(mdb_txn_commit(txn));
}

static void raw_get(void) {
    MDB_txn *txn;
    char room[22];
    need_ok(mdb_txn_begin(env, NULL, MDB_RDONLY, &txn));
    for (int i = 0; i < ROWS; i++) {
        MDB_val key = key_of(ids[i], room), value;
        if (mdb_get(txn, dbi, &key, &value) == 0) {
            memcpy(copy + i * ROW_BYTES, value.mv_data, value.mv_size);
        }
    }
    mdb_txn_abort(txn);
}

static ig_store *store;

static void our_put(void) {
    need_ok((int)ig_store_push(store, &call, &cells, data, offsets));
}

static void our_get(void) {
    need_ok((int)ig_store_pull(store, &call, &cells, copy_cell, NULL));
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double time_one(void (*work)(void)) {
    double begin = now_seconds();
    work();
    return now_seconds() - begin;
}

/* Median of (time of theirs / time of ours). */
static double compare(void (*ours)(void), void (*theirs)(void), double *rate) {
    double ratios[ROUNDS], times[ROUNDS];
    for (int r = 0; r < ROUNDS; r++) {
        draw_ids();
        double a = r % 2 ? 0 : time_one(ours);
        double b = time_one(theirs);
        a = r % 2 ? time_one(ours) : a;
        ratios[r] = b / a;
        times[r] = a;
    }
    qsort(ratios, ROUNDS, sizeof *ratios, compare_doubles);
    qsort(times, ROUNDS, sizeof *times, compare_doubles);
    *rate = ROWS / times[ROUNDS / 2];
    return ratios[ROUNDS / 2];
}

static void one_by_one(void) {
    ig_store_cells one = cells;
    one.id_count = 1;
    for (int i = 0; i < SINGLES; i++) {
        one.ids = ids + i;
        need_ok((int)ig_store_pull(store, &call, &one, copy_cell, NULL));
    }
}

static void note_cell(void *user, size_t cell, const void *from, size_t bytes) {
    (void)cell;
    (void)bytes;
    *(int *)user = from != NULL;
}

/* Once a server. */
static void fill_store(void) {
    int is_there = 0;
    ids[0] = keys - 1;
    ig_store_cells last = cells;
    last.id_count = 1;
    need_ok((int)ig_store_pull(store, &call, &last, note_cell, &is_there));
    if (is_there) {
        return;
    }
    for (int64_t first = 0; first < keys; first += ROWS) {
        for (int i = 0; i < ROWS; i++) {
            ids[i] = (first + i) % keys;
        }
        our_put();
        if (env) {
            raw_put();
        }
    }
}

int main(int argc, char **argv) {
    char url[512];
    double get_rate, put_rate;
    if (argc != 3) {
        return 2;
    }
    for (int i = 0; i <= ROWS; i++) {
        offsets[i] = (uint64_t)i * ROW_BYTES;
    }
    int is_lmdb = strcmp(argv[1], "lmdb") == 0;
    snprintf(url, sizeof url, is_lmdb ? "lmdb://%s/ours.mdb?sync=no" : "%s", argv[2]);
    need_ok((int)ig_store_open(url, &call, &store));
    if (is_lmdb) {
        MDB_txn *txn;
        snprintf(url, sizeof url, "%s/raw.mdb", argv[2]);
        need_ok(mdb_env_create(&env));
        need_ok(mdb_env_set_mapsize(env, (size_t)1 << 32));
        need_ok(mdb_env_open(env, url, MDB_NOSUBDIR | MDB_NOSYNC, 0600));
        need_ok(mdb_txn_begin(env, NULL, 0, &txn));
        need_ok(mdb_dbi_open(txn, NULL, 0, &dbi));
        need_ok(mdb_txn_commit(txn));
        fill_store();
        double get = compare(our_get, raw_get, &get_rate);
        double put = compare(our_put, raw_put, &put_rate);
        printf(
            "{\"get_of_raw\": %.3f, \"put_of_raw\": %.3f, \"get\": %.0f, \"put\": %.0f}\n",
            get, put, get_rate, put_rate);
    } else {
        double times[ROUNDS], single;
        keys = 1000000;
        fill_store();
        draw_ids();
        single = SINGLES / time_one(one_by_one);
        for (int r = 0; r < ROUNDS; r++) {
            draw_ids();
            times[r] = time_one(our_get);
        }
        qsort(times, ROUNDS, sizeof *times, compare_doubles);
        get_rate = ROWS / times[ROUNDS / 2];
        for (int r = 0; r < ROUNDS; r++) {
            draw_ids();
            times[r] = time_one(our_put);
        }
        qsort(times, ROUNDS, sizeof *times, compare_doubles);
        put_rate = ROWS / times[ROUNDS / 2];
        printf("{\"single\": %.0f, \"get\": %.0f, \"put\": %.0f}\n", single, get_rate,
               put_rate);
    }
    ig_store_close(store);
    return 0;
}
