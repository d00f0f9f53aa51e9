/* Memory of one call, given back as a whole.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_SERVE_CALL_POOL_H
#define IG_TOOLS_SERVE_CALL_POOL_H

#include "tools/serve/call/bytes.h"

/* Zero but for `from` and `limit` is empty.  Owner: whoever calls pool_free. */
typedef struct pool {
    struct pool_chunk *chunks; /* the one in use first */
    size_t held, limit;        /* bytes that this pool may take in all */
    budget *from;              /* whose memory it is, or NULL */
} pool;

/* Memory for `size` bytes, aligned to 16; NULL: beyond the limit, or none is left. */
void *pool_take(pool *from, size_t size);
/* The same for `count` things of `size` bytes, zeroed. */
void *pool_take_array(pool *from, size_t count, size_t size);
char *pool_copy_text(pool *from, const char *text);
void pool_free(pool *of);

#endif
