/* The values of a call, however they were given, and who owns them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_TAKEN_H
#define IG_TOOLS_INGOT_TAKEN_H

#include "tools/ingot/inputs.h"
#include "tools/ingot/structured.h"

typedef struct taken {
    call with;             /* borrows from the two below */
    structured arguments;  /* where they were given as trees */
    ig_arguments *archive; /* where they came from an .npz */
} taken;

/* Values for a model that is open: by its tree or by its inputs.  With `sizes` they are
 * for a measurement: what nobody gave is made up, as large as that says. */
ig_status taken_for(const settings *given, const model *m, const extents *sizes,
                    taken *out);
/* Opens a model whose arguments say its types; the caller closes it in any case. */
ig_status taken_first(const settings *given, ig_context *context, const char *path,
                      model *out_model, taken *out);
void taken_free(taken *which);

#endif
