/* URLs of Redis servers.  SPDX-License-Identifier: Apache-2.0 */
#include "runtime/store/redis/url.h"

#include <stdio.h>
#include <string.h>

typedef struct span {
    const char *text;
    size_t size;
} span;

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* ---- texts and numbers ---- */

static int hex_of(char c) {
    if (is_digit(c)) {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The text with each %HH as its byte; false: too long, a bad %HH, or a zero byte. */
static bool decode_text(span from, char to[IG_REDIS_TEXT_BYTES]) {
    size_t size = 0;
    for (size_t i = 0; i < from.size; i++) {
        int byte = (unsigned char)from.text[i];
        if (byte == '%') {
            bool is_whole = from.size - i > 2;
            int high = is_whole ? hex_of(from.text[i + 1]) : -1;
            int low = is_whole ? hex_of(from.text[i + 2]) : -1;
            if (high < 0 || low < 0) {
                return false;
            }
            byte = high * 16 + low;
            i += 2;
        }
        if (byte == 0 || size + 1 >= IG_REDIS_TEXT_BYTES) {
            return false;
        }
        to[size++] = (char)byte;
    }
    to[size] = 0;
    return true;
}

/* Digits without a leading zero, from `min` to `max`. */
static bool read_number(span from, int64_t min, int64_t max, int64_t *out_number) {
    int64_t number = 0;
    if (from.size == 0 || from.size > 10 || (from.size > 1 && from.text[0] == '0')) {
        return false;
    }
    for (size_t i = 0; i < from.size; i++) {
        if (!is_digit(from.text[i])) {
            return false;
        }
        number = number * 10 + (from.text[i] - '0');
    }
    *out_number = number;
    return number >= min && number <= max;
}

/* A number, perhaps with decimals, and its unit. */
static bool read_period(span from, int64_t *out_ns) {
    static const struct {
        const char *name;
        int64_t ns;
    } units[] = { { "ms", 1000000 },
                  { "s", 1000000000 },
                  { "m", INT64_C(60000000000) } };
    size_t whole = 0;
    int64_t number = 0;
    while (whole < from.size && is_digit(from.text[whole])) {
        whole++;
    }
    if (!read_number((span){ from.text, whole }, 0, 1000000, &number)) {
        return false;
    }
    size_t at = whole;
    double value = (double)number, digit = 1;
    if (at < from.size && from.text[at] == '.') {
        size_t begin = ++at;
        for (; at < from.size && is_digit(from.text[at]); at++) {
            digit /= 10;
            value += digit * (from.text[at] - '0');
        }
        if (at == begin) {
            return false;
        }
    }
    for (size_t i = 0; i < IG_COUNT_OF(units); i++) {
        if (strlen(units[i].name) == from.size - at &&
            memcmp(units[i].name, from.text + at, from.size - at) == 0) {
            *out_ns = (int64_t)(value * (double)units[i].ns);
            return *out_ns > 0;
        }
    }
    return false;
}

/* ---- options ---- */

typedef bool read_option(span value, ig_redis_url *url);

static bool read_lanes(span value, ig_redis_url *url) {
    return read_number(value, 1, IG_REDIS_LANES, &url->lanes);
}

static bool read_database(span value, ig_redis_url *url) {
    return read_number(value, 0, INT32_MAX, &url->database);
}

/* An identifier.  Two prefixes must never make one key of two tables, so "_table_"
 * occurs only after it. */
static bool read_prefix(span value, ig_redis_url *url) {
    char whole[IG_REDIS_TEXT_BYTES + 8];
    if (value.size == 0 || value.size >= sizeof url->prefix || is_digit(*value.text)) {
        return false;
    }
    for (size_t i = 0; i < value.size; i++) {
        char c = value.text[i];
        if (!is_letter(c) && !is_digit(c) && c != '_') {
            return false;
        }
    }
    memcpy(url->prefix, value.text, value.size);
    url->prefix[value.size] = 0;
    (void)snprintf(whole, sizeof whole, "%s_table_", url->prefix);
    return strstr(whole, "_table_") == whole + value.size;
}

static bool read_timeout(span value, ig_redis_url *url) {
    return read_period(value, &url->timeout_ns);
}

static bool read_heartbeat(span value, ig_redis_url *url) {
    return read_period(value, &url->heartbeat_ns);
}

static bool read_retries(span value, ig_redis_url *url) {
    return read_number(value, 0, 1000, &url->retries);
}

static bool read_chunk(span value, ig_redis_url *url) {
    return read_number(value, 1, IG_REDIS_CHUNK, &url->chunk);
}

static const struct {
    const char *name, *expected;
    read_option *read;
} options[] = {
    { "num_threads", "1 to 64 connections", read_lanes },
    { "db", "a number", read_database },
    { "prefix", "letters, digits and _, without _table_", read_prefix },
    { "timeout", "a number with ms, s or m", read_timeout },
    { "heartbeat", "a number with ms, s or m", read_heartbeat },
    { "retry_limit", "0 to 1000", read_retries },
    { "chunk_size", "1 to 10000 commands", read_chunk },
};

static ig_status read_pair(const ig_store_call *call, span pair, ig_redis_url *url) {
    const char *equals = memchr(pair.text, '=', pair.size);
    size_t name = equals ? (size_t)(equals - pair.text) : pair.size;
    for (size_t i = 0; i < IG_COUNT_OF(options) && equals; i++) {
        if (strlen(options[i].name) != name ||
            memcmp(options[i].name, pair.text, name) != 0) {
            continue;
        }
        if (options[i].read((span){ equals + 1, pair.size - name - 1 }, url)) {
            return IG_OK;
        }
        return ig_store_fail(call, IG_INVALID,
                             "redis://: option %s breaks its grammar: expected %s",
                             options[i].name, options[i].expected);
    }
    return ig_store_fail(call, IG_INVALID,
                         "redis://: unknown option: expected num_threads, db, prefix, "
                         "timeout, heartbeat, retry_limit or chunk_size, each with =");
}

static ig_status read_options(const ig_store_call *call, const char *at,
                              ig_redis_url *url) {
    while (*at) {
        size_t size = strcspn(at, "&");
        IG_TRY(read_pair(call, (span){ at, size }, url));
        at += size;
        size_t marks = strspn(at, "&");
        if (marks > 2 || (marks > 0 && !at[marks])) {
            return ig_store_fail(call, IG_INVALID,
                                 "redis://: options are joined by & or &&");
        }
        at += marks;
    }
    return IG_OK;
}

/* ---- whom to ask ---- */

static bool read_user(span info, ig_redis_url *url) {
    const char *colon = memchr(info.text, ':', info.size);
    if (!colon) {
        return decode_text(info, url->password) && url->password[0];
    }
    size_t user = (size_t)(colon - info.text);
    return decode_text((span){ info.text, user }, url->user) &&
           decode_text((span){ colon + 1, info.size - user - 1 }, url->password) &&
           url->password[0];
}

static bool is_host(const char *host, bool is_address) {
    for (; *host; host++) {
        bool is_plain = is_letter(*host) || is_digit(*host) || *host == '.';
        if (!is_plain && !(is_address ? *host == ':' : strchr("-_", *host) != NULL)) {
            return false;
        }
    }
    return true;
}

static bool read_host(span from, ig_redis_url *url) {
    bool is_address = from.size > 0 && from.text[0] == '[';
    const char *begin = from.text + is_address;
    size_t left = from.size - is_address;
    const char *end = memchr(begin, is_address ? ']' : ':', left);
    if (is_address && !end) {
        return false;
    }
    size_t size = end ? (size_t)(end - begin) : left;
    if (size == 0 || !decode_text((span){ begin, size }, url->host) ||
        !is_host(url->host, is_address)) {
        return false;
    }
    const char *rest = begin + size + is_address;
    size_t rest_size = left - size - is_address;
    return rest_size == 0 ||
           (*rest == ':' &&
            read_number((span){ rest + 1, rest_size - 1 }, 1, 65535, &url->port));
}

static ig_status read_server(const ig_store_call *call, span authority, span path,
                             ig_redis_url *url) {
    size_t at = authority.size;
    while (at > 0 && authority.text[at - 1] != '@') {
        at--;
    }
    if (at > 0 && !read_user((span){ authority.text, at - 1 }, url)) {
        return ig_store_fail(
            call, IG_INVALID,
            "redis://: expected user:password before @ (other bytes are written as %%HH)");
    }
    span host = { authority.text + at, authority.size - at };
    if (host.size == 0 && path.size > 1) {
        if (!decode_text(path, url->path) || strlen(url->path) >= IG_REDIS_PATH_BYTES) {
            return ig_store_fail(call, IG_INVALID,
                                 "redis://: the socket's path is too long, or has a "
                                 "bad %%HH");
        }
        (void)snprintf(url->name, sizeof url->name, "redis at %s", url->path);
        return IG_OK;
    }
    if (!read_host(host, url)) {
        return ig_store_fail(call, IG_INVALID,
                             "redis:// names no server: expected redis://HOST[:PORT]");
    }
    (void)snprintf(url->name, sizeof url->name,
                   strchr(url->host, ':') ? "redis at [%s]:%d" : "redis at %s:%d",
                   url->host, (int)url->port);
    if (path.size > 1 && !read_database((span){ path.text + 1, path.size - 1 }, url)) {
        return ig_store_fail(call, IG_INVALID,
                             "%s: expected the number of a database after the /",
                             url->name);
    }
    return IG_OK;
}

ig_status ig_redis_url_read(const ig_store_call *call, const char *config,
                            ig_redis_url *out_url) {
    *out_url = (ig_redis_url){ .port = 6379,
                               .lanes = 1,
                               .chunk = 100,
                               .retries = 3,
                               .timeout_ns = INT64_C(10000000000),
                               .heartbeat_ns = INT64_C(100000000000) };
    size_t authority = strcspn(config, "/?");
    size_t path = strcspn(config + authority, "?");
    IG_TRY(read_server(call, (span){ config, authority },
                       (span){ config + authority, path }, out_url));
    const char *rest = config + authority + path;
    return *rest ? read_options(call, rest + 1, out_url) : IG_OK;
}
