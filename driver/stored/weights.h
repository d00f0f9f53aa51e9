/* Weights that training changes, while tables are taken out of a module.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Passes fold ops on weights alone; a step of training would find the weight
 * gone, and leave it as it is.  So the weights are inputs for as long as passes run.
 */
#ifndef IG_DRIVER_STORED_WEIGHTS_H
#define IG_DRIVER_STORED_WEIGHTS_H

#include "base/status.h"
#include "ir/graph.h"

/* Weights of floats become the last inputs.  *out_is_open: there are some. */
ig_status ig_stored_open_weights(ig_module *module, bool *out_is_open);
/* They are weights again. */
void ig_stored_close_weights(ig_module *module);

#endif
