/* The door of HTTP.  SPDX-License-Identifier: Apache-2.0
 *
 * The daemon has no thread: its epoll descriptor is one of the loop's.  A request that
 * must wait is suspended, and resumed on this same thread, which costs a third of what
 * waking another does.
 */
#include "tools/serve/http/door.h"

#include "tools/serve/call/wire.h"
#include "tools/serve/http/describe.h"
#include "tools/serve/http/routes.h"

#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* Seconds that an overloaded server asks its clients for. */
static const char retry_after[] = "1";

static void free_exchange(exchange *of) {
    bytes_free(&of->body);
    bytes_free(&of->plain);
    unpack_end(&of->unpack);
    bytes_free(&of->out);
    free(of->path);
    of->path = NULL;
}

/* ---- reading ---- */

/* A size in a header.  False: it is not a number. */
static bool read_size(const char *text, size_t *out) {
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 18 || text[digits]) {
        return false;
    }
    *out = (size_t)strtoull(text, NULL, 10);
    return true;
}

/* What one pass over the headers finds. */
typedef struct headers {
    exchange *of;
    size_t body; /* SIZE_MAX: not said */
    bool is_broken;
} headers;

static enum MHD_Result take_header(void *user, enum MHD_ValueKind kind, const char *key,
                                   const char *value) {
    (void)kind;
    headers *to = user;
    exchange *of = to->of;
    value = value ? value : "";
    if (strcasecmp(key, "Content-Length") == 0) {
        of->has_length = true;
        to->is_broken |= !read_size(value, &to->body);
    } else if (strcasecmp(key, "Inference-Header-Content-Length") == 0) {
        to->is_broken |= !read_size(value, &of->json_size);
    } else if (strcasecmp(key, "Content-Encoding") == 0) {
        of->packed = encoding_find(value);
    } else if (strcasecmp(key, "Accept-Encoding") == 0) {
        of->accepted = encoding_choose(value);
    } else if (strcasecmp(key, "X-Request-Timeout-Ms") == 0) {
        to->is_broken |= !read_size(value, &of->timeout_ms);
    } else if (strcasecmp(key, "traceparent") == 0) {
        of->trace = trace_read(value);
    } else if (strcasecmp(key, "Authorization") == 0 &&
               strncasecmp(value, "Bearer ", strlen("Bearer ")) == 0) {
        of->token = value + strlen("Bearer ");
    }
    return MHD_YES;
}

/* Whether its caller may ask for it.  Anybody may ask whether the server lives; people
 * with a browser, which asks them for a password, may look. */
static bool may_enter(const exchange *of) {
    const keys *known = keys_now(of->door->lane->ring);
    char *password = NULL;
    bool is_health = strncmp(of->path, "/v2/health/", strlen("/v2/health/")) == 0;
    if (!known->has_tokens || is_health ||
        (of->token && keys_admit(known, of->token))) {
        return true;
    }
    char *name = of->is_post
                     ? NULL
                     : MHD_basic_auth_get_username_password(of->connection, &password);
    bool is_known = password && keys_admit(known, password);
    MHD_free(name);
    MHD_free(password);
    return is_known;
}

/* The content of the headers.  A refusal is an answer, before the body was read. */
static void read_headers(exchange *of) {
    headers found = { .of = of, .body = SIZE_MAX };
    of->json_size = of->timeout_ms = SIZE_MAX;
    MHD_get_connection_values(of->connection, MHD_HEADER_KIND, take_header, &found);
    if (!may_enter(of)) {
        exchange_refuse(of, call_status_http(CALL_STRANGER),
                        "this server asks for a token: Authorization: Bearer TOKEN");
    } else if (found.is_broken) {
        exchange_refuse(of, 400, "a length or time among the headers is not a number");
    } else if (found.body != SIZE_MAX &&
               found.body > of->door->lane->limits->body_bytes) {
        exchange_refuse(of, 413, "the body is larger than --max-body");
    } else if (of->packed == ENCODING_OTHER) {
        exchange_refuse(of, 415, "Content-Encoding is neither gzip nor deflate");
    } else if (of->door->lane->is_draining && of->is_post) {
        exchange_refuse(of, 503, "the server ends");
    }
}

/* ---- refusing without keeping anything ---- */

/* Names of a path, as far as they are looked up before it is kept. */
typedef struct model_path {
    char model[256], version[24];
} model_path;

