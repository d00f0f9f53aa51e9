/* Names and exit statuses of status codes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/status.h"

typedef struct status_row {
    const char *meaning;
    int exit_status;
} status_row;

/* Apart from the rest, which the runtime does without. */
static const char names[][sizeof "UNSUPPORTED"] = {
#define STATUS_NAME(name, value, exit_status, meaning) [value] = #name,
    IG_STATUS_LIST(STATUS_NAME)
#undef STATUS_NAME
};

static const status_row rows[] = {
#define STATUS_ROW(name, value, exit_status, meaning) \
    [value] = { meaning, exit_status },
    IG_STATUS_LIST(STATUS_ROW)
#undef STATUS_ROW
};

/* A status may come from another library's build: any value has an answer. */
static size_t index_of(ig_status status) {
    size_t index = (size_t)status;
    return index < IG_COUNT_OF(names) ? index : IG_INTERNAL;
}

const char *ig_status_name(ig_status status) {
    return names[index_of(status)];
}

const char *ig_status_meaning(ig_status status) {
    return rows[index_of(status)].meaning;
}

int ig_status_exit(ig_status status) {
    return rows[index_of(status)].exit_status;
}
