/* Certificates and tokens.  SPDX-License-Identifier: Apache-2.0
 *
 * Each request and handshake takes the newest, without a lock.  Older ones stay until
 * the server ends, for connections may use them as long as they like: a few KB for each
 * time that the files were replaced.
 */
#include "tools/serve/call/keys.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FILES = 3, MAX_TOKEN_FILE = 1 << 20, MAX_TOKEN = 120 };

/* A file that was replaced differs in one of these. */
typedef struct file_mark {
    struct timespec changed;
    ino_t inode;
    off_t size;
} file_mark;

struct key_ring {
    key_files files;
    gnutls_certificate_credentials_t credentials;
    _Atomic(keys *) newest;
    file_mark marks[FILES];
};

static _Thread_local const key_ring *in_use;

static bool refuse_file(char words[KEY_WORDS], const char *path, const char *why) {
    snprintf(words, KEY_WORDS, "%.300s: %.200s", path, why);
    return false;
}

/* ---- files ---- */

static void mark_files(const key_files *files, file_mark out[FILES]) {
    const char *const paths[FILES] = { files->certificate, files->key, files->tokens };
    for (int i = 0; i < FILES; i++) {
        struct stat facts;
        out[i] = (file_mark){ 0 };
        if (paths[i] && stat(paths[i], &facts) == 0) {
            out[i] = (file_mark){ facts.st_mtim, facts.st_ino, facts.st_size };
        }
    }
}

/* A certificate that is not the key's would break each handshake, and does so while one
 * of two files is replaced. */
static bool is_pair(const keys *of) {
    uint8_t ids[2][64];
    size_t sizes[2] = { sizeof ids[0], sizeof ids[1] };
    gnutls_pubkey_t shown;
    if (gnutls_pubkey_init(&shown) != 0) {
        return false;
    }
    bool is_same = gnutls_pubkey_import_privkey(shown, of->secret, 0, 0) == 0 &&
                   gnutls_pubkey_get_key_id(shown, GNUTLS_KEYID_USE_SHA256, ids[0],
                                            &sizes[0]) == 0 &&
                   gnutls_pubkey_get_key_id(of->chain[0].pubkey,
                                            GNUTLS_KEYID_USE_SHA256, ids[1],
                                            &sizes[1]) == 0 &&
                   sizes[0] == sizes[1] && memcmp(ids[0], ids[1], sizes[0]) == 0;
    gnutls_pubkey_deinit(shown);
    return is_same;
}

static bool read_certificate(keys *to, const char *path, char words[KEY_WORDS]) {
    unsigned count = MAX_CHAIN;
    int failed = gnutls_pcert_list_import_x509_file(to->chain, &count, path,
                                                    GNUTLS_X509_FMT_PEM, NULL, NULL, 0);
    if (failed < 0) {
        return refuse_file(words, path, gnutls_strerror(failed));
    }
    to->chain_length = count;
    return count > 0 || refuse_file(words, path, "no certificate is in it");
}

static bool read_key(keys *to, const char *path, char words[KEY_WORDS]) {
    gnutls_datum_t text = { 0 };
    int failed = gnutls_load_file(path, &text);
    failed = failed ? failed : gnutls_privkey_init(&to->secret);
    failed = failed ? failed
                    : gnutls_privkey_import_x509_raw(to->secret, &text,
                                                     GNUTLS_X509_FMT_PEM, NULL, 0);
    if (text.data) {
        gnutls_memset(text.data, 0, text.size);
        gnutls_free(text.data);
    }
    if (failed) {
        return refuse_file(words, path, gnutls_strerror(failed));
    }
    return is_pair(to) || refuse_file(words, path, "it is not the certificate's key");
}

/* Cuts the text into lines, without white space around them. */
static void cut_lines(keys *to) {
    char *out = to->text;
    for (char *line = to->text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next) {
            *next++ = '\0';
        }
        line += strspn(line, " \t\r");
        size_t size = strcspn(line, " \t\r");
        if (size && *line != '#') {
            memmove(out, line, size);
            out[size] = '\0';
            out += size + 1;
        }
    }
    to->length = (size_t)(out - to->text);
}

/* The fronts read no longer ones. */
static bool is_short(const keys *of) {
    size_t at = 0;
    while (at < of->length && strlen(of->text + at) <= MAX_TOKEN) {
        at += strlen(of->text + at) + 1;
    }
    return at >= of->length;
}

