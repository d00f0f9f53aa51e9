/* The modules of a package.  Private to frontend/package.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_TORCH_PACKAGE_TREE_H
#define IG_FRONTEND_TORCH_PACKAGE_TREE_H

#include "frontend/torch/package/package.h"

/* An object of a class that torch itself writes in Python (stock/)? */
bool ig_package_is_stock(const ig_py *object);
/* "0" of a ScriptModule (unpackage_script_module), else NULL.  In `arena`. */
const char *ig_package_script_id(const ig_py *value, ig_arena *arena);

/* Completes a program from a tree of modules; UNSUPPORTED, with all that stays Python,
 * where nothing of it can be run.  `resource` is for messages. */
ig_status ig_package_build(ig_package *package, const char *resource, ig_py *module,
                           ig_ts_program *program);

#endif
