/* Names and exit statuses of status codes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/status.h"

typedef struct status_row {
    const char *name, *meaning;
    int exit_status;
} status_row;

static const status_row rows[] = {
#define STATUS_ROW(name, value, exit_status, meaning) \
    [value] = { #name, meaning, exit_status },
    IG_STATUS_LIST(STATUS_ROW)
#undef STATUS_ROW
};

/* A status may come from another library's build: any value has an answer. */
static const status_row *row_of(ig_status status) {
    size_t index = (size_t)status;
    return index < IG_COUNT_OF(rows) ? &rows[index] : &rows[IG_INTERNAL];
}

const char *ig_status_name(ig_status status) {
    return row_of(status)->name;
}

const char *ig_status_meaning(ig_status status) {
    return row_of(status)->meaning;
}

int ig_status_exit(ig_status status) {
    return row_of(status)->exit_status;
}
