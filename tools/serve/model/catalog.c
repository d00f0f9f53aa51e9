/* Looking models up.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/model/catalog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t catalog_rows_of(const catalog *in, const char *name, size_t *out_count) {
    size_t low = 0, high = in->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(in->rows[middle].name, name) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    size_t count = 0;
    while (low + count < in->count && strcmp(in->rows[low + count].name, name) == 0) {
        count++;
    }
    *out_count = count;
    return low;
}

served *catalog_find(const catalog *in, const char *name, const char *version,
                     call_status *out_status, char words[WORDS]) {
    size_t count, first = catalog_rows_of(in, name, &count);
    char *end = NULL;
    int64_t id = *version ? strtoll(version, &end, 10) : 0;
    if (end && *end) {
        *out_status = CALL_INVALID;
        snprintf(words, WORDS,
                 "'%.100s' is not a version of a model: a version is a number",
                 version);
        return NULL;
    }
    const catalog_row *asleep = NULL;
    served *beside = NULL; /* a version that is there to be compared */
    for (size_t i = first; i < first + count; i++) {
        const catalog_row *row = &in->rows[i];
        if (*version && row->version != id) {
            continue;
        }
        if (row->is_ready && (*version || row->served->config.shadow != row->version)) {
            return row->served;
        }
        beside = row->is_ready && !beside ? row->served : beside;
        asleep = asleep || row->is_ready ? asleep : row;
    }
    if (beside) {
        return beside;
    }
    *out_status = asleep ? CALL_UNAVAILABLE : CALL_NOT_FOUND;
    if (asleep) {
        snprintf(words, WORDS, "model '%.200s' is not ready: %.700s", name,
                 asleep->reason);
    } else if (*version && count) {
        snprintf(words, WORDS, "model '%.200s' has no version %.20s", name, version);
    } else {
        snprintf(words, WORDS, "unknown model: '%.200s' is not found", name);
    }
    return NULL;
}
