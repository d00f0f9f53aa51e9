/* Redis as a store: what a server may do to us, and what must hold.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ingot/store.h"
#include "tests/unit/store/redis_server.h"
#include "tests/unit/unit.h"
#include "tests/unit/watch.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static char why[512];
static ig_store_call call = { .size = sizeof call,
                              .message = why,
                              .message_size = sizeof why };
static redis_server server;

static void set_deadline(int64_t ms) {
    call.deadline_ns = unit_clock_ns() + ms * 1000000;
}

static ig_store *open_url(const char *options) {
    char url[256];
    ig_store *store = NULL;
    (void)snprintf(url, sizeof url, "%s%s", server.url, options);
    ig_status status = ig_store_open(url, &call, &store);
    CHECK_MSG(status == IG_OK, "%s: %s", url, why);
    return store;
}

static ig_store_cells cell_of(const char *table, const int64_t *id) {
    return (ig_store_cells){
        .size = sizeof(ig_store_cells), .table = table, .ids = id, .id_count = 1
    };
}

static ig_status put(ig_store *store, int64_t id, const char *text) {
    uint64_t offsets[] = { 0, strlen(text) };
    ig_store_cells cells = cell_of("t", &id);
    return ig_store_push(store, &call, &cells, text, offsets);
}

typedef struct got {
    bool is_there;
    char text[32];
} got;

static void keep(void *user, size_t cell, const void *data, size_t bytes) {
    got *to = (got *)user + cell;
    to->is_there = data != NULL;
    if (data && bytes < sizeof to->text) {
        memcpy(to->text, data, bytes);
        to->text[bytes] = 0;
    }
}

static ig_status get(ig_store *store, int64_t id, got *one) {
    ig_store_cells cells = cell_of("t", &id);
    memset(one, 0, sizeof *one);
    return ig_store_pull(store, &call, &cells, keep, one);
}

static void check_row(ig_store *store, int64_t id, const char *text) {
    got one;
    ig_status status = get(store, id, &one);
    CHECK_MSG(status == IG_OK, "%s", why);
    CHECK(one.is_there);
    CHECK_TEXT(one.text, text);
}

/* ---- the server by hand ---- */

static struct sockaddr_un address_of(const redis_server *of) {
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", of->folder);
    return address;
}

/* Sends a line and checks how the answer begins. */
static void tell(const char *line, const char *begin) {
    struct sockaddr_un address = address_of(&server);
    char answer[256];
    int to = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(to >= 0);
    CHECK_INT(connect(to, (struct sockaddr *)&address, sizeof address), 0);
    CHECK_INT(write(to, line, strlen(line)), (ssize_t)strlen(line));
    ssize_t size = read(to, answer, sizeof answer - 1);
    CHECK(size > 0);
    answer[size] = 0;
    CHECK_MSG(strncmp(answer, begin, strlen(begin)) == 0, "%s", answer);
    (void)close(to);
}

/* ---- URLs ---- */

TEST(urls_break_their_grammar_in_words) {
    static const char *const bad[] = {
        "redis://",
        "redis://h:0",
        "redis://h:65536",
        "redis://h:06379",
        "redis://h/x",
        "redis://h/1/2",
        "redis://[::1",
        "redis://[::1]x",
        "redis://a b",
        "redis://u:%zz@h",
        "redis://u:%0@h",
        "redis://u:%00@h",
        "redis://u:@h",
        "redis://h/?num_threads=0",
        "redis://h/?num_threads=65",
        "redis://h/?timeout=3d",
        "redis://h/?timeout=3",
        "redis://h/?timeout=0s",
        "redis://h/?timeout=.5s",
        "redis://h/?timeout=1.s",
        "redis://h/?heartbeat=",
        "redis://h/?prefix=1a",
        "redis://h/?prefix=a-b",
        "redis://h/?prefix=a_table_b",
        "redis://h/?prefix=a_table",
        "redis://h/?db=01",
        "redis://h/?db=-1",
        "redis://h/?db=1&&&db=2",
        "redis://h/?db=1&",
        "redis://h/?unknown=1",
        "redis://h/?db",
        "redis://hunter2:hunter2?hunter2@h",
    };
    for (size_t i = 0; i < IG_COUNT_OF(bad); i++) {
        ig_store *store = NULL;
        ig_status status = ig_store_open(bad[i], &call, &store);
        if (status == IG_UNSUPPORTED) {
            unit_skip("%s", why);
            return;
        }
        CHECK_MSG(status == IG_INVALID, "%s: %s", bad[i], why);
        CHECK_MSG(!strstr(why, "hunter2"), "%s: %s", bad[i], why);
    }
}
END_TEST

