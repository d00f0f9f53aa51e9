/* Standard input and output in place of files: "-".
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_CLI_STREAMS_H
#define IG_TOOLS_INGOT_CLI_STREAMS_H

#include "tools/ingot/cli/options.h"

#include <ingot/status.h>

/* Is this name of a file the standard stream? */
bool is_stream(const char *name);
/* Replaces MODEL and --inputs that are "-" by the name of a file in memory that holds
 * all of standard input.  0, or the exit status after a message. */
int streams_take_input(settings *given);
/* Was `path` made by streams_take_input? */
bool is_taken_input(const char *path);

/* Writes text to a file, which is there when it is whole, or to standard output. */
ig_status write_output(const char *path, const char *text, size_t size);
/* A new file for what will go to standard output, whose name ends in `ending`; NULL
 * after a message.  stream_send writes it out and removes it, if `is_good`; both
 * free the name.  Returns the exit status. */
char *stream_begin(const char *ending);
int stream_send(char *path, bool is_good);
/* Removes the file of a stream that was begun; for signal handlers. */
void streams_remove_temporary(void);

#endif