/* Copies the part of the path that `*at` begins with; false: it does not fit. */
static bool take_part(const char **at, char *to, size_t room) {
    size_t size = strcspn(*at, "/");
    if (size == 0 || size >= room) {
        return false;
    }
    memcpy(to, *at, size);
    to[size] = '\0';
    *at += size;
    return true;
}

/* Reads "/v2/models/M[/versions/V]/infer"; false: another path. */
static bool read_model_path(const char *at, model_path *out) {
    static const char start[] = "/v2/models/", versions[] = "/versions/";
    *out->version = '\0';
    if (strncmp(at, start, sizeof start - 1) != 0) {
        return false;
    }
    at += sizeof start - 1;
    if (!take_part(&at, out->model, sizeof out->model)) {
        return false;
    }
    if (strncmp(at, versions, sizeof versions - 1) == 0) {
        at += sizeof versions - 1;
        if (!take_part(&at, out->version, sizeof out->version)) {
            return false;
        }
    }
    return strcmp(at, "/infer") == 0;
}

/* Whether an inference is refused for those that wait, its body unread. */
static refusal refuse_early(const exchange *of) {
    model_path at;
    bool is_known = of->state == EXCHANGE_READING && of->is_post && of->has_length &&
                    read_model_path(of->path, &at) && lane_follow(of->door->lane);
    return is_known ? runner_refusal(of->door->lane->runner, at.model, at.version,
                                     exchange_deadline(of, clock_now()))
                    : REFUSAL_NONE;
}

/* Answers that stay the same; false: memory ran out. */
static bool make_refusals(http_door *of) {
    for (refusal why = REFUSAL_NONE + 1; why < REFUSAL_COUNT; why++) {
        bytes text = { .from = &of->lane->memory };
        describe_error(&text, refusal_words(why));
        struct MHD_Response *made =
            text.has_failed ? NULL
                            : MHD_create_response_from_buffer(text.size, text.data,
                                                              MHD_RESPMEM_MUST_COPY);
        bytes_free(&text);
        if (!made) {
            return false;
        }
        MHD_add_response_header(made, "Content-Type", "application/json");
        MHD_add_response_header(made, "Retry-After", retry_after);
        of->refusals[why] = made;
        of->refused[why] = (exchange){ .door = of, .state = EXCHANGE_REFUSED };
    }
    return true;
}

static enum MHD_Result take_refused(const exchange *of,
                                    struct MHD_Connection *connection, size_t *size) {
    if (*size) {
        *size = 0;
        return MHD_YES;
    }
    return MHD_queue_response(connection, (unsigned)call_status_http(CALL_FULL),
                              of->door->refusals[of - of->door->refused]);
}

/* ---- beginning ---- */

/* A copy with a path of its own; NULL: no memory. */
static exchange *keep_exchange(const exchange *from) {
    exchange *of = malloc(sizeof *of);
    char *path = strdup(from->path);
    if (!of || !path) {
        free(of);
        free(path);
        return NULL;
    }
    *of = *from;
    of->path = path;
    return of;
}

static exchange *begin_exchange(http_door *door, struct MHD_Connection *connection,
                                const char *url, const char *method) {
    exchange of = { .door = door,
                    .connection = connection,
                    .path = (char *)(uintptr_t)url, /* read only, until it is kept */
                    .is_post = strcmp(method, "POST") == 0,
                    .type = "application/json",
                    .body.from = &door->lane->memory,
                    .plain.from = &door->lane->memory,
                    .out.from = &door->lane->memory };
    if (!of.is_post && strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0) {
        exchange_refuse(&of, 405, "only GET, HEAD and POST");
    } else {
        read_headers(&of);
    }
    refusal why = refuse_early(&of);
    exchange *kept = why != REFUSAL_NONE ? &door->refused[why] : keep_exchange(&of);
    if (!kept) {
        bytes_free(&of.out);
    }
    return kept;
}

/* ---- the body ---- */

static void add_body(exchange *of, const char *data, size_t size) {
    if (of->state != EXCHANGE_READING) {
        return; /* refused already */
    }
    if (size > of->door->lane->limits->body_bytes - of->body.size) {
        exchange_refuse(of, 413, "the body is larger than --max-body");
    } else if (!bytes_put(&of->body, data, size)) {
        exchange_refuse(of, 429, "requests hold all memory that they may (--memory)");
    }
}

