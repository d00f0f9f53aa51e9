/* Replies are checked before hiredis sees them.  SPDX-License-Identifier: Apache-2.0
 *
 * hiredis 0.14 allocates an array by the count that a server claims, and keeps the
 * bytes of a value without bound.  The guard reads the same bytes first: each header
 * (RESP2: "$5\r\n", "*2\r\n") must be well-formed, and its claims must be small enough
 * to be an answer to our request.  It allocates nothing.
 *
 * The array that answers MGET is taken apart: its header is held against the number of
 * names and hiredis gets its elements as replies of their own, one in memory at a time.
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
    size_t bundle;                /* elements of the array that comes next; 0: none */
    size_t in_bundle;             /* of them, still to come */
} ig_redis_guard;

/* Looks at bytes that came, up to where the header of a bundle begins or ends; returns
 * how many these are, and in `*out_is_fed` whether hiredis gets them.  Where they are
 * not a reply `*out_why` says why.  Starts from zeroes. */
size_t ig_redis_guard_read(ig_redis_guard *guard, const char *bytes, size_t size,
                           bool *out_is_fed, const char **out_why);
/* Is no reply under way? */
bool ig_redis_guard_is_between(const ig_redis_guard *guard);

#endif
