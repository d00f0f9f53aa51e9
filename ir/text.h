/* The text form: what prints, parses.  Reference: docs/ir-text.md.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_IR_TEXT_H
#define IG_IR_TEXT_H

#include "base/writer.h"
#include "ir/ops.h"

void ig_print_module(const ig_module *module, ig_writer *writer);
void ig_print_graph(const ig_graph *graph, ig_writer *writer);
void ig_print_op(const ig_op *op, ig_writer *writer); /* one line, bodies elided */
void ig_print_type(const ig_module *module, const ig_type *type, ig_writer *writer);

/* Reads a module; `file` is for messages, and weights' files lie beside it.  Errors are
 * IG_INVALID with line and column; never recurses on input depth beyond
 * limits.graph_depth. */
ig_status ig_parse_module(ig_context *context, const char *file, ig_str text,
                          ig_module **out_module);
/* "f32[B, 13]" and the like, as the command line takes it. */
ig_status ig_parse_type(ig_module *module, ig_str text, const ig_type **out_type);
ig_status ig_parse_dim(ig_module *module, ig_str text, ig_dim *out_dim);

#endif
