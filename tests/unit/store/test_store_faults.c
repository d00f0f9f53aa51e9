/* Faults, one after the other, while rows are written and read: what was acknowledged
 * stays, no row is another's, and every call ends within a second of its deadline.
 * SPDX-License-Identifier: Apache-2.0
 *
 * INGOT_FAULTS says how many (10,000 for Redis and 1,000 for LMDB under INGOT_FULL=1,
 * else a few).
 */
#include "ingot/store.h"
#include "tests/unit/store/redis_server.h"
#include "tests/unit/unit.h"
#include "tests/unit/watch.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROWS = 32, DEADLINE_MS = 400, LATE_MS = 1000 };

static _Thread_local char why[512]; /* of a thread's own calls */
static redis_server server;

static int fault_count(int few, int all) {
    const char *given = getenv("INGOT_FAULTS"), *full = getenv("INGOT_FULL");
    return given ? atoi(given) : full && full[0] == '1' ? all : few;
}

static uint64_t draw(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* ---- a proxy, which cuts, delays and resets ---- */

static struct {
    int listener, port;
    atomic_int delay_ms; /* before each parcel of the server's */
    atomic_int
        cut_after;     /* bytes of the next reply; then the connection ends; -1: none */
    atomic_int resets; /* connections that are to end by RST */
    atomic_int end;
} proxy;

static struct sockaddr_un server_address(void) {
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s/socket",
                   server.folder);
    return address;
}

static bool pass_on(int from, int to, bool is_reply, int client) {
    char bytes[4096];
    ssize_t size = recv(from, bytes, sizeof bytes, 0);
    if (size <= 0) {
        return false;
    }
    if (is_reply && atomic_load(&proxy.delay_ms) > 0) {
        (void)usleep(1000 * (useconds_t)atomic_load(&proxy.delay_ms));
    }
    int cut = is_reply ? atomic_exchange(&proxy.cut_after, -1) : -1;
    bool is_cut = cut >= 0 && cut < size;
    size = is_cut ? cut : size;
    if (is_reply && atomic_load(&proxy.resets) > 0) {
        atomic_fetch_sub(&proxy.resets, 1);
        struct linger now = { 1, 0 };
        (void)setsockopt(client, SOL_SOCKET, SO_LINGER, &now, sizeof now);
        return false;
    }
    return send(to, bytes, (size_t)size, MSG_NOSIGNAL) == size && !is_cut;
}

static void *serve_one(void *opaque) {
    int client = (int)(intptr_t)opaque;
    struct sockaddr_un address = server_address();
    int inner = socket(AF_UNIX, SOCK_STREAM, 0);
    bool goes_on = inner >= 0 &&
                   connect(inner, (struct sockaddr *)&address, sizeof address) == 0;
    while (goes_on && !atomic_load(&proxy.end)) {
        struct pollfd ends[] = { { client, POLLIN, 0 }, { inner, POLLIN, 0 } };
        (void)poll(ends, 2, 50);
        goes_on = (!ends[0].revents || pass_on(client, inner, false, client)) &&
                  (!ends[1].revents || pass_on(inner, client, true, client));
    }
    (void)close(inner);
    (void)close(client);
    return NULL;
}

static void *serve_all(void *unused) {
    (void)unused;
    while (!atomic_load(&proxy.end)) {
        struct pollfd one = { proxy.listener, POLLIN, 0 };
        pthread_t thread;
        if (poll(&one, 1, 50) != 1) {
            continue;
        }
        int client = accept(proxy.listener, NULL, NULL);
        if (client >= 0 &&
            pthread_create(&thread, NULL, serve_one, (void *)(intptr_t)client) == 0) {
            (void)pthread_detach(thread);
        }
    }
    (void)close(proxy.listener);
    return NULL;
}

static pthread_t start_proxy(void) {
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof address;
    pthread_t thread;
    proxy.listener = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(proxy.listener >= 0);
    CHECK_INT(bind(proxy.listener, (struct sockaddr *)&address, sizeof address), 0);
    CHECK_INT(listen(proxy.listener, 64), 0);
    CHECK_INT(getsockname(proxy.listener, (struct sockaddr *)&address, &size), 0);
    proxy.port = ntohs(address.sin_port);
    proxy.cut_after = -1;
    CHECK_INT(pthread_create(&thread, NULL, serve_all, NULL), 0);
    return thread;
}

