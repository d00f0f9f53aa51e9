/* The server's certificates and tokens, from files that may be replaced meanwhile.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_SERVE_CALL_KEYS_H
#define IG_TOOLS_SERVE_CALL_KEYS_H

#include <stdbool.h>
#include <stddef.h>

#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>

enum { KEY_WORDS = 512, MAX_CHAIN = 16 };

/* Paths; NULL: none.  A certificate (a chain, the server's own first) has its key. */
typedef struct key_files {
    const char *certificate, *key;
    const char *tokens; /* one a line; empty lines and those with # are none */
} key_files;

/* The content of the files at one time.  It never changes. */
typedef struct keys {
    struct keys *before; /* connections may still use it */
    gnutls_pcert_st chain[MAX_CHAIN];
    unsigned chain_length; /* 0: no TLS */
    gnutls_privkey_t secret;
    char *text;    /* of the token file, with a zero byte after each line */
    size_t length; /* of the text */
    bool has_tokens;
} keys;

typedef struct key_ring key_ring;

/* Reads the files.  NULL: the words say which is broken, and how. */
key_ring *keys_open(const key_files *files, char words[KEY_WORDS]);
/* When no connection is left. */
void keys_close(key_ring *of);
/* Whether a file was replaced since it was read. */
bool keys_are_stale(const key_ring *of);
/* Reads the files again, on one thread at a time.  False: the old ones stay, and the
 * words say why. */
bool keys_reload(key_ring *of, char words[KEY_WORDS]);
/* The newest, until the ring is closed; from any thread. */
const keys *keys_now(const key_ring *of);

/* Whether a caller with this token may come in: all may where no tokens are asked for.
 * The time that it takes says nothing of tokens but their lengths. */
bool keys_admit(const keys *of, const char *token);

/* Handshakes of this thread show the newest of these from now on. */
void keys_use(const key_ring *which);
/* The certificate that a handshake shows, for GnuTLS: that of keys_use. */
int keys_show(gnutls_session_t session, const gnutls_datum_t *authorities, int count,
              const gnutls_pk_algorithm_t *kinds, int kind_count,
              gnutls_pcert_st **out_chain, unsigned *out_length,
              gnutls_privkey_t *out_secret);
/* Sessions of TLS use these; NULL: no certificate is there. */
gnutls_certificate_credentials_t keys_credentials(const key_ring *of);

#endif
