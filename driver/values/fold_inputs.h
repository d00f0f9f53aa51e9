/* Inputs that become constants of the graph.  SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_DRIVER_VALUES_FOLD_INPUTS_H
#define IG_DRIVER_VALUES_FOLD_INPUTS_H

#include "ir/graph.h"
#include "ir/tensor/tensor.h"

/* Puts `tensor` (copied) in place of leaf number `leaf` of the arguments. */
typedef struct ig_folded_input {
    uint32_t leaf;
    const ig_tensor *tensor;
} ig_folded_input;

/* Arguments of the call whose leaves are all folded are arguments no longer; those with
 * some are UNSUPPORTED.  INVALID: a tensor of another type. */
ig_status ig_fold_inputs(ig_module *module, ig_graph *graph,
                         const ig_folded_input *inputs, size_t count);

#endif
