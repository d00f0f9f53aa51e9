/* What every type of store does, and what holds for one of them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ingot/store.h"
#include "tests/unit/store/redis_server.h"
#include "tests/unit/unit.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char why[512], folder[64];
static ig_store_call call = { .size = sizeof call,
                              .message = why,
                              .message_size = sizeof why };

static const char *const types[] = { "memory", "lmdb", "toy1", "redis", "tiered" };
static redis_server server;
static const char plugin[] = INGOT_BINARY_DIR "/unit/libtest_store_v1.so";

static void close_type(ig_store *store);

/* A store without cells; NULL after a skip. */
static ig_store *open_type(int type) {
    char url[192];
    ig_store *store = NULL;
    (void)snprintf(folder, sizeof folder, "/tmp/ingot-store-XXXXXX");
    CHECK(mkdtemp(folder));
    (void)snprintf(url, sizeof url, "%s://%s%s", types[type], type == 1 ? folder : "",
                   type == 1 ? "/cells" : "");
    if (type == 3) {
        if (!redis_server_start(&server, NULL, NULL)) {
            (void)rmdir(folder);
            return NULL;
        }
        (void)snprintf(url, sizeof url, "%s?num_threads=3", server.url);
    }
    if (type == 4) {
        (void)snprintf(url, sizeof url, "tiered://100/memory://");
    }
    if (type == 2) {
        CHECK_OK(ig_store_register(plugin, &call));
    }
    ig_status status = ig_store_open(url, &call, &store);
    if (status == IG_UNSUPPORTED) {
        unit_skip("%s", why);
        close_type(NULL);
        return NULL;
    }
    CHECK_MSG(status == IG_OK, "%s: %s", url, why);
    return store;
}

static void close_type(ig_store *store) {
    char path[128];
    ig_store_close(store);
    for (int i = 0; i < 2; i++) {
        (void)snprintf(path, sizeof path, "%s/cells%s", folder, i ? "-lock" : "");
        (void)unlink(path);
    }
    CHECK_INT(rmdir(folder), 0);
    if (server.process) {
        redis_server_end(&server);
    }
}

/* ---- cells in short ---- */

typedef struct got {
    int64_t bytes; /* -1: absent; -2: not told */
    char text[24];
} got;

static void keep(void *user, size_t cell, const void *data, size_t bytes) {
    got *to = (got *)user + cell;
    to->bytes = data ? (int64_t)bytes : -1;
    if (data && bytes < sizeof to->text) {
        memcpy(to->text, data, bytes);
        to->text[bytes] = 0;
    }
}

static ig_store_cells cell_of(const char *table, const int64_t *id) {
    return (ig_store_cells){
        .size = sizeof(ig_store_cells), .table = table, .ids = id, .id_count = 1
    };
}

static ig_status put(ig_store *store, const char *table, int64_t id, const char *text) {
    uint64_t offsets[] = { 0, strlen(text) };
    ig_store_cells cells = cell_of(table, &id);
    return ig_store_push(store, &call, &cells, text, offsets);
}

/* The text of a cell; NULL: absent. */
static const char *get(ig_store *store, const char *table, int64_t id) {
    static got one;
    one.bytes = -2;
    ig_store_cells cells = cell_of(table, &id);
    ig_status status = ig_store_pull(store, &call, &cells, keep, &one);
    CHECK_MSG(status == IG_OK, "%s", why);
    CHECK(one.bytes != -2);
    return one.bytes < 0 ? NULL : one.text;
}

/* ---- every type ---- */

TEST(cells_are_what_was_pushed_last) {
    ig_store *store = open_type(_i);
    if (!store) {
        return;
    }
    const int64_t ids[] = { 0, 1, -1, INT64_MAX, INT64_MIN, INT64_C(1) << 32 };
    char text[24];
    for (size_t i = 0; i < IG_COUNT_OF(ids); i++) {
        CHECK_PTR(get(store, "t", ids[i]), NULL);
        (void)snprintf(text, sizeof text, "n%zu", i);
        CHECK_OK(put(store, "t", ids[i], text));
    }
    for (size_t i = 0; i < IG_COUNT_OF(ids); i++) {
        (void)snprintf(text, sizeof text, "n%zu", i);
        CHECK_TEXT(get(store, "t", ids[i]), text);
    }
    CHECK_OK(put(store, "t", 1, "a longer one"));
    CHECK_TEXT(get(store, "t", 1), "a longer one");
    CHECK_OK(put(store, "t", 1, ""));
    CHECK_TEXT(get(store, "t", 1), "");
    CHECK_PTR(get(store, "tt", 1), NULL);
    CHECK_OK(put(store, "tt", 1, "of another table"));
    CHECK_TEXT(get(store, "t", 1), "");
    close_type(store);
}
END_TEST

