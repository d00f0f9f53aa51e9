/* Statuses of calls, as HTTP and the runtime have them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/call/status.h"

#include <stddef.h>

static const struct {
    call_status status;
    int http;
} rows[] = {
    { CALL_OK, 200 },          { CALL_CANCELLED, 499 },    { CALL_INVALID, 400 },
    { CALL_LATE, 504 },        { CALL_NOT_FOUND, 404 },    { CALL_FULL, 429 },
    { CALL_EXISTS, 400 },      { CALL_INTERNAL, 500 },     { CALL_UNSUPPORTED, 501 },
    { CALL_UNAVAILABLE, 503 }, { CALL_PRECONDITION, 412 }, { CALL_STRANGER, 401 },
};

int call_status_http(call_status status) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].status == status) {
            return rows[i].http;
        }
    }
    return 500;
}

call_status call_status_of_run(ig_status status) {
    static const call_status of[] = {
        [IG_OK] = CALL_OK,
        [IG_INVALID] = CALL_INVALID,
        [IG_UNSUPPORTED] = CALL_UNSUPPORTED,
        [IG_LIMIT] = CALL_FULL,
        [IG_CANCELLED] = CALL_LATE, /* nothing else cancels a run here */
    };
    size_t index = (size_t)status;
    return index < sizeof of / sizeof *of && (index == IG_OK || of[index])
               ? of[index]
               : CALL_INTERNAL;
}
