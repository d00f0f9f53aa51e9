/* The server's life.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/server.h"

#include "tools/serve/loop.h"
#include "tools/serve/model/log.h"

#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MAX_LOOPS = 64, BACKLOG = 1024, EXIT_USAGE = 2, EXIT_IO = 6, EXIT_LIMIT = 5 };

typedef struct server {
    const serve_settings *settings;
    mailbox boxes[MAX_LOOPS];
    loop *loops[MAX_LOOPS];
    key_ring *keys;
    size_t loop_count; /* that are open */
    repository *repository;
    regions *regions;         /* or NULL */
    int http_port, grpc_port; /* that listeners have */
    char folder[4096];        /* of own copies */
    char compiler[4096];
} server;

static int refuse_start(int exit_status, const char *what, const char *words) {
    fprintf(stderr, "error: ingot serve: %s%s%s\n", what, *words ? ": " : "", words);
    return exit_status;
}

/* ---- listeners ---- */

/* Each loop has a listener of its own on the same port: the kernel shares connections
 * out. */
static int open_listener(const char *address, int *port) {
    struct sockaddr_in here = { .sin_family = AF_INET,
                                .sin_port = htons((uint16_t)*port) };
    socklen_t size = sizeof here;
    int yes = 1;
    if (inet_pton(AF_INET, address, &here.sin_addr) != 1) {
        errno = EINVAL;
        return -1;
    }
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (listener < 0) {
        return -1;
    }
    if (setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        setsockopt(listener, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes) != 0 ||
        bind(listener, (struct sockaddr *)&here, size) != 0 ||
        listen(listener, BACKLOG) != 0 ||
        getsockname(listener, (struct sockaddr *)&here, &size) != 0) {
        close(listener);
        return -1;
    }
    *port = ntohs(here.sin_port);
    return listener;
}

/* Somebody else may listen on the port with SO_REUSEPORT, too: we would share its
 * clients. */
static bool is_port_free(const char *address, int port) {
    struct sockaddr_in here = { .sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port) };
    int yes = 1, trial = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool is_free = trial >= 0 && inet_pton(AF_INET, address, &here.sin_addr) == 1 &&
                   setsockopt(trial, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
                   bind(trial, (struct sockaddr *)&here, sizeof here) == 0;
    int failed = errno;
    if (trial >= 0) {
        close(trial);
    }
    errno = failed;
    return is_free;
}

static int open_one_loop(server *of) {
    const serve_settings *settings = of->settings;
    size_t index = of->loop_count;
    int http = -1, grpc = -1;
    char words[64];
    if (settings->http_port >= 0 &&
        (http = open_listener(settings->address, &of->http_port)) < 0) {
        snprintf(words, sizeof words, "%s:%d", settings->address, of->http_port);
        return refuse_start(EXIT_IO, words, strerror(errno));
    }
    if (settings->grpc_port >= 0 &&
        (grpc = open_listener(settings->address, &of->grpc_port)) < 0) {
        snprintf(words, sizeof words, "%s:%d", settings->address, of->grpc_port);
        return refuse_start(EXIT_IO, words, strerror(errno));
    }
    if (!mailbox_open(&of->boxes[index])) {
        return refuse_start(EXIT_LIMIT, "no descriptor for a loop", strerror(errno));
    }
    of->loops[index] = loop_open(index, &settings->limits, &of->boxes[index], of->keys,
                                 http, grpc);
    if (!of->loops[index]) {
        return refuse_start(EXIT_LIMIT, "no memory or descriptors for a loop", "");
    }
    of->loop_count++;
    return 0;
}

static int open_loops(server *of) {
    const serve_settings *settings = of->settings;
    of->http_port = settings->http_port;
    of->grpc_port = settings->grpc_port;
    if ((of->http_port > 0 && !is_port_free(settings->address, of->http_port)) ||
        (of->grpc_port > 0 && !is_port_free(settings->address, of->grpc_port))) {
        return refuse_start(EXIT_IO, "--http-port or --grpc-port", strerror(errno));
    }
    int failed = 0;
    while (!failed && of->loop_count < settings->loops) {
        failed = open_one_loop(of);
    }
    return failed;
}

/* ---- the repository ---- */

static int open_models(server *of) {
    const char *base = getenv("TMPDIR");
    char words[WORDS];
    snprintf(of->folder, sizeof of->folder, "%s/ingot-serve-XXXXXX",
             base && *base ? base : "/tmp");
    if (!mkdtemp(of->folder)) {
        return refuse_start(EXIT_IO, of->folder, strerror(errno));
    }
    own_find_compiler(of->compiler);
    repository_options options = of->settings->models;
    options.own.folder = of->folder;
    options.own.compiler = of->compiler;
    options.boxes = of->boxes;
    options.runs.room = of->settings->limits.memory_bytes;
    options.runs.loop_count = of->loop_count;
    options.loop_count = of->loop_count;
    of->repository = repository_open(&options, words);
    return of->repository ? 0 : refuse_start(EXIT_LIMIT, "the repository", words);
}

/* ---- keys ---- */

static bool is_loopback(const char *address) {
    struct in_addr at;
    enum { LOOPBACK = 127 };
    return inet_pton(AF_INET, address, &at) == 1 && ntohl(at.s_addr) >> 24 == LOOPBACK;
}

