/* Texts cut into parts.  SPDX-License-Identifier: Apache-2.0
 *
 * As Python's split: an empty delimiter means runs of blanks, of which none are at
 * the ends.
 */
#include "runtime/text/text.h"

#include <string.h>

typedef struct cutter {
    const char *delimiter;
    size_t length;
    int64_t left;     /* cuts that may still be made */
    const char *rest; /* NULL: nothing */
} cutter;

static const char blanks[] = " \t\n\v\f\r";

/* `x` is the buffer of the texts, after which that of the delimiter comes. */
static cutter begin_cut(const ig_host_call *call, uint32_t x, int64_t row) {
    const char *delimiter = ig_text_next(call, x + 1, NULL);
    delimiter = delimiter ? delimiter : "";
    return (cutter){ .delimiter = delimiter,
                     .length = strlen(delimiter),
                     .left = call->params[1] < 0 ? INT64_MAX : call->params[1],
                     .rest = ig_text_at(call, x, row) };
}

static bool cut_by_blanks(cutter *c, ig_str *out) {
    const char *begin = c->rest + strspn(c->rest, blanks);
    size_t size = strcspn(begin, blanks);
    if (!*begin) {
        return false;
    }
    if (c->left == 0) { /* all that is left, without the blanks at its end */
        size = strlen(begin);
        while (strchr(blanks, begin[size - 1])) {
            size--;
        }
        c->rest = NULL;
    } else {
        c->left--;
        c->rest = begin + size;
    }
    *out = (ig_str){ begin, size };
    return true;
}

/* The next part; false: there is none. */
static bool next_part(cutter *c, ig_str *out) {
    if (!c->rest) {
        return false;
    }
    if (c->length == 0) {
        return cut_by_blanks(c, out);
    }
    const char *end = c->left > 0 ? strstr(c->rest, c->delimiter) : NULL;
    *out = (ig_str){ c->rest, end ? (size_t)(end - c->rest) : strlen(c->rest) };
    c->left -= end != NULL;
    c->rest = end ? end + c->length : NULL;
    return true;
}

static int64_t count_parts(const ig_host_call *call, int64_t row) {
    cutter c = begin_cut(call, 1, row);
    ig_str part;
    int64_t count = 0;
    while (next_part(&c, &part)) {
        count++;
    }
    return count;
}

bool ig_host_text_split_count(const ig_host_call *call) {
    int64_t *max = call->buffers[0];
    if (!ig_text_fits(call, 1, call->params[0], 8) || call->bytes[0] < 8) {
        return false;
    }
    *max = 0;
    for (int64_t i = 0; i < call->params[0]; i++) {
        int64_t count = count_parts(call, i);
        *max = count > *max ? count : *max;
    }
    return true;
}

bool ig_host_text_split(const ig_host_call *call) {
    int64_t count = call->params[0], width = call->params[2];
    const char **y = call->buffers[0];
    int64_t *counts = call->buffers[1];
    if (width < 0 || (width > 0 && count > INT64_MAX / 8 / width) ||
        !ig_text_fits(call, 0, count * width, 8) || !ig_text_fits(call, 1, count, 8) ||
        !ig_text_fits(call, 2, count, 8)) {
        return false;
    }
    for (int64_t i = 0; i < count; i++) {
        cutter c = begin_cut(call, 2, i);
        ig_str part;
        int64_t at = 0;
        for (; at < width && next_part(&c, &part); at++) {
            y[i * width + at] = ig_text_copy(call, part.data, part.size);
            if (!y[i * width + at]) {
                return false;
            }
        }
        counts[i] = at;
        for (; at < width; at++) {
            y[i * width + at] = NULL;
        }
    }
    return true;
}
