/* Inside the printer: shared by print*.c only.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_IR_TEXT_PRINT_H
#define IG_IR_TEXT_PRINT_H

#include "ir/text/text.h"

struct ig_printer {
    ig_writer *out;
    const ig_module *module;
    const ig_print_options *options;
    ig_str folder; /* files are named relative to it */
    /* Of the current graph, by value id: the name after the %. */
    const char **names;
    uint32_t name_count;
    int depth; /* of indentation */
};

/* Gives every value of `graph` its printed name (print_name.c). */
void ig_print_name_values(ig_printer *printer, const ig_graph *graph);
/* `%name`, or `@name` when the value is a named constant. */
void ig_print_value(ig_printer *printer, const ig_value *value);
/* An op that is not printed on its own, since its uses print as @name. */
bool ig_print_is_named(const ig_op *op);
void ig_print_item(ig_writer *out,
                   const char *name); /* @name, quoted when it must be */

void ig_print_attrs(ig_printer *printer, const ig_op *op);
void ig_print_attr(ig_printer *printer, const ig_op *op, uint32_t slot);
/* `implied` is the type that the reader knows already, or NULL. */
void ig_print_data(ig_printer *printer, const ig_data *data, const ig_type *implied);
void ig_print_symbols(ig_printer *printer); /* those in use that are not default */
void ig_print_location(ig_printer *printer, const ig_location *where);

#endif
