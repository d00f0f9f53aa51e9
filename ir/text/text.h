/* The text form, printed; ir/parse/read.h reads it.  Reference: docs/ir-text.md.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_IR_TEXT_TEXT_H
#define IG_IR_TEXT_TEXT_H

#include "base/writer.h"
#include "ir/ops.h"

void ig_print_module(const ig_module *module, ig_writer *writer);
void ig_print_graph(const ig_graph *graph, ig_writer *writer);
void ig_print_op(const ig_op *op, ig_writer *writer); /* one line, bodies elided */
/* The same for many ops of one graph: its values are named once.  The printer is
 * the arena's, and good until the graph changes. */
typedef struct ig_printer ig_printer;
ig_printer *ig_line_printer(const ig_graph *graph, ig_arena *arena);
void ig_print_line(ig_printer *printer, const ig_op *op, ig_writer *writer);
/* " {a = 1, b}", or nothing; constants of more than a few bytes are elided. */
void ig_print_line_attrs(ig_printer *printer, const ig_op *op, ig_writer *writer);
/* The value of one that is there, alone. */
void ig_print_line_attr(ig_printer *printer, const ig_op *op, uint32_t slot,
                        ig_writer *writer);
void ig_print_type(const ig_module *module, const ig_type *type, ig_writer *writer);

/* Variations of the plain form; zero is the plain form. */
enum { IG_TEXT_HASH_DIGITS = 16 };

typedef struct ig_print_options {
    bool locations; /* each op's location follows it as loc {…} */
    int64_t
        data_bytes;   /* longer constants are elided, and then the text does not parse;
                         * 0: never */
    bool file_hashes; /* a constant in a file is named by its content too */
    /* Called after the head line of a graph (op NULL) and of each op, to add lines. */
    void (*note)(void *user, const ig_op *op, ig_writer *writer);
    void *user;
} ig_print_options;
void ig_print_module_with(const ig_module *module, const ig_print_options *options,
                          ig_writer *writer);
void ig_print_graph_with(const ig_graph *graph, const ig_print_options *options,
                         ig_writer *writer);

/* The folder that names of files in the text are relative to, up to its last `/`: the
 * module's own, or where that is not known the deepest one that holds them all. */
ig_str ig_print_folder(const ig_module *module);

#endif
