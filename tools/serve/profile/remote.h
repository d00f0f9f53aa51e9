/* A model timed by a worker elsewhere: what `ingot profile --remote` starts.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_SERVE_PROFILE_REMOTE_H
#define IG_TOOLS_SERVE_PROFILE_REMOTE_H

/* argv: "ingot-serve remote ADDRESS MODEL".  Standard input is a message as child.h has
 * them, without fillers:
 *
 *     {"milliseconds": 2000, "backends": ["host/ingot-cpu"], "json": false,
 *      "inputs": [{"name": "x", "dtype": IG_F32, "shape": [1, 4], "size": 16}]}
 *
 * No backends: the worker's default ones.  The exit status of the process. */
int remote_main(int argc, char **argv);

#endif
