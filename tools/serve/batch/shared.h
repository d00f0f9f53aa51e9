/* Tensors of a request that are in shared memory.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_SERVE_BATCH_SHARED_H
#define IG_TOOLS_SERVE_BATCH_SHARED_H

#include "tools/serve/call/request.h"
#include "tools/serve/model/regions.h"

/* Reads inputs that name a region into the request's memory.  False: it has failed. */
bool read_shared_inputs(request *of, regions *from);
/* Writes results whose output names a region there; they are not to be sent.  False:
 * the request has failed. */
bool write_shared_results(request *of, regions *to);

#endif
