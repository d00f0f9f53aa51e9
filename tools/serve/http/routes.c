/* Paths of HTTP.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/http/routes.h"

#include "tools/serve/http/answer.h"
#include "tools/serve/http/describe.h"

#include <jansson.h>
#include <microhttpd.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { MAX_PARTS = 8 };

/* page.html, by cmake/embed_file.cmake. */
extern const unsigned char serve_page[];
extern const unsigned serve_page_size;

/* A path cut at its slashes; the parts are in the exchange's copy. */
typedef struct path {
    char *parts[MAX_PARTS];
    size_t count;
} path;

void exchange_refuse(exchange *of, int status, const char *words) {
    bytes_clear(&of->out);
    describe_error(&of->out, words);
    of->status = status;
    of->out_json_size = 0;
    of->state = EXCHANGE_ANSWERED;
}

static bool split_path(char *text, path *out) {
    *out = (path){ 0 };
    char *rest;
    for (char *part = strtok_r(text, "/", &rest); part;
         part = strtok_r(NULL, "/", &rest)) {
        if (out->count == MAX_PARTS) {
            return false;
        }
        out->parts[out->count++] = part;
    }
    return true;
}

static bool is_part(const path *at, size_t i, const char *text) {
    return i < at->count && strcmp(at->parts[i], text) == 0;
}

/* ---- inference ---- */

static void finish_infer(request *done) {
    exchange *of = done->front;
    if (done->status == CALL_OK) {
        of->type = "application/json";
        answer_write(&of->out, done, &of->out_json_size);
    }
    if (done->status != CALL_OK) {
        exchange_refuse(of, call_status_http(done->status), done->words);
    } else if (of->out_json_size) {
        of->type = "application/octet-stream";
    }
    pool_free(&done->memory);
    bytes_free(&of->body);
    of->state = EXCHANGE_ANSWERED;
    of->door->has_resumed = true;
    MHD_resume_connection(of->connection);
}

/* A connection that waits is not read, so that its end is not seen: asks for it.  The
 * end of TLS has words of its own before it. */
