/* Prints syntax trees, so that tests see what the parser read.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TESTS_UNIT_TORCH_AST_PRINT_H
#define IG_TESTS_UNIT_TORCH_AST_PRINT_H

#include "base/writer.h"

struct ig_ast;

/* Appends the source of an expression, or of a statement with its body, as
 * TorchScript's printer lays it out; `indent` counts levels of two spaces. */
void ig_ast_print(ig_writer *writer, const struct ig_ast *node, int indent);

#endif
