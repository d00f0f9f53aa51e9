/* Comparing values: got against wanted.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_VALUES_COMPARE_H
#define IG_TOOLS_INGOT_VALUES_COMPARE_H

#include "tools/ingot/model/call.h"

typedef struct tolerance {
    double rtol, atol;
    bool is_exact;         /* elements must be equal */
    bool whole_needs_atol; /* integers: rtol does not count */
} tolerance;

/* Type and extents must be equal, and |got - want| <= atol + rtol * |want|; NaN equals
 * NaN.  False: `why` tells the first difference and how many there are. */
bool values_agree(const ig_argument *got, const ig_argument *want,
                  const tolerance *within, message *why);

/* Sums for a root mean square of differences, relative to the wanted values'. */
typedef struct difference_sums {
    double squares, wanted;
} difference_sums;

void difference_add(difference_sums *sums, const ig_argument *got,
                    const ig_argument *want);
double difference_rms(const difference_sums *sums);

#endif
