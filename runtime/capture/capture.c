/* Writes calls of a session down: artifact, inputs, outputs, settings.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     DIR/MODEL-XXXXXX/session.json         of one session
 *                      artifact.ingot       and files that it refers to: file_K
 *                      call_0000/inputs.json, input_I.npy      before the call
 *                                outputs.json, output_I.npy    after it
 *
 * A call without outputs.json did not return.  INGOT_CAPTURE_CALLS says how many calls
 * of a session are written (16).  What cannot be written ends the capture, not the
 * call, with a line on stderr.  INGOT_CAPTURE_EVERY=N: of N calls one is written, the
 * first.
 */
#include "runtime/session/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, CALLS = 16, CALLS_MAX = 9999, EMBEDDED_SOURCES = 2 };

typedef struct capture {
    ig_capture verbs; /* first: called by the session */
    char folder[PATH_BYTES];
    size_t length; /* of the session's folder, in `folder` */
    int calls, limit, every;
    long seen;   /* calls, written or not */
    bool is_due; /* the call at hand is written */
    bool has_failed;
} capture;

/* ---- files ---- */

static void fail_capture(capture *c, const char *path) {
    if (!c->has_failed) {
        (void)fprintf(stderr, "ingot: INGOT_CAPTURE: %s: cannot write: %s\n", path,
                      strerror(errno));
    }
    c->has_failed = true;
}

/* c->folder becomes its first `length` bytes and the name; false when that is too
 * long. */
static bool enter_folder(capture *c, size_t length, const char *name) {
    int size = snprintf(c->folder + length, sizeof c->folder - length, "/%s", name);
    return size > 0 && (size_t)size < sizeof c->folder - length;
}

static FILE *open_file(capture *c, size_t length, const char *name) {
    FILE *file = enter_folder(c, length, name) ? fopen(c->folder, "wbe") : NULL;
    if (!file) {
        fail_capture(c, c->folder);
    }
    return file;
}

static void close_file(capture *c, FILE *file) {
    bool is_bad = ferror(file) != 0;
    if (fclose(file) != 0 || is_bad) {
        fail_capture(c, c->folder);
    }
}

static void write_bytes(capture *c, size_t length, const char *name, ig_str bytes) {
    FILE *file = open_file(c, length, name);
    if (file) {
        (void)fwrite(bytes.data, 1, bytes.size, file);
        close_file(c, file);
    }
}

/* ---- JSON and .npy ---- */

static void put_text(FILE *file, const char *text) {
    (void)fputc('"', file);
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        if (*at < 0x20 || *at == '"' || *at == '\\') {
            (void)fprintf(file, "\\u%04x", *at);
        } else {
            (void)fputc(*at, file);
        }
    }
    (void)fputc('"', file);
}

/* What numpy calls the element type; those that it lacks are bytes. */
static const char *numpy_type(int32_t dtype) {
    static const char *const types[] = {
        [IG_F32] = "<f4",  [IG_U8] = "|u1",  [IG_I8] = "|i1",  [IG_U16] = "<u2",
        [IG_I16] = "<i2",  [IG_I32] = "<i4", [IG_I64] = "<i8", [IG_BOOL8] = "|b1",
        [IG_F16] = "<f2",  [IG_F64] = "<f8", [IG_U32] = "<u4", [IG_U64] = "<u8",
        [IG_BF16] = "<V2",
    };
    bool is_known = dtype >= 0 && (size_t)dtype < sizeof types / sizeof *types;
    return is_known ? types[dtype] : NULL;
}

/* Version 1.0: magic, length of the header, a dict, blanks up to 64 bytes. */
static void put_npy(FILE *file, const ig_view *view, int64_t bytes) {
    char header[512];
    const char *type = numpy_type(view->dtype);
    int size = snprintf(header, sizeof header,
                        "{'descr': '%s', 'fortran_order': False, 'shape': (",
                        type ? type : "|u1");
    for (uint32_t d = 0; type && d < view->rank; d++) {
        size += snprintf(header + size, sizeof header - (size_t)size, "%lld, ",
                         (long long)view->dims[d]);
    }
    if (!type) {
        size += snprintf(header + size, sizeof header - (size_t)size, "%lld, ",
                         (long long)bytes);
    }
    size += snprintf(header + size, sizeof header - (size_t)size, "), }");
    int blanks = 63 - (10 + size) % 64;
    int length = size + blanks + 1;
    const unsigned char magic[] = { 0x93,
                                    'N',
                                    'U',
                                    'M',
                                    'P',
                                    'Y',
                                    1,
                                    0,
                                    (unsigned char)(length & 255),
                                    (unsigned char)(length >> 8) };
    (void)fwrite(magic, 1, sizeof magic, file);
    (void)fprintf(file, "%s%*s\n", header, blanks, "");
    if (bytes > 0) {
        (void)fwrite(view->data, 1, (size_t)bytes, file);
    }
}

