/* URLs of Redis servers.  SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_RUNTIME_STORE_REDIS_URL_H
#define IG_RUNTIME_STORE_REDIS_URL_H

#include "runtime/store/call.h"

enum {
    IG_REDIS_TEXT_BYTES = 256,
    IG_REDIS_PATH_BYTES = 108, /* of sockets, with their end */
    IG_REDIS_LANES = 64,
    IG_REDIS_CHUNK = 10000
};

typedef struct ig_redis_url {
    char user[IG_REDIS_TEXT_BYTES], password[IG_REDIS_TEXT_BYTES];
    char host[IG_REDIS_TEXT_BYTES]; /* empty: `path` is a socket's */
    char path[IG_REDIS_TEXT_BYTES];
    char prefix[IG_REDIS_TEXT_BYTES];
    char name[IG_REDIS_TEXT_BYTES + 32]; /* for messages, without secrets */
    int64_t port, database;
    int64_t lanes;   /* connections */
    int64_t chunk;   /* commands a pipeline */
    int64_t retries; /* in a row */
    int64_t timeout_ns, heartbeat_ns;
} ig_redis_url;

/* Reads the part after "redis://":
 *
 *     [[user]:password@ | password@]host[:port][/database][?options]
 *     /path/of/a/socket[?options]
 *
 * with options joined by & or &&: num_threads, db, prefix, timeout, heartbeat,
 * retry_limit, chunk_size.  (TorchRec's grammar is the part without /database.)
 * INVALID, with words that hold no part of the userinfo. */
ig_status ig_redis_url_read(const ig_store_call *call, const char *config,
                            ig_redis_url *out_url);

#endif
