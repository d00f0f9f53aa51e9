/* The GPU's schedules.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/lower/lower.h"

const ig_lower_family ig_lower_gpu[] = {
    { NULL, NULL },
};