/* Bytes of a view whose dtype has so many bits. */
static int64_t bytes_of(const ig_view *view) {
    static const uint8_t bits[] = {
        [IG_F32] = 32,  [IG_U8] = 8,         [IG_I8] = 8,         [IG_U16] = 16,
        [IG_I16] = 16,  [IG_I32] = 32,       [IG_I64] = 64,       [IG_BOOL8] = 8,
        [IG_F16] = 16,  [IG_F64] = 64,       [IG_U32] = 32,       [IG_U64] = 64,
        [IG_BF16] = 16, [IG_F8E4M3FN] = 8,   [IG_F8E4M3FNUZ] = 8, [IG_F8E5M2] = 8,
        [IG_U4] = 4,    [IG_F8E5M2FNUZ] = 8, [IG_I4] = 4,         [IG_U2] = 2,
        [IG_I2] = 2,    [IG_F8E8M0] = 8,     [IG_F4E2M1] = 4,
    };
    bool is_known = view->dtype >= 0 && (size_t)view->dtype < sizeof bits;
    int64_t count = is_known ? bits[view->dtype] : 0;
    for (uint32_t d = 0; d < view->rank; d++) {
        count *= view->dims[d]; /* the session holds them: the product fits */
    }
    return (count + 7) / 8;
}

/* ---- calls ---- */

typedef struct value_list {
    const char *kind; /* "input" */
    uint32_t count;
    const ig_plan_port *ports;
} value_list;

static const ig_view *view_at(const ig_session *session, const value_list *list,
                              uint32_t index) {
    return list->kind[0] == 'i' ? &session->inputs[index]
                                : session->outputs[index].view;
}

static void put_view(FILE *file, const ig_session *session, const value_list *list,
                     uint32_t index) {
    const ig_view *view = view_at(session, list, index);
    (void)fprintf(file, "%s\n  {\"name\": ", index ? "," : "");
    put_text(file, ig_plan_string(session->plan, list->ports[index].name));
    (void)fprintf(file, ", \"file\": \"%s_%u.npy\", \"dtype\": %d, \"dims\": [",
                  list->kind, index, (int)view->dtype);
    for (uint32_t d = 0; d < view->rank; d++) {
        (void)fprintf(file, "%s%lld", d ? ", " : "", (long long)view->dims[d]);
    }
    (void)fprintf(file, "], \"bytes\": %lld}", (long long)bytes_of(view));
}

/* Their files first: who finds the list finds them. */
static void write_values(capture *c, const ig_session *session, const value_list *list,
                         size_t length) {
    for (uint32_t i = 0; i < list->count; i++) {
        char name[32];
        const ig_view *view = view_at(session, list, i);
        (void)snprintf(name, sizeof name, "%s_%u.npy", list->kind, i);
        FILE *file = open_file(c, length, name);
        if (file) {
            put_npy(file, view, bytes_of(view));
            close_file(c, file);
        }
    }
}

static size_t enter_call(capture *c) {
    char name[32];
    (void)snprintf(name, sizeof name, "call_%04d", c->calls);
    if (!enter_folder(c, c->length, name)) {
        errno = ENAMETOOLONG;
        fail_capture(c, c->folder);
    }
    return c->has_failed ? 0 : strlen(c->folder);
}

static bool is_over(const capture *c, const ig_session *session) {
    return c->has_failed || !c->is_due || c->calls >= c->limit || !session->is_bound;
}

static void before_call(ig_capture *verbs, const ig_session *session) {
    capture *c = (capture *)verbs;
    c->is_due = c->seen++ % c->every == 0;
    size_t length = is_over(c, session) ? 0 : enter_call(c);
    if (!length) {
        return;
    }
    if (mkdir(c->folder, 0700) != 0) {
        fail_capture(c, c->folder);
        return;
    }
    value_list list = { "input",
                        ig_session_callers(session, session->plan->inputs_count),
                        session->plan->inputs };
    write_values(c, session, &list, length);
    FILE *file = open_file(c, length, "inputs.json");
    if (file) {
        (void)fprintf(file, "{\"inputs\": [");
        for (uint32_t i = 0; i < list.count; i++) {
            put_view(file, session, &list, i);
        }
        (void)fprintf(file, "]}\n");
        close_file(c, file);
    }
}

