/* Reading the text form.  Reference: docs/ir-text.md.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_IR_PARSE_READ_H
#define IG_IR_PARSE_READ_H

#include "ir/signature.h"
#include "ir/text/text.h"

/* Reads a module; `file` is for messages, and weights' files are beside it.  Errors are
 * IG_INVALID with line and column; never recurses on input depth beyond
 * limits.graph_depth. */
ig_status ig_parse_module(ig_context *context, const char *file, ig_str text,
                          ig_module **out_module);
/* "f32[B, 13]" and the like, as the command line takes it. */
ig_status ig_parse_type(ig_module *module, ig_str text, const ig_type **out_type);
ig_status ig_parse_dim(ig_module *module, ig_str text, ig_dim *out_dim);

/* Reads one tree from `text`, whole.  NULL, or the error (words in the arena).
 * Texts of nodes are borrowed from `text` or the arena's. */
const char *ig_node_parse(ig_str text, ig_arena *arena, ig_node_list *out);

#endif
