/* Where a request belongs among those of other servers: W3C's traceparent.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_SERVE_CALL_TRACE_H
#define IG_TOOLS_SERVE_CALL_TRACE_H

#include <stdbool.h>

typedef struct trace {
    char id[33], parent[17]; /* in lower hexadecimal digits; id "": none */
    bool is_sampled;         /* whoever called wants it written down */
} trace;

/* Of "00-ID-PARENT-FLAGS"; other text leaves an empty trace. */
trace trace_read(const char *text);

#endif
