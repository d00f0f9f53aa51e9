/* Elements of tensors as JSON.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_SERVE_HTTP_DATA_H
#define IG_TOOLS_SERVE_HTTP_DATA_H

#include "tools/serve/call/request.h"

struct json_t;

/* Reads "data", a list that may be nested as the shape is, into data and size of `to`,
 * whose type and shape are set.  The memory is the request's.  False: it has failed. */
bool data_read(request *of, const struct json_t *from, tensor *to);
/* Whether JSON has numbers for it: not FP16 and BF16. */
bool data_has_text(ig_dtype_code dtype);
/* Writes a flat list of a tensor's elements. */
void data_write(bytes *to, const tensor *from);

#endif
