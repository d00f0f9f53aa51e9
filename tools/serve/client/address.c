/* Addresses.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/client/address.h"

#include "tools/serve/call/keys.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Steps over "https://", which says whether there is TLS. */
static const char *read_scheme(const char *text, bool *has_tls) {
    static const struct {
        const char *name;
        bool has_tls;
    } rows[] = { { "http://", false },
                 { "grpc://", false },
                 { "https://", true },
                 { "grpcs://", true } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t size = strlen(rows[i].name);
        if (strncmp(text, rows[i].name, size) == 0) {
            *has_tls |= rows[i].has_tls;
            return text + size;
        }
    }
    return text;
}

/* False: it is not HOST:PORT.  An address of version 6 is in brackets. */
static bool split_name(server_address *out) {
    const char *colon = strrchr(out->name, ':'), *host = out->name;
    size_t size = colon ? (size_t)(colon - host) : 0;
    if (size > 2 && *host == '[' && host[size - 1] == ']') {
        host++;
        size -= 2;
    }
    if (size == 0 || size >= sizeof out->host || strlen(colon) >= sizeof out->port) {
        return false;
    }
    memcpy(out->host, host, size);
    strcpy(out->port, colon + 1);
    return *out->port != '\0';
}

static bool read_trust(const char *ca, server_address *to, char words[WORDS]) {
    int count = gnutls_certificate_allocate_credentials(&to->credentials);
    if (count == 0) {
        count = ca ? gnutls_certificate_set_x509_trust_file(to->credentials, ca,
                                                            GNUTLS_X509_FMT_PEM)
                   : gnutls_certificate_set_x509_system_trust(to->credentials);
    }
    if (count <= 0) {
        snprintf(words, WORDS, "%.300s: %s", ca ? ca : "the system's authorities",
                 count < 0 ? gnutls_strerror(count) : "no certificate is in it");
    }
    return count > 0;
}

bool address_read(const client_target *from, server_address *out, char words[WORDS]) {
    bool has_tls = from->ca != NULL;
    *out = (server_address){ 0 };
    const char *name = read_scheme(from->address, &has_tls);
    bool fits = strlen(name) < sizeof out->name;
    if (fits) {
        strcpy(out->name, name);
    }
    if (!fits || !split_name(out)) {
        snprintf(words, WORDS, "'%.200s' is not HOST:PORT", from->address);
        return false;
    }
    return !has_tls || read_trust(from->ca, out, words);
}

void address_free(server_address *of) {
    if (of->credentials) {
        gnutls_certificate_free_credentials(of->credentials);
        of->credentials = NULL;
    }
}

int address_connect(const server_address *to, char words[WORDS]) {
    struct addrinfo wish = { .ai_socktype = SOCK_STREAM }, *found = NULL;
    int failed = getaddrinfo(to->host, to->port, &wish, &found), made = -1, yes = 1;
    snprintf(words, WORDS, "%s: %s", to->name, failed ? gai_strerror(failed) : "");
    for (const struct addrinfo *each = found; each && made < 0; each = each->ai_next) {
        made = socket(each->ai_family, each->ai_socktype | SOCK_CLOEXEC, 0);
        if (made >= 0 && connect(made, each->ai_addr, each->ai_addrlen) != 0) {
            snprintf(words, WORDS, "%s: cannot connect: %s", to->name, strerror(errno));
            close(made);
            made = -1;
        }
    }
    if (found) {
        freeaddrinfo(found);
    }
    if (made >= 0) {
        setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    }
    return made;
}

bool address_open(const server_address *to, const char *protocol, wire *out,
                  char words[WORDS]) {
    const wire_kind kind = { to->credentials, to->host, protocol };
    const char *why = "memory ran out";
    int made = address_connect(to, words);
    *out = (wire){ .socket = -1 };
    if (made < 0) {
        return false;
    }
    if (!wire_open(out, made, &kind)) {
        close(made);
    } else if (wire_shake(out, &why)) {
        return true;
    } else {
        wire_close(out);
    }
    snprintf(words, WORDS, "%s: TLS: %s", to->name, why);
    return false;
}

char *token_read(const char *path, char words[WORDS]) {
    char why[KEY_WORDS];
    key_ring *ring = keys_open(&(key_files){ .tokens = path }, why);
    char *token = ring ? strdup(keys_now(ring)->text) : NULL;
    if (!token) {
        snprintf(words, WORDS, "%s", ring ? "memory ran out" : why);
    }
    keys_close(ring);
    return token;
}
