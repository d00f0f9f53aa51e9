/* Connections of HTTP/2.  SPDX-License-Identifier: Apache-2.0
 *
 * nghttp2 keeps the protocol, and calls the functions here with headers and data of
 * streams.  All limits are ours: streams at once, bytes of headers and bodies, streams
 * that a client opens to take them back.
 */
#include "tools/serve/grpc/peer.h"

#include "tools/serve/batch/runner.h"

#include <errno.h>
#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { READ_AT_ONCE = 64 << 10, WRITE_AT_ONCE = 64 << 10, FREE_RESETS = 200 };

#define PAIR(name, value)                                                   \
    {                                                                       \
        (uint8_t *)(name), (uint8_t *)(value), strlen(name), strlen(value), \
            NGHTTP2_NV_FLAG_NONE                                            \
    }

/* ---- streams ---- */

static void free_stream(stream *of) {
    bytes_free(&of->in);
    bytes_free(&of->out);
    bytes_free(&of->framing.unpacked);
    unpack_end(&of->framing.unpack);
    if (of->drop) {
        of->drop(of);
    }
    free(of);
}

ask *stream_ask(stream *of) {
    ask *made = calloc(1, sizeof *made);
    if (made) {
        made->of = of;
        made->next = of->needs;
        of->needs = made;
        of->ask_count++;
        of->peer->working++;
    }
    return made;
}

void stream_end(stream *of, call_status status, const char *words) {
    if (!of->is_finished) {
        of->is_finished = true;
        of->status = status;
        snprintf(of->words, WORDS, "%.*s", WORDS - 1, words);
    }
}

/* "a%0Ab": bytes that a header may not hold, as gRPC writes them. */
static void escape_words(const char *from, char to[3 * WORDS]) {
    for (; *from; from++) {
        uint8_t byte = (uint8_t)*from;
        if (byte >= 0x20 && byte < 0x7f && byte != '%') {
            *to++ = (char)byte;
        } else {
            to += snprintf(to, 4, "%%%02X", byte);
        }
    }
    *to = '\0';
}

static void submit_trailer(stream *of) {
    char status[8], words[3 * WORDS];
    snprintf(status, sizeof status, "%d", (int)of->status);
    escape_words(of->words, words);
    nghttp2_nv pairs[] = { PAIR("grpc-status", status), PAIR("grpc-message", words) };
    nghttp2_submit_trailer(of->peer->h2, of->id, pairs, *words ? 2 : 1);
}

/* nghttp2 asks for bytes of an answer. */
static ssize_t give_data(nghttp2_session *h2, int32_t id, uint8_t *to, size_t room,
                         uint32_t *flags, nghttp2_data_source *from, void *user) {
    (void)h2;
    (void)id;
    (void)user;
    stream *of = from->ptr;
    size_t left = of->out.size - of->out_at, size = left < room ? left : room;
    if (size) {
        memcpy(to, of->out.data + of->out_at, size);
        of->out_at += size;
    }
    if (of->out_at == of->out.size) {
        of->out_at = 0;
        bytes_free(&of->out);
        if (of->is_finished) {
            *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
            submit_trailer(of);
        } else if (size == 0) {
            of->is_deferred = true;
            return NGHTTP2_ERR_DEFERRED;
        }
    }
    return (ssize_t)size;
}

static void submit_head(stream *of) {
    char status[8], words[3 * WORDS];
    of->has_head = true;
    if (of->is_finished && of->out.size == 0) { /* headers and trailers in one */
        snprintf(status, sizeof status, "%d", (int)of->status);
        escape_words(of->words, words);
        nghttp2_nv pairs[] = { PAIR(":status", "200"),
                               PAIR("content-type", "application/grpc"),
                               PAIR("grpc-status", status), PAIR("grpc-message", words),
                               PAIR("grpc-retry-pushback-ms", "1000") };
        size_t count = of->is_refused ? 5 : *words ? 4 : 3;
        nghttp2_submit_response(of->peer->h2, of->id, pairs, count, NULL);
        return;
    }
    nghttp2_nv pairs[] = { PAIR(":status", "200"),
                           PAIR("content-type", "application/grpc"),
                           PAIR("grpc-accept-encoding", "identity,gzip,deflate") };
    nghttp2_data_provider data = { { .ptr = of }, give_data };
    nghttp2_submit_response(of->peer->h2, of->id, pairs, 3, &data);
}

