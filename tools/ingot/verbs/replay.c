/* ingot replay: calls that a host program wrote down (INGOT_CAPTURE=DIR).
 * SPDX-License-Identifier: Apache-2.0
 *
 * Calls of a session are run in order on one session, so that state is the same. */
#include "tools/ingot/values/compare.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const option_row options[] = {
    ROW_TRUST_CODE,
    COUNT("threads", 0, threads, 0, MAX_THREADS,
          "threads of the session (as many as there were)"),
    REAL("rtol", rtol, has_rtol, "R", "relative tolerance (1e-3)"),
    REAL("atol", atol, has_atol, "A", "absolute tolerance (1e-7)"),
    ROW_QUIET,
    ROW_JSON,
    ROW_HELP,
    OPTIONS_END,
};

enum { HEADER_BYTES = 10, CALLS_MAX = 10000 };

/* A file of the capture in memory. */
typedef struct held_file {
    void *data;
    size_t size;
} held_file;

typedef struct replaying {
    const settings *given;
    const char *folder;
    json_t *facts; /* session.json */
    ig_memory_file *files;
    held_file *held;
    size_t file_count;
    ig_program *program;
    ig_session *session;
    size_t calls, same, near, different, unfinished;
    json_t *reported; /* of each call */
} replaying;

/* Values of a call, as the capture has them. */
typedef struct value_set {
    ig_view *views;
    held_file *held;
    size_t count;
} value_set;

/* ---- files ---- */

static bool read_whole(const char *path, held_file *out) {
    *out = (held_file){ 0 };
    FILE *file = fopen(path, "rb");
    long size = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    bool is_good = size >= 0 && fseek(file, 0, SEEK_SET) == 0;
    if (is_good) {
        out->size = (size_t)size;
        out->data = need(aligned_alloc(64, (out->size + 64) / 64 * 64));
        is_good = fread(out->data, 1, out->size, file) == out->size;
    }
    int error = errno;
    if (file) {
        (void)fclose(file);
    }
    if (!is_good) {
        complain(0, "%s: cannot read: %s", path,
                 file ? strerror(error) : strerror(errno));
    }
    return is_good;
}

static json_t *read_json(const replaying *r, const char *name) {
    char *path = text_of("%s/%s", r->folder, name);
    json_error_t error;
    errno = 0;
    json_t *json = json_load_file(path, 0, &error);
    if (!json) {
        need_memory();
        complain(0, "%s: line %d: %s", path, error.line, error.text);
    }
    free(path);
    return json;
}

static bool is_there(const replaying *r, const char *name) {
    char *path = text_of("%s/%s", r->folder, name);
    bool found = access(path, F_OK) == 0;
    free(path);
    return found;
}

/* ---- values ---- */

static void values_free(value_set *which) {
    for (size_t i = 0; i < which->count; i++) {
        free(which->held[i].data);
    }
    free(which->held);
    free(which->views);
    *which = (value_set){ 0 };
}

/* The payload of an .npy of version 1.0, which is what captures hold. */
static bool read_value(const char *path, const json_t *facts, held_file *held,
                       ig_view *out) {
    const json_t *dims = json_object_get(facts, "dims");
    json_int_t bytes = json_integer_value(json_object_get(facts, "bytes"));
    *out = (ig_view){ 0 };
    if (!read_whole(path, held)) {
        return false;
    }
    const unsigned char *at = held->data;
    size_t skip = held->size >= HEADER_BYTES
                      ? HEADER_BYTES + (size_t)at[8] + ((size_t)at[9] << 8)
                      : SIZE_MAX;
    out->dtype = (int32_t)json_integer_value(json_object_get(facts, "dtype"));
    out->rank = (uint32_t)json_array_size(dims);
    for (uint32_t d = 0; d < out->rank && d < IG_MAX_RANK; d++) {
        out->dims[d] = json_integer_value(json_array_get(dims, d));
    }
    bool is_good = out->rank <= IG_MAX_RANK && bytes >= 0 && skip <= held->size &&
                   held->size - skip == (size_t)bytes &&
                   ig_view_bytes(out) == (int64_t)bytes;
    out->data = is_good ? (char *)held->data + skip : NULL;
    out->capacity = (size_t)bytes;
    if (!is_good) {
        complain(0, "%s: its contents do not match its list", path);
    }
    return is_good;
}

/* Names of files are "input_3.npy": none leaves its folder. */
static bool read_values(const replaying *r, const char *turn, const char *kind,
                        const json_t *list, value_set *out) {
    size_t count = json_array_size(list);
    *out = (value_set){ .views = need(calloc(count + 1, sizeof(ig_view))),
                        .held = need(calloc(count + 1, sizeof(held_file))),
                        .count = count };
    bool is_good = true;
    for (size_t i = 0; i < count && is_good; i++) {
        char *path = text_of("%s/%s/%s_%zu.npy", r->folder, turn, kind, i);
        is_good = read_value(path, json_array_get(list, i), &out->held[i],
                             &out->views[i]);
        free(path);
    }
    return is_good;
}

