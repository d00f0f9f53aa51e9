/* The isolated worker.
 * SPDX-License-Identifier: Apache-2.0
 *
 * All that needs the system is done first: the request is read, LLVM opened.  Then the
 * process confines itself, and only then does it look at a model.
 */
#include "driver/worker/worker.h"

#include "base/confine/confine.h"
#include "driver/artifact/emit.h"
#include "driver/compile/compile.h"
#include "driver/compile/request.h"
#include "driver/compile/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct worker {
    ig_context *context;
    ig_arena arena;
    ig_request request;
    ig_module *module;
    ig_compilation build;
    bool has_build;
    ig_status status; /* of the message at hand */
    ig_log log;
} worker;

/* ---- words to the host ---- */

static void send_words(int32_t kind, int code, uint64_t done, uint64_t total,
                       const char *text) {
    ig_packet packet = { .kind = kind, .code = code, .done = done, .total = total };
    ig_packet_set_text(&packet, ig_str_of(text));
    ig_packet_send(IG_WORKER_SOCKET, &packet, -1);
}

/* The record of a message comes before its text. */
static void keep_status(void *user, const ig_log_record *record) {
    worker *w = user;
    w->status = record->status;
}

static void send_message(void *user, int severity, const char *text) {
    const worker *w = user;
    send_words(IG_PACKET_message, severity, (uint64_t)w->status, 0, text);
}

static void send_progress(void *user, const char *stage, uint64_t done,
                          uint64_t total) {
    (void)user;
    send_words(IG_PACKET_progress, 0, done, total, stage);
}

/* Libraries abort when they get no memory: that is not a defect. */
static void on_abort(int signo) {
    if (ig_confine_is_full()) {
        ig_packet packet = { .kind = IG_PACKET_end, .code = IG_LIMIT };
        ig_packet_send(IG_WORKER_SOCKET, &packet, -1);
        _exit(0);
    }
    signal(signo, SIG_DFL);
}

static ig_status ask_for_file(void *user, const char *path, ig_str name, int *out_file,
                              char *why) {
    (void)user;
    ig_packet packet = { .kind = name.size ? IG_PACKET_beneath : IG_PACKET_open };
    ig_str text = name.size ? name : ig_str_of(path);
    *out_file = -1;
    if (text.size >= IG_PACKET_TEXT) {
        snprintf(why, 128, "the name is too long");
        return IG_INVALID;
    }
    ig_packet_set_text(&packet, text);
    if (!ig_packet_send(IG_WORKER_SOCKET, &packet, -1) ||
        !ig_packet_receive(IG_WORKER_SOCKET, &packet, out_file)) {
        _exit(1); /* the host is gone */
    }
    snprintf(why, 128, "%.127s", packet.text);
    return (ig_status)packet.code;
}

/* ---- the work ---- */

static ig_status make_parts(worker *w) {
    ig_compilation *build = &w->build;
    const char *emit = w->request.compile.emit;
    if (!emit || strcmp(emit, "header") != 0) {
        return ig_compilation_run(build);
    }
    ig_str text = ig_emit_header(
        &build->arena, ig_emit_symbol(&build->arena, w->request.artifact), w->module);
    build->parts = IG_NEW_ARRAY(&build->arena, ig_file_part, 1);
    build->parts[0] = (ig_file_part){ text.data, text.size };
    build->part_count = 1;
    return IG_OK;
}

static ig_status give_back(worker *w, const void *data, size_t size) {
    return ig_write_all(IG_WORKER_MEMORY, data, size)
               ? IG_OK
               : ig_error(&w->context->diag, IG_LIMIT, NULL,
                          "no memory for the result: %s", strerror(errno));
}

static ig_status compile_module(void *arguments) {
    worker *w = arguments;
    IG_TRY(make_parts(w));
    for (size_t i = 0; i < w->build.part_count; i++) {
        IG_TRY(give_back(w, w->build.parts[i].data, w->build.parts[i].size));
    }
    return IG_OK;
}

static ig_status dump_module(worker *w) {
    const char *text = NULL;
    size_t size = 0;
    IG_TRY(ig_dump(w->module, w->request.stage, &w->request.compile,
                   (ig_format)w->request.format, &text, &size));
    return give_back(w, text, size);
}

static ig_status do_work(worker *w) {
    IG_TRY(ig_import(w->context, w->request.model, &w->request.import, &w->module));
    if (w->request.stage) {
        return dump_module(w);
    }
    ig_compilation_init(&w->build, w->module, &w->request.compile);
    w->build.path = w->request.artifact;
    return ig_driver_guard(w->context, compile_module, w);
}

/* ---- before it ---- */

/* The request, out of the memory that the result goes to. */
static ig_status read_request(worker *w) {
    struct stat facts;
    if (fstat(IG_WORKER_MEMORY, &facts) != 0 || facts.st_size == 0) {
        return IG_INVALID;
    }
    ig_str bytes = { ig_arena_zalloc(&w->arena, (size_t)facts.st_size),
                     (size_t)facts.st_size };
    if (pread(IG_WORKER_MEMORY, (char *)(uintptr_t)bytes.data, bytes.size, 0) !=
            (ssize_t)bytes.size ||
        ftruncate(IG_WORKER_MEMORY, 0) != 0 ||
        lseek(IG_WORKER_MEMORY, 0, SEEK_SET) != 0) {
        return IG_INVALID;
    }
    return ig_request_read(&w->arena, bytes, &w->request);
}

static bool open_context(worker *w) {
    int threads = w->request.threads;
    w->log = (ig_log){ keep_status, w };
    ig_context_options options = { .size = sizeof options,
                                   .message = send_message,
                                   .message_user = w,
                                   .log = &w->log,
                                   .progress = send_progress,
                                   .cache_folder = "",
                                   .compile_threads = threads > 0 ? threads
                                                                  : ig_cpu_count() };
    w->context = ig_context_create(&options);
    if (w->context) {
        w->context->limits = w->request.limits;
        w->context->budget.limit = (size_t)w->request.limits.memory_bytes;
    }
    return w->context != NULL;
}

/* LLVM and the files it reads when it starts. */
static ig_status open_backends(void *arguments) {
    worker *w = arguments;
    ig_target_list list;
    IG_TRY(ig_targets_parse(w->context, w->request.compile.target, &list));
    for (uint32_t i = 0; i < list.count; i++) {
        const ig_backend *backend = NULL;
        void *state = NULL;
        IG_TRY(ig_driver_backend(w->context, list.targets[i], &backend));
        IG_TRY(backend->open(w->context, list.targets[i], &state));
        backend->close(state);
    }
    return IG_OK;
}

static ig_status prepare_process(worker *w) {
    char why[128];
    signal(SIGABRT, on_abort);
    IG_TRY(ig_driver_guard(w->context, open_backends, w));
    if (!ig_confine((uint64_t)w->request.limits.isolate_bytes, why)) {
        return ig_error(&w->context->diag, IG_UNSUPPORTED, NULL,
                        "the isolated process %s", why);
    }
    return IG_OK;
}

int ig_worker_main(void) {
    static const ig_opener opener = { .open = ask_for_file };
    worker w = { 0 };
    ig_arena_init(&w.arena, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (read_request(&w) != IG_OK || !open_context(&w)) {
        return 2;
    }
    w.context->opener = &opener;
    ig_status status = prepare_process(&w);
    status = status == IG_OK ? do_work(&w) : status;
    send_words(IG_PACKET_end, (int)status, 0, 0, "");
    _exit(0); /* memory goes with the process */
}