TEST(urls_that_are_right_find_nobody) {
    static const char *const good[] = {
        "redis://localhost:1",
        "redis://127.0.0.1:1/3",
        "redis://user:p%40ss_hunter2@localhost:1/",
        "redis://:hunter2@localhost:1",
        "redis://hunter2@localhost:1",
        "redis://127.0.0.1:1/?num_threads=2&&db=2&&prefix=_m1&&timeout=0.5s",
        "redis://127.0.0.1:1/?heartbeat=1m&&retry_limit=0&&chunk_size=7",
        "redis://127.0.0.1:1?timeout=250ms&retry_limit=1",
        "redis:///nowhere/at/all",
    };
    for (size_t i = 0; i < IG_COUNT_OF(good); i++) {
        ig_store *store = NULL;
        ig_status status = ig_store_open(good[i], &call, &store);
        if (status == IG_UNSUPPORTED) {
            unit_skip("%s", why);
            return;
        }
        CHECK_MSG(status == IG_IO, "%s: %s", good[i], why);
        CHECK(strncmp(why, "redis at ", 9) == 0);
        CHECK_MSG(!strstr(why, "hunter2"), "%s: %s", good[i], why);
    }
}
END_TEST

/* ---- a server that does what it should ---- */

TEST(keys_are_those_of_torchrec) {
    if (!redis_server_start(&server, NULL, NULL)) {
        return;
    }
    ig_store *store = open_url("?prefix=m&db=2");
    CHECK_TEXT(why, "");
    CHECK_OK(put(store, INT64_C(1) << 32, "row"));
    ig_store_close(store);
    tell("GET m_table_t_gid_4294967296_cid_0_osid_0\r\n", "$-1"); /* of database 0 */
    tell("SWAPDB 0 2\r\n", "+OK");
    tell("GET m_table_t_gid_4294967296_cid_0_osid_0\r\n", "$3\r\nrow");
    redis_server_end(&server);
}
END_TEST

TEST(a_name_may_stand_twice_in_a_request) {
    enum { COUNT = 5000 };
    static int64_t ids[COUNT];
    static uint64_t offsets[COUNT + 1];
    static char data[COUNT];
    static got results[COUNT];
    if (!redis_server_start(&server, NULL, NULL)) {
        return;
    }
    ig_store *store = open_url("?num_threads=4&chunk_size=10");
    for (int i = 0; i < COUNT; i++) {
        ids[i] = i * 7 % 1000;
        offsets[i + 1] = (uint64_t)i + 1;
        data[i] = (char)('a' + i / 1000); /* the last round wins */
    }
    ig_store_cells cells = cell_of("t", ids);
    cells.id_count = COUNT;
    CHECK_OK(ig_store_push(store, &call, &cells, data, offsets));
    CHECK_OK(ig_store_pull(store, &call, &cells, keep, results));
    for (int i = 0; i < COUNT; i++) {
        CHECK_TEXT(results[i].text, "e");
    }
    ig_store_close(store);
    redis_server_end(&server);
}
END_TEST

/* MGET cannot tell what is absent from what is no string. */
TEST(rows_are_absent_and_wrong_among_others) {
    const int64_t ids[] = { 3, 1, 2, 1 };
    got results[4];
    if (!redis_server_start(&server, NULL, NULL)) {
        return;
    }
    ig_store *store = open_url("");
    ig_store_cells cells = cell_of("t", ids);
    cells.id_count = 4;
    CHECK_OK(put(store, 1, "one"));
    CHECK_OK(put(store, 3, ""));
    memset(results, 1, sizeof results);
    CHECK_OK(ig_store_pull(store, &call, &cells, keep, results));
    CHECK(results[0].is_there && results[1].is_there && results[3].is_there);
    CHECK(!results[2].is_there);
    CHECK_TEXT(results[0].text, "");
    CHECK_TEXT(results[3].text, "one");
    tell("LPUSH _table_t_gid_2_cid_0_osid_0 x\r\n", ":1");
    CHECK_STATUS(ig_store_pull(store, &call, &cells, keep, results), IG_INVALID);
    CHECK(strstr(why, "WRONGTYPE"));
    check_row(store, 1, "one");
    ig_store_close(store);
    redis_server_end(&server);
}
END_TEST

