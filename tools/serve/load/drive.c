/* Requests, many at once.  SPDX-License-Identifier: Apache-2.0
 *
 * In the open loop requests are due at moments drawn before (exponential gaps), and
 * each is timed from when it was due: a server that stalls is charged for all requests
 * due meanwhile, also where no connection was free to carry them.  A refusal that says
 * Retry-After is heeded: its connection rests, and requests that are due while no other
 * is free are held back.
 */
#include "tools/serve/load/drive.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum { HEAD = 16 << 10, EVENTS = 64, LINGER_SECONDS = 10 };

typedef struct connection {
    wire wire; /* its socket -1: none */
    bool is_busy;
    double due;   /* of the request that it carries */
    double rests; /* until then: the server said Retry-After */
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
    const server_address *to;
    int poll;
    double begin, end, due; /* due: of the next request, in the open loop */
    uint64_t chance;
    size_t busy;
    connection **idle; /* a stack of those without a request */
    size_t idle_count;
    connection **resting; /* a ring of those that are not to be used yet */
    size_t rest_first, rest_count;
    char buffer[32 << 10];
} loader;

static double clock_seconds(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec * 1e-9;
}

/* ---- connections ---- */

/* Connects; whether the server then shows who it is goes on beside others. */
static bool open_wire(const server_address *to, wire *out, char words[WORDS]) {
    const wire_kind kind = { to->credentials, to->host, "http/1.1" };
    int made = address_connect(to, words);
    bool is_open = made >= 0 && fcntl(made, F_SETFL, O_NONBLOCK) == 0 &&
                   wire_open(out, made, &kind);
    if (made >= 0 && !is_open) {
        close(made);
    }
    return is_open;
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

char *load_ask(const server_address *to, const char *bytes, size_t size,
               int *out_status, char words[WORDS]) {
    enum { LARGEST = 16 << 20 };
    connection *of = calloc(1, sizeof *of);
    char *all = malloc(LARGEST + 1), *body = NULL;
    size_t got = 0;
    bool is_whole = false,
         is_open = of && all && address_open(to, "http/1.1", &of->wire, words);
    if (is_open && wire_write(&of->wire, bytes, size) == (ssize_t)size) {
        ssize_t part = 1;
        while (!is_whole && got < LARGEST &&
               (part = wire_read(&of->wire, all + got, LARGEST - got)) > 0) {
            is_whole = take_bytes(of, all + got, (size_t)part);
            got += (size_t)part;
        }
    }
    if (is_whole) {
        all[got] = '\0';
        body = strdup(strstr(all, "\r\n\r\n") + 4);
        *out_status = of->status;
    } else if (is_open) {
        snprintf(words, WORDS, "an incomplete answer from %s", to->name);
    }
    if (is_open) {
        wire_close(&of->wire);
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

/* The connection has no request any more. */
static void lay_aside(loader *of, connection *at) {
    if (at->rests == 0) {
        of->idle[of->idle_count++] = at;
        return;
    }
    size_t last = (of->rest_first + of->rest_count++) % of->plan->connections;
    of->resting[last] = at;
}

/* Connections whose rest is over may be used again. */
static void end_rests(loader *of, double now) {
    while (of->rest_count && of->resting[of->rest_first]->rests <= now) {
        connection *at = of->resting[of->rest_first];
        at->rests = 0;
        of->idle[of->idle_count++] = at;
        of->rest_first = (of->rest_first + 1) % of->plan->connections;
        of->rest_count--;
    }
}

static void finish_one(loader *of, connection *at, int status) {
    double now = clock_seconds();
    add_sample(of, now - at->due, status);
    const char *says = at->has_head ? find_field(at->head, "Connection") : NULL;
    const char *later = at->has_head ? find_field(at->head, "Retry-After") : NULL;
    bool is_over = status == 0 || (says && strncasecmp(says, " close", 6) == 0);
    at->is_busy = at->has_head = false;
    at->head_size = 0;
    at->rests = later && of->plan->rate > 0 ? now + atoi(later) : 0;
    of->busy--;
    lay_aside(of, at);
    if (is_over) {
        wire_close(&at->wire);
    }
}

/* Sends the rest of the request, once the server has shown who it is. */
static void send_rest(loader *of, connection *at) {
    const char *why;
    if (!wire_shake(&at->wire, &why)) {
        finish_one(of, at, 0);
        return;
    }
    while (at->sent < of->plan->size) {
        ssize_t part = wire_write(&at->wire, of->plan->bytes + at->sent,
                                  of->plan->size - at->sent);
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
    struct epoll_event event = { EPOLLIN | EPOLLOUT | EPOLLET, { .ptr = at } };
    if (at->wire.socket < 0 &&
        (!open_wire(of->to, &at->wire, words) ||
         epoll_ctl(of->poll, EPOLL_CTL_ADD, at->wire.socket, &event) != 0)) {
        return false;
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

/* Counts the requests that are due while the server asks for a rest, and no connection
 * is free. */
static void hold_back(loader *of, double now) {
    while (of->rest_count && !of->idle_count && of->due <= now && of->due < of->end) {
        of->out->unsent++;
        add_sample(of, 0, 0);
        of->due += draw_gap(of);
    }
}

/* Begins the requests that are due; false: the server takes no connection. */
static bool begin_due(loader *of, char *words) {
    double now = clock_seconds();
    bool is_open = of->plan->rate > 0;
    end_rests(of, now);
    while (now < of->end && of->idle_count &&
           (!is_open || (of->due <= now && of->due < of->end))) {
        connection *at = of->idle[--of->idle_count];
        if (!begin_one(of, at, is_open ? of->due : clock_seconds(), words)) {
            return false;
        }
        of->due += is_open ? draw_gap(of) : 0;
    }
    if (is_open) {
        hold_back(of, now);
    }
    return true;
}

static void read_answers(loader *of, connection *at) {
    for (;;) {
        ssize_t got = wire_read(&at->wire, of->buffer, sizeof of->buffer);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
            return;
        }
        if (got <= 0) {
            if (at->is_busy) {
                finish_one(of, at, 0);
            } else {
                wire_close(&at->wire);
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
        if (at->is_busy && (events[i].events & EPOLLOUT || !at->wire.is_open)) {
            send_rest(of, at);
        }
        if (at->wire.socket >= 0 &&
            (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR))) {
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
        } else {
            wire_close(&of->all[i].wire);
        }
    }
}

bool load_run(const load_plan *plan, load_result *out, char words[WORDS]) {
    loader of = { .plan = plan, .to = plan->to, .out = out, .chance = 1 };
    *out = (load_result){ 0 };
    *words = '\0';
    of.all = calloc(plan->connections, sizeof *of.all);
    of.poll = epoll_create1(EPOLL_CLOEXEC);
    of.idle = calloc(plan->connections, sizeof *of.idle);
    of.resting = calloc(plan->connections, sizeof *of.resting);
    bool is_good = of.all && of.poll >= 0 && of.idle && of.resting;
    for (size_t i = 0; is_good && i < plan->connections; i++) {
        of.all[i].wire.socket = -1;
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
    free(of.resting);
    free(of.all);
    return is_good;
}
