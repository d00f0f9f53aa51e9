/* Dynamic tables: training over a part of a table is training over all of it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ingot/dynamic.h"
#include "tests/unit/store/redis_server.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

static char why[512], file[64];
static ig_store_call call = { .size = sizeof call,
                              .message = why,
                              .message_size = sizeof why };

static redis_server server;

static void close_store(ig_store *store);

/* memory://, lmdb:// or redis://; NULL after a skip. */
static ig_store *open_store(int kind) {
    char url[96];
    ig_store *store = NULL;
    (void)snprintf(file, sizeof file, "/tmp/ingot-rows-XXXXXX");
    if (kind == 2 && !redis_server_start(&server, NULL, NULL)) {
        return NULL;
    }
    int made = mkstemp(file);
    CHECK(made >= 0);
    (void)close(made);
    (void)snprintf(url, sizeof url, kind ? "lmdb://%s?sync=no" : "memory://", file);
    ig_status status = ig_store_open(kind == 2 ? server.url : url, &call, &store);
    if (status == IG_UNSUPPORTED) {
        unit_skip("%s", why);
        close_store(NULL);
        return NULL;
    }
    CHECK_MSG(status == IG_OK, "%s", why);
    return store;
}

static void close_store(ig_store *store) {
    char lock[96];
    ig_store_close(store);
    (void)unlink(file);
    (void)snprintf(lock, sizeof lock, "%s-lock", file);
    (void)unlink(lock);
    if (server.process) {
        redis_server_end(&server);
    }
}

static ig_dynamic *make_table(ig_store *store, ig_dynamic_options options) {
    ig_dynamic *table = NULL;
    options.size = sizeof options;
    options.name = options.name ? options.name : "t";
    ig_status status = ig_dynamic_create(store, &options, &call, &table);
    CHECK_MSG(status == IG_OK, "%s", why);
    return table;
}

/* ---- training ---- */

/* TorchRec's precision test: 1,000 rows, of which 100 fit; Adam at 0.1; weights of 1;
 * 100 batches of 4 x 10 random ids. */
enum { ALL = 1000, SOME = 100, DIM = 16, BATCH = 40, STEPS = 100, STATES = 3 };

typedef struct rows_of {
    float *states[STATES]; /* weight, first and second moment */
} rows_of;

static void fill_ones(void *user, int64_t id, void *weight) {
    (void)user;
    (void)id;
    for (int i = 0; i < DIM; i++) {
        ((float *)weight)[i] = 1;
    }
}

/* One step of Adam on each row in turn; returns the loss. */
static float train(const rows_of *t, const int64_t *rows, int step) {
    float loss = 0;
    for (int b = 0; b < BATCH; b++) {
        float *w = t->states[0] + rows[b] * DIM, *m = t->states[1] + rows[b] * DIM;
        float *v = t->states[2] + rows[b] * DIM;
        for (int i = 0; i < DIM; i++) {
            float gap = w[i] - (float)(b * DIM + i) / (BATCH * DIM);
            loss += gap * gap;
            m[i] = 0.9f * m[i] + 0.1f * gap;
            v[i] = 0.999f * v[i] + 0.001f * gap * gap;
            float near = m[i] / (1 - powf(0.9f, (float)step));
            float size = v[i] / (1 - powf(0.999f, (float)step));
            w[i] -= 0.1f * near / (sqrtf(size) + 1e-8f);
        }
    }
    return loss;
}

static void draw_ids(int64_t *ids, uint64_t *state) {
    for (int i = 0; i < BATCH; i++) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        ids[i] = (int64_t)(*state >> 33) % ALL;
    }
}

static rows_of rows_in(ig_dynamic *table) {
    rows_of rows;
    for (uint32_t s = 0; s < STATES; s++) {
        rows.states[s] = ig_dynamic_data(table, s);
    }
    return rows;
}

static rows_of make_all(void) {
    rows_of all;
    for (int s = 0; s < STATES; s++) {
        all.states[s] = calloc(ALL * DIM, sizeof(float));
        CHECK(all.states[s]);
    }
    for (int64_t id = 0; id < ALL; id++) {
        fill_ones(NULL, id, all.states[0] + id * DIM);
    }
    return all;
}

