/* The command line of ingot-serve: one table.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/settings.h"

#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_USAGE = 2, FIRST_LONG = 256 };
enum { MAX_CPUS = 64, MB = 1 << 20 };

typedef struct option_row {
    const char *name, *value; /* value NULL: a flag */
    int64_t min, max;         /* of a number */
    const char *help;
} option_row;

/* The order is that of `set_option`. */
enum {
    OPTION_HTTP,
    OPTION_GRPC,
    OPTION_ADDRESS,
    OPTION_CERTIFICATE,
    OPTION_KEY,
    OPTION_TOKENS,
    OPTION_INSECURE,
    OPTION_NAME,
    OPTION_EXPLICIT,
    OPTION_LOAD,
    OPTION_POLL,
    OPTION_LOOPS,
    OPTION_BODY,
    OPTION_MEMORY,
    OPTION_COPY,
    OPTION_CONNECTIONS,
    OPTION_QUEUE,
    OPTION_IDLE,
    OPTION_DRAIN,
    OPTION_COMPILE,
    OPTION_SHARED,
    OPTION_LOG,
    OPTION_QUIET,
    OPTION_ISOLATE,
    OPTION_ISOLATE_MEMORY,
    OPTION_CAPTURE,
    OPTION_CAPTURE_EVERY,
    OPTION_HOST, /* from here on: of a worker */
    OPTION_PYTHON,
    OPTION_PRESET,
    OPTION_FOLDER,
    OPTION_COMPONENTS,
    OPTION_CHILD,
    OPTION_SLOTS,
    OPTION_QUOTA,
    OPTION_SESSION,
    OPTION_JOB,
    OPTION_HELP,
    OPTION_COUNT
};

static const option_row rows[OPTION_COUNT] = {
    { "http-port", "PORT", -1, 65535, "of HTTP (8000); 0: one that is free, -1: none" },
    { "grpc-port", "PORT", -1, 65535, "of gRPC (8001); 0: one that is free, -1: none" },
    { "address", "IPv4", 0, 0, "where to listen (127.0.0.1)" },
    { "tls-cert", "FILE", 0, 0,
      "the server's certificate and those that sign it (PEM)" },
    { "tls-key", "FILE", 0, 0, "its key (PEM); both are read again when they change" },
    { "token-file", "FILE", 0, 0,
      "tokens, one a line, of which each caller must bring one" },
    { "insecure", NULL, 0, 0,
      "listen beyond this machine without TLS or tokens: others keep strangers out" },
    { "name", "NAME", 0, 0, "the name of a model that is given as a file" },
    { "explicit", NULL, 0, 0, "clients load and unload models" },
    { "load", "NAME", 0, 0,
      "with --explicit: a model that is there at first; * is all" },
    { "poll", "SECONDS", 0, 86400,
      "between looks at the folders (2); 0: at the start only" },
    { "loops", "N", 1, MAX_CPUS, "threads that serve (as many as there are CPUs)" },
    { "max-body", "MB", 1, 4095, "of a request, also when it is unpacked (64)" },
    { "memory", "MB", 1, 1 << 20, "that the requests of a loop hold together (512)" },
    { "copy-limit", "MB", 0, 1 << 24,
      "of an artifact that is copied where its file system shares no blocks (4096)" },
    { "max-connections", "N", 1, 1 << 20, "of each loop and protocol (4096)" },
    { "max-queue", "N", 1, 1 << 20, "requests that wait in a loop (1024)" },
    { "idle", "SECONDS", 1, 86400,
      "after which a connection that does nothing ends (60)" },
    { "drain", "SECONDS", 0, 3600, "for requests to end after SIGTERM (30)" },
    { "compile-seconds", "SECONDS", 1, 86400, "for compiling a model (600)" },
    { "shared-memory", NULL, 0, 0,
      "clients may register any shared memory of this user (off)" },
    { "log", "json|text", 0, 0, "lines of the log on stderr (json)" },
    { "quiet", NULL, 0, 0, "log warnings and errors only" },
    { "isolate", NULL, 0, 0, "run each model in a confined process of its own" },
    { "isolate-memory", "MB", 0, 1 << 24, "that it may write (0: no bound)" },
    { "capture", "FOLDER", 0, 0,
      "write runs there, as ingot replay reads them: clients' data (off)" },
    { "capture-every", "N", 1, 1 << 30, "with --capture: of N runs one (1000)" },
    { "host", "NAME", 0, 0, "the name of this hardware (the machine's name)" },
    { "python", "PATH", 0, 0, "the Python whose packages are backends (python3)" },
    { "preset", "NAME=BACKEND,…", 0, 0, "backends of a name; default is there" },
    { "component-folder", "FOLDER", 0, 0,
      "where uploaded files are kept (they end with the server)" },
    { "components", "MB", 1, 1 << 24, "of uploaded files that are kept (4096)" },
    { "child-memory", "MB", 0, 1 << 24,
      "that a backend's process may write (8192); 0: no bound" },
    { "slots", "N", 1, 64, "sessions that have the machine at once (1)" },
    { "quota", "N", 1, 1024, "backends that a user's sessions may hold (16)" },
    { "session-seconds", "SECONDS", 1, 86400,
      "after which a session without a heartbeat ends (60)" },
    { "job-seconds", "SECONDS", 1, 86400, "for loading, or for a call's runs (600)" },
    { "help", NULL, 0, 0, "print this and exit" },
};

