/* Files of Criteo's click logs: see criteo.h.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/train/criteo.h"

#include "tools/ingot/cli/console.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

bool criteo_open(criteo *c, const char *path, const int64_t *rows, size_t batch) {
    *c = (criteo){ .path = path, .batch = batch };
    memcpy(c->rows, rows, sizeof c->rows);
    c->file = fopen(path, "re");
    if (!c->file) {
        complain(0, "%s: %s", path, strerror(errno));
        return false;
    }
    c->labels = need(calloc(batch, sizeof *c->labels));
    c->dense = need(calloc(batch * CRITEO_COUNTS, sizeof *c->dense));
    c->ids = need(calloc(batch * CRITEO_IDS, sizeof *c->ids));
    c->columns = need(calloc(batch * CRITEO_IDS, sizeof *c->columns));
    c->lengths = need(calloc(batch * CRITEO_IDS, sizeof *c->lengths));
    for (size_t i = 0; i < batch * CRITEO_IDS; i++) {
        c->lengths[i] = 1;
    }
    return true;
}

static bool keep_row(criteo *c, const char *line, size_t size) {
    criteo_row row;
    const char *fault = criteo_parse(line, size, c->rows, &row);
    if (fault) {
        complain(0, "%s:%lld: %s", c->path, (long long)c->line_index, fault);
        return false;
    }
    c->labels[c->count] = row.label;
    memcpy(c->dense + c->count * CRITEO_COUNTS, row.dense, sizeof row.dense);
    memcpy(c->ids + c->count * CRITEO_IDS, row.ids, sizeof row.ids);
    c->count++;
    return true;
}

bool criteo_next(criteo *c) {
    ssize_t size = 0;
    c->count = 0;
    while (c->count < c->batch && (size = getline(&c->line, &c->room, c->file)) >= 0) {
        size_t length = (size_t)size;
        c->line_index++;
        length -= length > 0 && c->line[length - 1] == '\n';
        if (!keep_row(c, c->line, length)) {
            return false;
        }
    }
    if (size < 0 && ferror(c->file)) {
        complain(0, "%s: %s", c->path, strerror(errno));
        return false;
    }
    for (size_t i = 0; i < c->count * CRITEO_IDS; i++) {
        c->columns[i] = c->ids[i % c->count * CRITEO_IDS + i / c->count];
    }
    return true;
}

void criteo_close(criteo *c) {
    if (c->file) {
        (void)fclose(c->file);
    }
    free(c->line);
    free(c->labels);
    free(c->dense);
    free(c->ids);
    free(c->columns);
    free(c->lengths);
    *c = (criteo){ 0 };
}
