/* The bytes of a connection, with or without TLS.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_SERVE_CALL_WIRE_H
#define IG_TOOLS_SERVE_CALL_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <gnutls/gnutls.h>

/* Owner: whoever calls wire_close, which closes the socket, too. */
typedef struct wire {
    int socket;           /* -1: closed */
    gnutls_session_t tls; /* NULL: bytes go as they are */
    bool is_open;         /* the handshake is done, or none is needed */
    bool wants_out;       /* the handshake waits until the socket takes more */
} wire;

/* TLS needs these: a server's certificates or a client's trust, the host whose
 * certificate a client wants to see, and the protocol that ALPN names. */
typedef struct wire_kind {
    gnutls_certificate_credentials_t credentials; /* NULL: no TLS */
    const char *host;                             /* NULL: the server's end */
    const char *protocol;
} wire_kind;

/* Versions 1.2 and 1.3 of TLS, as GnuTLS writes it. */
extern const char wire_priorities[];

/* Takes the socket over, which may block or not.  False: memory ran out, and the socket
 * is still the caller's. */
bool wire_open(wire *out, int socket, const wire_kind *how);
void wire_close(wire *of);
/* Goes on with the handshake until it is done or waits for the socket; false: it has
 * failed, for what `out_words` says. */
bool wire_shake(wire *of, const char **out_words);
/* As recv and send: -1 and EAGAIN where the handshake is not done or the socket would
 * block, EPROTO where TLS is broken.  A send that would block is repeated with the
 * same bytes. */
ssize_t wire_read(wire *of, void *to, size_t room);
ssize_t wire_write(wire *of, const void *from, size_t size);
/* Bytes have been received that nobody has read: the socket does not tell of them. */
bool wire_has_more(const wire *of);

#endif
