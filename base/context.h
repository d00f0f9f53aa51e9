/* The state shared by all stages of one compilation.
 * SPDX-License-Identifier: Apache-2.0
 *
 * One context per thread; contexts share nothing.  The driver embeds this struct at the
 * start of its own; everything below the driver sees only these fields.
 */
#ifndef IG_BASE_CONTEXT_H
#define IG_BASE_CONTEXT_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/limits.h"
#include "base/platform/platform.h"

#include <stdatomic.h>

/* Opens files on behalf of a process that must not open any: the file that the user
 * named (`name` empty), or one that a model names beside it.  As ig_file_open. */
typedef struct ig_opener {
    ig_status (*open)(void *user, const char *path, ig_str name, int *out_file,
                      char *why);
    void *user;
} ig_opener;

typedef struct ig_context {
    ig_diag diag;
    ig_budget budget;
    ig_limits limits;
    atomic_bool cancelled; /* set from anywhere, also from a signal handler */
    /* Called on the caller's thread; `total` 0 means unknown.  May be NULL. */
    void (*progress)(void *user, const char *stage, uint64_t done, uint64_t total);
    void *progress_user;
    const ig_opener *opener; /* NULL: this process opens files itself */
    /* Operators of the user's own (base/custom/), which the interpreter calls. */
    const struct ig_custom_library *const *custom;
    size_t custom_count;
} ig_context;

/* IG_CANCELLED once the context was cancelled; poll between passes and nodes. */
ig_status ig_context_poll(ig_context *context);
void ig_context_progress(ig_context *context, const char *stage, uint64_t done,
                         uint64_t total);

#endif
