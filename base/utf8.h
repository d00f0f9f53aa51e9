/* One step through UTF-8 text.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_BASE_UTF8_H
#define IG_BASE_UTF8_H

#include <stddef.h>

/* Bytes (1 to 4) of the well-formed sequence that `text` begins with, or 0. */
size_t ig_utf8_length(const char *text, size_t size);
/* The same, but 0 also for what could steer a terminal or change how a line reads:
 * control characters and the marks that reverse the order of letters. */
size_t ig_utf8_plain(const char *text, size_t size);

#endif
