/* The CPU target's backend, and the provider's one entry.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_CODEGEN_CPU_PROVIDER_H
#define IG_CODEGEN_CPU_PROVIDER_H

#include "codegen/backend.h"

/* NULL when `build_id` is not this library's own: kernel graphs and diagnostics are
 * shared structs, which must not differ. */
IG_API const ig_backend *ig_provider_llvm(const char *build_id);

#endif
