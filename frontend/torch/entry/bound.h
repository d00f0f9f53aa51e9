/* The resources of a program while it is run at import.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Less than compiling may use: `script_bytes`, or 56 times the file's size where that
 * is more, so that a few lines cannot use as much as a large model may: the process
 * then stays within 64 MiB, or 64 times the file, beyond its idle size.  Exhausted
 * memory unwinds past the two functions, and the driver takes the bound back.
 */
#ifndef IG_FRONTEND_TORCH_ENTRY_BOUND_H
#define IG_FRONTEND_TORCH_ENTRY_BOUND_H

#include "base/context.h"

/* Returns the budget as it was, for ig_ts_bound_end. */
ig_budget ig_ts_bound_begin(ig_context *context, const char *file, size_t file_bytes);
void ig_ts_bound_end(ig_context *context, const ig_budget *before);

#endif