/* Reads every row back through a new table and holds it against `all`. */
static void check_stored(ig_store *store, const rows_of *all, const bool *is_used) {
    ig_dynamic *table =
        make_table(store, (ig_dynamic_options){ .row_count = 7,
                                                .row_bytes = DIM * sizeof(float),
                                                .state_count = STATES,
                                                .is_read_only = 1,
                                                .fill = fill_ones });
    rows_of rows = rows_in(table);
    for (int64_t id = 0, row; id < ALL; id++) {
        CHECK_OK(ig_dynamic_fetch(table, &call, (uint32_t)id + 1, &id, 1, &row));
        for (int s = 0; s < STATES && is_used[id]; s++) {
            CHECK(memcmp(rows.states[s] + row * DIM, all->states[s] + id * DIM,
                         DIM * sizeof(float)) == 0);
        }
        ig_dynamic_release(table, (uint32_t)id + 1);
    }
    ig_dynamic_destroy(table);
}

TEST(a_part_of_the_rows_trains_like_all) {
    ig_store *store = open_store(_i);
    bool is_used[ALL] = { false };
    uint64_t state = 7;
    if (!store) {
        return;
    }
    rows_of all = make_all();
    ig_dynamic *table =
        make_table(store, (ig_dynamic_options){ .row_count = SOME,
                                                .row_bytes = DIM * sizeof(float),
                                                .state_count = STATES,
                                                .fill = fill_ones });
    rows_of some = rows_in(table);
    for (int step = 1; step <= STEPS; step++) {
        int64_t ids[BATCH], rows[BATCH];
        draw_ids(ids, &state);
        CHECK_OK(ig_dynamic_fetch(table, &call, (uint32_t)step, ids, BATCH, rows));
        float loss = train(&some, rows, step), wanted = train(&all, ids, step);
        CHECK_MSG(loss == wanted, "step %d: %g, not %g", step, (double)loss,
                  (double)wanted);
        ig_dynamic_release(table, (uint32_t)step);
        for (int i = 0; i < BATCH; i++) {
            is_used[ids[i]] = true;
        }
    }
    ig_dynamic_counts counts = ig_dynamic_describe(table);
    CHECK_INT(counts.ids, STEPS * BATCH);
    CHECK(counts.written > SOME && counts.fetched > SOME);
    CHECK_OK(ig_dynamic_save(table, &call));
    ig_dynamic_destroy(table);
    check_stored(store, &all, is_used);
    for (int s = 0; s < STATES; s++) {
        free(all.states[s]);
    }
    close_store(store);
}
END_TEST

/* ---- a look-ahead ---- */

enum { AHEAD = 2, SLOTS = AHEAD + 1 };

typedef struct queue {
    ig_dynamic *table;
    int64_t ids[SLOTS][BATCH], rows[SLOTS][BATCH];
    sem_t empty, full;
    ig_status status;
} queue;

static void *load(void *opaque) {
    queue *q = opaque;
    uint64_t state = 7;
    for (int step = 1; step <= STEPS; step++) {
        int at = step % SLOTS;
        (void)sem_wait(&q->empty);
        draw_ids(q->ids[at], &state);
        ig_status status = ig_dynamic_fetch(q->table, NULL, (uint32_t)step, q->ids[at],
                                            BATCH, q->rows[at]);
        q->status = q->status == IG_OK ? status : q->status;
        (void)sem_post(&q->full);
    }
    return NULL;
}

TEST(fetches_run_ahead_of_training) {
    ig_store *store = open_store(_i);
    queue q = { .status = IG_OK };
    pthread_t loader;
    if (!store) {
        return;
    }
    rows_of all = make_all();
    q.table = make_table(store, (ig_dynamic_options){ .row_count = BATCH * SLOTS + 5,
                                                      .row_bytes = DIM * sizeof(float),
                                                      .state_count = STATES,
                                                      .evict_rows = 20,
                                                      .fill = fill_ones });
    rows_of some = rows_in(q.table);
    CHECK_INT(sem_init(&q.empty, 0, AHEAD), 0);
    CHECK_INT(sem_init(&q.full, 0, 0), 0);
    CHECK_INT(pthread_create(&loader, NULL, load, &q), 0);
    for (int step = 1; step <= STEPS; step++) {
        int at = step % SLOTS;
        (void)sem_wait(&q.full);
        float loss = train(&some, q.rows[at], step);
        CHECK(loss == train(&all, q.ids[at], step));
        ig_dynamic_release(q.table, (uint32_t)step);
        (void)sem_post(&q.empty);
    }
    CHECK_INT(pthread_join(loader, NULL), 0);
    CHECK_OK(q.status);
    ig_dynamic_destroy(q.table);
    for (int s = 0; s < STATES; s++) {
        free(all.states[s]);
    }
    close_store(store);
}
END_TEST

