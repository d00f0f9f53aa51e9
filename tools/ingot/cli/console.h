/* Messages on stderr, exit statuses, contexts that Ctrl-C cancels.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_CLI_CONSOLE_H
#define IG_TOOLS_INGOT_CLI_CONSOLE_H

#include "tools/ingot/cli/options.h"

#include <ingot/ingot.h>
#include <ingot/lookahead.h>
#include <ingot/runtime.h>

/* The exit status of the command line for a status. */
int exit_of(ig_status status);
/* Options name things that the model does not have, or contradict each other:
 * IG_INVALID, whose exit status is from now on that of wrong usage. */
ig_status wrong_usage(void);
/* Text from a file: bytes that could steer a terminal or fake a line are written as
 * \\xNN. */
void put_plain(FILE *to, const char *text);
/* A string as JSON, with its quotes. */
void put_json_text(FILE *to, const char *text);
/* "  LABEL NAME: TYPE" on a line. */
void put_port(FILE *to, const char *label, const char *name, const char *type);
/* "error: …" on stderr; returns `exit_status`. */
int complain(int exit_status, const char *format, ...) IG_PRINTF(2, 3);
void note(const settings *given, const char *format, ...) IG_PRINTF(2, 3);
/* Clears the progress line before other output. */
void progress_clear(void);
/* Memory that must be there: prints and exits with status 5 otherwise. */
void *need(void *memory);
/* Does so where errno, which was cleared before a library failed, says that it had no
 * memory. */
void need_memory(void);
char *text_of(const char *format, ...) IG_PRINTF(1, 2); /* free() it */
/* FNV-1a, from HASH_BEGIN on: tells files apart that nobody forges. */
#define HASH_BEGIN UINT64_C(0xcbf29ce484222325)
void mix_bytes(uint64_t *hash, const void *bytes, size_t size);

/* Why something failed; "" where the context has said it already. */
typedef struct message {
    char text[4096];
} message;

/* Prints the text of `why`, if anything, and returns the exit status. */
int report(ig_status status, const message *why);

/* A context that prints messages and progress on stderr (silent: keeps them), with
 * limits set; Ctrl-C cancels its work, a second one exits.  NULL after a message
 * (status in *out_exit). */
ig_context *context_open(const settings *given, message *errors, int *out_exit);
void context_close(ig_context *context);
bool was_interrupted(void);
/* The output is in place: an interrupt from before no longer ends the process, whose
 * status says what became of the work. */
void keep_patience(void);
/* Ctrl-C also stops the run in progress; NULL: no longer. */
void interrupt_also(ig_session *session);
/* And the calls of this look-ahead. */
void interrupt_lookahead(ig_lookahead *ahead);

#endif
