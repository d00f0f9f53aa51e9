/* Modules as graphs for other programs: dot, JSON and HTML.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_DRIVER_DUMP_DUMP_H
#define IG_DRIVER_DUMP_DUMP_H

#include "base/writer.h"
#include "ir/graph.h"

/* `stages`: bits of ig_stage; other graphs are left out. */
void ig_dump_dot(const ig_module *module, uint32_t stages, ig_writer *out);
/* A page that draws the graphs, scope by scope (docs/inspect.md).  IG_LIMIT where
 * there is no memory to deflate them. */
ig_status ig_dump_html(const ig_module *module, uint32_t stages, ig_writer *out);
/* JSON that Google's Model Explorer reads. */
void ig_dump_explorer(const ig_module *module, uint32_t stages, ig_writer *out);
void ig_dump_json(const ig_module *module, uint32_t stages, ig_writer *out);

#endif
