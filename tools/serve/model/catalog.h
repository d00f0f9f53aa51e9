/* The served models: a list that never changes, replaced as a whole.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_SERVE_MODEL_CATALOG_H
#define IG_TOOLS_SERVE_MODEL_CATALOG_H

#include "tools/serve/call/status.h"
#include "tools/serve/model/served.h"

/* A version that is there or that was asked for. */
typedef struct catalog_row {
    char *name;
    int64_t version; /* 0: the model has none */
    bool is_ready;
    char *reason;   /* "" or why it is not there, or not the newest file */
    served *served; /* NULL: not ready */
} catalog_row;

typedef struct catalog {
    catalog_row *rows; /* by name, newest version first */
    size_t count;
    size_t users; /* under the repository's lock */
} catalog;

/* The version that a client names; `version` "" means the newest that is ready.  NULL:
 * *out_status and the words say why. */
served *catalog_find(const catalog *in, const char *name, const char *version,
                     call_status *out_status, char words[WORDS]);
/* Rows of a model: the index of the first, and how many. */
size_t catalog_rows_of(const catalog *in, const char *name, size_t *out_count);

#endif
