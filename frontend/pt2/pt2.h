/* Archives of torch.export (.pt2) in, modules out.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Read without torch, and without running anything of the archive: torch.export.load
 * itself evaluates expressions and unpickles objects that it finds there.
 *
 * The archive says the types of the arguments, so that no tree has to be given; those
 * that are given (ig_torchscript_options) must agree with it.  Extents that were
 * exported as dynamic are symbols with the ranges of the archive.  Buffers that the
 * program changes are state.  What frontend/torch/entry/torchscript.h says of the graph
 * holds here.
 */
#ifndef IG_FRONTEND_PT2_PT2_H
#define IG_FRONTEND_PT2_PT2_H

#include "frontend/torch/entry/torchscript.h"

/* `options->resource` names a model of an archive that holds several; NULL: "model", or
 * the only one.  `options->entry` must be NULL or "forward". */
ig_status ig_import_pt2(ig_context *context, const char *path,
                        const ig_torchscript_options *options, ig_module **out_module);
/* The same in memory, which must outlive the module; `path` (or NULL) is for
 * messages. */
ig_status ig_import_pt2_memory(ig_context *context, ig_str bytes, const char *path,
                               const ig_torchscript_options *options,
                               ig_module **out_module);

#endif
