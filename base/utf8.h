/* One step through UTF-8 text.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_BASE_UTF8_H
#define IG_BASE_UTF8_H

#include <stddef.h>

/* Bytes (1 to 4) of the well-formed sequence that `text` begins with, or 0. */
size_t ig_utf8_length(const char *text, size_t size);

#endif
