/* A real redis-server on a socket in a folder of its own.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef INGOT_TESTS_REDIS_SERVER_H
#define INGOT_TESTS_REDIS_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

typedef struct redis_server {
    char folder[64], url[128];
    pid_t process; /* 0: none */
} redis_server;

/* Starts one with every write synced before it is acknowledged, or with `setting` and
 * its `value` beside that (NULL: none).  False after a skip: there is no redis-server
 * here.  It dies with the test. */
bool redis_server_start(redis_server *server, const char *setting, const char *value);
/* After a kill: the same folder again. */
void redis_server_restart(redis_server *server);
void redis_server_kill(redis_server *server);
/* Kills it and removes its folder. */
void redis_server_end(redis_server *server);

#endif
