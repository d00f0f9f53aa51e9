/* Artifacts whose tables are in stores: options, and calls.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_MODEL_AHEAD_H
#define IG_TOOLS_INGOT_MODEL_AHEAD_H

#include "tools/ingot/model/call.h"

/* The part before the = of "TABLE=…"; free() it. */
char *ahead_name(const char *option);
/* 0, or the exit status after a message: an option has no =. */
int ahead_check(const settings *given);
/* Compiles the module, whose tables are in the stores of --store. */
ig_status ahead_compile(const settings *given, ig_module *module, const char *path);
/* Opens the artifact by --store, --missing, --store-memory and --ahead.  `m` has its
 * context and its program. */
ig_status ahead_open(const settings *given, model *m, const char *path, int threads,
                     ig_lookahead **out_ahead, message *why);
/* One call, of `deadline` ms (0: none). */
ig_status ahead_run(ig_lookahead *ahead, const ig_view *inputs, size_t input_count,
                    int64_t deadline, results *out);
ig_lookahead_call ahead_call(int64_t deadline);

#endif
