/* Records of the server, one an event, on stderr.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_SERVE_MODEL_LOG_H
#define IG_TOOLS_SERVE_MODEL_LOG_H

#include <stddef.h>
#include <stdint.h>

#include <ingot/log.h>

/* Where records go (ig_log_json to begin with), and the level below which they are left
 * out (IG_LOG_INFO to begin with). */
void log_to(void (*sink)(void *user, const ig_log_record *record), ig_log_level lowest);
/* `model` may be NULL, `version` 0, `words` "".  From any thread; a line is written at
 * once. */
void log_event(ig_log_level level, const char *event, const char *model,
               int64_t version, const char *words);

/* A request that its caller traces; `status` is gRPC's. */
typedef struct log_span {
    const char *model, *trace, *parent;
    int64_t version, queue_ns, run_ns, all_ns;
    int status;
} log_span;
void log_request(const log_span *of);

#endif
