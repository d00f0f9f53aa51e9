/* Models over tables in stores: one memory of rows for all loops.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Loops take turns: a run reads the missing rows, and those that are due to be read
 * again, and computes; the loop keeps the turn until it has copied the results, which
 * are in the one session.
 */
#ifndef IG_TOOLS_SERVE_MODEL_STORED_H
#define IG_TOOLS_SERVE_MODEL_STORED_H

#include "tools/serve/call/request.h"
#include "tools/serve/model/config.h"

#include <ingot/lookahead.h>

typedef struct stored_model stored_model;

/* Opens the artifact and its stores.  NULL: the words say why not. */
stored_model *stored_open(const char *path, const model_config *config,
                          char words[WORDS]);
void stored_close(stored_model *of);
size_t stored_input_count(const stored_model *of);
/* Waits for the turn and runs, within `left` ns (0: no limit): then rows that are late
 * are zeros, or the row that the artifact names; without it they fail the run.  The
 * turn is this loop's until stored_release. */
ig_status stored_run(stored_model *of, const ig_view *inputs, ig_view *outputs,
                     int64_t left);
/* The message of the current run. */
const char *stored_error(const stored_model *of);
row_counts stored_counts(const stored_model *of);
void stored_release(stored_model *of);

#endif
