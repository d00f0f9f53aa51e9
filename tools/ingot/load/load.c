/* ingot load: requests to a server of models, at a rate or at once.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/cli/console.h"
#include "tools/ingot/load/load_report.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CONNECTIONS = 65536, OPEN_CONNECTIONS = 256, MAX_ROWS = 1 << 20 };

static const option_row options[] = {
    REAL("rate", rate, has_rate, "R",
         "requests a second, whatever becomes of them (open loop)"),
    COUNT("concurrency", 'c', concurrency, 1, MAX_CONNECTIONS,
          "connections: each with a request at a time (1); with --rate the most (256)"),
    REAL("duration", seconds, has_seconds, "S", "seconds (10)"),
    COUNT("rows", 0, batch_size, 1, MAX_ROWS, "of a request (1)"),
    COUNT("deadline", 0, deadline, 1, 1 << 30, "milliseconds that a request may take"),
    TEXT("request", 0, data, "FILE.json",
         "the body of requests, in place of zeros of the types that the model takes"),
    TEXT("svg", 0, svg, "FILE", "draw the times"),
    ROW_JSON,
    ROW_HELP,
    OPTIONS_END,
};

/* Text that grows. */
typedef struct text {
    char *data;
    size_t size;
    FILE *to;
} text;

static void begin_text(text *out) {
    *out = (text){ 0 };
    out->to = need(open_memstream(&out->data, &out->size));
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
    char *dumped = need(json_dumps(root, JSON_COMPACT));
    fputs(dumped, head->to);
    fflush(head->to);
    free(dumped);
    json_decref(root);
    return true;
}

static json_t *ask_about(const char *address, const char *model, int *out_exit) {
    char words[256], *request = text_of("GET /v2/models/%s HTTP/1.1\r\nHost: %s\r\n"
                                        "Connection: close\r\n\r\n",
                                        model, address);
    int status = 0;
    char *body = load_ask(address, request, strlen(request), &status, words);
    json_t *about = body ? json_loads(body, 0, NULL) : NULL;
    const char *error = json_string_value(json_object_get(about, "error"));
    if (!body) {
        *out_exit = complain(exit_of(IG_IO), "%s", words);
    } else if (status != 200 || !json_object_get(about, "inputs")) {
        *out_exit = complain(exit_of(IG_INVALID), "%s: model '%s': %s", address, model,
                             error ? error : "no description of a model");
        json_decref(about);
        about = NULL;
    }
    free(body);
    free(request);
    return about;
}

static bool read_request(const char *path, text *to, int *out_exit) {
    FILE *from = fopen(path, "rb");
    char part[4096];
    if (!from) {
        *out_exit = complain(exit_of(IG_IO), "%s: %s", path, strerror(errno));
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
static bool make_request(const settings *given, text *all, int *out_exit) {
    const char *address = given->arguments.items[0], *model = given->arguments.items[1];
    text json;
    size_t tail = 0;
    bool is_good;
    begin_text(&json);
    begin_text(all);
    if (given->data) {
        is_good = read_request(given->data, &json, out_exit);
    } else {
        json_t *about = ask_about(address, model, out_exit);
        is_good = about && write_zeros(about, given->batch_size ? given->batch_size : 1,
                                       &json, &tail);
        json_decref(about);
    }
    fprintf(all->to, "POST /v2/models/%s/infer HTTP/1.1\r\nHost: %s\r\n", model,
            address);
    fprintf(all->to, "Content-Length: %zu\r\n", json.size + tail);
    if (!given->data) {
        fprintf(all->to, "Inference-Header-Content-Length: %zu\r\n", json.size);
    }
    if (given->deadline) {
        fprintf(all->to, "X-Request-Timeout-Ms: %lld\r\n", (long long)given->deadline);
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

static int draw_times(const char *path, const load_plan *plan, const load_result *of) {
    FILE *to = fopen(path, "w");
    if (!to) {
        return complain(exit_of(IG_IO), "%s: %s", path, strerror(errno));
    }
    load_draw(to, plan, of);
    return fclose(to) == 0 ? 0
                           : complain(exit_of(IG_IO), "%s: %s", path, strerror(errno));
}

static int run_load(const settings *given) {
    int failed = exit_of(IG_INVALID);
    text request;
    if (!make_request(given, &request, &failed)) {
        free(request.data);
        return failed;
    }
    load_plan plan = { .address = given->arguments.items[0],
                       .bytes = request.data,
                       .size = request.size,
                       .rate = given->has_rate ? given->rate : 0,
                       .connections = (size_t)given->concurrency,
                       .seconds = given->has_seconds ? given->seconds : 10 };
    plan.connections = plan.connections ? plan.connections
                       : plan.rate > 0  ? OPEN_CONNECTIONS
                                        : 1;
    load_result result;
    char words[256];
    failed = load_run(&plan, &result, words) ? 0
                                             : complain(exit_of(IG_IO), "%s", words);
    if (!failed) {
        load_sort(&result);
        (given->json ? load_put_json : load_print)(&plan, &result);
        failed = given->svg ? draw_times(given->svg, &plan, &result) : 0;
        bool is_any = result.count && result.samples[0].status == 200;
        failed = failed || is_any ? failed : EXIT_FAILED;
    }
    free(result.samples);
    free(request.data);
    return failed;
}

const verb verb_load = {
    .name = "load",
    .arguments = "HOST:PORT MODEL",
    .help = "sends requests to a server of models, and times them",
    .details =
        "Over HTTP, by the Open Inference Protocol. With --rate requests are due at "
        "moments of their own, and each is timed from when it was due, also where it "
        "had to wait for a connection; without, each connection sends its next request "
        "when the one before is answered.",
    .options = options,
    .min_arguments = 2,
    .max_arguments = 2,
    .run = run_load,
};
