/* The request to an isolated worker, as text.
 * SPDX-License-Identifier: Apache-2.0
 *
 * "key=value", each ended by a zero byte.
 */
#ifndef IG_DRIVER_COMPILE_REQUEST_H
#define IG_DRIVER_COMPILE_REQUEST_H

#include "driver/compile/isolate.h"

ig_str ig_request_write(ig_arena *arena, const ig_context *context,
                        const ig_isolated_work *work);

/* The worker's part of it; strings are in the request's bytes. */
typedef struct ig_request {
    const char *model, *artifact, *stage;
    ig_import_options import;
    ig_compile_options compile;
    int format, threads;
    ig_limits limits;
} ig_request;

/* IG_INVALID: of another build, or broken.  Lists are the arena's. */
ig_status ig_request_read(ig_arena *arena, ig_str bytes, ig_request *out);

#endif
