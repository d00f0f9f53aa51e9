/* One run as trace viewers draw it: a track for each thread, real times.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_MEASURE_TRACE_H
#define IG_TOOLS_INGOT_MEASURE_TRACE_H

#include "tools/ingot/measure/profile_table.h"

/* Runs what `session` is bound to once more, and writes that run to the file
 * given->trace (JSON of Chrome's "trace event format", which Perfetto reads too).  Of
 * more events than a file should hold the first are kept, with a note. */
ig_status trace_write(const settings *given, ig_session *session,
                      const profile_table *table);

#endif
