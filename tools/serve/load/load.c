/* ingot load: requests to a server of models, at a rate or at once.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/load/load.h"

#include "tools/serve/load/report.h"

#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CONNECTIONS = 65536, OPEN_CONNECTIONS = 256, MAX_ROWS = 1 << 20 };
enum { EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_INVALID = 3, EXIT_IO = 6 };

/* Values of the options; 0 and NULL: not given. */
typedef struct load_settings {
    double rate, seconds;
    long connections, rows, deadline;
    const char *request, *svg, *token_file, *model;
    client_target target;
    bool is_json, wants_help;
} load_settings;

static const char usage[] =
    "usage: ingot load HOST:PORT MODEL [options]\n\n"
    "Sends requests to a server of models, over HTTP by the Open Inference Protocol, and\n"
    "times them.  With --rate requests are due at moments of their own, and each is timed\n"
    "from when it was due, also where it had to wait for a connection; without, each\n"
    "connection sends its next request when the one before is answered.  An address that\n"
    "begins with https:// is reached by TLS.\n\noptions:\n"
    "  --rate R                requests a second, whatever becomes of them (open loop)\n"
    "  -c, --concurrency N     connections: each with a request at a time (1); with\n"
    "                          --rate the most (256)\n"
    "  --duration S            seconds (10)\n"
    "  --rows N                of a request (1)\n"
    "  --deadline MS           milliseconds that a request may take\n"
    "  --request FILE.json     the body of requests, in place of zeros of the types that\n"
    "                          the model takes\n"
    "  --ca FILE               TLS, and whose certificates are trusted (PEM)\n"
    "  --token-file FILE       whose first line is the token to send\n"
    "  --svg FILE              draw the times\n"
    "  --json                  print the result as JSON\n"
    "  -h, --help              print this and exit\n";

static int complain(int exit_status, const char *format, ...) {
    va_list args;
    fputs("error: ingot load: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    return exit_status;
}

/* ---- the command line ---- */

static bool read_count(const char *text, long max, long *out) {
    char *end;
    *out = strtol(text, &end, 10);
    return *text && !*end && *out >= 1 && *out <= max;
}

static bool read_real(const char *text, double *out) {
    char *end;
    *out = strtod(text, &end);
    return *text && !*end && *out > 0 && *out < 1e12;
}

/* False: the option does not take its value. */
static bool set_option(load_settings *to, int which, const char *text) {
    switch (which) {
    case 'r':
        return read_real(text, &to->rate);
    case 'c':
        return read_count(text, MAX_CONNECTIONS, &to->connections);
    case 'd':
        return read_real(text, &to->seconds);
    case 'n':
        return read_count(text, MAX_ROWS, &to->rows);
    case 'l':
        return read_count(text, 1 << 30, &to->deadline);
    case 'q':
        to->request = text;
        return true;
    case 'a':
        to->target.ca = text;
        return true;
    case 't':
        to->token_file = text;
        return true;
    case 's':
        to->svg = text;
        return true;
    case 'j':
        to->is_json = true;
        return true;
    default:
        to->wants_help = true;
        return true;
    }
}

static bool read_settings(int argc, char **argv, load_settings *out) {
    static const struct option options[] = {
        { "rate", 1, NULL, 'r' },     { "concurrency", 1, NULL, 'c' },
        { "duration", 1, NULL, 'd' }, { "rows", 1, NULL, 'n' },
        { "deadline", 1, NULL, 'l' }, { "request", 1, NULL, 'q' },
        { "ca", 1, NULL, 'a' },       { "token-file", 1, NULL, 't' },
        { "svg", 1, NULL, 's' },      { "json", 0, NULL, 'j' },
        { "help", 0, NULL, 'h' },     { 0 },
    };
    *out = (load_settings){ .seconds = 10, .rows = 1 };
    for (int which; (which = getopt_long(argc, argv, "c:h", options, NULL)) != -1;) {
        if (which == '?') {
            return false;
        }
        if (!set_option(out, which, optarg)) {
            complain(EXIT_USAGE, "'%s' is not a value of its option", optarg);
            return false;
        }
    }
    if (!out->wants_help && argc - optind != 2) {
        complain(EXIT_USAGE, "it takes HOST:PORT and MODEL (ingot load --help)");
        return false;
    }
    out->target.address = argv[optind];
    out->model = argc > optind ? argv[optind + 1] : NULL;
    return true;
}

/* ---- the request ---- */

/* Text that grows. */
typedef struct text {
    char *data;
    size_t size;
    FILE *to;
} text;

static void begin_text(text *out) {
    *out = (text){ 0 };
    out->to = open_memstream(&out->data, &out->size);
    if (!out->to) {
        abort(); /* no memory, and nothing to lose */
    }
}

/* Bytes of an element; of BYTES an empty text's length. */
static size_t element_size(const char *datatype) {
    static const struct {
        const char *name;
        size_t size;
    } rows[] = { { "BOOL", 1 },  { "UINT8", 1 }, { "INT8", 1 },  { "UINT16", 2 },
                 { "INT16", 2 }, { "FP16", 2 },  { "BF16", 2 },  { "UINT32", 4 },
                 { "INT32", 4 }, { "FP32", 4 },  { "BYTES", 4 }, { "UINT64", 8 },
                 { "INT64", 8 }, { "FP64", 8 } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].name, datatype) == 0) {
            return rows[i].size;
        }
    }
    return 0;
}