TEST(columns_and_states_are_counted_in_order) {
    ig_store *store = open_type(_i);
    if (!store) {
        return;
    }
    const int64_t ids[] = { 5, 9 }, columns[] = { 3, -1 };
    const uint32_t states[] = { 0, 2 }, other_states[] = { 2, 1 };
    const uint64_t offsets[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8 };
    ig_store_cells cells = { .size = sizeof cells,
                             .table = "t",
                             .ids = ids,
                             .id_count = 2,
                             .columns = columns,
                             .column_count = 2,
                             .states = states,
                             .state_count = 2 };
    got results[8] = { { 0, "" } };
    CHECK_OK(ig_store_push(store, &call, &cells, "abcdefgh", offsets));
    CHECK_OK(ig_store_pull(store, &call, &cells, keep, results));
    for (int i = 0; i < 8; i++) {
        CHECK_INT(results[i].bytes, 1);
        CHECK_INT(results[i].text[0], 'a' + i);
    }
    cells.ids = ids + 1;
    cells.id_count = 1;
    cells.states = other_states;
    CHECK_OK(ig_store_pull(store, &call, &cells, keep, results));
    CHECK_INT(results[0].text[0], 'f'); /* id 9, column 3, state 2 */
    CHECK_INT(results[1].bytes, -1);
    CHECK_INT(results[2].text[0], 'h');
    CHECK_INT(results[3].bytes, -1);
    close_type(store);
}
END_TEST

typedef struct sums {
    size_t cells, bytes;
    int64_t ids;
    size_t end;
} sums;

static ig_status add_cell(void *user, const ig_store_cell *cell) {
    sums *s = user;
    s->cells++;
    s->bytes += cell->bytes;
    s->ids += cell->id;
    return s->cells == s->end ? IG_CANCELLED : IG_OK;
}

TEST(cells_are_erased_and_listed) {
    ig_store *store = open_type(_i);
    sums all = { 0 }, one = { 0 }, two = { .end = 2 };
    if (!store) {
        return;
    }
    int64_t gone = 2;
    ig_store_cells cells = cell_of("b", &gone);
    for (int64_t id = -2; id <= 3; id++) {
        CHECK_OK(put(store, id < 0 ? "a" : "b", id, "xyz"));
    }
    if (_i == 2) { /* version 1 can do neither */
        CHECK_STATUS(ig_store_erase(store, &call, &cells), IG_UNSUPPORTED);
        CHECK_TEXT(why, "stores of type 'toy1' cannot remove cells");
        CHECK_STATUS(ig_store_scan(store, &call, NULL, add_cell, &all), IG_UNSUPPORTED);
        close_type(store);
        return;
    }
    CHECK_OK(ig_store_erase(store, &call, &cells));
    CHECK_OK(ig_store_erase(store, &call, &cells));
    CHECK_PTR(get(store, "b", 2), NULL);
    CHECK_OK(ig_store_scan(store, &call, NULL, add_cell, &all));
    CHECK_INT(all.cells, 5);
    CHECK_INT(all.bytes, 15);
    CHECK_INT(all.ids, -2 - 1 + 0 + 1 + 3);
    CHECK_OK(ig_store_scan(store, &call, "b", add_cell, &one));
    CHECK_INT(one.cells, 3);
    CHECK_STATUS(ig_store_scan(store, &call, NULL, add_cell, &two), IG_CANCELLED);
    CHECK_INT(two.cells, 2);
    /* A table is no other's because their names begin alike. */
    CHECK_OK(put(store, "bb", 7, "w"));
    CHECK_OK(put(store, "ba", 8, "w"));
    sums alike = { 0 };
    CHECK_OK(ig_store_scan(store, &call, "b", add_cell, &alike));
    CHECK_INT(alike.cells, 3);
    alike = (sums){ 0 };
    CHECK_OK(ig_store_scan(store, &call, "bb", add_cell, &alike));
    CHECK_INT(alike.cells, 1);
    CHECK_INT(alike.ids, 7);
    close_type(store);
}
END_TEST