/* One error answers all names of a command, and the connection lives on. */
TEST(an_error_answers_a_whole_request) {
    static int64_t ids[300];
    static got results[300];
    got one;
    if (!redis_server_start(&server, NULL, NULL)) {
        return;
    }
    ig_store *store = open_url("?num_threads=2");
    ig_store_cells cells = cell_of("t", ids);
    cells.id_count = 300;
    for (int i = 0; i < 300; i++) {
        ids[i] = i;
    }
    tell("ACL SETUSER default -mget\r\n", "+OK");
    CHECK_STATUS(ig_store_pull(store, &call, &cells, keep, results), IG_INVALID);
    CHECK(strstr(why, "NOPERM"));
    CHECK_OK(get(store, 1, &one));
    tell("ACL SETUSER default +mget\r\n", "+OK");
    CHECK_OK(put(store, 299, "last"));
    CHECK_OK(ig_store_pull(store, &call, &cells, keep, results));
    CHECK_TEXT(results[299].text, "last");
    ig_store_close(store);
    redis_server_end(&server);
}
END_TEST

TEST(unsafe_settings_are_given) {
    if (!redis_server_start(&server, "--appendonly", "no")) {
        return;
    }
    ig_store *store = open_url("");
    CHECK(strstr(why, "may lose acknowledged rows: appendonly is no (safe: yes)"));
    ig_store_close(store);
    redis_server_end(&server);
}
END_TEST

TEST(passwords_open_doors_and_stay_secret) {
    char url[256];
    ig_store *store = NULL;
    if (!redis_server_start(&server, "--requirepass", "hunter@2")) {
        return;
    }
    const char *path = server.url + strlen("redis://");
    CHECK_STATUS(ig_store_open(server.url, &call, &store), IG_INVALID);
    CHECK(strstr(why, "NOAUTH"));
    (void)snprintf(url, sizeof url, "redis://:wrong@%s", path);
    CHECK_STATUS(ig_store_open(url, &call, &store), IG_INVALID);
    CHECK_MSG(strstr(why, "WRONGPASS") && !strstr(why, "wrong@"), "%s", why);
    (void)snprintf(url, sizeof url, "redis://hunter%%402@%s", path);
    CHECK_OK(ig_store_open(url, &call, &store));
    ig_store_close(store);
    (void)snprintf(url, sizeof url, "redis://default:hunter%%402@%s", path);
    CHECK_OK(ig_store_open(url, &call, &store));
    CHECK_OK(put(store, 1, "row"));
    check_row(store, 1, "row");
    ig_store_close(store);
    redis_server_end(&server);
}
END_TEST

TEST(refusals_are_errors) {
    got one;
    if (!redis_server_start(&server, NULL, NULL)) {
        return;
    }
    ig_store *store = open_url("");
    tell("LPUSH _table_t_gid_5_cid_0_osid_0 x\r\n", ":1");
    CHECK_STATUS(get(store, 5, &one), IG_INVALID);
    CHECK(strstr(why, "WRONGTYPE"));
    CHECK_OK(put(store, 6, "row"));
    tell("CONFIG SET maxmemory 1\r\n", "+OK");
    CHECK_STATUS(put(store, 7, "row"), IG_LIMIT);
    CHECK(strstr(why, "OOM"));
    check_row(store, 6, "row");
    tell("CONFIG SET maxmemory 0\r\n", "+OK");
    CHECK_OK(put(store, 7, "row"));
    ig_store_close(store);
    redis_server_end(&server);
}
END_TEST

/* ---- a server that fails ---- */

enum { ROWS = 20 };

typedef struct writer {
    ig_store *store;
    atomic_bool end;
    int acknowledged[ROWS]; /* version of each row */
    int pushed[ROWS];
    long count;
} writer;