/* ---- the session ---- */

static bool read_files(replaying *r) {
    const json_t *list = json_object_get(r->facts, "files");
    r->file_count = json_array_size(list);
    r->files = need(calloc(r->file_count + 1, sizeof *r->files));
    r->held = need(calloc(r->file_count + 1, sizeof *r->held));
    for (size_t i = 0; i < r->file_count; i++) {
        const char *path =
            json_string_value(json_object_get(json_array_get(list, i), "path"));
        char *own = text_of("%s/file_%zu", r->folder, i);
        bool is_good = path && read_whole(own, &r->held[i]);
        free(own);
        if (!is_good) {
            return false;
        }
        r->files[i] = (ig_memory_file){ path, r->held[i].data, r->held[i].size };
    }
    return true;
}

static ig_status open_session(replaying *r, message *why) {
    char *path = text_of("%s/artifact.ingot", r->folder);
    ig_program_options how = { .files = r->files,
                               .file_count = r->file_count,
                               .check_weights = 1 };
    json_int_t threads = json_integer_value(json_object_get(r->facts, "threads"));
    ig_session_options with = {
        .size = sizeof with,
        .message = why->text,
        .message_size = sizeof why->text,
        .threads = r->given->threads ? (int)r->given->threads : (int)threads,
    };
    ig_status status = program_open(path, &how, &r->program, why);
    free(path);
    return status == IG_OK ? ig_session_create(r->program, &with, &r->session) : status;
}

static void session_close(replaying *r) {
    ig_session_destroy(r->session);
    ig_program_close(r->program);
    for (size_t i = 0; i < r->file_count; i++) {
        free(r->held[i].data);
    }
    free(r->held);
    free(r->files);
    json_decref(r->facts);
    r->session = NULL;
    r->program = NULL;
    r->held = NULL;
    r->files = NULL;
    r->facts = NULL;
    r->file_count = 0;
}

/* ---- a call ---- */

static void tell_call(replaying *r, const char *turn, const char *verdict,
                      const char *why) {
    json_array_append_new(r->reported,
                          json_pack("{s:s, s:s, s:s, s:s}", "session", r->folder,
                                    "call", turn, "verdict", verdict, "why", why));
    if (!r->given->json) {
        put_plain(stdout, r->folder);
        printf("/%s: %s%s", turn, verdict, why[0] ? ": " : "\n");
        put_plain(stdout, why);
        fputs(why[0] ? "\n" : "", stdout);
    }
}

static bool same_bits(const ig_view *got, const ig_view *want) {
    int64_t bytes = ig_view_bytes(got);
    return got->dtype == want->dtype && got->rank == want->rank &&
           bytes == ig_view_bytes(want) &&
           (got->rank == 0 ||
            memcmp(got->dims, want->dims, got->rank * sizeof *got->dims) == 0) &&
           (bytes <= 0 || memcmp(got->data, want->data, (size_t)bytes) == 0);
}

static void judge_outputs(replaying *r, const char *turn, const ig_view *got,
                          const value_set *want) {
    tolerance within = default_tolerance(r->given);
    bool is_same = true;
    message why = { "" };
    for (size_t i = 0; i < want->count; i++) {
        is_same = is_same && same_bits(&got[i], &want->views[i]);
        ig_argument a, b;
        argument_of(&got[i], &a);
        argument_of(&want->views[i], &b);
        if (!values_agree(&a, &b, &within, &why)) {
            char *text = text_of("output '%s': %s",
                                 ig_program_output(r->program, i).name, why.text);
            r->different++;
            tell_call(r, turn, "differs", text);
            free(text);
            return;
        }
    }
    r->same += is_same;
    r->near += !is_same;
    tell_call(r, turn, is_same ? "the same bits" : "the same within tolerance", "");
}

/* A call that failed must fail again, with the same status. */
static ig_status judge_call(replaying *r, const char *turn, ig_status status,
                            const ig_view *got) {
    char *name = text_of("%s/outputs.json", turn);
    json_t *facts = is_there(r, name) ? read_json(r, name) : NULL;
    bool is_lost = !facts && is_there(r, name);
    free(name);
    if (is_lost) {
        return IG_INVALID;
    }
    json_int_t before = json_integer_value(json_object_get(facts, "status"));
    const char *said = status == IG_OK ? "" : ig_session_error(r->session);
    ig_status result = IG_OK;
    if (!facts) {
        r->unfinished++;
        tell_call(r, turn, "did not return when it was captured, and does now", said);
    } else if ((ig_status)before != status) {
        r->different++;
        tell_call(r, turn, status == IG_OK ? "failed then and does not now" : "fails",
                  said);
    } else if (status != IG_OK) {
        r->same++;
        tell_call(r, turn, "fails as it did", said);
    } else {
        value_set want = { 0 };
        const json_t *list = json_object_get(facts, "outputs");
        bool is_whole = json_array_size(list) == ig_program_output_count(r->program) &&
                        read_values(r, turn, "output", list, &want);
        result = is_whole ? IG_OK : IG_INVALID;
        if (is_whole) {
            judge_outputs(r, turn, got, &want);
        }
        values_free(&want);
    }
    json_decref(facts);
    return result;
}

