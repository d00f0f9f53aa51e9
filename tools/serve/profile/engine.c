/* Ingot as a backend: compiles models, and times runs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/profile/engine.h"

#include "base/confine/confine.h"
#include "tools/serve/model/own.h"
#include "tools/serve/profile/child.h"
#include "tools/serve/profile/dtype.h"

#include <dirent.h>
#include <errno.h>
#include <ingot/runtime.h>
#include <jansson.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum {
    FORMAT_ONNX = 1,
    FORMAT_FXPROTO = 2,
    FORMAT_EXPORTED = 101,
    COMPILE_SECONDS = 3600,
    MAX_PORTS = 4096
};

typedef struct loaded {
    char *id;
    ig_program *program;
    ig_session *session;
    size_t input_count, output_count;
    size_t *ports; /* the port of each input that the client names */
    size_t given;  /* of them */
    struct loaded *next;
} loaded;

static struct {
    loaded *models;
    char compiler[PATH_MAX];
    char words[WORDS]; /* why the last thing failed */
} engine;

IG_PRINTF(1, 2)
static bool refuse(const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(engine.words, WORDS, format, args);
    va_end(args);
    return false;
}

/* ---- messages ---- */

static bool move_all(bool is_read, void *data, size_t size) {
    for (char *at = data; size;) {
        ssize_t moved = is_read ? read(CHILD_SOCKET, at, size)
                                : write(CHILD_SOCKET, at, size);
        if (moved <= 0 && !(moved < 0 && errno == EINTR)) {
            return false;
        }
        at += moved > 0 ? moved : 0;
        size -= moved > 0 ? (size_t)moved : 0;
    }
    return true;
}

static void answer(const bytes *text, const ig_view *outputs, size_t count) {
    frame_head head = { text->size, 0 };
    for (size_t i = 0; i < count; i++) {
        head.data_bytes += (uint64_t)ig_view_bytes(&outputs[i]);
    }
    bool is_good = move_all(false, &head, sizeof head) &&
                   move_all(false, text->data, text->size);
    for (size_t i = 0; is_good && i < count; i++) {
        is_good = move_all(false, outputs[i].data, (size_t)ig_view_bytes(&outputs[i]));
    }
    if (!is_good) {
        exit(1); /* the server is gone */
    }
}

static void answer_error(void) {
    bytes text = { 0 };
    put_text(&text, "{\"error\": ");
    put_string(&text, engine.words, strlen(engine.words));
    put_text(&text, "}");
    answer(&text, NULL, 0);
    bytes_free(&text);
}

/* ---- loading ---- */

/* The one file of the folder that is a model of the format. */
static bool find_model(const char *folder, int format, char path[PATH_MAX]) {
    const char *suffix = format == FORMAT_ONNX ? ".onnx" : ".pt2";
    DIR *in = opendir(folder);
    size_t count = 0;
    for (struct dirent *each; in && (each = readdir(in));) {
        const char *dot = strrchr(each->d_name, '.');
        if (dot && strcmp(dot, suffix) == 0) {
            snprintf(path, PATH_MAX, "%.3000s/%s", folder, each->d_name);
            count++;
        }
    }
    if (in) {
        closedir(in);
    }
    return count == 1 ||
           refuse("%zu files end in %s, where the model is one", count, suffix);
}

static bool open_program(loaded *to, const char *from, int threads) {
    model_config config = { 0 };
    char path[PATH_MAX];
    own_options how = { .compiler = engine.compiler, .seconds = COMPILE_SECONDS };
    const char *folder = getenv("TMPDIR");
    snprintf(path, sizeof path, "%.3000s/%.20s.ingot", folder ? folder : "/tmp",
             to->id);
    unlink(path);
    if (!own_artifact(&how, from, &config, path, engine.words)) {
        return false;
    }
    ig_program_options program = { .size = sizeof program,
                                   .message = engine.words,
                                   .message_size = WORDS };
    ig_session_options session = { .size = sizeof session,
                                   .threads = threads,
                                   .message = engine.words,
                                   .message_size = WORDS };
    bool is_good = ig_program_open(path, &program, &to->program) == IG_OK &&
                   ig_session_create(to->program, &session, &to->session) == IG_OK;
    unlink(path); /* it stays mapped */
    return is_good;
}

static bool find_port(const loaded *of, const char *name, size_t *out) {
    for (*out = 0; *out < of->input_count; ++*out) {
        if (strcmp(ig_program_input(of->program, *out).name, name) == 0) {
            return true;
        }
    }
    return refuse("the model has no input '%.200s'", name);
}

