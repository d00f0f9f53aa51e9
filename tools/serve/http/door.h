/* HTTP/1.1 by libmicrohttpd, driven by the loop.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_SERVE_HTTP_DOOR_H
#define IG_TOOLS_SERVE_HTTP_DOOR_H

#include "tools/serve/batch/lane.h"

typedef struct http_door http_door;

/* Listens on `listener`, which it owns from then on.  NULL: memory or descriptors ran
 * out. */
http_door *http_door_open(lane *of, int listener);
/* No request waits any more. */
void http_door_close(http_door *of);
/* The descriptor that the loop waits for, readable when http_door_turn has something to
 * do. */
int http_door_event(const http_door *of);
/* When http_door_turn is due at the latest, in ms from now; -1: no such time. */
int http_door_wait(const http_door *of);
/* Reads and writes as much as can be. */
void http_door_turn(http_door *of);
/* Goes on with requests that were answered since; as often as it likes. */
void http_door_resume(http_door *of);
/* Takes no more connections; how many there are. */
size_t http_door_drain(http_door *of);

#endif
