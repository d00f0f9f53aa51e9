/* The values of a call, however they were given, and who owns them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_VALUES_BOUND_INPUTS_H
#define IG_TOOLS_INGOT_VALUES_BOUND_INPUTS_H

#include "tools/ingot/values/inputs.h"
#include "tools/ingot/values/structured.h"

typedef struct bound_inputs {
    call with;             /* borrows from the two below */
    structured arguments;  /* where they were given as trees */
    ig_arguments *archive; /* where they came from an .npz */
} bound_inputs;

/* Values for a model that is open: by its tree or by its inputs.  With `sizes` they are
 * for a measurement: what nobody gave is made up, as large as that says. */
ig_status bind_inputs(const settings *given, const model *m, const extents *sizes,
                      bound_inputs *out);
/* Opens a model whose arguments say its types; the caller closes it in any case. */
ig_status open_and_bind_inputs(const settings *given, ig_context *context,
                               const char *path, model *out_model, bound_inputs *out);
void bound_inputs_free(bound_inputs *which);

#endif