/* Inputs that the client names; where it names none, they are the model's. */
static bool map_inputs(loaded *of, const json_t *names) {
    of->input_count = ig_program_input_count(of->program);
    of->output_count = ig_program_output_count(of->program);
    of->given = json_array_size(names) ? json_array_size(names) : of->input_count;
    of->ports = calloc(of->given + 1, sizeof *of->ports);
    if (!of->ports || of->given != of->input_count) {
        return refuse("%zu input names, and the model has %zu inputs", of->given,
                      of->input_count);
    }
    for (size_t i = 0; i < of->given; i++) {
        const char *name = json_string_value(json_array_get(names, i));
        of->ports[i] = i;
        if (name && !find_port(of, name, &of->ports[i])) {
            return false;
        }
    }
    return true;
}

static void drop_model(const char *id) {
    for (loaded **at = &engine.models; *at; at = &(*at)->next) {
        loaded *of = *at;
        if (strcmp(of->id, id) == 0) {
            *at = of->next;
            ig_session_destroy(of->session);
            ig_program_close(of->program);
            free(of->ports);
            free(of->id);
            free(of);
            return;
        }
    }
}

static bool load_model(const json_t *what) {
    const char *id = json_string_value(json_object_get(what, "model"));
    const char *folder = json_string_value(json_object_get(what, "folder"));
    int format = (int)json_integer_value(json_object_get(what, "format"));
    int threads = (int)json_integer_value(json_object_get(what, "threads"));
    char path[PATH_MAX];
    if (format != FORMAT_ONNX && format != FORMAT_EXPORTED) {
        return refuse(
            "ingot-cpu takes ONNX and archives of torch.export, not format %d%s",
            format,
            format == FORMAT_FXPROTO ? " (FXPROTO), which the backends of torch take"
                                     : "");
    }
    drop_model(id);
    loaded *made = calloc(1, sizeof *made);
    if (!made || !(made->id = strdup(id))) {
        free(made);
        return refuse("memory ran out");
    }
    made->next = engine.models;
    engine.models = made;
    if (find_model(folder, format, path) && open_program(made, path, threads) &&
        map_inputs(made, json_object_get(what, "inputs"))) {
        return true;
    }
    drop_model(id);
    return false;
}

/* ---- runs ---- */

static bool read_view(const json_t *from, const uint8_t **at, size_t *left,
                      ig_view *to) {
    const json_t *shape = json_object_get(from, "shape");
    json_int_t size = json_integer_value(json_object_get(from, "size"));
    to->dtype = (int32_t)dtype_of_number(
        (int)json_integer_value(json_object_get(from, "dtype")));
    to->rank = (uint32_t)json_array_size(shape);
    if (!to->dtype || json_array_size(shape) > IG_MAX_RANK || size < 0 ||
        (size_t)size > *left || frame_size((size_t)size) > *left) {
        return refuse("an input has a type or shape that this worker does not take");
    }
    for (uint32_t i = 0; i < to->rank; i++) {
        to->dims[i] = json_integer_value(json_array_get(shape, i));
    }
    to->data = (void *)*at;
    *at += frame_size((size_t)size);
    *left -= frame_size((size_t)size);
    return ig_view_bytes(to) == size ||
           refuse("an input has %lld bytes, not as many as its shape says",
                  (long long)size);
}

static bool read_views(const loaded *of, const json_t *inputs, const uint8_t *data,
                       size_t left, ig_view *views) {
    if (json_array_size(inputs) != of->given) {
        return refuse("%zu inputs, and the model has %zu", json_array_size(inputs),
                      of->given);
    }
    for (size_t i = 0; i < of->given; i++) {
        if (!read_view(json_array_get(inputs, i), &data, &left, &views[of->ports[i]])) {
            return false;
        }
    }
    return true;
}

static int64_t time_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static bool run_once(const loaded *of) {
    return ig_session_run_bound(of->session) == IG_OK ||
           refuse("%s", ig_session_error(of->session));
}

/* At least one run, which does not count; then as many as are wanted, and for as
 * long. */
static bool run_repeatedly(const loaded *of, const json_t *what, bytes *times) {
    json_int_t warmups = json_integer_value(json_object_get(what, "warmups"));
    json_int_t repeats = json_integer_value(json_object_get(what, "repeats"));
    json_int_t ms = json_integer_value(json_object_get(what, "milliseconds"));
    for (json_int_t i = 0; i == 0 || i < warmups; i++) {
        if (!run_once(of)) {
            return false;
        }
    }
    int64_t end = time_now() + ms * 1000000;
    for (json_int_t i = 0; i < repeats || (ms && time_now() < end); i++) {
        int64_t begin = time_now();
        if (!run_once(of)) {
            return false;
        }
        put_format(times, "%s%lld", i ? ", " : "", (long long)(time_now() - begin));
    }
    return true;
}

