/* One connection to a Redis server.  SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_RUNTIME_STORE_REDIS_CONNECTION_H
#define IG_RUNTIME_STORE_REDIS_CONNECTION_H

#include "runtime/store/redis/guard.h"
#include "runtime/store/redis/url.h"

#include <hiredis/hiredis.h>
#include <poll.h>

enum { IG_REDIS_RUN_BYTES = 48 };

/* Names a connection to the server that has it: a number, and the server's run. */
typedef struct ig_redis_identity {
    long long client;
    char run[IG_REDIS_RUN_BYTES];
} ig_redis_identity;

typedef struct connection {
    const ig_redis_url *url;
    int fd; /* -1: closed */
    redisReader *reader;
    ig_redis_guard guard;
    char *out; /* commands on their way */
    size_t out_size, out_room, out_sent;
    size_t pending;      /* replies to come */
    int64_t progress_ns; /* when bytes moved last */
    ig_redis_identity identity;
} connection;

/* A server's facts at the first connect, for a warning. */
typedef struct ig_redis_advice {
    char text[256];
} ig_redis_advice;

/* Opens a closed connection: authentication, database, identity; and fills `advice`
 * unless NULL.  On an error it is closed again. */
ig_status ig_redis_connect(connection *c, const ig_store_call *call,
                           ig_redis_advice *advice);
void ig_redis_disconnect(connection *c);

/* Queues a command; false: out of memory. */
bool ig_redis_queue(connection *c, int count, const char **words, const size_t *sizes);
/* Begins a command of so many words, which ig_redis_add_word then adds, and which is
 * answered by so many replies: one, or an array whose elements are taken one by one. */
bool ig_redis_begin(connection *c, size_t word_count, size_t reply_count);
bool ig_redis_add_word(connection *c, const char *word, size_t size);

/* Moves bytes that can be moved.  A connection that breaks is closed: IG_IO. */
ig_status ig_redis_move(connection *c, const ig_store_call *call, short events);
/* The next reply that is whole, for freeReplyObject; NULL: none yet. */
ig_status ig_redis_next(connection *c, const ig_store_call *call,
                        redisReply **out_reply);
/* Sleeps until one of the connections may move (each gets its events in `polls`), or
 * until it is time to look at the clock.  One that was silent for the URL's timeout
 * is closed: IG_IO. */
ig_status ig_redis_wait(const ig_store_call *call, connection *const *connections,
                        size_t count, struct pollfd *polls);
/* Sends one command and waits for its reply; the caller frees it. */
ig_status ig_redis_ask(connection *c, const ig_store_call *call, int count,
                       const char **words, redisReply **out_reply);

/* The status and the words of an error reply. */
ig_status ig_redis_refused(const connection *c, const ig_store_call *call,
                           const redisReply *reply);

#endif
