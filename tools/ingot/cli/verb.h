/* A verb run with the words of a command line.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_CLI_VERB_H
#define IG_TOOLS_INGOT_CLI_VERB_H

#include "tools/ingot/cli/options.h"

/* argv[0] is the verb's name.  The exit status, but for that of the output. */
int verb_invoke(const verb *which, int argc, char **argv);
/* Where --json is among the words, the tool's output is one value of JSON. */
void verb_begin_json(int argc, char **argv);
/* All output must have been written: a full disk is an error. */
int verb_check_output(int status);

#endif
