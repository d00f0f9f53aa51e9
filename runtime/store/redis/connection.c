/* One connection to a Redis server.  SPDX-License-Identifier: Apache-2.0
 *
 * hiredis writes commands and reads replies; sockets are ours, because every wait here
 * has a deadline and can be cancelled, and because replies are checked before hiredis
 * is fed with them (guard.h).
 */
#include "runtime/store/redis/connection.h"

#include <assert.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { LOOK_MS = 20, READ_BYTES = 1 << 16 };

/* ---- sockets ---- */

void ig_redis_disconnect(connection *c) {
    if (c->fd >= 0) {
        (void)close(c->fd);
    }
    if (c->reader) {
        redisReaderFree(c->reader);
    }
    free(c->out);
    c->fd = -1;
    c->reader = NULL;
    c->out = NULL;
    c->out_size = c->out_room = c->out_sent = c->pending = 0;
    memset(&c->guard, 0, sizeof c->guard);
}

static ig_status break_off(connection *c, const ig_store_call *call, const char *why) {
    ig_status status = ig_store_fail(call, IG_IO, "%s: %s", c->url->name, why);
    ig_redis_disconnect(c); /* `why` may be of its reader */
    return status;
}

static void set_options(const connection *c, int family) {
    int on = 1, idle = (int)(c->url->heartbeat_ns / 1000000000);
    if (family == AF_UNIX) {
        return;
    }
    idle = idle < 1 ? 1 : idle;
    idle = idle > 32767 ? 32767 : idle;
    (void)setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    (void)setsockopt(c->fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    (void)setsockopt(c->fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
}

/* Begins to connect and waits until that is done. */
static ig_status connect_to(connection *c, const ig_store_call *call,
                            const struct sockaddr *address, socklen_t size) {
    int error = 0;
    socklen_t error_size = sizeof error;
    c->fd = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (c->fd < 0) {
        return break_off(c, call, strerror(errno));
    }
    set_options(c, address->sa_family);
    c->progress_ns = ig_store_now_ns();
    if (connect(c->fd, address, size) == 0) {
        return IG_OK;
    }
    if (errno != EINPROGRESS) {
        return break_off(c, call, strerror(errno));
    }
    struct pollfd poll_of = { .fd = c->fd, .events = POLLOUT };
    while (poll(&poll_of, 1, LOOK_MS) <= 0) {
        ig_status status = ig_store_check_time(call);
        if (status != IG_OK) {
            ig_redis_disconnect(c);
            return status;
        }
        if (ig_store_now_ns() - c->progress_ns > c->url->timeout_ns) {
            return break_off(c, call, "no connection within the timeout");
        }
    }
    (void)getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &error_size);
    return error == 0 ? IG_OK : break_off(c, call, strerror(error));
}

static ig_status connect_path(connection *c, const ig_store_call *call) {
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    memcpy(address.sun_path, c->url->path, strlen(c->url->path) + 1); /* it fits */
    return connect_to(c, call, (const struct sockaddr *)&address, sizeof address);
}

static ig_status connect_host(connection *c, const ig_store_call *call) {
    struct addrinfo wanted = { .ai_socktype = SOCK_STREAM }, *found = NULL;
    char port[8];
    (void)snprintf(port, sizeof port, "%d", (int)c->url->port);
    int result = getaddrinfo(c->url->host, port, &wanted, &found);
    if (result != 0) {
        return break_off(c, call, gai_strerror(result));
    }
    ig_status status = IG_IO;
    for (const struct addrinfo *a = found; a && status == IG_IO; a = a->ai_next) {
        status = connect_to(c, call, a->ai_addr, a->ai_addrlen);
    }
    freeaddrinfo(found);
    return status;
}

/* ---- commands and replies ---- */

/* Room for `more` bytes; NULL: out of memory. */
static char *grow_out(connection *c, size_t more) {
    size_t needed = c->out_size + more;
    if (needed > c->out_room) {
        char *grown = realloc(c->out, needed * 2);
        if (!grown) {
            return NULL;
        }
        c->out = grown;
        c->out_room = needed * 2;
    }
    return c->out + c->out_size;
}

/* "*12\r\n", "$7\r\n" */
static bool add_count(connection *c, char kind, size_t count) {
    char text[24], *at = text + sizeof text;
    *--at = '\n';
    *--at = '\r';
    do {
        *--at = (char)('0' + count % 10);
    } while (count /= 10);
    *--at = kind;
    size_t size = (size_t)(text + sizeof text - at);
    char *to = grow_out(c, size);
    if (!to) {
        return false;
    }
    memcpy(to, at, size);
    c->out_size += size;
    return true;
}

bool ig_redis_begin(connection *c, size_t word_count, size_t reply_count) {
    if (c->pending == 0) {
        c->progress_ns = ig_store_now_ns();
    }
    assert(!c->guard.bundle && !c->guard.in_bundle && "nothing follows a bundle");
    assert((reply_count == 1 || c->pending == 0) && "a bundle is sent by itself");
    c->guard.bundle = reply_count > 1 ? reply_count : 0;
    c->pending += reply_count;
    return add_count(c, '*', word_count);
}

bool ig_redis_add_word(connection *c, const char *word, size_t size) {
    char *to = add_count(c, '$', size) ? grow_out(c, size + 2) : NULL;
    if (!to) {
        return false;
    }
    memcpy(to, word, size);
    memcpy(to + size, "\r\n", 2);
    c->out_size += size + 2;
    return true;
}

bool ig_redis_queue(connection *c, int count, const char **words, const size_t *sizes) {
    bool is_good = ig_redis_begin(c, (size_t)count, 1);
    for (int i = 0; i < count && is_good; i++) {
        is_good = ig_redis_add_word(c, words[i], sizes ? sizes[i] : strlen(words[i]));
    }
    return is_good;
}

static ig_status send_bytes(connection *c, const ig_store_call *call) {
    ssize_t sent = send(c->fd, c->out + c->out_sent, c->out_size - c->out_sent,
                        MSG_NOSIGNAL);
    if (sent < 0) {
        bool is_busy = errno == EAGAIN || errno == EINTR;
        return is_busy ? IG_OK : break_off(c, call, strerror(errno));
    }
    c->progress_ns = ig_store_now_ns();
    c->out_sent += (size_t)sent;
    if (c->out_sent == c->out_size) {
        c->out_sent = c->out_size = 0;
    }
    return IG_OK;
}

static ig_status receive_bytes(connection *c, const ig_store_call *call) {
    char bytes[READ_BYTES];
    const char *why = NULL;
    ssize_t got = recv(c->fd, bytes, sizeof bytes, 0);
    if (got < 0) {
        bool is_busy = errno == EAGAIN || errno == EINTR;
        return is_busy ? IG_OK : break_off(c, call, strerror(errno));
    }
    if (got == 0) {
        return break_off(c, call, "the server closed the connection");
    }
    c->progress_ns = ig_store_now_ns();
    for (size_t at = 0, size = (size_t)got, read; at < size; at += read) {
        bool is_fed;
        read = ig_redis_guard_read(&c->guard, bytes + at, size - at, &is_fed, &why);
        if (why) {
            return break_off(c, call, why);
        }
        if (is_fed && redisReaderFeed(c->reader, bytes + at, read) != REDIS_OK) {
            return break_off(c, call, c->reader->errstr);
        }
    }
    return IG_OK;
}

ig_status ig_redis_move(connection *c, const ig_store_call *call, short events) {
    if ((events & (POLLOUT | POLLERR)) && c->out_size > 0) {
        IG_TRY(send_bytes(c, call));
    }
    return events & (POLLIN | POLLHUP | POLLERR) ? receive_bytes(c, call) : IG_OK;
}

ig_status ig_redis_next(connection *c, const ig_store_call *call,
                        redisReply **out_reply) {
    void *reply = NULL;
    if (redisReaderGetReply(c->reader, &reply) != REDIS_OK) {
        return break_off(c, call, c->reader->errstr);
    }
    if (reply && c->pending == 0) {
        freeReplyObject(reply);
        return break_off(c, call, "the server sent a reply without a command");
    }
    c->pending -= reply != NULL;
    *out_reply = reply;
    return IG_OK;
}

ig_status ig_redis_wait(const ig_store_call *call, connection *const *connections,
                        size_t count, struct pollfd *polls) {
    int64_t now = ig_store_now_ns(), wait = (int64_t)LOOK_MS * 1000000;
    IG_TRY(ig_store_check_time(call));
    for (size_t i = 0; i < count; i++) {
        connection *c = connections[i];
        if (now - c->progress_ns > c->url->timeout_ns) {
            return break_off(c, call, "the server did not answer within the timeout");
        }
        short events = (short)(POLLIN | (c->out_size > 0 ? POLLOUT : 0));
        polls[i] = (struct pollfd){ .fd = c->fd, .events = events };
    }
    if (call->deadline_ns != 0 && call->deadline_ns - now < wait) {
        wait = call->deadline_ns - now;
    }
    (void)poll(polls, count, (int)((wait + 999999) / 1000000));
    return IG_OK;
}

ig_status ig_redis_ask(connection *c, const ig_store_call *call, int count,
                       const char **words, redisReply **out_reply) {
    struct pollfd poll_of;
    redisReply *reply = NULL;
    if (!ig_redis_queue(c, count, words, NULL)) {
        return ig_store_fail(call, IG_LIMIT, "%s: out of memory", c->url->name);
    }
    while (!reply) {
        IG_TRY(ig_redis_wait(call, &c, 1, &poll_of));
        IG_TRY(ig_redis_move(c, call, poll_of.revents));
        IG_TRY(ig_redis_next(c, call, &reply));
    }
    *out_reply = reply;
    return IG_OK;
}

/* ---- words ---- */

static const struct {
    const char *begin;
    ig_status status;
} refusals[] = {
    { "OOM", IG_LIMIT },
    { "NOAUTH", IG_INVALID },
    { "WRONGPASS", IG_INVALID },
    { "NOPERM", IG_INVALID },
    { "WRONGTYPE", IG_INVALID },
    { "MOVED", IG_UNSUPPORTED },
    { "ERR unknown command", IG_UNSUPPORTED },
};

ig_status ig_redis_refused(const connection *c, const ig_store_call *call,
                           const redisReply *reply) {
    ig_status status = IG_IO;
    if (reply->type != REDIS_REPLY_ERROR) {
        return ig_store_fail(call, IG_IO,
                             "%s: the server's reply is of another type "
                             "than the command has",
                             c->url->name);
    }
    for (size_t i = 0; i < IG_COUNT_OF(refusals); i++) {
        if (strncmp(reply->str, refusals[i].begin, strlen(refusals[i].begin)) == 0) {
            status = refusals[i].status;
        }
    }
    return ig_store_fail(call, status, "%s: the server refuses: %.200s", c->url->name,
                         reply->str);
}

/* ---- opening ---- */

/* Asks for something that must be answered by a reply of `type`. */
static ig_status ask_for(connection *c, const ig_store_call *call, int count,
                         const char **words, int type, redisReply **out_reply) {
    redisReply *reply = NULL;
    IG_TRY(ig_redis_ask(c, call, count, words, &reply));
    if (reply->type != type) {
        ig_status status = ig_redis_refused(c, call, reply);
        freeReplyObject(reply);
        return status;
    }
    *out_reply = reply;
    return IG_OK;
}

static ig_status log_in(connection *c, const ig_store_call *call) {
    const ig_redis_url *url = c->url;
    const char *words[] = { "AUTH", url->user, url->password };
    char number[24];
    redisReply *reply = NULL;
    if (url->password[0]) {
        bool has_user = url->user[0] != 0;
        words[1] = has_user ? url->user : url->password;
        IG_TRY(ask_for(c, call, has_user ? 3 : 2, words, REDIS_REPLY_STATUS, &reply));
        freeReplyObject(reply);
    }
    if (url->database != 0) {
        (void)snprintf(number, sizeof number, "%lld", (long long)url->database);
        words[0] = "SELECT";
        words[1] = number;
        IG_TRY(ask_for(c, call, 2, words, REDIS_REPLY_STATUS, &reply));
        freeReplyObject(reply);
    }
    return IG_OK;
}

static ig_status learn_identity(connection *c, const ig_store_call *call) {
    redisReply *reply = NULL;
    IG_TRY(ask_for(c, call, 2, (const char *[]){ "CLIENT", "ID" }, REDIS_REPLY_INTEGER,
                   &reply));
    c->identity.client = reply->integer;
    freeReplyObject(reply);
    IG_TRY(ask_for(c, call, 2, (const char *[]){ "INFO", "server" }, REDIS_REPLY_STRING,
                   &reply));
    const char *run = strstr(reply->str, "run_id:");
    size_t size = run ? strcspn(run + 7, "\r\n") : 0;
    bool is_named = size > 0 && size < sizeof c->identity.run;
    if (is_named) {
        memcpy(c->identity.run, run + 7, size);
        c->identity.run[size] = 0;
    }
    freeReplyObject(reply);
    return is_named ? IG_OK : break_off(c, call, "the server does not tell its run_id");
}

/* Settings with which a server that crashes keeps every acknowledged row. */
static const struct {
    const char *name, *safe;
} settings[] = { { "appendonly", "yes" },
                 { "appendfsync", "always" },
                 { "maxmemory-policy", "noeviction" } };

static ig_status read_advice(connection *c, const ig_store_call *call,
                             ig_redis_advice *advice) {
    size_t used = 0;
    for (size_t i = 0; i < IG_COUNT_OF(settings); i++) {
        redisReply *reply = NULL;
        const char *value = "unknown";
        IG_TRY(ig_redis_ask(
            c, call, 3, (const char *[]){ "CONFIG", "GET", settings[i].name }, &reply));
        if (reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 &&
            reply->element[1]->type == REDIS_REPLY_STRING) {
            value = reply->element[1]->str;
        }
        if (strcmp(value, settings[i].safe) != 0 && used < sizeof advice->text) {
            used += (size_t)snprintf(advice->text + used, sizeof advice->text - used,
                                     "%s%s is %.20s (safe: %s)", used > 0 ? ", " : "",
                                     settings[i].name, value, settings[i].safe);
        }
        freeReplyObject(reply);
    }
    return IG_OK;
}

ig_status ig_redis_connect(connection *c, const ig_store_call *call,
                           ig_redis_advice *advice) {
    ig_status status = c->url->path[0] ? connect_path(c, call) : connect_host(c, call);
    if (status != IG_OK) {
        return status;
    }
    c->reader = redisReaderCreate();
    status = c->reader
                 ? log_in(c, call)
                 : ig_store_fail(call, IG_LIMIT, "%s: out of memory", c->url->name);
    status = status == IG_OK ? learn_identity(c, call) : status;
    if (status == IG_OK && advice) {
        status = read_advice(c, call, advice);
    }
    if (status != IG_OK) {
        ig_redis_disconnect(c);
    }
    return status;
}