static ig_status run_call(replaying *r, const char *turn) {
    char *name = text_of("%s/inputs.json", turn);
    json_t *facts = read_json(r, name);
    value_set inputs = { 0 };
    size_t count = ig_program_output_count(r->program);
    ig_view *outputs = need(calloc(count + 1, sizeof *outputs));
    ig_status status = IG_INVALID;
    if (facts &&
        read_values(r, turn, "input", json_object_get(facts, "inputs"), &inputs)) {
        interrupt_also(r->session);
        status = ig_session_run(r->session, inputs.views, inputs.count, outputs, count);
        interrupt_also(NULL);
        r->calls++;
        status = was_interrupted() ? IG_CANCELLED
                                   : judge_call(r, turn, status, outputs);
    }
    values_free(&inputs);
    free(outputs);
    json_decref(facts);
    free(name);
    return status;
}

static ig_status replay_session(replaying *r, const char *folder, message *why) {
    r->folder = folder;
    r->facts = read_json(r, "session.json");
    ig_status status = r->facts && read_files(r) ? open_session(r, why) : IG_INVALID;
    for (int i = 0; i < CALLS_MAX && status == IG_OK; i++) {
        char *turn = text_of("call_%04d", i);
        char *list = text_of("%s/inputs.json", turn);
        bool has_call = is_there(r, list);
        status = has_call ? run_call(r, turn) : IG_OK;
        free(list);
        free(turn);
        if (!has_call) {
            break;
        }
    }
    session_close(r);
    return status;
}

/* ---- the verb ---- */

/* Sessions of a folder that several wrote to. */
static ig_status replay_all(replaying *r, const char *folder, message *why) {
    struct dirent **entries = NULL;
    ig_status status = IG_OK;
    int count = scandir(folder, &entries, NULL, alphasort);
    if (count < 0) {
        complain(0, "%s: cannot read: %s", folder, strerror(errno));
        return IG_IO;
    }
    for (int i = 0; i < count; i++) {
        char *path = text_of("%s/%s", folder, entries[i]->d_name);
        char *facts = text_of("%s/session.json", path);
        bool is_session = entries[i]->d_name[0] != '.' && access(facts, F_OK) == 0;
        status = status == IG_OK && is_session ? replay_session(r, path, why) : status;
        free(facts);
        free(path);
        free(entries[i]);
    }
    free(entries);
    return status;
}

static void print_sum(const replaying *r) {
    if (!r->given->json) {
        printf("%zu calls: %zu the same bits, %zu within tolerance, %zu different, "
               "%zu that did not return before\n",
               r->calls, r->same, r->near, r->different, r->unfinished);
        return;
    }
    json_t *all = need(json_pack("{s:I, s:I, s:I, s:I, s:I, s:O}", "calls",
                                 (json_int_t)r->calls, "same", (json_int_t)r->same,
                                 "near", (json_int_t)r->near, "different",
                                 (json_int_t)r->different, "unfinished",
                                 (json_int_t)r->unfinished, "told", r->reported));
    (void)json_dumpf(all, stdout, JSON_INDENT(1));
    puts("");
    json_decref(all);
}

static int run_replay(const settings *given) {
    const char *folder = given->arguments.items[0];
    replaying r = { .given = given };
    message why = { "" };
    if (!given->trust_code) {
        return complain(exit_of(IG_INVALID),
                        "%s: a capture holds machine code, which is run\n  if you "
                        "trust where it came from, give --trust-code",
                        folder);
    }
    int exit_status;
    ig_context *context = context_open(given, NULL, &exit_status); /* for Ctrl-C */
    if (!context) {
        return exit_status;
    }
    char *facts = text_of("%s/session.json", folder);
    r.reported = need(json_array());
    ig_status status = access(facts, F_OK) == 0 ? replay_session(&r, folder, &why)
                                                : replay_all(&r, folder, &why);
    free(facts);
    if (status == IG_OK && r.calls == 0) {
        complain(0, "%s: no call was captured there", folder);
        status = IG_INVALID;
    } else if (status == IG_OK) {
        print_sum(&r);
    }
    json_decref(r.reported);
    exit_status = status == IG_OK && r.different ? EXIT_FAILED : report(status, &why);
    context_close(context);
    return exit_status;
}

const verb verb_replay = {
    .name = "replay",
    .arguments = "CAPTURE --trust-code",
    .help = "runs calls again that a host program wrote down",
    .details =
        "A program that runs with INGOT_CAPTURE=DIR in its environment writes there, for each session, the artifact and its calls: inputs, outputs, settings. CAPTURE is that folder, or one session's in it. Exit status 1: an answer differs.",
    .options = options,
    .min_arguments = 1,
    .max_arguments = 1,
    .run = run_replay,
};
