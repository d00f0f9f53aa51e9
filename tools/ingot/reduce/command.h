/* A command of the shell that says whether a model fails.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_REDUCE_COMMAND_H
#define IG_TOOLS_INGOT_REDUCE_COMMAND_H

#include <stdbool.h>

enum { COMMAND_LOST = -1 };

/* Is there a place for the model's inputs in it? */
bool command_has_inputs(const char *command);
/* The command with `model` in single quotes for each {} (or appended), and `inputs`
 * for each {inputs}; free() it. */
char *command_for(const char *command, const char *model, const char *inputs);
/* Runs a command in a process group of its own, without input and output: its exit
 * status, or 128 + signal; COMMAND_LOST where it did not start, or was ended here, by
 * Ctrl-C or at `end` by the clock. */
int command_run(const char *command, double end);

#endif
