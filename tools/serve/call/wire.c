/* Connections with or without TLS.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/call/wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

const char wire_priorities[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2";

static bool is_address(const char *host) {
    uint8_t bytes[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, host, bytes) == 1 ||
           inet_pton(AF_INET6, host, bytes) == 1;
}

/* A client says whom it wants, and wants to see that name in the certificate. */
static int name_host(gnutls_session_t tls, const char *host) {
    int failed = is_address(host)
                     ? 0
                     : gnutls_server_name_set(tls, GNUTLS_NAME_DNS, host, strlen(host));
    gnutls_session_set_verify_cert(tls, host, 0);
    return failed;
}

static int prepare_tls(gnutls_session_t tls, int socket, const wire_kind *how) {
    gnutls_datum_t protocol = { (unsigned char *)how->protocol,
                                (unsigned)strlen(how->protocol) };
    int failed = gnutls_priority_set_direct(tls, wire_priorities, NULL);
    failed = failed ? failed
                    : gnutls_credentials_set(tls, GNUTLS_CRD_CERTIFICATE,
                                             how->credentials);
    failed = failed ? failed : gnutls_alpn_set_protocols(tls, &protocol, 1, 0);
    failed = failed || !how->host ? failed : name_host(tls, how->host);
    gnutls_transport_set_int(tls, socket);
    return failed;
}

bool wire_open(wire *out, int socket, const wire_kind *how) {
    *out = (wire){ .socket = socket, .is_open = how->credentials == NULL };
    if (!how->credentials) {
        return true;
    }
    unsigned end = how->host ? GNUTLS_CLIENT : GNUTLS_SERVER;
    if (gnutls_init(&out->tls, end | GNUTLS_NO_SIGNAL) != 0) {
        out->tls = NULL;
        return false;
    }
    gnutls_handshake_set_timeout(out->tls, 0); /* the fronts close idle peers */
    if (prepare_tls(out->tls, socket, how) != 0) {
        gnutls_deinit(out->tls);
        out->tls = NULL;
        return false;
    }
    return true;
}

void wire_close(wire *of) {
    if (of->tls) {
        if (of->is_open) {
            gnutls_bye(of->tls, GNUTLS_SHUT_WR);
        }
        gnutls_deinit(of->tls);
        of->tls = NULL;
    }
    if (of->socket >= 0) {
        close(of->socket);
    }
    of->socket = -1;
}

/* Why a certificate was not good enough is said apart. */
static const char *words_of(gnutls_session_t tls, int failed) {
    unsigned why = failed == GNUTLS_E_CERTIFICATE_VERIFICATION_ERROR
                       ? gnutls_session_get_verify_cert_status(tls)
                       : 0;
    return why & GNUTLS_CERT_UNEXPECTED_OWNER ? "the certificate is another host's"
           : why & GNUTLS_CERT_EXPIRED        ? "the certificate has expired"
           : why ? "the certificate is not signed by a trusted authority (--ca)"
                 : gnutls_strerror(failed);
}

bool wire_shake(wire *of, const char **out_words) {
    int state = 0;
    while (!of->is_open && (state = gnutls_handshake(of->tls)) != 0) {
        of->wants_out = state == GNUTLS_E_AGAIN &&
                        gnutls_record_get_direction(of->tls) == 1;
        if (state == GNUTLS_E_AGAIN) {
            return true;
        }
        if (gnutls_error_is_fatal(state)) {
            *out_words = words_of(of->tls, state);
            return false;
        }
    }
    of->is_open = true;
    of->wants_out = false;
    return true;
}

/* A result of GnuTLS as recv and send would say it. */
static ssize_t as_system(ssize_t result) {
    if (result >= 0) {
        return result;
    }
    errno = !gnutls_error_is_fatal((int)result) && result != GNUTLS_E_REHANDSHAKE
                ? EAGAIN
                : EPROTO;
    return -1;
}

ssize_t wire_read(wire *of, void *to, size_t room) {
    if (!of->tls) {
        return recv(of->socket, to, room, 0);
    }
    if (!of->is_open) {
        errno = EAGAIN;
        return -1;
    }
    return as_system(gnutls_record_recv(of->tls, to, room));
}

ssize_t wire_write(wire *of, const void *from, size_t size) {
    if (!of->tls) {
        return send(of->socket, from, size, MSG_NOSIGNAL);
    }
    if (!of->is_open) {
        errno = EAGAIN;
        return -1;
    }
    return as_system(gnutls_record_send(of->tls, from, size));
}

bool wire_has_more(const wire *of) {
    return of->tls && gnutls_record_check_pending(of->tls) > 0;
}
