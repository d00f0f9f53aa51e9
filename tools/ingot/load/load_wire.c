/* Requests, many at once.  SPDX-License-Identifier: Apache-2.0
 *
 * In the open loop requests are due at moments drawn before (exponential gaps), and
 * each is timed from when it was due: a server that stalls is charged for all requests
 * due meanwhile, also where no connection was free to carry them.
 */
#include "tools/ingot/load/load_wire.h"

#include "tools/ingot/measure/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HEAD = 16 << 10, EVENTS = 64, LINGER_SECONDS = 10 };

typedef struct connection {
    int socket; /* -1: none */
    bool is_busy;
    double due; /* of the request that it carries */
    size_t sent;
    char head[HEAD]; /* of the answer, as far as it is there */
    size_t head_size;
    size_t body_left; /* once the head is there */
    bool has_head;
    int status;
} connection;

typedef struct loader {
    const load_plan *plan;
    load_result *out;
    connection *all;
    size_t room; /* of samples */
    struct sockaddr_storage to;
    socklen_t to_size;
    int poll;
    double begin, end, due; /* due: of the next request, in the open loop */
    uint64_t chance;
    size_t busy;
    connection **idle; /* a stack of those without a request */
    size_t idle_count;
    char buffer[32 << 10];
} loader;

/* ---- connections ---- */

static bool find_address(const char *address, struct sockaddr_storage *out,
                         socklen_t *out_size, char *words) {
    char host[256];
    const char *colon = strrchr(address, ':');
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *found = NULL;
    if (!colon || colon - address >= (long)sizeof host) {
        snprintf(words, 256, "'%.100s' is no HOST:PORT", address);
        return false;
    }
    memcpy(host, address, (size_t)(colon - address));
    host[colon - address] = '\0';
    int failed = getaddrinfo(host, colon + 1, &hints, &found);
    if (failed) {
        snprintf(words, 256, "%.100s: %s", address, gai_strerror(failed));
        return false;
    }
    memcpy(out, found->ai_addr, found->ai_addrlen);
    *out_size = found->ai_addrlen;
    freeaddrinfo(found);
    return true;
}

