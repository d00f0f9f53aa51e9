/* Inside the code of an archive: shared by code*.c only.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_TORCH_LANGUAGE_CODE_INSIDE_H
#define IG_FRONTEND_TORCH_LANGUAGE_CODE_INSIDE_H

#include "frontend/torch/language/code.h"

/* A class or function of a file, built when it is first asked for. */
typedef struct ig_definition {
    const char *name; /* qualified */
    const char *file;
    const ig_ast *node;
    ig_class *class;
    ig_function *function;
} ig_definition;

/* The definition of a name, which need not be built; NULL: there is none. */
ig_status ig_code_define(ig_code *code, const char *name,
                         ig_definition **out_definition);
/* Fills `class` or `function` (code_class.c). */
ig_status ig_code_build(ig_code *code, ig_definition *definition);

#endif
