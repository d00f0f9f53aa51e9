/* How two tensors differ: which elements, and by how much.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_COMPARE_DIFFERENCE_H
#define IG_TOOLS_INGOT_COMPARE_DIFFERENCE_H

#include "tools/ingot/values/compare.h"

#include <jansson.h>

enum { OFFENCES = 4 }; /* elements that are shown */

typedef struct difference {
    size_t count, wrong;       /* elements, and those beyond the tolerance */
    size_t offences[OFFENCES]; /* the first of these */
    size_t worst;              /* the element of the largest error */
    double max_error, mean_error, max_relative; /* where both are finite */
    double rtol, atol;                          /* that were kept to */
    message types; /* why there is nothing to compare, or "" */
} difference;

/* False: out says how they differ.  Tolerances are those of the options; otherwise rtol
 * is 1e-3 (f16: 2^-8, bf16: 2^-6) and atol 1e-5 of the largest |want|: sums of many
 * terms that cancel each other are as exact as their terms. */
bool tensors_equal(const settings *given, const ig_argument *got,
                   const ig_argument *want, difference *out);
/* {"max_error": …, "shown": [{"index": "0, 3", "got": "1", "want": "2"}]}, or why there
 * is nothing to compare: {"types"}. */
json_t *difference_json(const difference *how, const ig_argument *got,
                        const ig_argument *want);
void difference_print(const json_t *facts);

#endif