static int open_socket(const struct sockaddr_storage *to, socklen_t size, char *words) {
    int yes = 1, made = socket(to->ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (made < 0 || connect(made, (const struct sockaddr *)to, size) != 0) {
        snprintf(words, 256, "cannot connect: %s", strerror(errno));
        if (made >= 0) {
            close(made);
        }
        return -1;
    }
    setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return made;
}

/* ---- answers ---- */

/* The value of a header, or NULL. */
static const char *find_field(const char *head, const char *name) {
    size_t size = strlen(name);
    for (const char *line = strstr(head, "\r\n"); line; line = strstr(line, "\r\n")) {
        line += 2;
        if (strncasecmp(line, name, size) == 0 && line[size] == ':') {
            return line + size + 1;
        }
    }
    return NULL;
}

/* Takes bytes of an answer.  Whether it is whole. */
static bool take_bytes(connection *of, const char *data, size_t size) {
    if (!of->has_head) {
        size_t part = size < HEAD - 1 - of->head_size ? size : HEAD - 1 - of->head_size;
        memcpy(of->head + of->head_size, data, part);
        of->head_size += part;
        of->head[of->head_size] = '\0';
        char *end = strstr(of->head, "\r\n\r\n");
        if (!end) {
            return false;
        }
        const char *length = find_field(of->head, "Content-Length");
        size_t body = length ? strtoul(length, NULL, 10) : 0;
        size_t head = (size_t)(end + 4 - of->head), got = of->head_size - head;
        of->has_head = true;
        of->status = of->head_size > 12 ? atoi(of->head + 9) : 0;
        got += size - part;
        of->body_left = body > got ? body - got : 0;
    } else {
        of->body_left -= size < of->body_left ? size : of->body_left;
    }
    return of->body_left == 0;
}

/* ---- one request ---- */

char *load_ask(const char *address, const char *bytes, size_t size, int *out_status,
               char words[256]) {
    enum { LARGEST = 16 << 20 };
    struct sockaddr_storage to;
    socklen_t to_size;
    connection *of = calloc(1, sizeof *of);
    char *all = malloc(LARGEST + 1);
    size_t got = 0;
    bool is_whole = false;
    *words = '\0';
    int socket = of && all && find_address(address, &to, &to_size, words)
                     ? open_socket(&to, to_size, words)
                     : -1;
    if (socket >= 0 && send(socket, bytes, size, MSG_NOSIGNAL) == (ssize_t)size) {
        ssize_t part = 1;
        while (!is_whole && got < LARGEST &&
               (part = recv(socket, all + got, LARGEST - got, 0)) > 0) {
            is_whole = take_bytes(of, all + got, (size_t)part);
            got += (size_t)part;
        }
        if (!is_whole) {
            snprintf(words, 256, "no whole answer from %.100s", address);
        }
    }
    if (socket >= 0) {
        close(socket);
    }
    char *body = NULL;
    if (is_whole) {
        all[got] = '\0';
        body = strdup(strstr(all, "\r\n\r\n") + 4);
        *out_status = of->status;
    }
    free(of);
    free(all);
    return body;
}

/* ---- many ---- */

static void add_sample(loader *of, double seconds, int status) {
    load_result *to = of->out;
    if (to->count == of->room) {
        size_t room = of->room ? 2 * of->room : 4096;
        load_sample *grown = realloc(to->samples, room * sizeof *grown);
        if (!grown) {
            return;
        }
        to->samples = grown;
        of->room = room;
    }
    to->samples[to->count++] = (load_sample){ seconds, status };
}

static void finish_one(loader *of, connection *at, int status) {
    double now = clock_seconds();
    add_sample(of, now - at->due, status);
    const char *says = at->has_head ? find_field(at->head, "Connection") : NULL;
    bool is_over = status == 0 || (says && strncasecmp(says, " close", 6) == 0);
    at->is_busy = at->has_head = false;
    at->head_size = 0;
    of->busy--;
    of->idle[of->idle_count++] = at;
    if (is_over) {
        close(at->socket);
        at->socket = -1;
    }
}

/* Sends the rest of the request. */
static void send_rest(loader *of, connection *at) {
    while (at->sent < of->plan->size) {
        ssize_t part = send(at->socket, of->plan->bytes + at->sent,
                            of->plan->size - at->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (part < 0 && (errno == EAGAIN || errno == EINTR)) {
            return;
        }
        if (part < 0) {
            finish_one(of, at, 0);
            return;
        }
        at->sent += (size_t)part;
    }
}

static bool begin_one(loader *of, connection *at, double due, char *words) {
    if (at->socket < 0) {
        at->socket = open_socket(&of->to, of->to_size, words);
        struct epoll_event event = { EPOLLIN | EPOLLOUT | EPOLLET, { .ptr = at } };
        if (at->socket < 0 ||
            epoll_ctl(of->poll, EPOLL_CTL_ADD, at->socket, &event) != 0) {
            return false;
        }
    }
    at->is_busy = true;
    at->due = due;
    at->sent = 0;
    of->busy++;
    send_rest(of, at);
    return true;
}

static double draw_gap(loader *of) {
    of->chance = of->chance * 6364136223846793005u + 1442695040888963407u;
    double unit = ((double)(of->chance >> 11) + 0.5) * 0x1p-53;
    return -log(unit) / of->plan->rate;
}

/* Begins the requests that are due; false: the server takes no connection. */
static bool begin_due(loader *of, char *words) {
    double now = clock_seconds();
    bool is_open = of->plan->rate > 0;
    while (now < of->end && of->idle_count &&
           (!is_open || (of->due <= now && of->due < of->end))) {
        connection *at = of->idle[--of->idle_count];
        if (!begin_one(of, at, is_open ? of->due : clock_seconds(), words)) {
            return false;
        }
        of->due += is_open ? draw_gap(of) : 0;
    }
    return true;
}

static void read_answers(loader *of, connection *at) {
    for (;;) {
        ssize_t got = recv(at->socket, of->buffer, sizeof of->buffer, MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
            return;
        }
        if (got <= 0) {
            if (at->is_busy) {
                finish_one(of, at, 0);
            } else {
                close(at->socket);
                at->socket = -1;
            }
            return;
        }
        if (at->is_busy && take_bytes(at, of->buffer, (size_t)got)) {
            finish_one(of, at, at->status);
            return;
        }
    }
}

static void turn(loader *of) {
    struct epoll_event events[EVENTS];
    double now = clock_seconds(), next = of->plan->rate > 0 ? of->due : of->end;
    int wait = next <= now ? (of->busy ? 1 : 0) : (int)((next - now) * 1000);
    int count = epoll_wait(of->poll, events, EVENTS, wait > 100 ? 100 : wait);
    for (int i = 0; i < count; i++) {
        connection *at = events[i].data.ptr;
        if (at->is_busy && (events[i].events & EPOLLOUT)) {
            send_rest(of, at);
        }
        if (at->socket >= 0 && (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR))) {
            read_answers(of, at);
        }
    }
}

/* Counts requests that were due and never sent, and those without an answer long after
 * the end. */
static void count_lost(loader *of) {
    double now = clock_seconds();
    for (; of->plan->rate > 0 && of->due < of->end; of->due += draw_gap(of)) {
        of->out->unsent++;
        add_sample(of, now - of->due, 0);
    }
    for (size_t i = 0; i < of->plan->connections; i++) {
        if (of->all[i].is_busy) {
            finish_one(of, &of->all[i], 0);
        } else if (of->all[i].socket >= 0) {
            close(of->all[i].socket);
        }
    }
}

bool load_run(const load_plan *plan, load_result *out, char words[256]) {
    loader of = { .plan = plan, .out = out, .chance = 1 };
    *out = (load_result){ 0 };
    *words = '\0';
    of.all = calloc(plan->connections, sizeof *of.all);
    of.poll = epoll_create1(EPOLL_CLOEXEC);
    bool is_good = of.all && of.poll >= 0 &&
                   find_address(plan->address, &of.to, &of.to_size, words);
    of.idle = calloc(plan->connections, sizeof *of.idle);
    is_good = is_good && of.idle;
    for (size_t i = 0; is_good && i < plan->connections; i++) {
        of.all[i].socket = -1;
        of.idle[of.idle_count++] = &of.all[plan->connections - 1 - i];
    }
    of.begin = of.due = clock_seconds();
    of.end = of.begin + plan->seconds;
    while (is_good && clock_seconds() < of.end) {
        is_good = begin_due(&of, words);
        turn(&of);
    }
    while (is_good && of.busy && clock_seconds() < of.end + LINGER_SECONDS) {
        turn(&of);
    }
    out->seconds = clock_seconds() - of.begin;
    if (is_good) {
        count_lost(&of);
    }
    if (of.poll >= 0) {
        close(of.poll);
    }
    free(of.idle);
    free(of.all);
    return is_good;
}
