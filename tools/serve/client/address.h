/* A server as its clients name it, and whom they trust.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_SERVE_CLIENT_ADDRESS_H
#define IG_TOOLS_SERVE_CLIENT_ADDRESS_H

#include "tools/serve/call/wire.h"
#include "tools/serve/model/config.h"

/* The content of a client's command line; NULL: nothing. */
typedef struct client_target {
    const char *address; /* HOST:PORT, after "https://" or "grpcs://" with TLS */
    const char *ca;      /* PEM file of whom to trust, with TLS in any case */
    const char *token;
} client_target;

/* Owner: whoever calls address_free. */
typedef struct server_address {
    char host[256], port[16];
    char name[280];                               /* HOST:PORT */
    gnutls_certificate_credentials_t credentials; /* NULL: no TLS */
} server_address;

/* False: the words name the error. */
bool address_read(const client_target *from, server_address *out, char words[WORDS]);
void address_free(server_address *of);
/* A socket that is connected, and may block; -1: the words say why not. */
int address_connect(const server_address *to, char words[WORDS]);
/* Connects, and waits until the server has shown who it is. */
bool address_open(const server_address *to, const char *protocol, wire *out,
                  char words[WORDS]);
/* The first token of a file, which is free()d; NULL: the words say why not. */
char *token_read(const char *path, char words[WORDS]);

#endif
