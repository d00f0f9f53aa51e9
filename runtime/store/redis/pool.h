/* The connections of a store, and the commands that go over them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_RUNTIME_STORE_REDIS_POOL_H
#define IG_RUNTIME_STORE_REDIS_POOL_H

#include "runtime/store/redis/connection.h"

#include <pthread.h>

enum { IG_REDIS_GHOSTS = 2 * IG_REDIS_LANES };

typedef struct pool {
    ig_redis_url url;
    pthread_mutex_t lock; /* of the replies to come */
    pthread_cond_t freed;
    connection connections[IG_REDIS_LANES];
    bool is_taken[IG_REDIS_LANES];
    /* Connections that were given up while writes were on their way. */
    pthread_mutex_t writer; /* of the ghosts; held while they are laid */
    ig_redis_identity ghosts[IG_REDIS_GHOSTS];
    size_t ghost_count;
} pool;

/* Items whose commands may be sent again: each is answered by one reply. */
typedef struct ig_redis_work {
    void *user;
    size_t count;
    bool is_write;
    /* Queues the command of an item; false: out of memory. */
    bool (*put)(void *user, connection *c, size_t index);
    /* In place of it: one command of several items, answered by an array. */
    bool (*put_bundle)(void *user, connection *c, size_t from, size_t count);
    /* Takes a reply that is not an error.  An error is the call's. */
    ig_status (*take)(void *user, const ig_store_call *call, const connection *c,
                      size_t index, const redisReply *reply);
} ig_redis_work;

/* Opens the first connection; `advice` as in ig_redis_connect. */
ig_status ig_redis_pool_init(pool *p, const ig_store_call *call,
                             ig_redis_advice *advice);
void ig_redis_pool_fini(pool *p);

/* Runs all commands, in pipelines over as many connections as are free, and sends them
 * again after a failure.  Each reply is taken once.  After an error all replies to sent
 * commands are awaited still. */
ig_status ig_redis_pool_run(pool *p, const ig_store_call *call,
                            const ig_redis_work *work);

#endif
