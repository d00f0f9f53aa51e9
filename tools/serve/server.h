/* The server: listeners, loops and the repository.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_SERVE_SERVER_H
#define IG_TOOLS_SERVE_SERVER_H

#include "tools/serve/settings.h"

/* Serves until SIGTERM or SIGINT, and then lets requests end.  The exit status. */
int server_run(const serve_settings *settings);

#endif