static void *write_rows(void *opaque) {
    writer *w = opaque;
    for (int64_t id = 0; !w->end; id = (id + 1) % ROWS) {
        char text[32];
        (void)snprintf(text, sizeof text, "%d %d", (int)id, ++w->pushed[id]);
        uint64_t offsets[] = { 0, strlen(text) };
        ig_store_cells cells = cell_of("t", &id);
        if (ig_store_push(w->store, NULL, &cells, text, offsets) == IG_OK) {
            w->acknowledged[id] = w->pushed[id];
            w->count++;
        }
    }
    return NULL;
}

TEST(acknowledged_rows_outlive_a_killed_server) {
    pthread_t thread;
    writer w = { .end = false };
    if (!redis_server_start(&server, NULL, NULL)) {
        return;
    }
    w.store = open_url("?num_threads=2");
    CHECK_INT(pthread_create(&thread, NULL, write_rows, &w), 0);
    for (int round = 0; round < 6; round++) {
        (void)usleep(30000 + 7000 * (unsigned)round);
        redis_server_kill(&server);
        redis_server_restart(&server);
    }
    (void)usleep(30000);
    w.end = true;
    CHECK_INT(pthread_join(thread, NULL), 0);
    CHECK(w.count > ROWS);
    for (int id = 0; id < ROWS; id++) {
        got one;
        int row = -1, version = -1;
        ig_status status = get(w.store, id, &one);
        CHECK_MSG(status == IG_OK, "%s", why);
        CHECK_MSG(one.is_there, "row %d is gone", id);
        CHECK_INT(sscanf(one.text, "%d %d", &row, &version), 2);
        CHECK_INT(row, id);
        CHECK(version >= w.acknowledged[id] && version <= w.pushed[id]);
    }
    ig_store_close(w.store);
    redis_server_end(&server);
}
END_TEST

TEST(a_stopped_server_ends_at_the_deadline) {
    got one;
    if (!redis_server_start(&server, NULL, NULL)) {
        return;
    }
    ig_store *store = open_url("?num_threads=2");
    CHECK_OK(put(store, 1, "first"));
    for (int round = 0; round < 4; round++) {
        char text[32];
        CHECK_INT(kill(server.process, SIGSTOP), 0);
        unit_watch watch = unit_watch_start();
        set_deadline(150);
        CHECK_STATUS(put(store, 1, "abandoned"), IG_LIMIT);
        set_deadline(150);
        CHECK_STATUS(get(store, 1, &one), IG_LIMIT);
        CHECK_TEXT(why, "the call's deadline has passed");
        CHECK(unit_watch_ms(&watch) < 300 + 1000);
        call.deadline_ns = 0;
        CHECK_INT(kill(server.process, SIGCONT), 0);
        (void)snprintf(text, sizeof text, "round %d", round);
        CHECK_OK(put(store, 1, text));
        check_row(store, 1, text);
    }
    ig_store_close(store);
    redis_server_end(&server);
}
END_TEST

TEST(a_silent_server_is_left_without_a_deadline_too) {
    got one;
    if (!redis_server_start(&server, NULL, NULL)) {
        return;
    }
    ig_store *store = open_url("?timeout=100ms&retry_limit=1");
    CHECK_INT(kill(server.process, SIGSTOP), 0);
    unit_watch watch = unit_watch_start();
    CHECK_STATUS(get(store, 1, &one), IG_IO);
    CHECK(strstr(why, "within the timeout"));
    CHECK(unit_watch_ms(&watch) < 5000);
    CHECK_INT(kill(server.process, SIGCONT), 0);
    ig_store_close(store);
    redis_server_end(&server);
}
END_TEST

TEST(rows_in_memory_wait_for_the_server_below) {
    char url[256];
    ig_store *store = NULL;
    if (!redis_server_start(&server, NULL, NULL)) {
        return;
    }
    (void)snprintf(url, sizeof url, "tiered://2/%s?retry_limit=0", server.url);
    CHECK_OK(ig_store_open(url, &call, &store));
    CHECK_OK(put(store, 1, "one"));
    CHECK_OK(put(store, 2, "two"));
    redis_server_kill(&server);
    CHECK_STATUS(put(store, 3, "three"), IG_IO); /* no room, and none can be made */
    CHECK_STATUS(ig_store_flush(store, &call), IG_IO);
    check_row(store, 1, "one");
    check_row(store, 2, "two");
    CHECK_OK(put(store, 2, "again"));
    redis_server_restart(&server);
    CHECK_OK(put(store, 3, "three"));
    check_row(store, 1, "one");
    CHECK_OK(ig_store_flush(store, &call));
    ig_store *below = open_url("");
    check_row(below, 1, "one");
    check_row(below, 2, "again");
    check_row(below, 3, "three");
    ig_store_close(below);
    ig_store_close(store);
    redis_server_end(&server);
}
END_TEST

