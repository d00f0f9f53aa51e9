/* Which nodes of the model a step comes from: ig_program_sources, parsed.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_MODEL_SOURCES_H
#define IG_TOOLS_INGOT_MODEL_SOURCES_H

#include "tools/ingot/cli/console.h"

#include <jansson.h>

/* NULL where the artifact was stripped; json_decref() it. */
json_t *sources_of(const ig_program *program);
/* How many nodes does the step do the work of? */
size_t sources_count(const json_t *sources, size_t step);
/* Its node number `index` as people know it: its name, else its operator, else its
 * line; free() it. */
char *sources_name(const json_t *sources, size_t step, size_t index);
/* The same after the modules that it is of, one a part: "layers.0/attention/linear_3",
 * unless its name is such a path already; free() it. */
char *sources_path(const json_t *sources, size_t step, size_t index);
/* "/top/top.0/Gemm + 3 more", with the end of a long name; "" for none; free() it. */
char *sources_text(const json_t *sources, size_t step);

#endif
