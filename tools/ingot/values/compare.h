/* Comparing values: got against wanted.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_VALUES_COMPARE_H
#define IG_TOOLS_INGOT_VALUES_COMPARE_H

#include "tools/ingot/model/call.h"

typedef struct tolerance {
    double rtol, atol;
    double bf16_rtol; /* at least this much for bf16, whose steps are 2^-8 */
    bool is_exact;    /* elements must be equal */
} tolerance;

/* Those of the options, else of ONNX's own backend test (onnx 1.23,
 * backend/test/runner): rtol 1e-3, atol 1e-7, and rtol 2^-6 for bf16. */
tolerance default_tolerance(const settings *given);
/* Type and extents must be equal, and |got - want| <= atol + rtol * |want|, without
 * rtol for whole numbers; NaN equals NaN.  False: `why` tells the first difference and
 * how many there are. */
bool values_agree(const ig_argument *got, const ig_argument *want,
                  const tolerance *within, message *why);
/* Of two tensors of equal type and extents. */
bool elements_agree(const ig_argument *got, const ig_argument *want, size_t index,
                    const tolerance *within);
/* False after words in `why`: kinds, dtypes or extents are not the same. */
bool types_agree(const ig_argument *got, const ig_argument *want, message *why);
/* "3, 0" of a row-major index. */
void index_text(const ig_argument *tensor, size_t index, char *out, size_t size);

#endif
