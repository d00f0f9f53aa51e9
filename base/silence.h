/* Trying operations that may fail without telling the user.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     ig_silence silence = ig_silence_begin(context);
 *     status = hook(op, types);
 *     ig_silence_end(&silence);
 */
#ifndef IG_BASE_SILENCE_H
#define IG_BASE_SILENCE_H

#include "base/context.h"

typedef struct ig_silence {
    ig_context *context;
    ig_diag saved;
} ig_silence;

static inline ig_silence ig_silence_begin(ig_context *context) {
    ig_silence silence = { context, context->diag };
    context->diag = (ig_diag){ 0 };
    return silence;
}

static inline void ig_silence_end(const ig_silence *silence) {
    silence->context->diag = silence->saved;
}

#endif