/* ---- small facts ---- */

TEST(evicted_rows_come_back) {
    ig_store *store = open_store(_i);
    if (!store) {
        return;
    }
    ig_dynamic *table =
        make_table(store, (ig_dynamic_options){ .row_count = 4, .row_bytes = 4 });
    float *weights = ig_dynamic_data(table, 0);
    const int64_t first[] = { 1, 2, 3, 4 }, second[] = { 1, 2, 5, 6 },
                  third[] = { 4, 3 };
    int64_t rows[4];
    CHECK_PTR(ig_dynamic_data(table, 1), NULL);
    CHECK_OK(ig_dynamic_fetch(table, &call, 1, first, 4, rows));
    for (int i = 0; i < 4; i++) {
        weights[rows[i]] = (float)first[i] * 10;
    }
    CHECK_OK(ig_dynamic_fetch(table, &call, 1, first, 2, rows)); /* used more */
    CHECK_STATUS(ig_dynamic_fetch(table, &call, 2, second, 4, rows), IG_LIMIT);
    CHECK(strstr(why, "batches that are not released use all of its 4 rows"));
    ig_dynamic_release(table, 1);
    CHECK_STATUS(ig_dynamic_fetch(table, &call, 1, first, 1, rows), IG_INVALID);
    CHECK_OK(ig_dynamic_fetch(table, &call, 3, second, 4, rows));
    CHECK(weights[rows[0]] == 10 && weights[rows[2]] == 0 && weights[rows[3]] == 0);
    ig_dynamic_release(table, 3);
    CHECK_OK(ig_dynamic_fetch(table, &call, 4, third, 2, rows));
    CHECK(weights[rows[0]] == 40 && weights[rows[1]] == 30);
    ig_dynamic_destroy(table);
    close_store(store);
}
END_TEST

TEST(a_failed_call_loses_nothing) {
    ig_store *store = open_store(_i);
    volatile int cancel = 0;
    if (!store) {
        return;
    }
    ig_dynamic *table =
        make_table(store, (ig_dynamic_options){ .row_count = 2, .row_bytes = 4 });
    float *weights = ig_dynamic_data(table, 0);
    const int64_t first[] = { 1, 2 }, second[] = { 3, 4 };
    int64_t rows[2];
    call.cancel = &cancel;
    cancel = 1;
    CHECK_STATUS(ig_dynamic_fetch(table, &call, 1, first, 2, rows), IG_CANCELLED);
    cancel = 0;
    CHECK_OK(ig_dynamic_fetch(table, &call, 2, first, 2, rows));
    CHECK_INT(ig_dynamic_describe(table).filled, 2); /* not taken for rows it has */
    weights[rows[0]] = 10;
    weights[rows[1]] = 20;
    ig_dynamic_release(table, 2);
    cancel = 1;
    CHECK_STATUS(ig_dynamic_fetch(table, &call, 3, second, 2, rows), IG_CANCELLED);
    CHECK_STATUS(ig_dynamic_save(table, &call), IG_CANCELLED);
    cancel = 0;
    CHECK_OK(ig_dynamic_fetch(table, &call, 4, second, 2, rows));
    ig_dynamic_release(table, 4);
    CHECK_OK(ig_dynamic_fetch(table, &call, 5, first, 2, rows));
    CHECK(weights[rows[0]] == 10 && weights[rows[1]] == 20);
    call.cancel = NULL;
    ig_dynamic_destroy(table);
    close_store(store);
}
END_TEST

