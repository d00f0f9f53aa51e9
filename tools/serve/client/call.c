/* A client of gRPC over nghttp2.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/client/call.h"

#include "tools/serve/grpc/frame.h"

#include <errno.h>
#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STATUS_UNKNOWN = 2, STATUS_UNAVAILABLE = 14, TOKEN_BYTES = 121 };

struct client {
    nghttp2_session *h2;
    wire wire;
    server_address to;
    char bearer[TOKEN_BYTES + 8];
    /* Of the call at hand. */
    const bytes *messages;
    size_t at; /* bytes of them that are sent */
    bytes reply;
    int status; /* -1: none came yet */
    char *words;
    bool is_closed;
};

/* ---- nghttp2's callbacks ---- */

static ssize_t send_bytes(nghttp2_session *h2, const uint8_t *data, size_t size,
                          int flags, void *user) {
    (void)h2;
    (void)flags;
    client *of = user;
    ssize_t sent = wire_write(&of->wire, data, size);
    return sent < 0 ? NGHTTP2_ERR_CALLBACK_FAILURE : sent;
}

static ssize_t give_messages(nghttp2_session *h2, int32_t id, uint8_t *to, size_t room,
                             uint32_t *flags, nghttp2_data_source *from, void *user) {
    (void)h2;
    (void)id;
    (void)from;
    client *of = user;
    size_t left = of->messages->size - of->at, size = left < room ? left : room;
    memcpy(to, of->messages->data + of->at, size);
    of->at += size;
    if (of->at == of->messages->size) {
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    }
    return (ssize_t)size;
}

static int take_reply(nghttp2_session *h2, uint8_t flags, int32_t id,
                      const uint8_t *data, size_t size, void *user) {
    (void)h2;
    (void)flags;
    (void)id;
    client *of = user;
    return bytes_put(&of->reply, data, size) ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE;
}

/* "%0A" of grpc-message as it was. */
static void read_words(const char *from, size_t size, char *to) {
    size_t count = 0;
    unsigned byte;
    for (size_t i = 0; i < size && count + 1 < WORDS; i++) {
        bool is_escape = from[i] == '%' && i + 2 < size &&
                         sscanf(from + i + 1, "%2x", &byte) == 1;
        to[count++] = is_escape ? (char)byte : from[i];
        i += is_escape ? 2 : 0;
    }
    to[count] = '\0';
}

static int take_header(nghttp2_session *h2, const nghttp2_frame *frame,
                       const uint8_t *name, size_t name_size, const uint8_t *value,
                       size_t size, uint8_t flags, void *user) {
    (void)h2;
    (void)frame;
    (void)flags;
    client *of = user;
    if (name_size == 11 && memcmp(name, "grpc-status", 11) == 0) {
        of->status = atoi((const char *)value);
    } else if (name_size == 12 && memcmp(name, "grpc-message", 12) == 0) {
        read_words((const char *)value, size, of->words);
    }
    return 0;
}

static int end_call(nghttp2_session *h2, int32_t id, uint32_t code, void *user) {
    (void)h2;
    (void)id;
    (void)code;
    ((client *)user)->is_closed = true;
    return 0;
}

static bool open_http(client *of) {
    enum { WINDOW = 1 << 30 };
    nghttp2_session_callbacks *made;
    nghttp2_settings_entry window = { NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, WINDOW };
    if (nghttp2_session_callbacks_new(&made) != 0) {
        return false;
    }
    nghttp2_session_callbacks_set_send_callback(made, send_bytes);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, take_reply);
    nghttp2_session_callbacks_set_on_header_callback(made, take_header);
    nghttp2_session_callbacks_set_on_stream_close_callback(made, end_call);
    int failed = nghttp2_session_client_new(&of->h2, made, of);
    nghttp2_session_callbacks_del(made);
    return !failed &&
           nghttp2_submit_settings(of->h2, NGHTTP2_FLAG_NONE, &window, 1) == 0 &&
           nghttp2_session_set_local_window_size(of->h2, NGHTTP2_FLAG_NONE, 0,
                                                 WINDOW) == 0;
}

/* ---- connecting ---- */

client *client_open(const client_target *target, char words[WORDS]) {
    const char *token = target->token ? target->token : "";
    client *made = calloc(1, sizeof *made);
    if (!made || strlen(token) >= TOKEN_BYTES) {
        snprintf(words, WORDS, "memory ran out, or the token is longer than %d bytes",
                 TOKEN_BYTES - 1);
        free(made);
        return NULL;
    }
    made->wire.socket = -1;
    snprintf(made->bearer, sizeof made->bearer, "Bearer %s", token);
    if (!address_read(target, &made->to, words) ||
        !address_open(&made->to, "h2", &made->wire, words) || !open_http(made)) {
        client_close(made);
        return NULL;
    }
    return made;
}

void client_close(client *of) {
    if (of) {
        nghttp2_session_del(of->h2);
        wire_close(&of->wire);
        address_free(&of->to);
        bytes_free(&of->reply);
        free(of);
    }
}

/* ---- calls ---- */

#define PAIR(name, value)                                                   \
    {                                                                       \
        (uint8_t *)(name), (uint8_t *)(value), strlen(name), strlen(value), \
            NGHTTP2_NV_FLAG_NONE                                            \
    }

static bool submit_call(client *of, const char *path) {
    nghttp2_nv pairs[] = {
        PAIR(":method", "POST"),
        PAIR(":scheme", of->to.credentials ? "https" : "http"),
        PAIR(":path", path),
        PAIR(":authority", of->to.name),
        PAIR("te", "trailers"),
        PAIR("content-type", "application/grpc"),
        PAIR("authorization", of->bearer),
    };
    nghttp2_data_provider data = { { .ptr = of }, give_messages };
    bool has_token = strlen(of->bearer) > strlen("Bearer ");
    return nghttp2_submit_request(of->h2, NULL, pairs, has_token ? 7 : 6, &data, NULL) >
           0;
}

/* Sends and receives until the call has ended; false: the connection has. */
static bool await_call(client *of) {
    uint8_t data[64 << 10];
    while (!of->is_closed) {
        if (nghttp2_session_send(of->h2) != 0) {
            return false;
        }
        ssize_t got = wire_read(&of->wire, data, sizeof data);
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) {
            continue;
        }
        if (got <= 0 || nghttp2_session_mem_recv(of->h2, data, (size_t)got) < 0) {
            return false;
        }
    }
    return true;
}

int client_call(client *of, const char *path, const bytes *messages, bytes *reply,
                char words[WORDS]) {
    framing how = { .max = UINT32_MAX };
    framed message;
    of->messages = messages;
    of->at = 0;
    of->status = -1;
    of->words = words;
    of->is_closed = false;
    bytes_clear(&of->reply);
    *words = '\0';
    if (!submit_call(of, path) || !await_call(of)) {
        snprintf(words, WORDS, "%s: the connection ended", of->to.name);
        return STATUS_UNAVAILABLE;
    }
    if (of->status != 0) {
        return of->status > 0 ? of->status : STATUS_UNKNOWN;
    }
    bytes_clear(reply);
    if (!frame_read(&how, &of->reply, 0, &message) ||
        !bytes_put(reply, message.data, message.size)) {
        snprintf(words, WORDS, "%s: an answer that is not a gRPC message", of->to.name);
        return STATUS_UNKNOWN;
    }
    return 0;
}
