/* Requests to a server over HTTP/1.1, many at once on one thread.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_SERVE_LOAD_DRIVE_H
#define IG_TOOLS_SERVE_LOAD_DRIVE_H

#include "tools/serve/client/address.h"

/* A run of requests. */
typedef struct load_plan {
    const server_address *to;
    const char *bytes; /* of a request, all of it, the same each time */
    size_t size;
    double rate;        /* requests a second, whatever becomes of them; 0: closed */
    size_t connections; /* closed: each with one request; open: the most of them */
    double seconds;
} load_plan;

/* A request that was answered, or was not. */
typedef struct load_sample {
    double seconds; /* from when it was due, sent or not, to the last byte */
    int status;     /* of HTTP; 0: the connection broke, or there was no answer */
} load_sample;

typedef struct load_result {
    load_sample *samples; /* free() it */
    size_t count;
    size_t unsent; /* that were due and found no connection before the end, or were held
                    * back as the server asked */
    double seconds;
} load_result;

/* One request and its answer's body, NULL: `words` say why; free() it. */
char *load_ask(const server_address *to, const char *bytes, size_t size,
               int *out_status, char words[WORDS]);
/* False: `words` say why there is nothing to tell. */
bool load_run(const load_plan *plan, load_result *out, char words[WORDS]);

#endif
