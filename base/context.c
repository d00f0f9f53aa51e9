/* Cancellation and progress.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/context.h"

ig_status ig_context_poll(ig_context *context) {
    bool is_cancelled = atomic_load_explicit(&context->cancelled, memory_order_relaxed);
    return is_cancelled ? IG_CANCELLED : IG_OK;
}

void ig_context_progress(ig_context *context, const char *stage, uint64_t done,
                         uint64_t total) {
    if (context->progress) {
        context->progress(context->progress_user, stage, done, total);
    }
}