/* ---- whoever writes and reads ---- */

typedef struct worker {
    ig_store *store;
    atomic_int end;
    int acknowledged[ROWS], pushed[ROWS]; /* versions */
    atomic_long writes, reads, failures, wrong, lost;
    atomic_long slowest; /* ms of a call */
} worker;

static ig_store_call call_now(void) {
    return (ig_store_call){ .size = sizeof(ig_store_call),
                            .message = why,
                            .message_size = sizeof why,
                            .deadline_ns = unit_clock_ns() + DEADLINE_MS * 1000000 };
}

static ig_store_cells cell_of(const int64_t *id) {
    return (ig_store_cells){
        .size = sizeof(ig_store_cells), .table = "t", .ids = id, .id_count = 1
    };
}

typedef struct got {
    bool is_there;
    char text[200];
} got;

static void keep_cell(void *user, size_t cell, const void *data, size_t bytes) {
    got *to = (got *)user + cell;
    to->is_there = data != NULL;
    memcpy(to->text, data ? data : "", data && bytes < sizeof to->text ? bytes : 0);
}

static void note_time(worker *w, const unit_watch *watch) {
    long took = (long)unit_watch_ms(watch);
    if (took > atomic_load(&w->slowest)) {
        atomic_store(&w->slowest, took);
    }
}

static void write_row(worker *w, int64_t id) {
    char text[160];
    int version = ++w->pushed[id];
    (void)snprintf(text, sizeof text, "%d %d %0100d", (int)id, version, version);
    uint64_t offsets[] = { 0, strlen(text) };
    ig_store_cells cells = cell_of(&id);
    ig_store_call call = call_now();
    unit_watch watch = unit_watch_start();
    ig_status status = ig_store_push(w->store, &call, &cells, text, offsets);
    note_time(w, &watch);
    w->acknowledged[id] = status == IG_OK ? version : w->acknowledged[id];
    atomic_fetch_add(status == IG_OK ? &w->writes : &w->failures, 1);
}

/* Lost: older than what was acknowledged; wrong: another's, or in pieces. */
static bool read_row(worker *w, int64_t id, int64_t within_ms) {
    got one = { 0 };
    int row = -1, version = -1, filler = -1;
    ig_store_cells cells = cell_of(&id);
    ig_store_call call = call_now();
    call.deadline_ns = unit_clock_ns() + within_ms * 1000000;
    unit_watch watch = unit_watch_start();
    if (ig_store_pull(w->store, &call, &cells, keep_cell, &one) != IG_OK) {
        note_time(w, &watch);
        atomic_fetch_add(&w->failures, 1);
        return false;
    }
    note_time(w, &watch);
    atomic_fetch_add(&w->reads, 1);
    if (!one.is_there) {
        atomic_fetch_add(&w->lost, w->acknowledged[id] > 0);
        return true;
    }
    bool is_whole = sscanf(one.text, "%d %d %d", &row, &version, &filler) == 3 &&
                    row == id && version == filler && version <= w->pushed[id];
    atomic_fetch_add(&w->wrong, !is_whole);
    atomic_fetch_add(&w->lost, is_whole && version < w->acknowledged[id]);
    return true;
}

static void *work(void *opaque) {
    worker *w = opaque;
    uint64_t state = 7;
    while (!atomic_load(&w->end)) {
        int64_t id = (int64_t)(draw(&state) % ROWS);
        if (draw(&state) % 3) {
            write_row(w, id);
        } else {
            (void)read_row(w, id, DEADLINE_MS);
        }
    }
    return NULL;
}

/* ---- faults ---- */

