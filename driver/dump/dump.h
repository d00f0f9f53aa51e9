/* Modules as graphs for other programs: dot and JSON.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_DRIVER_DUMP_DUMP_H
#define IG_DRIVER_DUMP_DUMP_H

#include "base/writer.h"
#include "ir/graph.h"

/* `stages`: bits of ig_stage; other graphs are left out. */
void ig_dump_dot(const ig_module *module, uint32_t stages, ig_writer *out);
/* JSON that Google's Model Explorer reads. */
void ig_dump_explorer(const ig_module *module, uint32_t stages, ig_writer *out);
/* The entry graph as an ONNX model to look at, as in Netron: ops in domain `ingot`,
 * constants without their bytes.  No runtime can run it. */
void ig_dump_onnx(const ig_module *module, const ig_graph *entry, ig_writer *out);
void ig_dump_json(const ig_module *module, uint32_t stages, ig_writer *out);
/* A node as its user knows it, after its module; "" when nothing is
 * known.  A name that is a path already says more. */
const char *ig_dump_source_name(ig_arena *arena, const ig_location *where);

#endif
