/* The user's own operators, from files of IR text, libraries and tables in memory.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_DRIVER_IMPORT_OPERATORS_H
#define IG_DRIVER_IMPORT_OPERATORS_H

#include "compose/custom.h"
#include "driver/host.h"

/* Reads all that `options` names, as modules that the caller destroys, also where this
 * fails or unwinds.  Libraries become the context's, whose interpreter and programs
 * call them. */
ig_status ig_import_operators(ig_context *context, const ig_import_options *options,
                              ig_arena *arena, ig_custom_functions *out);
/* The same as IR text and files of it, for a process that opens no library: `options`
 * names no library afterwards. */
ig_status ig_import_operators_as_text(ig_context *context, ig_arena *arena,
                                      ig_import_options *options);

#endif