/* A command to the server itself, past the proxy; false: it is not there. */
static bool tell(const char *line) {
    struct sockaddr_un address = server_address();
    struct timeval patience = { 5, 0 };
    char answer[256];
    int to = socket(AF_UNIX, SOCK_STREAM, 0);
    (void)setsockopt(to, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    bool is_given = connect(to, (struct sockaddr *)&address, sizeof address) == 0 &&
                    send(to, line, strlen(line), MSG_NOSIGNAL) > 0 &&
                    recv(to, answer, sizeof answer, 0) > 0;
    (void)close(to);
    return is_given;
}

static void pause_ms(uint64_t ms) {
    (void)usleep((useconds_t)(1000 * ms));
}

static void kill_server(worker *w, uint64_t random) {
    (void)w;
    (void)random;
    redis_server_kill(&server);
    redis_server_restart(&server);
}

static void stop_server(worker *w, uint64_t random) {
    (void)w;
    CHECK_INT(kill(server.process, SIGSTOP), 0);
    pause_ms(random % (random % 8 ? 30 : 2 * DEADLINE_MS));
    CHECK_INT(kill(server.process, SIGCONT), 0);
}

static void slow_down(worker *w, uint64_t random) {
    (void)w;
    atomic_store(&proxy.delay_ms, 1 + (int)(random % 40));
    pause_ms(30);
    atomic_store(&proxy.delay_ms, 0);
}

/* A row that nobody else touches is a list meanwhile. */
static void turn_type(worker *w, uint64_t random) {
    const int64_t id = 1000;
    got one = { 0 };
    ig_store_cells cells = cell_of(&id);
    ig_store_call call = call_now();
    (void)random;
    if (!tell("LPUSH _table_t_gid_1000_cid_0_osid_0 x\r\n")) {
        return;
    }
    ig_status status = ig_store_pull(w->store, &call, &cells, keep_cell, &one);
    atomic_fetch_add(&w->wrong, status == IG_OK || one.is_there);
    (void)tell("DEL _table_t_gid_1000_cid_0_osid_0\r\n");
}

static void exhaust_memory(worker *w, uint64_t random) {
    (void)w;
    if (tell("CONFIG SET maxmemory 1\r\n")) {
        pause_ms(random % 20);
        CHECK(tell("CONFIG SET maxmemory 0\r\n"));
    }
}

static void cut_reply(worker *w, uint64_t random) {
    (void)w;
    atomic_store(&proxy.cut_after, (int)(random % 24));
    pause_ms(5);
}

static void reset_connection(worker *w, uint64_t random) {
    (void)w;
    atomic_fetch_add(&proxy.resets, 1 + (int)(random % 2));
    pause_ms(5);
}

/* The file of the server's log of writes may grow by a few bytes only: it gives up, as
 * it should with fsync always. */
static void fill_disk(worker *w, uint64_t random) {
    struct rlimit limit = { 4096 + random % 4096, RLIM_INFINITY };
    (void)w;
    CHECK_INT(prlimit(server.process, RLIMIT_FSIZE, &limit, NULL), 0);
    for (int i = 0; i < 200; i++) {
        if (waitpid(server.process, NULL, WNOHANG) == server.process) {
            server.process = 0;
            redis_server_restart(&server);
            return;
        }
        pause_ms(5);
    }
    limit.rlim_cur = RLIM_INFINITY;
    CHECK_INT(prlimit(server.process, RLIMIT_FSIZE, &limit, NULL), 0);
}

static const struct {
    const char *name;
    void (*inject)(worker *w, uint64_t random);
    int share;
} faults[] = {
    { "kill -9", kill_server, 3 },  { "stop", stop_server, 4 },
    { "slow", slow_down, 2 },       { "wrong type", turn_type, 3 },
    { "OOM", exhaust_memory, 3 },   { "truncated reply", cut_reply, 8 },
    { "RST", reset_connection, 8 }, { "full disk", fill_disk, 1 },
};

static size_t draw_fault(uint64_t *state) {
    int all = 0;
    for (size_t i = 0; i < IG_COUNT_OF(faults); i++) {
        all += faults[i].share;
    }
    int at = (int)(draw(state) % (uint64_t)all);
    size_t index = 0;
    while (at >= faults[index].share) {
        at -= faults[index++].share;
    }
    return index;
}

static void check_worker(const worker *w) {
    CHECK_INT(w->lost, 0);
    CHECK_INT(w->wrong, 0);
    CHECK_MSG(w->slowest <= DEADLINE_MS + LATE_MS, "a call took %ld ms", w->slowest);
}

TEST(a_redis_server_fails_and_nothing_acknowledged_is_lost) {
    int count = fault_count(48, 10000);
    int injected[IG_COUNT_OF(faults)] = { 0 };
    static worker w;
    uint64_t state = (uint64_t)count;
    pthread_t serving, working;
    char url[128];
    (void)signal(SIGXFSZ,
                 SIG_IGN); /* the server's too: a full file is an error to it */
    if (!redis_server_start(&server, NULL, NULL)) {
        return;
    }
    serving = start_proxy();
    (void)snprintf(url, sizeof url, "redis://127.0.0.1:%d/?num_threads=2", proxy.port);
    ig_store_call call = { .size = sizeof call,
                           .message = why,
                           .message_size = sizeof why };
    ig_status status = ig_store_open(url, &call, &w.store);
    CHECK_MSG(status == IG_OK, "%s", why);
    CHECK_INT(pthread_create(&working, NULL, work, &w), 0);
    for (int i = 0; i < count; i++) {
        size_t fault = draw_fault(&state);
        injected[fault]++;
        faults[fault].inject(&w, draw(&state));
        pause_ms(draw(&state) % 15);
        check_worker(&w);
    }
    atomic_store(&w.end, 1);
    CHECK_INT(pthread_join(working, NULL), 0);
    atomic_store(&proxy.resets, 0);
    atomic_store(&proxy.cut_after, -1);
    for (int64_t id = 0; id < ROWS; id++) {
        bool is_read = false;
        for (int i = 0; i < 20 && !is_read; i++) {
            is_read = read_row(&w, id, DEADLINE_MS);
        }
        CHECK_MSG(is_read, "row %d: %s", (int)id, why);
    }
    check_worker(&w);
    CHECK(w.writes > 0 && w.reads > 0);
    ig_store_close(w.store);
    atomic_store(&proxy.end, 1);
    CHECK_INT(pthread_join(serving, NULL), 0);
    redis_server_end(&server);
    printf("%d faults:", count);
    for (size_t i = 0; i < IG_COUNT_OF(faults); i++) {
        printf(" %d %s,", injected[i], faults[i].name);
    }
    printf(" %ld writes and %ld reads, %ld calls failed, slowest %ld ms\n", w.writes,
           w.reads, w.failures, w.slowest);
}
END_TEST

/* Without a log of writes kill -9 loses what was acknowledged: it is why opening such a
 * server warns. */
TEST(default_settings_lose_acknowledged_rows) {
    if (!redis_server_start(&server, "--appendonly", "no")) {
        return;
    }
    worker w = { .end = 0 };
    ig_store_call call = { .size = sizeof call,
                           .message = why,
                           .message_size = sizeof why };
    CHECK_OK(ig_store_open(server.url, &call, &w.store));
    CHECK(strstr(why, "may lose acknowledged rows"));
    write_row(&w, 1);
    CHECK_INT(w.acknowledged[1], 1);
    redis_server_kill(&server);
    redis_server_restart(&server);
    CHECK(read_row(&w, 1, 5000));
    CHECK_INT(w.lost, 1);
    ig_store_close(w.store);
    redis_server_end(&server);
}
END_TEST

/* ---- LMDB ---- */

static char file[64];

/* False after a skip. */
static bool make_file(char *url, size_t size, const char *options) {
    ig_store *store = NULL;
    (void)snprintf(file, sizeof file, "/tmp/ingot-faults-XXXXXX");
    int made = mkstemp(file);
    CHECK(made >= 0);
    (void)close(made);
    (void)snprintf(url, size, "lmdb://%s%s", file, options);
    ig_store_call call = { .size = sizeof call,
                           .message = why,
                           .message_size = sizeof why };
    ig_status status = ig_store_open(url, &call, &store);
    if (status == IG_UNSUPPORTED) {
        unit_skip("%s", why);
        return false;
    }
    CHECK_MSG(status == IG_OK, "%s", why);
    ig_store_close(store);
    return true;
}

static void remove_file(void) {
    char lock[80];
    (void)snprintf(lock, sizeof lock, "%s-lock", file);
    (void)unlink(file);
    (void)unlink(lock);
}

/* Rows of a batch have one version; tells of each that was acknowledged. */
static void push_batches(const char *url, int first, int to) {
    enum { BATCH = 8 };
    ig_store *store = NULL;
    if (ig_store_open(url, NULL, &store) != IG_OK) {
        _exit(1);
    }
    for (int version = first;; version++) {
        int64_t ids[BATCH];
        int values[BATCH];
        uint64_t offsets[BATCH + 1] = { 0 };
        for (int i = 0; i < BATCH; i++) {
            ids[i] = i;
            values[i] = version * BATCH + i;
            offsets[i + 1] = (uint64_t)(i + 1) * sizeof(int);
        }
        ig_store_cells cells = {
            .size = sizeof cells, .table = "t", .ids = ids, .id_count = BATCH
        };
        if (ig_store_push(store, NULL, &cells, values, offsets) != IG_OK ||
            write(to, &version, sizeof version) != (ssize_t)sizeof version) {
            _exit(1);
        }
    }
}

static void keep_int(void *user, size_t cell, const void *data, size_t bytes) {
    if (data && bytes == sizeof(int)) {
        memcpy((int *)user + cell, data, bytes);
    }
}

TEST(batches_outlive_a_killed_process) {
    enum { BATCH = 8 };
    int count = fault_count(20, 1000), last = 0;
    uint64_t state = 3;
    char url[96];
    if (!make_file(url, sizeof url, "")) {
        return;
    }
    for (int round = 0; round < count; round++) {
        int ends[2], values[BATCH] = { 0 };
        CHECK_INT(pipe(ends), 0);
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            push_batches(url, last + 1, ends[1]);
        }
        (void)close(ends[1]);
        if (draw(&state) % 8) { /* it pushes: 0 to 10 ms from now */
            CHECK(read(ends[0], &last, sizeof last) == (ssize_t)sizeof last);
        }
        pause_ms(draw(&state) % 11);
        CHECK_INT(kill(child, SIGKILL), 0);
        for (int version; read(ends[0], &version, sizeof version) > 0;) {
            last = version;
        }
        (void)close(ends[0]);
        CHECK_INT(waitpid(child, NULL, 0), child);
        ig_store *store = NULL;
        CHECK_OK(ig_store_open(url, NULL, &store));
        const int64_t ids[BATCH] = { 0, 1, 2, 3, 4, 5, 6, 7 };
        ig_store_cells cells = {
            .size = sizeof cells, .table = "t", .ids = ids, .id_count = BATCH
        };
        CHECK_OK(ig_store_pull(store, NULL, &cells, keep_int, values));
        int version = values[0] / BATCH; /* a push is there whole or not at all */
        CHECK(version == last || version == last + 1);
        for (int i = 0; i < BATCH && version > 0; i++) {
            CHECK_INT(values[i], version * BATCH + i);
        }
        last = version;
        ig_store_close(store);
    }
    CHECK(last > 0);
    printf("%d kill -9 while pushing to LMDB, %d batches\n", count, last);
    remove_file();
}
END_TEST

