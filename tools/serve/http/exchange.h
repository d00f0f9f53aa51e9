/* One request of HTTP and its answer.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_SERVE_HTTP_EXCHANGE_H
#define IG_TOOLS_SERVE_HTTP_EXCHANGE_H

#include "tools/serve/batch/runner.h"
#include "tools/serve/call/encoding.h"
#include "tools/serve/http/layout.h"

typedef enum exchange_state {
    EXCHANGE_READING,
    EXCHANGE_UNPACKING, /* suspended: the door's turns unpack its body */
    EXCHANGE_WAITING,   /* suspended: for a run or for the repository */
    EXCHANGE_ANSWERED,  /* out, status and type are set */
    EXCHANGE_GONE,      /* its client left while the repository works for it */
    EXCHANGE_REFUSED,   /* one of the door's: nothing of the request is kept */
} exchange_state;

/* Owner: its connection, from the first header to the answer's last byte; of one that
 * has gone, the errand. */
typedef struct exchange {
    struct http_door *door;
    struct MHD_Connection *connection;
    exchange_state state;
    bool is_post;
    bool has_length; /* the headers say how long the body is */
    char *path;
    bytes body;  /* as it came, then unpacked */
    bytes plain; /* of the body, so far */
    unpacking unpack;
    struct exchange *next; /* of those that are unpacked */
    /* Headers. */
    encoding packed;   /* the body is */
    encoding accepted; /* the answer may be */
    size_t json_size;  /* SIZE_MAX: all of the body */
    size_t timeout_ms; /* for an inference; SIZE_MAX: none */
    trace trace;
    const char *token; /* of its authorization, or NULL */
    /* The answer. */
    int status; /* of HTTP */
    const char *type;
    size_t out_json_size; /* 0: no header says it */
    bytes out;
    encoding out_packed;
    request infer;
} exchange;

/* Of the loop. */
typedef struct http_door {
    lane *lane;
    struct MHD_Daemon *daemon;
    layout_cache *layouts;
    /* A substitute for exchanges that are refused before anything is kept of them,
     * and its answer, by refusal: an overloaded server makes none of these. */
    exchange refused[REFUSAL_COUNT];
    struct MHD_Response *refusals[REFUSAL_COUNT];
    bool has_resumed;        /* connections that the daemon must look at again */
    exchange *first, **last; /* of those that are unpacked */
} http_door;

/* When an inference that came at `begun` must be done, by its headers; 0: no such
 * time. */
int64_t exchange_deadline(const exchange *of, int64_t begun);
/* Answers with an error. */
void exchange_refuse(exchange *of, int status, const char *words);

#endif
