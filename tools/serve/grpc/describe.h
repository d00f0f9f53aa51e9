/* Descriptions of a server and its models, as messages.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_SERVE_GRPC_DESCRIBE_H
#define IG_TOOLS_SERVE_GRPC_DESCRIBE_H

#include "tools/serve/call/pool.h"
#include "tools/serve/model/catalog.h"
#include "tools/serve/model/regions.h"

/* Each writes a frame; memory for the message is the pool's.  False: it ran out. */
bool tell_server(bytes *to);
bool tell_flag(bytes *to, bool is_so);
bool tell_nothing(bytes *to);
bool tell_model(bytes *to, pool *memory, const catalog *list, const served *of);
bool tell_config(bytes *to, pool *memory, const served *of);
/* Of one version, or of all where `of` is NULL. */
bool tell_statistics(bytes *to, pool *memory, const catalog *list, const served *of);
/* Regions of shared memory: one, or all where the name is "".  CALL_FULL: memory ran
 * out. */
call_status tell_regions(bytes *to, pool *memory, regions *of, const char *name);
bool tell_index(bytes *to, pool *memory, const catalog *list, bool only_ready);

#endif
