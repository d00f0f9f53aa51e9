/* Texts in one case, without stop words.  SPDX-License-Identifier: Apache-2.0
 *
 * Characters change one by one, by the C library's tables; bytes that are not UTF-8
 * stay.
 */
#include "runtime/text/text.h"

#include <locale.h>
#include <string.h>
#include <wctype.h>

enum { KEEP, LOWER, UPPER, INVALID = 0x110000 };

/* The character at `at`, and how many bytes it takes. */
static wint_t decode_character(const unsigned char *at, size_t *out_size) {
    static const wint_t min[] = { 0, 0, 0x80, 0x800, 0x10000 };
    size_t size = at[0] < 0x80   ? 1
                  : at[0] < 0xc0 ? 0
                  : at[0] < 0xe0 ? 2
                  : at[0] < 0xf0 ? 3
                  : at[0] < 0xf8 ? 4
                                 : 0;
    wint_t c = size == 1 ? at[0] : size ? at[0] & (0x7fu >> size) : INVALID;
    *out_size = 1;
    for (size_t i = 1; i < size; i++) {
        if ((at[i] & 0xc0) != 0x80) { /* the 0 at the end too */
            return INVALID;
        }
        c = c << 6 | (at[i] & 0x3fu);
    }
    bool is_good = size && c >= min[size] && c < INVALID;
    *out_size = is_good ? size : 1;
    return is_good ? c : INVALID;
}

static size_t encode_character(wint_t c, char *to) {
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    size_t size = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = size - 1; i > 0; i--, c >>= 6) {
        to[i] = (char)(0x80 | (c & 0x3f));
    }
    to[0] = (char)((0xf00u >> size) | c);
    return size;
}

/* NULL: no memory.  A character may take a byte more than before, so there is room for
 * four bytes each. */
static const char *change_letters(const ig_host_call *call, const char *text,
                                  int64_t letters, locale_t rules) {
    if (letters == KEEP) {
        return text;
    }
    char *to = ig_text_take(call, strlen(text) * 4), *start = to;
    while (to && *text) {
        size_t size;
        wint_t c = decode_character((const unsigned char *)text, &size);
        if (c == INVALID) {
            *to++ = *text;
        } else {
            to += encode_character(
                letters == LOWER ? towlower_l(c, rules) : towupper_l(c, rules), to);
        }
        text += size;
    }
    if (to) {
        *to = 0;
    }
    return start;
}

typedef struct cleaner {
    const ig_host_call *call;
    locale_t rules;
    bool folds; /* case does not count */
    bool has_failed;
} cleaner;

static bool is_stopword(cleaner *c, const char *text) {
    int64_t letters = c->folds ? LOWER : KEEP;
    const char *plain = change_letters(c->call, text, letters, c->rules);
    for (const char *word = NULL; plain && (word = ig_text_next(c->call, 2, word));) {
        const char *other = change_letters(c->call, word, letters, c->rules);
        c->has_failed |= !other;
        if (other && strcmp(other, plain) == 0) {
            return true;
        }
    }
    c->has_failed |= !plain;
    return false;
}

static bool open_rules(const ig_host_call *call, locale_t *out_rules) {
    const char *name = ig_text_next(call, 3, NULL);
    *out_rules = newlocale(LC_CTYPE_MASK, name ? name : "C.UTF-8", (locale_t)0);
    if (!*out_rules || !name || !*name) {
        locale_t given = *out_rules;
        *out_rules = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
        if (given) {
            freelocale(given);
        }
    }
    return *out_rules || ig_text_refuse(call, "the system has no locale for UTF-8");
}

static int64_t count_kept(cleaner *c) {
    int64_t kept = 0;
    for (int64_t i = 0; i < c->call->params[0] && !c->has_failed; i++) {
        kept += !is_stopword(c, ig_text_at(c->call, 1, i));
    }
    return kept;
}

bool ig_host_text_clean_count(const ig_host_call *call) {
    int64_t *count = call->buffers[0];
    cleaner c = { .call = call, .folds = call->params[1] != 0 };
    if (!ig_text_fits(call, 1, call->params[0], 8) || call->bytes[0] < 8 ||
        !open_rules(call, &c.rules)) {
        return false;
    }
    *count = count_kept(&c);
    *count += *count == 0; /* one empty text */
    freelocale(c.rules);
    return !c.has_failed;
}

static void give_kept(cleaner *c) {
    const ig_host_call *call = c->call;
    const char **y = call->buffers[0];
    int64_t kept = 0;
    for (int64_t i = 0; i < call->params[1]; i++) {
        y[i] = NULL;
    }
    for (int64_t i = 0; i < call->params[0] && kept < call->params[1]; i++) {
        const char *text = ig_text_at(call, 1, i);
        if (!is_stopword(c, text)) {
            y[kept] = change_letters(call, text, call->params[2], c->rules);
            c->has_failed |= !y[kept++];
        }
    }
}

bool ig_host_text_clean(const ig_host_call *call) {
    cleaner c = { .call = call, .folds = call->params[3] != 0 };
    if (!ig_text_fits(call, 1, call->params[0], 8) ||
        !ig_text_fits(call, 0, call->params[1], 8) || !open_rules(call, &c.rules)) {
        return false;
    }
    give_kept(&c);
    freelocale(c.rules);
    return !c.has_failed;
}