/* Unpacks a part of the body.  False: there is more, and the door goes on with it. */
static bool unpack_part(exchange *of) {
    size_t max = of->door->lane->limits->body_bytes;
    unpack_state state = unpack_step(&of->unpack, &of->plain, of->body.data,
                                     of->body.size, max);
    if (state == UNPACK_MORE) {
        of->state = EXCHANGE_UNPACKING;
        of->next = NULL;
        *of->door->last = of;
        of->door->last = &of->next;
        return false;
    }
    of->state = EXCHANGE_READING;
    of->packed = ENCODING_NONE;
    bytes_free(&of->body);
    of->body = of->plain;
    of->plain = (bytes){ .from = of->body.from };
    if (state == UNPACK_FULL) {
        exchange_refuse(of, 413, "the unpacked body is larger than --max-body");
    } else if (state == UNPACK_BROKEN) {
        exchange_refuse(of, 400, "the body is not what its Content-Encoding says");
    }
    return true;
}

/* Takes the first of those that are unpacked off the list; NULL: there is none. */
static exchange *take_unpacking(http_door *of) {
    exchange *first = of->first;
    if (first) {
        of->first = first->next;
        of->last = of->first ? of->last : &of->first;
    }
    return first;
}

static void resume_unpacked(exchange *of) {
    of->door->has_resumed = true;
    MHD_resume_connection(of->connection);
}

/* ---- answering ---- */

/* Compresses bodies that are worth it.  Answers to inferences alone: Triton packs no
 * others, and clients of asyncio, which say that they take gzip, do not unpack them. */
static void pack_answer(exchange *of) {
    enum { MIN = 256 };
    bytes packed = { .from = of->out.from };
    if (!of->infer.finish || of->accepted == ENCODING_NONE || of->out.size < MIN ||
        !encoding_pack(&packed, &of->out, of->accepted)) {
        bytes_free(&packed);
        return;
    }
    bytes_free(&of->out);
    of->out = packed;
    of->out_packed = of->accepted;
}

static enum MHD_Result send_answer(exchange *of) {
    pack_answer(of);
    /* The exchange outlives the response: both end with the request. */
    struct MHD_Response *answer = MHD_create_response_from_buffer(
        of->out.size, of->out.data, MHD_RESPMEM_PERSISTENT);
    if (!answer) {
        return MHD_NO;
    }
    MHD_add_response_header(answer, "Content-Type", of->type);
    if (of->out_json_size) {
        char text[32];
        snprintf(text, sizeof text, "%zu", of->out_json_size);
        MHD_add_response_header(answer, "Inference-Header-Content-Length", text);
    }
    if (of->out_packed != ENCODING_NONE) {
        MHD_add_response_header(answer, "Content-Encoding",
                                encoding_name(of->out_packed));
    }
    if (of->status == call_status_http(CALL_FULL)) {
        MHD_add_response_header(answer, "Retry-After", retry_after);
    }
    if (of->door->lane->is_draining) {
        MHD_add_response_header(answer, "Connection", "close");
    }
    if (of->status == call_status_http(CALL_STRANGER)) {
        MHD_add_response_header(answer, "WWW-Authenticate", "Bearer");
        MHD_add_response_header(answer, "WWW-Authenticate", "Basic realm=\"ingot\"");
    }
    enum MHD_Result result = MHD_queue_response(of->connection, (unsigned)of->status,
                                                answer);
    MHD_destroy_response(answer);
    return result;
}

static enum MHD_Result take_request(void *user, struct MHD_Connection *connection,
                                    const char *url, const char *method,
                                    const char *version, const char *data, size_t *size,
                                    void **mine) {
    (void)version;
    exchange *of = *mine;
    if (!of) {
        of = *mine = begin_exchange(user, connection, url, method);
        return !of                              ? MHD_NO
               : of->state == EXCHANGE_ANSWERED ? send_answer(of)
                                                : MHD_YES;
    }
    if (of->state == EXCHANGE_REFUSED) {
        return take_refused(of, connection, size);
    }
    if (*size) {
        add_body(of, data, *size);
        *size = 0;
        /* A body without an end that anybody knows is not read for nothing. */
        return of->state == EXCHANGE_READING || of->has_length ? MHD_YES : MHD_NO;
    }
    if (of->state == EXCHANGE_READING && of->packed != ENCODING_NONE &&
        !unpack_part(of)) {
        MHD_suspend_connection(connection);
    }
    if (of->state == EXCHANGE_READING) {
        route_exchange(of);
    }
    return of->state == EXCHANGE_ANSWERED ? send_answer(of) : MHD_YES;
}

