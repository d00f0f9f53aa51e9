/* ingot profile --remote: a model timed by an `ingot worker` elsewhere.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_BENCH_PROFILE_REMOTE_H
#define IG_TOOLS_INGOT_BENCH_PROFILE_REMOTE_H

#include "tools/ingot/values/bound_inputs.h"

/* Hands the model's file and the inputs to `ingot-serve remote`, which speaks gRPC, and
 * waits for its table. */
ig_status profile_remotely(const settings *given, const model *m, const call *with,
                           message *why);

#endif
