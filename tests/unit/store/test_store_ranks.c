/* Ranks that are processes of their own share a table over one store.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each has half of the rows.  A row may be evicted in one half and come back in the
 * other: what one process wrote is what the other reads.
 */
#include "ingot/dynamic.h"
#include "tests/unit/unit.h"

#include <sys/wait.h>
#include <unistd.h>

enum { RANKS = 2, HALF = 8, ROWS = RANKS * HALF, IDS = 60, BATCH = 7, STEPS = 400 };

static char file[64], url[96], why[256];
static ig_store_call call = { .size = sizeof call,
                              .message = why,
                              .message_size = sizeof why };

typedef struct rank {
    int index;
    int to_other, from_other; /* pipes */
    ig_dynamic *table;
} rank;

/* The same for all ranks: an id may stand twice in a batch. */
static void draw_batch(uint64_t *state, int64_t *ids) {
    for (int i = 0; i < BATCH; i++) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        ids[i] = (int64_t)(*state >> 40) % IDS;
    }
}

static bool is_first(const int64_t *ids, int at) {
    for (int i = 0; i < at; i++) {
        if (ids[i] == ids[at]) {
            return false;
        }
    }
    return true;
}

/* Both are here: what ranks do when they exchange their ids. */
static bool meet(const rank *r) {
    char byte = 1;
    return write(r->to_other, &byte, 1) == 1 && read(r->from_other, &byte, 1) == 1;
}

/* Counts the use of each id in its row, where the row is this rank's. */
static void use_rows(const rank *r, const int64_t *ids, const int64_t *rows) {
    for (int i = 0; i < BATCH; i++) {
        if (is_first(ids, i) && rows[i] / HALF == r->index) {
            ((int64_t *)ig_dynamic_data(r->table, 0))[rows[i] % HALF]++;
        }
    }
}

/* An exit status. */
static int run_rank(rank *r) {
    uint64_t state = 5;
    ig_store *store = NULL;
    ig_dynamic_options how = { .size = sizeof how,
                               .name = "t",
                               .row_count = ROWS,
                               .row_bytes = sizeof(int64_t),
                               .evict_rows = 3,
                               .shard_begin = r->index * HALF,
                               .shard_rows = HALF };
    if (ig_store_open(url, &call, &store) != IG_OK ||
        ig_dynamic_create(store, &how, &call, &r->table) != IG_OK) {
        return 1;
    }
    for (uint32_t step = 1; step <= STEPS; step++) {
        int64_t ids[BATCH], rows[BATCH];
        draw_batch(&state, ids);
        if (!meet(r)) {
            return 2;
        }
        (void)usleep(step % RANKS == (uint32_t)r->index ? 500 : 0);
        if (ig_dynamic_fetch(r->table, &call, step, ids, BATCH, rows) != IG_OK) {
            fprintf(stderr, "step %u: %s\n", step, why);
            return 3;
        }
        use_rows(r, ids, rows);
        ig_dynamic_release(r->table, step);
    }
    bool is_saved = ig_dynamic_save(r->table, &call) == IG_OK;
    ig_dynamic_destroy(r->table);
    ig_store_close(store);
    return is_saved ? 0 : 4;
}

static pid_t start_rank(int index, int to_other, int from_other) {
    pid_t child = fork();
    if (child == 0) {
        rank r = { index, to_other, from_other, NULL };
        _exit(run_rank(&r));
    }
    return child;
}

static void take_count(void *user, size_t cell, const void *data, size_t bytes) {
    if (data && bytes == sizeof(int64_t)) {
        memcpy((int64_t *)user + cell, data, bytes);
    }
}

static void check_counts(ig_store *store) {
    int64_t ids[IDS], counts[IDS] = { 0 }, wanted[IDS] = { 0 }, batch[BATCH];
    uint64_t state = 5;
    ig_store_cells cells = {
        .size = sizeof cells, .table = "t", .ids = ids, .id_count = IDS
    };
    for (int64_t i = 0; i < IDS; i++) {
        ids[i] = i;
    }
    for (int step = 1; step <= STEPS; step++) {
        draw_batch(&state, batch);
        for (int i = 0; i < BATCH; i++) {
            wanted[batch[i]] += is_first(batch, i);
        }
    }
    CHECK_OK(ig_store_pull(store, &call, &cells, take_count, counts));
    for (int i = 0; i < IDS; i++) {
        CHECK_INT(counts[i], wanted[i]);
    }
}

TEST(two_processes_own_the_rows_of_a_table) {
    int there[2], back[2], status = 0;
    ig_store *store = NULL;
    (void)snprintf(file, sizeof file, "/tmp/ingot-ranks-XXXXXX");
    int made = mkstemp(file);
    CHECK(made >= 0);
    (void)close(made);
    (void)snprintf(url, sizeof url, "lmdb://%s?sync=no", file);
    CHECK_INT(pipe(there), 0);
    CHECK_INT(pipe(back), 0);
    pid_t first = start_rank(0, there[1], back[0]);
    pid_t second = start_rank(1, back[1], there[0]);
    CHECK_INT(waitpid(first, &status, 0), first);
    CHECK_INT(status, 0);
    CHECK_INT(waitpid(second, &status, 0), second);
    CHECK_INT(status, 0);
    ig_status opened = ig_store_open(url, &call, &store);
    if (opened == IG_UNSUPPORTED) {
        unit_skip("%s", why);
        return;
    }
    CHECK_OK(opened);
    check_counts(store);
    ig_store_close(store);
    (void)unlink(file);
    (void)snprintf(url, sizeof url, "%s-lock", file);
    (void)unlink(url);
}
END_TEST

UNIT_SUITE(store_ranks, two_processes_own_the_rows_of_a_table)