void stream_push(stream *of) {
    if (of->is_closed) {
        return;
    }
    if (!of->has_head) {
        submit_head(of);
    } else if (of->is_deferred) {
        of->is_deferred = false;
        nghttp2_session_resume_data(of->peer->h2, of->id);
    }
    grpc_door_note(of->peer);
}

/* ---- incoming frames ---- */

/* Hands whole messages to the method, as many as may be under way. */
static void take_messages(stream *of) {
    framed next;
    of->framing.status = CALL_OK;
    while (!of->is_finished && of->ask_count < MAX_QUESTIONS &&
           (of->method->is_stream || !of->has_message) &&
           frame_read(&of->framing, &of->in, of->in_at, &next)) {
        of->in_at += next.taken;
        of->has_message = true;
        if (lane_follow(of->peer->lane)) {
            of->method->take(of, of->method, next.data, next.size);
        } else {
            stream_end(of, CALL_UNAVAILABLE, "the server ends");
            stream_push(of);
        }
    }
    if (of->framing.is_unpacking && !of->is_finished) {
        grpc_door_unpack_later(of);
    }
    if (of->in_at == of->in.size) {
        bytes_free(&of->in);
        of->in_at = 0;
    } else if (of->in_at > of->in.size / 2) {
        memmove(of->in.data, of->in.data + of->in_at, of->in.size - of->in_at);
        of->in.size -= of->in_at;
        of->in_at = 0;
    }
    if (!of->is_finished && of->framing.status != CALL_OK) {
        stream_end(of, of->framing.status, of->framing.words);
        stream_push(of);
    }
}

/* Goes on with a stream's data; one whose last message is answered ends. */
void stream_advance(stream *of) {
    if (of->method->is_stream || of->has_ended) {
        take_messages(of);
    }
    if (of->has_ended && !of->needs && !of->is_finished && !of->framing.is_unpacking) {
        bool is_whole = of->in.size == 0 && (of->has_message || of->method->is_stream);
        if (is_whole && of->method->end) {
            of->method->end(of);
            return;
        }
        stream_end(of, is_whole ? CALL_OK : CALL_INVALID,
                   is_whole ? "" : "the request ends within a message");
        stream_push(of);
    }
}

void stream_leave(ask *done) {
    stream *of = done->of;
    peer *owner = of->peer;
    ask **at = &of->needs;
    while (*at != done) {
        at = &(*at)->next;
    }
    *at = done->next;
    free(done);
    of->ask_count--;
    owner->working--;
    if (!of->is_closed) {
        stream_advance(of);
    } else if (!of->needs) {
        free_stream(of);
    }
    if (owner->wire.socket < 0 && owner->working == 0) {
        free(owner);
    }
}

static int begin_stream(nghttp2_session *h2, const nghttp2_frame *frame, void *user) {
    peer *in = user;
    if (frame->hd.type != NGHTTP2_HEADERS ||
        frame->headers.cat != NGHTTP2_HCAT_REQUEST) {
        return 0;
    }
    stream *of = calloc(1, sizeof *of);
    if (!of) {
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    }
    *of = (stream){ .peer = in, .id = frame->hd.stream_id };
    of->in.from = of->out.from = of->framing.unpacked.from = &in->lane->memory;
    of->framing.max = in->lane->limits->body_bytes;
    in->begun++;
    of->next = in->streams;
    if (in->streams) {
        in->streams->before = of;
    }
    in->streams = of;
    return nghttp2_session_set_stream_user_data(h2, of->id, of);
}

/* "100m" of grpc-timeout, as ns; -1: none of its units. */
static int64_t read_timeout(const char *text) {
    static const struct {
        char unit;
        int64_t ns;
    } units[] = { { 'n', 1 },          { 'u', 1000 },        { 'm', 1000000 },
                  { 'S', 1000000000 }, { 'M', 60000000000 }, { 'H', 3600000000000 } };
    char *end;
    long long count = strtoll(text, &end, 10);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (end > text && count >= 0 && count <= 99999999 && *end == units[i].unit) {
            return count * units[i].ns;
        }
    }
    return -1;
}

