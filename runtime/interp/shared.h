/* Memory that interpreters share: written once, then read-only.
 * SPDX-License-Identifier: Apache-2.0
 *
 * It lives until nobody holds it.  Both sides of a namespace, and processes, hold and
 * drop it, so it is made of mappings alone: no allocator knows of it.
 */
#ifndef IG_RUNTIME_INTERP_SHARED_H
#define IG_RUNTIME_INTERP_SHARED_H

#include "base/status.h"

#include <stdatomic.h>
#include <stddef.h>

typedef struct ig_shared {
    void *data;
    size_t size;
    int file; /* that is mapped; given to processes */
    atomic_int holders;
} ig_shared;

/* A file as it is.  IO: errno tells; the caller is the one holder. */
ig_status ig_shared_map(const char *path, ig_shared **out_shared);
/* Of an open file, which is taken over. */
ig_status ig_shared_open(int file, ig_shared **out_shared);
/* Memory that can be written until it is sealed. */
ig_status ig_shared_create(size_t size, ig_shared **out_shared);
ig_status ig_shared_seal(ig_shared *shared);
void ig_shared_hold(ig_shared *shared);
void ig_shared_drop(ig_shared *shared); /* NULL is allowed */

#endif