static bool read_tokens(keys *to, const char *path, char words[KEY_WORDS]) {
    FILE *from = fopen(path, "rb");
    to->text = calloc(1, MAX_TOKEN_FILE + 1);
    if (!from || !to->text) {
        refuse_file(words, path, strerror(errno));
        if (from) {
            fclose(from);
        }
        return false;
    }
    size_t size = fread(to->text, 1, MAX_TOKEN_FILE, from);
    bool is_whole = feof(from) && !ferror(from) && !memchr(to->text, 0, size);
    fclose(from);
    if (!is_whole) {
        return refuse_file(words, path, "it is not a text of up to 1 MB");
    }
    cut_lines(to);
    to->has_tokens = true;
    if (!is_short(to)) {
        return refuse_file(words, path, "a token in it has more than 120 bytes");
    }
    return to->length > 0 || refuse_file(words, path, "no token is in it");
}

/* ---- the ring ---- */

static void free_keys(keys *of) {
    for (unsigned i = 0; i < of->chain_length; i++) {
        gnutls_pcert_deinit(&of->chain[i]);
    }
    if (of->secret) {
        gnutls_privkey_deinit(of->secret);
    }
    if (of->text) {
        gnutls_memset(of->text, 0, MAX_TOKEN_FILE); /* also what cut_lines moved */
        free(of->text);
    }
    free(of);
}

static keys *read_keys(const key_files *files, char words[KEY_WORDS]) {
    keys *made = calloc(1, sizeof *made);
    if (!made) {
        snprintf(words, KEY_WORDS, "memory ran out");
        return NULL;
    }
    bool is_good = (!files->certificate ||
                    (read_certificate(made, files->certificate, words) &&
                     read_key(made, files->key, words))) &&
                   (!files->tokens || read_tokens(made, files->tokens, words));
    if (!is_good) {
        free_keys(made);
        made = NULL;
    }
    return made;
}

key_ring *keys_open(const key_files *files, char words[KEY_WORDS]) {
    key_ring *made = calloc(1, sizeof *made);
    if (!made || gnutls_certificate_allocate_credentials(&made->credentials) != 0) {
        snprintf(words, KEY_WORDS, "memory ran out");
        free(made);
        return NULL;
    }
    gnutls_certificate_set_retrieve_function2(made->credentials, keys_show);
    made->files = *files;
    if (!keys_reload(made, words)) {
        keys_close(made);
        made = NULL;
    }
    return made;
}

void keys_close(key_ring *of) {
    if (of) {
        for (keys *next, *each = atomic_load(&of->newest); each; each = next) {
            next = each->before;
            free_keys(each);
        }
        gnutls_certificate_free_credentials(of->credentials);
        free(of);
    }
}

bool keys_are_stale(const key_ring *of) {
    file_mark now[FILES];
    mark_files(&of->files, now);
    for (int i = 0; i < FILES; i++) {
        const file_mark *is = &now[i], *was = &of->marks[i];
        if (is->inode != was->inode || is->size != was->size ||
            is->changed.tv_sec != was->changed.tv_sec ||
            is->changed.tv_nsec != was->changed.tv_nsec) {
            return true;
        }
    }
    return false;
}

bool keys_reload(key_ring *of, char words[KEY_WORDS]) {
    mark_files(&of->files, of->marks); /* before: a change meanwhile is seen later */
    keys *made = read_keys(&of->files, words);
    if (!made) {
        return false;
    }
    made->before = atomic_load(&of->newest);
    atomic_store(&of->newest, made);
    return true;
}

const keys *keys_now(const key_ring *of) {
    return atomic_load_explicit(&of->newest, memory_order_acquire);
}

bool keys_admit(const keys *of, const char *token) {
    size_t size = strlen(token);
    bool is_known = !of->has_tokens;
    for (size_t at = 0, next; at < of->length; at = next) {
        size_t length = strlen(of->text + at);
        next = at + length + 1;
        is_known |= length == size && gnutls_memcmp(of->text + at, token, size) == 0;
    }
    return is_known;
}

/* ---- handshakes ---- */

void keys_use(const key_ring *which) {
    in_use = which;
}

int keys_show(gnutls_session_t session, const gnutls_datum_t *authorities, int count,
              const gnutls_pk_algorithm_t *kinds, int kind_count,
              gnutls_pcert_st **out_chain, unsigned *out_length,
              gnutls_privkey_t *out_secret) {
    (void)session;
    (void)authorities;
    (void)count;
    (void)kinds;
    (void)kind_count;
    const keys *now = in_use ? keys_now(in_use) : NULL;
    if (!now || now->chain_length == 0) {
        return -1;
    }
    *out_chain = (gnutls_pcert_st *)now->chain;
    *out_length = now->chain_length;
    *out_secret = now->secret;
    return 0;
}

gnutls_certificate_credentials_t keys_credentials(const key_ring *of) {
    return of->files.certificate ? of->credentials : NULL;
}