static void after_call(ig_capture *verbs, const ig_session *session, ig_status status) {
    capture *c = (capture *)verbs;
    size_t length = is_over(c, session) ? 0 : enter_call(c);
    if (!length) {
        return;
    }
    uint32_t count = ig_session_callers(session, session->plan->outputs_count);
    value_list list = { "output", status == IG_OK ? count : 0, session->plan->outputs };
    write_values(c, session, &list, length);
    FILE *file = open_file(c, length, "outputs.json");
    if (file) {
        (void)fprintf(file, "{\"status\": %d, \"error\": ", (int)status);
        put_text(file, status == IG_OK ? "" : session->error);
        (void)fprintf(file, ",\n \"outputs\": [");
        for (uint32_t i = 0; i < list.count; i++) {
            put_view(file, session, &list, i);
        }
        (void)fprintf(file, "]}\n");
        close_file(c, file);
    }
    c->calls++;
}

static void close_capture(ig_capture *verbs) {
    free(verbs);
}

/* ---- sessions ---- */

/* Constants in other files come along: the artifact runs without them. */
static void write_files(capture *c, const ig_session *session, FILE *list) {
    const ig_plan *plan = session->plan;
    for (uint32_t i = 0; i < plan->files_count; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "file_%u", i);
        write_bytes(c, c->length, name,
                    session->program->sources[EMBEDDED_SOURCES + i].bytes);
        (void)fprintf(list, "%s{\"path\": ", i ? ", " : "");
        put_text(list, ig_plan_string(plan, plan->files[i].path));
        (void)fprintf(list, ", \"file\": \"%s\"}", name);
    }
}

static void write_session(capture *c, const ig_capture_request *request) {
    const ig_session *session = request->session;
    write_bytes(c, c->length, "artifact.ingot", session->program->container.file);
    FILE *file = open_file(c, c->length, "session.json");
    if (!file) {
        return;
    }
    (void)fprintf(file, "{\"runtime\": ");
    put_text(file, request->version);
    (void)fprintf(file, ", \"model\": ");
    put_text(file, ig_plan_string(session->plan, session->plan->header->model));
    (void)fprintf(file, ", \"process\": %ld, \"threads\": %d,\n \"files\": [",
                  (long)getpid(), (int)session->queue->worker_count);
    write_files(c, session, file);
    (void)fprintf(file, "]}\n");
    close_file(c, file);
}

/* A number of the environment, at most `max`; false: it is none. */
static bool read_number(const char *name, int otherwise, int max, int *out) {
    const char *text = secure_getenv(name);
    bool is_set = text && *text;
    long number = is_set ? strtol(text, NULL, 10) : otherwise; /* LONG_MAX: as many */
    *out = number > max ? max : (int)number;
    return !is_set || text[strspn(text, "0123456789")] == '\0';
}

/* DIR/MODEL-XXXXXX, where the model's name holds nothing that leads elsewhere. */
static bool make_folder(capture *c, const ig_capture_request *request) {
    const ig_plan *plan = request->session->plan;
    const char *model = ig_plan_string(plan, plan->header->model);
    int size = snprintf(c->folder, sizeof c->folder, "%s/%.64s-XXXXXX", request->folder,
                        model[0] ? model : "model");
    for (char *at = c->folder + strlen(request->folder) + 1; size > 0 && *at; at++) {
        *at = *at == '/' || *at == '.' ? '_' : *at;
    }
    bool fits = size > 0 && (size_t)size < sizeof c->folder;
    if (!fits) {
        errno = ENAMETOOLONG;
    }
    return fits && (mkdir(request->folder, 0700) == 0 || errno == EEXIST) &&
           mkdtemp(c->folder);
}

IG_API ig_capture_start_fn ig_capture_start;

ig_status ig_capture_start(ig_capture_request *request, ig_capture **out_capture) {
    *out_capture = NULL;
    if (request->session_size != sizeof(ig_session) ||
        strcmp(request->version, INGOT_VERSION) != 0) {
        (void)snprintf(request->why, sizeof request->why,
                       "libingot-capture is of another build than this runtime");
        return IG_UNSUPPORTED;
    }
    capture *c = calloc(1, sizeof *c);
    if (!c) {
        (void)snprintf(request->why, sizeof request->why, "out of memory");
        return IG_LIMIT;
    }
    c->verbs = (ig_capture){ before_call, after_call, close_capture };
    if (!read_number("INGOT_CAPTURE_CALLS", CALLS, CALLS_MAX, &c->limit) ||
        !read_number("INGOT_CAPTURE_EVERY", 1, INT32_MAX, &c->every) || c->every < 1) {
        (void)snprintf(
            request->why, sizeof request->why,
            "INGOT_CAPTURE_CALLS and INGOT_CAPTURE_EVERY are numbers of calls");
        free(c);
        return IG_INVALID;
    }
    if (!make_folder(c, request)) {
        (void)snprintf(request->why, sizeof request->why, "%.180s: cannot create: %s",
                       request->folder, strerror(errno));
        free(c);
        return IG_IO;
    }
    c->length = strlen(c->folder);
    write_session(c, request);
    *out_capture = &c->verbs;
    return IG_OK;
}
