/* Messages of the protocol, read into the memory of a call.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_SERVE_GRPC_MESSAGE_H
#define IG_TOOLS_SERVE_GRPC_MESSAGE_H

#include "tools/serve/call/pool.h"

#include <tools/serve/grpc/oip.pb-c.h>

/* A message of the type, all of it in the pool; NULL: it is broken, or the pool is
 * full.  No message of ours nests deeper than its type says, so reading needs little
 * stack. */
void *message_read(pool *memory, const ProtobufCMessageDescriptor *type,
                   const uint8_t *data, size_t size);
/* Puts a message after the five bytes that gRPC puts before it.  False: memory ran
 * out. */
bool message_write(bytes *to, const ProtobufCMessage *from);

#endif
