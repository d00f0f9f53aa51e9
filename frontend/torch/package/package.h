/* torch.package archives: their content, and their modules as programs.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     root/.data/N.storage              tensors' bytes, shared by all pickles
 *     root/.data/extern_modules         Python modules that are not inside
 *     root/.data/python_version         of the writer
 *     root/.data/ts_code/ID/…           ScriptModules, their sources in ts_code/code/
 *     root/PACKAGE/RESOURCE.pkl         pickled objects
 *     root/PACKAGE/RESOURCE             text or bytes
 *     root/PACKAGE/MODULE.py            Python sources
 *
 * A name in a pickle must belong to a module that is inside or listed as extern.
 * Python is never run: classes of the package and torch's own are evaluated.
 */
#ifndef IG_FRONTEND_TORCH_PACKAGE_PACKAGE_H
#define IG_FRONTEND_TORCH_PACKAGE_PACKAGE_H

#include "frontend/torch/eval/program.h"

typedef enum ig_package_kind {
    IG_PACKAGE_PICKLE,
    IG_PACKAGE_SOURCE,
    IG_PACKAGE_TEXT,
    IG_PACKAGE_BINARY,
} ig_package_kind;

typedef struct ig_package_item {
    ig_package_kind kind;
    ig_archive_entry *entry;
} ig_package_item;

typedef struct ig_package {
    ig_archive *archive;
    ig_pickle_set *pickles;
    ig_package_item *items; /* all but .data/, in the order of the file */
    size_t item_count;
    ig_str *externs; /* module names */
    size_t extern_count;
    ig_str python_version; /* empty: not recorded */
} ig_package;

/* `archive` was opened and is of that format. */
ig_status ig_package_open(ig_package *package, ig_archive *archive,
                          ig_pickle_set *pickles);
/* The source of module "a.b": its entry, or NULL. */
ig_archive_entry *ig_package_source(const ig_package *package, ig_str module);
/* The value of a pickle. */
ig_status ig_package_read(ig_package *package, const ig_package_item *item,
                          ig_py **out_value);
/* Appends the listing that `ingot inspect` prints: resources with sizes, sources,
 * externs, and each pickle: a module's tree with its parameters, or a plain value. */
ig_status ig_package_describe(ig_package *package, ig_writer *out);

/* Completes a program from a package (see program.h). */
ig_status ig_package_program(ig_ts_program *program, const char *resource);

#endif