/* 40,000 cells of 2 KB: more than the first size of a map. */
TEST(there_is_room_for_many_cells) {
    enum { COUNT = 40000, BYTES = 2048 };
    ig_store *store = open_type(_i);
    if (!store) {
        return;
    }
    int64_t *ids = malloc(COUNT * sizeof *ids);
    uint64_t *offsets = malloc((COUNT + 1) * sizeof *offsets);
    char *data = malloc((size_t)COUNT * BYTES);
    got *results = calloc(COUNT, sizeof *results);
    CHECK(ids && offsets && data && results);
    memset(data, 'x', (size_t)COUNT * BYTES);
    for (int i = 0; i <= COUNT; i++) {
        offsets[i] = (uint64_t)i * BYTES;
        if (i < COUNT) {
            ids[i] = (int64_t)i * 7919 % 65536;
        }
    }
    ig_store_cells cells = cell_of("t", ids);
    cells.id_count = _i == 2 ? 100 : COUNT; /* the toy is slow */
    CHECK_OK(ig_store_push(store, &call, &cells, data, offsets));
    CHECK_OK(ig_store_pull(store, &call, &cells, keep, results));
    for (size_t i = 0; i < cells.id_count; i++) {
        CHECK_INT(results[i].bytes, BYTES);
    }
    free(ids);
    free(offsets);
    free(data);
    free(results);
    close_type(store);
}
END_TEST

typedef struct worker {
    ig_store *store;
    int64_t first;
    bool is_good;
} worker;

static void *push_and_pull(void *opaque) {
    worker *w = opaque;
    char text[24];
    got one;
    w->is_good = true;
    for (int64_t i = 0; i < 50 && w->is_good; i++) {
        int64_t id = w->first + i;
        (void)snprintf(text, sizeof text, "row %lld", (long long)id);
        uint64_t offsets[] = { 0, strlen(text) };
        ig_store_cells cells = cell_of("t", &id);
        w->is_good = ig_store_push(w->store, NULL, &cells, text, offsets) == IG_OK &&
                     ig_store_pull(w->store, NULL, &cells, keep, &one) == IG_OK &&
                     one.bytes >= 0 && strcmp(one.text, text) == 0;
    }
    return NULL;
}

