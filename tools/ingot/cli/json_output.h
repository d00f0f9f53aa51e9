/* --json: one JSON value on standard output for every verb and outcome.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Standard output is a file in memory while a verb works.  In the end the values that
 * it wrote become one object, with the version of the schema and, where the verb
 * failed, its messages:
 *
 *     {"schema": 1, … members of the objects …, "results": items of an array,
 *      "error": {"exit_status": 3, "messages": ["…"], "notes": ["…"]}}
 */
#ifndef IG_TOOLS_INGOT_CLI_JSON_OUTPUT_H
#define IG_TOOLS_INGOT_CLI_JSON_OUTPUT_H

#include "tools/ingot/cli/options.h"

/* Raised when a member goes or changes its meaning; new ones do not raise it. */
enum { JSON_SCHEMA = 1 };

/* Begins, once; output of the process and its children is kept from now on. */
void json_output_begin(void);
/* Messages for the value; those of children too. */
void json_output_error(const char *text);
void json_output_note(const char *text);
/* Writes the value; `file` is the verb's result, or NULL. */
void json_output_end(int exit_status, const char *file);
/* The same from a signal handler, which knows no more than the status. */
void json_output_cut(int exit_status, const char *text);
/* Values and files that would be on standard output beside the value: their option,
 * or NULL. */
const char *json_output_clash(const settings *given, bool writes_json);

#endif
