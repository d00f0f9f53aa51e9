/* Replies are checked before hiredis sees them.  SPDX-License-Identifier: Apache-2.0 */
#include "runtime/store/redis/guard.h"

#include <string.h>

static void end_header(ig_redis_guard *g) {
    g->kind = 0;
    g->line = 0;
    g->last = 0;
}

/* One reply, or one element of an array, is whole. */
static void end_element(ig_redis_guard *g) {
    end_header(g);
    if (g->depth == 0) {
        g->in_bundle -= g->in_bundle > 0;
        g->bundle = 0; /* an error in place of it */
    }
    while (g->depth > 0 && --g->left[g->depth - 1] == 0) {
        g->depth--;
    }
}

/* The number of a line, without its end: -1, or digits that do not begin with a zero;
 * false: neither. */
static bool read_count(const ig_redis_guard *g, int64_t *out_count) {
    size_t size = g->line - 2; /* the end of the line */
    *out_count = 0;
    if (size == 2 && memcmp(g->digits, "-1", 2) == 0) {
        *out_count = -1;
        return true;
    }
    for (size_t i = 0; i < size; i++) {
        if (g->digits[i] < '0' || g->digits[i] > '9') {
            return false;
        }
        *out_count = *out_count * 10 + (g->digits[i] - '0');
    }
    return size > 0 && size <= 10 && (size == 1 || g->digits[0] != '0');
}

static const char *begin_value(ig_redis_guard *g) {
    int64_t count = 0;
    if (!read_count(g, &count)) {
        return "a value has no length";
    }
    if (count > IG_REDIS_REPLY_BYTES) {
        return "a value is too long";
    }
    if (count < 0) {
        end_element(g);
        return NULL;
    }
    g->body = (uint64_t)count + 2;
    return NULL;
}

static const char *begin_array(ig_redis_guard *g) {
    int64_t count = 0;
    if (!read_count(g, &count)) {
        return "an array has no count";
    }
    if (g->bundle > 0) {
        bool is_whole = count > 0 && (uint64_t)count == g->bundle;
        g->in_bundle = g->bundle;
        g->bundle = 0;
        end_header(g);
        return is_whole ? NULL
                        : "an array does not have as many elements as were asked for";
    }
    if (count > IG_REDIS_ELEMENTS) {
        return "an array has too many elements";
    }
    if (count > 0 && g->depth == IG_REDIS_DEPTH) {
        return "arrays are nested too deep";
    }
    if (count <= 0) {
        end_element(g);
        return NULL;
    }
    g->left[g->depth++] = count;
    end_header(g);
    return NULL;
}

static const char *end_line(ig_redis_guard *g) {
    if (g->kind == '$') {
        return begin_value(g);
    }
    if (g->kind == '*') {
        return begin_array(g);
    }
    end_element(g);
    return NULL;
}

static const char *read_line_byte(ig_redis_guard *g, char byte) {
    bool is_number = g->kind == '$' || g->kind == '*';
    bool is_end = g->last == '\r';
    if (is_end != (byte == '\n')) {
        return "a line's end is broken";
    }
    if (is_number && g->line < sizeof g->digits) {
        g->digits[g->line] = byte;
    }
    g->last = byte;
    g->line++;
    if (g->line > (is_number ? sizeof g->digits : (size_t)IG_REDIS_LINE_BYTES)) {
        return "a line is too long";
    }
    return is_end ? end_line(g) : NULL;
}

static const char *read_body_byte(ig_redis_guard *g, char byte) {
    char wanted = g->body == 2 ? '\r' : '\n';
    if (byte != wanted) {
        return "a value is longer than it says";
    }
    if (--g->body == 0) {
        end_element(g);
    }
    return NULL;
}

static const char *begin_header(ig_redis_guard *g, char byte) {
    const char *kinds = g->bundle > 0 ? "-*" : g->in_bundle > 0 ? "$" : "+-:$*";
    if (byte == 0 || !strchr("+-:$*", byte)) {
        return "a reply begins with no mark of a type";
    }
    if (!strchr(kinds, byte)) {
        return "a reply is of another type than the command has";
    }
    g->kind = byte;
    return NULL;
}

bool ig_redis_guard_is_between(const ig_redis_guard *g) {
    return !g->kind && !g->body && !g->depth && !g->in_bundle;
}

/* Is this byte of the header of a bundle? */
static bool is_of_bundle(const ig_redis_guard *g, char byte) {
    return g->bundle > 0 && (g->kind == '*' || (!g->kind && byte == '*'));
}

size_t ig_redis_guard_read(ig_redis_guard *g, const char *bytes, size_t size,
                           bool *out_is_fed, const char **out_why) {
    bool is_apart = size > 0 && is_of_bundle(g, bytes[0]);
    const char *why = NULL;
    size_t i = 0;
    for (size_t step; i < size && !why; i += step) {
        if (is_of_bundle(g, bytes[i]) != is_apart) {
            break;
        }
        step = 1;
        if (g->body > 2) { /* bytes of a value */
            step = g->body - 2 < size - i ? (size_t)(g->body - 2) : size - i;
            g->body -= step;
        } else if (g->body > 0) {
            why = read_body_byte(g, bytes[i]);
        } else {
            why = g->kind ? read_line_byte(g, bytes[i]) : begin_header(g, bytes[i]);
        }
        bool is_whole = g->depth == 0 && g->kind == 0;
        g->bytes = is_whole ? 0 : g->bytes + step;
        if (g->bytes > (uint64_t)IG_REDIS_REPLY_BYTES + IG_REDIS_LINE_BYTES) {
            why = "a reply is too long";
        }
    }
    *out_is_fed = !is_apart;
    *out_why = why;
    return i;
}