/* ---- a server that is none ---- */

typedef struct fake {
    int listens;
    _Atomic(const char *) answer; /* to what comes after the opening */
    char heard[4096];             /* all commands, in order */
    atomic_bool end;
} fake;

static const char *const opening[] = { ":7\r\n", "$10\r\nrun_id:abc\r\n", "*0\r\n",
                                       "*0\r\n", "*0\r\n" };

/* Answers each command of one connection: commands come one at a time. */
static void serve(fake *f, int peer, size_t opening_count) {
    char bytes[2048];
    for (size_t i = 0;; i++) {
        ssize_t size = read(peer, bytes, sizeof bytes - 1);
        if (size <= 0) {
            return;
        }
        bytes[size] = 0;
        (void)strncat(f->heard, bytes, sizeof f->heard - strlen(f->heard) - 1);
        const char *answer = i < opening_count ? opening[i] : f->answer;
        if (!answer) {
            continue; /* silence */
        }
        if (write(peer, answer, strlen(answer)) < 0 || i >= opening_count) {
            (void)usleep(50000);
            return;
        }
    }
}

static void *serve_all(void *opaque) {
    fake *f = opaque;
    size_t opening_count = IG_COUNT_OF(opening);
    for (;;) {
        int peer = accept(f->listens, NULL, NULL);
        if (peer < 0 || f->end) {
            (void)close(peer);
            return NULL;
        }
        serve(f, peer, opening_count);
        opening_count = 2; /* warnings are for the first */
        (void)close(peer);
    }
}

static void start_fake(fake *f, pthread_t *thread) {
    (void)snprintf(server.folder, sizeof server.folder, "/tmp/ingot-redis-XXXXXX");
    CHECK(mkdtemp(server.folder));
    (void)snprintf(server.url, sizeof server.url, "redis://%s/socket", server.folder);
    struct sockaddr_un address = address_of(&server);
    f->listens = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK_INT(bind(f->listens, (struct sockaddr *)&address, sizeof address), 0);
    CHECK_INT(listen(f->listens, 16), 0);
    (void)signal(SIGPIPE, SIG_IGN);
    CHECK_INT(pthread_create(thread, NULL, serve_all, f), 0);
}

static void end_fake(fake *f, pthread_t thread) {
    struct sockaddr_un address = address_of(&server);
    int last = socket(AF_UNIX, SOCK_STREAM, 0);
    f->end = true;
    CHECK_INT(connect(last, (struct sockaddr *)&address, sizeof address), 0);
    CHECK_INT(pthread_join(thread, NULL), 0);
    (void)close(last);
    (void)close(f->listens);
    redis_server_end(&server);
}

static bool is_built(void) {
    ig_store *store = NULL;
    if (ig_store_open("redis://", &call, &store) == IG_UNSUPPORTED) {
        unit_skip("%s", why);
        return false;
    }
    return true;
}

static const char *const hostile[] = {
    "$99999999999\r\n",
    "$67108865\r\n",
    "$-5\r\n",
    "$-\r\n",
    "$\r\n",
    "$3x\r\n",
    "$03\r\nabc\r\n",
    "$+3\r\nabc\r\n",
    "$3\r\nabcd\r\n",
    "$3\r\nab", /* and the end */
    "$3\rabc\r\n",
    "$3\nabc\r\n",
    "*1000000000\r\n",
    "*2147483647\r\n",
    "*-7\r\n",
    "*99999999999999999999999999\r\n",
    "*1\r\n*1\r\n*1\r\n*1\r\n$1\r\na\r\n",
    "*1\r\n$1\r\na\r\n",
    ":7\r\n",
    ":x\r\n",
    "+OK\r\n",
    "x\r\n",
    "\r\n",
    "%1\r\n",
    "$1\r\na\r\n$1\r\nb\r\n", /* one too many */
    "$-1\r\n$-1\r\n",
};

