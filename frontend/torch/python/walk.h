/* The names that a piece of source binds, or whether it leaves a function.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_TORCH_PYTHON_WALK_H
#define IG_FRONTEND_TORCH_PYTHON_WALK_H

#include "frontend/torch/python/inside.h"

/* Does a body return, break or continue? */
bool ig_python_may_leave(const ig_ast_list *body);
bool ig_python_yields(const ig_ast_list *body);
/* Binds all names that a body binds to nothing, so that branches agree about them. */
void ig_python_declare(ig_ts_eval *eval, ig_ts_frame *frame, const ig_ast_list *body);
/* Does a statement bind `name`, or change its value? */
bool ig_python_binds(const ig_ast *statement, const char *name);

#endif
