/* One line of text into a buffer that somebody else owns.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/message.h"

#include "base/secret.h"

#include <stdarg.h>
#include <stdio.h>

ig_status ig_message_set(const ig_message *message, ig_status status,
                         const char *format, ...) {
    if (message->text && message->size > 0) {
        va_list args;
        va_start(args, format);
        (void)vsnprintf(message->text, message->size, format, args);
        va_end(args);
        ig_hide_secrets(message->text);
    }
    return status;
}
