/* Keys of the caches: everything that decides about an artifact, as bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_DRIVER_CACHE_KEY_H
#define IG_DRIVER_CACHE_KEY_H

#include "driver/cache/payload.h"
#include "driver/targets.h"

/* Of a kernel: target, build, graph. */
ig_str ig_key_of_kernel(const ig_target *target, const ig_graph *kernel,
                        ig_arena *arena);
/* Of an artifact: build, targets, options, graphs, and length and hash of each payload.
 * `path` is the artifact's or NULL, and matters only where weights are referenced. */
ig_str ig_key_of_model(const ig_module *module, const ig_compile_options *options,
                       ig_payloads *payloads, const char *path, ig_status *out_status);

#endif
