/* The process of a backend: what `ingot-serve backend` runs.
 * SPDX-License-Identifier: Apache-2.0
 *
 * It confines itself, and then is either Ingot's own engine or the user's Python with
 * the script backend.py.  child.h has the messages.
 */
#ifndef IG_TOOLS_SERVE_PROFILE_ENGINE_H
#define IG_TOOLS_SERVE_PROFILE_ENGINE_H

/* The text of backend.py, with a final zero byte. */
extern const char backend_script[];

/* argv: "ingot-serve backend NAME MEMORY PYTHON".  The exit status of the process. */
int engine_main(int argc, char **argv);

#endif