TEST(hostile_replies_are_refused) {
    fake f = { .answer = hostile[_i] };
    pthread_t thread;
    got one = { .is_there = false };
    if (!is_built()) {
        return;
    }
    start_fake(&f, &thread);
    ig_store *store = open_url("?retry_limit=0");
    unit_watch watch = unit_watch_start();
    ig_status status = get(store, 1, &one);
    CHECK_MSG(status == IG_IO, "%s", why);
    CHECK(why[0] && unit_watch_ms(&watch) < 1000);
    ig_store_close(store);
    end_fake(&f, thread);
}
END_TEST

static const char *const hostile_bundles[] = {
    "*2\r\n$1\r\na\r\n$1\r\nb\r\n",
    "*4\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n$1\r\nd\r\n",
    "*3\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n$1\r\nd\r\n",
    "*3\r\n$1\r\na\r\n$1\r\nb\r\n", /* and the end */
    "*3\r\n$1\r\na\r\n-ERR no\r\n$1\r\nc\r\n",
    "*3\r\n*1\r\n$1\r\na\r\n",
    "*3\r\n:1\r\n:2\r\n:3\r\n",
    "*3\r\n$67108865\r\n",
    "*1000000000\r\n",
    "*-1\r\n",
    "*0\r\n",
    "*\r\n",
    "$1\r\na\r\n",
    "+OK\r\n",
};

TEST(hostile_bundles_are_refused) {
    fake f = { .answer = hostile_bundles[_i] };
    pthread_t thread;
    const int64_t ids[] = { 1, 2, 3 };
    got results[3];
    if (!is_built()) {
        return;
    }
    start_fake(&f, &thread);
    ig_store *store = open_url("?retry_limit=0");
    ig_store_cells cells = cell_of("t", ids);
    cells.id_count = 3;
    unit_watch watch = unit_watch_start();
    ig_status status = ig_store_pull(store, &call, &cells, keep, results);
    CHECK_MSG(status == IG_IO, "%s", why);
    CHECK(why[0] && unit_watch_ms(&watch) < 1000);
    CHECK(_i > 1 || strstr(why, "not have as many elements as were asked for"));
    CHECK(strstr(f.heard, "*4\r\n$4\r\nMGET\r\n$27\r\n_table_t_gid_1_cid_0_osid_0"));
    ig_store_close(store);
    end_fake(&f, thread);
}
END_TEST

TEST(a_write_that_was_given_up_is_killed_first) {
    fake f = { .answer = NULL };
    pthread_t thread;
    if (!is_built()) {
        return;
    }
    start_fake(&f, &thread);
    ig_store *store = open_url("?retry_limit=0&timeout=200ms");
    CHECK_STATUS(put(store, 1, "old"), IG_IO);
    f.answer = ":1\r\n"; /* to CLIENT KILL; then the connection ends */
    CHECK_STATUS(put(store, 1, "new"), IG_IO);
    ig_store_close(store);
    end_fake(&f, thread);
    const char *old = strstr(f.heard, "old"), *killed = strstr(f.heard, "KILL");
    CHECK(old && killed && killed > old);
    CHECK(strstr(killed, "$1\r\n7\r\n"));
    CHECK_PTR(strstr(f.heard, "new"), NULL); /* the fake had gone by then */
}
END_TEST

static void add_hostile(TCase *tcase) {
    tcase_add_loop_test(tcase, hostile_replies_are_refused, 0,
                        (int)IG_COUNT_OF(hostile));
    tcase_add_loop_test(tcase, hostile_bundles_are_refused, 0,
                        (int)IG_COUNT_OF(hostile_bundles));
}

UNIT_SUITE_WITH(store_redis, add_hostile, urls_break_their_grammar_in_words,
                urls_that_are_right_find_nobody, keys_are_those_of_torchrec,
                a_name_may_stand_twice_in_a_request,
                rows_are_absent_and_wrong_among_others,
                an_error_answers_a_whole_request, unsafe_settings_are_given,
                passwords_open_doors_and_stay_secret, refusals_are_errors,
                acknowledged_rows_outlive_a_killed_server,
                a_stopped_server_ends_at_the_deadline,
                a_silent_server_is_left_without_a_deadline_too,
                rows_in_memory_wait_for_the_server_below,
                a_write_that_was_given_up_is_killed_first)
