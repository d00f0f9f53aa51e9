/* Bytes that grow, within a budget, and text put into them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_SERVE_CALL_BYTES_H
#define IG_TOOLS_SERVE_CALL_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ingot/status.h>

/* How much memory all calls of a loop may hold together; used by its thread alone. */
typedef struct budget {
    size_t held, limit;
} budget;

/* Zero is empty.  Owner: whoever calls bytes_free. */
typedef struct bytes {
    uint8_t *data;
    size_t size, room;
    budget *from;    /* whose memory it is, or NULL: nobody counts it */
    bool has_failed; /* memory or budget ran out: later bytes are lost */
} bytes;

/* Makes room for `more` bytes after the last one; false: has_failed. */
bool bytes_reserve(bytes *to, size_t more);
bool bytes_put(bytes *to, const void *data, size_t size);
void bytes_clear(bytes *of); /* empties it, and keeps its memory */
void bytes_free(bytes *of);

/* Text; like all of it, without a zero byte at the end. */
void put_text(bytes *to, const char *text);
void put_format(bytes *to, const char *format, ...) IG_PRINTF(2, 3);
/* A string as JSON, with its quotes; bytes that are not UTF-8 become U+FFFD. */
void put_string(bytes *to, const char *text, size_t size);
/* A number as JSON; those that JSON has no word for are null. */
void put_real(bytes *to, double value, int digits);

#endif
