/* Lines of Criteo's click logs under libFuzzer: a line is refused with words, or all
 * that
 * it gives is in range.  SPDX-License-Identifier: Apache-2.0
 *
 *     scripts/fuzz fuzz_criteo
 *
 * Lines stand one behind the other; the first is the list of the tables' rows.
 */
#include "tools/ingot/train/criteo.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_row(const criteo_row *row, const int64_t *rows) {
    if (row->label != 0 && row->label != 1) {
        abort();
    }
    for (size_t i = 0; i < CRITEO_COUNTS; i++) {
        if (!(row->dense[i] >= 0 && row->dense[i] < 64)) {
            abort();
        }
    }
    for (size_t i = 0; i < CRITEO_IDS; i++) {
        if (row->ids[i] < 0 || row->ids[i] >= rows[i]) {
            abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *text = (const char *)data, *end = text + size;
    int64_t rows[CRITEO_IDS];
    const char *stop = size ? memchr(text, '\n', size) : NULL;
    size_t first = stop ? (size_t)(stop - text) : size;
    char *list = malloc(first + 1);
    if (!list) {
        return 0;
    }
    memcpy(list, data, first);
    list[first] = '\0';
    bool is_list = criteo_read_rows(list, rows);
    free(list);
    for (text += first; is_list && text < end;) {
        text++; /* the end of the line before */
        stop = memchr(text, '\n', (size_t)(end - text));
        size_t length = stop ? (size_t)(stop - text) : (size_t)(end - text);
        char *line = malloc(length); /* of its very size, for the sanitizer */
        criteo_row row;
        if (length > 0 && line) {
            memcpy(line, text, length);
            if (!criteo_parse(line, length, rows, &row)) {
                check_row(&row, rows);
            }
        }
        free(line);
        text += length;
    }
    return 0;
}