/* The answer is out, or the client left. */
static void end_exchange(void *user, struct MHD_Connection *connection, void **mine,
                         enum MHD_RequestTerminationCode code) {
    (void)user;
    (void)connection;
    (void)code;
    exchange *of = *mine;
    *mine = NULL;
    if (!of || of->state == EXCHANGE_REFUSED) {
        return;
    }
    bool is_errands = of->state == EXCHANGE_WAITING && !of->infer.finish;
    if (of->state == EXCHANGE_WAITING && of->infer.finish) {
        runner_forget(of->door->lane->runner, &of->infer);
        pool_free(&of->infer.memory);
    }
    free_exchange(of);
    if (is_errands) {
        of->state = EXCHANGE_GONE; /* the errand frees it */
    } else {
        free(of);
    }
}

/* ---- the door ---- */

/* The daemon, with TLS where there are certificates: each handshake shows the
 * newest. */
static struct MHD_Daemon *start_daemon(http_door *door, int listener) {
    const limits *bounds = door->lane->limits;
    unsigned flags = MHD_USE_EPOLL | MHD_USE_TURBO | MHD_ALLOW_SUSPEND_RESUME;
    struct MHD_OptionItem options[] = {
        { MHD_OPTION_LISTEN_SOCKET, listener, NULL },
        { MHD_OPTION_CONNECTION_LIMIT, (intptr_t)bounds->connections, NULL },
        { MHD_OPTION_CONNECTION_TIMEOUT, (intptr_t)(bounds->idle_ns / 1000000000),
          NULL },
        { MHD_OPTION_CONNECTION_MEMORY_LIMIT, (intptr_t)bounds->header_bytes / 2,
          NULL },
        { MHD_OPTION_END, 0, NULL },
    };
    return !keys_credentials(door->lane->ring)
               ? MHD_start_daemon(flags, 0, NULL, NULL, take_request, door,
                                  MHD_OPTION_NOTIFY_COMPLETED, end_exchange, NULL,
                                  MHD_OPTION_ARRAY, options, MHD_OPTION_END)
               : MHD_start_daemon(
                     flags | MHD_USE_TLS, 0, NULL, NULL, take_request, door,
                     MHD_OPTION_NOTIFY_COMPLETED, end_exchange, NULL, MHD_OPTION_ARRAY,
                     options, MHD_OPTION_HTTPS_PRIORITIES, wire_priorities,
                     MHD_OPTION_HTTPS_CERT_CALLBACK, keys_show, MHD_OPTION_END);
}

/* All of it but the daemon, which has ended or never was. */
static void free_door(http_door *of) {
    for (refusal why = REFUSAL_NONE + 1; why < REFUSAL_COUNT; why++) {
        if (of->refusals[why]) {
            MHD_destroy_response(of->refusals[why]);
        }
    }
    layout_cache_destroy(of->layouts);
    free(of);
}

http_door *http_door_open(lane *of, int listener) {
    http_door *door = calloc(1, sizeof *door);
    if (door) {
        door->lane = of;
        door->last = &door->first;
        door->layouts = layout_cache_create();
        door->daemon = make_refusals(door) ? start_daemon(door, listener) : NULL;
    }
    if (door && (!door->layouts || !door->daemon)) {
        free_door(door);
        door = NULL;
    }
    return door;
}

void http_door_close(http_door *of) {
    if (of) {
        for (exchange *each; (each = take_unpacking(of));) {
            exchange_refuse(each, 503, "the server ends");
            resume_unpacked(each);
            http_door_resume(of); /* others may be unpacked then */
        }
        MHD_stop_daemon(of->daemon);
        free_door(of);
    }
}

int http_door_event(const http_door *of) {
    return MHD_get_daemon_info(of->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
}

int http_door_wait(const http_door *of) {
    MHD_UNSIGNED_LONG_LONG wait;
    if (of->first) {
        return 0;
    }
    if (MHD_get_timeout(of->daemon, &wait) != MHD_YES) {
        return -1;
    }
    return wait < 60000 ? (int)wait : 60000;
}

void http_door_turn(http_door *of) {
    MHD_run(of->daemon);
    exchange *first = take_unpacking(of);
    if (first && unpack_part(first)) {
        resume_unpacked(first);
    }
}

void http_door_resume(http_door *of) {
    while (of->has_resumed) {
        of->has_resumed = false;
        MHD_run(of->daemon);
    }
}

size_t http_door_drain(http_door *of) {
    MHD_socket listener = MHD_quiesce_daemon(of->daemon);
    if (listener != MHD_INVALID_SOCKET) {
        close(listener);
    }
    return MHD_get_daemon_info(of->daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS)
        ->num_connections;
}
