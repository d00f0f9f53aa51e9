/* Inferences as messages.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_SERVE_GRPC_INFER_H
#define IG_TOOLS_SERVE_GRPC_INFER_H

#include "tools/serve/call/request.h"

/* Reads a message into a request whose memory is set.  False: it has failed. */
bool infer_read(request *out, const uint8_t *data, size_t size);
/* Writes what became of a request, as a frame; of a stream also what went wrong.
 * False: the request has failed. */
bool infer_write(bytes *to, request *of, bool is_stream);

#endif
