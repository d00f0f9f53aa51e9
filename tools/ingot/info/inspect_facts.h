/* Facts about modules (ig_module_inspect) and sources (ig_program_sources), printed.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_INFO_INSPECT_FACTS_H
#define IG_TOOLS_INGOT_INFO_INSPECT_FACTS_H

#include "tools/ingot/model/sources.h"

void facts_print_head(const json_t *facts, const char *path, bool is_markdown);
void facts_print(const json_t *facts, bool is_markdown);

/* How many nodes had which fate. */
void sources_print(const json_t *sources);
void sources_put_json(const json_t *sources);

#endif
