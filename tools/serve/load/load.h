/* ingot load: a program that asks servers, and times their answers.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_SERVE_LOAD_LOAD_H
#define IG_TOOLS_SERVE_LOAD_LOAD_H

/* argv: "load HOST:PORT MODEL …".  The exit status. */
int load_main(int argc, char **argv);

#endif
