/* A module's weights, taken from a checkpoint.  SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_DRIVER_IMPORT_CHECKPOINT_H
#define IG_DRIVER_IMPORT_CHECKPOINT_H

#include "ir/graph.h"

/* Gives the weights that a torch.distributed checkpoint (the folder) has the named
 * tensors.  Names are equal, or one ends in the other after a dot, as "model.a.weight"
 * does; types must be equal.  The elements are in a file without a name that the module
 * keeps mapped.  Errors: IG_INVALID where the checkpoint has none of them, two for one,
 * or another type; IG_IO. */
ig_status ig_import_checkpoint(ig_module *module, const char *folder);

#endif