static int take_header(nghttp2_session *h2, const nghttp2_frame *frame,
                       const uint8_t *name, size_t name_size, const uint8_t *value,
                       size_t size, uint8_t flags, void *user) {
    (void)flags;
    peer *in = user;
    stream *of = nghttp2_session_get_stream_user_data(h2, frame->hd.stream_id);
    char text[128];
    if (!of || size >= sizeof text) {
        return 0;
    }
    memcpy(text, value, size);
    text[size] = '\0';
    const char *key = (const char *)name;
    if (name_size == 5 && memcmp(key, ":path", 5) == 0) {
        of->method = method_find(in->lane, text);
    } else if (name_size == 12 && memcmp(key, "grpc-timeout", 12) == 0) {
        int64_t ns = read_timeout(text);
        of->deadline = ns < 0 ? 0 : in->lane->now + ns;
    } else if (name_size == 11 && memcmp(key, "traceparent", 11) == 0) {
        of->trace = trace_read(text);
    } else if (name_size == 13 && memcmp(key, "grpc-encoding", 13) == 0) {
        of->framing.packed = encoding_find(text);
    } else if (name_size == 13 && memcmp(key, "authorization", 13) == 0 &&
               strncasecmp(text, "Bearer ", 7) == 0) {
        snprintf(of->bearer, sizeof of->bearer, "%s", text + 7);
    }
    return 0;
}

static int take_data(nghttp2_session *h2, uint8_t flags, int32_t id,
                     const uint8_t *data, size_t size, void *user) {
    (void)flags;
    (void)user;
    enum { HEAD = 5 };
    stream *of = nghttp2_session_get_stream_user_data(h2, id);
    if (!of || of->is_finished) {
        return 0;
    }
    if (!of->method) {
        return 0; /* refused when its last byte is there */
    }
    if (size > of->framing.max + HEAD - (of->in.size - of->in_at) ||
        !bytes_put(&of->in, data, size)) {
        stream_end(of, CALL_FULL,
                   "a message is larger than --max-body, or requests hold "
                   "all memory that they may (--memory)");
        stream_push(of);
    } else {
        stream_advance(of);
    }
    return 0;
}

/* The client has sent all that it will. */
static void end_input(stream *of) {
    of->has_ended = true;
    if (of->method) {
        stream_advance(of);
        return;
    }
    stream_end(of, CALL_UNSUPPORTED, "the server has no such method");
    stream_push(of);
}

/* All headers are there: strangers are refused before they send more. */
static void check_caller(stream *of) {
    bool is_open = !of->method || of->method->is_open;
    if (!is_open && !keys_admit(keys_now(of->peer->lane->ring), of->bearer)) {
        stream_end(of, CALL_STRANGER,
                   "this server asks for a token: authorization: Bearer TOKEN");
        stream_push(of);
    }
}

static int take_frame(nghttp2_session *h2, const nghttp2_frame *frame, void *user) {
    peer *in = user;
    stream *of = nghttp2_session_get_stream_user_data(h2, frame->hd.stream_id);
    if (frame->hd.type == NGHTTP2_RST_STREAM) {
        in->reset++;
        /* Opening streams to take them back costs the client nothing, and us all. */
        if (in->reset > FREE_RESETS && in->reset > in->begun / 2) {
            in->is_broken = true;
        }
        return 0;
    }
    if (of && frame->hd.type == NGHTTP2_HEADERS) {
        check_caller(of);
    }
    bool is_end = frame->hd.flags & NGHTTP2_FLAG_END_STREAM;
    if (of && is_end &&
        (frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS)) {
        end_input(of);
    }
    return 0;
}

/* Takes back the stream's requests, but for those at the repository or the profiler. */
static void forget_questions(stream *of) {
    for (ask *next, *each = of->needs; each; each = next) {
        next = each->next;
        if (!each->errand && !each->job) {
            runner_forget(of->peer->lane->runner, &each->infer);
            pool_free(&each->infer.memory);
            stream_leave(each);
        }
    }
}

/* HTTP/2 has forgotten the stream. */
static void close_stream(stream *of) {
    *(of->before ? &of->before->next : &of->peer->streams) = of->next;
    if (of->next) {
        of->next->before = of->before;
    }
    of->is_closed = true;
    grpc_door_forget(of);
    if (of->needs) {
        forget_questions(of); /* the last one to leave frees it */
    } else {
        free_stream(of);
    }
}

static int end_stream(nghttp2_session *h2, int32_t id, uint32_t code, void *user) {
    (void)code;
    (void)user;
    stream *of = nghttp2_session_get_stream_user_data(h2, id);
    if (of) {
        nghttp2_session_set_stream_user_data(h2, id, NULL);
        close_stream(of);
    }
    return 0;
}

