/* A request between its client and the runs of a model, or of several.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_SERVE_BATCH_STEPS_H
#define IG_TOOLS_SERVE_BATCH_STEPS_H

#include "tools/serve/batch/lane.h"

/* Before a run of of->served: the script, inputs bound to ports, rows counted.  False:
 * the request has failed. */
bool step_begin(request *of, const lane *in);
/* After it, `views` being its outputs: the script, and then the results that the client
 * asked for, or the inputs of the next model, copied.  False: the request has
 * failed. */
bool step_end(request *of, const lane *in, const ig_view *views);
/* Begins the run of the model that config.json says comes after.  False: the request
 * has failed. */
bool step_next(request *of, const lane *in);

#endif
