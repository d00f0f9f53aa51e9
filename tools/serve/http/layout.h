/* The JSON of an inference request.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Clients that send tensors after the JSON send the same JSON again and again, and
 * reading it costs more than a small model's run.  So the last layouts are kept by
 * their bytes.
 */
#ifndef IG_TOOLS_SERVE_HTTP_LAYOUT_H
#define IG_TOOLS_SERVE_HTTP_LAYOUT_H

#include "tools/serve/call/request.h"

typedef struct layout_cache layout_cache;

/* One a loop.  NULL: memory ran out. */
layout_cache *layout_cache_create(void);
void layout_cache_destroy(layout_cache *of);

/* Reads a body whose first `json_size` bytes are JSON, and the rest tensors, into id,
 * inputs and outputs of `out`.  The body stays until the request is finished.  False:
 * it has failed. */
bool layout_read(layout_cache *cache, request *out, const uint8_t *body, size_t size,
                 size_t json_size);

#endif
