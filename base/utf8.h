/* One step through UTF-8 text.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_BASE_UTF8_H
#define IG_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Bytes (1 to 4) of the well-formed sequence that `text` begins with, or 0. */
size_t ig_utf8_length(const char *text, size_t size);
/* The same, but 0 also for what could steer a terminal or change how a line reads:
 * control characters and the marks that reverse the order of letters. */
size_t ig_utf8_plain(const char *text, size_t size);
/* The code point of a well-formed sequence of `length` bytes. */
uint32_t ig_utf8_decode(const char *text, size_t length);
/* Writes a code point as 1 to 4 bytes, and returns how many; 0: it is none. */
size_t ig_utf8_encode(uint32_t point, char to[4]);

#endif
