/* The tool's main under a name that a test can call.
 * SPDX-License-Identifier: Apache-2.0 */
int ingot_main(int argc, char **argv);
#define main ingot_main
#include "tools/ingot/main.c"
