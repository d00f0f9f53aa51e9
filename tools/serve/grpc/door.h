/* gRPC over HTTP/2 by nghttp2, driven by the loop.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_SERVE_GRPC_DOOR_H
#define IG_TOOLS_SERVE_GRPC_DOOR_H

#include "tools/serve/batch/lane.h"

typedef struct grpc_door grpc_door;

/* Listens on `listener`, which it owns from then on, and puts its descriptors into the
 * epoll descriptor `poll`.  NULL: memory or descriptors ran out. */
grpc_door *grpc_door_open(lane *of, int listener, int poll);
/* No request waits any more. */
void grpc_door_close(grpc_door *of);
/* What epoll said of a descriptor of the door. */
void grpc_door_take(grpc_door *of, void *data, uint32_t events);
/* Unpacks a part of a message, and whether there are such. */
void grpc_door_unpack(grpc_door *of);
bool grpc_door_is_unpacking(const grpc_door *of);
/* Writes the answers made since. */
void grpc_door_push(grpc_door *of);
/* Closes peers that were idle for too long; now and then. */
void grpc_door_sweep(grpc_door *of);
/* Takes no more connections, and tells those that are there; how many there are. */
size_t grpc_door_drain(grpc_door *of);

#endif