static bool has_left(const request *of) {
    const exchange *from = of->front;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(from->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct pollfd end = { .fd = info ? info->connect_fd : -1, .events = POLLRDHUP };
    char byte;
    return keys_credentials(from->door->lane->ring)
               ? poll(&end, 1, 0) == 1
               : info && recv(end.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

int64_t exchange_deadline(const exchange *of, int64_t begun) {
    enum { MS = 1000000 };
    int64_t until;
    if (of->timeout_ms > (size_t)INT64_MAX / MS ||
        __builtin_add_overflow((int64_t)of->timeout_ms * MS, begun, &until)) {
        return 0;
    }
    return until;
}

static void begin_infer(exchange *of, const char *model, const char *version) {
    lane *in = of->door->lane;
    request *infer = &of->infer;
    size_t max = 8 * of->body.size + (1 << 20);
    *infer = (request){ .memory = { .limit = max, .from = &in->memory },
                        .model = model,
                        .version = version,
                        .id = "",
                        .begun = clock_now(),
                        .trace = of->trace,
                        .finish = finish_infer,
                        .has_left = has_left,
                        .front = of };
    infer->deadline = exchange_deadline(of, infer->begun);
    refusal why = runner_refusal(in->runner, model, version, infer->deadline);
    if (why != REFUSAL_NONE) { /* before the work of reading it */
        exchange_refuse(of, call_status_http(CALL_FULL), refusal_words(why));
        return;
    }
    size_t json_size = of->json_size == SIZE_MAX ? of->body.size : of->json_size;
    if (json_size > of->body.size) {
        exchange_refuse(of, 400,
                        "Inference-Header-Content-Length is more than the body has");
        return;
    }
    layout_read(of->door->layouts, infer, of->body.data, of->body.size, json_size);
    of->state = EXCHANGE_WAITING;
    MHD_suspend_connection(of->connection);
    runner_add(in->runner, infer);
}

/* ---- the repository ---- */

static void finish_errand(errand *done) {
    exchange *of = done->front;
    if (of->state == EXCHANGE_GONE) {
        free(of);
    } else {
        of->state = EXCHANGE_ANSWERED;
        if (done->status != CALL_OK) {
            exchange_refuse(of, call_status_http(done->status), done->words);
        }
        of->door->has_resumed = true;
        MHD_resume_connection(of->connection);
    }
    free(done->name);
    free(done->config);
    free(done);
}

/* The text of "parameters": {"config": "{…}"} in the body, or NULL. */
static char *read_override(const exchange *of) {
    json_t *root = of->body.size
                       ? json_loadb((const char *)of->body.data, of->body.size, 0, NULL)
                       : NULL;
    const json_t *parameters = json_object_get(root, "parameters");
    const char *config = json_string_value(json_object_get(parameters, "config"));
    char *copy = config ? strdup(config) : NULL;
    json_decref(root);
    return copy;
}

static void begin_errand(exchange *of, const char *model, bool is_load) {
    errand *what = calloc(1, sizeof *what);
    if (!what || !(what->name = strdup(model))) {
        free(what);
        exchange_refuse(of, 429, "memory ran out");
        return;
    }
    what->is_load = is_load;
    what->config = read_override(of);
    what->finish = finish_errand;
    what->front = of;
    what->to = of->door->lane->box;
    of->state = EXCHANGE_WAITING;
    MHD_suspend_connection(of->connection);
    repository_ask(of->door->lane->repository, what);
}

static void route_repository(exchange *of, const path *at) {
    const catalog *list = of->door->lane->catalog;
    if (is_part(at, 2, "index") && at->count == 3 && of->is_post) {
        json_t *asked = of->body.size ? json_loadb((const char *)of->body.data,
                                                   of->body.size, 0, NULL)
                                      : NULL;
        describe_index(&of->out, list, json_is_true(json_object_get(asked, "ready")));
        json_decref(asked);
    } else if (is_part(at, 2, "models") && at->count == 5 && of->is_post &&
               (is_part(at, 4, "load") || is_part(at, 4, "unload"))) {
        begin_errand(of, at->parts[3], is_part(at, 4, "load"));
    } else {
        exchange_refuse(of, 404, "no such path");
    }
}

/* ---- shared memory ---- */

static void put_region(void *user, const region *each) {
    bytes *to = user;
    put_text(to, to->size > 1 ? ",{\"name\":" : "{\"name\":");
    put_string(to, each->name, strlen(each->name));
    put_text(to, ",\"key\":");
    put_string(to, each->key, strlen(each->key));
    put_format(to, ",\"offset\":%llu,\"byte_size\":%llu}",
               (unsigned long long)each->offset, (unsigned long long)each->size);
}

static void register_region(exchange *of, const char *name) {
    json_t *root = of->body.size
                       ? json_loadb((const char *)of->body.data, of->body.size, 0, NULL)
                       : NULL;
    const char *key = json_string_value(json_object_get(root, "key"));
    json_int_t offset = json_integer_value(json_object_get(root, "offset")),
               size = json_integer_value(json_object_get(root, "byte_size"));
    char words[WORDS];
    region added = { name, key, (uint64_t)offset, (uint64_t)size };
    if (!key || offset < 0 || size < 0) {
        exchange_refuse(of, 400, "a region needs a key, an offset and a byte_size");
    } else {
        call_status status = regions_add(of->door->lane->regions, &added, words);
        if (status != CALL_OK) {
            exchange_refuse(of, call_status_http(status), words);
        }
    }
    json_decref(root);
}

/* systemsharedmemory[/region/NAME]/(status|register|unregister) */
static void route_sharing(exchange *of, const path *at) {
    regions *all = of->door->lane->regions;
    bool is_one = is_part(at, 2, "region") && at->count == 5;
    const char *name = is_one ? at->parts[3] : "";
    const char *what = at->parts[at->count - 1];
    if (!all) {
        exchange_refuse(of, 501, "the server was started without --shared-memory");
    } else if (!is_one && at->count != 3) {
        exchange_refuse(of, 404, "no such path");
    } else if (strcmp(what, "status") == 0) {
        put_text(&of->out, "[");
        call_status given = regions_visit(all, name, put_region, &of->out);
        put_text(&of->out, "]");
        if (given != CALL_OK) {
            exchange_refuse(of, call_status_http(given),
                            "no such region is registered");
        }
    } else if (of->is_post && strcmp(what, "unregister") == 0) {
        regions_remove(all, name);
    } else if (of->is_post && is_one && strcmp(what, "register") == 0) {
        register_region(of, name);
    } else {
        exchange_refuse(of, 404, "no such path");
    }
}

/* ---- models ---- */

static void answer_state(exchange *of, bool is_so, const char *words) {
    if (!is_so) {
        exchange_refuse(of, 400, words);
    }
    of->state = EXCHANGE_ANSWERED;
}

/* Requests about a model that is there, but for inference. */
static void describe_part(exchange *of, const served *model, const char *what) {
    const catalog *list = of->door->lane->catalog;
    if (!*what) {
        describe_model(&of->out, list, model);
    } else if (strcmp(what, "config") == 0) {
        describe_config(&of->out, model);
    } else if (strcmp(what, "stats") == 0) {
        describe_statistics(&of->out, list, model);
    } else if (strcmp(what, "ready") != 0) {
        exchange_refuse(of, 404, "no such path");
    }
}

static void route_model(exchange *of, const path *at) {
    const char *version = "";
    size_t next = 3;
    if (is_part(at, 3, "versions") && at->count > 4) {
        version = at->parts[4];
        next = 5;
        if (version[strspn(version, "0123456789")]) {
            exchange_refuse(of, 404, "no such path: a version is a number");
            return;
        }
    }
    const char *what = next < at->count ? at->parts[next] : "";
    if (at->count > next + 1) {
        exchange_refuse(of, 404, "no such path");
    } else if (strcmp(what, "infer") == 0) {
        if (of->is_post) {
            begin_infer(of, at->parts[2], version);
        } else {
            exchange_refuse(of, 405, "inference is a POST");
        }
    } else {
        char words[WORDS];
        call_status status = CALL_OK;
        const served *model = catalog_find(of->door->lane->catalog, at->parts[2],
                                           version, &status, words);
        if (model) {
            describe_part(of, model, what);
        } else {
            bool is_broken = strcmp(what, "ready") == 0 || strcmp(what, "stats") == 0;
            exchange_refuse(of, is_broken ? 400 : call_status_http(status), words);
        }
    }
}

static void route_health(exchange *of, const path *at) {
    if (is_part(at, 2, "live") && at->count == 3) {
        answer_state(of, true, "");
    } else if (is_part(at, 2, "ready") && at->count == 3) {
        answer_state(of, lane_is_ready(of->door->lane), "the server is not ready");
    } else {
        exchange_refuse(of, 404, "no such path");
    }
}

void route_exchange(exchange *of) {
    path at;
    of->status = 200;
    of->type = "application/json";
    if (!lane_follow(of->door->lane)) {
        exchange_refuse(of, 503, "the server ends");
    } else if (!split_path(of->path, &at)) {
        exchange_refuse(of, 404, "no such path");
    } else if (at.count == 0) {
        of->type = "text/html; charset=utf-8";
        bytes_put(&of->out, serve_page, serve_page_size);
    } else if (is_part(&at, 0, "metrics") && at.count == 1) {
        of->type = "text/plain; version=0.0.4; charset=utf-8";
        describe_metrics(&of->out, of->door->lane->catalog);
    } else if (!is_part(&at, 0, "v2")) {
        exchange_refuse(of, 404, "no such path");
    } else if (at.count == 1) {
        describe_server(&of->out);
    } else if (is_part(&at, 1, "health")) {
        route_health(of, &at);
    } else if (is_part(&at, 1, "models") && is_part(&at, 2, "stats") && at.count == 3) {
        describe_statistics(&of->out, of->door->lane->catalog, NULL);
    } else if (is_part(&at, 1, "models") && at.count > 2) {
        route_model(of, &at);
    } else if (is_part(&at, 1, "systemsharedmemory") && at.count > 2) {
        route_sharing(of, &at);
    } else if (is_part(&at, 1, "repository") && at.count > 2) {
        route_repository(of, &at);
    } else {
        exchange_refuse(of, 404, "no such path");
    }
    if (of->state == EXCHANGE_READING) {
        of->state = EXCHANGE_ANSWERED;
    }
    if (of->out.has_failed) {
        exchange_refuse(of, 429, "memory for the answer ran out");
    }
}
