/* The action of each path of HTTP.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_SERVE_HTTP_ROUTES_H
#define IG_TOOLS_SERVE_HTTP_ROUTES_H

#include "tools/serve/http/exchange.h"

/* Answers a request whose body is there, or sets it waiting. */
void route_exchange(exchange *of);

#endif