/* Sets open extents of a shape: the first is the rows, others are 1.  Bytes of
 * zeros. */
static size_t close_shape(json_t *shape, size_t size, int64_t rows) {
    for (size_t i = 0; i < json_array_size(shape); i++) {
        json_int_t extent = json_integer_value(json_array_get(shape, i));
        extent = extent >= 0 ? extent : i == 0 ? rows : 1;
        json_array_set_new(shape, i, json_integer(extent));
        size *= (size_t)extent;
    }
    return size;
}

/* A body of zeros, for the inputs in the model's description. */
static bool write_zeros(const json_t *about, int64_t rows, text *head,
                        size_t *out_tail) {
    json_t *inputs = json_deep_copy(json_object_get(about, "inputs"));
    size_t i;
    json_t *input;
    *out_tail = 0;
    json_array_foreach(inputs, i, input) {
        const char *type = json_string_value(json_object_get(input, "datatype"));
        size_t size = element_size(type ? type : "");
        if (size == 0) {
            json_decref(inputs);
            return false;
        }
        size = close_shape(json_object_get(input, "shape"), size, rows);
        json_object_set_new(input, "parameters",
                            json_pack("{s:I}", "binary_data_size", (json_int_t)size));
        *out_tail += size;
    }
    json_t *root = json_pack("{s:o, s:{s:b}}", "inputs", inputs, "parameters",
                             "binary_data_output", 1);
    json_dumpf(root, head->to, JSON_COMPACT);
    fflush(head->to);
    json_decref(root);
    return true;
}

/* The head of a request, without the part about its body. */
static void write_head(FILE *to, const load_settings *given, const server_address *at,
                       const char *method, const char *what) {
    fprintf(to, "%s /v2/models/%s%s HTTP/1.1\r\nHost: %s\r\n", method, given->model,
            what, at->name);
    if (given->target.token) {
        fprintf(to, "Authorization: Bearer %s\r\n", given->target.token);
    }
}

/* The server's description of the model; NULL: *out_exit says why there is none. */
static json_t *ask_about(const load_settings *given, const server_address *at,
                         int *out_exit) {
    char words[WORDS];
    int status = 0;
    text request;
    begin_text(&request);
    write_head(request.to, given, at, "GET", "");
    fputs("Connection: close\r\n\r\n", request.to);
    fclose(request.to);
    char *body = load_ask(at, request.data, request.size, &status, words);
    json_t *about = body ? json_loads(body, 0, NULL) : NULL;
    const char *error = json_string_value(json_object_get(about, "error"));
    if (!body) {
        *out_exit = complain(EXIT_IO, "%s", words);
    } else if (status != 200 || !json_object_get(about, "inputs")) {
        *out_exit = complain(EXIT_INVALID, "%s: model '%s': %s", at->name, given->model,
                             error ? error : "no description of a model");
        json_decref(about);
        about = NULL;
    }
    free(body);
    free(request.data);
    return about;
}

