/* A connection of HTTP/2.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_SERVE_GRPC_PEER_H
#define IG_TOOLS_SERVE_GRPC_PEER_H

#include "tools/serve/grpc/stream.h"

struct nghttp2_session_callbacks;

/* The callbacks of a door's sessions; NULL: memory ran out. */
struct nghttp2_session_callbacks *peer_callbacks(void);
/* Takes the socket over; NULL: memory ran out, and the socket is the caller's. */
peer *peer_open(lane *in, int socket, struct nghttp2_session_callbacks *callbacks);
/* Ends its streams and closes the socket.  The peer stays while work of it is under
 * way. */
void peer_close(peer *of);
/* Reads what came.  False: the connection has ended. */
bool peer_read(peer *of);
/* Writes as much as may be written; false: the connection has ended.  wants_out: the
 * socket takes no more now. */
bool peer_write(peer *of);
/* Tells the client that no new streams are taken. */
void peer_drain(peer *of);
/* Of the door: the peer is to be pushed at the end of the turn. */
void grpc_door_note(peer *due);
/* Of the door: a later turn goes on with a stream that is unpacked, once or not at
 * all. */
void grpc_door_unpack_later(stream *of);
void grpc_door_forget(stream *of);

#endif
