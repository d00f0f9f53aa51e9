/* Ingot, gradients: a module that computes those of another one's results.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef INGOT_GRAD_H
#define INGOT_GRAD_H

#include "ingot/ingot.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ig_grad_options {
    size_t size;
    const char *output; /* an output, by name; NULL: the only one of floats */
    /* By which weights and inputs: patterns as of file names, "emb*,w1"; NULL: by all
     * weights that training changes, or by all of floats where the model does not
     * say. */
    const char *wanted;
    /* 1: the gradient of the output is given, as the last input in front of weights,
     * named "grad"; 0: it is 1 everywhere, that of the sum of the output. */
    int has_seed;
    int keeps_outputs; /* gradients follow the outputs, instead of replacing them */
} ig_grad_options;

/* Makes the module compute gradients of an output (docs/training.md): its outputs are
 * one "grad_NAME" for each input and weight that is wanted, in their order, of the
 * shape of that.  Weights by which there are gradients become inputs, as by
 * open_weights.  Bags, norms and the like are recognised on the way; of `compile` (may
 * be NULL) the options about bags count.  After an error the module is to be closed.
 * Errors: IG_INVALID where a name is nobody's, IG_UNSUPPORTED where an operator on the
 * way has no gradient. */
IG_API IG_MUST_USE ig_status ig_module_grad(ig_module *module,
                                            const ig_grad_options *options,
                                            const ig_compile_options *compile);

#ifdef __cplusplus
}
#endif
#endif