static bool describe_outputs(bytes *text, const ig_view *outputs, size_t count) {
    put_text(text, ", \"outputs\": [");
    for (size_t i = 0; i < count; i++) {
        int code = dtype_code((ig_dtype_code)outputs[i].dtype);
        if (!code) {
            return refuse("output %zu is of a type that the protocol has no number for",
                          i);
        }
        put_format(text, "%s{\"dtype\": %d, \"size\": %lld, \"shape\": [",
                   i ? ", " : "", code, (long long)ig_view_bytes(&outputs[i]));
        for (uint32_t k = 0; k < outputs[i].rank; k++) {
            put_format(text, "%s%lld", k ? ", " : "", (long long)outputs[i].dims[k]);
        }
        put_text(text, "]}");
    }
    put_text(text, "]}");
    return true;
}

static bool run_on(const loaded *of, const json_t *what, const uint8_t *data,
                   size_t size, ig_view *views) {
    ig_view *outputs = views + of->input_count;
    bytes text = { 0 };
    put_text(&text, "{\"times\": [");
    ig_session_reset(of->session); /* each call begins with the state's first values */
    bool is_good = read_views(of, json_object_get(what, "inputs"), data, size, views);
    if (is_good && ig_session_bind(of->session, views, of->input_count, outputs,
                                   of->output_count) != IG_OK) {
        is_good = refuse("%s", ig_session_error(of->session));
    }
    is_good = is_good && run_repeatedly(of, what, &text);
    put_format(&text, "], \"memory\": %zu", ig_session_memory(of->session));
    is_good = is_good && describe_outputs(&text, outputs, of->output_count);
    if (is_good && text.has_failed) {
        is_good = refuse("memory ran out");
    }
    if (is_good) {
        answer(&text, outputs, of->output_count);
    }
    bytes_free(&text);
    return is_good;
}

static bool run_model(const json_t *what, const uint8_t *data, size_t size) {
    const char *id = json_string_value(json_object_get(what, "model"));
    const loaded *of = engine.models;
    while (of && strcmp(of->id, id) != 0) {
        of = of->next;
    }
    if (!of) {
        return refuse("model %s is not loaded", id);
    }
    ig_view *views = calloc(of->input_count + of->output_count + 1, sizeof *views);
    bool is_good = views ? run_on(of, what, data, size, views)
                         : refuse("memory ran out");
    free(views);
    return is_good;
}

/* ---- the process ---- */

static void take_message(const char *text, const frame_head *head) {
    static const char done[] = "{}";
    const uint8_t *data = (const uint8_t *)text + head->text_bytes;
    json_t *what = json_loadb(text, (size_t)head->text_bytes, 0, NULL);
    const char *verb = json_string_value(json_object_get(what, "do"));
    bool is_load = verb && strcmp(verb, "load") == 0;
    bool is_good = is_load ? load_model(what)
                           : run_model(what, data, (size_t)head->data_bytes);
    if (!is_good) {
        answer_error();
    } else if (is_load) {
        bytes text_done = { .data = (uint8_t *)done, .size = sizeof done - 1 };
        answer(&text_done, NULL, 0);
    }
    json_decref(what);
}

static int serve_messages(void) {
    frame_head head;
    own_find_compiler(engine.compiler);
    while (move_all(true, &head, sizeof head)) {
        size_t size = frame_size((size_t)(head.text_bytes + head.data_bytes));
        char *text = aligned_alloc(FRAME_ALIGN, size);
        if (!text || !move_all(true, text, size)) {
            return 1;
        }
        take_message(text, &head);
        free(text);
    }
    return 0;
}

int engine_main(int argc, char **argv) {
    char why[128];
    if (argc < 5 || prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) {
        return 1;
    }
    if (!ig_confine_guest(strtoull(argv[3], NULL, 10), why)) {
        fprintf(stderr, "a backend's process %s\n", why);
        return 1;
    }
    if (strcmp(argv[2], "ingot-cpu") == 0) {
        return serve_messages();
    }
    execl(argv[4], argv[4], "-I", "-c", backend_script, argv[2], (char *)NULL);
    perror(argv[4]);
    return 1;
}
