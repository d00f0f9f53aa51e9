/* ingot info --kernels: register tiles of a product, measured.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_INFO_INFO_KERNELS_H
#define IG_TOOLS_INGOT_INFO_INFO_KERNELS_H

#include "tools/ingot/cli/console.h"

/* Measures the shape that given->kernels says; an exit status. */
int info_kernels(const settings *given, ig_context *context);

#endif