/* Seen by the libraries that are opened: the linker exports it. */
static atomic_int syncs;
IG_API int fdatasync(int of);
int fdatasync(int of) {
    atomic_fetch_add(&syncs, 1);
    return (int)syscall(SYS_fdatasync, of);
}

static int count_syncs(const char *options, bool is_flushed) {
    char url[96];
    worker w = { .end = 0 };
    if (!make_file(url, sizeof url, options)) {
        return -1;
    }
    CHECK_OK(ig_store_open(url, NULL, &w.store));
    int min = 1 << 30;
    for (int64_t id = 0; id < ROWS; id++) {
        int before = atomic_load(&syncs);
        write_row(&w, id);
        CHECK_INT(w.acknowledged[id], 1);
        int here = atomic_load(&syncs) - before;
        min = here < min ? here : min;
    }
    int before = atomic_load(&syncs);
    CHECK_OK(ig_store_flush(w.store, NULL));
    int flushed = atomic_load(&syncs) - before;
    ig_store_close(w.store);
    remove_file();
    return is_flushed ? flushed : min;
}

TEST(every_acknowledged_batch_was_synced) {
    int each = count_syncs("", false);
    if (each >= 0) {
        CHECK(each >= 1);
        CHECK_INT(count_syncs("?sync=no", false), 0);
        CHECK(count_syncs("?sync=no", true) >= 1);
    }
}
END_TEST

UNIT_SUITE(store_faults, a_redis_server_fails_and_nothing_acknowledged_is_lost,
           default_settings_lose_acknowledged_rows, batches_outlive_a_killed_process,
           every_acknowledged_batch_was_synced)