TEST(a_row_of_another_length_is_refused) {
    ig_store *store = open_store(0);
    const int64_t id = 5, negative = -5;
    const uint64_t offsets[] = { 0, 3 };
    int64_t row;
    ig_store_cells cells = {
        .size = sizeof cells, .table = "t", .ids = &id, .id_count = 1
    };
    ig_dynamic_options none = { .size = sizeof none, .name = "t" };
    ig_dynamic *table = NULL;
    CHECK_OK(ig_store_push(store, &call, &cells, "abc", offsets));
    CHECK_STATUS(ig_dynamic_create(store, &none, &call, &table), IG_INVALID);
    table = make_table(store, (ig_dynamic_options){ .row_count = 1, .row_bytes = 4 });
    CHECK_STATUS(ig_dynamic_fetch(table, &call, 1, &id, 1, &row), IG_INVALID);
    CHECK_TEXT(why, "table 't': the store has a row of 3 bytes, expected 4");
    CHECK_STATUS(ig_dynamic_fetch(table, &call, 1, &negative, 1, &row), IG_INVALID);
    CHECK_OK(ig_dynamic_fetch(table, &call, 1, NULL, 0, NULL));
    ig_dynamic_destroy(table);
    ig_dynamic_destroy(NULL);
    close_store(store);
}
END_TEST

static void add_stores(TCase *tcase) {
    tcase_add_loop_test(tcase, a_part_of_the_rows_trains_like_all, 0, 3);
    tcase_add_loop_test(tcase, fetches_run_ahead_of_training, 0, 3);
    tcase_add_loop_test(tcase, evicted_rows_come_back, 0, 3);
    tcase_add_loop_test(tcase, a_failed_call_loses_nothing, 0, 3);
}

/* What was used after the save is written by the next one, whatever times became. */
TEST(spare_rows_are_nobody_s_and_halved_times_lose_no_save) {
    ig_store *store = open_store(0);
    ig_dynamic *table = make_table(
        store, (ig_dynamic_options){ .row_count = 4, .row_bytes = 4, .spare_rows = 2 });
    int64_t ids[] = { 5, 6 }, rows[2];
    int32_t *data = ig_dynamic_data(table, 0);
    CHECK_INT(data[0] | data[1], 0);
    CHECK_INT(ig_dynamic_fetch(table, &call, 4, ids, 2, rows), IG_OK);
    CHECK_INT(rows[0], 2);
    CHECK_INT(rows[1], 3);
    data[2] = 55;
    ig_dynamic_release(table, 4);
    CHECK_INT(ig_dynamic_save(table, &call), IG_OK);
    CHECK_INT(ig_dynamic_fetch(table, &call, 5, ids, 1, rows), IG_OK);
    data[2] = 56;
    ig_dynamic_release(table, 5);
    ig_dynamic_halve_times(table);
    CHECK_INT(ig_dynamic_save(table, &call), IG_OK);
    ids[1] = 7;
    CHECK_INT(ig_dynamic_find(table, &call, 3, ids, 2, rows), IG_OK);
    CHECK_INT(rows[0], 2);
    CHECK_INT(rows[1], -1);
    ig_dynamic_destroy(table);
    table = make_table(store, (ig_dynamic_options){ .row_count = 4, .row_bytes = 4 });
    CHECK_INT(ig_dynamic_fetch(table, &call, 1, ids, 1, rows), IG_OK);
    CHECK_INT(((int32_t *)ig_dynamic_data(table, 0))[rows[0]], 56);
    ig_dynamic_destroy(table);
    close_store(store);
}

/* Two ranks, each with half of the rows in memory of its own, and states of other
 * sizes: the same calls give the same rows, and each moves its own. */
