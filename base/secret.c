/* Passwords and tokens in URLs, kept out of messages.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/secret.h"

#include "base/status.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

/* Where a URL in a text ends at the latest. */
static const char url_ends[] = " \t\r\n\"'<>`|\\^{}";

/* Parts of names of parameters whose values are secret. */
static const char *const secret_names[] = { "token",      "secret", "passw",
                                            "pwd",        "key",    "sig",
                                            "credential", "auth",   "code" };

static char to_lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_like(const char *text, const char *word) {
    size_t i = 0;
    while (word[i] && to_lower(text[i]) == word[i]) {
        i++;
    }
    return word[i] == '\0';
}

/* Puts "***" in place of text[begin … end], or fewer stars for less; the new end. */
static size_t put_stars(char *text, size_t begin, size_t end) {
    size_t stars = end - begin < 3 ? end - begin : 3;
    assert(begin <= end && "a part begins before it ends");
    memset(text + begin, '*', stars);
    memmove(text + begin + stars, text + end, strlen(text + end) + 1);
    return begin + stars;
}

static size_t last_at_sign(const char *text, size_t begin, size_t end) {
    while (end > begin && text[end - 1] != '@') {
        end--;
    }
    return end > begin ? end - 1 : begin;
}

/* "host:8080" and "[::1]:80" have ports; what else follows a colon is a password whose
 * host is missing, or was cut off. */
static bool is_host(const char *text, size_t begin, size_t end) {
    size_t at = end;
    while (at > begin && text[at - 1] >= '0' && text[at - 1] <= '9') {
        at--;
    }
    bool has_port = at > begin && text[at - 1] == ':';
    bool has_colon = memchr(text + begin, ':', (has_port ? at - 1 : end) - begin) !=
                     NULL;
    return !has_colon || text[begin] == '[';
}

/* Blanks the userinfo of the URL whose authority begins at `begin`; the URL's end. */
static size_t hide_user(char *text, size_t begin) {
    size_t end = begin + strcspn(text + begin, url_ends);
    size_t authority = begin + strcspn(text + begin, "/?#");
    authority = authority < end ? authority : end;
    size_t at = last_at_sign(text, begin, authority);
    if (at == begin && !is_host(text, begin, authority)) {
        at = last_at_sign(text, begin, end); /* a '/' in the password */
        at = at == begin ? authority : at;
    }
    return at > begin ? end - (at - put_stars(text, begin, at)) : end;
}

static bool is_secret_name(const char *name, size_t size) {
    for (size_t i = 0; i < size; i++) {
        for (size_t k = 0; k < IG_COUNT_OF(secret_names); k++) {
            if (strlen(secret_names[k]) <= size - i &&
                is_like(name + i, secret_names[k])) {
                return true;
            }
        }
    }
    return false;
}

/* Blanks values of parameters between `at` and `end`; the URL's new end. */
static size_t hide_parameters(char *text, size_t at, size_t end) {
    while (at < end && text[at] != '?' && text[at] != '#') {
        at++;
    }
    while (at < end) {
        size_t name = ++at;
        at += strcspn(text + at, "=&;#?");
        if (at >= end || text[at] != '=') {
            continue;
        }
        size_t value = at + 1, stop = value + strcspn(text + value, "&;#");
        stop = stop < end ? stop : end;
        at = stop;
        if (is_secret_name(text + name, value - 1 - name) && stop > value) {
            at = put_stars(text, value, stop);
            end -= stop - at;
        }
    }
    return end;
}

void ig_hide_secrets(char *text) {
    static const char mark[] = "://";
    for (char *url = strstr(text, mark); url; url = strstr(url, mark)) {
        size_t begin = (size_t)(url - text) + sizeof mark - 1;
        size_t end = hide_user(text, begin);
        url = text + hide_parameters(text, begin, end);
    }
}
