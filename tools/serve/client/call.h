/* Calls of gRPC, one after the other, for programs that ask a server.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_SERVE_CLIENT_CALL_H
#define IG_TOOLS_SERVE_CLIENT_CALL_H

#include "tools/serve/call/bytes.h"
#include "tools/serve/client/address.h"

typedef struct client client;

/* Connects; the token goes with each call.  NULL: the words say why not. */
client *client_open(const client_target *target, char words[WORDS]);
void client_close(client *of);
/* Calls "/package.Service/Name" with messages that are framed already, and waits.  The
 * status of gRPC; 0: `reply` holds the one message of the answer, without its frame.
 * Else the words say why. */
int client_call(client *of, const char *path, const bytes *messages, bytes *reply,
                char words[WORDS]);

#endif