static const char usage[] =
    "usage: ingot serve FOLDER|MODEL… [options]\n\n"
    "Serves models by the Open Inference Protocol, version 2, over HTTP and gRPC.  FOLDER\n"
    "holds NAME/VERSION/model.{ingot,onnx,pt,pt2} and NAME/config.json; docs/serving.md says\n"
    "more.  The ports are printed on standard output, the log on stderr.\n\noptions:\n";

static const char worker_usage[] =
    "usage: ingot worker [FOLDER|MODEL…] [options]\n\n"
    "Runs and times models that clients elsewhere send, on the backends of this machine:\n"
    "Ingot, and what the user's Python has.  Clients are ingot.profile, ingot profile\n"
    "--remote and octoml-profile.  It serves models (.ingot, .onnx, .pt, .pt2), too, as\n"
    "ingot serve does.\n\noptions:\n";

static bool is_of_worker(int which) {
    return which >= OPTION_HOST && which <= OPTION_JOB;
}

static void print_help(bool is_worker) {
    fputs(is_worker ? worker_usage : usage, stdout);
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (is_of_worker(i) && !is_worker) {
            continue;
        }
        char left[64];
        snprintf(left, sizeof left, "--%s %s", rows[i].name,
                 rows[i].value ? rows[i].value : "");
        printf("  %-26s %s\n", left, rows[i].help);
    }
}

static bool refuse_option(const char *name, const char *text) {
    fprintf(stderr,
            "error: ingot serve: --%s does not take '%s'\n  try: ingot serve --help\n",
            name, text);
    return false;
}

static bool read_number(const option_row *row, const char *text, int64_t *out) {
    char *end;
    errno = 0;
    *out = strtoll(text, &end, 10);
    return (*text && !*end && !errno && *out >= row->min && *out <= row->max) ||
           refuse_option(row->name, text);
}

/* Options of a worker. */
static void set_worker(profiler_options *to, int which, const char *text,
                       int64_t number) {
    const char **presets = (const char **)to->presets;
    switch (which) {
    case OPTION_HOST:
        to->host = text;
        return;
    case OPTION_PYTHON:
        to->python = text;
        return;
    case OPTION_PRESET:
        presets[to->preset_count++] = text;
        return;
    case OPTION_FOLDER:
        to->component_folder = text;
        return;
    case OPTION_COMPONENTS:
        to->component_bytes = (uint64_t)number * MB;
        return;
    case OPTION_CHILD:
        to->child_bytes = (uint64_t)number * MB;
        return;
    case OPTION_SLOTS:
        to->slots = (size_t)number;
        return;
    case OPTION_QUOTA:
        to->quota = (size_t)number;
        return;
    case OPTION_SESSION:
        to->session_seconds = (int)number;
        return;
    default:
        to->job_seconds = (int)number;
    }
}

/* Options whose value is a text, or none. */
static void set_text(serve_settings *to, int which, const char *text) {
    const char **load = (const char **)to->models.load;
    switch (which) {
    case OPTION_ADDRESS:
        to->address = text;
        return;
    case OPTION_CERTIFICATE:
        to->keys.certificate = text;
        return;
    case OPTION_KEY:
        to->keys.key = text;
        return;
    case OPTION_TOKENS:
        to->keys.tokens = text;
        return;
    case OPTION_INSECURE:
        to->is_insecure = true;
        return;
    case OPTION_CAPTURE:
        to->capture = text;
        return;
    case OPTION_NAME:
        to->models.name = text;
        return;
    case OPTION_LOAD:
        load[to->models.load_count++] = text;
        return;
    case OPTION_SHARED:
        to->has_shared_memory = true;
        return;
    case OPTION_ISOLATE:
        to->models.runs.is_isolated = true;
        return;
    case OPTION_EXPLICIT:
        to->models.is_explicit = true;
        return;
    case OPTION_LOG:
        to->log_is_text = strcmp(text, "text") == 0;
        return;
    default:
        to->is_quiet = true;
    }
}