TEST(threads_share_a_store) {
    ig_store *store = open_type(_i);
    pthread_t threads[4];
    worker workers[4];
    if (!store) {
        return;
    }
    for (int i = 0; i < 4; i++) {
        workers[i] = (worker){ .store = store, .first = i * 1000 };
        CHECK_INT(pthread_create(&threads[i], NULL, push_and_pull, &workers[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        CHECK_INT(pthread_join(threads[i], NULL), 0);
        CHECK(workers[i].is_good);
    }
    close_type(store);
}
END_TEST

TEST(bad_requests_are_refused_in_words) {
    ig_store *store = open_type(_i);
    if (!store) {
        return;
    }
    int64_t id = 1;
    uint64_t falling[] = { 4, 2 };
    char name[IG_STORE_TABLE_BYTES + 2];
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = 0;
    ig_store_cells cells = cell_of("t", &id);
    CHECK_STATUS(ig_store_push(store, &call, &cells, "abcd", falling), IG_INVALID);
    CHECK_TEXT(why, "table 't': offset 1 falls");
    CHECK_STATUS(put(store, "", 1, "x"), IG_INVALID);
    CHECK_STATUS(put(store, name, 1, "x"), IG_INVALID);
    name[IG_STORE_TABLE_BYTES] = 0;
    CHECK_OK(put(store, name, 1, "x"));
    CHECK_TEXT(get(store, name, 1), "x");
    cells.id_count = SIZE_MAX / 2;
    cells.state_count = 5;
    cells.states = (uint32_t[]){ 0, 1, 2, 3, 4 };
    CHECK_STATUS(ig_store_pull(store, &call, &cells, keep, NULL), IG_INVALID);
    cells.id_count = 0;
    CHECK_OK(ig_store_pull(store, &call, &cells, keep, NULL));
    CHECK_OK(ig_store_ping(store, &call));
    CHECK_OK(ig_store_flush(store, &call));
    close_type(store);
}
END_TEST

TEST(a_call_ends_when_its_time_is_over) {
    ig_store *store = open_type(_i);
    volatile int cancel = 1;
    if (!store) {
        return;
    }
    call.cancel = &cancel;
    CHECK_STATUS(put(store, "t", 1, "x"), IG_CANCELLED);
    call.cancel = NULL;
    call.deadline_ns = 1;
    CHECK_STATUS(put(store, "t", 1, "x"), IG_LIMIT);
    CHECK_TEXT(why, "the call's deadline has passed");
    call.deadline_ns = 0;
    CHECK_PTR(get(store, "t", 1), NULL);
    close_type(store);
}
END_TEST

TEST(a_child_must_open_its_own) {
    ig_store *store = open_type(_i);
    if (!store) {
        return;
    }
    pid_t child = fork();
    if (child == 0) {
        ig_status status = put(store, "t", 1, "x");
        ig_store_close(store);
        _exit(status == IG_INVALID && strstr(why, "fork()") ? 0 : 1);
    }
    int ended = -1;
    CHECK_INT(waitpid(child, &ended, 0), child);
    CHECK_INT(ended, 0);
    CHECK_OK(put(store, "t", 1, "x"));
    close_type(store);
}
END_TEST

/* ---- one type ---- */

TEST(unknown_types_say_what_to_do) {
    ig_store *store = NULL;
    CHECK_STATUS(ig_store_open("nothing", &call, &store), IG_INVALID);
    CHECK_STATUS(ig_store_open(NULL, &call, &store), IG_INVALID);
    CHECK_STATUS(ig_store_open("foo://x", &call, &store), IG_UNSUPPORTED);
    CHECK(strstr(why, "there are no stores of type 'foo'"));
    CHECK_STATUS(ig_store_open("../x://y", &call, &store), IG_UNSUPPORTED);
    CHECK_STATUS(ig_store_open("memory://x", &call, &store), IG_INVALID);
    CHECK_STATUS(ig_store_register("/nowhere.so", &call), IG_IO);
    CHECK_STATUS(ig_store_register(NULL, &call), IG_INVALID);
    CHECK_STATUS(ig_store_register(INGOT_BINARY_DIR "/libingot-store.so", &call),
                 IG_INVALID);
    CHECK(strstr(why, "exports neither ig_store_plugin_v2 nor IO_type"));
    CHECK_OK(ig_store_register(plugin, &call));
    CHECK_STATUS(ig_store_register(plugin, &call), IG_INVALID);
    CHECK(strstr(why, "type 'toy1' are known"));
}
END_TEST

TEST(a_late_answer_of_version_1_finds_nobody) {
    ig_store *store = NULL;
    struct timespec now;
    CHECK_OK(ig_store_register(plugin, &call));
    CHECK_OK(ig_store_open("toy1://late", &call, &store));
    CHECK_OK(put(store, "t", 1, "x"));
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    call.deadline_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec + 50000000;
    got *one = calloc(1, sizeof *one);
    int64_t id = 1;
    ig_store_cells cells = cell_of("t", &id);
    one->bytes = -2;
    CHECK_STATUS(ig_store_pull(store, &call, &cells, keep, one), IG_LIMIT);
    CHECK_STATUS(put(store, "t", 2, "y"), IG_LIMIT);
    call.deadline_ns = 0;
    ig_store_close(store); /* waits for its threads */
    CHECK_INT(one->bytes, -2);
    free(one);
}
END_TEST

TEST(an_lmdb_file_stays_and_is_private) {
    ig_store *store = open_type(1), *again = NULL, *other = NULL;
    char url[128], path[160];
    struct stat seen;
    if (!store) {
        return;
    }
    (void)snprintf(url, sizeof url, "lmdb://%s/cells", folder);
    CHECK_OK(put(store, "t", 1, "kept"));
    CHECK_OK(ig_store_open(url, &call, &again)); /* shares the environment */
    CHECK_TEXT(get(again, "t", 1), "kept");
    ig_store_close(store);
    ig_store_close(again);
    CHECK_OK(ig_store_open(url, &call, &store));
    CHECK_TEXT(get(store, "t", 1), "kept");
    CHECK_INT(stat(url + 7, &seen), 0);
    CHECK_INT(seen.st_mode & 0777, 0600);
    (void)snprintf(path, sizeof path, "lmdb://%s", folder);
    CHECK_STATUS(ig_store_open(path, &call, &other), IG_IO);
    CHECK(strstr(why, "this is a folder"));
    (void)snprintf(path, sizeof path, "%s?sync=maybe", url);
    CHECK_STATUS(ig_store_open(path, &call, &other), IG_INVALID);
    CHECK_STATUS(ig_store_open("lmdb:///nowhere/at/all", &call, &other), IG_IO);
    CHECK_STATUS(ig_store_open("lmdb://", &call, &other), IG_INVALID);
    close_type(store);
}
END_TEST

/* ---- a map grows ---- */

typedef struct growth {
    ig_store *store;
    atomic_int writer; /* its thread */
    atomic_bool is_read, has_grown, was_moved;
} growth;

/* Does a thread of this process sleep, as one does that waits for a lock? */
static bool is_asleep(int thread) {
    char path[64], text[256] = "";
    (void)snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
    FILE *file = fopen(path, "r");
    size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file) {
        fclose(file);
    }
    const char *state = size ? strrchr(text, ')') : NULL;
    return state && strncmp(state, ") S", 3) == 0;
}

/* Reads until the writer waits, however busy the machine is: nobody may move what is
 * read. */
static void keep_slowly(void *user, size_t cell, const void *data, size_t bytes) {
    growth *g = user;
    (void)cell;
    atomic_store(&g->is_read, true);
    int writer = atomic_load(&g->writer);
    for (int i = 0, asleep = 0; i < 20000 && asleep < 50 && !atomic_load(&g->has_grown);
         i++) {
        usleep(1000);
        asleep = is_asleep(writer) ? asleep + 1 : 0;
    }
    atomic_store(&g->was_moved, atomic_load(&g->has_grown));
    CHECK(atomic_load(&g->was_moved) || (bytes == 4 && memcmp(data, "kept", 4) == 0));
}

static void *push_much(void *user) {
    enum { COUNT = 40, BYTES = 2 << 20 }; /* 80 MB, more than the first map */
    growth *g = user;
    int64_t ids[COUNT];
    uint64_t offsets[COUNT + 1] = { 0 };
    char *data = calloc(COUNT, BYTES);
    for (int i = 0; i < COUNT; i++) {
        ids[i] = i;
        offsets[i + 1] = offsets[i] + BYTES;
    }
    ig_store_cells cells = cell_of("much", ids);
    cells.id_count = COUNT;
    atomic_store(&g->writer, gettid());
    while (!atomic_load(&g->is_read)) {
        usleep(1000);
    }
    ig_status status = ig_store_push(g->store, NULL, &cells, data, offsets);
    atomic_store(&g->has_grown, true);
    free(data);
    return status == IG_OK ? g : NULL;
}

TEST(an_lmdb_map_grows_when_nobody_reads) {
    growth g = { 0 };
    char url[128];
    int64_t id = 1;
    pthread_t writer;
    void *written = NULL;
    ig_store *store = open_type(1);
    if (!store) {
        return;
    }
    (void)snprintf(url, sizeof url, "lmdb://%s/cells?sync=no", folder);
    ig_store_close(store);
    CHECK_OK(ig_store_open(url, &call, &g.store));
    CHECK_OK(put(g.store, "t", id, "kept"));
    CHECK_INT(pthread_create(&writer, NULL, push_much, &g), 0);
    while (!atomic_load(&g.writer)) {
        usleep(1000);
    }
    ig_store_cells cells = cell_of("t", &id);
    CHECK_OK(ig_store_pull(g.store, &call, &cells, keep_slowly, &g));
    CHECK_INT(pthread_join(writer, &written), 0);
    CHECK(!g.was_moved && written);
    CHECK_TEXT(get(g.store, "t", 1), "kept");
    close_type(g.store);
}
END_TEST

TEST(a_file_of_others_is_no_store) {
    ig_store *store = open_type(1), *other = NULL;
    char path[128], url[160];
    if (!store) {
        return;
    }
    (void)snprintf(path, sizeof path, "%s/text", folder);
    (void)snprintf(url, sizeof url, "lmdb://%s", path);
    FILE *file = fopen(path, "w");
    CHECK(file);
    for (int i = 0; i < 10000; i++) {
        (void)fputs("not a database\n", file);
    }
    CHECK_INT(fclose(file), 0);
    CHECK_STATUS(ig_store_open(url, &call, &other), IG_INVALID);
    CHECK(strstr(why, "not a store that Ingot made"));
    CHECK_INT(unlink(path), 0);
    (void)snprintf(path, sizeof path, "%s/text-lock", folder);
    (void)unlink(path);
    close_type(store);
}
END_TEST

/* Writes rows one after the other and tells of each that was acknowledged. */
static void push_until_killed(const char *url, int tell) {
    ig_store *store = NULL;
    if (ig_store_open(url, &call, &store) != IG_OK) {
        _exit(1);
    }
    for (int64_t id = 0;; id++) {
        if (put(store, "t", id, "acknowledged") != IG_OK ||
            write(tell, &id, sizeof id) != (ssize_t)sizeof id) {
            _exit(1);
        }
    }
}

TEST(rows_outlive_a_killed_process) {
    ig_store *store = open_type(1);
    char url[128];
    if (!store) {
        return;
    }
    (void)snprintf(url, sizeof url, "lmdb://%s/cells", folder);
    ig_store_close(store);
    for (int round = 0; round < 8; round++) {
        int ends[2];
        int64_t last = -1;
        CHECK_INT(pipe(ends), 0);
        pid_t child = fork();
        if (child == 0) {
            push_until_killed(url, ends[1]);
        }
        (void)close(ends[1]);
        (void)usleep(20000 + 3000 * (unsigned)round);
        CHECK_INT(kill(child, SIGKILL), 0);
        for (int64_t id; read(ends[0], &id, sizeof id) == (ssize_t)sizeof id;) {
            last = id;
        }
        (void)close(ends[0]);
        CHECK_INT(waitpid(child, NULL, 0), child);
        CHECK_OK(ig_store_open(url, &call, &store));
        for (int64_t id = 0; id <= last; id++) {
            CHECK_TEXT(get(store, "t", id), "acknowledged");
        }
        ig_store_close(store);
    }
    close_type(NULL);
}
END_TEST

/* 1,000 rows over 8 in memory, pushed and read in an order of their own: what was
 * evicted comes back, and the close writes what is left. */
TEST(a_tier_loses_nothing) {
    enum { ROWS = 1000 };
    static int version[ROWS];
    ig_store *store = open_type(1), *tier = NULL;
    char url[192], text[24];
    uint32_t state = 1;
    if (!store) {
        return;
    }
    (void)snprintf(url, sizeof url, "tiered://8/lmdb://%s/cells?sync=no", folder);
    CHECK_OK(ig_store_open(url, &call, &tier));
    for (int i = 0; i < 20000; i++) {
        state = state * 1664525 + 1013904223;
        int64_t id = state >> 8 & 15;
        id = state >> 31 ? (int64_t)(state >> 12) % ROWS : id;
        if (i % 3 == 0) {
            (void)snprintf(text, sizeof text, "%d", ++version[id]);
            CHECK_OK(put(tier, "t", id, text));
        } else if (version[id] > 0) {
            (void)snprintf(text, sizeof text, "%d", version[id]);
            CHECK_TEXT(get(tier, "t", id), text);
        } else {
            CHECK_PTR(get(tier, "t", id), NULL);
        }
    }
    ig_store_close(tier);
    for (int64_t id = 0; id < ROWS; id++) {
        (void)snprintf(text, sizeof text, "%d", version[id]);
        const char *kept = get(store, "t", id);
        CHECK(kept ? strcmp(kept, text) == 0 : version[id] == 0);
    }
    CHECK_STATUS(ig_store_open("tiered://", &call, &tier), IG_INVALID);
    CHECK_STATUS(ig_store_open("tiered://0/memory://", &call, &tier), IG_INVALID);
    CHECK_STATUS(ig_store_open("tiered://9/memory", &call, &tier), IG_INVALID);
    CHECK_STATUS(ig_store_open("tiered://9/foo://", &call, &tier), IG_UNSUPPORTED);
    close_type(store);
}
END_TEST

static void add_types(TCase *tcase) {
    int count = (int)IG_COUNT_OF(types);
    tcase_add_loop_test(tcase, cells_are_what_was_pushed_last, 0, count);
    tcase_add_loop_test(tcase, columns_and_states_are_counted_in_order, 0, count);
    tcase_add_loop_test(tcase, cells_are_erased_and_listed, 0, count);
    tcase_add_loop_test(tcase, there_is_room_for_many_cells, 0, count);
    tcase_add_loop_test(tcase, threads_share_a_store, 0, count);
    tcase_add_loop_test(tcase, bad_requests_are_refused_in_words, 0, count);
    tcase_add_loop_test(tcase, a_call_ends_when_its_time_is_over, 0, count);
    tcase_add_loop_test(tcase, a_child_must_open_its_own, 0, count);
}

UNIT_SUITE_WITH(store_types, add_types, unknown_types_say_what_to_do,
                a_late_answer_of_version_1_finds_nobody,
                an_lmdb_file_stays_and_is_private, an_lmdb_map_grows_when_nobody_reads,
                a_file_of_others_is_no_store, rows_outlive_a_killed_process,
                a_tier_loses_nothing)