TEST(ranks_share_a_table_and_move_their_own_rows) {
    enum { RANKS = 2, HALF = 3, MAX = 2 * HALF, IDS = 40 };
    static const size_t bytes[] = { 8, 4 };
    int64_t weights[RANKS][HALF];
    int32_t moments[RANKS][HALF];
    ig_dynamic *tables[RANKS];
    ig_store *store = open_store(0);
    memset(weights, 7, sizeof weights);
    memset(moments, 7, sizeof moments);
    for (int r = 0; r < RANKS; r++) {
        void *const memory[] = { weights[r], moments[r] };
        tables[r] = make_table(store, (ig_dynamic_options){ .row_count = MAX,
                                                            .row_bytes = 8,
                                                            .state_count = 2,
                                                            .evict_rows = 2,
                                                            .state_bytes = bytes,
                                                            .memory = memory,
                                                            .shard_begin = r * HALF,
                                                            .shard_rows = HALF,
                                                            .keeps_absent = 1 });
        CHECK_PTR(ig_dynamic_data(tables[r], 1), moments[r]);
    }
    for (uint32_t step = 1; step <= 3 * IDS; step++) {
        int64_t ids[] = { step % IDS, 100 }, rows[RANKS][2];
        for (int r = 0; r < RANKS; r++) {
            CHECK_MSG(ig_dynamic_fetch(tables[r], &call, step, ids, 2, rows[r]) ==
                          IG_OK,
                      "%s", why);
        }
        CHECK_INT(memcmp(rows[0], rows[1], sizeof rows[0]), 0);
        for (int i = 0; i < 2; i++) {
            int64_t rank = rows[0][i] / HALF, position = rows[0][i] % HALF;
            bool is_known = step > IDS || (i == 1 && step > 1);
            size_t filled = 0;
            const ig_id_row *fresh = ig_dynamic_filled(tables[rank], &filled);
            if (is_known) {
                CHECK_INT(weights[rank][position], -ids[i]);
                CHECK_INT(moments[rank][position], 2 * ids[i]);
                CHECK_INT(filled > 0 && fresh[0].id == ids[i], 0);
            } else {
                CHECK(filled > 0);
                weights[rank][position] = -ids[i];
                moments[rank][position] = (int32_t)(2 * ids[i]);
            }
        }
        for (int r = 0; r < RANKS; r++) {
            ig_dynamic_release(tables[r], step);
        }
    }
    for (int r = 0; r < RANKS; r++) {
        ig_dynamic_destroy(tables[r]);
    }
    ig_dynamic_options bad = { .size = sizeof bad,
                               .name = "t",
                               .row_count = 4,
                               .row_bytes = 8,
                               .shard_begin = 3,
                               .shard_rows = 2 };
    CHECK_INT(ig_dynamic_create(store, &bad, &call, &tables[0]), IG_INVALID);
    close_store(store);
}

static void push_rows(ig_store *store, const int64_t *ids, size_t count, float value) {
    float rows[4] = { value, value, value, value };
    uint64_t offsets[5] = { 0, 4, 8, 12, 16 };
    ig_store_cells cells = {
        .size = sizeof cells, .table = "t", .ids = ids, .id_count = count
    };
    CHECK_INT(ig_store_push(store, &call, &cells, rows, offsets), IG_OK);
}

/* Rows are due by a clock; a period of 1 ns has always passed, one of an hour never. */
TEST(due_rows_are_read_again_unless_a_batch_uses_them) {
    static const int64_t ids[] = { 5, 6, 5 };
    for (int is_due = 0; is_due < 2; is_due++) {
        ig_store *store = open_store(0);
        ig_dynamic *table = make_table(
            store,
            (ig_dynamic_options){ .row_count = 4,
                                  .row_bytes = sizeof(float),
                                  .is_read_only = 1,
                                  .spare_rows = 2,
                                  .refresh_ns = is_due ? 1 : INT64_C(3600000000000) });
        const float *weights = ig_dynamic_data(table, 0);
        int64_t rows[3];
        push_rows(store, ids, 2, 1);
        CHECK_INT(ig_dynamic_fetch(table, &call, 1, ids, 3, rows), IG_OK);
        CHECK_INT((int64_t)ig_dynamic_refresh(table, &call, 1, ids, 3, rows), 0);
        push_rows(store, ids, 2, 2);
        CHECK_INT(ig_dynamic_fetch(table, &call, 2, ids, 3, rows), IG_OK);
        size_t stale = ig_dynamic_refresh(table, &call, 2, ids, 3, rows);
        CHECK_INT((int64_t)stale, is_due ? 3 : 0); /* batch 1 still uses them */
        CHECK(weights[rows[0]] == 1);
        ig_dynamic_release(table, 2);
        CHECK_INT(ig_dynamic_fetch(table, &call, 3, ids, 3, rows), IG_OK);
        CHECK_INT((int64_t)ig_dynamic_refresh(table, &call, 3, ids, 3, rows), 0);
        CHECK(weights[rows[0]] == (is_due ? 2 : 1) &&
              weights[rows[1]] == weights[rows[2]]);
        rows[0] = -1; /* one that did not come */
        CHECK_INT((int64_t)ig_dynamic_refresh(table, &call, 3, ids, 1, rows), 0);
        ig_dynamic_destroy(table);
        close_store(store);
    }
}

UNIT_SUITE_WITH(store_dynamic, add_stores,
                due_rows_are_read_again_unless_a_batch_uses_them,
                a_row_of_another_length_is_refused,
                ranks_share_a_table_and_move_their_own_rows,
                spare_rows_are_nobody_s_and_halved_times_lose_no_save)