nghttp2_session_callbacks *peer_callbacks(void) {
    nghttp2_session_callbacks *made;
    if (nghttp2_session_callbacks_new(&made) != 0) {
        return NULL;
    }
    nghttp2_session_callbacks_set_on_begin_headers_callback(made, begin_stream);
    nghttp2_session_callbacks_set_on_header_callback(made, take_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, take_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(made, take_frame);
    nghttp2_session_callbacks_set_on_stream_close_callback(made, end_stream);
    return made;
}

/* ---- the connection ---- */

peer *peer_open(lane *in, int socket, nghttp2_session_callbacks *callbacks) {
    enum { STREAM_WINDOW = 1 << 20, WINDOW = 16 << 20 };
    peer *of = calloc(1, sizeof *of);
    const wire_kind kind = { keys_credentials(in->ring), NULL, "h2" };
    if (!of || nghttp2_session_server_new(&of->h2, callbacks, of) != 0) {
        free(of);
        return NULL;
    }
    if (!wire_open(&of->wire, socket, &kind)) {
        nghttp2_session_del(of->h2);
        free(of);
        return NULL;
    }
    of->lane = in;
    of->active = in->now;
    nghttp2_settings_entry settings[] = {
        { NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, (uint32_t)in->limits->streams },
        { NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, STREAM_WINDOW },
        { NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, (uint32_t)in->limits->header_bytes },
    };
    nghttp2_submit_settings(of->h2, NGHTTP2_FLAG_NONE, settings, 3);
    nghttp2_session_set_local_window_size(of->h2, NGHTTP2_FLAG_NONE, 0, WINDOW);
    return of;
}

void peer_close(peer *of) {
    of->working++;               /* stays until the end of this function */
    nghttp2_session_del(of->h2); /* which calls nothing of ours */
    while (of->streams) {
        close_stream(of->streams);
    }
    of->h2 = NULL;
    bytes_free(&of->out);
    wire_close(&of->wire);
    if (--of->working == 0) {
        free(of);
    }
}

bool peer_read(peer *of) {
    static _Thread_local uint8_t buffer[READ_AT_ONCE];
    const char *words;
    bool is_good = wire_shake(&of->wire, &words);
    for (int i = 0; is_good && (i == 0 || wire_has_more(&of->wire)); i++) {
        ssize_t got = wire_read(&of->wire, buffer, sizeof buffer);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
            return true;
        }
        of->active = of->lane->now;
        is_good = got > 0 &&
                  nghttp2_session_mem_recv(of->h2, buffer, (size_t)got) >= 0 &&
                  !of->is_broken;
    }
    return is_good;
}

/* Sends the bytes in `out`; false: the connection has ended. */
static bool send_out(peer *of) {
    while (of->out_at < of->out.size) {
        ssize_t sent = wire_write(&of->wire, of->out.data + of->out_at,
                                  of->out.size - of->out_at);
        if (sent < 0) {
            of->wants_out = errno == EAGAIN || errno == EINTR;
            return of->wants_out;
        }
        of->out_at += (size_t)sent;
        of->active = of->lane->now;
    }
    of->out_at = 0;
    bytes_clear(&of->out);
    return true;
}

bool peer_write(peer *of) {
    const char *words;
    if (!wire_shake(&of->wire, &words)) {
        return false;
    }
    if (!of->wire.is_open) {
        of->wants_out = of->wire.wants_out;
        return true;
    }
    of->wants_out = false;
    for (;;) {
        if (!send_out(of)) {
            return false;
        }
        if (of->wants_out) {
            return true;
        }
        const uint8_t *data;
        ssize_t size = 0;
        while (of->out.size < WRITE_AT_ONCE &&
               (size = nghttp2_session_mem_send(of->h2, &data)) > 0) {
            if (!bytes_put(&of->out, data, (size_t)size)) {
                return false;
            }
        }
        if (size < 0) {
            return false;
        }
        if (of->out.size == 0) {
            bytes_free(&of->out);
            return nghttp2_session_want_read(of->h2) ||
                   nghttp2_session_want_write(of->h2);
        }
    }
}

void peer_drain(peer *of) {
    nghttp2_submit_goaway(of->h2, NGHTTP2_FLAG_NONE,
                          nghttp2_session_get_last_proc_stream_id(of->h2),
                          NGHTTP2_NO_ERROR, NULL, 0);
}
