/* The CUDA backend.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codegen/backend.h"

static ig_status open_cuda(ig_context *context, const ig_target *target,
                           void **out_state) {
    *out_state = NULL;
    return ig_error(&context->diag, IG_UNSUPPORTED, NULL,
                    "this build has no code generator for %s", target->name);
}

const ig_backend ig_backend_cuda = {
    .name = "cuda", .family = IG_FAMILY_GPU, .open = open_cuda
};
