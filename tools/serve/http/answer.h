/* The answer to an inference, as HTTP carries it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_SERVE_HTTP_ANSWER_H
#define IG_TOOLS_SERVE_HTTP_ANSWER_H

#include "tools/serve/call/request.h"

/* Writes JSON, and after it the tensors that the client wants so; *out_json_size is 0
 * where there are none.  False: the request has failed. */
bool answer_write(bytes *to, request *of, size_t *out_json_size);

#endif
