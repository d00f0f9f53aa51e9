/* One line of text into a buffer that somebody else owns.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/message.h"

#include "base/secret.h"

#include <stdarg.h>
#include <stdio.h>

enum { OWN_BYTES = 512 };

ig_status ig_message_set(const ig_message *message, ig_status status,
                         const char *format, ...) {
    char own[OWN_BYTES], *text = own;
    size_t size = sizeof own;
    if (message->text && message->size > 0) {
        text = message->text;
        size = message->size;
    } else if (!message->log) {
        return status;
    }
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, size, format, args);
    va_end(args);
    ig_hide_secrets(text);
    if (message->log) {
        ig_log_record record = { .size = sizeof record,
                                 .level = IG_LOG_ERROR,
                                 .status = status,
                                 .component = "runtime",
                                 .code = ig_status_name(status),
                                 .words = text };
        message->log->write(message->log->user, &record);
    }
    return status;
}
