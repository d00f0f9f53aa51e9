/* Memory of one call: chunks, of which the newest is cut into pieces.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/call/pool.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 4096, PIECE = 16 };

typedef struct pool_chunk {
    struct pool_chunk *next;
    size_t used, size;
    alignas(PIECE) uint8_t data[];
} pool_chunk;

static pool_chunk *add_chunk(pool *to, size_t min) {
    size_t size = min < CHUNK - sizeof(pool_chunk) ? CHUNK - sizeof(pool_chunk) : min;
    size_t all = size + sizeof(pool_chunk);
    if (all > to->limit - to->held ||
        (to->from && all > to->from->limit - to->from->held)) {
        return NULL;
    }
    pool_chunk *chunk = aligned_alloc(PIECE, (all + PIECE - 1) & ~(size_t)(PIECE - 1));
    if (!chunk) {
        return NULL;
    }
    *chunk = (pool_chunk){ .next = to->chunks, .size = size };
    to->chunks = chunk;
    to->held += all;
    if (to->from) {
        to->from->held += all;
    }
    return chunk;
}

void *pool_take(pool *from, size_t size) {
    if (size > SIZE_MAX / 2) {
        return NULL;
    }
    size = (size + PIECE - 1) & ~(size_t)(PIECE - 1);
    pool_chunk *chunk = from->chunks;
    if (!chunk || size > chunk->size - chunk->used) {
        chunk = add_chunk(from, size);
    }
    if (!chunk) {
        return NULL;
    }
    void *piece = chunk->data + chunk->used;
    chunk->used += size;
    return piece;
}

void *pool_take_array(pool *from, size_t count, size_t size) {
    if (size && count > SIZE_MAX / 2 / size) {
        return NULL;
    }
    void *piece = pool_take(from, count * size);
    return piece ? memset(piece, 0, count * size) : NULL;
}

char *pool_copy_text(pool *from, const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = pool_take(from, size);
    return copy ? memcpy(copy, text, size) : NULL;
}

void pool_free(pool *of) {
    if (of->from) {
        of->from->held -= of->held;
    }
    for (pool_chunk *chunk = of->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    of->chunks = NULL;
    of->held = 0;
}
