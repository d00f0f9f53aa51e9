/* A line of Criteo's click logs: see criteo.h.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/train/criteo.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum { FIELDS = 1 + CRITEO_COUNTS + CRITEO_IDS };

/* A decimal of at most 18 digits, with a sign or none. */
static bool read_count(const char *text, size_t size, int64_t *out) {
    bool is_negative = size > 0 && text[0] == '-';
    size_t at = is_negative;
    *out = 0;
    if (at == size || size - at > 18) {
        return false;
    }
    for (; at < size; at++) {
        if (text[at] < '0' || text[at] > '9') {
            return false;
        }
        *out = 10 * *out + (text[at] - '0');
    }
    *out = is_negative ? -*out : *out;
    return true;
}

static int digit_of(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* A hexadecimal number of at most 16 digits. */
static bool read_category(const char *text, size_t size, uint64_t *out) {
    *out = 0;
    for (size_t i = 0; i < size; i++) {
        int digit = digit_of(text[i]);
        if (digit < 0) {
            return false;
        }
        *out = *out << 4 | (uint64_t)digit;
    }
    return size > 0 && size <= 16;
}

static const char *take_field(size_t index, const char *text, size_t size,
                              const int64_t *rows, criteo_row *out) {
    int64_t count = 0;
    uint64_t category = 0;
    if (index == 0) {
        out->label = (float)(size == 1 && text[0] == '1');
        return size == 1 && (text[0] == '0' || text[0] == '1')
                   ? NULL
                   : "the label is not 0 or 1";
    }
    if (index <= CRITEO_COUNTS) {
        bool is_good = size == 0 || read_count(text, size, &count);
        out->dense[index - 1] = count > 0 ? (float)log1p((double)count) : 0;
        return is_good ? NULL : "a count is not a whole number";
    }
    index -= 1 + CRITEO_COUNTS;
    bool is_good = size == 0 || read_category(text, size, &category);
    out->ids[index] = (int64_t)(category % (uint64_t)rows[index]);
    return is_good ? NULL : "a category is not a hexadecimal number";
}

const char *criteo_parse(const char *line, size_t size, const int64_t *rows,
                         criteo_row *out) {
    size_t index = 0, begin = 0;
    size -= size > 0 && line[size - 1] == '\r';
    for (size_t at = 0; at <= size; at++) {
        if (at < size && line[at] != '\t') {
            continue;
        }
        const char *fault = index < FIELDS
                                ? take_field(index, line + begin, at - begin, rows, out)
                                : "it has more than 40 fields";
        if (fault) {
            return fault;
        }
        index++;
        begin = at + 1;
    }
    return index == FIELDS ? NULL : "it has fewer than 40 fields";
}

bool criteo_read_rows(const char *text, int64_t *out_rows) {
    size_t count = 0;
    for (const char *at = text; *at;) {
        char *end;
        errno = 0;
        long long number = strtoll(at, &end, 10);
        if (end == at || errno || number < 1 || count == CRITEO_IDS ||
            (*end && *end != ',')) {
            return false;
        }
        out_rows[count++] = number;
        at = end + (*end == ',');
    }
    for (size_t i = 1; count == 1 && i < CRITEO_IDS; i++) {
        out_rows[i] = out_rows[0];
    }
    return count == 1 || count == CRITEO_IDS;
}
