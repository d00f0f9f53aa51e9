/* A server and its models, described as JSON.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_SERVE_HTTP_DESCRIBE_H
#define IG_TOOLS_SERVE_HTTP_DESCRIBE_H

#include "tools/serve/call/bytes.h"
#include "tools/serve/model/catalog.h"

void describe_server(bytes *to);
/* Name, versions, platform, inputs and outputs. */
void describe_model(bytes *to, const catalog *list, const served *of);
void describe_config(bytes *to, const served *of);
/* Of one version, or of all models' where `of` is NULL. */
void describe_statistics(bytes *to, const catalog *list, const served *of);
/* The index of the repository; `only_ready`: of the served models alone. */
void describe_index(bytes *to, const catalog *list, bool only_ready);
/* "a" in an object of JSON. */
void describe_error(bytes *to, const char *words);
/* All counts, as Prometheus reads them. */
void describe_metrics(bytes *to, const catalog *list);

#endif
