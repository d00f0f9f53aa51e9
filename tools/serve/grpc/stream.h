/* One call of gRPC: a stream of HTTP/2.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_SERVE_GRPC_STREAM_H
#define IG_TOOLS_SERVE_GRPC_STREAM_H

#include "tools/serve/batch/lane.h"
#include "tools/serve/call/wire.h"
#include "tools/serve/grpc/frame.h"

struct nghttp2_session;
typedef struct method method;

enum {
    MAX_QUESTIONS = 256
}; /* of a stream, under way at once; later ones wait unread */

/* A connection. */
typedef struct peer {
    struct grpc_door *door;
    lane *lane;
    struct nghttp2_session *h2;
    wire wire;
    bytes out;     /* frames that the socket would not take yet */
    size_t out_at; /* so many of them are sent */
    bool wants_out, is_due, is_broken;
    int64_t active;             /* when it last read or wrote */
    size_t working;             /* requests and errands that are under way */
    uint64_t begun, reset;      /* streams, and those that the client took back */
    struct peer *next, *before; /* of the door */
    struct peer *next_due;      /* to be pushed at the end of the turn */
    struct stream *streams;     /* that are open */
} peer;

/* Owner: its peer, until HTTP/2 closes it and no ask of it is under way. */
typedef struct stream {
    peer *peer;
    struct stream *next, *before;  /* of the peer, while it is open */
    struct stream *next_unpacking; /* of the door */
    bool is_listed;                /* among those */
    int32_t id;
    const method *method;
    framing framing;
    bytes in, out; /* messages that are read and written in part */
    size_t in_at, out_at;
    int64_t deadline;
    trace trace;
    bool has_ended;   /* the client sends no more */
    bool has_message; /* one was taken */
    bool has_head;    /* the answer's headers are out */
    bool is_deferred; /* HTTP/2 waits for more of `out` */
    bool is_finished; /* status and words are set: no message follows */
    bool is_closed;   /* HTTP/2 has forgotten it */
    bool is_refused;  /* for others that wait: a second later it may be tried again */
    call_status status;
    char words[WORDS];
    struct ask *needs; /* under way */
    size_t ask_count;
    char bearer[128];                /* the token of its authorization, or "" */
    void *own;                       /* of the method, until it calls */
    void (*drop)(struct stream *of); /* this, or NULL */
} stream;

/* A message of a stream that is worked on. */
typedef struct ask {
    stream *of;
    request infer;
    errand *errand;  /* the repository's, or NULL */
    struct job *job; /* the profiler's, or NULL */
    struct ask *next;
} ask;

struct method {
    const char *name;
    bool is_stream;
    /* Answers a message, at once or later. */
    void (*take)(stream *of, const method *which, const uint8_t *data, size_t size);
    int detail; /* of the methods that share a function */
    /* Answers a stream whose last message was taken; NULL: each message is answered. */
    void (*end)(stream *of);
    bool is_open; /* for callers without a token, too */
};

/* Methods beside those of the protocol. */
typedef struct service {
    const char *prefix; /* "/package.Service/" */
    const method *methods;
    size_t count;
} service;

/* The method of "/package.Service/Name", or NULL. */
const method *method_find(const lane *in, const char *path);

/* Of peer.c: goes on with the messages that are there. */
void stream_advance(stream *of);
/* Of peer.c: more of `out` is there, or the call has ended with these words. */
void stream_push(stream *of);
void stream_end(stream *of, call_status status, const char *words);
/* An ask that has ended leaves its stream, which may end with it. */
ask *stream_ask(stream *of);
void stream_leave(ask *done);

#endif
