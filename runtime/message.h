/* One line of text into a buffer that somebody else owns.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_RUNTIME_MESSAGE_H
#define IG_RUNTIME_MESSAGE_H

#include "base/status.h"
#include "ingot/log.h"

typedef struct ig_message {
    char *text; /* NULL: nobody reads it */
    size_t size;
    const ig_log *log; /* is told the line too, or NULL */
} ig_message;

/* Writes the line, cut to fit, and returns `status`. */
ig_status ig_message_set(const ig_message *message, ig_status status,
                         const char *format, ...) IG_PRINTF(3, 4);

#endif
