/* The status type inside Ingot, and the one macro that passes it on.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_BASE_STATUS_H
#define IG_BASE_STATUS_H

#include "ingot/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns from the calling function when `expression` is not IG_OK. */
#define IG_TRY(expression)                      \
    do {                                        \
        ig_status ig_try_status = (expression); \
        if (ig_try_status != IG_OK) {           \
            return ig_try_status;               \
        }                                       \
    } while (0)

#define IG_COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* "INVALID" and the like; never NULL. */
const char *ig_status_name(ig_status status);
/* One line of meaning; never NULL. */
const char *ig_status_meaning(ig_status status);
/* The exit status of the command line for `status`. */
int ig_status_exit(ig_status status);

#endif
