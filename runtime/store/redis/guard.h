/* Replies are checked before hiredis sees them.  SPDX-License-Identifier: Apache-2.0
 *
 * hiredis 0.14 allocates an array by the count that a server claims, and keeps what
 * comes of a value without bound.  The guard reads the same bytes first: each header
 * (RESP2: "$5\r\n", "*2\r\n") must be well-formed, and what it claims must be small
 * enough to be an answer to what we ask.  It allocates nothing.
 */
#ifndef IG_RUNTIME_STORE_REDIS_GUARD_H
#define IG_RUNTIME_STORE_REDIS_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    IG_REDIS_REPLY_BYTES = 64 << 20, /* of one reply, and so of a cell */
    IG_REDIS_LINE_BYTES = 4096,
    IG_REDIS_ELEMENTS = 1 << 16, /* of an array */
    IG_REDIS_DEPTH = 2           /* arrays in arrays: SCAN's reply has two */
};

typedef struct ig_redis_guard {
    char kind;       /* of the header being read; 0: none */
    char last;       /* byte of a line */
    char digits[16]; /* of a number's line */
    size_t line;     /* bytes of the line so far */
    uint64_t body;   /* bytes of a value still to come, with their end of line */
    uint64_t bytes;  /* of this reply */
    int depth;
    int64_t left[IG_REDIS_DEPTH]; /* elements still to come */
} ig_redis_guard;

/* Looks at bytes that came; false: they are no reply, and `*out_why` says why.  Starts
 * from zeroes. */
bool ig_redis_guard_read(ig_redis_guard *guard, const char *bytes, size_t size,
                         const char **out_why);

#endif
