/* Compiling in a child process.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_DRIVER_COMPILE_ISOLATE_H
#define IG_DRIVER_COMPILE_ISOLATE_H

#include "base/platform.h"
#include "driver/host.h"

/* The work of the child: makes the parts of a file. */
typedef ig_status ig_isolated_fn(void *user, ig_file_part **out_parts,
                                 size_t *out_count);

/* Runs `make` in a child process and gives the file it made, mapped (the caller closes
 * it).  The child's messages become the context's.  A child that dies is IG_INTERNAL;
 * cancelling kills it. */
ig_status ig_isolate(ig_context *context, ig_isolated_fn *make, void *user,
                     ig_file_map *out_file);

#endif