static bool read_request(const char *path, text *to, int *out_exit) {
    FILE *from = fopen(path, "rb");
    char part[4096];
    if (!from) {
        *out_exit = complain(EXIT_IO, "%s: %s", path, strerror(errno));
        return false;
    }
    for (size_t size; (size = fread(part, 1, sizeof part, from)) > 0;) {
        fwrite(part, 1, size, to->to);
    }
    fclose(from);
    fflush(to->to);
    return true;
}

/* The whole request: head, JSON, then zeros.  False: *out_exit says why. */
static bool make_request(const load_settings *given, const server_address *at,
                         text *all, int *out_exit) {
    text json;
    size_t tail = 0;
    bool is_good;
    begin_text(&json);
    begin_text(all);
    if (given->request) {
        is_good = read_request(given->request, &json, out_exit);
    } else {
        json_t *about = ask_about(given, at, out_exit);
        is_good = about && write_zeros(about, given->rows, &json, &tail);
        json_decref(about);
    }
    write_head(all->to, given, at, "POST", "/infer");
    fprintf(all->to, "Content-Length: %zu\r\n", json.size + tail);
    if (!given->request) {
        fprintf(all->to, "Inference-Header-Content-Length: %zu\r\n", json.size);
    }
    if (given->deadline) {
        fprintf(all->to, "X-Request-Timeout-Ms: %ld\r\n", given->deadline);
    }
    fputs("\r\n", all->to);
    fwrite(json.data, 1, json.size, all->to);
    for (size_t i = 0; i < tail; i++) {
        putc(0, all->to);
    }
    fclose(json.to);
    free(json.data);
    fclose(all->to);
    return is_good;
}

/* ---- the run ---- */

static int draw_times(const char *path, const load_plan *plan, const load_result *of) {
    FILE *to = fopen(path, "w");
    if (!to) {
        return complain(EXIT_IO, "%s: %s", path, strerror(errno));
    }
    load_draw(to, plan, of);
    return fclose(to) == 0 ? 0 : complain(EXIT_IO, "%s: %s", path, strerror(errno));
}

static int run_plan(const load_settings *given, const server_address *at,
                    const text *request) {
    load_plan plan = { .to = at,
                       .bytes = request->data,
                       .size = request->size,
                       .rate = given->rate,
                       .connections = (size_t)given->connections,
                       .seconds = given->seconds };
    plan.connections = plan.connections ? plan.connections
                       : plan.rate > 0  ? OPEN_CONNECTIONS
                                        : 1;
    load_result result;
    char words[WORDS];
    int failed = load_run(&plan, &result, words) ? 0 : complain(EXIT_IO, "%s", words);
    if (!failed) {
        load_sort(&result);
        (given->is_json ? load_put_json : load_print)(&plan, &result);
        failed = given->svg ? draw_times(given->svg, &plan, &result) : 0;
        bool is_any = result.count && result.samples[0].status == 200;
        failed = failed || is_any ? failed : EXIT_FAILED;
    }
    free(result.samples);
    return failed;
}

static int load_with(load_settings *given, char *token) {
    server_address at;
    char words[WORDS];
    text request = { 0 };
    int failed = EXIT_INVALID;
    given->target.token = token;
    if (!address_read(&given->target, &at, words)) {
        failed = complain(EXIT_IO, "%s", words);
    } else if (make_request(given, &at, &request, &failed)) {
        failed = run_plan(given, &at, &request);
    }
    free(request.data);
    address_free(&at);
    return failed;
}

int load_main(int argc, char **argv) {
    load_settings given;
    char words[WORDS];
    if (!read_settings(argc, argv, &given)) {
        return EXIT_USAGE;
    }
    if (given.wants_help) {
        fputs(usage, stdout);
        return 0;
    }
    char *token = given.token_file ? token_read(given.token_file, words) : NULL;
    if (given.token_file && !token) {
        return complain(EXIT_IO, "%s", words);
    }
    int status = load_with(&given, token);
    free(token);
    return status;
}