static void set_size(serve_settings *to, int which, size_t value) {
    size_t *const fields[OPTION_COUNT] = {
        [OPTION_LOOPS] = &to->loops,
        [OPTION_BODY] = &to->limits.body_bytes,
        [OPTION_MEMORY] = &to->limits.memory_bytes,
        [OPTION_CONNECTIONS] = &to->limits.connections,
        [OPTION_QUEUE] = &to->limits.queued,
    };
    bool is_mb = which == OPTION_BODY || which == OPTION_MEMORY;
    *fields[which] = value * (is_mb ? MB : 1);
}

/* Options whose value is a number. */
static void set_number(serve_settings *to, int which, int64_t number) {
    switch (which) {
    case OPTION_HTTP:
        to->http_port = (int)number;
        return;
    case OPTION_GRPC:
        to->grpc_port = (int)number;
        return;
    case OPTION_POLL:
        to->models.poll_seconds = (int)number;
        return;
    case OPTION_COPY:
        to->models.own.copy_limit = (uint64_t)number * MB;
        return;
    case OPTION_ISOLATE_MEMORY:
        to->models.runs.memory_bytes = (uint64_t)number * MB;
        return;
    case OPTION_IDLE:
        to->limits.idle_ns = number * 1000000000;
        return;
    case OPTION_CAPTURE_EVERY:
        to->capture_every = (int)number;
        return;
    case OPTION_DRAIN:
        to->drain_seconds = (int)number;
        return;
    case OPTION_COMPILE:
        to->models.own.seconds = (int)number;
        return;
    default:
        set_size(to, which, (size_t)number);
    }
}

static void set_defaults(serve_settings *out, int argc) {
    cpu_set_t cpus;
    int count = sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
    *out = (serve_settings){
        .address = "127.0.0.1",
        .http_port = 8000,
        .grpc_port = 8001,
        .loops = (size_t)(count < MAX_CPUS ? count : MAX_CPUS),
        .drain_seconds = 30,
        .capture_every = 1000,
        .limits = { .body_bytes = 64 * MB,
                    .memory_bytes = (size_t)512 * MB,
                    .header_bytes = 32 << 10,
                    .connections = 4096,
                    .streams = 128,
                    .queued = 1024,
                    .idle_ns = 60000000000 },
        .models = { .poll_seconds = 2,
                    .own = { .copy_limit = (uint64_t)4096 * MB, .seconds = 600 } },
    };
    out->models.load = calloc((size_t)argc + 1, sizeof *out->models.load);
    out->profile = (profiler_options){
        .python = "python3",
        .presets = calloc((size_t)argc + 1, sizeof *out->profile.presets),
        .component_bytes = (uint64_t)4096 * MB,
        .child_bytes = (uint64_t)8192 * MB,
        .slots = 1,
        .quota = 16,
        .session_seconds = 60,
        .job_seconds = 600,
    };
}

bool settings_read(int argc, char **argv, serve_settings *out, int *out_exit) {
    struct option longs[OPTION_COUNT + 1] = { { 0 } };
    for (int i = 0; i < OPTION_COUNT; i++) {
        longs[i] = (struct option){ rows[i].name, rows[i].value != NULL, NULL,
                                    FIRST_LONG + i };
    }
    *out_exit = EXIT_USAGE;
    set_defaults(out, argc);
    out->is_worker = strcmp(argv[0], "worker") == 0;
    for (int which; (which = getopt_long(argc, argv, "h", longs, NULL)) != -1;) {
        if (which == '?') {
            return false;
        }
        which = which == 'h' ? OPTION_HELP : which - FIRST_LONG;
        if (which == OPTION_HELP) {
            print_help(out->is_worker);
            *out_exit = 0;
            return false;
        }
        int64_t number = 0;
        bool is_number = rows[which].min != rows[which].max;
        if (which == OPTION_LOG && strcmp(optarg, "json") != 0 &&
            strcmp(optarg, "text") != 0) {
            return refuse_option(rows[which].name, optarg);
        }
        if (is_number && !read_number(&rows[which], optarg, &number)) {
            return false;
        }
        if (is_of_worker(which)) {
            set_worker(&out->profile, which, optarg, number);
        } else if (is_number) {
            set_number(out, which, number);
        } else {
            set_text(out, which, optarg);
        }
    }
    out->models.paths = (const char *const *)argv + optind;
    out->models.path_count = (size_t)(argc - optind);
    if (out->is_worker) {
        out->loops = 1; /* the machine is for the measured work */
        return true;
    }
    if (out->models.path_count == 0) {
        fputs("error: ingot serve: no folder and no model\n  try: ingot serve --help\n",
              stderr);
    }
    return out->models.path_count != 0;
}

void settings_free(serve_settings *of) {
    free((void *)of->models.load);
    free((void *)of->profile.presets);
}
