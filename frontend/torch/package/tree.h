/* The modules of a package.  Private to frontend/package.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_TORCH_PACKAGE_TREE_H
#define IG_FRONTEND_TORCH_PACKAGE_TREE_H

#include "frontend/torch/package/package.h"

/* A torch.nn.Module that was pickled as a Python object? */
bool ig_package_is_module(const ig_py *value);
/* "0" of a ScriptModule (unpackage_script_module), else NULL.  In `arena`. */
const char *ig_package_script_id(const ig_py *value, ig_arena *arena);

/* Makes the object that the evaluator takes of a tree of torch.nn modules, and the
 * source of its classes.  `resource` is for messages. */
ig_status ig_package_build(ig_package *package, const char *resource, ig_py *module,
                           ig_ts_program *program);

/* ---- what classes mean (modules.c) ---- */

/* A row of modules.def. */
typedef struct ig_package_class {
    const char *modules, *names;
    const char *parameters; /* of forward, after self */
    const char *body;       /* NULL: `write` makes it */
    void (*write)(ig_writer *out, const ig_py *module);
} ig_package_class;

/* NULL: torch.nn has no such class, or we no row. */
const ig_package_class *ig_package_find_class(const ig_py *class);
/* The same by the class's own name alone. */
const ig_package_class *ig_package_find_named(ig_str name);
/* Attribute `index` of those of the class that an older torch did not write; false
 * after the last.  `out_value` gets kind and content. */
bool ig_package_absent(const ig_py *class, size_t index, const char **out_attribute,
                       ig_py *out_value);
/* A member of a module's _parameters, _buffers or _modules; NULL: none, or None. */
ig_py *ig_package_member(const ig_py *module, const char *group, const char *name);

#endif