/* Beyond this machine, strangers are kept out and bytes are not there to be read,
 * unless somebody says that another program sees to it. */
static int open_keys(server *of) {
    const serve_settings *settings = of->settings;
    const key_files *files = &settings->keys;
    char words[KEY_WORDS];
    if (!files->certificate != !files->key) {
        return refuse_start(EXIT_USAGE, "--tls-cert and --tls-key go together", "");
    }
    if (!is_loopback(settings->address) && !settings->is_insecure &&
        (!files->certificate || !files->tokens)) {
        return refuse_start(
            EXIT_USAGE, settings->address,
            "anyone who reaches this address could run models and read the requests of others: give --tls-cert, --tls-key and "
            "--token-file, or say --insecure where something else "
            "keeps strangers out");
    }
    of->keys = keys_open(files, words);
    return of->keys ? 0 : refuse_start(EXIT_IO, "keys", words);
}

/* ---- life ---- */

/* A worker has one loop, and one set of children. */
static int open_profiler(server *of) {
    char words[WORDS];
    const profiler_options *how = &of->settings->profile;
    profiler *made = profiler_open(how, of->folder, words);
    if (!made) {
        return refuse_start(EXIT_LIMIT, "profiling", words);
    }
    return loop_profile(of->loops[0], made)
               ? 0
               : refuse_start(EXIT_LIMIT, "profiling", strerror(errno));
}

static int start_loops(server *of) {
    if (of->settings->has_shared_memory && !(of->regions = regions_create())) {
        return refuse_start(EXIT_LIMIT, "no memory for shared memory", "");
    }
    for (size_t i = 0; i < of->loop_count; i++) {
        if (!loop_start(of->loops[i], of->repository, of->regions)) {
            return refuse_start(EXIT_LIMIT, "no thread for a loop", strerror(errno));
        }
    }
    return 0;
}

static void tell_ports(const server *of) {
    const char *address = of->settings->address,
               *s = of->settings->keys.certificate ? "s" : "";
    if (of->http_port >= 0) {
        printf("http%s://%s:%d\n", s, address, of->http_port);
    }
    if (of->grpc_port >= 0) {
        printf("grpc%s://%s:%d\n", s, address, of->grpc_port);
    }
    fflush(stdout);
}

/* Reads certificates and tokens again.  A broken file is told and left: one of two
 * files may be new already, and the other not yet. */
static void reload_keys(server *of) {
    char words[KEY_WORDS];
    if (keys_reload(of->keys, words)) {
        log_event(IG_LOG_INFO, "keys", NULL, 0,
                  "certificates and tokens are read again");
    } else {
        log_event(IG_LOG_ERROR, "keys", NULL, 0, words);
    }
}

/* Waits for the signal to end; looks at the keys' files now and then, and at SIGHUP. */
static void await_end(server *of, const sigset_t *signals) {
    const struct timespec look = { .tv_sec = 2 };
    for (int which = SIGHUP; which == SIGHUP;) {
        which = sigtimedwait(signals, NULL, &look);
        bool is_asked = which == SIGHUP;
        if (is_asked || (which < 0 && keys_are_stale(of->keys))) {
            reload_keys(of);
        }
        which = which < 0 ? SIGHUP : which;
    }
}

/* Waits for a signal, then lets the loops end their work. */
static void serve_to_end(server *of, const sigset_t *signals) {
    tell_ports(of);
    await_end(of, signals);
    log_event(IG_LOG_INFO, "drain", NULL, 0, "");
    int64_t deadline = clock_now() + of->settings->drain_seconds * 1000000000LL;
    for (size_t i = 0; i < of->loop_count; i++) {
        loop_drain(of->loops[i], deadline);
    }
    for (size_t i = 0; i < of->loop_count; i++) {
        loop_await(of->loops[i]);
    }
    for (size_t i = 0; i < of->loop_count; i++) {
        loop_join(of->loops[i]);
    }
    log_event(IG_LOG_INFO, "end", NULL, 0, "");
}

/* Sessions write calls down where the environment says so (docs/inspect.md). */
static void begin_capture(const serve_settings *settings) {
    char every[16];
    if (settings->capture) {
        snprintf(every, sizeof every, "%d", settings->capture_every);
        setenv("INGOT_CAPTURE", settings->capture, 1);
        setenv("INGOT_CAPTURE_EVERY", every, 1);
        setenv("INGOT_CAPTURE_CALLS", "1000", 0);
    }
}

int server_run(const serve_settings *settings) {
    static server it;
    sigset_t signals;
    begin_capture(settings);
    it.settings = settings;
    log_to(settings->log_is_text ? ig_log_text : ig_log_json,
           settings->is_quiet ? IG_LOG_WARNING : IG_LOG_INFO);
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    int failed = open_keys(&it);
    failed = failed ? failed : open_loops(&it);
    failed = failed ? failed : open_models(&it);
    failed = failed || !settings->is_worker ? failed : open_profiler(&it);
    failed = failed ? failed : start_loops(&it);
    if (failed) {
        return failed; /* the process ends, and all that is open with it */
    }
    serve_to_end(&it, &signals);
    repository_close(it.repository);
    for (size_t i = 0; i < it.loop_count; i++) {
        loop_close(it.loops[i]);
        mailbox_close(&it.boxes[i]);
    }
    regions_destroy(it.regions);
    keys_close(it.keys);
    rmdir(it.folder);
    return 0;
}
